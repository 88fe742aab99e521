#pragma once
/* pattern: matching our regular expressions on outside text with limits, and searching
 * for many words at once.
 *
 * Matching works on bytes (no UTF mode, so malformed text is fine) and is interpreted (a
 * JIT would need writable code pages). A match that exceeds a limit counts as no match
 * and is reported. */
#include "base/mem.h"

#define PATTERN_GROUPS 10

struct pattern;
struct pattern_match {
    size_t start[PATTERN_GROUPS], end[PATTERN_GROUPS]; /* equal: the group is empty */
};

/* regex must be our own text: a mistake in it aborts. Matching ignores case; '^' and '$'
 * match at every line. */
struct pattern *pattern_new(const char *regex);
void pattern_free(struct pattern *p);
/* The first match in text[at, len): 1, 0, or -E2BIG if a limit was exceeded. */
int pattern_find(const struct pattern *p, const char *text, size_t len, size_t at,
                 struct pattern_match *ret);
bool pattern_is_in(const struct pattern *p, const char *text, size_t len);

/* Words (ASCII, any case) found in one pass over a text. */
struct words_scan;
struct words_scan *words_scan_new(void);
void words_scan_free(struct words_scan *s);
/* Adds words separated by '|'; id is passed to the callback. Add all, then prepare. */
void words_scan_add(struct words_scan *s, const char *words, unsigned id);
void words_scan_prepare(struct words_scan *s);
/* end: the offset after the word. Return false to stop. */
typedef bool words_scan_hit(void *data, unsigned id, size_t end);
void words_scan_run(const struct words_scan *s, const char *text, size_t len,
                    words_scan_hit *hit, void *data);
