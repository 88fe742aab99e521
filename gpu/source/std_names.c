#include "gpu/source/std_names.h"

#include "base/find.h"
#include "base/text.h"
#include "gpu/source/source_set.h"

/* g++'s <cmath>, <cstdlib> and <utility>, which nvcc has read, bring these along. Those
 * of `constant` are functions of the host's: nvcc takes them where a constant is made,
 * and elsewhere in kernels with --expt-relaxed-constexpr alone. A name stands for those
 * with
 * "_t" and "_v" behind it too, one ending in '*' for all that begin so. The first that
 * fits counts. A header that the source includes all the same is read once. */
#define QUOTED(name) #name,
static const struct std_names {
    const char *shim;
    bool constant;
    const char *names[32];
} std_names[] = {
    {STD_NAMES_TRAITS,
     false,
     {STD_LIGHT_TRAITS(QUOTED) "true_type", "false_type", "bool_constant"}},
    {"type_traits",
     false,
     {"is_*", "remove_*", "add_*", "make_signed", "make_unsigned", "common_type",
      "invoke_result", "void_t", "conjunction", "disjunction", "negation", "extent",
      "rank", "alignment_of"}},
    {"utility",
     false,
     {"declval", "integer_sequence", "index_sequence", "make_integer_sequence",
      "make_index_sequence", "index_sequence_for"}},
    {"limits", true, {"numeric_limits"}},
    {"algorithm", true, {"min", "max"}},
};
/* g++ 12's, which bring <cstdint> along. As NVRTC lacks them they are the host's, and
 * what a kernel has of them would be missing. */
static const char *const with_integers[] = {
    "atomic",  "bitset",    "chrono",  "complex",  "condition_variable",
    "fstream", "future",    "iomanip", "iostream", "istream",
    "memory",  "mutex",     "ostream", "random",   "ratio",
    "sstream", "stdexcept", "string",  "thread"};
/* "using cuda::std::abs;" is for NVRTC, and counts on a header that is nvcc's alone. */
#define CUDA_ABS "cuda::std::abs"

static bool name_fits(const char *name, size_t len, const char *pattern) {
    size_t n = strlen(pattern);
    if (pattern[n - 1] == '*') {
        return len >= n && strncmp(name, pattern, n - 1) == 0;
    }
    bool bare =
        len == n + 2 && name[n] == '_' && (name[n + 1] == 't' || name[n + 1] == 'v');
    return (len == n || bare) && strncmp(name, pattern, n) == 0;
}

static unsigned wanted_for(const char *name, size_t len, bool constant) {
    for (size_t i = 0; i < ARRAY_LEN(std_names); i++) {
        for (const char *const *p = std_names[i].names; *p; p++) {
            if (name_fits(name, len, *p)) {
                return std_names[i].constant && !constant ? 0 : 1u << i;
            }
        }
    }
    return 0;
}

/* Does "std" at `at` stand within another scope, as in cuda::std? "::std" does not. */
static bool is_inner(const char *text, const char *at) {
    if (at - text >= 2 && at[-1] == ':' && at[-2] == ':') {
        at -= 2;
        return at > text && (text_is_word(at[-1]) || at[-1] == '>');
    }
    return at > text && text_is_word(at[-1]);
}

/* Does what stands at `at` belong to a constant? Looked for back to the statement's
 * start.
 */
static bool makes_constant(const char *text, const char *at) {
    static const char *const words[] = {"constexpr", "static_assert"};
    const char *from = at;
    while (from > text && at - from < 1024 && !strchr(";{}", from[-1])) {
        from--;
    }
    return any_of(i, 0, ARRAY_LEN(words),
                  memmem(from, (size_t)(at - from), words[i], strlen(words[i])));
}

static unsigned wanted_in(const char *text, size_t len, bool relaxed) {
    static const char scope[] = "std::";
    const char *end = text + len, *at = text;
    unsigned ret = 0;
    while ((at = memmem(at, (size_t)(end - at), scope, sizeof scope - 1))) {
        const char *before = at, *name = at += sizeof scope - 1;
        while (at < end && text_is_word(*at)) {
            at++;
        }
        if (!is_inner(text, before)) {
            ret |= wanted_for(name, (size_t)(at - name),
                              relaxed || makes_constant(text, before));
        }
    }
    return ret;
}

/* The name between the brackets of an "#include <…>" at `at`, behind its '#'. */
static bool is_include_of(const char *at, const char *end, const char *const *names,
                          size_t count) {
    static const char word[] = "include";
    at += strspn(at, " \t");
    if ((size_t)(end - at) < sizeof word || strncmp(at, word, sizeof word - 1) != 0) {
        return false;
    }
    at += sizeof word - 1;
    at += strspn(at, " \t");
    for (size_t i = 0; *at == '<' && i < count; i++) {
        size_t len = strlen(names[i]);
        if (strncmp(at + 1, names[i], len) == 0 && at[1 + len] == '>') {
            return true;
        }
    }
    return false;
}

static bool includes_integers(const struct source_file *f) {
    const char *text = f->original ? f->original : f->text, *end = text + f->len;
    for (const char *at = text; (at = memchr(at, '#', (size_t)(end - at)));) {
        if (is_include_of(++at, end, with_integers, ARRAY_LEN(with_integers))) {
            return true;
        }
    }
    return false;
}

unsigned std_names_wanted(const struct source_set *sources, bool relaxed) {
    unsigned wanted = 0;
    list_each(i, f, sources->files, sources->count) {
        wanted |= wanted_in(f->text, f->len, relaxed);
        wanted |= memmem(f->text, f->len, CUDA_ABS, strlen(CUDA_ABS))
                      ? 1u << ARRAY_LEN(std_names)
                      : 0;
        wanted |= includes_integers(f) ? 1u << (ARRAY_LEN(std_names) + 1) : 0;
    }
    return wanted;
}

/* ". name =" or ". name {" */
static bool is_designator(const char *at, const char *end) {
    const char *name = ++at;
    while (at < end && text_is_word(*at)) {
        at++;
    }
    if (at == name || isdigit((unsigned char)*name)) {
        return false;
    }
    while (at < end && isspace((unsigned char)*at)) {
        at++;
    }
    return at < end && (*at == '{' || (*at == '=' && at[1] != '='));
}

bool std_names_designators(const struct source_set *sources) {
    for (size_t i = 0; i < sources->count; i++) {
        const char *text = sources->files[i].text, *end = text + sources->files[i].len;
        char before = 0; /* the last that is no blank */
        for (const char *at = text; at < end; at++) {
            if (*at == '.' && (before == '{' || before == ',') &&
                is_designator(at, end)) {
                return true;
            }
            before = isspace((unsigned char)*at) ? before : *at;
        }
    }
    return false;
}

const char *std_names_shim(unsigned bit) {
    return bit < ARRAY_LEN(std_names)        ? std_names[bit].shim
           : bit == ARRAY_LEN(std_names)     ? STD_NAMES_ABS
           : bit == ARRAY_LEN(std_names) + 1 ? "stdint.h"
                                             : NULL;
}
