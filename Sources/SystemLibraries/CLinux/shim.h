#include <stddef.h>
#include <fcntl.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/openat2.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/// O_PATH, which the C library shows only to programs for GNU.
static const int pairtool_o_path = __O_PATH;

// `syscall` is variadic, and does not import.

/// openat2(2), which the C library does not offer: opens what lies beneath a directory. The kernel refuses with EXDEV
/// what leads out, be it by `..` or by a symbolic link, and with ELOOP the links of /proc.
static inline int pairtool_open_beneath(int directory, const char *path, int flags) {
    struct open_how how = {
        .flags = (unsigned)flags | O_CLOEXEC,
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS,
    };
    return (int)syscall(SYS_openat2, directory, path, &how, sizeof how);
}

// `prctl` is variadic too.

/// Makes this process the parent of its orphaned descendants: prctl(2), PR_SET_CHILD_SUBREAPER.
static inline int pairtool_adopt_orphans(void) { return prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); }
