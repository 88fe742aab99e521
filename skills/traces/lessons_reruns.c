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
        bool option = word[0] == '-' || value || strchr(word, '=');
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

/* "pytest: command not found", "not found: pytest": of the program itself. */
static bool is_missing(const char *quote, const char *program) {
    autofree char *behind = xasprintf("%s: command not found", program);
    autofree char *short_form = xasprintf("%s: not found", program);
    autofree char *before = xasprintf("not found: %s", program);
    return *program && !strchr(program, '/') &&
           (strstr(quote, behind) || strstr(quote, short_form) || strstr(quote, before));
}

const char *lesson_elsewhere(const struct lesson_step *failed,
                             const struct lesson_step *later) {
    const char *part = failed->command.count ? lesson_failed_part(failed) : "";
    autofree char *program = xstrndup(part, strcspn(part, BETWEEN_WORDS));
    const char *quote = failed->error_count ? failed->errors[0].quote : "";
    return is_missing(quote, program)
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
