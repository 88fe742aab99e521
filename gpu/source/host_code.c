#include "gpu/source/host_code.h"

#include "base/buf.h"
#include "base/file.h"
#include "base/find.h"
#include "gpu/source/cuda_lexer.h"
#include "gpu/source/host_behind.h"
#include "gpu/source/host_expansion.h"
#include "gpu/source/host_gone.h"
#include "gpu/source/host_guesses.h"
#include "gpu/source/host_joint.h"
#include "gpu/source/host_launch_text.h"
#include "gpu/source/host_names.h"
#include "gpu/source/host_spelling.h"
#include "gpu/source/source_set.h"

/* ---- what the caller is told ---- */

/* __launch_bounds__(256, 2): the literals in the head of a kernel. */
static void read_launch_bounds(const struct host_blanker *b, const struct declaration *d,
                               int bounds[3]) {
    size_t i = d->first;
    while (i < d->params && !code_token_is(&b->tokens, i, "__launch_bounds__")) {
        i++;
    }
    i += 2;
    for (int n = 0; n < 3 && i < d->params; n++, i += 2) {
        const struct code_token *t = &b->tokens.list[i];
        enum code_word after = b->tokens.list[i + 1].word;
        if (t->word != WORD_NUMBER ||
            (after != WORD_COMMA && after != WORD_PAREN_CLOSE)) {
            return;
        }
        long value = strtol(b->tokens.text + t->start, NULL, 0);
        bounds[n] = value > 0 && value < 1 << 20 ? (int)value : 0;
        if (after == WORD_PAREN_CLOSE) {
            return;
        }
    }
}

static size_t signature_start(const struct host_blanker *b, const struct declaration *d) {
    for (size_t i = d->first; i < d->name; i++) {
        enum code_word w = b->tokens.list[i].word;
        if (w == WORD_GLOBAL || w == WORD_TEMPLATE) {
            return b->tokens.list[i].start;
        }
    }
    return b->tokens.list[d->first].start;
}

static void tell_kernel(const struct host_blanker *b, const struct declaration *d,
                        struct host_code *ret) {
    struct kernel_place k = {
        .name = host_qualified_name(&b->tokens, &b->declarations, d),
        .offset = b->tokens.list[d->name].start,
        .end = b->tokens.list[d->name].end,
        .signature = signature_start(b, d),
        .signature_end = b->tokens.list[d->params_end ? d->params_end : d->name].end,
        .body_end = b->tokens.list[d->last].end,
    };
    read_launch_bounds(b, d, k.launch_bounds);
    ret->kernels = xreallocarray(ret->kernels, ret->kernel_count + 1, sizeof k);
    ret->kernels[ret->kernel_count++] = k;
}

#define PLACES_MAX 4096 /* kernels: those after these are not listed */

/* A lambda of a host function is device code that goes with it. */
static bool is_device_code(const struct host_blanker *b, size_t i) {
    const struct declaration *d = &b->declarations.list[i];
    if (d->kind == DECLARATION_MACRO) {
        struct space_of_name space = space_of(&b->macros, &b->tokens, d->name);
        return space.global || space.device;
    }
    return d->kind == DECLARATION_FUNCTION && (d->body || d->open) &&
           (b->device_words[d->last + 1] > b->device_words[d->first] ||
            (b->macros.all_asked && !b->goes[i]));
}

static void tell(const struct host_blanker *b, struct host_code *ret) {
    ret->needs_default_device = b->needs_default_device;
    list_each(i, d, b->declarations.list, b->declarations.count) {
        ret->leaves_code_out |= b->goes[i] || b->tail_goes[i] || b->body_goes[i];
        ret->has_device_code |= is_device_code(b, i);
        if (d->kind == DECLARATION_FUNCTION && d->name && d->has_global && d->body &&
            ret->kernel_count < PLACES_MAX) {
            tell_kernel(b, d, ret);
        }
    }
}

/* ---- blanking ---- */

/* Directives stay, so that #if and #endif still match and macros are still defined. Loop
 * pragmas go: without their loop they are errors; and so does what a function includes in
 * its body. */
static bool directive_goes(const struct host_blanker *b, size_t i, bool in_body) {
    struct cuda_directive d;
    code_token_directive(&b->tokens, i, &d);
    const char *argument = b->tokens.text + d.argument;
    size_t len = d.argument_end - d.argument;
    bool goes = in_body && strcmp(d.name, "include") == 0;
    goes |= strcmp(d.name, "pragma") == 0 && !memmem(argument, len, "push", 4) &&
            !memmem(argument, len, "pop", 3) && !memmem(argument, len, "pack", 4);
    cuda_directive_finish(&d);
    return goes;
}

/* body: where a function's begins; 0: it is none. */
static void blank_tokens(const struct host_blanker *b, size_t first, size_t last,
                         size_t body, char *text) {
    size_t from = b->tokens.list[first].start;
    for (size_t i = first; i <= last; i++) {
        const struct code_token *t = &b->tokens.list[i];
        if (t->word == WORD_DIRECTIVE && !directive_goes(b, i, body && i > body)) {
            host_blank_bytes(text, from, t->start);
            from = t->end;
        }
    }
    host_blank_bytes(text, from, b->tokens.list[last].end);
}

/* ---- includes ---- */

/* #include <vector> and the like; with `costly` also those that only host code used. */
static bool is_host_include(const struct host_blanker *b, size_t i, bool costly) {
    struct cuda_directive d;
    code_token_directive(&b->tokens, i, &d);
    bool brings =
        b->macros.library_types && d.target && host_names_library_header(d.target);
    bool host =
        strcmp(d.name, "include") == 0 && d.target &&
        ((host_names_header(d.target) && !brings) ||
         (costly && d.form == INCLUDE_ANGLED && host_names_costly_header(d.target)));
    cuda_directive_finish(&d);
    return host;
}

/* Whether a directive that stays may bring std into device code: a macro, or a file of
 * the user's that relies on what was included before it. */
static bool directive_needs_std(const struct host_blanker *b, size_t i) {
    struct cuda_directive d;
    code_token_directive(&b->tokens, i, &d);
    const char *argument = b->tokens.text + d.argument;
    size_t len = d.argument_end - d.argument;
    bool needs =
        strcmp(d.name, "include") == 0
            ? d.form != INCLUDE_ANGLED && !(d.target && host_names_header(d.target))
            : strcmp(d.name, "define") == 0 && memmem(argument, len, "std::", 5) &&
                  !memmem(argument, len, "std::c", 6) &&
                  !memmem(argument, len, "std::e", 6) &&
                  !memmem(argument, len, "std::runtime_error", 18);
    cuda_directive_finish(&d);
    return needs;
}

/* Whether anything that stays says std:: (or may, after using namespace std), or a name
 * of PyTorch's that is made of it: at::numeric_limits. */
static bool device_needs_std(const struct host_blanker *b) {
    size_t next = 0;
    for (size_t i = 0; i < b->tokens.count; i++) {
        while (next < b->declarations.count &&
               (!b->goes[next] || b->declarations.list[next].last < i)) {
            next++;
        }
        if (next < b->declarations.count && i >= b->declarations.list[next].first) {
            i = b->declarations.list[next].last; /* it goes */
            continue;
        }
        enum code_word w = b->tokens.list[i].word;
        if ((w == WORD_DIRECTIVE && directive_needs_std(b, i)) ||
            (w == WORD_NAME && code_token_is(&b->tokens, i, "std") &&
             (b->tokens.list[i + 1].word == WORD_SCOPE || b->using_std)) ||
            (w == WORD_NAME && code_token_is(&b->tokens, i, "numeric_limits"))) {
            return true;
        }
    }
    return false;
}

static bool blank_includes(const struct host_blanker *b, bool costly, char *text) {
    bool any = false;
    list_each(i, t, b->tokens.list, b->tokens.count) {
        if (t->word == WORD_DIRECTIVE && is_host_include(b, i, costly)) {
            any = true;
            if (text) {
                host_blank_bytes(text, t->start, t->end);
            }
        }
    }
    return any;
}

static bool is_torch_include(const struct host_blanker *b, size_t i) {
    if (b->tokens.list[i].word != WORD_DIRECTIVE) {
        return false;
    }
    struct cuda_directive d;
    code_token_directive(&b->tokens, i, &d);
    bool is =
        strcmp(d.name, "include") == 0 && d.target && host_names_torch_header(d.target);
    cuda_directive_finish(&d);
    return is;
}

/* PyTorch's headers are gone by now; what kernels use of them takes the place of each,
 * since any may stand beneath an #if. */
static void write_torch_includes(const struct host_blanker *b, bool needs_std,
                                 char *text) {
    const char *line = needs_std ? "#include <torch_std>" : "#include <torch>";
    size_t len = strlen(line);
    list_each(i, t, b->tokens.list, b->tokens.count) {
        if (is_torch_include(b, i) && t->end - t->start >= len &&
            !memchr(text + t->start, '\n', len)) {
            memcpy(text + t->start, line, len);
        }
    }
}

/* What all files of a compilation share. */
struct known_macros {
    struct space_macros spaces;
    struct host_macros launches;
    struct buf *behind; /* the unit; NULL: another file is being read */
};

/* Host code goes, and what it asks for takes its place. guesses are found, not written.
 */
static void blank_host(const struct host_blanker *b, const struct host_expansion *e,
                       struct known_macros *known, char *text,
                       struct host_guesses *guesses) {
    struct host_launches launches;
    host_launches_collect(&launches, e->text ? &e->b : b, known ? &known->launches : NULL,
                          0);
    if (e->text) {
        host_expansion_settle(e, b, &launches);
    }
    list_each(i, d, b->declarations.list, b->declarations.count) {
        size_t body = d->kind == DECLARATION_FUNCTION ? d->body : 0;
        if (b->goes[i]) {
            blank_tokens(b, d->first, d->last, body, text);
        } else if (b->tail_goes[i]) {
            blank_tokens(b, d->body_end + 1, d->last - 1, 0, text);
        } else if (b->body_goes[i]) {
            blank_tokens(b, d->body, d->body_end, body, text);
            text[b->tokens.list[d->body].start] = ';';
        }
    }
    host_launches_write(&launches, b, text, guesses, known ? known->behind : NULL);
    host_launches_finish(&launches);
    if (known) {
        host_gone_tell_values(e->text ? &e->b : b, &known->spaces);
    }
}

/* Headers that are the host's go, and PyTorch's become the shim's. */
static void settle_includes(const struct host_blanker *b, char *text) {
    bool needs_std = device_needs_std(b);
    if (!needs_std) {
        blank_includes(b, true, text);
    }
    write_torch_includes(b, needs_std, text);
}

/* text NULL: only look. known may be NULL. */
static void process(const char *source, size_t len, struct known_macros *known,
                    char *text, struct host_code *ret, struct host_guesses *guesses) {
    *ret = (struct host_code){0};
    struct host_blanker b;
    struct host_expansion e;
    size_t max = text ? HOST_TOKENS_MAX : HOST_SCAN_TOKENS_MAX;
    if (host_blanker_init(&b, source, len, max, known ? &known->spaces : NULL) < 0) {
        ret->has_device_code =
            strstr(source, "__global__") || strstr(source, "__device__");
        return;
    }
    host_blanker_judge(&b);
    if (host_expansion_read(&e, &b, known ? &known->launches : NULL,
                            known ? &known->spaces : NULL)) {
        host_expansion_judge(&e, &b);
    }
    tell(&b, ret);
    ret->has_host_code = ret->leaves_code_out;
    ret->has_host_code |= blank_includes(&b, false, text);
    ret->has_host_code |= host_lambdas_blank(&b.tokens, text);
    ret->needs_default_device |= host_lambdas_are_generic(&b.tokens);
    ret->has_host_code |= host_spelling_settle(&b, text);
    if (text && ret->has_host_code) {
        settle_includes(&b, text);
        blank_host(&b, &e, known, text, guesses);
    }
    host_expansion_finish(&e);
    host_blanker_finish(&b);
}

void host_code_scan(const char *text, size_t len, struct host_code *ret) {
    process(text, len, NULL, NULL, ret, NULL);
}

/* cuRAND's headers and CUDA's C++ library, named beneath include_roots, ask for NVRTC
 * themselves: they need what looks like the host's. */
static bool is_made_for_nvrtc(const struct source_file *f) {
    if (strstr(f->path, "/cuda/std/") || strstr(f->path, "/cuda/__")) {
        return memmem(f->text, f->len, "_CCCL", 5) != NULL;
    }
    return strncmp(path_basename(f->path), "curand", 6) == 0 &&
           memmem(f->text, f->len, "__CUDACC_RTC__", 14);
}

/* How device code can name the type of half precision. */
static const char *name_of_half(const struct source_set *sources) {
    const char *name = NULL;
    list_each(i, f, sources->files, sources->count) {
        if (memmem(f->text, f->len, "#include <torch", 15)) {
            return "at::Half";
        }
        name = memmem(f->text, f->len, "cuda_fp16.h", 11) ? "__half" : name;
    }
    return name;
}

#define TYPE_ROUNDS_MAX 4 /* a type that goes takes those along that are made of it */

/* The types that are the host's, in whichever order the files come. */
static void read_gone_types(const struct source_set *sources, struct space_macros *m) {
    size_t before = SIZE_MAX;
    for (int n = 0; n < TYPE_ROUNDS_MAX && m->gone_types.count != before; n++) {
        before = m->gone_types.count;
        for (size_t i = sources->count; i-- > 0;) {
            const struct source_file *f = &sources->files[i];
            struct host_blanker b;
            if (!(i && is_made_for_nvrtc(f)) &&
                host_blanker_init(&b, f->text, f->len, HOST_SCAN_TOKENS_MAX, m) == 0) {
                host_blanker_judge(&b);
                host_gone_tell_types(&b, m);
                host_blanker_finish(&b);
            }
        }
    }
}

void host_code_blank_sources(struct source_set *sources, struct host_code *ret,
                             struct host_guesses *guesses) {
    *guesses = (struct host_guesses){0};
    struct known_macros macros = {.spaces = {.all_asked = sources->default_device}};
    for (size_t i = sources->count; i-- > 0;) { /* headers before what includes them */
        struct code_tokens tokens;
        if (code_tokens_read(&tokens, sources->files[i].text, sources->files[i].len) ==
            0) {
            space_macros_read(&macros.spaces, &tokens);
            host_macros_read(&macros.launches, &tokens);
            code_tokens_finish(&tokens);
        }
    }
    autobuf behind = BUF_INIT(HOST_BEHIND_BYTES);
    if (sources->count > 1) {
        read_gone_types(sources, &macros.spaces);
        host_joint_read(sources, &macros.spaces, &macros.launches, &behind);
    }
    *ret = (struct host_code){0};
    struct host_code all = {0};
    for (size_t i = sources->count; i-- > 0;) {
        struct source_file *f = &sources->files[i];
        if (i && is_made_for_nvrtc(f)) {
            continue;
        }
        autofree char *before = xmalloc(f->len + 1);
        memcpy(before, f->text, f->len + 1);
        host_code_finish(ret);
        macros.behind = i == source_set_unit(sources) ? &behind : NULL;
        process(before, f->len, &macros, f->text, ret, guesses);
        host_guesses_keep_file(guesses, i, f->text, f->len);
        all.has_host_code |= ret->has_host_code;
        all.leaves_code_out |= ret->leaves_code_out;
        all.needs_default_device |= ret->needs_default_device;
        all.may_hide_device_code |= code_may_paste_space(before, f->len);
        all.has_device_code |=
            ret->kernel_count || (i == source_set_unit(sources) && ret->has_device_code);
        if (ret->has_host_code && !f->original) {
            f->original = take(before);
        }
    }
    ret->has_host_code = all.has_host_code;
    ret->leaves_code_out = all.leaves_code_out;
    ret->needs_default_device = all.needs_default_device;
    ret->has_device_code = all.has_device_code;
    ret->may_hide_device_code = all.may_hide_device_code && all.leaves_code_out;
    guesses->half = guesses->count ? name_of_half(sources) : NULL;
    host_guesses_write(guesses, sources, 0);
    if (behind.len) {
        host_behind_end(&behind, sources->files[0].text, sources->files[0].len);
    }
    if (behind.len && !behind.full) {
        source_set_append(sources, behind.data);
    }
    space_macros_finish(&macros.spaces);
    host_macros_finish(&macros.launches);
}

void host_code_finish(struct host_code *h) {
    for (size_t i = 0; i < h->kernel_count; i++) {
        free(h->kernels[i].name);
    }
    free(h->kernels);
    *h = (struct host_code){0};
}
