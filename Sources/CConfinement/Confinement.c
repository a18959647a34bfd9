/*
 * Landlock (landlock(7)) refuses files by path and, from its version 4 on, TCP. A filter of system calls (seccomp(2))
 * refuses the rest, and everything where there is no Landlock. The structures and bits are written out here, since the
 * headers of the system may be older than the kernel.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "CConfinement.h"

/* The numbers are the same on all machines, as those of all system calls since Linux 5.1 are. */
enum { CREATE_RULESET = 444, RESTRICT_SELF = 446 };
enum { ASK_FOR_VERSION = 1 };

struct ruleset {
    uint64_t files, network, scopes;
};

int landlock_version(void) {
    long version = syscall(CREATE_RULESET, NULL, 0, ASK_FOR_VERSION);
    return version < 0 ? 0 : (int)version;
}

/* All that the kernel knows is handled, and no rule allows any of it. */
static int apply_landlock(void) {
    int version = landlock_version();
    if (version < 1) return 0;
    int actions = version >= 5 ? 16 : version >= 3 ? 15 : version >= 2 ? 14 : 13;
    struct ruleset rules = {
        .files = (1ull << actions) - 1,
        /* TCP: bind and connect. */
        .network = version >= 4 ? 3 : 0,
        /* Abstract sockets, and signals to others. */
        .scopes = version >= 6 ? 3 : 0,
    };
    /* A kernel that knows fewer members takes the rest where it is zero. */
    int descriptor = (int)syscall(CREATE_RULESET, &rules, sizeof rules, 0);
    if (descriptor < 0) return 0;
    long status = syscall(RESTRICT_SELF, descriptor, 0);
    close(descriptor);
    return status == 0;
}

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#ifdef ARCHITECTURE
/* What a decoder needs none of. Newer machines lack the older ones. */
static const int refused[] = {
#ifdef SYS_open
    SYS_open, SYS_creat, SYS_fork, SYS_vfork, SYS_unlink, SYS_rename, SYS_mkdir, SYS_rmdir, SYS_link, SYS_symlink,
    SYS_mknod, SYS_chmod, SYS_chown, SYS_lchown, SYS_utime, SYS_utimes, SYS_futimesat,
#endif
    SYS_openat, 437 /* openat2 */, SYS_open_by_handle_at, SYS_memfd_create, SYS_execve, SYS_execveat, SYS_socket,
    SYS_socketpair, SYS_connect, SYS_bind, SYS_listen, SYS_accept, SYS_accept4, SYS_unlinkat, SYS_renameat,
    SYS_renameat2, SYS_mkdirat, SYS_linkat, SYS_symlinkat, SYS_mknodat, SYS_fchmodat, SYS_fchownat, SYS_truncate,
    SYS_utimensat, SYS_setxattr, SYS_lsetxattr, SYS_removexattr, SYS_lremovexattr,
    SYS_mount, SYS_unshare, SYS_setns, SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_bpf,
    SYS_perf_event_open, SYS_userfaultfd, SYS_keyctl, 425 /* io_uring_setup */, 438 /* pidfd_getfd */,
    452 /* fchmodat2 */, 463 /* setxattrat */, 466 /* removexattrat */, 469 /* file_setattr */,
};
enum { REFUSED = sizeof refused / sizeof refused[0] };

#define LOAD(member) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, member))
#define UNLESS(test, value, jump) BPF_JUMP(BPF_JMP | (test) | BPF_K, (value), 0, (jump))
#define ANSWER(value) BPF_STMT(BPF_RET | BPF_K, (value))
#define REFUSE ANSWER(SECCOMP_RET_ERRNO | EACCES)

static int apply_filter(void) {
    const struct sock_filter start[] = {
        /* Calls by another architecture's numbers. */
        LOAD(arch), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0), REFUSE,
        LOAD(nr),
        /* x32's, on x86-64. */
        UNLESS(BPF_JGE, 0x40000000, 1), REFUSE,
        /* Threads are made by clone, whose flags can be seen; the C library takes it where there is no clone3. */
        UNLESS(BPF_JEQ, SYS_clone3, 1), ANSWER(SECCOMP_RET_ERRNO | ENOSYS),
        UNLESS(BPF_JEQ, SYS_clone, 4), LOAD(args[0]), UNLESS(BPF_JSET, CLONE_THREAD, 1),
        ANSWER(SECCOMP_RET_ALLOW), REFUSE,
    };
    enum { START = sizeof start / sizeof start[0] };
    struct sock_filter filter[START + 2 * REFUSED + 1];
    size_t count = 0;
    for (; count < START; count++) filter[count] = start[count];
    for (int index = 0; index < REFUSED; index++) {
        filter[count++] = (struct sock_filter)UNLESS(BPF_JEQ, (uint32_t)refused[index], 1);
        filter[count++] = (struct sock_filter)REFUSE;
    }
    filter[count++] = (struct sock_filter)ANSWER(SECCOMP_RET_ALLOW);
    struct sock_fprog program = {.len = (unsigned short)count, .filter = filter};
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}
#else
static int apply_filter(void) { return 0; }
#endif

int confine_thread(void) {
    int number = errno;
    int result = 0;
    /* Both want it of whoever is not root: no program that is started may have more rights. */
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0) {
        if (apply_landlock()) result |= CONFINED_BY_LANDLOCK;
        if (apply_filter()) result |= CONFINED_BY_SECCOMP;
    }
    errno = number;
    return result;
}

int keep_memory_private(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }
