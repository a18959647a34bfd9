#include <stdint.h>

// A package of ICU's data with nothing in it, in the place of the one in Swift's static library (34 MB: languages, calendars
// and time zones of the world), which is linked only where nobody else has its name. Foundation is in the program for the
// sake of one library, and pairtool asks neither for anything that depends on a language.
//
// The format: https://unicode-org.github.io/icu/userguide/icu_data/, “.dat”. Whoever looks for data in it is told that there
// is none (U_FILE_ACCESS_ERROR or U_MISSING_RESOURCE_ERROR).
//
// The name has the version of ICU in it. With another one, the program grows; `scripts/check-release` notices.
__attribute__((visibility("hidden"), aligned(16))) const struct {
    uint16_t header_size;
    uint8_t magic[2];
    uint16_t info_size, reserved;
    uint8_t is_big_endian, character_set, size_of_uchar, more_reserved;
    uint8_t format[4], format_version[4], data_version[4];
    uint8_t padding[8];
    uint32_t entries, most_reserved;
} icudt76_dat = {
    .header_size = 32,
    .magic = {0xda, 0x27},
    .info_size = 20,
    .is_big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__,
    .size_of_uchar = 2,
    .format = {'T', 'o', 'C', 'P'},
    .format_version = {1},
};
