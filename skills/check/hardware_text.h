#pragma once
/* hardware_text: a Markdown text as the statements that hardware_facts.c judges.
 *
 * A statement is a sentence, a list item, a comment in code, or one cell of a table with
 * the label it stands under. */
#include <stddef.h>

struct statement {
    const char *text; /* lower case, emphasis blanked */
    size_t len;
    size_t borrowed;   /* of its last bytes: a unit that the table's header gave; or 0 */
    size_t label;      /* its first bytes are a table's label, not of the text itself */
    size_t offset;     /* in the text given, of what follows the label */
    const char *about; /* lower case: the cell that names the device, or "" */
    size_t about_len;
    const char *heading; /* lower case: headings above it, outermost first */
    size_t heading_len;
};
/* Borrowed for the call. */
typedef void statement_found(void *data, const struct statement *s);
void hardware_text_read(const char *text, size_t len, statement_found *found, void *data);
