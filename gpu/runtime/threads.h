#pragma once
/* threads: the program's threads. The library exports pthread_create and pthread_exit in
 * front of the C library's, so that each thread has a stack for signals (a full stack can
 * then be told), and that a program whose main() left by pthread_exit ends with the last
 * of its own threads: the library's do not count. */
#include "base/mem.h"

void threads_begin(void);             /* once, in the first thread */
uintptr_t thread_stack_lowest(void);  /* of this thread; 0: of the first, which grows */
bool threads_are_several(void);       /* now */
