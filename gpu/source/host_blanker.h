#pragma once
/* host_blanker: decides which declarations of a source are host code, and which parts of
 * them the device needs nevertheless. Part of host_code. */
#include "gpu/source/host_declarations.h"

struct host_blanker {
    struct code_tokens tokens;
    struct space_macros macros;
    struct declarations declarations;
    bool *goes; /* one for each declaration: it is blanked */
    /* of a type that stays: the variables declared after it are blanked */
    bool *tail_goes;
    bool *body_goes; /* of a function that stays: its body is blanked */
    bool needs_default_device;
    bool using_std;         /* "using namespace std;" was seen */
    uint32_t *device_words; /* the number of execution spaces before token i */
    struct name_set gone_types, gone_values; /* values: functions and variables */
};

/* known: macros of the other files, may be NULL. -E2BIG: too many tokens, do not
 * blank. */
int host_blanker_init(struct host_blanker *b, const char *text, size_t len, size_t max,
                      const struct space_macros *known);
void host_blanker_finish(struct host_blanker *b);
/* Sets goes, tail_goes and body_goes. */
void host_blanker_judge(struct host_blanker *b);
/* `__devcie__`: a misspelt execution space; its declaration stays, so that the compiler
 * reports it. */
bool host_blanker_has_unknown_space(const struct host_blanker *b,
                                    const struct declaration *d);

/* Instantiations of template kernels that host code requests. */
struct host_launch {
    char *expression;   /* "ns::k<float, 256>" */
    size_t declaration; /* that contains the request */
    size_t offset;      /* of the request */
    bool borrowed; /* the kernel, or a host template on the way to it, is before `base` */
    size_t scope;  /* the innermost namespace whose names it may use */
};
struct host_launches {
    struct host_launch *list;
    size_t count;
};
struct host_macros;
/* known: macros of the other files, may be NULL. base: the offset of the file's own text,
 * after the texts of its headers; 0 without those. If it is not 0, no types are guessed,
 * and requests of the headers themselves are left out. */
void host_launches_collect(struct host_launches *ret, const struct host_blanker *b,
                           const struct host_macros *known, size_t base);
struct host_guesses;
/* Writes them as static assertions into text, which is already blanked; those without
 * room go after the unit's last line, if `behind` is not NULL. Those with types to guess
 * go to `guesses` instead. */
void host_launches_write(const struct host_launches *launches,
                         const struct host_blanker *b, char *text,
                         struct host_guesses *guesses, struct buf *behind);
void host_launches_finish(struct host_launches *launches);

static inline enum code_word word_at(const struct host_blanker *b, size_t i) {
    return b->tokens.list[i < b->tokens.count ? i : b->tokens.count].word;
}
