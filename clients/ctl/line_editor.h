#pragma once
/* line_editor: lines typed at a terminal, with the keys and the history that shells have.
 *
 * libedit does it where it is installed; it is loaded when the first editor is made, and
 * nothing of it is needed to build. The history lasts as long as the editor: what is
 * typed may hold secrets, so no file keeps it. One at a time, for libedit has one state.
 */
#include <stdbool.h>

struct line_editor;

/* A whole line, or NULL at the end of input. Borrowed. From within line_editor_read. */
typedef void line_editor_line(const char *line, void *data);

/* NULL: libedit is not here. prompt is borrowed and shown at once. */
struct line_editor *line_editor_new(const char *prompt, line_editor_line *on_line,
                                    void *data);
void line_editor_free(struct line_editor *e); /* NULL is fine; the terminal as before */
/* Standard input has something to read. */
void line_editor_read(struct line_editor *e);
/* Around other output: clears the line that is being typed, and draws it again. */
void line_editor_hide(struct line_editor *e);
void line_editor_show(struct line_editor *e);
