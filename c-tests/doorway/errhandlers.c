/* Error handlers of files and of MPI_FILE_NULL: who is called, with what, and for how long. */
#define _GNU_SOURCE
#include "check.h"
#include <dlfcn.h>

#define NAME "doorway_errhandlers.dat"

static int calls;
static MPI_File called_with;
static int called_code;

static void handler(MPI_File *fh, int *code, ...)
{
    calls++;
    called_with = *fh;
    called_code = *code;
}

static void other_handler(MPI_File *fh, int *code, ...)
{
    (void)fh;
    (void)code;
    calls += 100;
}

/* A call that fails on this rank alone. */
static int fail(MPI_File fh)
{
    calls = 0;
    return MPI_File_seek(fh, 0, 12345);
}

static MPI_File open_file(void)
{
    MPI_File fh;
    int code = MPI_File_open(MPI_COMM_WORLD, NAME, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &fh);
    CHECK(code == MPI_SUCCESS);
    return fh;
}

static void check_default(MPI_File fh)
{
    /* As often as this, a reference that is not counted would be missed. */
    for (int i = 0; i < 100; i++) {
        MPI_Errhandler errhandler = MPI_ERRHANDLER_NULL;
        CHECK(MPI_File_get_errhandler(fh, &errhandler) == MPI_SUCCESS);
        CHECK(errhandler == MPI_ERRORS_RETURN);
        CHECK(MPI_Errhandler_free(&errhandler) == MPI_SUCCESS);
        CHECK(errhandler == MPI_ERRHANDLER_NULL);
    }
}

static void check_missing_file(void)
{
    char text[MPI_MAX_ERROR_STRING];
    int length;
    MPI_File fh;
    int code = MPI_File_open(MPI_COMM_WORLD, "doorway_nowhere.dat", MPI_MODE_RDONLY, MPI_INFO_NULL, &fh);
    CHECK(class_of(code) == MPI_ERR_NO_SUCH_FILE);
    CHECK(fh == MPI_FILE_NULL);
    CHECK(MPI_Error_string(code, text, &length) == MPI_SUCCESS);
    CHECK(strstr(text, "MPI_File_open") != NULL);
    CHECK(strstr(text, "doorway_nowhere.dat") != NULL);
}

static void check_handler_of_file(void)
{
    MPI_Errhandler errhandler, got;
    MPI_File fh = open_file();
    int code, user_class, user_code;

    CHECK(class_of(fail(fh)) == MPI_ERR_ARG);
    CHECK(calls == 0);

    CHECK(MPI_File_create_errhandler(handler, &errhandler) == MPI_SUCCESS);
    CHECK(MPI_File_set_errhandler(fh, errhandler) == MPI_SUCCESS);
    CHECK(MPI_File_get_errhandler(fh, &got) == MPI_SUCCESS);
    CHECK(got == errhandler);
    MPI_Errhandler_free(&got);
    MPI_Errhandler_free(&errhandler); /* the file still holds it */

    code = fail(fh);
    CHECK(class_of(code) == MPI_ERR_ARG);
    CHECK(calls == 1 && called_with == fh && called_code == code);

    calls = 0;
    CHECK(MPI_File_call_errhandler(fh, MPI_ERR_NO_SPACE) == MPI_SUCCESS);
    CHECK(calls == 1 && called_with == fh && called_code == MPI_ERR_NO_SPACE);

    MPI_Add_error_class(&user_class);
    MPI_Add_error_code(user_class, &user_code);
    CHECK(MPI_File_call_errhandler(fh, user_code) == MPI_SUCCESS);
    CHECK(calls == 2 && called_code == user_code);

    CHECK(MPI_File_create_errhandler(other_handler, &errhandler) == MPI_SUCCESS);
    CHECK(MPI_File_set_errhandler(fh, errhandler) == MPI_SUCCESS);
    MPI_Errhandler_free(&errhandler);
    fail(fh);
    CHECK(calls == 100);

    CHECK(MPI_File_set_errhandler(fh, MPI_ERRORS_RETURN) == MPI_SUCCESS);
    CHECK(class_of(fail(fh)) == MPI_ERR_ARG);
    CHECK(calls == 0);
    check_default(fh);
    CHECK(class_of(MPI_File_set_errhandler(fh, MPI_ERRHANDLER_NULL)) == MPI_ERR_ARG);
    CHECK(MPI_File_close(&fh) == MPI_SUCCESS);
}

static void check_handler_of_null_file(void)
{
    MPI_Errhandler errhandler, got;
    MPI_File fh, inheritor;
    int code;

    check_default(MPI_FILE_NULL);
    CHECK(MPI_File_create_errhandler(handler, &errhandler) == MPI_SUCCESS);
    CHECK(MPI_File_set_errhandler(MPI_FILE_NULL, errhandler) == MPI_SUCCESS);
    CHECK(MPI_File_get_errhandler(MPI_FILE_NULL, &got) == MPI_SUCCESS);
    CHECK(got == errhandler);
    MPI_Errhandler_free(&got);

    calls = 0;
    code = MPI_File_open(MPI_COMM_WORLD, "doorway_nowhere.dat", MPI_MODE_RDONLY, MPI_INFO_NULL, &fh);
    CHECK(class_of(code) == MPI_ERR_NO_SUCH_FILE);
    CHECK(calls == 1 && called_with == MPI_FILE_NULL && called_code == code);
    CHECK(class_of(fail(MPI_FILE_NULL)) == MPI_ERR_FILE);
    CHECK(calls == 1 && called_with == MPI_FILE_NULL);

    inheritor = open_file();
    CHECK(MPI_File_get_errhandler(inheritor, &got) == MPI_SUCCESS);
    CHECK(got == errhandler);
    MPI_Errhandler_free(&got);
    CHECK(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN) == MPI_SUCCESS);
    MPI_Errhandler_free(&errhandler);

    code = fail(inheritor); /* what it inherited stays */
    CHECK(calls == 1 && called_with == inheritor && called_code == code);
    CHECK(class_of(fail(MPI_FILE_NULL)) == MPI_ERR_FILE);
    CHECK(calls == 0);
    CHECK(MPI_File_close(&inheritor) == MPI_SUCCESS);
    check_default(MPI_FILE_NULL);
}

/* MPICH 5 makes the handlers of Fortran and C++ with this one; others have no prototype of it. */
typedef void extended_function(MPI_File fh, int code, void *extra_state);
typedef int create_extended(extended_function *, void (*)(void *), void *, MPI_Errhandler *);

static void extended(MPI_File fh, int code, void *extra_state)
{
    handler(&fh, &code);
    CHECK(extra_state == &errors);
}

static void check_extended_handler(void)
{
    create_extended *create = (create_extended *)dlsym(RTLD_DEFAULT, "MPIX_File_create_errhandler_x");
    MPI_Errhandler errhandler;
    MPI_File fh = open_file();
    CHECK(create != NULL);
    if (create != NULL) {
        CHECK(create(extended, NULL, &errors, &errhandler) == MPI_SUCCESS);
        CHECK(MPI_File_set_errhandler(fh, errhandler) == MPI_SUCCESS);
        MPI_Errhandler_free(&errhandler);
        int code = fail(fh);
        CHECK(calls == 1 && called_with == fh && called_code == code);
    }
    CHECK(MPI_File_close(&fh) == MPI_SUCCESS);
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);

    check_missing_file();
    check_handler_of_file();
    check_handler_of_null_file();
    check_extended_handler();

    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        CHECK(MPI_File_delete(NAME, MPI_INFO_NULL) == MPI_SUCCESS);
    return finish();
}
