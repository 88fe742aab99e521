#pragma once
/* safety_flow: what becomes of what a text's commands fetched or read, from statement to
 * statement: a download that is executed, a secret that is sent.
 *
 * Not a shell: names are followed, in the order of the text, through assignments; nothing
 * is run, branched or looped. */
#include <stddef.h>

enum flow_end {
    FLOW_EXECUTED, /* what was downloaded */
    FLOW_SENT,     /* what a file with secrets, or the environment, holds */
    FLOW_ENDS
};
/* One of these words stands in every text that has such a flow; separated by '|'. */
extern const char safety_flow_words[];
/* text[at, end): the statement where it ends. */
typedef void safety_flow_found(void *data, enum flow_end end, size_t from, size_t to);
/* Any thread. */
void safety_flow_read(const char *text, size_t len, safety_flow_found *found, void *data);
