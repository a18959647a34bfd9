#pragma once
/* The C library as Embedded Swift can call it, which has no module for it. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* The program's name and the words behind it; the last one is NULL. */
char *_Nullable *_Nonnull program_arguments(void);

/* What Swift cannot call, since it takes any number of arguments or is a macro. */
static inline int open_file(const char *_Nonnull path, int flags) { return open(path, flags); }
static inline int control_file(int descriptor, int command, int value) { return fcntl(descriptor, command, value); }
static inline int last_error(void) { return errno; }
static inline void ignore_closed_pipes(void) { signal(SIGPIPE, SIG_IGN); }
