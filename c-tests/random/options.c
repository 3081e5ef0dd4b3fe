/* random [--seed N] [--count K] [--every M] [--verbose] [--dir D] [--steps N] [--drop 3,5-9] [--timeout S] [--keep]
 *        [--without FEATURE,...] [--hints 'key=value;...'] [--largest BYTES] [--files N] [--print RANKS]
 *
 * --seed, --count, --every  K programs in this launch, from seeds N, N + M, N + 2M, ...
 * --steps, --drop           the length of each program, and steps of it not to run: the others stay what they are
 * --without                 leaves out what is named below
 * --timeout                 seconds for one program; a rank that waits longer says in which call
 * --hints                   the same hints in every call that takes some
 * --largest, --files        the most bytes of an access, the most files
 * --print                   the program as C source for so many ranks; started on one rank */
#include "random.h"

#include <stdlib.h>
#include <string.h>

Options options = {.seed = 1, .every = 1, .count = 1, .largest = 60000, .files = MAX_FILES, .timeout = 60, .directory = "/dev/shm"};

static const char *const feature_names[FEATURES] = {
    "holes", "eof-counts", "nonblocking", "nonblocking-collective", "split", "shared", "ordered", "races", "hints",
    "uneven-hints", "reopen", "atomic", "large-count", "views", "types", "datareps", "sizes", "bottom", "empty-filetypes",
    "subcomms", "far", "sequential", "append", "f90-types", "darray", "own-datareps", "sessions", "intercomms", "wait-order", "pairs",
    "lower-bounds", "zero-blocks", "unordered", "outstanding-races", "second-openings"};

static void refuse(const char *wrong)
{
    fprintf(stderr, "random: %s is not an option, see the top of options.c\n", wrong);
    MPI_Abort(MPI_COMM_WORLD, 2);
    exit(2);
}

static void switch_off(char *names)
{
    for (char *name = strtok(names, ","); name; name = strtok(NULL, ",")) {
        int i = 0;
        while (i < FEATURES && strcmp(name, feature_names[i])) i++;
        if (i == FEATURES) refuse(name);
        options.on[i] = false;
    }
}

/* 3,5-9: steps that are not run. */
static void drop_steps(char *ranges)
{
    for (char *range = strtok(ranges, ","); range; range = strtok(NULL, ",")) {
        int first = 0, last = 0, given = sscanf(range, "%d-%d", &first, &last);
        if (given < 2) last = first;
        if (given < 1 || first < 1 || last >= MAX_STEPS) refuse(range);
        for (int step = first; step <= last; step++) options.dropped[step] = true;
    }
}

void parse_options(int count, char **words)
{
    for (int i = 0; i < FEATURES; i++) options.on[i] = true;
    for (int i = 1; i < count; i++) {
        char *word = words[i], *value = i + 1 < count ? words[i + 1] : "";
        if (!strcmp(word, "--verbose")) options.verbose = true;
        else if (!strcmp(word, "--keep")) options.keep_files = true;
        else if (!strcmp(word, "--seed")) options.seed = strtoull(value, NULL, 10), i++;
        else if (!strcmp(word, "--count")) options.count = atoi(value), i++;
        else if (!strcmp(word, "--every")) options.every = atoi(value), i++;
        else if (!strcmp(word, "--steps")) options.steps = atoi(value), i++;
        else if (!strcmp(word, "--drop")) drop_steps(value), i++;
        else if (!strcmp(word, "--timeout")) options.timeout = atoi(value), i++;
        else if (!strcmp(word, "--dir")) options.directory = value, i++;
        else if (!strcmp(word, "--hints")) options.forced_hints = value, i++;
        else if (!strcmp(word, "--largest")) options.largest = atoi(value), i++;
        else if (!strcmp(word, "--files")) options.files = atoi(value), i++;
        else if (!strcmp(word, "--print")) options.print = atoi(value), i++;
        else if (!strcmp(word, "--without")) switch_off(value), i++;
        else refuse(word);
    }
}
