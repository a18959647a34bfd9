/*
 * zbar's archive reaches cameras through libv4l2, which converts formats that only cameras of long ago have. Here its
 * functions are the system calls themselves: one library less to load, and the reason of a failure, which zbar hands over
 * as text only, is kept.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ZBarSupport.h"

#define HIDDEN __attribute__((visibility("hidden")))

static _Thread_local int trouble;

int zbar_camera_trouble(void) { return trouble; }
void zbar_camera_forget_trouble(void) { trouble = 0; }

/* What a driver does not know (EINVAL, ENOTTY) zbar asks on purpose. */
static void keep(int reason) {
    if (reason != EINVAL && reason != ENOTTY) trouble = reason;
}

HIDDEN int v4l2_open(const char *file, int flags, ...) {
    int descriptor = open(file, flags | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) keep(errno);
    return descriptor;
}

HIDDEN int v4l2_close(int descriptor) { return close(descriptor); }

HIDDEN int v4l2_ioctl(int descriptor, unsigned long request, ...) {
    va_list arguments;
    va_start(arguments, request);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    int status;
    do status = ioctl(descriptor, request, argument);
    while (status < 0 && errno == EINTR);
    if (status < 0) keep(errno);
    return status;
}

HIDDEN void *v4l2_mmap(void *start, size_t length, int protection, int flags, int descriptor, int64_t offset) {
    void *place = mmap(start, length, protection, flags, descriptor, offset);
    if (place == MAP_FAILED) keep(errno);
    return place;
}

HIDDEN int v4l2_munmap(void *start, size_t length) { return munmap(start, length); }
