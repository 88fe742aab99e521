#pragma once
/* safety_flow: follows data that a text's commands downloaded or read, from statement to
 * statement: a download that is executed, a secret that is sent.
 *
 * It is not a shell: names are followed, in the order of the text, through assignments;
 * commands, branches and loops are not evaluated. */
#include <stddef.h>

enum flow_end {
    FLOW_EXECUTED, /* a download */
    FLOW_SENT,     /* the contents of a file with secrets, or the environment */
    FLOW_ENDS
};
/* Words, separated by '|', of which every text with such a flow contains one. */
extern const char safety_flow_words[];
/* text[at, end): the statement where it ends. */
typedef void safety_flow_found(void *data, enum flow_end end, size_t from, size_t to);
/* Any thread. */
void safety_flow_read(const char *text, size_t len, safety_flow_found *found, void *data);
