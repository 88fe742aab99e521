#include "gpu/source/include_directives.h"

#include "base/buf.h"
#include "base/find.h"
#include "base/text.h"
#include "gpu/source/host_names.h"

/* ---- which #if regions NVRTC skips for sure ---- */

struct region {
    bool skipped;       /* this branch */
    bool outer_skipped; /* the #if itself */
    bool known_true;    /* #if 1, #ifdef __CUDACC_RTC__: its #else is skipped */
};

struct regions {
    struct region *list;
    size_t count;
    size_t lost; /* #ifs past the limit */
};

#define REGIONS_MAX 1024

enum directive_condition { UNKNOWN, FALSE, TRUE };

/* Words of a condition with single blanks: "! defined ( __CUDACC_RTC__ )". */
static void spell_condition(const char *text, const struct cuda_directive *d, char *out,
                            size_t max) {
    struct cuda_lexer l;
    cuda_lexer_init_argument(&l, text, d);
    size_t n = 0;
    out[0] = '\0';
    for (struct cuda_token t = cuda_lexer_next(&l); t.kind != CUDA_END;
         t = cuda_lexer_next(&l)) {
        size_t len = t.end - t.start;
        if (n + len + 2 > max || memchr(text + t.start, '\\', len)) {
            out[0] = '\0';
            return;
        }
        if (!cuda_token_is(&l, &t, "(") && !cuda_token_is(&l, &t, ")")) {
            memcpy(out + n, text + t.start, len);
            n += len;
            out[n++] = ' ';
            out[n] = '\0';
        }
    }
}

static enum directive_condition judge_condition(const char *text,
                                                const struct cuda_directive *d) {
    static const struct {
        const char *directive, *words;
        enum directive_condition value;
    } known[] = {
        {"if", "0 ", FALSE},
        {"if", "false ", FALSE},
        {"if", "1 ", TRUE},
        {"ifndef", "__CUDACC_RTC__ ", FALSE},
        {"ifdef", "__CUDACC_RTC__ ", TRUE},
        {"if", "defined __CUDACC_RTC__ ", TRUE},
        {"if", "! defined __CUDACC_RTC__ ", FALSE},
        {"ifdef", "_WIN32 ", FALSE},
        {"ifdef", "_MSC_VER ", FALSE},
        {"if", "defined _WIN32 ", FALSE},
        {"if", "defined _MSC_VER ", FALSE},
    };
    char words[64];
    spell_condition(text, d, words, sizeof words);
    size_t at = first_of(i, 0, ARRAY_LEN(known),
                         strcmp(d->name, known[i].directive) == 0 &&
                             strcmp(words, known[i].words) == 0);
    return at < ARRAY_LEN(known) ? known[at].value : UNKNOWN;
}

static bool in_skipped(const struct regions *r) {
    return r->count > 0 && r->list[r->count - 1].skipped;
}

static void enter_region(struct regions *r, const char *text,
                         const struct cuda_directive *d) {
    if (r->count >= REGIONS_MAX) {
        r->lost++;
        return;
    }
    enum directive_condition value = judge_condition(text, d);
    bool outer = in_skipped(r);
    r->list = xreallocarray(r->list, r->count + 1, sizeof *r->list);
    r->list[r->count++] = (struct region){outer || value == FALSE, outer, value == TRUE};
}

static void follow_region(struct regions *r, const char *text,
                          const struct cuda_directive *d) {
    if (strncmp(d->name, "if", 2) == 0) {
        enter_region(r, text, d);
    } else if (strncmp(d->name, "el", 2) == 0 && r->count > 0 && r->lost == 0) {
        struct region *top = &r->list[r->count - 1];
        top->skipped = top->outer_skipped || top->known_true;
    } else if (strcmp(d->name, "endif") == 0) {
        if (r->lost > 0) {
            r->lost--;
        } else {
            r->count -= r->count > 0;
        }
    }
}

/* ---- references ---- */

static void report_include(const char *, const struct cuda_token *t,
                           const struct cuda_directive *d, bool skipped,
                           file_reference_found *found, void *data) {
    struct file_reference r = {.kind = REFERENCE_INCLUDE,
                               .form = d->target ? d->form : INCLUDE_COMPUTED,
                               .target = d->target,
                               .start = t->start,
                               .end = t->end,
                               .skipped = skipped};
    found(&r, data);
}

#define OPERAND_MAX 4096 /* bytes of a directive looked at for one operand */
#define OPERANDS_FREE (64u << 10)

/* Bytes that may still be looked at for operands in one text: thousands of them on one
 * line would otherwise each cost OPERAND_MAX. */
struct operand_budget {
    size_t left;
};

/* The header name after "__has_include(", as #include would read it; past the budget the
 * rest of the directive, as something computed. Returns whether it was within. */
static bool report_has_include(struct cuda_lexer *l, bool skipped,
                               struct operand_budget *budget, file_reference_found *found,
                               void *data) {
    size_t at = l->at, rest = l->len - at < OPERAND_MAX ? l->len - at : OPERAND_MAX;
    if (rest > budget->left) {
        struct file_reference r = {.kind = REFERENCE_HAS_INCLUDE,
                                   .form = INCLUDE_COMPUTED,
                                   .start = at,
                                   .end = l->len,
                                   .skipped = skipped};
        found(&r, data);
        return false;
    }
    budget->left -= rest;
    autofree char *line = xasprintf("#include %.*s", (int)rest, l->text + at);
    size_t lead = strlen("#include "), len = strlen(line);
    struct cuda_lexer inner;
    cuda_lexer_init(&inner, line, len);
    struct cuda_token t = cuda_lexer_next(&inner);
    struct cuda_directive d;
    cuda_directive_read(&inner, &t, &d);
    size_t name_end = cuda_token_end(line, len, d.argument);
    struct file_reference r = {.kind = REFERENCE_HAS_INCLUDE,
                               .form = d.target ? d.form : INCLUDE_COMPUTED,
                               .target = d.target,
                               .start = at + d.argument - lead,
                               .end = at + (name_end > lead ? name_end - lead : 0),
                               .skipped = skipped};
    found(&r, data);
    cuda_directive_finish(&d);
    return true;
}

static bool asks_for_header(const struct cuda_lexer *l, const struct cuda_token *t) {
    return cuda_token_is(l, t, "__has_include") ||
           cuda_token_is(l, t, "__has_include_next") ||
           cuda_token_is(l, t, "__has_embed");
}

static void read_has_includes(const char *text, const struct cuda_token *t, bool skipped,
                              struct operand_budget *budget, file_reference_found *found,
                              void *data) {
    struct cuda_lexer l;
    cuda_lexer_init(&l, text, t->end);
    l.at = t->start;
    l.line_start = false;
    for (struct cuda_token word = cuda_lexer_next(&l); word.kind != CUDA_END;
         word = cuda_lexer_next(&l)) {
        if (!asks_for_header(&l, &word)) {
            continue;
        }
        struct cuda_lexer after = l;
        struct cuda_token open = cuda_lexer_next(&after);
        if (cuda_token_is(&after, &open, "(") &&
            !report_has_include(&after, skipped, budget, found, data)) {
            return;
        }
    }
}

static bool reaches_for_file(const struct cuda_directive *d) {
    return strcmp(d->name, "include") == 0 || strcmp(d->name, "include_next") == 0 ||
           strcmp(d->name, "import") == 0 || strcmp(d->name, "embed") == 0;
}

void include_directives_read(const char *text, size_t len, file_reference_found *found,
                             void *data) {
    struct regions regions = {0};
    struct operand_budget budget = {OPERANDS_FREE + len};
    struct cuda_lexer l;
    cuda_lexer_init(&l, text, len);
    for (struct cuda_token t = cuda_lexer_next(&l); t.kind != CUDA_END;
         t = cuda_lexer_next(&l)) {
        if (t.kind != CUDA_DIRECTIVE) {
            continue;
        }
        struct cuda_directive d;
        cuda_directive_read(&l, &t, &d);
        bool skipped = in_skipped(&regions);
        if (reaches_for_file(&d)) {
            report_include(text, &t, &d, skipped, found, data);
        } else if (strcmp(d.name, "line") == 0) {
            struct file_reference r = {.kind = REFERENCE_LINE,
                                       .form = INCLUDE_COMPUTED,
                                       .start = t.start,
                                       .end = t.end,
                                       .skipped = skipped};
            found(&r, data);
        } else if (memmem(text + t.start, t.end - t.start, "__has_", 6) ||
                   memchr(text + t.start, '\\', t.end - t.start)) { /* or spliced */
            read_has_includes(text, &t, skipped, &budget, found, data);
        }
        follow_region(&regions, text, &d);
        cuda_directive_finish(&d);
    }
    free(regions.list);
}

/* ---- settling ---- */

/* Up to C++14 the compiler knows these; they are taken apart. */
static bool is_trigraph(const char *at, size_t len) {
    return len >= 3 && at[0] == '?' && at[1] == '?' && at[2] &&
           strchr("=/'()!<>-", at[2]);
}

static bool settle_bytes(char *text, size_t len) {
    bool changed = false;
    for (size_t i = 0; i < len; i++) {
        if (text[i] == '\0') {
            text[i] = ' ';
            changed = true;
        } else if (text[i] == '\r' && (i + 1 == len || text[i + 1] != '\n')) {
            text[i] = '\n';
            changed = true;
        } else if (is_trigraph(text + i, len - i)) {
            text[i + 1] = ' ';
            changed = true;
        }
    }
    return changed;
}

static bool settle_utf8(char *text, size_t len) {
    if (text_is_utf8(text, len)) {
        return false;
    }
    for (size_t i = 0; i < len;) {
        uint32_t cp;
        size_t n = text_decode(text + i, len - i, &cp);
        if (cp == 0xFFFD && n == 1) {
            text[i] = '?';
        }
        i += n;
    }
    return true;
}

/* A '#' that begins no directive for us may begin one for the compiler: in C++03 there
 * are no raw strings, before C++14 and in skipped regions no digit separators, so that
 * comments and literals can begin elsewhere. Looking far for the name costs budget. */
static bool could_reach_for_file(const char *text, size_t len, size_t hash,
                                 size_t *budget) {
    size_t end = len - hash < OPERAND_MAX ? len : hash + OPERAND_MAX;
    if (!*budget) {
        return true;
    }
    struct cuda_lexer l;
    cuda_lexer_init(&l, text, len);
    const struct cuda_token t = {.kind = CUDA_DIRECTIVE, .start = hash, .end = end};
    struct cuda_directive d;
    cuda_directive_read(&l, &t, &d);
    size_t seen = d.argument - hash;
    *budget -= seen < *budget ? seen : *budget;
    bool reaches = reaches_for_file(&d) || (d.argument == end && end < len);
    cuda_directive_finish(&d);
    return reaches;
}

/* '#' or "%:", which a splice may part, but not the second half of "##". */
static bool is_hash(const char *text, size_t len, size_t at) {
    if (text[at] == '#') {
        return !at || text[at - 1] != '#';
    }
    size_t next = at + 1;
    while (text[at] == '%' && next < len && strchr("\\\r\n", text[next])) {
        next++;
    }
    return text[at] == '%' && next < len && text[next] == ':';
}

static bool hashes_disarm(char *text, size_t len, size_t from, size_t to,
                          size_t *budget) {
    bool changed = false;
    for (size_t at = from; at < to; at++) {
        if (is_hash(text, len, at) && could_reach_for_file(text, len, at, budget)) {
            text[at] = '_';
            changed = true;
        }
    }
    return changed;
}

/* Wherever an include stands that is no directive for us, it is none for the compiler. */
static bool directives_disarm(char *text, size_t len) {
    struct cuda_lexer l;
    size_t from = 0, budget = OPERANDS_FREE + 4 * len;
    bool changed = false;
    cuda_lexer_init(&l, text, len);
    for (;;) {
        struct cuda_token t = cuda_lexer_next(&l);
        if (t.kind == CUDA_END) {
            return hashes_disarm(text, len, from, len, &budget) || changed;
        }
        if (t.kind == CUDA_DIRECTIVE) {
            changed |= hashes_disarm(text, len, from, t.start, &budget);
            from = t.start + 1;
        }
    }
}

bool source_text_settle(char *text, size_t len) {
    bool changed = settle_utf8(text, len); /* its '?' may make a trigraph */
    changed |= settle_bytes(text, len);
    if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
        memset(text, ' ', 3);
        changed = true;
    }
    autofree char *before = xmalloc(len + 1);
    memcpy(before, text, len);
    cuda_splices_tighten(text, len);
    changed |= directives_disarm(text, len);
    return changed || memcmp(before, text, len) != 0;
}

/* ---- the leading includes, where they are worth precompiling ---- */

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
    return any_of(i, 0, ARRAY_LEN(shimmed), strcmp(target, shimmed[i]) == 0);
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
