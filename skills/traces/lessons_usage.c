/* Another command in the place of one that failed: it serves the same end, passed soon after, and
 * is without what the error names: an option, a script, a program that is not there; or it is the
 * very command within another, or with settings in front. */
#include "skills/traces/lessons_internal.h"

#include "base/buf.h"
#include "base/file.h"
#include "base/find.h"

#include <ctype.h>

#define REACH 16u      /* steps until another one passes */
#define MAX_OTHERS 1u  /* commands of another end that pass in between */
#define MAX_TYPED 300u /* bytes of a command that is told */
#define MAX_TRIED 3u
#define LEAST_CONTENT 3u /* letters of a word that tells what a command is for */
#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
#define LEAST_FAILED 3u  /* runs, where nothing but settings differ from one that passed */

struct usage {
    const struct steps *s;
    const struct lesson_reader *r;
    size_t at, end;        /* the failed run and the one that passed */
    const char *from, *to; /* their parts */
    const char *program;   /* of the first, with its own command: "npm run lint" */
    const struct lesson_error *error;
    const char *tried[MAX_TRIED]; /* parts that failed in between */
    size_t tried_count;
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

static bool is_path(const char *word, size_t len) {
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

static bool is_letter(char c) {
    return isalnum((unsigned char)c) || c == '_';
}

/* The text has the word between other marks. */
static bool has_within(const char *text, size_t text_len, const char *word, size_t len) {
    const char *end = text + text_len;
    for (const char *at = text; (at = memmem(at, (size_t)(end - at), word, len)); at++) {
        if ((at == text || !is_letter(at[-1])) && (at + len == end || !is_letter(at[len]))) {
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

/* Of the words [from, to) that tell what a command is for, how many the other has; 0 too if it lacks
 * one that is a path, or most of them. */
static size_t count_kept(const struct word_list *a, size_t from, size_t to,
                         const struct word_list *b, size_t *ret_of) {
    size_t kept = 0;
    *ret_of = 0;
    for (size_t i = from; i < to; i++) {
        bool content = is_content(a->words[i], a->lens[i]);
        bool keeps_it = content && keeps(b, a->words[i], a->lens[i]);
        if (content && !keeps_it && is_path(a->words[i], a->lens[i])) {
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
    for (const char *at = quote; (at = strstr(at, word)); at += len) {
        const char *end = at + len;
        bool whole = (at == quote || (!is_letter(at[-1]) && at[-1] != '-' && at[-1] != '/')) &&
                     !is_letter(*end) && *end != '-';
        bool opened = at > quote && strchr("'\"`", at[-1]);
        if (whole && (opened || strchr("'\"`:", *end) || !end[strcspn(end, LETTERS)])) {
            return true;
        }
    }
    return false;
}

static const struct lesson_error *error_naming(const struct lesson_step *run, const char *word) {
    return list_find(e, run->errors, run->error_count, is_named(e->quote, word));
}

/* The parts of an old name stand in the new one, in their order: "llvm-dev" in "llvm-14-dev". */
static bool is_varied(const char *old, size_t old_len, const char *now, size_t now_len) {
    size_t parts = 0;
    for (const char *end = old + old_len; old < end; parts++) {
        size_t len = 0;
        while (old + len < end && isalnum((unsigned char)old[len])) {
            len++;
        }
        const char *found = len ? memmem(now, now_len, old, len) : now;
        if (!found) {
            return false;
        }
        now_len -= (size_t)(found + len - now);
        now = found + len;
        old += len + 1;
    }
    return parts > 1;
}

/* The last word, which the error names, in another form among the same words. */
static bool varies_last(const struct word_list *a, const struct word_list *b) {
    size_t last = a->count - 1;
    return a->count == b->count && !is_path(a->words[last], a->lens[last]) &&
           is_varied(a->words[last], a->lens[last], b->words[last], b->lens[last]) &&
           all_of(i, 0, last, has_very_word(b, a->words[i], a->lens[i]));
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
    size_t of, kept = count_kept(a, at + 1, a->count, b, &of);
    size_t to = program_at(b);
    const char *name = a->words[at], *now = to < b->count ? b->words[to] : "";
    size_t len = a->lens[at], now_len = to < b->count ? b->lens[to] : 0;
    bool wrong_place = is_path(name, len) && is_path(now, now_len);
    if (wrong_place) {
        return false;
    }
    return of ? kept > 0 : keeps(b, name, len) || has_prefix(now, now_len, name, len);
}

/* Words of b that a lacks. */
static size_t count_new(const struct word_list *a, const struct word_list *b, bool content) {
    size_t count = 0;
    for (size_t i = 0; i < b->count; i++) {
        count += (!content || is_content(b->words[i], b->lens[i])) &&
                 !has_very_word(a, b->words[i], b->lens[i]);
    }
    return count;
}

/* Another word in front of its arguments: `exec web curl URL` and `exec web wget URL`. Where it is
 * all that differs, it may be the name of a thing. */
static bool replaces_inner(const struct word_list *a, size_t at, const struct word_list *b) {
    size_t of, before, kept = count_kept(a, at + 1, a->count, b, &of);
    bool near = count_kept(a, program_at(a), at, b, &before) > 0;
    return !is_path(a->words[at], a->lens[at]) && kept && near && count_new(a, b, true) &&
           count_new(a, b, false) > 1;
}

/* What the error names is not in the command that passed, and the rest is. */
static bool is_without(const struct usage *u, const struct word_list *a, size_t at,
                       const struct word_list *b, bool next) {
    const char *word = a->words[at];
    size_t len = a->lens[at], program = program_at(a), of;
    if (has_very_word(b, word, len) || memchr(word, '\n', len) || speaks(u->error->quote, word, len)) {
        return false;
    }
    if (at == program) {
        return replaces_program(a, at, b);
    }
    if (*word == '-') {
        size_t kept = count_kept(a, program + 1, a->count, b, &of);
        return of ? kept > 0 : same_program(a, b);
    }
    size_t key = strlen(u->program);
    bool script = at + 1 == a->count && key > len && strcmp(u->program + key - len, word) == 0;
    return replaces_inner(a, at, b) ||
           (next && at + 1 == a->count && varies_last(a, b)) ||
           (next && script && same_program(a, b));
}

/* --- the very command --- */

/* Behind the words that both begin with. */
static void skip_common(const char **a, const char **b) {
    for (size_t len; (len = strcspn(*a, BETWEEN_WORDS)) && (*a)[len] &&
                     strncmp(*a, *b, len + 1) == 0;) {
        *a += len + 1;
        *b += len + 1;
    }
}

/* The later one is the failed one behind other words, or quoted in one of its words, where both
 * may begin alike: `exec db pg_ctl reload` and `exec db su postgres -c 'pg_ctl reload'`. What
 * speaks is there. */
static bool is_wrapped(const char *quote, const char *from, const char *to) {
    skip_common(&from, &to);
    if (!speaks(quote, from, strcspn(from, BETWEEN_WORDS))) {
        return false;
    }
    size_t len = strlen(from), to_len = strlen(to);
    bool behind = to_len > len && to[to_len - len - 1] == *BETWEEN_WORDS &&
                  strcmp(to + to_len - len, from) == 0;
    autofree char *text = command_part_text(from);
    struct word_list b;
    list_words(&b, to);
    bool rights = strncmp(to, "sudo" BETWEEN_WORDS, 5) == 0;
    bool set = behind && is_setting(to, strcspn(to, BETWEEN_WORDS));
    return (behind && !set && !rights) || any_of(i, 1, b.count, memmem(b.words[i], b.lens[i], text, strlen(text)));
}

/* Behind NAME=value in front. */
static const char *behind_settings(const char *part) {
    for (size_t len; is_setting(part, len = strcspn(part, BETWEEN_WORDS)) && part[len];) {
        part += len + 1;
    }
    return part;
}

/* It failed each time with other settings or none, and then passed. */
static bool is_set_at_last(const struct usage *u) {
    size_t failed = 0;
    bool other = strcmp(behind_settings(u->from), behind_settings(u->to)) != 0 ||
                 strcmp(u->from, u->to) == 0 || behind_settings(u->to) == u->to;
    for (size_t i = u->at; i < u->end && !other; i++) {
        const struct lesson_step *e = &u->s->list[i];
        bool run = step_is_run(e) && e->command.count;
        bool same = run && strcmp(behind_settings(lesson_failed_part(e)), behind_settings(u->to)) == 0;
        failed += same && e->failed;
    }
    return !other && failed >= LEAST_FAILED;
}

/* --- the two runs --- */

/* The error of the failed run, whose word the later part is without. */
static bool finds_named(struct usage *u, const char *from, const char *to, bool next) {
    const struct lesson_step *failed = &u->s->list[u->at];
    struct word_list a, b;
    list_words(&a, from);
    list_words(&b, to);
    for (size_t i = 0; i < a.count; i++) {
        autofree char *word = xstrndup(a.words[i], a.lens[i]);
        const struct lesson_error *e = a.lens[i] > 1 ? error_naming(failed, word) : NULL;
        u->error = e;
        if (e && is_without(u, &a, i, &b, next)) {
            return true;
        }
    }
    return false;
}

/* The part that failed, and the one of the later run that took its place. */
static bool finds_parts(struct usage *u, const struct lesson_step *now, bool next) {
    const struct lesson_step *failed = &u->s->list[u->at];
    for (size_t k = failed->command.count; k > 0; k--) {
        u->from = failed->command.parts[k - 1];
        u->program = failed->command.keys[k - 1];
        for (size_t i = 0; i < now->command.count; i++) {
            u->to = now->command.parts[i];
            if (strcmp(u->from, u->to) != 0 && finds_named(u, u->from, u->to, next)) {
                return true;
            }
        }
    }
    u->from = lesson_failed_part(failed);
    u->error = &failed->errors[0];
    for (size_t i = 0; i < now->command.count; i++) {
        u->to = now->command.parts[i];
        if ((next && is_wrapped(u->error->quote, u->from, u->to)) || is_set_at_last(u)) {
            return true;
        }
    }
    return false;
}

/* Of the same program, or for the same things. */
static bool is_alike(const struct lesson_step *failed, const struct lesson_step *now) {
    for (size_t i = 0; i < failed->command.count; i++) {
        for (size_t k = 0; k < now->command.count; k++) {
            struct word_list a, b;
            size_t of;
            list_words(&a, failed->command.parts[i]);
            list_words(&b, now->command.parts[k]);
            if (same_program(&a, &b) || count_kept(&a, program_at(&a), a.count, &b, &of)) {
                return true;
            }
        }
    }
    return false;
}

/* "src/a.ts(3,4)", "b.py:12": it ran, and found something there. */
static bool reports_places(const struct lesson_step *run) {
    const char *text = run->output ? run->output : "";
    for (const char *at = text; (at = strpbrk(at, ":(")); at++) {
        const char *name = at;
        while (name > text && isalnum((unsigned char)name[-1])) {
            name--;
        }
        size_t digits = strspn(at + 1, "0123456789");
        bool file = name < at && name - text > 1 && name[-1] == '.' && isalnum((unsigned char)name[-2]) &&
                    isalpha((unsigned char)*name);
        if (file && digits && strchr(",):", at[1 + digits]) && at[1 + digits]) {
            return true;
        }
    }
    return false;
}

/* Something else may be why the next run passes. */
static bool is_broken_off(const struct usage *u, const struct lesson_step *e) {
    bool own = e->event == u->s->list[u->at].event;
    return e->kind == STEP_USER || (lesson_is_edit(e) && !own && !lesson_is_prose(e->path));
}

/* The first run for the same end that passed took the place of the failed one. */
static bool finds_end(struct usage *u) {
    const struct lesson_step *list = u->s->list, *failed = &list[u->at];
    size_t others = 0;
    for (size_t i = u->at + 1; i < u->s->count && i <= u->at + REACH; i++) {
        const struct lesson_step *e = &list[i];
        if (is_broken_off(u, e)) {
            return false;
        }
        bool run = step_is_run(e) && e->command.count;
        bool alike = run && is_alike(failed, e), works = run && (!e->failed || reports_places(e));
        u->end = i;
        if (works && finds_parts(u, e, !others)) {
            return !lesson_shows(e, u->error) &&
                   (e->failed || lesson_shows_all(e) || lesson_shows_end(failed, e, u->error->quote));
        }
        if (alike && e->failed) {
            u->tried[u->tried_count++ % MAX_TRIED] = lesson_failed_part(e);
        } else if (run && !e->failed && (alike || others++ == MAX_OTHERS || lesson_brings(e))) {
            return false;
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

/* What is not there is found from another folder. */
static bool moves(const struct usage *u) {
    const char *a = u->s->list[u->at].text, *b = u->s->list[u->end].text;
    size_t len = strcspn(b, "&;\n");
    return is_path(u->from, strcspn(u->from, BETWEEN_WORDS)) && strncmp(b, "cd ", 3) == 0 &&
           strncmp(a, b, len) != 0;
}

static bool is_tellable(const struct usage *u) {
    const struct lesson_step *failed = &u->s->list[u->at], *now = &u->s->list[u->end];
    size_t typed = 0;
    for (size_t i = 0; i < now->command.count; i++) {
        typed += strlen(now->command.parts[i]);
    }
    return strlen(u->from) <= MAX_TYPED && typed <= MAX_TYPED &&
           !command_part_holds_prose(u->from) &&
           (!command_part_holds_prose(u->to) || is_wrapped(u->error->quote, u->from, u->to)) &&
           (!lesson_brings(now) ||
            (lesson_brings(failed) && !(now->command.classes & COMMAND_MASKED))) && !moves(u) &&
           !lesson_runs_own_script(u->s, failed) && !lesson_runs_own_script(u->s, now) &&
           (lesson_goes_on(failed->text) || !lesson_goes_on(now->text));
}

/* The agent's reason between the two runs that says what differs. */
static char *reason_of(const struct usage *u) {
    for (size_t i = u->end; i > u->at + 1; i--) {
        const struct lesson_step *e = &u->s->list[i - 1];
        char *cause = e->kind == STEP_SAY ? lesson_cause(u->r, e->text) : NULL;
        if (cause && !lesson_is_personal(u->r, cause) && lesson_names(cause, u->to, u->from)) {
            return cause;
        }
        free(cause);
    }
    return NULL;
}

/* What was tried in between, a line each. */
static char *list_tried(const struct usage *u) {
    struct buf out = BUF_INIT(MAX_TRIED * MAX_TYPED * 2);
    size_t count = u->tried_count < MAX_TRIED ? u->tried_count : MAX_TRIED;
    for (size_t i = 0; i < count; i++) {
        const char *part = u->tried[i];
        bool new = strcmp(part, u->from) != 0 && !any_of(k, 0, i, strcmp(part, u->tried[k]) == 0);
        if (new && strlen(part) <= MAX_TYPED && !command_part_holds_prose(part)) {
            autofree char *text = command_part_text(part);
            buf_addf(&out, "%s%s", out.len ? "\n" : "", text);
        }
    }
    return out.len ? buf_detach(&out) : NULL;
}

/* What the later line runs that the failed one did not: one after the other. */
static char *typed_instead(const struct usage *u) {
    const struct command *failed = &u->s->list[u->at].command, *now = &u->s->list[u->end].command;
    struct buf out = BUF_INIT(MAX_TYPED * COMMAND_MAX_PARTS * 2);
    for (size_t i = 0; i < now->count; i++) {
        const char *part = now->parts[i];
        if (part == u->to || !any_of(k, 0, failed->count, strcmp(failed->parts[k], part) == 0)) {
            autofree char *text = command_part_text(part);
            buf_addf(&out, "%s%s", out.len ? " && " : "", text);
        }
    }
    return buf_detach(&out);
}

static void add_usage(struct lessons *l, const struct usage *u) {
    const struct lesson_step *failed = &u->s->list[u->at], *now = &u->s->list[u->end];
    struct lesson *fix = lesson_list_add(&l->fixes);
    *fix = (struct lesson){.key = xstrdup(u->error->normal),
                           .quote = xstrdup(u->error->quote),
                           .context = command_part_text(u->from),
                           .verified_by = typed_instead(u),
                           .cause = reason_of(u),
                           .tried = list_tried(u),
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

void lessons_find_usage(struct lessons *l, const struct steps *s, size_t at,
                        const struct lesson_reader *r) {
    const struct lesson_step *failed = &s->list[at];
    struct usage u = {.s = s, .r = r, .at = at};
    bool may = step_is_run(failed) && failed->failed && failed->command.count &&
               failed->error_count && l->fixes.count < LESSONS_MAX_FIXES &&
               !is_told(l, s, failed->result_event);
    if (may && finds_end(&u) && !is_told(l, s, s->list[u.end].event) && is_tellable(&u) &&
        !is_refuted(&u)) {
        add_usage(l, &u);
    }
}
