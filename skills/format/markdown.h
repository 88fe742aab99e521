#pragma once
/* markdown: parses a skill's body with cmark: headings, code blocks and links, with their
 * lines. */
#include <stddef.h>

struct markdown_heading {
    int level, line;
    char *text;
};
struct markdown_code {
    char *language; /* first word of the info string, lower case; "" */
    char *info;
    char *text;
    int line; /* of the first line of code, in the document given */
    int fence_line;
};
struct markdown_link {
    char *url, *text;
    int line;
};
struct markdown {
    struct markdown_heading *headings;
    struct markdown_code *codes;
    struct markdown_link *links;
    size_t heading_count, code_count, link_count;
    char *plain;   /* running text without code, for search; at most MARKDOWN_MAX_PLAIN
                      bytes */
    int truncated; /* a limit was reached: MARKDOWN_MAX_ITEMS of a kind */
};
#define MARKDOWN_MAX_ITEMS 10000
#define MARKDOWN_MAX_PLAIN (256u << 10)

/* first_line: added to every line (the body's first line in SKILL.md, 1 for a file of its
 * own). */
void markdown_read(struct markdown *ret, const char *text, size_t len, int first_line);
void markdown_finish(struct markdown *m);
