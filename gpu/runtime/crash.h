#pragma once
/* crash: a signal that ends the program is told, and what a bad address was. */

void crash_watch(void); /* once; the program's own handlers come in front */
