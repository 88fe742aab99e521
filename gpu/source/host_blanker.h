#pragma once
/* host_blanker: which declarations of a source are the host's, and what of them the
 * device needs all the same. Part of host_code. */
#include "gpu/source/host_declarations.h"

struct host_blanker {
    struct code_tokens tokens;
    struct space_macros macros;
    struct declarations declarations;
    bool *goes;      /* one for each declaration */
    bool *tail_goes; /* of a type that stays: the variables declared behind it */
    bool *body_goes; /* of a function that stays */
    bool needs_default_device;
    bool using_std;         /* "using namespace std;" was seen */
    uint32_t *device_words; /* how many execution spaces stand before token i */
    struct name_set gone_types, gone_values; /* values: functions and variables */
};

/* known: macros of the other files, may be NULL. -E2BIG: too many tokens, leave it alone.
 */
int host_blanker_init(struct host_blanker *b, const char *text, size_t len, size_t max,
                      const struct space_macros *known);
void host_blanker_finish(struct host_blanker *b);
/* Fills goes. */
void host_blanker_judge(struct host_blanker *b);
/* `__devcie__`: a misspelt execution space; its declaration stays, so that the compiler
 * says so. */
bool host_blanker_has_unknown_space(const struct host_blanker *b,
                                    const struct declaration *d);

/* Instantiations of template kernels that host code asked for. */
struct host_launch {
    char *expression;   /* "ns::k<float, 256>" */
    size_t declaration; /* that it was found in */
    size_t offset;      /* where it stood */
    bool borrowed; /* from before `base`: the kernel, or a host template it came by */
    size_t scope;  /* the innermost of the namespaces whose names it may use */
};
struct host_launches {
    struct host_launch *list;
    size_t count;
};
struct host_macros;
/* known: macros of the other files, may be NULL. base: where the text of the file itself
 * begins, 0 but where those of its headers stand before it; nothing is guessed then, and
 * what the headers ask for themselves is left out. */
void host_launches_collect(struct host_launches *ret, const struct host_blanker *b,
                           const struct host_macros *known, size_t base);
struct host_guesses;
struct buf;
/* Write them as static assertions into text, blanked by now; what has no room goes behind
 * the unit's last line, if `behind` is not NULL. Those whose types are to be guessed go
 * to `guesses` instead. */
void host_launches_write(const struct host_launches *launches,
                         const struct host_blanker *b, char *text,
                         struct host_guesses *guesses, struct buf *behind);
void host_launches_finish(struct host_launches *launches);
