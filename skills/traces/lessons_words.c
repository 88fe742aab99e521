/* People's messages: the task, and corrections. */
#include "base/buf.h"
#include "base/find.h"
#include "skills/traces/lessons_internal.h"

#include "base/pattern.h"
#include "base/work.h"
#include "skills/lessons_tables.h"

#include <ctype.h>

#define MAX_TASK 1200u
#define MAX_CORRECTION 240u /* a longer turn is a new request */
#define MAX_CORRECTIONS 30u
#define MAX_TRIED 300u /* turns that may be corrections */
#define MAX_WORDS 120u /* of a correction that are looked for */
#define MAX_LOOK 8192u /* bytes of a step that they are looked for in */
#define LOOK_AHEAD 60u /* steps */
#define LOOK_BACK 100u

/* --- what a correction changed --- */

/* Names that only code has, and programs: "TORCH_LIBRARY", "requests.get". */
static size_t word_length(const char *s) {
    size_t len = 0;
    while (isalnum((unsigned char)s[len]) || (s[len] && strchr("_.-", s[len]))) {
        len++;
    }
    while (len && strchr(".-", s[len - 1])) {
        len--;
    }
    return len;
}

static bool is_technical(const char *word, size_t len) {
    return any_of(i, 1, len,
                  strchr("_.-", word[i]) || isupper((unsigned char)word[i]) ||
                      isdigit((unsigned char)word[i]));
}

static bool runs_program(const struct lesson_step *e, const char *word) {
    for (size_t i = 0; i < e->command.count; i++) {
        size_t len = strlen(word);
        if (strncmp(e->command.keys[i], word, len) == 0 &&
            strchr(" ", e->command.keys[i][len])) {
            return true;
        }
    }
    return false;
}

/* The agent typed it in one of the steps [from, end). */
static bool is_used(const struct steps *s, size_t from, size_t end, const char *word) {
    bool technical = is_technical(word, strlen(word));
    for (size_t i = from; i < end && i < s->count; i++) {
        const struct lesson_step *e = &s->list[i];
        bool prose = e->kind == STEP_EDIT && strstr(e->path, ".md");
        bool acts = (e->kind == STEP_RUN || e->kind == STEP_EDIT) && e->text && !prose;
        size_t look = acts ? strnlen(e->text, MAX_LOOK) : 0;
        if (runs_program(e, word) ||
            (technical && look && memmem(e->text, look, word, strlen(word)))) {
            return true;
        }
    }
    return false;
}

/* The word of the correction that the agent used from then on and not before. */
static char *heeded_word(const struct steps *s, size_t at) {
    size_t words = 0, before = at > LOOK_BACK ? at - LOOK_BACK : 0;
    for (const char *text = s->list[at].text; *text && words < MAX_WORDS; words++) {
        size_t len = word_length(text);
        autofree char *word = xstrndup(text, len);
        if (len >= 3 && len <= 60 && is_used(s, at + 1, at + 1 + LOOK_AHEAD, word) &&
            !is_used(s, before, at, word)) {
            return take(word);
        }
        text += len;
        while (*text && !isalnum((unsigned char)*text)) {
            text++;
        }
    }
    return NULL;
}

/* "use X instead of Y", "not Y but X": Y. */
static char *avoided_word(const char *text, const char *heeded) {
    static const char *const leads[] = {"instead of ", "don't use ",  "do not use ",
                                        "never use ",  "stop using ", "rather than ",
                                        "avoid ",      "not "};
    for (size_t i = 0; i < ARRAY_LEN(leads); i++) {
        const char *at = strcasestr(text, leads[i]);
        at = at ? at + strlen(leads[i]) : "";
        at += strspn(at, " `'\"");
        size_t len = word_length(at);
        if (len >= 3 && len <= 60 && strncasecmp(at, heeded, len) != 0) {
            return xstrndup(at, len);
        }
    }
    return NULL;
}

/* The agent typed it before, and no more. */
static bool is_dropped(const struct steps *s, size_t at, const char *word) {
    size_t before = at > LOOK_BACK ? at - LOOK_BACK : 0;
    return is_used(s, before, at, word) && !is_used(s, at + 1, at + 1 + LOOK_AHEAD, word);
}

static bool ran(const struct steps *s, size_t from, size_t end, const char *word) {
    return any_of(i, from, end < s->count ? end : s->count, runs_program(&s->list[i], word));
}

/* The program among the words that was run before and no more, where the heeded one is run
 * since: no word for "instead" is needed. Or NULL. */
static char *dropped_program(const struct steps *s, size_t at, const char *heeded) {
    size_t words = 0, before = at > LOOK_BACK ? at - LOOK_BACK : 0;
    bool runs = ran(s, at + 1, at + 1 + LOOK_AHEAD, heeded);
    for (const char *text = s->list[at].text; runs && *text && words < MAX_WORDS; words++) {
        size_t len = word_length(text);
        autofree char *word = xstrndup(text, len);
        if (len >= 2 && strcmp(word, heeded) != 0 && ran(s, before, at, word) &&
            !ran(s, at + 1, at + 1 + LOOK_AHEAD, word)) {
            return take(word);
        }
        text += len ? len : 1;
    }
    return NULL;
}

/* Its last name that the other text lacks: of "-arch=sm_90" the value. */
static char *last_name(const char *text, const char *other) {
    char *last = NULL;
    while (*text) {
        size_t len = word_length(text);
        autofree char *word = xstrndup(text, len);
        if (len >= 3 && !lesson_has_word(other, word)) {
            free(last);
            last = take(word);
        }
        text += len ? len : 1;
    }
    return last;
}

/* The last command before the person's words that differs from one which then passed in a
 * few options, the word that was heeded among them; or NULL. *ret_gone: what it had instead. */
static const char *corrected_command(const struct steps *s, size_t at, const char *heeded,
                                     char **ret_gone) {
    size_t before = at > LOOK_BACK ? at - LOOK_BACK : 0;
    for (size_t i = at; i > before; i--) {
        const struct lesson_step *old = &s->list[i - 1];
        for (size_t k = at + 1; old->command.count && k < s->count && k < at + LOOK_AHEAD; k++) {
            const struct lesson_step *now = &s->list[k];
            const char *part = step_is_run(now) && !now->failed
                                   ? command_like(&old->command, &now->command)
                                   : NULL;
            autobuf gone = BUF_INIT(MAX_LOOK), added = BUF_INIT(MAX_LOOK);
            if (part && lesson_has_word(part, heeded) &&
                command_difference(&gone, &added, lesson_failed_part(old), part, "")) {
                *ret_gone = gone.len ? last_name(gone.data, part) : NULL;
                return lesson_failed_part(old);
            }
        }
    }
    return NULL;
}

static void add_correction(struct lessons *l, const struct steps *s, size_t i) {
    const struct lesson_step *e = &s->list[i];
    bool room = l->corrections.count < MAX_CORRECTIONS;
    autofree char *heeded = room ? heeded_word(s, i) : NULL;
    autofree char *instead = heeded ? avoided_word(e->text, heeded) : NULL;
    bool named = instead && is_dropped(s, i, instead);
    if (heeded && !named) {
        free(take(instead));
        instead = dropped_program(s, i, heeded);
        named = instead != NULL;
    }
    const char *old = heeded && !named ? corrected_command(s, i, heeded, &instead) : NULL;
    if (!named && !old) {
        return; /* nothing shows that it is a rule, and changed anything */
    }
    struct lesson *c = lesson_list_add(&l->corrections);
    c->key = lesson_cut(e->text, strlen(e->text), MAX_CORRECTION);
    c->heeded = take(heeded);
    c->instead = take(instead);
    c->context = old ? command_part_text(old) : NULL;
    lessons_add_evidence(&c->evidence, s->trace, e->event, EVIDENCE_SAID);
}

static void add_task(struct lessons *l, const struct steps *s,
                     const struct lesson_step *e) {
    autofree char *cut = lesson_cut(e->text, strlen(e->text), MAX_TASK);
    if (!l->task) {
        l->task = take(cut);
    } else if (strlen(l->task) + strlen(cut) < 2 * MAX_TASK && !strstr(l->task, cut)) {
        char *both = xasprintf("%s\n%s", l->task, cut);
        free(l->task);
        l->task = both;
    } else {
        return;
    }
    lessons_add_evidence(&l->task_evidence, s->trace, e->event, EVIDENCE_SAID);
}

void lessons_find_words(struct lessons *l, const struct steps *s,
                        const struct lesson_reader *r) {
    struct pattern *correcting = pattern_new(correction_regex);
    bool asked = false, acted = false;
    size_t tried = 0;
    for (size_t i = 0; i < s->count && !work_is_stopped(); i++) {
        const struct lesson_step *e = &s->list[i];
        acted |= e->kind != STEP_USER;
        size_t len = e->kind == STEP_USER ? strlen(e->text) : 0;
        if (e->kind != STEP_USER || pattern_is_in(r->idle, e->text, len)) {
            continue;
        }
        if (!asked) {
            asked = true;
            add_task(l, s, e);
        } else if (acted && len <= MAX_CORRECTION && !strchr(e->text, '?') &&
                   !strstr(e->text, "</") && pattern_is_in(correcting, e->text, len)) {
            if (tried++ < MAX_TRIED) {
                add_correction(l, s, i);
            }
        } else {
            add_task(l, s, e);
        }
    }
    pattern_free(correcting);
}
