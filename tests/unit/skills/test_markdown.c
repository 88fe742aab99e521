#include "base/mem.h"
#include "skills/format/markdown.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Expected lines counted by hand in the literal. */
static const char *const document = "# One *two* `three`\n"            /* 1 */
                                    "\n"                               /* 2 */
                                    "Text with [a link](refs/a.md)\n"  /* 3 */
                                    "and ![image](i.png \"t\") here\n" /* 4 */
                                    "\n"                               /* 5 */
                                    "```CUDA title=x\n"                /* 6 */
                                    "code 1\n"                         /* 7 */
                                    "# no heading\n"                   /* 8 */
                                    "```\n"                            /* 9 */
                                    "\n"                               /* 10 */
                                    "    indented\n"                   /* 11 */
                                    "\n"                               /* 12 */
                                    "- item\n"                         /* 13 */
                                    "\n"                               /* 14 */
                                    "  ~~~c\n"                         /* 15 */
                                    "  in list\n"                      /* 16 */
                                    "  ~~~\n"                          /* 17 */
                                    "\n"                               /* 18 */
                                    "Under\n"                          /* 19 */
                                    "-----\n"                          /* 20 */
                                    "\n"                               /* 21 */
                                    "<b>raw</b> <https://x.y/z>\n";    /* 22 */

static void check_document(const char *text, int first_line) {
    int at = first_line - 1;
    struct markdown m;
    markdown_read(&m, text, strlen(text), first_line);
    cr_assert(eq(sz, m.heading_count, 2));
    cr_expect(eq(str, m.headings[0].text, "One two three"));
    cr_expect(eq(int, m.headings[0].level, 1));
    cr_expect(eq(int, m.headings[0].line, at + 1));
    cr_expect(eq(str, m.headings[1].text, "Under"));
    cr_expect(eq(int, m.headings[1].level, 2));
    cr_expect(eq(int, m.headings[1].line, at + 19));
    cr_assert(eq(sz, m.code_count, 3));
    cr_expect(eq(str, m.codes[0].language, "cuda"));
    cr_expect(eq(str, m.codes[0].info, "CUDA title=x"));
    cr_expect(eq(str, m.codes[0].text, "code 1\n# no heading\n"));
    cr_expect(eq(int, m.codes[0].line, at + 7));
    cr_expect(eq(int, m.codes[0].fence_line, at + 6));
    cr_expect(eq(str, m.codes[1].text, "indented\n"));
    cr_expect(eq(int, m.codes[1].line, at + 11));
    cr_expect(eq(str, m.codes[2].language, "c"));
    cr_expect(eq(str, m.codes[2].text, "in list\n"));
    cr_expect(eq(int, m.codes[2].line, at + 16));
    cr_assert(eq(sz, m.link_count, 3));
    cr_expect(eq(str, m.links[0].url, "refs/a.md"));
    cr_expect(eq(str, m.links[0].text, "a link"));
    cr_expect(eq(int, m.links[0].line, at + 3));
    cr_expect(eq(str, m.links[1].url, "i.png"));
    cr_expect(eq(int, m.links[1].line, at + 4));
    cr_expect(eq(str, m.links[2].url, "https://x.y/z"));
    cr_expect(strstr(m.plain, "Text with a link and image here") != NULL, "%s", m.plain);
    cr_expect(strstr(m.plain, "code 1") == NULL && strstr(m.plain, "<b>") == NULL);
    cr_expect(eq(int, m.truncated, 0));
    markdown_finish(&m);
}

Test(markdown, headings_code_and_links_have_the_lines_of_the_document) {
    check_document(document, 1);
    check_document(document, 12);
}

Test(markdown, lines_are_true_with_other_line_endings) {
    size_t len = strlen(document), at = 0;
    char *crlf = xmalloc(2 * len + 1);
    for (size_t i = 0; i < len; i++) {
        if (document[i] == '\n') {
            crlf[at++] = '\r';
        }
        crlf[at++] = document[i];
    }
    crlf[at] = '\0';
    check_document(crlf, 5);
    free(crlf);
    struct markdown m;
    markdown_read(&m, "a\r\r# b\r", 7, 1);
    cr_assert(eq(sz, m.heading_count, 1));
    cr_expect(eq(int, m.headings[0].line, 3));
    markdown_finish(&m);
}

Test(markdown, raw_html_and_nul_bytes_do_no_harm) {
    struct markdown m;
    markdown_read(&m, "a\0b <script>x</script>\n\xFF\xFE [x](javascript:y)", 41, 1);
    cr_expect(strstr(m.plain, "<script>") == NULL);
    markdown_finish(&m);
    markdown_read(&m, "", 0, 1);
    cr_expect(eq(str, m.plain, ""));
    markdown_finish(&m);
}

static char *repeated(const char *unit, size_t times, size_t *ret_len) {
    size_t n = strlen(unit);
    char *text = xmalloc(n * times + 1);
    for (size_t i = 0; i < times; i++) {
        memcpy(text + i * n, unit, n);
    }
    text[n * times] = '\0';
    *ret_len = n * times;
    return text;
}

/* Shapes that have made Markdown readers quadratic; each is about a mebibyte. */
Test(markdown, hostile_documents_take_bounded_time) {
    static const char *const units[] = {
        "# h\n", "> ",     "- ",           "* a\n",        "[",     "![",     "[a](b) ",
        "*a_",   "`a``",   "<!--",         "<?",           "&",     "\\",     "[x]: y\n",
        "[a][b", "1. ",    "\t",           "> a\n> ```\n", "```\n", "**a",    "a\n",
        "](",    "[](<",   "_*",           "~~~ a\n~~~\n", "<a ",   "![[]()", "- a\n ",
        "> -\n", "a <!A ", "a <![CDATA[ ", "a <? ",        "[^a]: "};
    for (size_t i = 0; i < ARRAY_LEN(units); i++) {
        size_t len;
        char *text = repeated(units[i], (1u << 20) / strlen(units[i]), &len);
        struct markdown m;
        double start = seconds();
        markdown_read(&m, text, len, 1);
        double took = seconds() - start;
        if (getenv("SHOW_TIMES")) {
            fprintf(stderr, "%-12.10s %.2f s\n", units[i], took);
        }
        cr_expect(took < 4, "%s took %.2f s", units[i], took);
        cr_expect(m.heading_count <= MARKDOWN_MAX_ITEMS &&
                  m.link_count <= MARKDOWN_MAX_ITEMS &&
                  strlen(m.plain) <= MARKDOWN_MAX_PLAIN);
        markdown_finish(&m);
        free(text);
    }
}

/* A head that nests deeply, then lines that each ask every container. */
Test(markdown, deep_nesting_takes_bounded_time) {
    static const char *const heads[] = {"1. ", "> ", ">", "- ", "+ > "};
    for (size_t i = 0; i < ARRAY_LEN(heads); i++) {
        size_t head_len, tail_len;
        autofree char *head = repeated(heads[i], 300000 / strlen(heads[i]), &head_len);
        autofree char *tail = repeated("\n", 500000, &tail_len);
        autofree char *text = xasprintf("%sa%s", head, tail);
        struct markdown m;
        double start = seconds();
        markdown_read(&m, text, strlen(text), 1);
        double took = seconds() - start;
        cr_expect(took < 4, "%s took %.2f s", heads[i], took);
        markdown_finish(&m);
    }
}

Test(markdown, two_hundred_thousand_headings_are_cut_and_said_to_be) {
    size_t len;
    char *text = repeated("## heading\n", 200000, &len);
    struct markdown m;
    double start = seconds();
    markdown_read(&m, text, len, 1);
    double took = seconds() - start;
    cr_expect(eq(sz, m.heading_count, MARKDOWN_MAX_ITEMS));
    cr_expect(eq(int, m.truncated, 1));
    cr_expect(took < 4, "%.2f s", took); /* sanitizers included */
    if (getenv("SHOW_TIMES")) {
        fprintf(stderr, "200000 headings %.2f s\n", took);
    }
    markdown_finish(&m);
    free(text);
}
