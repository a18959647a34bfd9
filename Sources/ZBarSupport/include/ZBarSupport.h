#pragma once
/* What zbar's archive refers to and shall have in another way: see ZBarCamera.c and ZBarIconv.c. */

/* Why a camera last refused something on this thread, as an errno; 0 since `zbar_camera_forget_trouble`. */
int zbar_camera_trouble(void);
void zbar_camera_forget_trouble(void);
