/* Which room in host code an instantiation gets. */
#include "base/find.h"
#include "gpu/source/host_behind.h"
#include "gpu/source/host_guesses.h"
#include "gpu/source/host_launch_text.h"

static bool is_duplicate(const struct host_launches *l, size_t i) {
    return any_of(k, 0, i, strcmp(l->list[k].expression, l->list[i].expression) == 0);
}

/* template __global__ void k<half>(…); */
static bool is_instantiated(const struct host_blanker *b, const struct declaration *d) {
    size_t i = d->first;
    while (i < d->name && b->tokens.list[i].word != WORD_TEMPLATE) {
        i++;
    }
    return d->kind == DECLARATION_FUNCTION && d->has_global && d->has_template &&
           !d->body && i < d->name && b->tokens.list[i + 1].word != WORD_LESS;
}

/* Whether the source says elsewhere with which types the kernel is wanted. */
static bool is_told(const struct host_launches *l, const struct host_blanker *b,
                    const char *guess) {
    size_t len = strcspn(guess, "<");
    for (size_t i = 0; i < l->count; i++) {
        const char *other = l->list[i].expression;
        if (strncmp(other, guess, len + 1) == 0 && !host_guess_is(other)) {
            return true;
        }
    }
    list_each(i, d, b->declarations.list, b->declarations.count) {
        if (is_instantiated(b, d)) {
            autofree char *name = host_qualified_name(&b->tokens, &b->declarations, d);
            if (strlen(name) == len && memcmp(name, guess, len) == 0) {
                return true;
            }
        }
    }
    return false;
}

/* On the launch's own line where it fits, else from there on, else anywhere in what went.
 */
static struct host_guess room_of(const struct host_launch *launch,
                                 const struct host_blanker *b, const char *text) {
    const struct declaration *d = &b->declarations.list[launch->declaration];
    struct host_guess ret = {.expression = launch->expression,
                             .offset = launch->offset,
                             .line = launch->offset,
                             .from = b->tokens.list[d->first].start,
                             .to = b->tokens.list[d->last].end};
    while (ret.line > ret.from && text[ret.line - 1] != '\n') {
        ret.line--;
    }
    return ret;
}

/* Whether the file declares at `from` or behind it what the expression names. */
static bool is_too_early(const struct host_blanker *b, size_t from,
                         const struct code_tokens *expression) {
    for (size_t i = from; i < b->declarations.count; i++) {
        const struct declaration *d = &b->declarations.list[i];
        uint64_t name = d->name ? code_token_hash(&b->tokens, d->name) : 0;
        for (size_t k = 0; d->name && k < expression->count; k++) {
            if (expression->list[k].word == WORD_NAME &&
                code_token_hash(expression, k) == name) {
                return true;
            }
        }
    }
    return false;
}

#define ROOMS_MAX 64     /* tried for one launch */
#define ELSEWHERE_MAX 32 /* of a file: each costs the compiler time */

/* An explicit instantiation of a host template may ask for more than its own line holds:
 * other host code of the same scope that went has room, behind it or before. */
static bool write_elsewhere(const struct host_launch *launch,
                            const struct host_blanker *b, char *text) {
    size_t count = b->declarations.count, own = launch->declaration;
    const struct declaration *list = b->declarations.list;
    struct code_tokens words;
    if (code_tokens_read(&words, launch->expression, strlen(launch->expression)) < 0) {
        return false;
    }
    bool written = false;
    for (size_t n = 1, tried = 0; n < count && tried < ROOMS_MAX && !written; n++) {
        size_t i = own + n < count ? own + n : count - 1 - n;
        size_t from = b->tokens.list[list[i].first].start,
               to = b->tokens.list[list[i].last].end;
        if (b->goes[i] && list[i].scope == list[own].scope &&
            list[i].parent == SIZE_MAX && !is_too_early(b, i + 1, &words)) {
            written = host_launch_text_write(text, launch->expression, from, from, to);
            tried++;
        }
    }
    code_tokens_finish(&words);
    return written;
}

/* Where it stood, else in other host code, else behind all. */
static void write_one(const struct host_launch *launch, const struct host_blanker *b,
                      char *text, unsigned *elsewhere, struct buf *behind) {
    struct host_guess room = room_of(launch, b, text);
    if (host_launch_text_write(text, room.expression, room.line, room.from, room.to) ||
        *elsewhere >= ELSEWHERE_MAX) {
        return;
    }
    *elsewhere += write_elsewhere(launch, b, text) ||
                  (behind && host_behind_add(behind, b, launch, 0));
}

void host_launches_write(const struct host_launches *launches,
                         const struct host_blanker *b, char *text,
                         struct host_guesses *guesses, struct buf *behind) {
    unsigned elsewhere = 0;
    list_each(i, launch, launches->list, launches->count) {
        if (is_duplicate(launches, i)) {
            continue;
        }
        if (!host_guess_is(launch->expression)) {
            write_one(launch, b, text, &elsewhere, behind);
        } else if (!is_told(launches, b, launch->expression)) {
            struct host_guess room = room_of(launch, b, text);
            host_guesses_add(guesses, &room);
        }
    }
}
