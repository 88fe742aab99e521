/* Another command in the place of one that failed: it serves the same end, passed soon after, and
 * is without what the error names: an option, a script, a program that is not there; or it is the
 * very command within another, or with settings in front. */
#include "skills/traces/lessons_internal.h"

#include "base/buf.h"
#include "base/file.h"
#include "base/find.h"
#include "base/text.h"

#include <ctype.h>

#define REACH 16u      /* steps until another one passes */
#define MAX_OTHERS 1u  /* commands of another end that pass in between */
#define MAX_TYPED 300u /* bytes of a command that is told */
#define MAX_TRIED 3u
#define MAX_TURN 600u    /* bytes of a turn that says little else */
#define LEAST_ID 8u      /* bytes of a word that only a listing knows */
#define LEAST_FAILED 3u  /* runs, where nothing but settings differ from one that passed */

struct usage {
    const struct steps *s;
    const struct lesson_reader *r;
    size_t at, end;        /* the failed run and the one that passed */
    const char *from, *to; /* their parts */
    const char *program;   /* of the first, with its own command: "npm run lint" */
    bool single; /* the later part stands for its whole line, all of which is changed alike */
    size_t lister;     /* the step of `front` that printed an id, with which `to` passed; or 0 */
    const char *front; /* what the later line ran before the very part; or NULL */
    const struct lesson_error *error;
    const char *tried[MAX_TRIED]; /* parts that failed in between */
    size_t tried_count;
};

/* --- what the error names --- */

static const struct lesson_error *error_naming(const struct lesson_step *run, const char *word) {
    return list_find(e, run->errors, run->error_count, lesson_is_named(e->quote, word));
}

/* It failed each time with other settings or none, and then passed. */
static bool is_set_at_last(const struct usage *u) {
    size_t failed = 0;
    bool other = strcmp(lesson_behind_settings(u->from), lesson_behind_settings(u->to)) != 0 ||
                 strcmp(u->from, u->to) == 0 || lesson_behind_settings(u->to) == u->to;
    for (size_t i = u->at; i < u->end && !other; i++) {
        const struct lesson_step *e = &u->s->list[i];
        bool run = step_is_run(e) && e->command.count;
        bool same = run && strcmp(lesson_behind_settings(lesson_failed_part(e)), lesson_behind_settings(u->to)) == 0;
        failed += same && e->failed;
    }
    return !other && failed >= LEAST_FAILED;
}

/* A short turn in between names in code what the error says and what differs. */
static bool says_both(const struct usage *u, const char *differs) {
    const struct lesson_step *failed = &u->s->list[u->at];
    for (size_t i = u->end; i > u->at + 1; i--) {
        const struct lesson_step *e = &u->s->list[i - 1];
        bool brief = e->kind == STEP_SAY && strlen(e->text) <= MAX_TURN;
        autofree char *names = brief ? lesson_technical(e->text) : xstrdup("");
        if (lesson_names(u->error->quote, names, failed->text) && lesson_names(names, differs, failed->text)) {
            return true;
        }
    }
    return false;
}

static bool has_part(const struct command *c, const char *part) {
    return any_of(i, 0, c->count, strcmp(c->parts[i], part) == 0);
}

/* The last part of the failed line that the later one has too, from there on. Or NULL. */
static const char *last_common(const struct command *failed, const struct command *now, size_t from) {
    for (size_t p = failed->count; p > 0; p--) {
        if (any_of(q, from, now->count, strcmp(now->parts[q], failed->parts[p - 1]) == 0)) {
            return failed->parts[p - 1];
        }
    }
    return NULL;
}

/* What the later line runs before the very part, and the agent's turn explains. */
static bool finds_front(struct usage *u, const struct lesson_step *now) {
    const struct lesson_step *failed = &u->s->list[u->at];
    for (size_t k = 0; k < failed->error_count; k++) {
        u->error = &failed->errors[k];
        for (size_t i = 0; i + 1 < now->command.count; i++) {
            const char *part = now->command.parts[i];
            u->from = last_common(&failed->command, &now->command, i + 1);
            u->to = u->front = part;
            if (u->from && !has_part(&failed->command, part) && says_both(u, part)) {
                return true;
            }
        }
    }
    u->front = NULL;
    return false;
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
        if (e && lesson_is_without(e->quote, u->program, &a, i, &b, next)) {
            return true;
        }
    }
    return false;
}

/* The same part with another name in it, or run by its path. */
static bool finds_same(struct usage *u, const struct lesson_step *now) {
    const struct lesson_step *failed = &u->s->list[u->at];
    for (size_t k = 0; k < failed->command.count; k++) {
        for (size_t i = 0; i < now->command.count; i++) {
            u->from = failed->command.parts[k];
            u->to = now->command.parts[i];
            u->program = failed->command.keys[k];
            u->error = list_find(e, failed->errors, failed->error_count,
                                 lesson_is_renamed(e->quote, u->from, u->to) ||
                                     lesson_is_run_by_path(e->quote, u->from, u->to));
            if (u->error) {
                u->single = lesson_is_renamed(u->error->quote, u->from, u->to);
                return true;
            }
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
            if (strlen(u->from) <= MAX_TYPED && strlen(u->to) <= MAX_TYPED &&
                strcmp(u->from, u->to) != 0 && finds_named(u, u->from, u->to, next)) {
                return true;
            }
        }
    }
    if (next && (finds_same(u, now) || finds_front(u, now))) {
        return true;
    }
    u->from = lesson_failed_part(failed);
    u->program = failed->command.keys[failed->command.count - 1];
    u->error = &failed->errors[0];
    for (size_t i = 0; i < now->command.count; i++) {
        u->to = now->command.parts[i];
        bool varied = next && strcmp(u->program, now->command.keys[i]) == 0 && lesson_adds_options(u->from, u->to) &&
                      says_both(u, u->to);
        if ((next && lesson_is_wrapped(u->error->quote, u->from, u->to)) || (next && lesson_adds_hinted(failed, u->from, u->to)) || varied ||
            is_set_at_last(u)) {
            return true;
        }
    }
    return false;
}

/* The same complaint about another name: "unknown option `-a`", "unknown option `-b`". */
static bool complains_alike(const struct lesson_step *run, const char *quote) {
    size_t len = strcspn(quote, "'\"`");
    return quote[len] && any_of(i, 0, run->error_count, strncmp(run->errors[i].quote, quote, len) == 0);
}

/* "src/a.ts(3,4)", "b.py:12". */
static bool has_place(const char *line, size_t len) {
    for (size_t i = 2; i + 1 < len; i++) {
        size_t name = i, digits = strspn(line + i + 1, "0123456789");
        while (name && isalnum((unsigned char)line[name - 1])) {
            name--;
        }
        bool file = strchr(":(", line[i]) && name > 1 && line[name - 1] == '.' &&
                    isalnum((unsigned char)line[name - 2]) && isalpha((unsigned char)line[name]);
        if (file && digits && i + 1 + digits < len && strchr(",):", line[i + 1 + digits])) {
            return true;
        }
    }
    return false;
}

/* It ran, and found something in files: not where its own program failed, in a frame of a stack. */
static bool reports_places(const struct lesson_step *run) {
    for (const char *line = run->output ? run->output : ""; *line; line = text_next_line(line)) {
        size_t len = strcspn(line, "\n");
        bool frame = strncmp(line + strspn(line, " "), "at ", 3) == 0 || memmem(line, len, "node_modules", 12);
        if (!frame && len <= MAX_TURN && has_place(line, len)) {
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
        bool alike = run && command_is_alike(&failed->command, &e->command), works = run && (!e->failed || reports_places(e));
        u->end = i;
        if (works && finds_parts(u, e, !others)) {
            return !lesson_shows(e, u->error) && !complains_alike(e, u->error->quote) &&
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

/* The only word at which the two differ: the error names it, and in its place stands an id. Or NULL. */
static char *id_instead(struct usage *u, const char *part) {
    struct word_list a, b;
    size_t at = 0, differ = 0;
    list_words(&a, u->from);
    list_words(&b, part);
    for (size_t i = 0; a.count == b.count && i < a.count; i++) {
        bool same = a.lens[i] == b.lens[i] && memcmp(a.words[i], b.words[i], a.lens[i]) == 0;
        at = same ? at : i;
        differ += !same;
    }
    if (differ != 1 || at == 0 || b.lens[at] < LEAST_ID || lesson_is_path(b.words[at], b.lens[at])) {
        return NULL;
    }
    autofree char *gone = xstrndup(a.words[at], a.lens[at]), *came = xstrndup(b.words[at], b.lens[at]);
    u->error = *gone ? error_naming(&u->s->list[u->at], gone) : NULL;
    bool id = strpbrk(came, "0123456789") && !strpbrk(came, " \n") && *came != '-';
    return u->error && id ? take(came) : NULL;
}

/* The step in which the same program printed the id: it is to be asked for it. Or 0. */
static size_t who_lists(const struct usage *u, const char *id, size_t end) {
    size_t program = strcspn(u->from, BETWEEN_WORDS) + 1;
    for (size_t i = u->at + 1; i < end; i++) {
        const struct lesson_step *e = &u->s->list[i];
        bool ran = e->kind == STEP_RUN && e->command.count && !e->failed && e->output;
        const char *part = ran ? lesson_failed_part(e) : "";
        if (ran && lesson_has_word(e->output, id) && !strstr(e->text, id) &&
            strncmp(part, u->from, program) == 0) {
            return i;
        }
    }
    return 0;
}

/* The first run that passed with an id which the program itself had listed. */
static bool finds_listed(struct usage *u) {
    const struct lesson_step *list = u->s->list;
    u->from = lesson_failed_part(&list[u->at]);
    u->front = NULL;
    u->tried_count = 0;
    u->single = false;
    for (u->end = u->at + 1; u->end < u->s->count && u->end <= u->at + REACH; u->end++) {
        const struct lesson_step *e = &list[u->end];
        const char *part = step_is_run(e) && e->command.count && !e->failed ? lesson_failed_part(e) : "";
        autofree char *id = *part ? id_instead(u, part) : NULL;
        u->lister = id ? who_lists(u, id, u->end) : 0;
        u->front = u->lister ? lesson_failed_part(&list[u->lister]) : NULL;
        u->to = part;
        if (u->front || is_broken_off(u, e)) {
            return u->front && !lesson_shows(e, u->error);
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
            if (again || (!u->front && !e->failed && strcmp(part, u->from) == 0)) {
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
    return lesson_is_path(u->from, strcspn(u->from, BETWEEN_WORDS)) && strncmp(b, "cd ", 3) == 0 &&
           strncmp(a, b, len) != 0;
}

static bool is_tellable(const struct usage *u) {
    const struct lesson_step *failed = &u->s->list[u->at], *now = &u->s->list[u->end];
    size_t typed = u->front ? strlen(u->front) : u->single ? strlen(u->to) : 0;
    for (size_t i = 0; i < now->command.count && !u->front && !u->single; i++) {
        typed += strlen(now->command.parts[i]);
    }
    return strlen(u->from) <= MAX_TYPED && typed <= MAX_TYPED &&
           !command_part_holds_prose(u->from) &&
           (!command_part_holds_prose(u->to) || lesson_is_wrapped(u->error->quote, u->from, u->to)) &&
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
        if (part == u->to || (!u->single && !has_part(failed, part))) {
            autofree char *text = command_part_text(part);
            buf_addf(&out, "%s%s", out.len ? " && " : "", text);
        }
    }
    return buf_detach(&out);
}

static void add_usage(struct lessons *l, const struct usage *u) {
    const struct lesson_step *failed = &u->s->list[u->at], *now = &u->s->list[u->end];
    autofree char *typed = u->front ? command_part_text(u->front) : typed_instead(u);
    struct lesson *fix = lesson_list_add(&l->fixes);
    *fix = (struct lesson){.key = xstrdup(u->error->normal),
                           .quote = xstrdup(u->error->quote),
                           .context = command_part_text(u->from),
                           .verified_by = u->front ? command_part_text(u->lister ? u->to : u->from)
                                                   : xstrdup(typed),
                           .cause = reason_of(u),
                           .tried = list_tried(u),
                           .seen = 1};
    struct lesson_change *c = lesson_add_change(fix, u->front ? CHANGE_RUN : CHANGE_COMMAND);
    c->from = u->front ? NULL : xstrdup(fix->context);
    c->to = take(typed);
    lessons_add_evidence(&fix->evidence, u->s->trace, failed->result_event, EVIDENCE_ERROR);
    lessons_add_evidence(&fix->evidence, u->s->trace, u->lister ? u->s->list[u->lister].event : now->event,
                         EVIDENCE_CHANGE);
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
    if (may && (finds_end(&u) || finds_listed(&u)) && !is_told(l, s, s->list[u.end].event) && is_tellable(&u) &&
        !is_refuted(&u)) {
        add_usage(l, &u);
    }
}
