/*
 * A camera made of a file, for a program that is started with this as LD_PRELOAD.
 *
 *   FAKE_CAMERA         the path of the device; any character device will do for one
 *   FAKE_CAMERA_FORMAT  the four characters of its only format: MJPG, YUYV, GREY …
 *   FAKE_CAMERA_SIZE    its only size, as 640x480
 *   FAKE_CAMERA_FRAME   the file with the bytes of a frame, which comes again and again
 *   FAKE_CAMERA_FAIL    what fails and how, as S_FMT=16: OPEN, QUERYCAP, S_FMT, REQBUFS, STREAMON or DQBUF and an errno
 *   FAKE_CAMERA_AFTER   how often that goes well before; 0 by default
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <linux/videodev2.h>

#define BUFFERS 4

static int camera = -1;
static unsigned width, height, format, size;
static void *buffers[BUFFERS];
/* The queue of the driver: as many as were queued and not taken. */
static unsigned queue[64], first, last;

static unsigned frame_bytes(void) {
    return format == V4L2_PIX_FMT_GREY ? width * height : 2 * width * height;
}

static int fails(const char *name);

static int open_camera(void) {
    if (fails("OPEN")) return -1;
    const char *name = getenv("FAKE_CAMERA_FORMAT");
    format = v4l2_fourcc(name[0], name[1], name[2], name[3]);
    sscanf(getenv("FAKE_CAMERA_SIZE"), "%ux%u", &width, &height);
    size = frame_bytes();
    /* Always readable: there always is a frame. */
    return camera = eventfd(1, EFD_NONBLOCK | EFD_CLOEXEC);
}

static int fails(const char *name) {
    const char *wanted = getenv("FAKE_CAMERA_FAIL");
    size_t length = strlen(name);
    if (!wanted || strncmp(wanted, name, length) || wanted[length] != '=') return 0;
    static int left = -1;
    if (left < 0) left = getenv("FAKE_CAMERA_AFTER") ? atoi(getenv("FAKE_CAMERA_AFTER")) : 0;
    if (left > 0) return left--, 0;
    errno = atoi(wanted + length + 1);
    return 1;
}

static int give_format(struct v4l2_format *asked) {
    asked->fmt.pix.width = width;
    asked->fmt.pix.height = height;
    asked->fmt.pix.pixelformat = format;
    asked->fmt.pix.field = V4L2_FIELD_NONE;
    asked->fmt.pix.sizeimage = size;
    return 0;
}

static int take(struct v4l2_buffer *buffer) {
    if (first == last) return errno = EAGAIN, -1;
    buffer->index = queue[first++ % 64];
    FILE *file = fopen(getenv("FAKE_CAMERA_FRAME"), "rb");
    buffer->bytesused = fread(buffers[buffer->index], 1, size, file);
    fclose(file);
    return 0;
}

static int request(unsigned long number, void *argument) {
    switch (number) {
    case VIDIOC_QUERYCAP: {
        if (fails("QUERYCAP")) return -1;
        struct v4l2_capability *capability = argument;
        memset(capability, 0, sizeof *capability);
        capability->device_caps = V4L2_CAP_VIDEO_CAPTURE | V4L2_CAP_STREAMING;
        return 0;
    }
    case VIDIOC_ENUM_FMT: {
        struct v4l2_fmtdesc *description = argument;
        if (description->index > 0) return errno = EINVAL, -1;
        description->pixelformat = format;
        return 0;
    }
    case VIDIOC_G_FMT: return give_format(argument);
    case VIDIOC_S_FMT: return fails("S_FMT") ? -1 : give_format(argument);
    case VIDIOC_REQBUFS: {
        if (fails("REQBUFS")) return -1;
        struct v4l2_requestbuffers *wanted = argument;
        if (wanted->memory != V4L2_MEMORY_MMAP) return errno = EINVAL, -1;
        if (wanted->count > BUFFERS) wanted->count = BUFFERS;
        return 0;
    }
    case VIDIOC_QUERYBUF: {
        struct v4l2_buffer *buffer = argument;
        buffer->length = size;
        buffer->m.offset = buffer->index * 65536;
        return 0;
    }
    case VIDIOC_QBUF: queue[last++ % 64] = ((struct v4l2_buffer *)argument)->index; return 0;
    case VIDIOC_DQBUF: return fails("DQBUF") ? -1 : take(argument);
    case VIDIOC_STREAMON: return fails("STREAMON") ? -1 : 0;
    case VIDIOC_STREAMOFF: return 0;
    default: return errno = ENOTTY, -1;
    }
}

/* What libzbar calls of libv4l2. */

int v4l2_ioctl(int descriptor, unsigned long number, ...) {
    va_list arguments;
    va_start(arguments, number);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    if (descriptor == camera && camera >= 0) return request(number, argument);
    int (*real)(int, unsigned long, ...) = dlsym(RTLD_NEXT, "v4l2_ioctl");
    return real(descriptor, number, argument);
}

int v4l2_open(const char *path, int flags, ...) {
    const char *wanted = getenv("FAKE_CAMERA");
    if (wanted && !strcmp(path, wanted)) return open_camera();
    int (*real)(const char *, int, ...) = dlsym(RTLD_NEXT, "v4l2_open");
    return real(path, flags);
}

void *v4l2_mmap(void *start, size_t length, int protection, int flags, int descriptor, int64_t offset) {
    void *(*real)(void *, size_t, int, int, int, int64_t) = dlsym(RTLD_NEXT, "v4l2_mmap");
    if (descriptor != camera || camera < 0) return real(start, length, protection, flags, descriptor, offset);
    return buffers[offset / 65536] = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}
