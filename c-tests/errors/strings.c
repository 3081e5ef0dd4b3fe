/* The text of an error names the file and says what the system said. */
#include "check.h"

int main(int count, char **words)
{
    begin(&count, &words);
    MPI_File file;
    char words_of_error[MPI_MAX_ERROR_STRING] = "";
    int length = 0, code = MPI_File_open(MPI_COMM_WORLD, path("missing"), MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
    EXPECT(code, MPI_ERR_NO_SUCH_FILE);
    FINE(MPI_Error_string(code, words_of_error, &length));
    TRUE(strstr(words_of_error, "missing") != NULL);
    TRUE(length == (int)strlen(words_of_error));
    code = MPI_File_delete(path("missing too"), MPI_INFO_NULL);
    EXPECT(code, MPI_ERR_NO_SUCH_FILE);
    FINE(MPI_Error_string(code, words_of_error, &length));
    TRUE(strstr(words_of_error, "missing too") != NULL);
    return finish();
}
