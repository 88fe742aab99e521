/* The history of a session, for a teacher that can read: what a person wants, what failed, what was
 * tried and changed then, and what the agent says of it. Nothing here judges what is a lesson. */
#include "skills/traces/lessons_internal.h"

#include "base/buf.h"
#include "base/find.h"
#include "base/pattern.h"
#include "base/text.h"
#include "base/work.h"
#include "skills/format/tokens.h"

#define MAX_STEPS 12000u /* of all traces; behind them only what tells most */
#define MAX_ALL 40000u
#define MAX_KEPT (8u << 20) /* bytes of all: a job keeps them while it waits for a draft */
#define MAX_TEXT (16u << 10)
#define MAX_COMMAND 600u
#define MAX_LINE 240u /* of an error */
#define MAX_OUTPUT 320u
#define MAX_WORDS 700u       /* bytes of a turn … */
#define MAX_CONCLUSION 1400u /* … of the last of an answer … */
#define MAX_TURN 3000u       /* … of a person */
#define MAX_DIFF 700u
#define MAX_WRITTEN 600u /* of a new file */
#define MAX_KEY 300u /* bytes by which a turn is known again, beside its length */
#define MAX_LAST 2u
#define MAX_OPEN 20u /* steps after a failure that are about it */
#define FIRST_SHARE 0.6 /* of the room, at most, for what is told in brief at first */
#define INDEX_BITS 16u
#define WHOLE 8u /* times these bytes, at most MAX_TURN, are kept of each piece, for who proves what was told */

/* Bytes of a step's text that are told: first of what tells most, then more of it. */
static const size_t lengths[] = {160, 480, WHOLE * MAX_TEXT};

struct history_walk {
    const struct steps *s;
    const struct lesson_reader *r;
    size_t at, times; /* index of the next step; of the above bytes */
    size_t failed; /* the latest failure that has not ended, + 1; 0: none */
    json_t *seen;  /* errors, normalised, and beginnings of turns */
};

/* --- steps --- */

static void keep_whole(struct history_step *step, char *text) {
    if (strcmp(text, step->text) != 0) {
        step->whole = text;
    } else {
        free(text);
    }
}

static void add_step(struct lessons *l, struct history_walk *w, const struct lesson_step *e,
                     enum step_weight weight, struct buf *text) {
    struct session_history *c = &l->history;
    if (w->at >= (weight < TELLING ? MAX_STEPS : MAX_ALL)) {
        buf_finish(text);
    } else if (w->times > 1) {
        keep_whole(&c->list[w->at++], buf_detach(text));
    } else {
        list_room(c->list, c->count, c->capacity, 64);
        c->list[w->at++] = (struct history_step){.trace = w->s->trace, .event = e->event, .result_event = e->result_event,
                                                 .weight = (uint8_t)weight, .text = buf_detach(text)};
        c->count = w->at;
    }
}

/* Where its last max bytes begin, or the first whole character in them. */
static size_t tail_start(const char *text, size_t len, size_t max) {
    size_t from = len > max ? len - max : 0;
    while (from < len && ((unsigned char)text[from] & 0xC0) == 0x80) {
        from++; /* a character's second byte */
    }
    return from;
}

/* At most max bytes of the text, from its beginning and its end: what came of it stands there. */
static void add_excerpt(struct buf *out, const char *text, size_t max) {
    size_t len = strlen(text);
    if (len <= max) {
        buf_add(out, text, len);
        return;
    }
    size_t head = text_cut(text, len, max - max / 3);
    buf_add(out, text, head);
    buf_adds(out, " … ");
    buf_adds(out, text + tail_start(text, len, max / 3));
}

static size_t piece(const struct history_walk *w, size_t max) {
    return max * w->times < MAX_TURN ? max * w->times : MAX_TURN;
}

static void add_cut(struct buf *out, const struct history_walk *w, const char *mark, const char *text,
                    size_t max) {
    buf_adds(out, mark);
    add_excerpt(out, text + strspn(text, "\n"), piece(w, max));
}

/* The last bytes of an output, from the beginning of a line on. */
static void add_tail(struct buf *out, const struct history_walk *w, const char *output, size_t max) {
    size_t from = tail_start(output, strlen(output), piece(w, max));
    const char *line = from ? text_next_line(output + from) : output;
    add_cut(out, w, "\n", *line ? line : output + from, max);
}

/* What stands below the first error of a failure, which says more of it; or all of its output. */
static const char *below_error(const struct lesson_step *e) {
    const char *output = e->output ? e->output : "";
    const char *error = e->error_count ? strstr(output, e->errors[0].quote) : NULL;
    return error ? text_next_line(error) : output;
}

/* All of it, or its end; below an error its beginning, too. */
static void add_output(struct buf *out, const struct history_walk *w, const struct lesson_step *e) {
    const char *below = below_error(e);
    size_t len = strlen(below), max = MAX_OUTPUT;
    if (len > piece(w, max) && below != e->output) {
        max = MAX_OUTPUT / 2;
        autofree char *cut = xstrndup(below, text_cut(below, len, piece(w, max)));
        add_cut(out, w, "\n", cut, max);
        buf_adds(out, " …");
    }
    if (len) {
        add_tail(out, w, below, max);
    }
}

static void add_options(struct buf *out, const struct history_walk *w, const struct lesson_step *e) {
    if (e->options) {
        add_cut(out, w, " with ", e->options, MAX_LINE);
    }
}

/* One of the last things done before the person's next turn: what the agent then says came of it. */
static bool is_last(const struct steps *s, size_t at) {
    unsigned later = 0;
    for (size_t i = at + 1; i < s->count && s->list[i].kind != STEP_USER && later < MAX_LAST; i++) {
        later += s->list[i].kind == STEP_RUN || s->list[i].kind == STEP_EDIT;
    }
    return later < MAX_LAST;
}

static bool is_new(struct history_walk *w, const struct lesson_step *e) {
    bool fresh = !e->error_count;
    for (size_t i = 0; i < e->error_count; i++) {
        fresh |= !json_object_get(w->seen, e->errors[i].normal);
        json_object_set_new(w->seen, e->errors[i].normal, json_true());
    }
    return fresh;
}

static void tell_failure(struct lessons *l, struct history_walk *w, const struct lesson_step *e,
                         size_t at) {
    struct buf text = BUF_INIT(WHOLE * MAX_TEXT);
    bool all_below = e->error_count && strlen(below_error(e)) <= piece(w, MAX_OUTPUT);
    buf_adds(&text, e->stated ? "failed: " : "printed: ");
    for (size_t i = 0; i < (all_below ? 1 : e->error_count); i++) { /* the others stand there */
        add_cut(&text, w, i ? "\n" : "", e->errors[i].quote, MAX_LINE);
    }
    add_cut(&text, w, e->error_count ? "\nwhen running: " : "", e->text, MAX_COMMAND);
    add_options(&text, w, e);
    add_output(&text, w, e);
    add_step(l, w, e, is_new(w, e) ? ESSENTIAL : ATTEMPT, &text);
    w->failed = at + 1;
}

/* A tool's answer begins with an error, although no status says so: an editor's of a patch. */
static bool speaks_of_error(const struct history_walk *w, const char *output, size_t len) {
    return len && (pattern_is_in(w->r->weak, output, len) || pattern_is_in(w->r->error, output, len));
}

/* Its status says that it passed, and its output speaks of an error: behind a pipe, in a server's
 * answer, in a log. False if it does not. */
static bool tell_error(struct lessons *l, struct history_walk *w, const struct lesson_step *e,
                       size_t at) {
    struct lesson_step shown = *e;
    bool reads = (e->command.classes & (COMMAND_READS | COMMAND_PROBE)) || e->refused;
    shown.stated = false;
    shown.error_count = reads || !e->output ? 0 : lesson_errors(w->r, e->output, false, shown.errors);
    if (shown.error_count) {
        tell_failure(l, w, &shown, at);
    }
    for (size_t i = 0; i < shown.error_count; i++) {
        free(shown.errors[i].quote);
        free(shown.errors[i].normal);
    }
    return shown.error_count > 0;
}

static void tell_pass(struct lessons *l, struct history_walk *w, size_t at) {
    const struct lesson_step *e = &w->s->list[at];
    const struct lesson_step *failed = w->failed ? &w->s->list[w->failed - 1] : NULL;
    bool ended = failed && failed->command.count && e->command.count && lesson_is_rerun(failed, e);
    struct buf text = BUF_INIT(WHOLE * MAX_TEXT);
    add_cut(&text, w, e->refused ? "ran, end unknown: " : ended && e->stated ? "passed: " : "ran: ", e->text,
            MAX_COMMAND);
    add_options(&text, w, e);
    if (e->output && *e->output) {
        add_cut(&text, w, "\n", e->output, MAX_OUTPUT);
    }
    bool looks = e->command.classes & COMMAND_PROBE, tells = ended || e->refused || (!looks && is_last(w->s, at));
    add_step(l, w, e, tells ? TELLING : failed ? ATTEMPT : looks ? LOOK : ROUTINE, &text);
    w->failed = ended ? 0 : w->failed;
}

static void tell_run(struct lessons *l, struct history_walk *w, size_t at) {
    const struct lesson_step *e = &w->s->list[at];
    if (e->failed) {
        tell_failure(l, w, e, at);
    } else if (!tell_error(l, w, e, at)) {
        tell_pass(l, w, at);
    }
}

/* The call that made the edit stands beside it, and did not do it. */
static bool is_undone(const struct steps *s, size_t at) {
    const struct lesson_step *e = &s->list[at], *before = at ? e - 1 : NULL,
                             *next = at + 1 < s->count ? e + 1 : NULL;
    bool runs = next && next->kind == STEP_RUN && next->event < e->event;
    return e->failed || (runs && (next->failed || next->refused)) ||
           (before && before->kind == STEP_OTHER && before->event == e->event && before->failed);
}

static void tell_edit(struct lessons *l, struct history_walk *w, size_t at) {
    const struct lesson_step *e = &w->s->list[at];
    struct buf text = BUF_INIT(WHOLE * MAX_TEXT);
    const char *answer = e->output ? e->output + strspn(e->output, " \n") : "";
    bool undone = is_undone(w->s, at) || speaks_of_error(w, answer, strcspn(answer, "\n")); /* below may stand other files' */
    bool creates = lesson_is_edit(e) && lesson_creates(w->s, e);
    autofree char *diff = lesson_is_edit(e) ? lesson_changed_lines(w->s, at) : NULL;
    buf_addf(&text, "%s %s", undone ? "tried to change" : !e->text ? "removed" : creates ? "wrote" : "changed",
             e->path);
    if (diff && *diff) {
        add_cut(&text, w, ":\n", diff, !creates ? MAX_DIFF : w->failed ? MAX_WRITTEN : MAX_LINE);
    }
    if (undone && e->output) {
        add_cut(&text, w, "\nthe tool answered: ", e->output, MAX_OUTPUT);
    }
    add_step(l, w, e, undone ? ATTEMPT : w->failed || is_last(w->s, at) ? TELLING : ASIDE, &text);
}

/* What a tool answered that ran nothing: told in brief only if it is an error. */
static void tell_other(struct lessons *l, struct history_walk *w, const struct lesson_step *e) {
    if (e->output && *e->output) {
        struct buf text = BUF_INIT(WHOLE * MAX_TEXT);
        bool wrong = e->failed || speaks_of_error(w, e->output, strnlen(e->output, MAX_LINE));
        add_cut(&text, w, e->failed ? "failed: " : "printed: ", e->output, MAX_OUTPUT);
        add_cut(&text, w, "\nof a tool with: ", e->text, MAX_LINE);
        add_step(l, w, e, wrong ? ATTEMPT : UNTOLD, &text);
    }
}

/* The last words before the person's next turn: what came of it. */
static bool is_conclusion(const struct steps *s, size_t at) {
    size_t next = at + 1;
    while (next < s->count && s->list[next].kind == STEP_OTHER) {
        next++;
    }
    return next == s->count || s->list[next].kind == STEP_USER;
}

/* The very words again, or a person's turn that the harness kept twice, the second time with its own
 * remarks. */
static bool was_told(struct history_walk *w, size_t at) {
    const struct lesson_step *e = &w->s->list[at], *before = at ? e - 1 : NULL;
    const char *text = e->text + strspn(e->text, " \n");
    size_t len = strlen(text);
    autofree char *key = xasprintf("%zu %.*s", len, (int)text_cut(text, len, MAX_KEY), text);
    bool told = len && json_object_get(w->seen, key);
    json_object_set_new(w->seen, key, json_true());
    bool begins = before && before->kind == STEP_USER && e->kind == STEP_USER && *before->text &&
                  strncmp(before->text, e->text, strlen(before->text)) == 0;
    return told || begins;
}

static void tell_person(struct lessons *l, struct history_walk *w, size_t at) {
    const struct lesson_step *e = &w->s->list[at];
    if (!pattern_is_in(w->r->idle, e->text, strlen(e->text)) && !was_told(w, at)) {
        struct buf text = BUF_INIT(WHOLE * MAX_TEXT);
        add_cut(&text, w, "person: ", e->text, MAX_TURN);
        add_step(l, w, e, ESSENTIAL, &text);
    }
}

static void tell_agent(struct lessons *l, struct history_walk *w, size_t at) {
    const struct lesson_step *e = &w->s->list[at];
    if (*e->text && !was_told(w, at)) {
        bool ends = is_conclusion(w->s, at);
        autofree char *cause = lesson_cause(w->r, e->text);
        bool announces = !cause && pattern_is_in(w->r->intent, e->text, strlen(e->text));
        struct buf text = BUF_INIT(WHOLE * MAX_TEXT);
        add_cut(&text, w, "agent: ", e->text, ends ? MAX_CONCLUSION : MAX_WORDS);
        add_step(l, w, e, ends ? ESSENTIAL : announces ? LOOK : cause || w->failed ? TELLING : ASIDE,
                 &text);
    }
}

static void tell_step(struct lessons *l, struct history_walk *w, size_t at) {
    const struct lesson_step *e = &w->s->list[at];
    w->failed = w->failed && at - w->failed > MAX_OPEN ? 0 : w->failed;
    switch (e->kind) {
    case STEP_RUN:
        tell_run(l, w, at);
        break;
    case STEP_EDIT:
        tell_edit(l, w, at);
        break;
    case STEP_OTHER:
        tell_other(l, w, e);
        break;
    case STEP_SAY:
        tell_agent(l, w, at);
        break;
    case STEP_USER:
        tell_person(l, w, at);
        break;
    }
}

/* An edit stands before the command that made it, whose event is the earlier one. */
static void order(struct session_history *h, size_t from) {
    for (size_t i = from + 1; i < h->count; i++) {
        for (size_t k = i; k > from && h->list[k - 1].event > h->list[k].event; k--) {
            struct history_step later = h->list[k - 1];
            h->list[k - 1] = h->list[k];
            h->list[k] = later;
        }
    }
}

static size_t bytes_of(const struct session_history *h) {
    size_t bytes = 0;
    list_each(i, one, h->list, h->count) {
        bytes += strlen(one->text) + (one->whole ? strlen(one->whole) : 0);
    }
    return bytes;
}

static void shorten_text(char **text, size_t max) {
    struct buf shorter = BUF_INIT(WHOLE * MAX_TEXT);
    add_excerpt(&shorter, *text, max);
    free(*text);
    *text = buf_detach(&shorter);
}

/* Where they are many, less of each is kept: no budget tells nearly as much. */
static void shorten(struct session_history *h) {
    for (size_t max = MAX_TURN / 2; bytes_of(h) > MAX_KEPT && max > lengths[0]; max /= 2) {
        for (size_t i = 0; i < h->count; i++) {
            shorten_text(&h->list[i].text, max);
            if (h->list[i].whole) {
                shorten_text(&h->list[i].whole, 2 * max);
            }
        }
    }
}

static void walk(struct lessons *l, const struct steps *s, const struct lesson_reader *r, size_t from,
                 size_t times) {
    autojson *seen = json_object();
    struct history_walk w = {.s = s, .r = r, .seen = seen, .at = from, .times = times};
    for (size_t i = 0; i < s->count && !work_is_stopped(); i++) {
        tell_step(l, &w, i);
    }
}

void lessons_find_history(struct lessons *l, const struct steps *s, const struct lesson_reader *r) {
    size_t from = l->history.count;
    walk(l, s, r, from, 1);
    if (!work_is_stopped()) {
        walk(l, s, r, from, WHOLE);
    }
    order(&l->history, from);
    shorten(&l->history);
}

/* --- what a budget has room for --- */

/* The steps of a session in an order in which each beginning is spread over all of it: by the
 * mirrored bits of their index. */
static uint32_t mirrored(uint32_t index) {
    uint32_t bits = 0;
    for (unsigned i = 0; i < INDEX_BITS; i++, index >>= 1) {
        bits = bits << 1 | (index & 1);
    }
    return bits;
}

struct choice {
    const struct session_history *history;
    size_t *kept; /* bytes of each step's text that are told */
    size_t left;  /* tokens */
};

void lessons_add_set_in(struct buf *out, const char *text) {
    for (const char *line = text; *line; line = text_next_line(line)) {
        buf_addf(out, "%s%.*s\n", line == text ? "" : "  ", (int)strcspn(line, "\n"), line);
    }
}

static void write_step(struct buf *out, const struct history_step *one, size_t max) {
    autobuf text = BUF_INIT(2 * WHOLE * MAX_TEXT);
    add_excerpt(&text, one->text, max);
    buf_addf(out, "t%u e%u ", one->trace + 1u, one->event);
    lessons_add_set_in(out, text.data);
}

static size_t tokens_of(const struct history_step *one, size_t max) {
    autobuf text = BUF_INIT(4 * WHOLE * MAX_TEXT);
    write_step(&text, one, max);
    return max ? tokens_estimate(text.data, text.len) : 0;
}

/* Tells so many bytes of the step, if there is room, in place of what is told of it so far. */
static void choose_step(struct choice *c, size_t at, size_t max, size_t reserve) {
    const struct history_step *one = &c->history->list[at];
    if (c->kept[at] >= strlen(one->text)) {
        return;
    }
    size_t has = tokens_of(one, c->kept[at]), wants = tokens_of(one, max);
    if (wants + reserve <= has + c->left) {
        c->left = c->left + has - wants;
        c->kept[at] = max;
    }
}

static void choose_weight(struct choice *c, enum step_weight weight, size_t max, size_t reserve) {
    for (uint32_t k = 0; k < 1u << INDEX_BITS; k++) {
        uint32_t at = mirrored(k);
        if (at < c->history->count && c->history->list[at].weight == weight) {
            choose_step(c, at, max, reserve);
        }
    }
}

static void choose(struct choice *c) {
    size_t reserve = (size_t)((1 - FIRST_SHARE) * (double)c->left);
    for (size_t i = 0; i < ARRAY_LEN(lengths); i++) {
        for (int weight = ESSENTIAL; weight >= TELLING; weight--) {
            choose_weight(c, (enum step_weight)weight, lengths[i], i ? 0 : reserve);
        }
    }
    for (size_t i = 0; i < ARRAY_LEN(lengths); i++) {
        for (int weight = ATTEMPT; weight >= LOOK; weight--) {
            choose_weight(c, (enum step_weight)weight, lengths[weight >= ATTEMPT && !i ? 1 : i], 0);
        }
    }
}

size_t lessons_write_history(struct buf *out, const struct session_history *h, size_t tokens) {
    struct choice c = {.history = h, .left = tokens, .kept = xcalloc(h->count + 1, sizeof *c.kept)};
    size_t left_out = 0;
    choose(&c);
    list_each(i, one, h->list, h->count) {
        if (c.kept[i]) {
            write_step(out, one, c.kept[i]);
        }
        left_out += !c.kept[i];
    }
    free(c.kept);
    return left_out;
}

size_t lessons_history_needs(const struct session_history *h) {
    size_t needs = 0;
    list_each(i, one, h->list, h->count) {
        needs += one->weight >= TELLING ? tokens_of(one, WHOLE * MAX_TEXT) : 0;
    }
    return needs;
}

static const struct history_step *find_step(const struct lessons *l, unsigned trace, unsigned event) {
    return list_find(step, l->history.list, l->history.count,
                     step->trace == trace && (step->event == event || step->result_event == event));
}

bool lessons_history_tells(const struct lessons *l, struct evidence e) {
    const struct history_step *one = find_step(l, e.trace, e.event);
    return one && one->weight >= TELLING;
}

bool lessons_history_says(const struct lessons *l, unsigned trace, unsigned event,
                          const char *text) {
    const struct history_step *one = find_step(l, trace, event);
    return one && lesson_names(one->text, text, "");
}
