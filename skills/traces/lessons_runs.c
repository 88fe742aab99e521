/* Commands as the change that ended an error: what was installed, started or set up. */
#include "skills/traces/lessons_internal.h"

#include "base/buf.h"
#include "base/find.h"
#include "base/strings.h"
#include "skills/lessons_tables.h"

#define MAX_SAID (64u << 10) /* of an output that a command is looked for in */
#define ADVISED_WORDS 4u     /* of a command that an output says, to be the same */
#define MAX_RUN 600u         /* bytes of a command that is told as a step */
#define MAX_BETWEEN 6u       /* commands */
#define VERB_WITHIN 5u       /* words of a command */
#define LEAST_WITHIN 4u      /* letters of a name that is part of a longer one */
#define LETTERS_AND_DIGITS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

/* What is behind a verb that brings something: of "pip install httpx" the last word. NULL:
 * there is none among its first words. */
static const char *provided(const char *part) {
    const char *at = part + strcspn(part, BETWEEN_WORDS);
    for (size_t i = 0; *at && i < VERB_WITHIN; i++) {
        at += *at == *BETWEEN_WORDS;
        autofree char *word = xstrndup(at, strcspn(at, BETWEEN_WORDS));
        at += strlen(word);
        if (strings_have(providing, word)) {
            return at;
        }
    }
    return NULL;
}

/* It ran before the failure too, or again before its end, or is a script of the session's
 * own: a check. */
static bool is_check(const struct failure *f, const struct lesson_step *run) {
    bool ran = lesson_runs_own_script(f->s, run);
    for (size_t i = f->gone; i > 0 && f->gone - i < 2 * LESSONS_REACH && !ran; i--) {
        const struct lesson_step *s = &f->s->list[i - 1];
        ran = s != run && step_is_run(s) && command_same(&run->command, &s->command);
    }
    return ran;
}

/* The error says what it brings; modules and packages differ in their marks. */
static bool is_named_run(const char *part, const char *told) {
    const char *brings = provided(part);
    autofree char *module = xstrdup(brings ? brings : "");
    for (char *c = module; (c = strchr(c, '-')); c++) {
        *c = '_';
    }
    return brings && (lesson_names_any(told, brings, "") || lesson_names_any(told, module, ""));
}

/* The output of the failure says to run it: `npm pkg set type="module"`. */
static bool is_advised(const char *output, const char *part) {
    autobuf said = BUF_INIT(MAX_SAID), advice = BUF_INIT(MAX_RUN);
    size_t words = 0;
    for (; *output && said.len < MAX_SAID - 1; output++) {
        if (!strchr("'\"", *output)) {
            buf_addc(&said, *output);
        }
    }
    for (; *part && words < ADVISED_WORDS; words++) {
        size_t len = strcspn(part, BETWEEN_WORDS);
        buf_addf(&advice, "%s%.*s", words ? " " : "", (int)len, part);
        part += len + (part[len] != '\0');
    }
    return words > 1 && strstr(said.data, advice.data);
}

/* The error names what it brings; or, with less demanded, its output says to run it. */
static bool is_tied(const struct failure *f, const char *part, const char *told) {
    const struct lesson_step *failed = &f->s->list[f->last];
    return is_named_run(part, told) ||
           (f->least < LINK_NAME && is_advised(failed->output, part));
}

/* A command in between that may be told: it passed, and neither checks nor writes a file. */
static bool may_be_told(const struct failure *f, const struct lesson_step *s) {
    const struct lesson_step *failed = &f->s->list[f->last];
    return step_is_run(s) && !s->failed && s->command.count && strlen(s->text) <= MAX_RUN &&
           !strstr(s->text, "<<") && !strstr(s->text, " do ") && !command_like(&failed->command, &s->command) &&
           !command_holds_prose(&s->command) && !is_check(f, s);
}

bool lesson_add_runs(struct lesson *fix, const struct failure *f, const char *told) {
    for (size_t i = f->last + 1; i < f->gone; i++) {
        const struct lesson_step *s = &f->s->list[i];
        for (size_t k = 0; may_be_told(f, s) && k < s->command.count; k++) {
            if (!is_tied(f, s->command.parts[k], told)) {
                continue;
            }
            if (fix->change_count == LESSON_MAX_CHANGES) {
                return false;
            }
            lesson_add_change(fix, CHANGE_RUN)->to = command_part_text(s->command.parts[k]);
            lessons_add_evidence(&fix->evidence, f->s->trace, s->event, EVIDENCE_CHANGE);
        }
    }
    return true;
}

bool lesson_brings(const struct lesson_step *run) {
    return any_of(i, 0, run->command.count, provided(run->command.parts[i]) != NULL);
}

static bool provides(const char *text) {
    struct command c;
    command_read(&c, text);
    size_t len = strlen(text);
    bool goes_on = len > 1 && text[len - 1] == '&' && text[len - 2] != '&'; /* a server */
    bool provides = goes_on || any_of(i, 0, c.count, provided(c.parts[i]) != NULL);
    command_finish(&c);
    return provides;
}

bool lesson_suits(const struct failure *f, const char *text) {
    const struct lesson_step *failed = &f->s->list[f->last];
    struct command c;
    command_read(&c, text);
    bool suits = false;
    for (size_t i = 0; i < c.count && !suits; i++) {
        autofree char *program = xstrndup(c.keys[i], strcspn(c.keys[i], " "));
        suits = provided(c.parts[i]) && (lesson_has_word(failed->text, program) ||
                                         lesson_has_word(f->error->quote, program));
    }
    command_finish(&c);
    return suits;
}

bool lesson_add_only_run(struct lesson *fix, const struct failure *f, const char *told) {
    const struct lesson_step *only = NULL, *failed = &f->s->list[f->last];
    for (size_t i = f->last + 1; i < f->gone; i++) {
        const struct lesson_step *s = &f->s->list[i];
        bool runs = step_is_run(s) && s->command.count;
        if (lesson_is_edit(s) || (runs && (only || s->failed))) {
            return false;
        }
        only = runs ? s : only;
    }
    bool acts = only && !strchr(only->text, '\n') && may_be_told(f, only) &&
                (provides(only->text) || lesson_names(told, only->text, failed->text));
    if (acts) {
        lesson_add_change(fix, CHANGE_RUN)->to = command_tidy(only->text);
        lessons_add_evidence(&fix->evidence, f->s->trace, only->event, EVIDENCE_CHANGE);
    }
    return acts;
}
