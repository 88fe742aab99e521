#include "gpu/source/std_names.h"

#include "base/mem.h"
#include "gpu/source/source_set.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

/* g++'s <cmath>, <cstdlib> and <utility>, which nvcc has read, bring these along. They
 * are types and constants: std::max and numeric_limits<T>::max are functions of the host,
 * which nvcc lets kernels call with --expt-relaxed-constexpr alone. A name stands for
 * those with "_t" and "_v" behind it too, one ending in '*' for all that begin so. The
 * first that fits counts. */
#define QUOTED(name) #name,
static const struct std_names {
    const char *shim;
    const char *header; /* a source that includes it needs nothing of ours */
    const char *names[32];
} std_names[] = {
    {STD_NAMES_TRAITS,
     "<type_traits>",
     {STD_LIGHT_TRAITS(QUOTED) "true_type", "false_type", "bool_constant"}},
    {"type_traits",
     "<type_traits>",
     {"is_*", "remove_*", "add_*", "make_signed", "make_unsigned", "common_type",
      "invoke_result", "void_t", "conjunction", "disjunction", "negation", "extent",
      "rank", "alignment_of"}},
    {"utility",
     "<utility>",
     {"declval", "integer_sequence", "index_sequence", "make_integer_sequence",
      "make_index_sequence", "index_sequence_for"}},
};

static bool name_fits(const char *name, size_t len, const char *pattern) {
    size_t n = strlen(pattern);
    if (pattern[n - 1] == '*') {
        return len >= n && strncmp(name, pattern, n - 1) == 0;
    }
    bool bare =
        len == n + 2 && name[n] == '_' && (name[n + 1] == 't' || name[n + 1] == 'v');
    return (len == n || bare) && strncmp(name, pattern, n) == 0;
}

static unsigned wanted_for(const char *name, size_t len) {
    for (size_t i = 0; i < ARRAY_LEN(std_names); i++) {
        for (const char *const *p = std_names[i].names; *p; p++) {
            if (name_fits(name, len, *p)) {
                return 1u << i;
            }
        }
    }
    return 0;
}

static bool is_word(char c) {
    return isalnum((unsigned char)c) || c == '_';
}

/* Does "std" at `at` stand within another scope, as in cuda::std? "::std" does not. */
static bool is_inner(const char *text, const char *at) {
    if (at - text >= 2 && at[-1] == ':' && at[-2] == ':') {
        at -= 2;
        return at > text && (is_word(at[-1]) || at[-1] == '>');
    }
    return at > text && is_word(at[-1]);
}

static unsigned wanted_in(const char *text, size_t len) {
    static const char scope[] = "std::";
    const char *end = text + len, *at = text;
    unsigned ret = 0;
    while ((at = memmem(at, (size_t)(end - at), scope, sizeof scope - 1))) {
        bool inner = is_inner(text, at);
        const char *name = at += sizeof scope - 1;
        while (at < end && is_word(*at)) {
            at++;
        }
        ret |= inner ? 0 : wanted_for(name, (size_t)(at - name));
    }
    return ret;
}

unsigned std_names_wanted(const struct source_set *sources) {
    unsigned wanted = 0, there = 0;
    for (size_t i = 0; i < sources->count; i++) {
        const struct source_file *f = &sources->files[i];
        wanted |= wanted_in(f->text, f->len);
        for (size_t k = 0; k < ARRAY_LEN(std_names); k++) {
            const char *header = std_names[k].header;
            there |= memmem(f->text, f->len, header, strlen(header)) ? 1u << k : 0;
        }
    }
    return wanted & ~there;
}

const char *std_names_shim(unsigned bit) {
    return bit < ARRAY_LEN(std_names) ? std_names[bit].shim : NULL;
}
