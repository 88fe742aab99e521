#pragma once
/* kernel_index: finds a compilation's kernels by name; demangles symbols. */
#include "gpu/source/source_set.h"
#include "protocol/finding.h"

struct kernel_spot {
    char *name;                     /* qualified, without template arguments */
    const struct source_file *file; /* borrowed from the source set */
    struct finding_span span;       /* of the name */
    json_t *parameters; /* their names (kernel_parameters.h), owned; NULL: not known */
};

struct kernel_index;
/* Indexes CUDA sources and PTX, by the original text if a file has one. The sources must
 * outlive the index. */
struct kernel_index *kernel_index_new(const struct source_set *sources);
void kernel_index_free(struct kernel_index *index);
/* Finds a kernel by its symbol (as in PTX, or extern "C") or by the name that
 * kernel_name_new returns; falls back to the only kernel with the same last component
 * (inline and unnamed namespaces). NULL if there is none. */
const struct kernel_spot *kernel_index_find(const struct kernel_index *index,
                                            const char *symbol, const char *name);
DEFINE_CLEANUP(struct kernel_index *, kernel_index_free);
/* Its position in the order of the sources, for sorting. */
size_t kernel_index_order(const struct kernel_index *index,
                          const struct kernel_spot *spot);

/* Turns "_ZN2ns2tkIfLi4EEEvPT_" into "ns::tk<float, 4>": no parameters, no return type,
 * no unnamed namespaces, a function argument by its name ("tk<&f>"). Other names, and
 * names that would become very long, stay unchanged. Freed by the caller. */
char *kernel_name_new(const char *symbol);
/* "ns::tk<float, 4>(float*)": with parameter types, which distinguish overloads. */
char *kernel_signature_new(const char *symbol);
