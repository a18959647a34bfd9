#include "CProgram.h"

static char *_Nullable *_Nonnull arguments;

/* glibc hands over to constructors what it hands over to main, which Embedded Swift does not pass on. */
__attribute__((constructor)) static void keep(int count, char **vector) {
    (void)count;
    arguments = vector;
}

char *_Nullable *_Nonnull program_arguments(void) { return arguments; }
