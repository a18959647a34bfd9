#include <spng.h>

#include "late.h"

#define FILE_NAME "libspng.so.0"
#define LATE_SPNG(result, name, parameters, arguments) LATE(FILE_NAME, result, name, parameters, arguments)

int late_spng_is_there(void) { return late_library(FILE_NAME) != NULL; }

LATE_SPNG(spng_ctx *, spng_ctx_new, (int flags), (flags))
LATE_SPNG(void, spng_ctx_free, (spng_ctx *context), (context))
LATE_SPNG(int, spng_set_png_buffer, (spng_ctx *context, const void *buffer, size_t size), (context, buffer, size))
LATE_SPNG(int, spng_get_ihdr, (spng_ctx *context, struct spng_ihdr *header), (context, header))
LATE_SPNG(int, spng_get_plte, (spng_ctx *context, struct spng_plte *palette), (context, palette))
LATE_SPNG(int, spng_get_trns, (spng_ctx *context, struct spng_trns *transparency), (context, transparency))
LATE_SPNG(int, spng_get_row_info, (spng_ctx *context, struct spng_row_info *row), (context, row))
LATE_SPNG(int, spng_decode_image, (spng_ctx *context, void *room, size_t size, int format, int flags),
          (context, room, size, format, flags))
LATE_SPNG(int, spng_decode_scanline, (spng_ctx *context, void *room, size_t size), (context, room, size))
LATE_SPNG(int, spng_decode_chunks, (spng_ctx *context), (context))
LATE_SPNG(const char *, spng_strerror, (int number), (number))
