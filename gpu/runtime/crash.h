#pragma once
/* crash: reports a fatal signal, and what the bad address was. */

void crash_watch(void); /* once; the program's own handlers run first */
