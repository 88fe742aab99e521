#pragma once
/* page_text: the visible text of a web page, as plain text with a little Markdown.
 *
 * Headings, paragraphs, lists, quotes, table rows, preformatted blocks (as fences) and
 * inline code keep their form; addresses of links and pictures are dropped. Scripts,
 * styles, comments, navigation and hidden elements (hidden, aria-hidden, display:none,
 * visibility:hidden) are omitted: a teacher must not get text that a reader does not see.
 * Broken pages are not repaired: tags are processed in order. Linear. Pure. */
#include "base/mem.h"

/* Appends; text beyond out's limit is dropped. */
void page_text(struct buf *out, const char *html, size_t len);
