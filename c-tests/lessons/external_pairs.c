/* In external32 a pair such as MPI_DOUBLE_INT has no hole between one and the next, also inside of datatypes made of it. */
#include "lesson.h"

enum { PAIRS = 4 };

typedef struct {
    double value;
    int place;
} Pair;

static MPI_Datatype made(int kind)
{
    const int blocks[] = {2, 2}, places[] = {0, 2};
    const MPI_Aint none[] = {0, 0};
    MPI_Datatype type, two[] = {MPI_DOUBLE_INT, MPI_DOUBLE_INT};
    switch (kind) {
    case 0: MPI_Type_contiguous(2, MPI_DOUBLE_INT, &type); break;
    case 1: MPI_Type_vector(2, 1, 1, MPI_DOUBLE_INT, &type); break;
    case 2: MPI_Type_indexed(2, blocks, places, MPI_DOUBLE_INT, &type); break;
    case 3: MPI_Type_create_struct(1, blocks, none, two, &type); break;
    default: MPI_Type_dup(MPI_DOUBLE_INT, &type);
    }
    MPI_Type_commit(&type);
    return type;
}

int main(int count, char **words)
{
    begin(&count, &words);
    MPI_File file = open_with("external_pairs", NULL, NULL);
    for (int kind = 0; kind < 5; kind++) {
        MPI_Datatype type = made(kind);
        Pair pairs[PAIRS] = {{0, 0}}, back[PAIRS] = {{0, 0}};
        MPI_Aint one, all;
        int size_of_type, size_of_pair;
        MPI_Status status;
        MPI_Offset start = (MPI_Offset)12 * PAIRS * rank;
        for (int i = 0; i < PAIRS; i++) pairs[i].value = rank + i + 0.5, pairs[i].place = 100 * kind + i;
        FINE(MPI_File_set_view(file, start, MPI_DOUBLE_INT, type, "external32", MPI_INFO_NULL));
        FINE(MPI_File_get_type_extent(file, MPI_DOUBLE_INT, &one));
        FINE(MPI_File_get_type_extent(file, type, &all));
        MPI_Type_size(type, &size_of_type);
        MPI_Type_size(MPI_DOUBLE_INT, &size_of_pair);
        TRUE(all == one * (size_of_type / size_of_pair));
        FINE(MPI_File_write_at(file, 0, pairs, PAIRS, MPI_DOUBLE_INT, &status));
        FINE(MPI_File_set_view(file, start, MPI_DOUBLE_INT, MPI_DOUBLE_INT, "external32", MPI_INFO_NULL));
        FINE(MPI_File_read_at(file, 0, back, PAIRS, MPI_DOUBLE_INT, &status));
        for (int i = 0; i < PAIRS; i++) TRUE(back[i].value == pairs[i].value && back[i].place == pairs[i].place);
        synchronise(file);
        MPI_Type_free(&type);
    }
    FINE(MPI_File_close(&file));
    return finish();
}
