#pragma once
/* regex: untrusted regular expressions on untrusted text. PCRE2 in UTF mode. Processor
 * time and memory of a match are bounded for any pattern and text, so that it cannot
 * block a thread for long. */
#include "base/mem.h"

struct regex;

#define REGEX_MAX_PATTERN 4096u /* bytes */
#define REGEX_MAX_LITERAL 4096u

/* flags: of "imsx" (PCRE2's meaning), each at most once. -EINVAL with the error and its
 * position. */
int regex_new(struct regex **ret, const char *pattern, size_t len, const char *flags,
              struct err *err);
/* Finds a literal text, ignoring case (Unicode simple case folding). */
int regex_new_literal(struct regex **ret, const char *text, size_t len, struct err *err);
void regex_free(struct regex *r);

/* The first match in text, which must be UTF-8. 1, 0, or -ETIME if a limit was reached:
 * then the answer is unknown. start and end may be NULL. */
int regex_find(const struct regex *r, const char *text, size_t len, size_t *start,
               size_t *end);
