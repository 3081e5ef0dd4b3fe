/* The view is given back: displacement, etype, filetype and representation. */
#include "say.h"

static const char *name_of(MPI_Datatype type)
{
    int integers, addresses, types, combiner;
    MPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
    if (combiner != MPI_COMBINER_NAMED) return "derived";
    return type == MPI_BYTE ? "MPI_BYTE" : type == MPI_INT ? "MPI_INT" : "named";
}

static void show(MPI_File file)
{
    MPI_Offset displacement;
    MPI_Datatype etype, filetype;
    MPI_Aint lb, extent;
    char datarep[MPI_MAX_DATAREP_STRING];
    int bytes;
    FINE(MPI_File_get_view(file, &displacement, &etype, &filetype, datarep));
    MPI_Type_get_extent(filetype, &lb, &extent);
    MPI_Type_size(filetype, &bytes);
    say("%lld, %s, %s of %d bytes and extent %ld, %s", (long long)displacement, name_of(etype), name_of(filetype), bytes, (long)extent, datarep);
    if (strcmp(name_of(filetype), "derived") == 0) MPI_Type_free(&filetype);
}

int main(int count, char **words)
{
    begin(&count, &words);
    MPI_File file = open_new("get_view");
    MPI_Datatype vector;
    MPI_Group group;
    int members, amode, atomic;
    show(file);
    MPI_Type_vector(3, 2, 5 + rank, MPI_INT, &vector);
    MPI_Type_commit(&vector);
    FINE(MPI_File_set_view(file, 12, MPI_INT, vector, "native", MPI_INFO_NULL));
    MPI_Type_free(&vector);
    show(file);
    FINE(MPI_File_get_group(file, &group));
    MPI_Group_size(group, &members);
    MPI_Group_free(&group);
    FINE(MPI_File_get_amode(file, &amode));
    FINE(MPI_File_get_atomicity(file, &atomic));
    say("%d members, %s, %s", members, amode == (MPI_MODE_CREATE | MPI_MODE_RDWR) ? "create and read-write" : "another amode", atomic ? "atomic" : "not atomic");
    FINE(MPI_File_close(&file));
    MPI_Finalize();
    return 0;
}
