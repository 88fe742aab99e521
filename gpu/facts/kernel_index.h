#pragma once
/* kernel_index: a compilation's kernels by name, and symbols as a person writes them. */
#include "gpu/source/source_set.h"
#include "protocol/finding.h"

struct kernel_spot {
    char *name;                     /* qualified, without template arguments */
    const struct source_file *file; /* borrowed from the source set */
    struct finding_span span;       /* of the name */
    json_t *parameters; /* their names (kernel_parameters.h), owned; NULL: not known */
};

struct kernel_index;
/* Of CUDA's sources and of PTX. Looks at the original text where a file has one. The
 * sources must outlive the index. */
struct kernel_index *kernel_index_new(const struct source_set *sources);
void kernel_index_free(struct kernel_index *index);
/* By its symbol, as PTX and extern "C" have it, or by the name that kernel_name_new gives
 * it; falls back to the only kernel with the same last
 * component (inline and unnamed namespaces). NULL when there is none. */
const struct kernel_spot *kernel_index_find(const struct kernel_index *index,
                                            const char *symbol, const char *name);
DEFINE_CLEANUP(struct kernel_index *, kernel_index_free);
/* Where it comes in the order of the sources, for sorting. */
size_t kernel_index_order(const struct kernel_index *index,
                          const struct kernel_spot *spot);

/* "_ZN2ns2tkIfLi4EEEvPT_" as "ns::tk<float, 4>": no parameters, no return type, no
 * unnamed namespaces, a function as an argument by its name ("tk<&f>"). What is no
 * mangled name, or would become very long, stays as it is. */
char *kernel_name_new(const char *symbol);
/* "ns::tk<float, 4>(float*)": with the types of its parameters, which tell one kernel of
 * a name from another. */
char *kernel_signature_new(const char *symbol);
