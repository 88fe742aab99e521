#include "gpu/fixes/fixes.h"

#include "base/edit_distance.h"
#include "base/find.h"
#include "gpu/fix_headers_table.h"
#include "gpu/fixes/fix_names.h"

/* --- syntax --- */

/* An unknown name in an expression does not disturb the parser; one before the place may
 * be a type (`uint32_t x`), and the name after it is then what is "expected" to end. */
static bool is_harmless(const struct mistake *m, const json_t *other) {
    static const char before[] = "identifier \"";
    const char *message = json_get_string(other, "message", "");
    if (strncmp(message, before, sizeof before - 1) != 0) {
        return false;
    }
    const char *name = message + sizeof before - 1;
    return !fix_text_has(m->text, m->token - 1, name, strcspn(name, "\""));
}

/* Errors that follow from another one on the same line would be "cured" wrongly. */
static bool follows_another(const struct mistake *m) {
    json_int_t line = json_get_integer(m->finding, "line", 0);
    json_int_t column = json_get_integer(m->finding, "column", 0);
    return json_any(m->fixer->findings, other,
                    other != m->finding && json_get_integer(other, "line", 0) == line &&
                        json_get_integer(other, "column", 0) < column &&
                        json_says(other, "severity", "error") && !is_harmless(m, other));
}

static void fix_semicolon(struct mistake *m) {
    const struct fix_text *t = m->text;
    if (!m->token || m->token > t->count || follows_another(m)) {
        return;
    }
    const struct cuda_token *before = &t->tokens[m->token - 1];
    if (before->kind != CUDA_DIRECTIVE && !fix_text_is(t, m->token - 1, ";")) {
        mistake_edit(m, "add the missing \";\"", before->end, before->end, ";");
    }
}

static long open_braces(const struct fix_text *t) {
    return total_of(long, i, 0, t->count, fix_text_is(t, i, "{") - fix_text_is(t, i, "}"));
}

/* One brace too few in one whole file: it is missing at the end or nowhere we could tell.
 */
static void fix_brace(struct mistake *m) {
    const struct source_set *sources = m->fixer->sources;
    for (size_t i = 0; i < sources->count && !m->text; i++) {
        struct fix_text *t = mistake_source(m->fixer, sources->files[i].display);
        m->text = open_braces(t) == 1 ? t : NULL;
    }
    const struct fix_text *t = m->text;
    if (t) {
        bool unfinished = t->len && t->text[t->len - 1] != '\n';
        mistake_edit(m, "add the missing \"}\" at the end", t->len, t->len,
                     unfinished ? "\n}\n" : "}\n");
    }
}

/* --- headers --- */

static const char *nearest_header(const char *name, size_t len) {
    const char *best = NULL;
    unsigned least = len < 8 ? 1 : 3;
    for (const char *const *h = device_headers; *h; h++) {
        unsigned distance = edit_distance(name, len, *h, strlen(*h), least);
        if (distance == 0) {
            return NULL; /* spelt well, and not there */
        }
        if (distance <= least) {
            least = distance;
            best = *h;
        }
    }
    return best;
}

/* Libraries that kernels include and that come by themselves. */
static const char *package_of(const char *name, size_t len) {
    static const struct {
        const char *begins, *package;
    } libraries[] = {
        {"curand",
         "NVIDIA's cuRAND (in the CUDA toolkit, or the Python package nvidia-curand)"},
        {"cutlass/", "CUTLASS (Python package nvidia-cutlass)"},
        {"cute/", "CUTLASS (Python package nvidia-cutlass)"},
        {"cuda/", "CUDA's C++ core libraries (Python package nvidia-cuda-cccl)"},
        {"cub/", "CUDA's C++ core libraries (Python package nvidia-cuda-cccl)"},
        {"flashinfer/", "FlashInfer (Python package flashinfer-python)"},
        {"cublasdx", "MathDx (Python package nvidia-mathdx)"},
        {"cufftdx", "MathDx (Python package nvidia-mathdx)"},
        {"nvshmem", "NVSHMEM (Python package nvidia-nvshmem-cu13)"},
    };
    for (size_t i = 0; i < ARRAY_LEN(libraries); i++) {
        size_t n = strlen(libraries[i].begins);
        if (len >= n && memcmp(name, libraries[i].begins, n) == 0) {
            return libraries[i].package;
        }
    }
    return NULL;
}

static void tell_package(struct mistake *m, const char *package) {
    autofree char *more = xasprintf("it belongs to %s: give its folder with -I, or in the "
                                    "include_roots of a check spec",
                                    package);
    mistake_say(m, more);
}

static void fix_header(struct mistake *m) {
    struct fix_text *t = m->text;
    size_t line = (size_t)json_get_integer(m->finding, "line", 1) - 1;
    size_t start = t->lines.starts[line < t->lines.count ? line : t->lines.count - 1];
    size_t end = line + 1 < t->lines.count ? t->lines.starts[line + 1] : t->len;
    const char *name = memmem(t->text + start, end - start, m->word, m->word_len);
    const char *near = nearest_header(m->word, m->word_len);
    if (name && near) {
        autofree char *title = xasprintf("include %s", near);
        size_t at = (size_t)(name - t->text);
        mistake_edit(m, title, at, at + m->word_len, near);
        return;
    }
    const char *package = package_of(m->word, m->word_len);
    if (name && package) {
        tell_package(m, package);
    } else if (name && name > t->text && name[-1] == '"') {
        mistake_say(m, "give its folder with -I, or send the file in \"headers\"");
    }
}

/* --- const --- */

#define MAX_DECLARATION 64 /* tokens before a declared name */

/* The finding points into an assignment to what `name` points at; `name` is declared
 * const earlier: the nearest declaration before it with const in the same parameter. */
static void fix_const(struct mistake *m) {
    const struct fix_text *t = m->text;
    if (m->token >= t->count || t->tokens[m->token].kind != CUDA_IDENTIFIER) {
        return;
    }
    const struct cuda_token *name = &t->tokens[m->token];
    for (size_t i = m->token; i-- > 0;) {
        if (!fix_text_has(t, i, t->text + name->start, name->end - name->start)) {
            continue;
        }
        size_t first = i > MAX_DECLARATION ? i - MAX_DECLARATION : 0;
        for (size_t k = i; k-- > first && !fix_text_is(t, k, ",") &&
                           !fix_text_is(t, k, "(") && !fix_text_is(t, k, ";") &&
                           !fix_text_is(t, k, "{");) {
            if (fix_text_is(t, k, "const") && !fix_text_is(t, k - 1, "*")) {
                autofree char *title =
                    xasprintf("declare \"%.*s\" without const",
                              (int)(name->end - name->start), t->text + name->start);
                mistake_edit(m, title, t->tokens[k].start, t->tokens[k + 1].start, "");
                return;
            }
        }
    }
}

/* --- shared memory --- */

/* The token after `__shared__ type name[size];` that starts at i, or 0 when it is
 * something else. *size receives the index of its '['. */
static size_t shared_array_end(const struct fix_text *t, size_t i, size_t *size) {
    size_t k = i + 1;
    while (k < t->count && !fix_text_is(t, k, "[") && !fix_text_is(t, k, ";")) {
        k++;
    }
    *size = k;
    while (k < t->count && !fix_text_is(t, k, "]") && !fix_text_is(t, k, ";")) {
        k++;
    }
    return fix_text_is(t, k, "]") && fix_text_is(t, k + 1, ";") ? k + 1 : 0;
}

/* The file's only static shared array becomes dynamic. */
static void fix_shared_array(struct mistake *m) {
    const struct fix_text *t = m->text;
    size_t found = 0, at = 0, size = 0, end = 0;
    for (size_t i = 1; t && i < t->count; i++) {
        if (fix_text_is(t, i, "__shared__") && !fix_text_is(t, i - 1, "extern")) {
            found++;
            at = i;
        }
    }
    if (found == 1 && (end = shared_array_end(t, at, &size))) {
        size_t open = t->tokens[size].end, close = t->tokens[end - 1].start;
        mistake_edit(m, "make the array dynamic: its size then comes from the launch",
                     t->tokens[at].start, t->tokens[at].start, "extern ");
        mistake_edit(m, NULL, open, close, "");
    }
}

static void fix_shared(struct mistake *m) {
    mistake_say(m, "above 48 KB (49152) declare the array `extern __shared__`, allow it "
                   "with cudaFuncSetAttribute(kernel, "
                   "cudaFuncAttributeMaxDynamicSharedMemorySize, bytes) and pass the "
                   "bytes at the launch; the H100 has 232448 bytes per block");
    fix_shared_array(m);
}

/* --- what has a cure that is no edit --- */

static void tell_target(struct mistake *m) {
    if (strcmp(m->fixer->arch, "sm_90") == 0 && !m->fixer->told_target) {
        m->fixer->told_target = true;
        mistake_say(
            m, "compile for arch \"sm_90a\", which the H100 is: wgmma, setmaxnreg and "
               "their like are not part of plain sm_90");
    }
}

static void tell_device_launch(struct mistake *m) {
    mistake_say(m, "a kernel that launches another one needs relocatable code and CUDA's "
                   "device runtime, which are not checked here: launch from the host");
}

/* NVRTC's own advice is an option that would make everything device code. */
static void tell_unannotated(struct mistake *m) {
    size_t len = strlen(m->message) - strlen(m->word) - strlen(". Consider using");
    autofree char *message = xasprintf(
        "%.*s; mark it __device__ or __constant__ (or constexpr)", (int)len, m->message);
    json_object_set_new(m->finding, "message", json_clean_z(message));
}

static void tell_template_name(struct mistake *m) {
    mistake_say(m,
                "in dependent code write `typename` before the type or `template` before "
                "the member");
}

/* --- rules --- */

struct rule {
    const char *before, *after; /* the message holds before, the word, after */
    void (*apply)(struct mistake *m);
    bool needs_place;
};

static const struct rule rules[] = {
    {"identifier \"", "\" is undefined", fix_undefined_name, true},
    {"namespace \"", "\"", fix_missing_member, true},
    {"name followed by \"::\" must be", "", fix_unknown_space, true},
    {"name must be a namespace name", "", fix_unknown_space, true},
    {"expected a \";\"", "", fix_semicolon, true},
    {"expected a \"}\"", "", fix_brace, false},
    {"cannot open source file \"", "\"", fix_header, true},
    {"expression must be a modifiable lvalue", "", fix_const, true},
    {"without '.sync' is not supported", "", fix_unsynchronised_name, true},
    {"not supported on .target", "", tell_target, false},
    {"requires .target", "", tell_target, false},
    {"uses too much shared data (", " max", fix_shared, false},
    {"bytes of static shared memory", "", fix_shared_array, false},
    {"device-side kernel launch could not be processed", "", tell_device_launch, false},
    {". Consider using", "", tell_unannotated, false},
    {"nontype \"", "\" is not a type name", tell_template_name, false},
};

/* The word is taken up to the last `after`: names may hold quotation marks of their own.
 */
static bool rule_matches(const struct rule *rule, struct mistake *m) {
    const char *at = strstr(m->message, rule->before);
    if (!at) {
        return false;
    }
    m->word = at + strlen(rule->before);
    const char *end = NULL;
    for (const char *p = m->word; *rule->after && (p = strstr(p, rule->after)); p++) {
        end = p;
    }
    m->word_len = end ? (size_t)(end - m->word) : 0;
    return end || !*rule->after;
}

static void mistake_place(struct mistake *m) {
    const json_t *f = m->finding;
    json_int_t line = json_get_integer(f, "line", 0);
    m->text =
        line > 0 ? mistake_source(m->fixer, json_get_string(f, "file", NULL)) : NULL;
    if (m->text) {
        m->offset =
            fix_text_offset(m->text, (int)line, (int)json_get_integer(f, "column", 0));
        m->token = fix_text_token(m->text, m->offset);
    }
}

static void mistake_fix(struct fixer *fixer, json_t *finding) {
    struct mistake m = {.fixer = fixer, .finding = finding};
    autofree char *message = xstrdup(json_get_string(finding, "message", ""));
    m.message = message;
    if (!mistake_is_of_front_end(finding) && !json_says(finding, "source", "ptxas") &&
        !json_says(finding, "code", "static_shared_too_large")) {
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(rules); i++) {
        if (rule_matches(&rules[i], &m)) {
            mistake_place(&m);
            if (m.text || !rules[i].needs_place) {
                rules[i].apply(&m);
            }
            return;
        }
    }
}

void fixes_add(json_t *findings, const struct source_set *sources, const char *arch) {
    struct fixer fixer = {.sources = sources, .arch = arch, .findings = findings};
    fixer.texts = xcalloc(sources->count, sizeof(struct fix_text *));
    json_each(findings, i, finding) {
        mistake_fix(&fixer, finding);
    }
    for (size_t k = 0; k < sources->count; k++) {
        if (fixer.texts[k]) {
            fix_text_finish(fixer.texts[k]);
            free(fixer.texts[k]);
        }
    }
    free(fixer.texts);
}

void fixes_name_packages(json_t *findings) {
    static const char missing[] = ": No such file or directory";
    json_each(findings, i, finding) {
        const char *message = json_get_string(finding, "message", "");
        const char *end = json_says(finding, "source", "gcc") ? strstr(message, missing)
                                                              : NULL;
        const char *package = end ? package_of(message, (size_t)(end - message)) : NULL;
        if (package && !end[strlen(missing)]) {
            autofree char *words = xasprintf(
                "%s; it belongs to %s: give its folder with -I", message, package);
            json_object_set_new(finding, "message", json_text(words, strlen(words)));
        }
    }
}
