#pragma once
/* hardware_text: splits a Markdown text into the statements that hardware_facts.c checks.
 *
 * A statement is a sentence, a list item, a comment in code, or one cell of a table with
 * its label. */
#include <stddef.h>

struct statement {
    const char *text; /* lower case, emphasis blanked */
    size_t len;
    size_t borrowed; /* its last bytes: a unit from the table's header; or 0 */
    size_t label;    /* its first bytes: a table's label, not at this place in the text */
    size_t offset;   /* in the given text, of the part after the label */
    const char *about; /* lower case: the cell that names the device, or "" */
    size_t about_len;
    const char *heading; /* lower case: headings above it, outermost first */
    size_t heading_len;
};
/* Borrowed for the call. */
typedef void statement_found(void *data, const struct statement *s);
void hardware_text_read(const char *text, size_t len, statement_found *found, void *data);
