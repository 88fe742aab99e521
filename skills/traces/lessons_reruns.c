/* Whether a command is the one that failed, run again: with other options, from elsewhere. */
#include "skills/traces/lessons_internal.h"

#include "base/buf.h"
#include "base/file.h"
#include "base/find.h"
#include "base/text.h"

#define MAX_CHANGED_WORDS 4u
#define MAX_LINE 600u /* bytes of a command that is told */
#define MAX_WORD 80u
#define SCRIPT_LINES 3u /* of a command that is a script of its own */
#define SCRIPT_STEPS 16 /* until it is typed anew: each pair within them is compared */
#define MAX_SCRIPT 64u  /* lines */

bool lesson_has_error(const struct lesson_step *s, const char *normal) {
    return any_of(i, 0, s->error_count, strcmp(s->errors[i].normal, normal) == 0);
}

bool lesson_shows(const struct lesson_step *s, const struct lesson_error *error) {
    return lesson_has_error(s, error->normal) ||
           (s->output && strstr(s->output, error->quote));
}

void list_words(struct word_list *ret, const char *part) {
    ret->count = 0;
    while (*part && ret->count < MAX_LISTED_WORDS) {
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

/* a has targets behind the program and its subcommand, and b has all of them. */
static bool keeps_targets(const struct word_list *a, const struct word_list *b) {
    return a->count > 2 && a->words[a->count - 1][0] != '-' &&
           !any_of(i, 1, a->count, a->words[i][0] != '-' &&
                                       !has_word(b, i, a->words[i], a->lens[i]));
}

/* The folder "tests/" covers "tests/a.py", and a command without targets all. */
static bool is_covered(const struct word_list *by, const char *word, size_t len) {
    return any_of(i, 1, by->count,
                  by->lens[i] && by->lens[i] < len && memcmp(by->words[i], word, by->lens[i]) == 0 &&
                      (by->words[i][by->lens[i] - 1] == '/' || word[by->lens[i]] == '/'));
}

static bool covers(const struct word_list *l, const char *word, size_t len) {
    return any_of(i, 1, l->count, is_covered(&(struct word_list){.words = {"", word},
                                                                 .lens = {0, len},
                                                                 .count = 2},
                                             l->words[i], l->lens[i]));
}

/* The options of a that b lacks, with their values, a blank before each. Other words must
 * stand in `told`, or do not matter (NULL). 0 when the words are many, long or of another kind. */
static unsigned missing_words(struct buf *out, const struct word_list *a,
                              const struct word_list *b, const char *told) {
    unsigned count = 0, kinds = DIFFERENCE_SMALL;
    for (size_t i = 0; i < a->count; i++) {
        if (has_word(b, i, a->words[i], a->lens[i]) ||
            is_covered(b, a->words[i], a->lens[i]) || covers(b, a->words[i], a->lens[i])) {
            continue;
        }
        autofree char *word = xstrndup(a->words[i], a->lens[i]);
        bool value = i > 0 && a->words[i - 1][0] == '-' &&
                     (!has_word(b, i - 1, a->words[i - 1], a->lens[i - 1]) ||
                      (a->words[i - 1][1] == '-' && !strpbrk(word, "/.")));
        bool option = word[0] == '-' || value || strchr(word, '=') || strcmp(word, "sudo") == 0;
        if (!option && !told) {
            continue; /* one target more */
        }
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
    unsigned came = missing_words(added, &b, &a, keeps_targets(&a, &b) ? NULL : told);
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

static char *first_word(const char *part) {
    return xstrndup(part, strcspn(part, BETWEEN_WORDS));
}

/* Whether the text has it between blanks. */
static bool has_blank_word(const char *text, const char *word) {
    size_t len = strlen(word);
    for (const char *at = text; (at = strstr(at, word)); at += len) {
        if ((at == text || strchr(" (", at[-1])) && strchr(" \n", at[len])) {
            return true;
        }
    }
    return false;
}

char *lesson_wrapped(const struct lesson_step *failed, const struct lesson_step *later) {
    const char *quote = failed->error_count ? failed->errors[0].quote : "";
    const char *part = lesson_failed_part(failed);
    autofree char *program = first_word(part);
    for (const char *at = failed->text; *at; at += strcspn(at, " "), at += strspn(at, " ")) {
        autofree char *word = xstrndup(at, strcspn(at, " "));
        size_t len = strcspn(at, "|&;\n>");
        len -= at[len] == '>' && len && at[len - 1] == '2'; /* "2> file" */
        autofree char *command = lesson_cut(at, len, MAX_LINE);
        if (strcmp(word, program) != 0 && is_about_program(quote, word) &&
            has_blank_word(command, program) && !has_blank_word(later->text, word)) {
            return take(command);
        }
    }
    return NULL;
}

/* What the program was to run, run without it: `srun -c 4 ./a` and `./a`. */
static const char *without_program(const char *part, const struct command *later) {
    for (size_t i = 0; i < later->count; i++) {
        size_t len = strlen(part), tail = strlen(later->parts[i]);
        if (tail < len && strchr(later->parts[i], *BETWEEN_WORDS) &&
            part[len - tail - 1] == *BETWEEN_WORDS &&
            strcmp(part + len - tail, later->parts[i]) == 0) {
            return later->parts[i];
        }
    }
    return NULL;
}

const char *lesson_elsewhere(const struct lesson_step *failed,
                             const struct lesson_step *later) {
    const char *part = failed->command.count ? lesson_failed_part(failed) : "";
    autofree char *program = first_word(part);
    const char *quote = failed->error_count ? failed->errors[0].quote : "";
    if (strchr(program, '/') || !is_about_program(quote, program)) {
        return NULL;
    }
    const char *without = without_program(part, &later->command);
    return without ? without : command_elsewhere(&failed->command, &later->command);
}

const char *lesson_rerun_part(const struct lesson_step *failed,
                              const struct lesson_step *later) {
    const char *part = command_same(&failed->command, &later->command);
    part = part ? part : lesson_elsewhere(failed, later);
    return part ? part : command_like(&failed->command, &later->command);
}

/* The command's text from its last program on, each statement on a line of its own. */
static char *script_of(const struct lesson_step *s) {
    autofree char *program = s->command.count ? first_word(lesson_failed_part(s)) : NULL;
    const char *from = program ? strstr(s->text, program) : NULL;
    char *text = xstrdup(from ? from : "");
    for (char *c = text; !strchr(text, '\n') && (c = strstr(c, "; "));) {
        c[1] = '\n';
    }
    return text;
}

char *lesson_rewritten(const struct lesson_step *failed, const struct lesson_step *later) {
    ptrdiff_t apart = later > failed ? later - failed : failed - later;
    if (!failed->command.count || !later->command.count || apart > SCRIPT_STEPS) {
        return NULL;
    }
    autofree char *program = first_word(lesson_failed_part(failed));
    autofree char *again = first_word(lesson_failed_part(later));
    if (strcmp(program, again) != 0) {
        return NULL;
    }
    autofree char *old = script_of(failed), *now = script_of(later);
    size_t lines = text_count(old, strlen(old), '\n');
    if (lines < SCRIPT_LINES || lines > MAX_SCRIPT ||
        text_count(now, strlen(now), '\n') < SCRIPT_LINES) {
        return NULL;
    }
    autofree char *diff = lesson_diff(old, now, 2 * LESSON_MAX_CHANGE);
    size_t gone = 0, come = 0;
    for (const char *s = diff; *s; s = text_next_line(s)) {
        gone += *s == '-';
        come += *s == '+';
    }
    bool few = gone && 2 * gone <= lines && come <= lines && strlen(diff) <= LESSON_MAX_CHANGE;
    return few ? take(diff) : NULL;
}

/* An option's value is among the words, each behind a blank; a setting in front is none. */
static bool has_value(const char *words) {
    for (const char *at = words; *at; at += strcspn(at, " "), at += strspn(at, " ")) {
        bool option = *at == '-', set = memchr(at, '=', strcspn(at, " "));
        if (*at != ' ' && option == set) {
            return true;
        }
    }
    return false;
}

/* Another value for the same option, which no error speaks of: it runs something else. */
static bool runs_other(const struct lesson_step *failed, const char *gone, const char *added) {
    return has_value(gone) && has_value(added) &&
           !any_of(i, 0, failed->error_count,
                   lesson_names(failed->errors[i].quote, gone, "") ||
                       lesson_names(failed->errors[i].quote, added, ""));
}

bool lesson_is_rerun(const struct lesson_step *failed, const struct lesson_step *later) {
    autobuf gone = BUF_INIT(64u << 10), added = BUF_INIT(64u << 10);
    const char *like = command_like(&failed->command, &later->command);
    autofree char *rewritten = NULL;
    return command_same(&failed->command, &later->command) || lesson_elsewhere(failed, later) ||
           (rewritten = lesson_rewritten(failed, later)) ||
           (like && command_difference(&gone, &added, lesson_failed_part(failed), like,
                                       failed->output ? failed->output : "") &&
            !runs_other(failed, gone.len ? gone.data : "", added.len ? added.data : ""));
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

bool command_part_holds_prose(const char *part) {
    struct word_list l;
    list_words(&l, part);
    for (size_t k = 0; k < l.count; k++) {
        const char *word = l.words[k];
        bool code = memchr(word, '=', l.lens[k]) || memchr(word, ';', l.lens[k]);
        if ((text_count(word, l.lens[k], ' ') >= 3 && !code) ||
            memchr(word, '\n', l.lens[k]) || memchr(word, '(', l.lens[k])) {
            return true;
        }
    }
    return false;
}

bool command_holds_prose(const struct command *c) {
    return any_of(i, 0, c->count, command_part_holds_prose(c->parts[i]));
}
