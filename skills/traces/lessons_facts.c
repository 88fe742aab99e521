/* Links that were read, versions that tools printed. */
#include "base/find.h"
#include "skills/traces/lessons_internal.h"

#include "base/pattern.h"
#include "base/text.h"
#include "base/work.h"
#include "skills/lessons_tables.h"

#include <ctype.h>

#define MAX_LINKS 20u
#define MAX_LIMITS 24u
#define MAX_URL 300u
#define MAX_WHY 160u
#define MAX_LINES 4000u
#define MAX_LINE 300u
/* --- links --- */

static size_t url_length(const char *s) {
    size_t len = strcspn(s, " \t\n\"'`<>)]}|\\^,;");
    while (len && strchr(".:!?*_", s[len - 1])) {
        len--;
    }
    return len;
}

static bool is_public(const char *url, size_t len) {
    static const char *const no[] = {"localhost", "127.0.0.1", "0.0.0.0",  "example.com",
                                     "<",         "::1",       "192.168.", "10.0."};
    const char *host = strstr(url, "://") + 3;
    if (len > MAX_URL || len < 12 ||
        memchr(host, '.', len - (size_t)(host - url)) == NULL ||
        memchr(host, '@', len - (size_t)(host - url)) || memchr(url, '?', len)) {
        return false;
    }
    return !any_of(i, 0, ARRAY_LEN(no), strncmp(host, no[i], strlen(no[i])) == 0);
}

/* The words of the line around a link. */
static char *words_around(const char *text, const char *at, size_t len) {
    const char *line = at;
    while (line > text && line[-1] != '\n') {
        line--;
    }
    autofree char *before = xstrndup(line, (size_t)(at - line));
    autofree char *after = xstrndup(at + len, strcspn(at + len, "\n"));
    autofree char *both = xasprintf("%s%s", before, after);
    return strlen(both) < 8 ? NULL : lesson_cut(both, strlen(both), MAX_WHY);
}

static void add_link(struct lessons *l, const struct steps *s,
                     const struct lesson_step *e, const char *at, size_t len) {
    autofree char *url = xstrndup(at, len);
    struct lesson *link = lesson_list_find(&l->links, url);
    if (!link && l->links.count < MAX_LINKS) {
        link = lesson_list_add(&l->links);
        link->key = take(url);
        link->why = e->kind == STEP_USER ? words_around(e->text, at, len) : NULL;
    }
    if (link) {
        lessons_add_evidence(&link->evidence, s->trace, e->event, EVIDENCE_SAID);
    }
}

static void find_links(struct lessons *l, const struct steps *s,
                       const struct lesson_step *e) {
    for (const char *at = e->text; at && (at = strstr(at, "http"));) {
        bool url = strncmp(at, "http://", 7) == 0 || strncmp(at, "https://", 8) == 0;
        size_t len = url ? url_length(at) : 0;
        if (len && is_public(at, len)) {
            add_link(l, s, e, at, len);
        }
        at += len ? len : 4;
    }
}

/* --- versions --- */

/* A word of the part asks for it: "--version", "version". */
static bool asks_version(const char *part) {
    static const char *const words[] = {"--version", "-V", "-v", "version", NULL};
    struct word_list l;
    list_words(&l, part);
    return any_of(i, 1, l.count, any_of(k, 0, 4, l.lens[i] == strlen(words[k]) &&
                                                      memcmp(l.words[i], words[k], l.lens[i]) == 0));
}

/* The first part of the line that was asked for its version; or NULL. */
static const char *asked_part(const struct command *c) {
    size_t k = first_of(i, 0, c->count, asks_version(c->parts[i]));
    return k < c->count ? c->parts[k] : NULL;
}

/* "v22.16.0" alone is told with the program that said it, the first that was asked. */
static char *named_version(const struct lesson_step *e, const char *line, size_t len, bool first) {
    bool alone = len && !memchr(line, ' ', len) && isdigit((unsigned char)line[*line == 'v']);
    const char *part = alone && first ? asked_part(&e->command) : NULL;
    if (alone && !part) {
        return NULL;
    }
    return alone ? xasprintf("%.*s %.*s", (int)strcspn(part, BETWEEN_WORDS), part, (int)len, line)
                 : lesson_cut(line, len, 200);
}

/* "~/.nvm/versions/node/v22.16.0/bin/node". */
static bool is_within_path(const char *line, size_t len, size_t at) {
    size_t from = at;
    while (from && !isspace((unsigned char)line[from - 1])) {
        from--;
    }
    size_t end = at + strcspn(line + at, " \t\n");
    return end <= len && lesson_is_path(line + from, end - from);
}

static void add_limit(struct lessons *l, const struct steps *s,
                      const struct lesson_step *e, const char *line, size_t len, bool first) {
    autofree char *text = named_version(e, line, len, first);
    if (!text) {
        return;
    }
    struct lesson *limit = lesson_list_find(&l->limits, text);
    if (!limit && l->limits.count < MAX_LIMITS) {
        limit = lesson_list_add(&l->limits);
        limit->key = take(text);
    }
    if (limit) {
        lessons_add_evidence(&limit->evidence, s->trace, e->result_event, EVIDENCE_SAID);
    }
}

static void find_versions(struct lessons *l, const struct steps *s,
                          const struct lesson_step *e, const struct pattern *version) {
    size_t lines = 0, found = 0;
    size_t head = e->output && strncmp(e->output, "Exit code ", 10) == 0; /* a harness's */
    bool asks = asked_part(&e->command) != NULL;
    for (const char *line = asks ? e->output : ""; *line && lines < MAX_LINES;
         line = text_next_line(line), lines++) {
        size_t len = strcspn(line, "\n");
        struct pattern_match m;
        bool is = len <= MAX_LINE && found < 3 && pattern_find(version, line, len, 0, &m) > 0;
        if (is && !is_within_path(line, len, m.start[0])) {
            add_limit(l, s, e, line, len, lines == head);
            found++;
        }
    }
}

void lessons_find_facts(struct lessons *l, const struct steps *s) {
    struct pattern *version = pattern_new(version_regex);
    size_t earlier = l->limits.count; /* of other traces */
    for (size_t i = 0; i < s->count && !work_is_stopped(); i++) {
        const struct lesson_step *e = &s->list[i];
        while (step_is_run(e) && lesson_brings(e) && l->limits.count > earlier) {
            lesson_finish(&l->limits.list[--l->limits.count]); /* it may be another now */
        }
        if (e->kind == STEP_USER || e->kind == STEP_OTHER ||
            (e->kind == STEP_RUN && (strstr(e->text, "curl") || strstr(e->text, "wget") ||
                                     strstr(e->text, "git clone")))) {
            find_links(l, s, e);
        }
        if (e->kind == STEP_RUN && e->output) {
            find_versions(l, s, e, version);
        }
    }
    pattern_free(version);
}
