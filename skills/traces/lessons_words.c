/* What people said: the task, and corrections. */
#include "skills/traces/lessons_internal.h"

#include "base/mem.h"
#include "base/work_stop.h"
#include "skills/format/pattern.h"

#include <ctype.h>
#include <string.h>

#define MAX_TASK 1200u
#define MAX_CORRECTION 600u /* a longer turn is a new request */
#define MAX_CORRECTIONS 30u
#define CORRECTION_REGEX                                                                 \
    "\\bno\\b|\\bnot\\b|n't\\b|\\binstead\\b|\\bactually\\b|\\bwrong\\b|\\bstop\\b|"     \
    "\\bnever\\b|\\balways\\b|\\bmust\\b|\\bshould\\b|\\bprefer|\\brather\\b|"           \
    "\\bundo\\b|"                                                                        \
    "\\brevert\\b|\\bplease use\\b|^use\\b|\\bkeep\\b|\\bonly\\b|\\bavoid\\b"

/* What a harness puts into a person's mouth. */
static bool is_machinery(const char *text) {
    static const char *const heads[] = {"<command-",
                                        "<local-command",
                                        "<system-reminder",
                                        "Caveat:",
                                        "[Request interrupted",
                                        "<environment_context",
                                        "<user_instructions",
                                        "# AGENTS.md",
                                        "<bash-",
                                        "This session is being continued",
                                        "API Error"};
    text += strspn(text, " \t\n");
    if (!*text) {
        return true;
    }
    for (size_t i = 0; i < ARRAY_LEN(heads); i++) {
        if (strncmp(text, heads[i], strlen(heads[i])) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_assent(const char *text) {
    static const char *const words[] = {
        "ok",       "yes",   "thanks",   "thank you", "great", "good", "perfect",
        "continue", "go on", "go ahead", "hi",        "hello", "sure", "nice",
        "lgtm",     "y",     "no",       "exit",      "/exit", "bye"};
    autofree char *low = lesson_cut(text, strlen(text), 40);
    for (char *c = low; *c; c++) {
        *c = (char)tolower((unsigned char)*c);
    }
    size_t len = strlen(low);
    while (len && strchr(".!,", low[len - 1])) {
        low[--len] = '\0';
    }
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        if (strcmp(low, words[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* The agent's step before a person spoke. */
static char *step_before(const struct steps *s, size_t at) {
    for (size_t i = at; i > 0; i--) {
        const struct lesson_step *e = &s->list[i - 1];
        if (e->kind == STEP_RUN && !(e->command.classes & COMMAND_PROBE)) {
            autofree char *tidy = command_tidy(e->text);
            return lesson_cut(tidy, strcspn(tidy, "\n"), 160);
        }
        if (e->kind == STEP_EDIT) {
            return xasprintf("editing %.140s", e->path);
        }
        if (e->kind == STEP_USER) {
            break;
        }
    }
    return NULL;
}

static void add_correction(struct lessons *l, const struct steps *s, size_t i) {
    const struct lesson_step *e = &s->list[i];
    if (l->correction_count >= MAX_CORRECTIONS) {
        return;
    }
    struct lesson_correction *c = LESSON_NEW(l, corrections, correction_count);
    c->text = lesson_cut(e->text, strlen(e->text), MAX_CORRECTION);
    c->about = step_before(s, i);
    lessons_add_evidence(&c->evidence, s->trace, e->event);
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
    lessons_add_evidence(&l->task_evidence, s->trace, e->event);
}

void lessons_find_words(struct lessons *l, const struct steps *s) {
    struct pattern *correcting = pattern_new(CORRECTION_REGEX);
    bool asked = false, acted = false;
    for (size_t i = 0; i < s->count && !work_is_stopped(); i++) {
        const struct lesson_step *e = &s->list[i];
        acted |= e->kind != STEP_USER;
        if (e->kind != STEP_USER || is_machinery(e->text) || is_assent(e->text)) {
            continue;
        }
        size_t len = strlen(e->text);
        if (!asked) {
            asked = true;
            add_task(l, s, e);
        } else if (acted && len <= MAX_CORRECTION &&
                   pattern_is_in(correcting, e->text, len)) {
            add_correction(l, s, i);
        } else {
            add_task(l, s, e);
        }
    }
    pattern_free(correcting);
}
