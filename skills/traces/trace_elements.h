#pragma once
/* trace_elements: splits a JSON document of any length while it arrives: the elements of
 * the arrays that hold its messages, each as one text, and then the rest of the document
 * with those arrays empty. Several documents may follow one another. Never fails:
 * unmatched brackets end the open value, and invalid JSON shows when an element is
 * parsed. */
#include "skills/traces/trace_squeeze.h"

#define ELEMENTS_DEPTH                                                                   \
    64 /* of the document around the arrays; deeper levels are skipped */

struct trace_elements {
    const char *const *keys; /* of arrays to split, NULL at the end */
    unsigned max_depth;      /* only arrays down to this depth are split */
    struct squeeze rest, element;
    char key[32]; /* the last string outside the elements */
    size_t key_len;
    char open[ELEMENTS_DEPTH]; /* '{', '[' or 's': an array that is being split */
    const char *open_key[ELEMENTS_DEPTH];
    unsigned depth; /* around the element */
    unsigned inner; /* brackets open within the element */
    size_t skipped; /* brackets open beyond ELEMENTS_DEPTH */
    bool in_string, escaped, in_element, key_next;
    trace_hand *hand;
    void *data;
};

void trace_elements_init(struct trace_elements *e, const char *const *keys,
                         unsigned max_depth, trace_hand *hand, void *data);
void trace_elements_finish(struct trace_elements *e);
void trace_elements_add(struct trace_elements *e, const char *bytes, size_t len);
/* True if the document was complete. */
bool trace_elements_end(struct trace_elements *e);
