/*
 * Records what a program writes, for power_cut.py: the program is started with this as LD_PRELOAD.
 *
 *   POWER_CUT_ROOT   only what lies below this directory is recorded
 *   POWER_CUT_LOG    the record: several programs may append to it, in the order in which things happen
 *
 * An entry is a line "KIND INODE OFFSET SIZE NAME OTHER", whose names have %XX for anything unusual, and SIZE bytes behind it:
 * write, truncate, sync (of a file's content), entry (a name that leads to an inode), gone, rename, made (a directory),
 * syncdir, and said (what went to standard output or standard error).
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int record = -2;

static const char *root(void) { return getenv("POWER_CUT_ROOT"); }

static int is_below(const char *path) {
    const char *top = root();
    size_t length = top ? strlen(top) : 0;
    return length && !strncmp(path, top, length) && (path[length] == '/' || !path[length]);
}

static void quote(char *to, size_t room, const char *from) {
    size_t at = 0;
    for (; *from && at + 4 < room; from++) {
        unsigned char c = (unsigned char)*from;
        if (c > ' ' && c < 127 && c != '%') to[at++] = (char)c;
        else at += (size_t)snprintf(to + at, room - at, "%%%02X", c);
    }
    if (!at) to[at++] = '-';
    to[at] = 0;
}

/* One append, so that entries of several threads and programs do not mix. */
static void note(const char *kind, ino_t inode, off_t offset, const void *bytes, size_t size, const char *name, const char *other) {
    int before = errno;
    char one[PATH_MAX], two[PATH_MAX], head[2 * PATH_MAX + 128];
    quote(one, sizeof one, name ? name : "");
    quote(two, sizeof two, other ? other : "");
    int length = snprintf(head, sizeof head, "%s %lu %ld %zu %s %s\n", kind, (unsigned long)inode, (long)offset, size, one, two);
    pthread_mutex_lock(&lock);
    if (record == -2) {
        const char *path = getenv("POWER_CUT_LOG");
        record = path ? (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_APPEND | O_CLOEXEC) : -1;
    }
    struct iovec parts[2] = {{head, (size_t)length}, {(void *)bytes, size}};
    if (record >= 0 && syscall(SYS_writev, record, parts, size ? 2 : 1) < 0) abort();
    pthread_mutex_unlock(&lock);
    errno = before;
}

/* The file that a descriptor stands for, if it is one below the root. */
static int known(int descriptor, struct stat *status, char *path) {
    char link[64];
    if (!root() || fstat(descriptor, status) || !(S_ISREG(status->st_mode) || S_ISDIR(status->st_mode))) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, PATH_MAX - 1);
    if (length <= 0) return 0;
    path[length] = 0;
    return is_below(path);
}

static void wrote(int descriptor, const void *bytes, ssize_t size, off_t offset) {
    struct stat status;
    char path[PATH_MAX];
    if (size <= 0) return;
    if ((descriptor == 1 || descriptor == 2) && offset < 0) note("said", (ino_t)descriptor, 0, bytes, (size_t)size, 0, 0);
    else if (known(descriptor, &status, path) && S_ISREG(status.st_mode)) {
        if (offset < 0) offset = lseek(descriptor, 0, SEEK_CUR) - size;
        note("write", status.st_ino, offset, bytes, (size_t)size, path, 0);
    }
}

ssize_t write(int descriptor, const void *bytes, size_t size) {
    ssize_t done = (ssize_t)syscall(SYS_write, descriptor, bytes, size);
    wrote(descriptor, bytes, done, -1);
    return done;
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t size, off64_t offset) {
    ssize_t done = (ssize_t)syscall(SYS_pwrite64, descriptor, bytes, size, offset);
    wrote(descriptor, bytes, done, offset);
    return done;
}
ssize_t pwrite(int descriptor, const void *bytes, size_t size, off_t offset) { return pwrite64(descriptor, bytes, size, offset); }

ssize_t writev(int descriptor, const struct iovec *parts, int count) {
    ssize_t done = (ssize_t)syscall(SYS_writev, descriptor, parts, count);
    struct stat status;
    char path[PATH_MAX];
    if (done > 0 && known(descriptor, &status, path) && S_ISREG(status.st_mode)) abort();
    return done;
}

int ftruncate64(int descriptor, off64_t size) {
    struct stat status;
    char path[PATH_MAX];
    int done = (int)syscall(SYS_ftruncate, descriptor, size);
    if (!done && known(descriptor, &status, path)) note("truncate", status.st_ino, size, 0, 0, path, 0);
    return done;
}
int ftruncate(int descriptor, off_t size) { return ftruncate64(descriptor, size); }

static int synced(int descriptor, int done) {
    struct stat status;
    char path[PATH_MAX];
    if (!done && known(descriptor, &status, path))
        note(S_ISDIR(status.st_mode) ? "syncdir" : "sync", status.st_ino, 0, 0, 0, path, 0);
    return done;
}
int fsync(int descriptor) { return synced(descriptor, (int)syscall(SYS_fsync, descriptor)); }
int fdatasync(int descriptor) { return synced(descriptor, (int)syscall(SYS_fdatasync, descriptor)); }

/* The absolute path that a name has. */
static void whole(int directory, const char *name, char *path) {
    char link[64], base[PATH_MAX];
    ssize_t length;
    if (*name == '/') {
        snprintf(path, PATH_MAX, "%s", name);
        return;
    }
    if (directory == AT_FDCWD) snprintf(link, sizeof link, "/proc/self/cwd");
    else snprintf(link, sizeof link, "/proc/self/fd/%d", directory);
    length = readlink(link, base, sizeof base - 1);
    base[length > 0 ? length : 0] = 0;
    if (snprintf(path, PATH_MAX, "%s/%s", base, name) >= PATH_MAX) abort();
}

static int opened(int descriptor, int flags) {
    struct stat status;
    char path[PATH_MAX];
    if (descriptor >= 0 && flags & (O_CREAT | O_TRUNC) && known(descriptor, &status, path) && S_ISREG(status.st_mode)) {
        if (flags & O_CREAT) note("entry", status.st_ino, 0, 0, 0, path, 0);
        if (flags & O_TRUNC) note("truncate", status.st_ino, 0, 0, 0, path, 0);
    }
    return descriptor;
}

#define OPEN(directory, name, flags)                                                       \
    mode_t mode = 0;                                                                       \
    if ((flags) & (O_CREAT | __O_TMPFILE)) {                                               \
        va_list list;                                                                      \
        va_start(list, flags);                                                             \
        mode = va_arg(list, mode_t);                                                       \
        va_end(list);                                                                      \
    }                                                                                      \
    return opened((int)syscall(SYS_openat, directory, name, flags, mode), flags)

int open(const char *name, int flags, ...) { OPEN(AT_FDCWD, name, flags); }
int open64(const char *name, int flags, ...) { OPEN(AT_FDCWD, name, flags); }
int openat(int directory, const char *name, int flags, ...) { OPEN(directory, name, flags); }
int openat64(int directory, const char *name, int flags, ...) { OPEN(directory, name, flags); }

int mkstemp64(char *name) { return opened(NEXT(mkstemp64)(name), O_CREAT); }
int mkstemp(char *name) { return mkstemp64(name); }

int mkdirat(int directory, const char *name, mode_t mode) {
    char path[PATH_MAX];
    struct stat status;
    int done = (int)syscall(SYS_mkdirat, directory, name, mode);
    if (!done) {
        whole(directory, name, path);
        if (is_below(path) && !stat(path, &status)) note("made", status.st_ino, 0, 0, 0, path, 0);
    }
    return done;
}
int mkdir(const char *name, mode_t mode) { return mkdirat(AT_FDCWD, name, mode); }

int renameat2(int from, const char *old, int to, const char *new, unsigned flags) {
    char one[PATH_MAX], two[PATH_MAX];
    int done = (int)syscall(SYS_renameat2, from, old, to, new, flags);
    if (!done) {
        whole(from, old, one);
        whole(to, new, two);
        if (is_below(one) || is_below(two)) note("rename", 0, 0, 0, 0, one, two);
    }
    return done;
}
int renameat(int from, const char *old, int to, const char *new) { return renameat2(from, old, to, new, 0); }
int rename(const char *old, const char *new) { return renameat2(AT_FDCWD, old, AT_FDCWD, new, 0); }

int linkat(int from, const char *old, int to, const char *new, int flags) {
    char path[PATH_MAX];
    struct stat status;
    int done = (int)syscall(SYS_linkat, from, old, to, new, flags);
    if (!done) {
        whole(to, new, path);
        if (is_below(path) && !stat(path, &status)) note("entry", status.st_ino, 0, 0, 0, path, 0);
    }
    return done;
}
int link(const char *old, const char *new) { return linkat(AT_FDCWD, old, AT_FDCWD, new, 0); }

int unlinkat(int directory, const char *name, int flags) {
    char path[PATH_MAX];
    int done = (int)syscall(SYS_unlinkat, directory, name, flags);
    if (!done) {
        whole(directory, name, path);
        if (is_below(path)) note("gone", 0, 0, 0, 0, path, 0);
    }
    return done;
}
int unlink(const char *name) { return unlinkat(AT_FDCWD, name, 0); }
int rmdir(const char *name) { return unlinkat(AT_FDCWD, name, AT_REMOVEDIR); }
