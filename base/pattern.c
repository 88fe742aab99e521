#include "base/pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <ctype.h>
#include <pcre2.h>
#include <pthread.h>
#include <stdio.h>

#define MATCH_LIMIT 200000u /* backtracking steps; a window is a few KiB */
#define MATCH_DEPTH 2000u
#define MATCH_HEAP_KIB 4096u

struct pattern {
    pcre2_code *code;
};

static pcre2_match_context *limits;
static pthread_once_t limits_once = PTHREAD_ONCE_INIT;

static void make_limits(void) {
    limits = pcre2_match_context_create(NULL);
    if (!limits) {
        abort();
    }
    pcre2_set_match_limit(limits, MATCH_LIMIT);
    pcre2_set_depth_limit(limits, MATCH_DEPTH);
    pcre2_set_heap_limit(limits, MATCH_HEAP_KIB);
}

struct pattern *pattern_new(const char *regex) {
    pthread_once(&limits_once, make_limits);
    int code;
    size_t offset;
    struct pattern *p = xcalloc(1, sizeof *p);
    p->code = pcre2_compile((PCRE2_SPTR)regex, PCRE2_ZERO_TERMINATED,
                            PCRE2_CASELESS | PCRE2_MULTILINE, &code, &offset, NULL);
    if (!p->code) {
        char why[128] = "";
        pcre2_get_error_message(code, (PCRE2_UCHAR *)why, sizeof why);
        fprintf(stderr, "pattern: %s at %zu in %s\n", why, offset, regex);
        abort();
    }
    return p;
}

void pattern_free(struct pattern *p) {
    if (p) {
        pcre2_code_free(p->code);
        free(p);
    }
}

static void copy_groups(pcre2_match_data *data, int count, struct pattern_match *ret) {
    const size_t *at = pcre2_get_ovector_pointer(data);
    for (int i = 0; i < PATTERN_GROUPS; i++) {
        bool set = i < count && at[2 * i] != PCRE2_UNSET;
        ret->start[i] = set ? at[2 * i] : 0;
        ret->end[i] = set ? at[2 * i + 1] : 0;
    }
}

int pattern_find(const struct pattern *p, const char *text, size_t len, size_t at,
                 struct pattern_match *ret) {
    pcre2_match_data *data = pcre2_match_data_create(PATTERN_GROUPS, NULL);
    if (!data) {
        abort();
    }
    int rc = pcre2_match(p->code, (PCRE2_SPTR)text, len, at, 0, data, limits);
    if (rc >= 0 && ret) {
        copy_groups(data, rc ? rc : PATTERN_GROUPS, ret);
    }
    pcre2_match_data_free(data);
    return rc >= 0 ? 1 : rc == PCRE2_ERROR_NOMATCH ? 0 : -E2BIG;
}

bool pattern_is_in(const struct pattern *p, const char *text, size_t len) {
    return pattern_find(p, text, len, 0, NULL) > 0;
}

/* Aho and Corasick's automaton with all steps worked out beforehand, over the few
 * characters that the words use. */
#define MAX_CLASSES 64
#define NO_OUTPUT UINT16_MAX

struct words_output {
    unsigned id;
    uint16_t next; /* further output of the same state */
};
struct state {
    uint16_t next[MAX_CLASSES];
    uint16_t output;  /* first of its list */
    uint16_t shorter; /* the state of the longest proper suffix that ends a word */
    uint16_t fallback;
};
struct words_scan {
    unsigned char classes[256];
    unsigned class_count;
    struct state *states;
    struct words_output *outputs;
    size_t state_count, output_count;
};

static uint16_t add_state(struct words_scan *s) {
    if (s->state_count >= UINT16_MAX) {
        abort();
    }
    s->states = xreallocarray(s->states, s->state_count + 1, sizeof *s->states);
    s->states[s->state_count] = (struct state){.output = NO_OUTPUT};
    return (uint16_t)s->state_count++;
}

struct words_scan *words_scan_new(void) {
    struct words_scan *s = xcalloc(1, sizeof *s);
    s->class_count = 1; /* 0: a character in no word */
    add_state(s);
    return s;
}

void words_scan_free(struct words_scan *s) {
    if (s) {
        free(s->states);
        free(s->outputs);
        free(s);
    }
}

static unsigned class_of(struct words_scan *s, unsigned char c) {
    unsigned char folded = (unsigned char)tolower(c);
    if (!s->classes[folded]) {
        if (s->class_count == MAX_CLASSES) {
            abort();
        }
        s->classes[folded] = (unsigned char)s->class_count++;
        s->classes[toupper(folded)] = s->classes[folded];
    }
    return s->classes[folded];
}

static void add_word(struct words_scan *s, const char *word, size_t len, unsigned id) {
    uint16_t at = 0;
    for (size_t i = 0; i < len; i++) {
        unsigned class = class_of(s, (unsigned char)word[i]);
        uint16_t to = s->states[at].next[class];
        if (!to) {
            to = add_state(s);
            s->states[at].next[class] = to;
        }
        at = to;
    }
    s->outputs = xreallocarray(s->outputs, s->output_count + 1, sizeof *s->outputs);
    s->outputs[s->output_count] = (struct words_output){id, s->states[at].output};
    s->states[at].output = (uint16_t)s->output_count++;
}

void words_scan_add(struct words_scan *s, const char *words, unsigned id) {
    for (const char *word = words; *word;) {
        size_t len = strcspn(word, "|");
        if (len) {
            add_word(s, word, len, id);
        }
        word += len + (word[len] == '|');
    }
}

static void prepare_state(struct words_scan *s, uint16_t at, uint16_t *queue,
                          size_t *ret_queued) {
    struct state *state = &s->states[at];
    const struct state *fallback = &s->states[state->fallback];
    for (unsigned class = 1; class < s->class_count; class ++) {
        uint16_t to = state->next[class];
        uint16_t instead = at ? fallback->next[class] : 0;
        if (!to) {
            state->next[class] = instead;
            continue;
        }
        s->states[to].fallback = instead;
        s->states[to].shorter =
            s->states[instead].output != NO_OUTPUT ? instead : s->states[instead].shorter;
        queue[(*ret_queued)++] = to;
    }
}

void words_scan_prepare(struct words_scan *s) {
    autofree uint16_t *queue = xcalloc(s->state_count + 1, sizeof *queue);
    size_t queued = 1;
    for (size_t i = 0; i < queued; i++) {
        prepare_state(s, queue[i], queue, &queued);
    }
}

static bool tell(const struct words_scan *s, uint16_t at, size_t end, words_scan_hit *hit,
                 void *data) {
    for (; at; at = s->states[at].shorter) {
        for (uint16_t o = s->states[at].output; o != NO_OUTPUT; o = s->outputs[o].next) {
            if (!hit(data, s->outputs[o].id, end)) {
                return false;
            }
        }
    }
    return true;
}

void words_scan_run(const struct words_scan *s, const char *text, size_t len,
                    words_scan_hit *hit, void *data) {
    uint16_t at = 0;
    for (size_t i = 0; i < len; i++) {
        at = s->states[at].next[s->classes[(unsigned char)text[i]]];
        const struct state *state = &s->states[at];
        if ((state->output != NO_OUTPUT || state->shorter) &&
            !tell(s, at, i + 1, hit, data)) {
            return;
        }
    }
}
