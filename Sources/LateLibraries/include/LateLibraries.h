#pragma once
/*
 * The functions of libqrencode and libspng that are called, as <qrencode.h> and <spng.h> have them: the libraries are
 * opened at the first call, instead of at every start, so that a program that draws no picture and reads none does not
 * wait for them. To be asked before that: whether a library is installed. Where it is not, a call ends the program.
 */
int late_qrencode_is_there(void);
int late_spng_is_there(void);
