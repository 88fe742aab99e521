/* Whether a command is the one that failed, run again: with other options, from elsewhere. */
#include "skills/traces/lessons_internal.h"

#include "base/buf.h"
#include "base/mem.h"

#include <string.h>

#define MAX_WORDS 64
#define MAX_CHANGED_WORDS 4u
#define MAX_WORD 80u

struct word_list {
    const char *words[MAX_WORDS];
    size_t lens[MAX_WORDS], count;
};

static void list_words(struct word_list *ret, const char *part) {
    ret->count = 0;
    while (*part && ret->count < MAX_WORDS) {
        size_t len = strcspn(part, BETWEEN_WORDS);
        ret->words[ret->count] = part;
        ret->lens[ret->count++] = len;
        part += len + (part[len] != '\0');
    }
}

static bool is_word(const struct word_list *l, size_t i, const char *word, size_t len) {
    return i < l->count && l->lens[i] == len && memcmp(l->words[i], word, len) == 0;
}

/* near: where it stands if nothing has moved. */
static bool has_word(const struct word_list *l, size_t near, const char *word,
                     size_t len) {
    bool found = is_word(l, near, word, len);
    for (size_t i = 0; i < l->count && !found; i++) {
        found = is_word(l, i, word, len);
    }
    return found;
}

/* The options of a that b lacks, with their values, a blank before each. Other words must
 * stand in `told`. 0 when the words are many, long or of another kind. */
static unsigned missing_words(struct buf *out, const struct word_list *a,
                              const struct word_list *b, const char *told) {
    unsigned count = 0, kinds = DIFFERENCE_SMALL;
    for (size_t i = 0; i < a->count; i++) {
        if (has_word(b, i, a->words[i], a->lens[i])) {
            continue;
        }
        autofree char *word = xstrndup(a->words[i], a->lens[i]);
        bool value = i > 0 && a->words[i - 1][0] == '-' &&
                     (!has_word(b, i - 1, a->words[i - 1], a->lens[i - 1]) ||
                      (a->words[i - 1][1] == '-' && !strpbrk(word, "/.")));
        bool option = word[0] == '-' || value || strchr(word, '=') || strcmp(word, "sudo") == 0;
        if (++count > MAX_CHANGED_WORDS || a->lens[i] > MAX_WORD || strchr(word, '\n') ||
            strchr(word, ' ') || (!option && !strstr(told, word))) {
            return 0;
        }
        buf_addf(out, "%s%s", option ? " " : "", option ? word : "");
        kinds |= option ? DIFFERENCE_OPTION : DIFFERENCE_TARGET;
    }
    return kinds;
}

unsigned command_difference(struct buf *gone, struct buf *added, const char *failed,
                            const char *later, const char *told) {
    struct word_list a, b;
    list_words(&a, failed);
    list_words(&b, later);
    unsigned left = missing_words(gone, &a, &b, told);
    unsigned came = missing_words(added, &b, &a, told);
    return left && came ? left | came : 0;
}

const char *lesson_failed_part(const struct lesson_step *s) {
    return s->command.parts[s->command.count - 1];
}

/* "pytest: command not found", "C:\\bin\\npm.ps1 cannot be loaded": of the program itself. */
static bool is_about_program(const char *quote, const char *program) {
    size_t len = strlen(program);
    for (const char *at = quote; len && (at = strstr(at, program)); at += len) {
        bool begins = at == quote || strchr(" '\"`:/\\", at[-1]);
        if (begins && strchr(" '\"`:.", at[len])) {
            return true;
        }
    }
    return false;
}

const char *lesson_elsewhere(const struct lesson_step *failed,
                             const struct lesson_step *later) {
    const char *part = failed->command.count ? lesson_failed_part(failed) : "";
    autofree char *program = xstrndup(part, strcspn(part, BETWEEN_WORDS));
    const char *quote = failed->error_count ? failed->errors[0].quote : "";
    return !strchr(program, '/') && is_about_program(quote, program)
               ? command_elsewhere(&failed->command, &later->command)
               : NULL;
}

const char *lesson_rerun_part(const struct lesson_step *failed,
                              const struct lesson_step *later) {
    const char *part = command_same(&failed->command, &later->command);
    part = part ? part : lesson_elsewhere(failed, later);
    return part ? part : command_like(&failed->command, &later->command);
}

bool lesson_is_rerun(const struct lesson_step *failed, const struct lesson_step *later) {
    autobuf gone = BUF_INIT(64u << 10), added = BUF_INIT(64u << 10);
    const char *like = command_like(&failed->command, &later->command);
    return command_same(&failed->command, &later->command) || lesson_elsewhere(failed, later) ||
           (like && command_difference(&gone, &added, lesson_failed_part(failed), like,
                                     failed->output ? failed->output : ""));
}

/* The words at which the two differ, if it is one, names both, and no file or number that
 * only this run had. */
static bool one_differs(const char *failed, const char *later, char **ret_gone,
                        char **ret_came) {
    struct word_list a, b;
    size_t differ = 0;
    list_words(&a, failed);
    list_words(&b, later);
    for (size_t i = 0; a.count == b.count && i < a.count; i++) {
        if (!is_word(&b, i, a.words[i], a.lens[i])) {
            free(take(*ret_gone));
            free(take(*ret_came));
            *ret_gone = xstrndup(a.words[i], a.lens[i]);
            *ret_came = xstrndup(b.words[i], b.lens[i]);
            differ++;
        }
    }
    bool names = differ == 1 && strpbrk(*ret_gone, "-_@") && strpbrk(*ret_came, "-_@");
    return names && **ret_came != '-' && !strpbrk(*ret_came, " 0123456789\n") &&
           (**ret_came == '@' || !strpbrk(*ret_came, "/\\."));
}

/* An error speaks of the word itself, not of a path with it. */
static bool is_quoted(const struct lesson_step *failed, const char *word) {
    size_t len = strlen(word);
    for (size_t i = 0; i < failed->error_count; i++) {
        const char *quote = failed->errors[i].quote;
        for (const char *at = quote; (at = strstr(at, word)); at += len) {
            if ((at == quote || strchr(" '\"`=", at[-1])) && strchr(" '\"`@,:", at[len])) {
                return true;
            }
        }
    }
    return false;
}

const char *lesson_looked_up(const struct steps *s, size_t failed, size_t later) {
    const struct lesson_step *f = &s->list[failed], *l = &s->list[later];
    const char *like = command_like(&f->command, &l->command);
    autofree char *gone = NULL, *came = NULL;
    if (!like || !one_differs(lesson_failed_part(f), like, &gone, &came) ||
        !is_quoted(f, gone)) {
        return NULL;
    }
    for (size_t i = failed + 1; i < later; i++) {
        const struct lesson_step *e = &s->list[i];
        if (step_is_run(e) && e->output && strstr(e->output, came)) {
            return like;
        }
    }
    return NULL;
}

bool command_holds_prose(const struct command *c) {
    for (size_t i = 0; i < c->count; i++) {
        struct word_list l;
        list_words(&l, c->parts[i]);
        for (size_t k = 0; k < l.count; k++) {
            size_t blanks = 0;
            for (size_t n = 0; n < l.lens[k]; n++) {
                blanks += l.words[k][n] == ' ';
            }
            bool code =
                memchr(l.words[k], '=', l.lens[k]) || memchr(l.words[k], ';', l.lens[k]);
            if ((blanks >= 3 && !code) || memchr(l.words[k], '\n', l.lens[k]) ||
                memchr(l.words[k], '(', l.lens[k])) {
                return true;
            }
        }
    }
    return false;
}
