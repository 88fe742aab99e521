#include "gpu/source/host_guesses.h"

#include "base/find.h"
#include "gpu/source/host_launch_text.h"
#include "gpu/source/source_set.h"

#define CHOICES 3

/* What a kernel for tensors' types is most often made for comes first. */
static const char *type_of_choice(const struct host_guesses *g, char hole,
                                  unsigned choice) {
    const char *const types[][CHOICES] = {{"float", g->half, "int"},
                                          {"int", "long long", "long long"}};
    return choice < CHOICES ? types[hole == GUESS_INTEGRAL[0]][choice] : NULL;
}

bool host_guess_is(const char *expression) {
    return strpbrk(expression, GUESS_FLOATING GUESS_INTEGRAL) != NULL;
}

bool host_guess_spoils(const char *text, size_t len) {
    return memchr(text, GUESS_FLOATING[0], len) || memchr(text, GUESS_INTEGRAL[0], len);
}

char *host_guess_text(const struct host_guesses *g, const char *expression,
                      unsigned choice) {
    char *ret = xstrdup(expression);
    for (size_t at; ret[at = strcspn(ret, GUESS_FLOATING GUESS_INTEGRAL)];) {
        const char *type = type_of_choice(g, ret[at], choice);
        char *filled =
            type ? xasprintf("%.*s%s%s", (int)at, ret, type, ret + at + 1) : NULL;
        free(ret);
        ret = filled;
        if (!ret) {
            return NULL;
        }
    }
    return ret;
}

void host_guesses_add(struct host_guesses *g, const struct host_guess *guess) {
    g->list = xreallocarray(g->list, g->count + 1, sizeof *g->list);
    g->list[g->count] = *guess;
    g->list[g->count].expression = xstrdup(guess->expression);
    g->list[g->count++].file = SIZE_MAX;
}

void host_guesses_keep_file(struct host_guesses *g, size_t file, const char *text,
                            size_t len) {
    bool any = false;
    for (size_t i = 0; i < g->count; i++) {
        if (g->list[i].file == SIZE_MAX) {
            g->list[i].file = file;
            any = true;
        }
    }
    if (any) {
        char *copy = xmalloc(len + 1);
        memcpy(copy, text, len);
        g->files = xreallocarray(g->files, g->file_count + 1, sizeof *g->files);
        g->files[g->file_count++] =
            (struct guessless){.file = file, .len = len, .text = copy};
    }
}

char *host_guesses_text(const struct host_guesses *g, size_t file) {
    size_t at = first_of(i, 0, g->file_count, g->files[i].file == file);
    return at < g->file_count ? g->files[at].text : NULL;
}

unsigned host_guesses_choices(const struct host_guesses *g) {
    return g->count ? CHOICES : 0;
}

bool host_guesses_write(const struct host_guesses *g, struct source_set *sources,
                        unsigned choice) {
    for (size_t i = 0; i < g->file_count; i++) {
        memcpy(sources->files[g->files[i].file].text, g->files[i].text, g->files[i].len);
    }
    for (size_t i = 0; i < g->count && choice != HOST_GUESSES_NONE; i++) {
        const struct host_guess *guess = &g->list[i];
        autofree char *expression = host_guess_text(g, guess->expression, choice);
        bool written = expression && host_launch_text_write(
                                         sources->files[guess->file].text, expression,
                                         guess->line, guess->from, guess->to);
        if (!written && choice > 0) {
            host_guesses_write(g, sources, HOST_GUESSES_NONE);
            return false;
        }
    }
    return true;
}

void host_guesses_finish(struct host_guesses *g) {
    for (size_t i = 0; i < g->count; i++) {
        free(g->list[i].expression);
    }
    for (size_t i = 0; i < g->file_count; i++) {
        free(g->files[i].text);
    }
    free(g->list);
    free(g->files);
    *g = (struct host_guesses){0};
}
