#pragma once
/* html: building blocks for the pages of this room. */
#include "base/mem.h"

/* Append s cleaned and escaped for HTML text and quoted attributes; at most max bytes of
 * it, then "…". */
void html_text(struct buf *out, const char *s, size_t max);

/* All of a page before its <h1>. The page needs no other file and may load and run
 * nothing. */
void html_page_begin(struct buf *out, const char *title);
/* The same, but it may run the one script that has this digest ("sha256-…"). */
void html_page_begin_with_script(struct buf *out, const char *title, const char *digest);
/* "helps", "hurts" … on its colour; "not judged" for anything that is not a verdict. */
void html_badge(struct buf *out, const char *verdict);
const char *html_tone(const char *verdict); /* a class: good, bad or even */
