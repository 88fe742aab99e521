/* What a draft cites, as it was recorded, and what came of it: for a teacher that proves the draft. */
#include "skills/traces/lessons_internal.h"

#include "base/buf.h"
#include "skills/format/tokens.h"

#define MAX_TEXT (1u << 20)
#define BEFORE 2u /* steps around a cited one … */
#define AFTER 4u
#define LATER 12u /* … the last of them in brief */
#define MAX_CITED 2000u
#define MAX_QUOTES 200u
#define LEAST_QUOTE 6u /* bytes: shorter ones stand everywhere */
#define MOST_QUOTE 160u
#define MAX_PLACES 2u /* of a quote */
#define ASIDES 1.25 /* of the room for what is cited: with what stands farther from it */
#define LEAST_TOKENS 500u

/* The steps of l once more, with no weight and with all that is known of each. */
static struct session_history whole_history(const struct lessons *l) {
    struct session_history h = {.count = l->history.count};
    h.list = xcalloc(h.count + 1, sizeof *h.list);
    for (size_t i = 0; i < h.count; i++) {
        h.list[i] = l->history.list[i];
        h.list[i].weight = UNTOLD;
        h.list[i].text = h.list[i].whole ? h.list[i].whole : h.list[i].text;
    }
    return h;
}

static void mark(struct session_history *h, size_t at, unsigned trace, enum step_weight weight) {
    if (at < h->count && h->list[at].trace == trace && h->list[at].weight < weight) {
        h->list[at].weight = (uint8_t)weight;
    }
}

static void mark_around(struct session_history *h, size_t at) {
    unsigned trace = h->list[at].trace;
    mark(h, at, trace, ESSENTIAL);
    for (size_t k = 1; k <= LATER; k++) {
        mark(h, at + k, trace, k <= AFTER ? TELLING : ROUTINE);
    }
    for (size_t k = 1; k <= BEFORE && k <= at; k++) {
        mark(h, at - k, trace, ATTEMPT);
    }
}

static bool mark_event(struct session_history *h, unsigned trace, unsigned event) {
    bool found = false;
    for (size_t i = 0; i < h->count; i++) {
        const struct history_step *s = &h->list[i];
        if (s->trace + 1u == trace && (s->event == event || s->result_event == event)) {
            mark_around(h, i);
            found = true;
        }
    }
    return found;
}

/* Whether there is one. */
static bool mark_citations(struct session_history *h, const char *draft) {
    bool found = false;
    size_t count = 0;
    for (const char *at = draft; (at = strchr(at, '[')); at++) {
        unsigned trace, event;
        for (const char *one = at + 1; count < MAX_CITED && evidence_read(one, &trace, &event); count++) {
            found |= mark_event(h, trace, event);
            one += strcspn(one, ",[]\n");
            one += strspn(one, ", ");
        }
    }
    return found;
}

/* Where it was last said: that is how it ended. */
static void mark_places(struct session_history *h, const char *quote) {
    unsigned places = 0;
    for (size_t i = h->count; i > 0 && places < MAX_PLACES; i--) {
        if (strstr(h->list[i - 1].text, quote)) {
            mark(h, i - 1, h->list[i - 1].trace, TELLING);
            places++;
        }
    }
}

static void mark_quotes(struct session_history *h, const char *draft) {
    unsigned count = 0;
    for (const char *at = draft; (at = strchr(at, '`')) && count < MAX_QUOTES;) {
        size_t ticks = strspn(at, "`"), len = strcspn(at + ticks, "`\n");
        const char *end = at + ticks + len;
        if (ticks == 1 && *end == '`' && len >= LEAST_QUOTE && len <= MOST_QUOTE) {
            autofree char *quote = xstrndup(at + 1, len);
            mark_places(h, quote);
            count++;
        }
        at = *end == '`' && ticks == 1 ? end + 1 : end;
    }
}

json_t *lessons_review(const struct lessons *l, const char *draft, size_t tokens, size_t part_tokens) {
    struct session_history h = whole_history(l);
    autobuf text = BUF_INIT(MAX_TEXT);
    if (mark_citations(&h, draft)) {
        mark_quotes(&h, draft);
        size_t wants = (size_t)(ASIDES * (double)lessons_history_needs(&h)) + LEAST_TOKENS;
        lessons_write_history(&text, &h, wants < tokens ? wants : tokens);
    }
    free(h.list);
    size_t told = tokens_estimate(text.data, text.len);
    return lessons_wrap(&text, !told ? 0 : !part_tokens ? 1 : (told + part_tokens - 1) / part_tokens);
}
