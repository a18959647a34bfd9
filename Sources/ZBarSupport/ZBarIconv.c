/*
 * For each symbol, zbar opens four converters of text. Where it hands over bytes unchanged it uses none of them, but for
 * the rare symbol that names its alphabet. Opening them loads three libraries, which takes longer than reading a clean
 * symbol: so here they are opened when first used.
 *
 * These functions are hidden, and zbar's archive is all in the program that refers to them.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <iconv.h>
#include <stdlib.h>
#include <string.h>

#include "ZBarSupport.h"

#define HIDDEN __attribute__((visibility("hidden")))

struct converter {
    iconv_t opened;
    int is_opened;
    /* The names of the alphabets that zbar knows are shorter. */
    struct zbar_converter names;
};

/* The last one that could not be opened: pictures are decoded by threads that may open no files. */
static _Thread_local struct zbar_converter lacking;

int zbar_lacks_converter(struct zbar_converter *result) {
    *result = lacking;
    lacking = (struct zbar_converter){0};
    return result->to[0] != 0;
}

void zbar_prepare_converters(void) {
    iconv_t (*open)(const char *, const char *) = dlsym(RTLD_NEXT, "iconv_open");
    int (*close)(iconv_t) = dlsym(RTLD_NEXT, "iconv_close");
    iconv_t converter = open("UTF-8", "UTF-8");
    if (converter != (iconv_t)-1) close(converter);
}

int zbar_open_converter(const struct zbar_converter *wanted) {
    iconv_t (*open)(const char *, const char *) = dlsym(RTLD_NEXT, "iconv_open");
    return open(wanted->to, wanted->from) != (iconv_t)-1;
}

HIDDEN iconv_t iconv_open(const char *to, const char *from) {
    struct converter *converter = NULL;
    if (strlen(to) < sizeof converter->names.to && strlen(from) < sizeof converter->names.from)
        converter = calloc(1, sizeof *converter);
    if (converter == NULL) {
        errno = ENOMEM;
        return (iconv_t)-1;
    }
    strcpy(converter->names.to, to);
    strcpy(converter->names.from, from);
    return converter;
}

HIDDEN size_t iconv(iconv_t handle, char **in, size_t *in_left, char **out, size_t *out_left) {
    struct converter *converter = handle;
    size_t (*convert)(iconv_t, char **, size_t *, char **, size_t *) = dlsym(RTLD_NEXT, "iconv");
    iconv_t (*open)(const char *, const char *) = dlsym(RTLD_NEXT, "iconv_open");
    if (!converter->is_opened) converter->opened = open(converter->names.to, converter->names.from);
    converter->is_opened = 1;
    if (converter->opened == (iconv_t)-1) {
        lacking = converter->names;
        errno = EBADF;
        return (size_t)-1;
    }
    return convert(converter->opened, in, in_left, out, out_left);
}

HIDDEN int iconv_close(iconv_t handle) {
    struct converter *converter = handle;
    int (*close)(iconv_t) = dlsym(RTLD_NEXT, "iconv_close");
    if (converter->is_opened && converter->opened != (iconv_t)-1) close(converter->opened);
    free(converter);
    return 0;
}
