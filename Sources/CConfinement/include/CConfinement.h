#pragma once
/* Rights that a thread or a process gives up for good. The C library offers most of this as `syscall` and `prctl` alone,
 * which take any number of arguments and cannot be called from Swift. */

/* What the kernel enforces, as bits: see `confine_thread`. */
enum { CONFINED_BY_LANDLOCK = 1, CONFINED_BY_SECCOMP = 2 };

/* The version of Landlock that the kernel offers; 0 where it has none, or was started without it. */
int landlock_version(void);

/* Takes from the calling thread, and from the threads that it will start, the right to open, make, change or remove
 * files, to make or use new sockets, and to start programs. What is open stays open. The other threads keep their rights.
 *
 * Returns what enforces it: 0 where the kernel has neither Landlock nor filters of system calls. */
int confine_thread(void);

/* Keeps the memory of this process out of core dumps, and other processes of the user, debuggers among them, out of its
 * memory. It ends with the next `execve`. Returns 0, or -1. */
int keep_memory_private(void);
