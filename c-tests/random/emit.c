/* The calls of a program as C source, with --print: nothing is done to any file then, and what a race leaves in the file
 * is taken for unknown. The source goes to standard output, one function for each rank, and includes alone.h. */
#include "random.h"

#include <stdarg.h>
#include <string.h>

static bool known[MAX_TYPES]; /* types that the function under way has made already */

static void emit_line(const char *format, va_list arguments)
{
    printf("    ");
    vprintf(format, arguments);
    puts(";");
}

void emit(const char *format, ...)
{
    va_list arguments;
    if (!options.print) return;
    va_start(arguments, format);
    char *call = keep(1 << 16);
    if (vsnprintf(call, 1 << 16, format, arguments) >= 1 << 16) fail("a call too long to print");
    va_end(arguments);
    printf("    must(%s);\n", call);
}

void emit_check(const char *format, ...)
{
    va_list arguments;
    if (!options.print) return;
    va_start(arguments, format);
    emit_line(format, arguments);
    va_end(arguments);
}

void emit_note(const char *format, ...)
{
    va_list arguments;
    if (!options.print) return;
    va_start(arguments, format);
    printf("    /* ");
    vprintf(format, arguments);
    puts(" */");
    va_end(arguments);
}

void emit_type(const Type *type)
{
    if (!options.print || type->number == 0 || known[type->number]) return;
    known[type->number] = true;
    for (int i = 0; i < type->recipe.part_count; i++) emit_type(type->recipe.parts[i]);
    emit("%s", type->code);
    emit("MPI_Type_commit(&%s)", type->name);
}

/* Stretches of bytes that differ from what they were as {at, "hex"}, for is_memory and is_file. */
char *patches(int64_t first, int64_t count, bool (*changed)(const void *, int64_t), int (*byte)(const void *, int64_t), const void *of)
{
    char *result = keep((size_t)(count * 32 + 8)), *end = result;
    for (int64_t i = first; i < first + count;) {
        if (!changed(of, i)) {
            i++;
            continue;
        }
        end += sprintf(end, "{%lld, \"", (long long)i);
        for (; i < first + count && changed(of, i); i++) {
            int value = byte(of, i);
            end += value < 0 ? sprintf(end, "..") : sprintf(end, "%02x", value);
        }
        end += sprintf(end, "\"}, ");
    }
    return result;
}

void begin_function(int rank)
{
    memset(known, 0, sizeof known);
    if (options.print) printf("\nstatic void rank_%d(void)\n{\n", rank);
}

void end_function(void)
{
    if (options.print) puts("}");
}

void emit_head(void)
{
    printf("/* Random program %llu on %d ranks, printed by c-tests/random. A rank that gets something wrong says WRONG.\n"
           " *     mpicc alone.c -o alone && mpirun -n %d ./alone DIRECTORY */\n#include \"alone.h\"\n",
           (unsigned long long)options.seed, options.print, options.print);
}

void emit_main(void)
{
    puts("\nint main(int count, char **words)\n{\n    int rank;\n    MPI_Init(&count, &words);\n    if (count > 1) directory = words[1];\n"
         "    MPI_Comm_rank(MPI_COMM_WORLD, &rank);");
    for (int rank = 0; rank < options.print; rank++) printf("    if (rank == %d) rank_%d();\n", rank, rank);
    puts("    must(MPI_Barrier(MPI_COMM_WORLD));\n    if (rank == 0) puts(\"No Errors\");\n    return MPI_Finalize();\n}");
}
