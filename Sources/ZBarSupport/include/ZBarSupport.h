#pragma once
/* What zbar's archive refers to and shall have in another way: see ZBarCamera.c and ZBarIconv.c. */

/* Why a camera last refused something on this thread, as an errno; 0 since `zbar_camera_forget_trouble`. */
int zbar_camera_trouble(void);
void zbar_camera_forget_trouble(void);

/* A converter of text that a symbol asked for by the names of its alphabets. */
struct zbar_converter {
    char to[16], from[16];
};

/* Has the C library read the list of its converters, which it does once a process: not on a thread that may open no files. */
void zbar_prepare_converters(void);

/* Whether this thread was asked for a converter that could not be opened, since the last call; which one. */
int zbar_lacks_converter(struct zbar_converter *_Nonnull lacking);

/* Opens a converter for good, so that a thread that may open no files can use it. Returns whether it is installed. */
int zbar_open_converter(const struct zbar_converter *_Nonnull wanted);
