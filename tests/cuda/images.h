#pragma once
/* images: arrays, texture and surface objects.
 *
 * An array is an allocation whose elements lie row after row. Objects are of the device,
 * not of a module. */

/* Arrays are gone; nothing may run any more. */
void device_images_finish(void);
