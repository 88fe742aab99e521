#pragma once
/* html: text in the pages of this room. */
#include "base/mem.h"

/* Append s cleaned and escaped for HTML text and quoted attributes; at most max bytes of
 * it, then "…". */
void html_text(struct buf *out, const char *s, size_t max);
/* The same for all of out from there on. */
void html_escape(struct buf *out, size_t from);

/* A verdict in words, "not judged" for anything that is not one; and its class: good, bad
 * or even. */
const char *html_verdict(const char *verdict);
const char *html_tone(const char *verdict);
