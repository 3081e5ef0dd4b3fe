/* What the preloaded inject.c offers to a program that wants to choose its faults while it runs. */
#ifndef INJECT_H
#define INJECT_H

struct injected {
    int fired;       /* how often since the last arming */
    char call[32];   /* the call that was hit first */
    double at;       /* when, on the clock that all processes of a machine share */
    long live;       /* pieces of memory that the library holds now */
};

/* The text is that of the environment variable FAULT; a null pointer disarms. False if it has a mistake. */
typedef int inject_arm_function(const char *text);
typedef void inject_report_function(struct injected *report);

#endif
