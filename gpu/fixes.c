#include "gpu/fixes.h"

#include "base/buf.h"
#include "base/mem.h"
#include "gpu/cuda_builtins.h"
#include "gpu/fix_text.h"
#include "gpu/fixes_table.h"

#include <limits.h>
#include <string.h>
#include <strings.h>

/* All that one call works with. The texts are read when a finding points into them. */
struct fixer {
    const struct source_set *sources;
    const char *arch;
    json_t *findings;
    struct fix_text **texts; /* one per source, NULL until needed */
    bool told_target;        /* the way out of sm_90 was told; once is enough */
};

/* The finding at hand. */
struct mistake {
    struct fixer *fixer;
    json_t *finding;
    const char *message;
    struct fix_text *text; /* NULL when it has no place in a source */
    size_t offset, token;  /* where it points, and the token there (count: none) */
    const char *word;      /* what the message names between the rule's two texts */
    size_t word_len;
};

/* The last one of that name: a header is compiled through a unit that borrows its name.
 */
static struct fix_text *text_of(struct fixer *fixer, const char *display) {
    for (size_t i = fixer->sources->count; display && i-- > 0;) {
        if (strcmp(fixer->sources->files[i].display, display) == 0) {
            if (!fixer->texts[i]) {
                fixer->texts[i] = xmalloc(sizeof *fixer->texts[i]);
                fix_text_init(fixer->texts[i], &fixer->sources->files[i]);
            }
            return fixer->texts[i];
        }
    }
    return NULL;
}

/* --- edits --- */

static void add_edit(struct mistake *m, const char *title, size_t start, size_t end,
                     const char *text) {
    struct finding_span span = fix_text_span(m->text, start, end);
    if (title) {
        finding_add_fix(m->finding, title, m->text->display, &span, text);
    } else {
        finding_add_edit(m->finding, m->text->display, &span, text);
    }
}

static void add_words(struct mistake *m, const char *more) {
    autofree char *message = xasprintf("%s; %s", m->message, more);
    json_object_set_new(m->finding, "message", json_clean_z(message));
}

/* A fix that adds lines at the top: an #include, a declaration, or both. */
static void add_top_lines(struct mistake *m, const char *header,
                          const char *declaration) {
    struct fix_text *t = m->text;
    bool include = header && !fix_text_includes(t, header);
    if (!include && !declaration) {
        return;
    }
    size_t place = fix_text_include_place(t);
    bool unfinished = place && t->text[place - 1] != '\n' && t->text[place - 1] != '\r';
    autofree char *title =
        include ? xasprintf("add #include %s%s%s", header, declaration ? " and " : "",
                            declaration ? declaration : "")
                : xasprintf("add %s", declaration);
    autobuf lines = BUF_INIT(4096);
    buf_adds(&lines, unfinished ? "\n" : "");
    if (include) {
        buf_addf(&lines, "#include %s\n", header);
    }
    if (declaration) {
        buf_addf(&lines, "%s\n", declaration);
    }
    add_edit(m, title, place, place, lines.data);
}

static void replace_token(struct mistake *m, size_t token, const char *by) {
    const struct cuda_token *t = &m->text->tokens[token];
    autofree char *title =
        xasprintf("change \"%.*s\" to \"%s\"", (int)(t->end - t->start),
                  m->text->text + t->start, by);
    add_edit(m, title, t->start, t->end, by);
}

/* --- undefined names --- */

static bool word_is(const struct mistake *m, const char *name) {
    return strlen(name) == m->word_len && memcmp(name, m->word, m->word_len) == 0;
}

/* The token the finding points at, when it is the word the message names. */
static bool at_word(const struct mistake *m) {
    return fix_text_has(m->text, m->token, m->word, m->word_len);
}

static void respell_token(struct mistake *m, size_t token,
                          const struct name_spelling *s) {
    replace_token(m, token, s->spelling);
    if (s->first_argument && fix_text_is(m->text, token + 1, "(")) {
        bool empty = fix_text_is(m->text, token + 2, ")");
        autofree char *argument = xasprintf("%s%s", s->first_argument, empty ? "" : ", ");
        size_t after = m->text->tokens[token + 1].end;
        add_edit(m, NULL, after, after, argument);
    }
}

static bool fix_spelling(struct mistake *m) {
    const struct name_spelling *s = name_spellings;
    while (s->name && !word_is(m, s->name)) {
        s++;
    }
    if (s->name && at_word(m)) {
        respell_token(m, m->token, s);
    }
    return s->name != NULL;
}

/* `Instruction 'vote' without '.sync'`: some names still compile to what no GPU has. The
 * finding knows its line only. */
static void fix_unsynchronised(struct mistake *m) {
    const struct fix_text *t = m->text;
    int line = (int)json_get_integer(m->finding, "line", 0);
    size_t end = fix_text_offset(t, line, INT_MAX);
    for (size_t i = fix_text_token(t, fix_text_offset(t, line, 1));
         i < t->count && t->tokens[i].start < end; i++) {
        for (const struct name_spelling *s = name_spellings; s->name; s++) {
            if (s->first_argument && fix_text_is(t, i, s->name)) {
                respell_token(m, i, s);
                return;
            }
        }
    }
}

/* A declaration at file level goes on so after its name. */
static bool continues_variable(const struct fix_text *t, size_t i) {
    static const char *const words[] = {"=", "[", ";", "{"};
    for (size_t k = 0; k < ARRAY_LEN(words); k++) {
        if (fix_text_is(t, i, words[k])) {
            return true;
        }
    }
    return false;
}

/* The declaration that begins at `place` names what is missing, at token i. */
static void mark_device(struct mistake *m, size_t place, size_t i) {
    if (fix_text_is(m->text, i + 1, "(")) {
        add_edit(m, "mark the function __device__ too", place, place,
                 "__host__ __device__ ");
        add_words(m, "a function of that name is there, but for the host only");
    } else {
        add_edit(m, "make the variable __device__: it is then the GPU's alone", place,
                 place, "__device__ ");
        add_words(m, "a variable of that name is there, but for the host only");
    }
}

/* The file has the function or variable, but for the host only: it was left out. */
static bool fix_host_name(struct mistake *m) {
    const struct source_file *file = NULL;
    for (size_t i = 0; i < m->fixer->sources->count && !file; i++) {
        const struct source_file *f = &m->fixer->sources->files[i];
        file = m->fixer->texts[i] == m->text ? f : NULL;
    }
    if (!file || !file->original) {
        return false;
    }
    const struct fix_text *t = m->text;
    size_t begin = 0; /* of the declaration that token i is in */
    int depth = 0;
    for (size_t i = 0; i < t->count; i++) {
        size_t at = t->tokens[i].start;
        bool blanked = file->text[at] == ' ' && t->text[at] != ' ';
        if (depth == 0 && blanked && fix_text_has(t, i, m->word, m->word_len) &&
            begin < i && (fix_text_is(t, i + 1, "(") || continues_variable(t, i + 1))) {
            mark_device(m, t->tokens[begin].start, i);
            return true;
        }
        depth += fix_text_is(t, i, "{") - fix_text_is(t, i, "}");
        if (depth == 0 && (t->tokens[i].kind == CUDA_DIRECTIVE ||
                           fix_text_is(t, i, ";") || fix_text_is(t, i, "}"))) {
            begin = i + 1;
        }
    }
    return false;
}

static void fix_undefined(struct mistake *m) {
    if (fix_spelling(m)) {
        return;
    }
    for (const struct name_header *h = name_headers; h->name; h++) {
        if (word_is(m, h->name)) {
            add_top_lines(m, h->header, NULL);
            return;
        }
    }
    if (fix_host_name(m) || !at_word(m)) {
        return;
    }
    const char *near = cuda_builtin_nearest(m->word, m->word_len);
    if (near && !word_is(m, near)) {
        autofree char *more = xasprintf("did you mean \"%s\"?", near);
        replace_token(m, m->token, near);
        add_words(m, more);
    }
}

/* --- namespaces --- */

static bool member_matches(const char *pattern, const char *name, size_t len) {
    size_t n = strlen(pattern);
    if (n && pattern[n - 1] == '*') {
        return len >= n - 1 && memcmp(pattern, name, n - 1) == 0;
    }
    return len == n && memcmp(pattern, name, n) == 0;
}

static const struct member_header *member_find(const char *space, const char *name,
                                               size_t len) {
    const struct member_header *h = member_headers;
    while (h->space &&
           !(strcmp(h->space, space) == 0 && member_matches(h->name, name, len))) {
        h++;
    }
    return h->space ? h : NULL;
}

static const struct space_alias *alias_at(const struct fix_text *t, size_t token) {
    const struct space_alias *a = space_aliases;
    while (a->name && !fix_text_is(t, token, a->name)) {
        a++;
    }
    return a->name ? a : NULL;
}

static bool alias_declared(const struct fix_text *t, const struct space_alias *alias) {
    const char *const equals[] = {"namespace", alias->name, "=", NULL};
    const char *const using[] = {"using", "namespace", alias->space, NULL};
    return fix_text_says(t, equals) || fix_text_says(t, using);
}

/* `std::max` where CUDA's own `max` does: without the namespace. */
static void fix_without_space(struct mistake *m, size_t space) {
    struct fix_text *t = m->text;
    autofree char *title = xasprintf("use CUDA's own %.*s", (int)m->word_len, m->word);
    add_edit(m, title, t->tokens[space].start, t->tokens[space + 2].start, "");
}

/* `namespace "X" has no member "Y"`; the word is `X" has no member "Y`. */
static void fix_member(struct mistake *m) {
    static const char middle[] = "\" has no member \"";
    const char *at = memmem(m->word, m->word_len, middle, sizeof middle - 1);
    if (!at) {
        return;
    }
    autofree char *space = xstrndup(m->word, (size_t)(at - m->word));
    m->word_len -= (size_t)(at - m->word) + sizeof middle - 1;
    m->word = at + sizeof middle - 1;
    const struct member_header *h = member_find(space, m->word, m->word_len);
    if (h && h->header) {
        add_top_lines(m, h->header, NULL);
    } else if (h && m->token >= 2 && at_word(m) &&
               fix_text_is(m->text, m->token - 1, "::") &&
               fix_text_is(m->text, m->token - 2, space)) {
        fix_without_space(m, m->token - 2);
    }
}

/* A name before "::" that is no namespace yet. The finding points at it. */
static void fix_scope(struct mistake *m) {
    const struct fix_text *t = m->text;
    const struct space_alias *alias = alias_at(t, m->token);
    if (!alias) {
        return;
    }
    size_t last = m->token + 2; /* nvcuda::wmma::x is looked up as nvcuda's */
    const struct cuda_token *member = last < t->count ? &t->tokens[last] : NULL;
    bool qualified = member && fix_text_is(t, m->token + 1, "::");
    const char *name = qualified ? t->text + member->start : "";
    size_t len = qualified ? member->end - member->start : 0;
    const struct member_header *h = member_find(alias->space, name, len);
    if (h && h->header) {
        const char *declaration =
            alias->declaration && !alias_declared(t, alias) ? alias->declaration : NULL;
        add_top_lines(m, h->header, declaration);
    }
}

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
    const json_t *other;
    size_t i;
    json_int_t line = json_get_integer(m->finding, "line", 0);
    json_int_t column = json_get_integer(m->finding, "column", 0);
    json_array_foreach(m->fixer->findings, i, other) {
        if (other != m->finding && json_get_integer(other, "line", 0) == line &&
            json_get_integer(other, "column", 0) < column &&
            strcmp(json_get_string(other, "severity", ""), "error") == 0 &&
            !is_harmless(m, other)) {
            return true;
        }
    }
    return false;
}

static void fix_semicolon(struct mistake *m) {
    const struct fix_text *t = m->text;
    if (!m->token || m->token > t->count || follows_another(m)) {
        return;
    }
    const struct cuda_token *before = &t->tokens[m->token - 1];
    if (before->kind != CUDA_DIRECTIVE && !fix_text_is(t, m->token - 1, ";")) {
        add_edit(m, "add the missing \";\"", before->end, before->end, ";");
    }
}

static long open_braces(const struct fix_text *t) {
    long depth = 0;
    for (size_t i = 0; i < t->count; i++) {
        depth += fix_text_is(t, i, "{") - fix_text_is(t, i, "}");
    }
    return depth;
}

/* One brace too few in one whole file: it is missing at the end or nowhere we could tell.
 */
static void fix_brace(struct mistake *m) {
    const struct source_set *sources = m->fixer->sources;
    for (size_t i = 0; i < sources->count && !m->text; i++) {
        struct fix_text *t = text_of(m->fixer, sources->files[i].display);
        m->text = open_braces(t) == 1 ? t : NULL;
    }
    const struct fix_text *t = m->text;
    if (t) {
        bool unfinished = t->len && t->text[t->len - 1] != '\n';
        add_edit(m, "add the missing \"}\" at the end", t->len, t->len,
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

static bool is_host_header(const char *name, size_t len) {
    for (const char *const *h = host_headers; *h; h++) {
        size_t n = strlen(*h);
        if (len >= n && memcmp(name, *h, n) == 0) {
            return true;
        }
    }
    return false;
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
        add_edit(m, title, at, at + m->word_len, near);
        return;
    }
    if (name && is_host_header(m->word, m->word_len)) {
        add_edit(m, "remove the #include", start, end, "");
        add_words(m, "it is for host code and not needed to compile kernels");
    } else if (name && name > t->text && name[-1] == '"') {
        add_words(m, "send the file in \"headers\", or name its folder in "
                     "\"include_roots\"");
    }
}

/* --- const --- */

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
        for (size_t k = i; k-- > 0 && !fix_text_is(t, k, ",") &&
                           !fix_text_is(t, k, "(") && !fix_text_is(t, k, ";") &&
                           !fix_text_is(t, k, "{");) {
            if (fix_text_is(t, k, "const") && !fix_text_is(t, k - 1, "*")) {
                autofree char *title =
                    xasprintf("declare \"%.*s\" without const",
                              (int)(name->end - name->start), t->text + name->start);
                add_edit(m, title, t->tokens[k].start, t->tokens[k + 1].start, "");
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
        add_edit(m, "make the array dynamic: its size then comes from the launch",
                 t->tokens[at].start, t->tokens[at].start, "extern ");
        add_edit(m, NULL, open, close, "");
    }
}

static void fix_shared(struct mistake *m) {
    unsigned long used = strtoul(m->word, NULL, 16);
    const char *comma = memchr(m->word, ',', m->word_len);
    unsigned long most = comma ? strtoul(comma + 1, NULL, 16) : 0;
    autofree char *more = xasprintf(
        "that is %lu of at most %lu bytes. Above 48 KB (49152) declare the array `extern "
        "__shared__`, allow it with cudaFuncSetAttribute(kernel, "
        "cudaFuncAttributeMaxDynamicSharedMemorySize, bytes) and pass the bytes at the "
        "launch; the H100 has 232448 bytes per block",
        used, most);
    add_words(m, more);
    fix_shared_array(m);
}

/* --- what has a cure that is no edit --- */

static void tell_target(struct mistake *m) {
    if (strcmp(m->fixer->arch, "sm_90") == 0 && !m->fixer->told_target) {
        m->fixer->told_target = true;
        add_words(m,
                  "compile for arch \"sm_90a\", which the H100 is: wgmma, setmaxnreg and "
                  "their like are not part of plain sm_90");
    }
}

static void tell_device_launch(struct mistake *m) {
    add_words(m, "a kernel that launches another one needs relocatable code and CUDA's "
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
    add_words(m,
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
    {"identifier \"", "\" is undefined", fix_undefined, true},
    {"namespace \"", "\"", fix_member, true},
    {"name followed by \"::\" must be", "", fix_scope, true},
    {"name must be a namespace name", "", fix_scope, true},
    {"expected a \";\"", "", fix_semicolon, true},
    {"expected a \"}\"", "", fix_brace, false},
    {"cannot open source file \"", "\"", fix_header, true},
    {"expression must be a modifiable lvalue", "", fix_const, true},
    {"without '.sync' is not supported", "", fix_unsynchronised, true},
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
    m->text = line > 0 ? text_of(m->fixer, json_get_string(f, "file", NULL)) : NULL;
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
    const char *source = json_get_string(finding, "source", "");
    if (strcmp(source, "nvrtc") != 0 && strcmp(source, "ptxas") != 0 &&
        strcmp(json_get_string(finding, "code", ""), "static_shared_over_48k") != 0) {
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
    json_t *finding;
    size_t i;
    json_array_foreach(findings, i, finding) {
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
