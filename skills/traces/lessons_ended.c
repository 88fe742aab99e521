/* Errors that edits ended, where several were made between: the hunk is told that says what the
 * error says and that no other hunk says as well. The proof is that the same command ran and the
 * error is gone for good. */
#include "skills/traces/lessons_ended.h"

#include "base/find.h"
#include "base/text.h"
#include "base/work.h"

#include <ctype.h>

#define NAME_LENGTH 4u   /* least letters */
#define SHORT_REASON 20u /* bytes */
#define LONG_REASON 300u
#define REPEATED 40u /* bytes of an error, by which a sentence repeats it */
#define TERMINAL_WIDTH 100u
#define AGAIN_WITHIN (4 * LESSONS_REACH) /* steps in which an error that comes back has not ended */

static bool runs_same_part(const struct command *a, const struct command *b) {
    return any_of(i, 0, a->count,
                  any_of(k, 0, b->count, strcmp(a->parts[i], b->parts[k]) == 0 &&
                                             strchr(a->parts[i], *BETWEEN_WORDS)));
}

/* What runs is not in its words, but behind them. */
static bool is_typed(const struct lesson_step *run) {
    const char *part = run->command.count ? lesson_failed_part(run) : "";
    return *part && part[strlen(part) - 1] == '-';
}

static bool runs_again(const struct lesson_step *failed, const struct lesson_step *later) {
    bool typed = is_typed(failed);
    return step_may_fail(later) && later->command.count &&
           (lesson_is_retyped(failed, later) || strcmp(failed->text, later->text) == 0 ||
            (!typed && runs_same_part(&failed->command, &later->command)) ||
            (!typed && lesson_is_rerun(failed, later)));
}

/* The next run of the command, and the first that passed. */
static void find_runs(struct ending *e) {
    const struct lesson_step *failed = &e->s->list[e->at];
    for (size_t i = e->at + 1; i < e->s->count && i < e->at + LESSONS_REACH && !e->success; i++) {
        if (runs_again(failed, &e->s->list[i])) {
            e->gone = e->gone ? e->gone : i;
            e->success = e->s->list[i].failed ? 0 : i;
        }
    }
}

/* That run would show the error, and none does for long. */
static bool has_ended(const struct ending *e) {
    const struct steps *s = e->s;
    size_t end = e->at + AGAIN_WITHIN < s->count ? e->at + AGAIN_WITHIN : s->count;
    return lesson_shows_end(&s->list[e->at], &s->list[e->gone], e->error->quote) &&
           !any_of(i, e->at + 1, end, lesson_has_error(&s->list[i], e->error->normal));
}

static void add_change(struct lesson *fix, const struct ending *e, const struct hunk *h) {
    const struct lesson_step *s = &e->s->list[h->step];
    struct lesson_change *c = lesson_add_change(fix, CHANGE_EDIT);
    const char *part = s->path ? NULL : lesson_failed_part(s);
    c->path = part ? xstrndup(part, strcspn(part, BETWEEN_WORDS)) : xstrdup(s->path);
    c->to = xstrdup(h->text);
    lessons_add_evidence(&fix->evidence, e->s->trace, s->event, EVIDENCE_CHANGE);
}

/* --- its reason --- */

/* To the end of a sentence, also of one in Chinese. */
static size_t sentence_length(const char *s) {
    const char *full = strstr(s, "。");
    size_t len = lesson_sentence(s), until = full ? (size_t)(full - s) + strlen("。") : len;
    return until < len ? until : len;
}

/* Names of code of the error, and those that the hunk changes, that the sentence has. */
static size_t count_said(const struct ending *e, const struct hunk *h, const char *sentence) {
    size_t count = 0;
    for (size_t i = 0; i < e->said.count; i++) {
        const struct error_name *n = &e->said.names[i];
        autofree char *name = xstrndup(n->at, n->code || n->quoted ? n->len : 0);
        bool again = any_of(k, 0, i, e->said.names[k].len == n->len &&
                                         memcmp(e->said.names[k].at, n->at, n->len) == 0);
        count += !again && lesson_has_word(sentence, name);
    }
    for (const char *at = h->differs; *at; at += strspn(at, " ")) {
        autofree char *name = xstrndup(at, strcspn(at, " "));
        count += strlen(name) >= NAME_LENGTH && !lesson_has_word(e->said.block, name) &&
                 lesson_has_word(sentence, name);
        at += strlen(name);
    }
    return count;
}

static bool says_tie(const struct hunk *h, const char *sentence) {
    for (const char *at = h->ties; *at; at += strspn(at, " ")) {
        autofree char *name = xstrndup(at, strcspn(at, " "));
        if (lesson_has_word(sentence, name)) {
            return true;
        }
        at += strlen(name);
    }
    return false;
}

/* What the agent said before the change with names of the error and of the change: those say in any
 * language what the one has to do with the other. */
static char *named_reason(const struct ending *e, const struct hunk *h) {
    for (size_t i = h->step; i > e->at; i--) {
        const struct lesson_step *s = &e->s->list[i - 1];
        for (const char *at = s->kind == STEP_SAY ? s->text : ""; *at;) {
            at += strspn(at, " \t\n*->#");
            size_t len = sentence_length(at);
            autofree char *sentence = lesson_cut(at, len, LESSON_MAX_LINE);
            bool whole = len > SHORT_REASON && len <= LONG_REASON && !strchr(":?", at[len - 1]) &&
                         text_count(sentence, len, '*') % 4 == 0;
            autofree char *error = xstrndup(e->error->quote, strnlen(e->error->quote, REPEATED));
            if (whole && !strstr(sentence, error) && says_tie(h, sentence) && count_said(e, h, sentence) >= 2 &&
                !lesson_is_personal(e->r, sentence)) {
                return take(sentence);
            }
            at += len;
        }
    }
    return NULL;
}

/* --- telling --- */

/* A terminal broke the line: the next one begins with the rest of its word, or of its sentence. */
static void join_quote(struct lesson *fix, const struct ending *e) {
    const char *rest = e->said.quote_end;
    size_t len = strlen(fix->quote);
    bool broken = *rest == '\n' && len >= TERMINAL_WIDTH && isalnum((unsigned char)fix->quote[len - 1]) &&
                  (islower((unsigned char)rest[1]) || rest[1] == '\'') && strcmp(fix->quote, e->error->quote) == 0;
    if (broken) {
        size_t more = strcspn(rest + 1, "\n");
        char *whole = xasprintf("%s%s%.*s", fix->quote, rest[1] == '\'' ? " " : "", (int)more, rest + 1);
        free(fix->quote);
        fix->quote = lesson_cut(whole, strlen(whole), LESSON_MAX_LINE);
        free(whole);
    }
}

static void tell(struct lessons *l, struct ending *e, const struct hunk *best) {
    struct failure f = {.s = e->s, .r = e->r, .error = e->error, .first = e->at, .last = e->at,
                        .gone = e->gone, .success = e->success, .least = LINK_NAME, .seen = 1,
                        .ruled = best->refused || ending_misuses(e, best)};
    struct lesson fix = {.seen = 1};
    lessons_add_evidence(&fix.evidence, e->s->trace, e->s->list[e->at].result_event, EVIDENCE_ERROR);
    add_change(&fix, e, best);
    for (size_t i = 0; i < e->count && fix.change_count < 2; i++) {
        const struct hunk *h = &e->hunks[i];
        bool same = h != best && *h->ties && strcmp(h->ties, best->ties) == 0 && hunk_is_short(h) &&
                    strcmp(h->text, best->text) != 0;
        if (same) {
            add_change(&fix, e, h);
        }
    }
    lesson_choose_reason(&fix, &f);
    fix.cause = fix.cause ? fix.cause : named_reason(e, best);
    if (lesson_tell(l, &fix, &f)) {
        join_quote(&l->fixes.list[l->fixes.count - 1], e);
    } else {
        lesson_finish(&fix);
    }
}

static void finish(struct ending *e) {
    for (size_t i = 0; i < e->count; i++) {
        free(e->hunks[i].text);
        free(e->hunks[i].differs);
        free(e->hunks[i].ties);
    }
    free(e->around);
    free(e->said.block);
    free(e->said.phrases);
}

static void find_ended(struct lessons *l, const struct ending *base, const struct lesson_error *error) {
    struct ending e = *base;
    e.error = error;
    if (!has_ended(&e)) {
        return;
    }
    ending_read_said(&e);
    if (lesson_is_telling(error->quote) && ending_list_hunks(&e) && !ending_is_about_own(&e)) {
        const struct hunk *best = ending_choose(&e);
        if (best) {
            tell(l, &e, best);
        }
    }
    finish(&e);
}

void lessons_find_ended(struct lessons *l, const struct steps *s, const struct lesson_reader *r) {
    json_t *names = NULL, *written = NULL;
    for (size_t i = 0; i < s->count && !work_is_stopped(); i++) {
        const struct lesson_step *e = &s->list[i];
        bool failed = step_may_fail(e) && e->failed && e->command.count && e->output;
        struct ending runs = {.s = s, .at = i};
        if (failed && e->error_count) {
            find_runs(&runs);
        }
        for (size_t k = 0; runs.success && k < e->error_count; k++) {
            names = names ? names : lesson_own_names(s, true);
            written = written ? written : lesson_own_names(s, false);
            struct ending ending = {.s = s, .r = r, .names = names, .written = written, .at = i,
                                    .tries = lesson_runs_own_script(s, e) || is_typed(e),
                                    .gone = runs.gone, .success = runs.success};
            if (l->fixes.count < LESSONS_MAX_FIXES &&
                !lesson_list_find(&l->fixes, e->errors[k].normal)) {
                find_ended(l, &ending, &e->errors[k]);
            }
        }
    }
    json_decref(names);
    json_decref(written);
}
