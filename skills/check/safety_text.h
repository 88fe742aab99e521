#pragma once
/* safety_text: checks one text against the table of safety_patterns.h, and for invisible
 * text: hidden characters, and comments that give orders. */
#include "base/json.h"

#define SAFETY_SEARCHED (24u << 20) /* bytes for a whole skill: about a second */

/* left: the number of bytes that may still be searched closely, shared by the files of a
 * skill; decremented. If it is not enough, adds the finding safety_scan_incomplete. */
void safety_text_check(const char *file, const char *text, size_t len, bool markdown,
                       size_t *left, json_t *findings);
/* Characters that a reader does not see (safety_unicode.c). */
struct lines;
void safety_unicode_check(const char *file, const char *text, size_t len,
                          const struct lines *lines, json_t *findings);
/* Prose in another language (safety_language.c). kinds: an enum safety_where per line. */
void safety_language_check(const char *file, const char *text, const struct lines *lines,
                           const unsigned char *kinds, json_t *findings);
