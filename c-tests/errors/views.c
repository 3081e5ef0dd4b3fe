/* What MPI_File_set_view must refuse, and that the old view stays in force then. */
#include "check.h"

static MPI_Datatype blocks(MPI_Datatype of, int first_length, int first, int second)
{
    MPI_Datatype type;
    int lengths[2] = {first_length, 1}, displacements[2] = {first, second};
    MPI_Type_indexed(2, lengths, displacements, of, &type);
    MPI_Type_commit(&type);
    return type;
}

static int try_blocks(MPI_File file, int first_length, int first, int second)
{
    MPI_Datatype filetype = blocks(MPI_INT, first_length, first, second);
    int code = MPI_File_set_view(file, 0, MPI_INT, filetype, "native", MPI_INFO_NULL);
    MPI_Type_free(&filetype);
    return code;
}

static int try(MPI_File file, MPI_Offset displacement, MPI_Datatype etype, MPI_Datatype filetype, const char *datarep)
{
    return MPI_File_set_view(file, displacement, etype, filetype, datarep, MPI_INFO_NULL);
}

int main(int count, char **words)
{
    begin(&count, &words);
    MPI_File file = open_new("views");
    MPI_Datatype odd, uncommitted, etype, filetype;
    MPI_Offset displacement;
    char datarep[MPI_MAX_DATAREP_STRING];
    MPI_Type_contiguous(3, MPI_BYTE, &odd);
    MPI_Type_commit(&odd);
    MPI_Type_contiguous(2, MPI_INT, &uncommitted);
    FINE(try(file, 7, MPI_INT, MPI_INT, "native"));
    EXPECT(try(file, -1, MPI_BYTE, MPI_BYTE, "native"), MPI_ERR_ARG);
    EXPECT(try(file, 0, MPI_DATATYPE_NULL, MPI_BYTE, "native"), MPI_ERR_TYPE);
    EXPECT(try(file, 0, MPI_BYTE, MPI_DATATYPE_NULL, "native"), MPI_ERR_TYPE);
    EXPECT(try(file, 0, MPI_INT, odd, "native"), MPI_ERR_ARG, MPI_ERR_TYPE);
    EXPECT(try(file, 0, MPI_BYTE, MPI_BYTE, "no such representation"), MPI_ERR_UNSUPPORTED_DATAREP);
    /* displacements below zero, decreasing, overlapping in a file that can be written */
    EXPECT(try_blocks(file, 1, -2, 1), MPI_ERR_ARG, MPI_ERR_TYPE, MPI_ERR_IO);
    EXPECT(try_blocks(file, 1, 4, 1), MPI_ERR_ARG, MPI_ERR_TYPE, MPI_ERR_IO);
    EXPECT(try_blocks(file, 3, 0, 1), MPI_ERR_ARG, MPI_ERR_TYPE, MPI_ERR_IO);
    FINE(MPI_File_get_view(file, &displacement, &etype, &filetype, datarep));
    TRUE(displacement == 7);
    TRUE(etype == MPI_INT && filetype == MPI_INT);
    TRUE(strcmp(datarep, "native") == 0);
    /* MPI_DISPLACEMENT_CURRENT belongs to sequential files */
    EXPECT(try(file, MPI_DISPLACEMENT_CURRENT, MPI_BYTE, MPI_BYTE, "native"), MPI_ERR_ARG, MPI_ERR_UNSUPPORTED_OPERATION);
    FINE(MPI_File_close(&file));
    /* a file that is only read may have overlapping filetypes */
    FINE(MPI_File_open(MPI_COMM_WORLD, path("views"), MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    FINE(try_blocks(file, 2, 0, 1));
    FINE(MPI_File_close(&file));
    MPI_Type_free(&odd);
    MPI_Type_free(&uncommitted);
    return finish();
}
