/* How the operators are registered: TORCH_LIBRARY_EXPAND, def, impl, REGISTER_EXTENSION.
 */
#include "base/buf.h"
#include "skills/kernel_project/kernel_project.h"
#include "skills/kernel_project/torch_schema.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define MAX_CALLS 500
#define MAX_CALL (8u << 10)    /* bytes of one call */
#define MAX_BLOCK (256u << 10) /* and of a block of them */

struct operator_call {
    char name[128];     /* of the operator */
    char function[128]; /* that implements it; "" unknown */
    const char *path;   /* borrowed from the file */
    struct finding_span span;
    bool is_impl;
};

struct binding {
    struct kernel_project *project;
    struct operator_call calls[MAX_CALLS];
    size_t count;
    size_t blocks, registrations;
    const struct project_file *first; /* binding source, for findings about what lacks */
};

/* --- reading calls --- */

static size_t skip_blanks(const struct kernel_source *s, size_t at) {
    return at + strspn(s->code + at, " \t\r\n\\");
}

/* Adjacent string literals at `at` as one text. Places in it are true only for a single
 * one without escapes: *ret_plain. */
static size_t read_literals(const struct kernel_source *s, size_t at, struct buf *out,
                            bool *ret_plain) {
    size_t literals = 0;
    *ret_plain = true;
    for (at = skip_blanks(s, at);
         s->code[at] == '"' || strncmp(s->code + at, "R\"", 2) == 0;
         at = skip_blanks(s, at), literals++) {
        bool raw = s->code[at] == 'R';
        at += 1 + raw;
        size_t open = raw ? strcspn(s->code + at, "(") + 1 : 0;
        size_t end = at;
        while (s->words[end] && s->words[end] != '"') { /* blanked inside */
            end++;
        }
        size_t stop = raw && end >= at + 2 * open ? end - open : end;
        for (size_t i = at + open; i < stop; i++) {
            bool escape = !raw && s->code[i] == '\\' && i + 1 < stop;
            *ret_plain &= !escape && !raw;
            i += escape;
            buf_addc(out, escape && s->code[i] == 'n' ? '\n' : s->code[i]);
        }
        at = end + (s->words[end] == '"');
    }
    *ret_plain &= literals == 1;
    return literals ? at : SIZE_MAX;
}

static bool is_word(char c) {
    return isalnum((unsigned char)c) || c == '_';
}

/* The function that an impl's last argument names: "&ns::relu", "TORCH_BOX(&relu)",
 * "relu<float>"; "" for a lambda and the like. */
static void take_function(const struct kernel_source *s, size_t at, size_t end, char *out,
                          size_t size) {
    const char *box = strchr(s->words + at, '&');
    if (box && (size_t)(box - s->words) < end) {
        at = (size_t)(box - s->words) + 1;
    }
    size_t start = at, stop = at;
    for (; at < end && (is_word(s->words[at]) || strchr(": \t\r\n", s->words[at]));
         at++) {
        if (is_word(s->words[at]) && (at == 0 || !is_word(s->words[at - 1]))) {
            start = at;
        }
        stop = is_word(s->words[at]) ? at + 1 : stop;
    }
    bool plain = at >= end || strchr(",)<", s->words[at]);
    snprintf(out, size, "%.*s", plain && stop > start ? (int)(stop - start) : 0,
             s->words + start);
}

/* The last top-level comma of (…), or SIZE_MAX. */
static size_t last_comma(const struct kernel_source *s, size_t open, size_t close) {
    size_t found = SIZE_MAX;
    int depth = 0;
    for (size_t i = open; i < close; i++) {
        char c = s->words[i];
        depth += c == '(' || c == '[' || c == '{';
        depth -= c == ')' || c == ']' || c == '}';
        found = c == ',' && depth == 1 ? i : found;
    }
    return found;
}

static void schema_finding(struct binding *b, const struct project_file *file,
                           size_t literal, bool plain, size_t end,
                           const struct torch_schema_error *error) {
    const struct kernel_source *s = &file->source;
    size_t start = plain ? literal + 1 + error->start : literal;
    size_t stop = plain ? literal + 1 + error->end : end;
    struct finding_span span = kernel_source_span(s, start, stop);
    json_t *finding =
        kernel_project_add(b->project, file->path, "kernel_project_schema", FINDING_ERROR,
                           &span, "no schema of Torch: %s", error->msg);
    if (plain && error->instead) {
        autofree char *title = xasprintf("Write %s", error->instead);
        finding_add_fix(finding, title, file->path, &span, error->instead);
    }
}

static void take_def(struct binding *b, const struct project_file *file,
                     struct operator_call *call, const char *text, size_t literal,
                     bool plain, size_t end) {
    struct torch_schema schema;
    struct torch_schema_error error;
    size_t n = strcspn(text, "(");
    if (!text[n]) { /* the schema comes from a function given beside the name */
        snprintf(call->name, sizeof call->name, "%.127s", text);
        return;
    }
    if (!torch_schema_parse(text, &schema, &error)) {
        schema_finding(b, file, literal, plain, end, &error);
    }
    snprintf(call->name, sizeof call->name, "%s", schema.name);
}

/* `open` is the parenthesis of ops.def( or ops.impl(. */
static void take_call(struct binding *b, const struct project_file *file, size_t open,
                      bool is_impl) {
    const struct kernel_source *s = &file->source;
    autobuf text = BUF_INIT(16u << 10);
    bool plain;
    size_t literal = skip_blanks(s, open + 1);
    size_t end = read_literals(s, open + 1, &text, &plain);
    if (end == SIZE_MAX || b->count == MAX_CALLS) {
        return;
    }
    size_t close = kernel_source_close(s, open, MAX_CALL);
    struct operator_call *call = &b->calls[b->count];
    *call = (struct operator_call){.path = file->path,
                                   .is_impl = is_impl,
                                   .span = kernel_source_span(s, literal, end)};
    if (is_impl) {
        size_t n = strcspn(text.data, "."), comma = last_comma(s, open, close);
        const char *colons = strstr(text.data, "::");
        const char *name = colons ? colons + 2 : text.data;
        n -= (size_t)(name - text.data) < n ? (size_t)(name - text.data) : n;
        snprintf(call->name, sizeof call->name, "%.*s", (int)(n < 127 ? n : 127), name);
        if (comma != SIZE_MAX) {
            take_function(s, comma + 1, close - 1, call->function, sizeof call->function);
        }
    } else {
        take_def(b, file, call, text.data, literal, plain, end);
    }
    b->count += call->name[0] != '\0';
    size_t comma = is_impl ? SIZE_MAX : last_comma(s, open, close);
    if (comma != SIZE_MAX && comma >= end && call->name[0] && b->count < MAX_CALLS) {
        /* def("name", &function) implements it too */
        b->calls[b->count] = *call;
        b->calls[b->count].is_impl = true;
        take_function(s, comma + 1, close - 1, b->calls[b->count].function,
                      sizeof call->function);
        b->count++;
    }
}

/* --- blocks --- */

/* "TORCH_LIBRARY_EXPAND(ns, ops) {": the variable's name and the body. */
static bool read_head(const struct kernel_source *s, size_t at, char *variable,
                      size_t size, size_t *ret_body, size_t *ret_argument,
                      size_t *ret_argument_end) {
    size_t open = at + strcspn(s->words + at, "(");
    if (!s->words[open]) {
        return false;
    }
    size_t close = kernel_source_close(s, open, MAX_CALL),
           comma = last_comma(s, open, close);
    *ret_body = skip_blanks(s, close);
    *ret_argument = skip_blanks(s, open + 1);
    *ret_argument_end = *ret_argument + strcspn(s->words + *ret_argument, ",) \t\r\n");
    if (comma == SIZE_MAX || s->words[*ret_body] != '{') {
        return false;
    }
    size_t start = skip_blanks(s, comma + 1), n = 0;
    while (is_word(s->words[start + n])) {
        n++;
    }
    snprintf(variable, size, "%.*s", (int)(n < 60 ? n : 60), s->words + start);
    return n > 0;
}

static void take_calls(struct binding *b, const struct project_file *file, size_t body,
                       const char *variable) {
    const struct kernel_source *s = &file->source;
    size_t end = kernel_source_close(s, body, MAX_BLOCK);
    for (size_t at = body; (at = kernel_source_word(s, variable, at)) < end; at++) {
        size_t dot = skip_blanks(s, at + strlen(variable));
        const char *call = s->words + dot;
        bool def = strncmp(call, ".def", 4) == 0, impl = strncmp(call, ".impl", 5) == 0;
        size_t open = def || impl ? skip_blanks(s, dot + (def ? 4 : 5)) : dot;
        if ((def || impl) && s->words[open] == '(') {
            take_call(b, file, open, impl);
        }
    }
}

static void fixed_library_name(struct binding *b, const struct project_file *file,
                               size_t macro, size_t argument_end) {
    struct finding_span span = kernel_source_span(&file->source, macro, argument_end);
    json_t *finding = kernel_project_add(
        b->project, file->path, "kernel_project_fixed_namespace", FINDING_ERROR, &span,
        "the library's name changes with every build: "
        "TORCH_LIBRARY_EXPAND(TORCH_EXTENSION_NAME, …)");
    finding_add_fix(finding, "Use TORCH_LIBRARY_EXPAND", file->path, &span,
                    "TORCH_LIBRARY_EXPAND(TORCH_EXTENSION_NAME");
}

static void take_blocks(struct binding *b, const struct project_file *file) {
    static const char *const macros[] = {
        "TORCH_LIBRARY_EXPAND",
        "TORCH_LIBRARY_IMPL_EXPAND",
        "TORCH_LIBRARY",
        "TORCH_LIBRARY_FRAGMENT",
        "TORCH_LIBRARY_IMPL",
        "STABLE_TORCH_LIBRARY_EXPAND",
        "STABLE_TORCH_LIBRARY_IMPL_EXPAND",
        "STABLE_TORCH_LIBRARY",
        "STABLE_TORCH_LIBRARY_FRAGMENT",
        "STABLE_TORCH_LIBRARY_IMPL",
    };
    const struct kernel_source *s = &file->source;
    for (size_t i = 0; i < ARRAY_LEN(macros); i++) {
        size_t at = 0, blocks = 0;
        while (blocks++ < 64 && (at = kernel_source_word(s, macros[i], at)) != SIZE_MAX) {
            char variable[64];
            size_t body, argument, end;
            size_t macro = at;
            at += strlen(macros[i]);
            if (!read_head(s, macro, variable, sizeof variable, &body, &argument, &end)) {
                continue;
            }
            b->blocks++;
            b->first = b->first ? b->first : file;
            if (strcmp(macros[i], "TORCH_LIBRARY") == 0 &&
                strncmp(s->words + argument, "TORCH_EXTENSION_NAME", 20) != 0) {
                fixed_library_name(b, file, macro, end);
            }
            take_calls(b, file, body, variable);
        }
    }
    size_t at = kernel_source_word(s, "REGISTER_EXTENSION", 0);
    b->registrations += at != SIZE_MAX;
}

/* --- def, impl, function --- */

static bool has_call(const struct binding *b, const char *name, bool is_impl) {
    for (size_t i = 0; i < b->count; i++) {
        if (b->calls[i].is_impl == is_impl && strcmp(b->calls[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

static void check_pairs(struct binding *b) {
    for (size_t i = 0; i < b->count; i++) {
        const struct operator_call *c = &b->calls[i];
        if (has_call(b, c->name, !c->is_impl)) {
            continue;
        }
        kernel_project_add(b->project, c->path,
                           c->is_impl ? "kernel_project_impl_without_def"
                                      : "kernel_project_def_without_impl",
                           FINDING_ERROR, &c->span,
                           c->is_impl ? "operator %s has an impl, but no def"
                                      : "operator %s has a def, but no impl",
                           c->name);
    }
}

/* What the sources say of a function that implements an operator. */
struct function {
    const struct operator_call *call;
    bool defined, in_header, in_binding;
    unsigned tries; /* places looked at closely */
};

struct functions {
    struct function list[MAX_CALLS];
    size_t count;
    json_t *index; /* {name: place in the list} */
};

#define MAX_TRIES 32
#define MAX_PARAMETERS (4u << 10) /* bytes of a parameter list */

/* The name stands at [at, end): followed by "(", it is a call or a declaration; with a
 * body after that, a definition. */
static void look_closely(struct function *f, const struct kernel_source *s, size_t end,
                         bool header, bool binding) {
    size_t open = skip_blanks(s, end);
    if (s->words[open] != '(' || f->tries >= MAX_TRIES) {
        return;
    }
    f->tries++;
    f->in_header |= header;
    f->in_binding |= binding;
    size_t after = skip_blanks(s, kernel_source_close(s, open, MAX_PARAMETERS));
    const char *next = s->words + after;
    f->defined |=
        *next == '{' || strncmp(next, "noexcept", 8) == 0 || strncmp(next, "->", 2) == 0;
}

static void look_through(struct functions *all, const struct kernel_source *s,
                         bool header, bool binding) {
    for (size_t at = 0; at < s->len; at++) {
        size_t end = at;
        while (is_word(s->words[end])) {
            end++;
        }
        if (end > at) {
            const json_t *found = json_object_getn(all->index, s->words + at, end - at);
            if (found) {
                look_closely(&all->list[json_integer_value(found)], s, end, header,
                             binding);
            }
            at = end;
        }
    }
}

static void collect_functions(const struct binding *b, struct functions *all) {
    for (size_t i = 0; i < b->count; i++) {
        const char *name = b->calls[i].function;
        if (b->calls[i].is_impl && name[0] && !json_object_get(all->index, name)) {
            json_object_set_new(all->index, name, json_integer((json_int_t)all->count));
            all->list[all->count++] = (struct function){.call = &b->calls[i]};
        }
    }
}

static void judge_function(struct binding *b, const struct function *f) {
    const struct operator_call *c = f->call;
    if (!f->defined) {
        kernel_project_add(b->project, c->path, "kernel_project_function_undefined",
                           FINDING_WARNING, &c->span,
                           "%s, which implements %s, is defined nowhere", c->function,
                           c->name);
    } else if (!f->in_header && !f->in_binding) {
        kernel_project_add(
            b->project, c->path, "kernel_project_function_undeclared", FINDING_ERROR,
            &c->span,
            "%s, which implements %s, is declared in no header: declare it "
            "in torch_binding.h",
            c->function, c->name);
    }
}

static bool registers(const struct binding *b, const struct project_file *file) {
    for (size_t i = 0; i < b->count; i++) {
        if (b->calls[i].path == file->path) {
            return true;
        }
    }
    return false;
}

static void check_functions(struct binding *b) {
    struct functions *all = xcalloc(1, sizeof *all);
    all->index = json_object();
    collect_functions(b, all);
    for (size_t i = 0; all->count && i < b->project->count; i++) {
        struct project_file *file = &b->project->files[i];
        if (!kernel_project_ends(file->path, PROJECT_SOURCES PROJECT_HEADERS)) {
            continue;
        }
        const struct kernel_source *s = kernel_project_source(b->project, file);
        if (s) {
            look_through(all, s, kernel_project_ends(file->path, PROJECT_HEADERS),
                         registers(b, file));
        }
    }
    for (size_t i = 0; i < all->count; i++) {
        judge_function(b, &all->list[i]);
    }
    json_decref(all->index);
    free(all);
}

/* --- the whole --- */

static void check_registration(struct binding *b) {
    if (!b->blocks) {
        kernel_project_add(b->project, b->first ? b->first->path : "build.toml",
                           "kernel_project_library_missing", FINDING_ERROR, NULL,
                           "no source of [torch] registers operators: "
                           "TORCH_LIBRARY_EXPAND(TORCH_EXTENSION_NAME, ops) { … }");
        return;
    }
    if (!b->registrations) {
        const struct kernel_source *s = &b->first->source;
        struct finding_span span = kernel_source_span(s, s->len, s->len);
        json_t *finding = kernel_project_add(
            b->project, b->first->path, "kernel_project_register_missing", FINDING_ERROR,
            &span,
            "REGISTER_EXTENSION(TORCH_EXTENSION_NAME) is missing: Python can't "
            "import the module without it");
        bool ended = s->len && s->text[s->len - 1] == '\n';
        finding_add_fix(finding, "Add REGISTER_EXTENSION", b->first->path, &span,
                        ended ? "\nREGISTER_EXTENSION(TORCH_EXTENSION_NAME)\n"
                              : "\n\nREGISTER_EXTENSION(TORCH_EXTENSION_NAME)\n");
    }
}

void kernel_binding_check(struct kernel_project *p) {
    const struct toml_node *src = toml_find(p->build, "/torch/src");
    if (!src || src->kind != TOML_ARRAY || toml_count(src) == 0) {
        return;
    }
    struct binding *b = xcalloc(1, sizeof *b);
    b->project = p;
    bool read = false;
    for (size_t i = 0; i < p->count; i++) {
        struct project_file *f = &p->files[i];
        if (f->listed && kernel_project_ends(f->path, PROJECT_SOURCES) &&
            kernel_project_source(p, f)) {
            read = true;
            take_blocks(b, f);
        }
    }
    if (read) {
        check_registration(b);
        check_pairs(b);
        check_functions(b);
    }
    free(b);
}
