/* A command that failed and soon passed with the same letters: spelt otherwise ("foo[x]" in
 * quotes, "/c/Users" for "C:\\Users", ";" for "&&"), or by a call that asked for more rights.
 * This holds for commands that only read too. */
#include "skills/traces/lessons_internal.h"

#include "base/buf.h"
#include "base/find.h"
#include "base/strings.h"

#include <ctype.h>

#define REACH 16 /* steps until it is run again */
#define MAX_TOLD 300u
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

/* A search that would show the line: one of the plain alternatives of its pattern is in it. */
static bool would_show(const char *search, size_t len, const char *line) {
    static const char *const searches[] = {"grep", "egrep", "rg", "Select-String", NULL};
    autofree char *words = xstrndup(search, len);
    autofree char *name = xstrndup(words, strcspn(words, " "));
    bool inverts = strstr(words, " -v") || strstr(words, " -NotMatch");
    if (!strings_have(searches, name) || inverts || !strpbrk(words, "'\"")) {
        return false;
    }
    char *pattern = strpbrk(words, "'\""), *end = strchr(pattern + 1, *pattern);
    bool any_case = isupper((unsigned char)*name) || memmem(words, (size_t)(pattern - words), "i", 1);
    for (char *at = pattern + 1; end && at < end;) {
        size_t plain = strcspn(at, "|\\()'\"");
        autofree char *word = xstrndup(at, plain);
        if (plain && !strpbrk(word, "^$.*[]+?{}") &&
            (any_case ? strcasestr(line, word) : strstr(line, word))) {
            return true;
        }
        at += plain + 1;
    }
    return false;
}

/* It leaves the line out, if the output has it: not the end or the beginning of the output is
 * shown, nor what a search for the line finds. */
static bool hides(const char *text, const char *line) {
    static const char *const whole[] = {"tail", "head", "tee", "cat", "Select-Object", NULL};
    for (const char *at = pipe_of(text); *at; at = pipe_of(at + 1)) {
        const char *program = at + 1 + strspn(at + 1, " ");
        autofree char *name = xstrndup(program, strcspn(program, " );\n"));
        size_t len = (size_t)(pipe_of(program) - program);
        if (!strings_have(whole, name) && !would_show(program, len, line)) {
            return true;
        }
    }
    return false;
}

bool lesson_shows_all(const struct lesson_step *run) {
    return !(run->command.classes & COMMAND_MASKED) || (*pipe_of(run->text) && !hides(run->text, ""));
}

bool lesson_shows_end(const struct lesson_step *failed, const struct lesson_step *later,
                      const char *line) {
    if (!(later->command.classes & COMMAND_MASKED)) {
        return true;
    }
    return (failed->command.classes & COMMAND_MASKED) &&
           (!hides(later->text, line) || strcmp(pipe_of(failed->text), pipe_of(later->text)) == 0);
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
                        (whole || lesson_shows_end(&s->list[at], e, error->quote));
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

/* The "$name" of the word without which the error says it: "a/.tsx" of "a/$id.tsx". Or NULL. */
static char *expanded_name(const char *quote, const char *word) {
    const char *name = strchr(word, '$');
    size_t len = name ? 1 + strspn(name + 1, LETTERS "_") : 0;
    if (len < 2 || strspn(word, "'\"") > (size_t)(name - word)) {
        return NULL;
    }
    size_t open = strspn(word, "'\"");
    autofree char *read = xasprintf("%.*s%s", (int)(name - word - (ptrdiff_t)open), word + open, name + len);
    read[strcspn(read, "'\"")] = '\0';
    bool said = strlen(read) >= 2 * LEAST_LETTERS && strstr(quote, read);
    return said ? xstrndup(name, len) : NULL;
}

/* What a shell does to the words, or a harness with a call, is no sentence of the agent's: it is seen. */
static char *cause_of(const struct lesson_step *failed, const struct lesson_step *now) {
    autofree char *option = strcmp(failed->text, now->text) == 0 ? gained_option(failed, now) : NULL;
    if (option) {
        return xasprintf("The harness runs it where the call asks for `%s`.", option);
    }
    for (const char *at = failed->text; *at; at += strspn(at, " ")) {
        autofree char *word = xstrndup(at, strcspn(at, " "));
        autofree char *name = expanded_name(failed->errors[0].quote, word);
        if (name) {
            return xasprintf("The shell takes `%s` for a variable and leaves it out.", name);
        }
        at += strlen(word);
    }
    return NULL;
}

/* The error says a word that is spelt otherwise now, or a mark that is gone. */
static bool says_changed(const char *quote, const char *failed, const char *now) {
    autofree char *said = letters_of(quote), *later = xasprintf(" %s ", now);
    for (const char *at = failed; *at; at += strspn(at, " ")) {
        autofree char *word = xstrndup(at, strcspn(at, " ")), *letters = letters_of(word);
        autofree char *whole = xasprintf(" %s ", word);
        size_t len = strlen(letters);
        autofree char *name = expanded_name(quote, word);
        if (!strstr(later, whole) &&
            (name || (len >= LEAST_LETTERS ? strstr(said, letters) != NULL
                                                                 : !len && strstr(quote, word)))) {
            return true;
        }
        at += strlen(word);
    }
    return false;
}

/* The line of the output that quotes a mark between blanks which the later command is without:
 * "The token '&&' is not a valid statement separator". Or NULL. */
static char *line_of_mark(const struct lesson_step *failed, const char *now) {
    autofree char *later = xasprintf(" %s ", now);
    for (const char *at = failed->text; *at; at += strspn(at, " ")) {
        size_t len = strcspn(at, " ");
        autofree char *mark = xasprintf(" %.*s ", (int)len, at);
        autofree char *quoted = xasprintf("'%.*s'", (int)len, at);
        const char *said = strpbrk(mark, LETTERS) || strstr(later, mark) ? NULL : strstr(failed->output, quoted);
        at += len;
        if (said) {
            while (said > failed->output && said[-1] != '\n') {
                said--;
            }
            return lesson_cut(said, strcspn(said, "\n"), LESSON_MAX_LINE);
        }
    }
    return NULL;
}

/* One line, and no more than is needed to know it. */
static char *shortened(const char *text) {
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
    autofree char *option = NULL, *text = shortened(now->text);
    bool records = strstr(failed->text, "git ") != NULL; /* it keeps records of the work */
    if (strcmp(failed->text, now->text) == 0) {
        option = records ? NULL : gained_option(failed, now);
        return option ? xasprintf("%s  # %s", text, option) : NULL;
    }
    autofree char *here = from_anywhere(failed->text), *there = from_anywhere(now->text);
    bool plain = strlen(failed->text) <= MAX_TOLD && !strchr(failed->text, '\n') && strcmp(here, there) != 0;
    autofree char *mark = plain ? line_of_mark(failed, now->text) : NULL;
    bool explained = mark || (!records && says_changed(failed->errors[0].quote, failed->text, now->text));
    return plain && explained && !command_holds_prose(&failed->command) ? take(text) : NULL;
}

static const char *program_end(const char *text) {
    return text + strcspn(text, " \n");
}

/* The next run of the program, without the pattern that the shell did not find files for. Or 0. */
static size_t passed_without(const struct steps *s, size_t at, const char *pattern) {
    const struct lesson_step *failed = &s->list[at];
    size_t len = (size_t)(program_end(failed->text) - failed->text) + 1;
    for (size_t i = at + 1; i < s->count && i <= at + REACH; i++) {
        const struct lesson_step *e = &s->list[i];
        bool ran = e->kind == STEP_RUN && e->done;
        if (ran && strncmp(e->text, failed->text, len) == 0) {
            autofree char *bare = xasprintf(" %s ", pattern), *there = xasprintf("%s ", e->text);
            return !e->failed && !e->refused && e->output && *e->output && !strstr(there, bare) ? i : 0;
        }
        if (e->kind == STEP_EDIT || e->kind == STEP_USER || ran) {
            return 0;
        }
    }
    return 0;
}

/* What the shell made of the pattern is seen in what it says; the next run got by without. */
static void add_unmatched(struct lessons *l, const struct steps *s, size_t at) {
    const struct lesson_step *failed = &s->list[at];
    const char *quote = failed->errors[0].quote;
    autofree char *pattern = lesson_unmatched(failed->text, quote, strlen(quote));
    size_t end = pattern ? passed_without(s, at, pattern) : 0;
    if (!end || strlen(failed->text) > MAX_TOLD || strlen(s->list[end].text) > MAX_TOLD) {
        return;
    }
    const struct lesson_step *now = &s->list[end];
    struct lesson *fix = lesson_list_add(&l->fixes);
    *fix = (struct lesson){.key = xstrdup(failed->errors[0].normal),
                           .quote = xstrdup(quote),
                           .context = shortened(failed->text),
                           .verified_by = shortened(now->text),
                           .cause = xasprintf("The shell takes `%s`, which is not in quotes, for a pattern of "
                                              "file names and finds none.", pattern),
                           .seen = 1};
    struct lesson_change *c = lesson_add_change(fix, CHANGE_COMMAND);
    c->from = xstrdup(fix->context);
    c->to = shortened(now->text);
    lessons_add_evidence(&fix->evidence, s->trace, failed->result_event, EVIDENCE_ERROR);
    lessons_add_evidence(&fix->evidence, s->trace, now->event, EVIDENCE_CHANGE);
    lessons_add_evidence(&fix->evidence, s->trace, now->result_event, EVIDENCE_PROOF);
}

void lessons_find_again(struct lessons *l, const struct steps *s, size_t at) {
    const struct lesson_step *failed = &s->list[at];
    bool told = failed->kind == STEP_RUN && failed->failed && failed->error_count &&
                l->fixes.count < LESSONS_MAX_FIXES &&
                !lesson_list_find(&l->fixes, failed->errors[0].normal);
    size_t end = told ? passed_again(s, at) : 0;
    char *to = end ? written_now(failed, &s->list[end]) : NULL;
    if (!to) {
        if (told) {
            add_unmatched(l, s, at);
        }
        return;
    }
    const struct lesson_step *now = &s->list[end];
    struct lesson *fix = lesson_list_add(&l->fixes);
    char *mark = strcmp(failed->text, now->text) ? line_of_mark(failed, now->text) : NULL;
    *fix = (struct lesson){.key = xstrdup(failed->errors[0].normal),
                           .quote = mark ? mark : xstrdup(failed->errors[0].quote),
                           .context = shortened(failed->text),
                           .verified_by = shortened(now->text),
                           .cause = cause_of(failed, now),
                           .seen = 1};
    fix->changes = xcalloc(1, sizeof *fix->changes);
    fix->change_count = 1;
    *fix->changes = (struct lesson_change){
        .kind = CHANGE_COMMAND, .from = xstrdup(fix->context), .to = to};
    lessons_add_evidence(&fix->evidence, s->trace, failed->result_event, EVIDENCE_ERROR);
    lessons_add_evidence(&fix->evidence, s->trace, now->event, EVIDENCE_CHANGE);
    lessons_add_evidence(&fix->evidence, s->trace, now->result_event, EVIDENCE_PROOF);
}
