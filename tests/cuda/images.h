#pragma once
/* images: arrays, texture and surface objects.
 *
 * An array is an allocation whose elements lie row after row. Objects are of the device,
 * not of a module: this library brings its own functions of gpu/ptx/image/images.h over
 * one table for the process, as device_memory.h does for memory. */

/* Arrays and objects are gone; nothing may run any more. */
void device_images_finish(void);
