#pragma once
/* pattern: our own regular expressions over others' text, with limits; and many words
 * looked for at once.
 *
 * Matching is by bytes (no UTF mode, so malformed text is fine) and interpreted (a JIT
 * would want writable code). A match that runs into a limit counts as "no", and says so.
 */
#include <stdbool.h>
#include <stddef.h>

#define PATTERN_GROUPS 10

struct pattern;
struct pattern_match {
    size_t start[PATTERN_GROUPS], end[PATTERN_GROUPS]; /* equal: the group is empty */
};

/* The text is ours: a mistake in it aborts. Letters match in both cases, '^' and '$' at
 * every line. */
struct pattern *pattern_new(const char *regex);
void pattern_free(struct pattern *p);
/* The first match in text[at, len). 1, 0, or -E2BIG when a limit was met. */
int pattern_find(const struct pattern *p, const char *text, size_t len, size_t at,
                 struct pattern_match *ret);
bool pattern_is_in(const struct pattern *p, const char *text, size_t len);

/* Words (ASCII, any case) found in one pass over a text. */
struct words_scan;
struct words_scan *words_scan_new(void);
void words_scan_free(struct words_scan *s);
/* Words separated by '|'; id is handed back. All before the first run. */
void words_scan_add(struct words_scan *s, const char *words, unsigned id);
void words_scan_prepare(struct words_scan *s);
/* end: offset behind the word. Return false to stop. */
typedef bool words_scan_hit(void *data, unsigned id, size_t end);
void words_scan_run(const struct words_scan *s, const char *text, size_t len,
                    words_scan_hit *hit, void *data);
