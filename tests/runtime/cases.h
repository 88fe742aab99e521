#pragma once
/* cases: what host_program.c and driver_cases.c share. A case returns 0 when calls were
 * answered as they should be. */
#include <stdio.h>

extern const char *kernels_path;         /* kernels.ptx */
extern const char *const linked_texts[]; /* PTX; of the second, "there" is 1000 */
int case_driver(void);
int case_handles(void);

#define CHECK(condition)                                                                 \
    do {                                                                                 \
        if (!(condition)) {                                                              \
            fprintf(stderr, "%d: %s\n", __LINE__, #condition);                           \
            return 1;                                                                    \
        }                                                                                \
    } while (0)
#define FINE(call) CHECK((call) == 0)
