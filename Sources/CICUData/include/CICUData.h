// Nothing to call: see ICUData.c.
