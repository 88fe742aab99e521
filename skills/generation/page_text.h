#pragma once
/* page_text: what a reader sees of a page, as plain text with a little Markdown.
 *
 * Headings, paragraphs, lists, quotes, table rows, preformatted blocks (as fences) and
 * inline code keep their form; addresses of links and pictures are dropped. Scripts,
 * styles, comments, navigation and what is hidden (hidden, aria-hidden, display:none,
 * visibility:hidden) are left out: a text that nobody sees is not for a teacher either.
 * No parser of broken pages: tags are taken as they come. Linear. Pure. */
#include <stddef.h>

struct buf;

/* Appends; what passes out's limit is left out. */
void page_text(struct buf *out, const char *html, size_t len);
