#include <qrencode.h>

#include "late.h"

#define FILE_NAME "libqrencode.so.4"
#define QRENCODE(result, name, parameters, arguments) LATE(FILE_NAME, result, name, parameters, arguments)

int late_qrencode_is_there(void) { return late_library(FILE_NAME) != NULL; }

QRENCODE(QRcode *, QRcode_encodeData, (int size, const unsigned char *data, int version, QRecLevel level),
         (size, data, version, level))
QRENCODE(void, QRcode_free, (QRcode *code), (code))
