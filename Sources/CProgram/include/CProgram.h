#pragma once
/* The C library as Embedded Swift can call it, which has no module for it. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* The program's name and the words behind it; the last one is NULL. */
char *_Nullable *_Nonnull program_arguments(void);

/* What Swift cannot call, since it takes any number of arguments or is a macro. */
static inline int open_file(const char *_Nonnull path, int flags) { return open(path, flags); }
static inline int control_file(int descriptor, int command, int value) { return fcntl(descriptor, command, value); }
static inline int last_error(void) { return errno; }
static inline void ignore_closed_pipes(void) { signal(SIGPIPE, SIG_IGN); }
static inline void keep_memory_private(void) { prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }
static inline int socket_without_waiting(void) { return socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0); }
/* glibc declares the address as a union of pointers where it can. */
static inline int connect_socket(int descriptor, const struct sockaddr *_Nonnull address, socklen_t size) {
    return connect(descriptor, address, size);
}
