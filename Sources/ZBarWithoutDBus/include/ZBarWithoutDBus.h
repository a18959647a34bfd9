/* Nothing to call: linking this library is all there is to it. See ZBarWithoutDBus.c. */
