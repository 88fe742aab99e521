#pragma once
/* config_text: puts pieces into the text of a configuration file and takes them out,
 * with all else as it was. Pieces have lines that end in "\n"; the text keeps its own line
 * ends. Results are freed by the caller. */
#include "base/mem.h"

/* A text whose last line has an end is followed by a blank line and a piece with one, and
 * one without by a piece without: so both can be told apart afterwards, and from a file
 * that setup has made. */
char *config_text_append(const char *text, const char *piece);
/* The text from before; NULL where the piece does not stand at `at`. */
char *config_text_cut(const char *text, size_t at, const char *piece);

/* Whether the value of an outermost key is a list or a mapping, as `block` has it, with
 * each item or member on lines of its own. */
bool config_yaml_fits(const char *text, const char *outer, const char *block);
/* The same text with another first item or member there: the lines of `block` without its
 * own first. NULL where it does not fit. */
char *config_yaml_put(const char *text, const char *outer, const char *block);
/* Of a list's item that has the name, or of a member, behind the outer key. */
size_t config_yaml_entry(const char *text, size_t outer_at, const char *name);
/* Without the item whose first key is there, or the member; NULL: it is not as
 * config_yaml_put has it. */
char *config_yaml_cut(const char *text, size_t entry_at, const char *block);
