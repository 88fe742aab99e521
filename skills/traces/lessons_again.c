/* A command that failed and soon passed with the same letters: spelt otherwise ("/c/Users" for "C:\\Users"),
 * or by a call that asked for more rights. This holds for commands that only read too. */
#include "skills/traces/lessons_internal.h"

#include "base/buf.h"
#include "base/find.h"
#include "base/strings.h"
#include "base/text.h"

#include <ctype.h>

#define REACH 16 /* steps until it is run again */
#define MAX_TOLD 300u
#define MAX_FORBIDDEN 1000u /* bytes of a line */
#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
#define LEAST_LETTERS 4u /* of a word that an error says */

/* The first pipe of a command and what is behind it, or "". */
static const char *pipe_of(const char *text) {
    char quote = '\0';
    for (; *text; text++) {
        if (quote ? *text == quote : *text == '\'' || *text == '"') {
            quote = quote ? '\0' : *text;
        } else if (!quote && *text == '|' && text[1] == '|') {
            text++;
        } else if (!quote && *text == '|') {
            return text;
        }
    }
    return text;
}

/* A filter chooses among the lines, and not only the end or the beginning of the output. */
static bool hides(const char *text) {
    static const char *const whole[] = {"tail", "head", "tee", "cat", "Select-Object", NULL};
    for (const char *at = pipe_of(text); *at; at = pipe_of(at + 1)) {
        const char *program = at + 1 + strspn(at + 1, " ");
        autofree char *name = xstrndup(program, strcspn(program, " );\n"));
        if (!strings_have(whole, name)) {
            return true;
        }
    }
    return false;
}

bool lesson_shows_all(const struct lesson_step *run) {
    return !(run->command.classes & COMMAND_MASKED) || (*pipe_of(run->text) && !hides(run->text));
}

bool lesson_shows_end(const struct lesson_step *failed, const struct lesson_step *later) {
    if (!(later->command.classes & COMMAND_MASKED)) {
        return true;
    }
    return (failed->command.classes & COMMAND_MASKED) &&
           (!hides(later->text) || strcmp(pipe_of(failed->text), pipe_of(later->text)) == 0);
}

/* Letters and digits alone, small. */
static char *letters_of(const char *text) {
    struct buf out = BUF_INIT(64u << 10);
    for (; *text; text++) {
        if (isalnum((unsigned char)*text)) {
            buf_addc(&out, (char)tolower((unsigned char)*text));
        }
    }
    return buf_detach(&out);
}

/* The step that passed, or 0: something else happened in between that may be why. */
static size_t passed_again(const struct steps *s, size_t at) {
    autofree char *letters = letters_of(s->list[at].text);
    for (size_t i = at + 1; i < s->count && i <= at + REACH; i++) {
        const struct lesson_step *e = &s->list[i];
        autofree char *there = e->kind == STEP_RUN && e->done ? letters_of(e->text) : xstrdup("");
        if (*there && strcmp(letters, there) == 0) {
            const struct lesson_error *error = &s->list[at].errors[0];
            bool whole = !*pipe_of(e->text) && !lesson_shows(e, error); /* "a; b" hides the end of a */
            bool ends = !e->failed && !e->refused &&
                        (whole || lesson_shows_end(&s->list[at], e));
            return ends ? i : 0;
        }
        if (e->kind == STEP_EDIT || (step_is_run(e) && e->command.count && !e->failed)) {
            return 0;
        }
    }
    return 0;
}

/* The first of the options that the earlier call lacked: "sandbox_permissions=…". */
static char *gained_option(const struct lesson_step *failed, const struct lesson_step *now) {
    const char *had = failed->options ? failed->options : "";
    for (const char *at = now->options ? now->options : ""; *at; at += strspn(at, " ")) {
        autofree char *option = xstrndup(at, strcspn(at, " "));
        if (!strstr(had, option)) {
            return take(option);
        }
        at += strlen(option);
    }
    return NULL;
}

/* The last line that says what was not allowed; others only tell what failed then. NULL: there is
 * none, or it only keeps git from its records. */
static char *forbidden_line(const char *output) {
    static const char *const says[] = {"EPERM", "EACCES", "not permitted", "ermission denied"};
    char *last = NULL;
    for (const char *line = output; *line; line = text_next_line(line)) {
        autofree char *text = xstrndup(line, strcspn(line, "\n"));
        if (any_of(i, 0, ARRAY_LEN(says), strstr(text, says[i]))) {
            free(last);
            last = take(text);
        }
    }
    bool told = last && strlen(last) <= MAX_FORBIDDEN && !strstr(last, ".git/");
    char *cut = told ? lesson_cut(last, strlen(last), LESSON_MAX_LINE) : NULL;
    free(last);
    return cut;
}

static char *cause_of(const struct lesson_step *failed, const struct lesson_step *now) {
    autofree char *option = strcmp(failed->text, now->text) == 0 ? gained_option(failed, now) : NULL;
    return option ? xasprintf("The harness runs it where the call asks for `%s`.", option) : NULL;
}

/* The error says a word that is spelt otherwise now. */
static bool says_changed(const char *quote, const char *failed, const char *now) {
    autofree char *said = letters_of(quote), *later = xasprintf(" %s ", now);
    for (const char *at = failed; *at; at += strspn(at, " ")) {
        autofree char *word = xstrndup(at, strcspn(at, " ")), *letters = letters_of(word);
        autofree char *whole = xasprintf(" %s ", word);
        size_t len = strlen(letters);
        if (len >= LEAST_LETTERS && !strstr(later, whole) && strstr(said, letters)) {
            return true;
        }
        at += strlen(word);
    }
    return false;
}

char *lesson_shown_command(const char *text) {
    autofree char *tidy = command_tidy(text);
    size_t len = strcspn(tidy, "\n");
    char *line = lesson_cut(tidy, len, MAX_TOLD);
    if (tidy[len] && strlen(line) == len) {
        char *cut = xasprintf("%s …", line);
        free(line);
        return cut;
    }
    return line;
}

/* Without the dots and marks in front of its words: "../bin/x" is "bin/x" from another folder. */
static char *from_anywhere(const char *text) {
    struct buf out = BUF_INIT(64u << 10);
    for (; *text; text++) {
        bool begins = !out.len || out.data[out.len - 1] == ' ';
        text += begins ? strspn(text, "./") : 0;
        buf_addf(&out, "%.*s", *text != '\0', text);
        if (!*text) {
            break;
        }
    }
    return buf_detach(&out);
}

/* What to type or to ask for instead, or NULL. */
static char *written_now(const struct lesson_step *failed, const struct lesson_step *now) {
    autofree char *option = NULL, *text = lesson_shown_command(now->text);
    bool records = strstr(failed->text, "git ") != NULL; /* it keeps records of the work */
    if (strcmp(failed->text, now->text) == 0) {
        option = records ? NULL : gained_option(failed, now);
        return option ? xasprintf("%s  # %s", text, option) : NULL;
    }
    autofree char *here = from_anywhere(failed->text), *there = from_anywhere(now->text);
    bool plain = strlen(failed->text) <= MAX_TOLD && !strchr(failed->text, '\n') && strcmp(here, there) != 0;
    return plain && !records && says_changed(failed->errors[0].quote, failed->text, now->text) && !command_holds_prose(&failed->command) ? take(text) : NULL;
}

void lessons_find_again(struct lessons *l, const struct steps *s, size_t at) {
    const struct lesson_step *failed = &s->list[at];
    bool told = failed->kind == STEP_RUN && failed->failed && failed->error_count &&
                l->fixes.count < LESSONS_MAX_FIXES &&
                !lesson_list_find(&l->fixes, failed->errors[0].normal);
    size_t end = told ? passed_again(s, at) : 0;
    char *to = end ? written_now(failed, &s->list[end]) : NULL;
    if (!to) {
        return;
    }
    const struct lesson_step *now = &s->list[end];
    bool asks = strcmp(failed->text, now->text) == 0;
    char *quote = asks ? forbidden_line(failed->output) : xstrdup(failed->errors[0].quote);
    if (!quote) {
        free(to);
        return;
    }
    struct lesson *fix = lesson_list_add(&l->fixes);
    *fix = (struct lesson){.key = xstrdup(failed->errors[0].normal),
                           .quote = quote,
                           .context = lesson_shown_command(failed->text),
                           .verified_by = lesson_shown_command(now->text),
                           .cause = cause_of(failed, now),
                           .seen = 1};
    struct lesson_change *c = lesson_add_change(fix, CHANGE_COMMAND);
    c->from = xstrdup(fix->context);
    c->to = to;
    lessons_add_evidence(&fix->evidence, s->trace, failed->result_event, EVIDENCE_ERROR);
    lessons_add_evidence(&fix->evidence, s->trace, now->event, EVIDENCE_CHANGE);
    lessons_add_evidence(&fix->evidence, s->trace, now->result_event, EVIDENCE_PROOF);
}
