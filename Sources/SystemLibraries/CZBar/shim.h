#pragma once
#include <zbar.h>

/* How much zbar writes to standard error; 0, the default, is not nothing. */
static inline void zbar_be_silent(void) { zbar_set_verbosity(-1); }
