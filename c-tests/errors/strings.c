/* The text of an error names the file and says what the system said, however many errors there have been. */
#include "check.h"

/* The error of a request, after so many of calls that return at once. */
static void after_others(MPI_File file, int others)
{
    char byte = 0, text[MPI_MAX_ERROR_STRING] = "";
    int length;
    MPI_Request request;
    for (int i = 1; i <= others; i++)
        EXPECT(MPI_File_write_at(file, i, &byte, 1, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_NO_SPACE);
    int code = MPI_File_iwrite_at(file, 0, &byte, 1, MPI_BYTE, &request);
    if (code == MPI_SUCCESS) code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    FINE(MPI_Error_string(code, text, &length));
    if (!strstr(text, "/dev/full")) printf("after %d others: %s\n", others, text);
    TRUE(strstr(text, "/dev/full") != NULL);
}

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
    FINE(MPI_File_open(MPI_COMM_SELF, "/dev/full", MPI_MODE_WRONLY, MPI_INFO_NULL, &file));
    for (int others = 0; others < 140; others++) after_others(file, others);
    FINE(MPI_File_close(&file));
    return finish();
}
