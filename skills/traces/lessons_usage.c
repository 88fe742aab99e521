/* Another command in the place of one that failed: the next one that passed does without what the error
 * names, an option or a program that is not there, and keeps the rest. */
#include "skills/traces/lessons_internal.h"

#include "base/buf.h"
#include "base/find.h"
#include "base/text.h"

#include <ctype.h>

#define REACH 16u        /* steps until another one passes */
#define MAX_TYPED 300u   /* bytes of a command that is told */
#define LEAST_CONTENT 3u /* letters of a word that tells what a command is for */
#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

struct usage {
    const struct steps *s;
    size_t at, end;        /* the failed run and the one that passed */
    const char *from, *to; /* their parts */
    const struct lesson_error *error;
};

/* --- words --- */

static bool is_setting(const char *word, size_t len) {
    const char *eq = memchr(word, '=', len);
    return eq && eq > word && !memchr(word, '-', (size_t)(eq - word));
}

/* Behind settings and `sudo`. */
static size_t program_at(const struct word_list *l) {
    return first_of(i, 0, l->count,
                    !is_setting(l->words[i], l->lens[i]) &&
                        !(l->lens[i] == 4 && memcmp(l->words[i], "sudo", 4) == 0));
}

bool lesson_is_path(const char *word, size_t len) {
    return memchr(word, '/', len) || memchr(word, '\\', len);
}

/* Neither an option nor a number: it tells what the command is for. */
static bool is_content(const char *word, size_t len) {
    return len >= LEAST_CONTENT && *word != '-' && !is_setting(word, len) &&
           any_of(i, 0, len, isalpha((unsigned char)word[i]));
}

/* What is behind the folders. */
static void base_of(const char **word, size_t *len) {
    while (*len && (*word)[*len - 1] == '/') {
        --*len;
    }
    const char *slash = memrchr(*word, '/', *len);
    *len -= slash ? (size_t)(slash + 1 - *word) : 0;
    *word = slash ? slash + 1 : *word;
}

/* The text has the word between other marks. */
static bool has_within(const char *text, size_t text_len, const char *word, size_t len) {
    const char *end = text + text_len;
    for (const char *at = text; (at = memmem(at, (size_t)(end - at), word, len)); at++) {
        if ((at == text || !text_is_word(at[-1])) && (at + len == end || !text_is_word(at[len]))) {
            return true;
        }
    }
    return false;
}

/* The list has the word, or its last part within another: "test_runner" for "tests/test_runner/". */
static bool keeps(const struct word_list *l, const char *word, size_t len) {
    base_of(&word, &len);
    return any_of(i, 0, l->count,
                  !memchr(l->words[i], ' ', l->lens[i]) &&
                      has_within(l->words[i], l->lens[i], word, len));
}

/* Of the words [from, end) that tell what a command is for, how many the other has; 0 too if it lacks
 * one that is a path, or most of them. */
static size_t count_kept(const struct word_list *a, size_t from, const struct word_list *b, size_t *ret_of) {
    size_t kept = 0;
    *ret_of = 0;
    for (size_t i = from; i < a->count; i++) {
        bool content = is_content(a->words[i], a->lens[i]);
        bool keeps_it = content && keeps(b, a->words[i], a->lens[i]);
        if (content && !keeps_it && lesson_is_path(a->words[i], a->lens[i])) {
            return 0; /* it is for less */
        }
        *ret_of += content;
        kept += keeps_it;
    }
    return 2 * kept >= *ret_of ? kept : 0;
}

static bool has_very_word(const struct word_list *l, const char *word, size_t len) {
    return any_of(i, 0, l->count, l->lens[i] == len && memcmp(l->words[i], word, len) == 0);
}

/* --- what the error names --- */

/* The program itself says it, "pg_ctl: …": it is there. */
static bool speaks(const char *quote, const char *program, size_t len) {
    base_of(&program, &len);
    size_t first = strcspn(quote, ": ");
    const char *name = quote;
    base_of(&name, &first);
    return first == len && memcmp(name, program, len) == 0;
}

/* It stands in quotes, before a colon or at the end: `unknown option "-x"`, "not found: python". */
static bool is_named(const char *quote, const char *word) {
    size_t len = strlen(word);
    for (const char *at = quote; len && (at = strstr(at, word)); at += len) {
        const char *end = at + len;
        bool whole = (at == quote || (!text_is_word(at[-1]) && at[-1] != '-' && at[-1] != '/')) &&
                     !text_is_word(*end) && *end != '-';
        bool opened = at > quote && strchr("'\"`", at[-1]);
        bool last = *end == ':' && !end[1 + strcspn(end + 1, ":'\"`")];
        if (whole && (opened || last || (*end && strchr("'\"`", *end)) || !end[strcspn(end, LETTERS)])) {
            return true;
        }
    }
    return false;
}

static bool same_program(const struct word_list *a, const struct word_list *b) {
    size_t x = program_at(a), y = program_at(b);
    return x < a->count && y < b->count && a->lens[x] == b->lens[y] &&
           memcmp(a->words[x], b->words[y], a->lens[x]) == 0;
}

/* "python3" for "python". */
static bool has_prefix(const char *word, size_t len, const char *begin, size_t begin_len) {
    return len > begin_len && memcmp(word, begin, begin_len) == 0;
}

/* A program that the error names is not run: what it was given is, or a program of its name. */
static bool replaces_program(const struct word_list *a, size_t at, const struct word_list *b) {
    size_t of, kept = count_kept(a, at + 1, b, &of);
    size_t to = program_at(b);
    const char *name = a->words[at], *now = to < b->count ? b->words[to] : "";
    size_t len = a->lens[at], now_len = to < b->count ? b->lens[to] : 0;
    bool wrong_place = lesson_is_path(name, len) && lesson_is_path(now, now_len);
    if (wrong_place) {
        return false;
    }
    return of ? kept > 0 : keeps(b, name, len) || has_prefix(now, now_len, name, len);
}

/* What the error names is not in the command that passed, and the rest is. */
static bool is_without(const char *quote, const struct word_list *a, size_t at, const struct word_list *b) {
    const char *word = a->words[at];
    size_t len = a->lens[at], program = program_at(a), of;
    if (has_very_word(b, word, len) || memchr(word, '\n', len) || speaks(quote, word, len)) {
        return false;
    }
    if (at == program) {
        return replaces_program(a, at, b);
    }
    size_t kept = count_kept(a, program + 1, b, &of);
    return *word == '-' && (of ? kept == of : same_program(a, b)); /* without a value it is for more */
}

/* --- the two runs --- */

/* The error of the failed run, whose word the later part is without. */
static bool finds_named(struct usage *u) {
    const struct lesson_step *failed = &u->s->list[u->at];
    struct word_list a, b;
    list_words(&a, u->from);
    list_words(&b, u->to);
    for (size_t i = 0; i < a.count; i++) {
        autofree char *word = xstrndup(a.words[i], a.lens[i]);
        u->error = a.lens[i] > 1 ? list_find(e, failed->errors, failed->error_count, is_named(e->quote, word)) : NULL;
        if (u->error && is_without(u->error->quote, &a, i, &b)) {
            return true;
        }
    }
    return false;
}

/* The part that failed, and the one of the later run that took its place. */
static bool finds_parts(struct usage *u) {
    const struct command *failed = &u->s->list[u->at].command, *now = &u->s->list[u->end].command;
    for (size_t k = failed->count; k > 0; k--) {
        u->from = failed->parts[k - 1];
        for (size_t i = 0; i < now->count; i++) {
            u->to = now->parts[i];
            if (strlen(u->from) <= MAX_TYPED && strlen(u->to) <= MAX_TYPED &&
                strcmp(u->from, u->to) != 0 && finds_named(u)) {
                return true;
            }
        }
    }
    return false;
}

/* Something else may be why the next run passes. */
static bool is_broken_off(const struct usage *u, const struct lesson_step *e) {
    bool own = e->event == u->s->list[u->at].event;
    return e->kind == STEP_USER || (lesson_is_edit(e) && !own && !lesson_is_prose(e->path));
}

/* The next run that passed took the place of the failed one. */
static bool finds_end(struct usage *u) {
    const struct lesson_step *list = u->s->list, *failed = &list[u->at];
    for (u->end = u->at + 1; u->end < u->s->count && u->end <= u->at + REACH; u->end++) {
        const struct lesson_step *e = &list[u->end];
        if (is_broken_off(u, e)) {
            return false;
        }
        if (step_is_run(e) && e->command.count && !e->failed) {
            bool does = e->output && *e->output; /* a program that says nothing may have done nothing */
            return does && finds_parts(u) && !lesson_shows(e, u->error) &&
                   (lesson_shows_all(e) || lesson_shows_end(failed, e));
        }
    }
    return false;
}

/* What failed passed later as it was, or what passed failed with that error. */
static bool is_refuted(const struct usage *u) {
    for (size_t i = u->at + 1; i < u->s->count && i < u->at + LESSONS_REACH; i++) {
        const struct lesson_step *e = &u->s->list[i];
        bool run = step_is_run(e) && e->command.count;
        for (size_t k = 0; run && k < e->command.count; k++) {
            const char *part = e->command.parts[k];
            bool again = i > u->end && strcmp(part, u->to) == 0 && lesson_has_error(e, u->error->normal);
            if (again || (!e->failed && strcmp(part, u->from) == 0)) {
                return true;
            }
        }
    }
    return false;
}

static bool has_part(const struct command *c, const char *part) {
    return any_of(i, 0, c->count, strcmp(c->parts[i], part) == 0);
}

/* What the later line runs that the failed one did not: one after the other. */
static char *typed_instead(const struct usage *u) {
    const struct command *failed = &u->s->list[u->at].command, *now = &u->s->list[u->end].command;
    struct buf out = BUF_INIT(MAX_TYPED * COMMAND_MAX_PARTS * 2);
    for (size_t i = 0; i < now->count; i++) {
        const char *part = now->parts[i];
        if (part == u->to || !has_part(failed, part)) {
            autofree char *text = command_part_text(part);
            buf_addf(&out, "%s%s", out.len ? " && " : "", text);
        }
    }
    return buf_detach(&out);
}

static bool is_tellable(const struct usage *u) {
    const struct lesson_step *failed = &u->s->list[u->at], *now = &u->s->list[u->end];
    autofree char *typed = typed_instead(u);
    return strlen(typed) <= MAX_TYPED && !command_part_holds_prose(u->from) && !command_part_holds_prose(u->to) &&
           !lesson_brings(now) && !lesson_runs_own_script(u->s, failed) &&
           !lesson_runs_own_script(u->s, now) && (lesson_goes_on(failed->text) || !lesson_goes_on(now->text));
}

static void add_usage(struct lessons *l, const struct usage *u) {
    const struct lesson_step *failed = &u->s->list[u->at], *now = &u->s->list[u->end];
    struct lesson *fix = lesson_list_add(&l->fixes);
    *fix = (struct lesson){.key = xstrdup(u->error->normal),
                           .quote = xstrdup(u->error->quote),
                           .context = command_part_text(u->from),
                           .verified_by = typed_instead(u),
                           .seen = 1};
    struct lesson_change *c = lesson_add_change(fix, CHANGE_COMMAND);
    c->from = xstrdup(fix->context);
    c->to = xstrdup(fix->verified_by);
    lessons_add_evidence(&fix->evidence, u->s->trace, failed->result_event, EVIDENCE_ERROR);
    lessons_add_evidence(&fix->evidence, u->s->trace, now->event, EVIDENCE_CHANGE);
    lessons_add_evidence(&fix->evidence, u->s->trace, now->result_event, EVIDENCE_PROOF);
}

/* A lesson has this event among its own: it is told, or was an attempt. */
static bool is_told(const struct lessons *l, const struct steps *s, uint32_t event) {
    for (size_t i = 0; i < l->fixes.count; i++) {
        const struct evidence_list *e = &l->fixes.list[i].evidence;
        if (list_any(one, e->list, e->count, one->trace == s->trace && one->event == event)) {
            return true;
        }
    }
    return false;
}

void lessons_find_usage(struct lessons *l, const struct steps *s, size_t at) {
    const struct lesson_step *failed = &s->list[at];
    struct usage u = {.s = s, .at = at};
    bool may = step_is_run(failed) && failed->failed && failed->command.count &&
               failed->error_count && l->fixes.count < LESSONS_MAX_FIXES &&
               !is_told(l, s, failed->result_event);
    if (may && finds_end(&u) && !is_told(l, s, s->list[u.end].event) && is_tellable(&u) && !is_refuted(&u)) {
        add_usage(l, &u);
    }
}
