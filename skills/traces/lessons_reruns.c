/* Whether a command is the one that failed, run again: with other options, from elsewhere. */
#include "skills/traces/lessons_internal.h"

#include "base/buf.h"
#include "base/find.h"
#include "base/text.h"

#define MAX_CHANGED_WORDS 4u
#define MAX_WORD 80u

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

static char *first_word(const char *part) {
    return xstrndup(part, strcspn(part, BETWEEN_WORDS));
}

const char *lesson_elsewhere(const struct lesson_step *failed,
                             const struct lesson_step *later) {
    const char *part = failed->command.count ? lesson_failed_part(failed) : "";
    autofree char *program = first_word(part);
    const char *quote = failed->error_count ? failed->errors[0].quote : "";
    if (strchr(program, '/') || !is_about_program(quote, program)) {
        return NULL;
    }
    return command_elsewhere(&failed->command, &later->command);
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
