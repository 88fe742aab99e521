#pragma once
/* regex: regular expressions that others wrote, over text that others wrote.
 *
 * PCRE2 in UTF mode. A match is bounded in processor time and memory whatever the pattern
 * and the text, so that neither can hold up a thread for long. */
#include <stdbool.h>
#include <stddef.h>

struct err;
struct regex;

#define REGEX_MAX_PATTERN 4096u /* bytes */
#define REGEX_MAX_LITERAL 4096u

/* flags: of "imsx" (PCRE2's meaning), each at most once. -EINVAL with what is wrong and
 * where. */
int regex_new(struct regex **ret, const char *pattern, size_t len, const char *flags,
              struct err *err);
/* Finds the text itself in any case (Unicode simple case folding). */
int regex_new_literal(struct regex **ret, const char *text, size_t len, struct err *err);
void regex_free(struct regex *r);

/* The first match in text, which must be UTF-8. 1, 0, or -ETIME when a limit was met: the
 * answer is not known then. start and end may be NULL. */
int regex_find(const struct regex *r, const char *text, size_t len, size_t *start,
               size_t *end);
