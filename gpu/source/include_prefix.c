/* The leading includes of a source, where they are worth precompiling. */
#include "gpu/source/include_directives.h"

#include "base/buf.h"
#include "base/mem.h"
#include "gpu/source/host_names.h"

#include <string.h>

#define PREFIX_MAX 16384 /* bytes */

/* Headers that cost the compiler more than loading them precompiled does: those that
 * bring libcu++, CUB, Thrust or cuRAND's tables in. The half types and mma.h take some 50
 * ms and are not worth a process of their own. */
static bool is_heavy(const char *target) {
    static const char *const prefixes[] = {"cooperative_groups", "cuda/", "cub/",
                                           "thrust/", "curand_kernel.h"};
    static const char *const shimmed[] = {
        "algorithm",        "array",       "bit",      "cmath",   "complex",
        "concepts",         "functional",  "iterator", "numeric", "tuple",
        "limits",           "type_traits", "utility",  "ratio",   "compare",
        "initializer_list", "torch",       "torch_std"};
    for (size_t i = 0; i < ARRAY_LEN(prefixes); i++) {
        if (strncmp(target, prefixes[i], strlen(prefixes[i])) == 0) {
            return true;
        }
    }
    for (size_t i = 0; i < ARRAY_LEN(shimmed); i++) {
        if (strcmp(target, shimmed[i]) == 0) {
            return true;
        }
    }
    return false;
}

struct prefix {
    struct buf text;
    size_t kept; /* its length up to the last include */
    bool heavy;
};

/* One directive as a line of its own, without splices, comments and spare blanks. */
static void add_line(struct prefix *p, const char *text, const struct cuda_token *t) {
    struct cuda_lexer l;
    cuda_lexer_init(&l, text, t->end);
    l.at = t->start;
    l.line_start = false;
    size_t end = t->start;
    for (struct cuda_token word = cuda_lexer_next(&l); word.kind != CUDA_END;
         word = cuda_lexer_next(&l)) {
        if (word.start > end) {
            buf_addc(&p->text, ' ');
        }
        for (size_t i = word.start; i < word.end; i++) {
            if (text[i] != '\\' && text[i] != '\n' && text[i] != '\r') {
                buf_addc(&p->text, text[i]);
            }
        }
        end = word.end;
    }
    buf_addc(&p->text, '\n');
}

static bool is_simple_macro(const struct cuda_directive *d, const char *text) {
    if (strcmp(d->name, "define") != 0 && strcmp(d->name, "undef") != 0) {
        return strcmp(d->name, "pragma") == 0 && d->argument_end - d->argument == 4 &&
               memcmp(text + d->argument, "once", 4) == 0;
    }
    return !memchr(text + d->argument, '"', d->argument_end - d->argument) &&
           !memchr(text + d->argument, '\'', d->argument_end - d->argument);
}

/* False when the run ends before this directive. */
static bool take_directive(struct prefix *p, const char *text, const struct cuda_token *t,
                           const struct cuda_directive *d,
                           bool (*is_users)(const char *, enum include_form, void *),
                           void *data) {
    if (strcmp(d->name, "include") == 0) {
        if (!d->target || is_users(d->target, d->form, data)) {
            return false;
        }
        if (host_names_header(d->target)) {
            return true; /* host_code blanks it */
        }
        buf_addf(&p->text,
                 d->form == INCLUDE_ANGLED ? "#include <%s>\n" : "#include \"%s\"\n",
                 d->target);
        p->kept = p->text.len;
        p->heavy |= is_heavy(d->target);
        return true;
    }
    if (!is_simple_macro(d, text)) {
        return false;
    }
    add_line(p, text, t);
    return true;
}

char *include_prefix_read(const char *text, size_t len,
                          bool (*is_users)(const char *, enum include_form, void *),
                          void *data) {
    struct prefix p = {.text = BUF_INIT(PREFIX_MAX)};
    struct cuda_lexer l;
    cuda_lexer_init(&l, text, len);
    for (bool more = true; more && !p.text.full;) {
        struct cuda_token t = cuda_lexer_next(&l);
        if (t.kind != CUDA_DIRECTIVE) {
            break;
        }
        struct cuda_directive d;
        cuda_directive_read(&l, &t, &d);
        more = take_directive(&p, text, &t, &d, is_users, data);
        cuda_directive_finish(&d);
    }
    char *ret = p.heavy && !p.text.full ? xstrndup(p.text.data, p.kept) : NULL;
    buf_finish(&p.text);
    return ret;
}
