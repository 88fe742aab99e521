#pragma once
/* line_editor: reads lines typed at a terminal, with a shell's keys and history.
 *
 * It uses libedit if that is installed, loading it with the first editor; the build does
 * not need it. The history lasts as long as the editor and is never saved to a file,
 * because typed text may contain secrets. Only one editor at a time, because libedit has
 * global state. */
#include <stdbool.h>

struct line_editor;

/* A whole line, or NULL at the end of input. Borrowed. Called from line_editor_read. */
typedef void line_editor_line(const char *line, void *data);

/* NULL: libedit is not installed. prompt is borrowed and shown at once. */
struct line_editor *line_editor_new(const char *prompt, line_editor_line *on_line,
                                    void *data);
void line_editor_free(struct line_editor *e); /* NULL is fine; restores the terminal */
/* Call it when standard input is readable. */
void line_editor_read(struct line_editor *e);
/* Call these around other output: clear the line being typed, and draw it again. */
void line_editor_hide(struct line_editor *e);
void line_editor_show(struct line_editor *e);
