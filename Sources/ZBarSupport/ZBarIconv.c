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

#define HIDDEN __attribute__((visibility("hidden")))

struct converter {
    iconv_t opened;
    int is_opened;
    /* The names of the alphabets that zbar knows are shorter. */
    char to[16], from[16];
};

HIDDEN iconv_t iconv_open(const char *to, const char *from) {
    struct converter *converter = NULL;
    if (strlen(to) < sizeof converter->to && strlen(from) < sizeof converter->from)
        converter = calloc(1, sizeof *converter);
    if (converter == NULL) {
        errno = ENOMEM;
        return (iconv_t)-1;
    }
    strcpy(converter->to, to);
    strcpy(converter->from, from);
    return converter;
}

HIDDEN size_t iconv(iconv_t handle, char **in, size_t *in_left, char **out, size_t *out_left) {
    struct converter *converter = handle;
    size_t (*convert)(iconv_t, char **, size_t *, char **, size_t *) = dlsym(RTLD_NEXT, "iconv");
    iconv_t (*open)(const char *, const char *) = dlsym(RTLD_NEXT, "iconv_open");
    if (!converter->is_opened) converter->opened = open(converter->to, converter->from);
    converter->is_opened = 1;
    if (converter->opened == (iconv_t)-1) {
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
