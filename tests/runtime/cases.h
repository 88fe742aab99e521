#pragma once
/* cases: what host_program.c and the files with further cases share. A case returns 0 when calls were
 * answered as they should be. */
#include <stdio.h>

extern const char *kernels_path;         /* kernels.ptx */
extern const char *const linked_texts[]; /* PTX; of the second, "there" is 1000 */
/* Kernels for launches, of one thread: by the host's side. */
extern const char add, bump, decide;
int launch_in(void *stream, const void *kernel, void **params);
int case_advice(void);
int case_copies(void);
int case_copies_past(void);
int case_driver(void);
int case_free_device(void);
int case_free_inside(void);
int case_free_large(void);
int case_free_pinned(void);
int case_free_stack(void);
int case_free_twice(void);
int case_graph_conditions(void);
int case_graph_conditions_unordered(void);
int case_graph_conditions_unset(void);
int case_graph_events(void);
int case_graph_memory(void);
int case_graph_memory_kept(void);
int case_graph_memory_late(void);
int case_graph_nodes(void);
int case_graph_ordered(void);
int case_graph_unordered(void);
int case_handles(void);
int case_heap(void);
int case_overrun(void);
int case_resize_managed(void);
int case_user_objects(void);
int case_virtual(void);
int case_virtual_left(void);
int case_virtual_no_access(void);
int case_virtual_unmapped(void);

#define CHECK(condition)                                                                 \
    do {                                                                                 \
        if (!(condition)) {                                                              \
            fprintf(stderr, "%d: %s\n", __LINE__, #condition);                           \
            return 1;                                                                    \
        }                                                                                \
    } while (0)
#define FINE(call) CHECK((call) == 0)
