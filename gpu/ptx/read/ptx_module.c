/* The whole text: directives of module scope. */

#include "base/err.h"
#include "base/find.h"
#include "gpu/ptx/read/ptx_names.h"
#include "gpu/ptx/read/ptx_reader.h"

/* A further text of a linked program: it counts its files anew, and names without
 * linkage are its own. */
static void part_begin(struct ptx_reader *r) {
    r->first_file = r->m->file_count;
    ptx_scopes_forget_own(&r->module_scope);
}

static bool parse_version(struct ptx_reader *r) {
    unsigned major = 0, minor = 0;
    part_begin(r);
    ptx_next(r);
    struct ptx_token t = r->token;
    if (!ptx_expect(r, PTX_TOKEN_NUMBER)) {
        return false;
    }
    const char *at = ptx_spelling(r, t), *end = at + t.len;
    while (at < end && *at >= '0' && *at <= '9' && major < 1000) {
        major = major * 10 + (unsigned)(*at++ - '0');
    }
    for (at += at < end && *at == '.'; at < end && *at >= '0' && *at <= '9'; at++) {
        minor = minor < 1000 ? minor * 10 + (unsigned)(*at - '0') : minor;
    }
    if (at != end) {
        return ptx_fail_at(r, t.line, -EINVAL, "this is not a version of PTX");
    }
    r->m->version_major = major;
    r->m->version_minor = minor;
    return true;
}

/* `.target sm_90a, texmode_independent` */
static bool parse_target(struct ptx_reader *r) {
    ptx_next(r);
    struct ptx_token t = r->token;
    if (!ptx_expect(r, PTX_TOKEN_NAME)) {
        return false;
    }
    if (t.len >= sizeof r->m->target) {
        return ptx_fail_at(r, t.line, -EINVAL, "this is not a target");
    }
    memcpy(r->m->target, ptx_spelling(r, t), t.len);
    r->m->target[t.len] = '\0';
    while (ptx_accept(r, ',')) {
        if (!ptx_expect(r, PTX_TOKEN_NAME)) {
            return false;
        }
    }
    return r->code == 0;
}

static bool parse_address_size(struct ptx_reader *r) {
    uint64_t bits;
    uint32_t line = r->token.line;
    ptx_next(r);
    if (!ptx_parse_count(r, 64, &bits)) {
        return false;
    }
    return bits == 64 ||
           ptx_fail_at(r, line, -ENOTSUP, "addresses of %u bits; make PTX with 64",
                       (unsigned)bits);
}

static int parse_linkage(struct ptx_reader *r) {
    static const struct {
        const char *word;
        int linkage;
    } words[] = {
        {"extern", PTX_EXTERN},
        {"visible", PTX_VISIBLE},
        {"weak", PTX_WEAK},
        {"common", PTX_COMMON},
    };
    int linkage = 0;
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        if (ptx_at_word(r, words[i].word)) {
            linkage |= words[i].linkage;
            ptx_next(r);
            i = (size_t)-1; /* from the first word again */
        }
    }
    return linkage;
}

static bool parse_declaration(struct ptx_reader *r) {
    int linkage = parse_linkage(r);
    struct ptx_token t = r->token;
    struct ptx_word word;
    if (ptx_at_word(r, "entry") || ptx_at_word(r, "func")) {
        return ptx_parse_function(r, linkage);
    }
    if (ptx_at(r, PTX_TOKEN_WORD) && !ptx_at_word(r, "reg") &&
        ptx_word_find(ptx_spelling(r, t), t.len, &word) && word.space != PTX_GENERIC) {
        return ptx_parse_variables(r, word.space, linkage);
    }
    if (ptx_at(r, PTX_TOKEN_WORD)) {
        return ptx_fail(r, -ENOTSUP, "the directive '.%.*s' is not known", ptx_shown(t),
                        ptx_spelling(r, t));
    }
    return ptx_fail_expected(r, "a directive");
}

static bool parse_directive(struct ptx_reader *r) {
    static const struct {
        const char *word;
        bool (*parse)(struct ptx_reader *r);
    } directives[] = {
        {"version", parse_version},
        {"target", parse_target},
        {"address_size", parse_address_size},
        {"loc", ptx_parse_loc},
        {"file", ptx_parse_file},
        {"section", ptx_parse_section},
        {"pragma", ptx_skip_pragma},
        {"alias", ptx_parse_alias},
    };
    for (size_t i = 0; i < ARRAY_LEN(directives); i++) {
        if (ptx_at_word(r, directives[i].word)) {
            return directives[i].parse(r);
        }
    }
    return ptx_accept(r, ';') || parse_declaration(r);
}

static bool parse_module(struct ptx_reader *r) {
    ptx_next(r);
    if (!ptx_at_word(r, "version")) {
        return ptx_fail_expected(r, "'.version'");
    }
    while (!r->code && !ptx_at(r, PTX_TOKEN_END)) {
        if (!parse_directive(r)) {
            return false;
        }
    }
    return r->code == 0;
}

static void reader_finish(struct ptx_reader *r) {
    ptx_scopes_finish(&r->module_scope);
    ptx_scopes_finish(&r->scope);
    ptx_place_index_free(r->place_index);
    free(r->label_uses);
}

/* Places and files are never empty: index 0 is "unknown". */
static void fill_gaps(struct ptx_module *m) {
    if (!m->places) {
        m->places = xcalloc(1, sizeof *m->places);
        m->place_count = 1;
    }
    if (!m->files) {
        m->files = xcalloc(1, sizeof *m->files);
        m->file_count = 1;
    }
    if (!m->files[0]) {
        static char nothing[1];
        m->files[0] = nothing;
    }
}

static int read_module(struct ptx_module **ret, const char *text, size_t len, bool whole,
                       struct err *err) {
    if (len > PTX_MAX_TEXT) {
        return err_set(err, -EFBIG, "PTX of %zu bytes; the limit is %u MiB", len,
                       PTX_MAX_TEXT >> 20);
    }
    struct ptx_module *m = xcalloc(1, sizeof *m);
    m->text = xmalloc(len + 1);
    memcpy(m->text, text, len);
    m->text[len] = '\0';
    m->len = len;
    struct ptx_reader r = {.m = m, .err = err, .function = -1};
    ptx_lexer_init(&r.lexer, m->text, (uint32_t)len);
    ptx_scopes_init(&r.module_scope, m->text);
    ptx_scopes_init(&r.scope, m->text);
    bool ok = parse_module(&r);
    reader_finish(&r);
    if (!ok) {
        ptx_module_free(m);
        return r.code;
    }
    fill_gaps(m);
    ptx_mark_used(m, whole);
    *ret = m;
    return 0;
}

int ptx_module_read(struct ptx_module **ret, const char *text, size_t len,
                    struct err *err) {
    return read_module(ret, text, len, false, err);
}

int ptx_module_read_whole(struct ptx_module **ret, const char *text, size_t len,
                          struct err *err) {
    return read_module(ret, text, len, true, err);
}

static void function_free(struct ptx_function *f) {
    for (uint32_t i = 0; i < f->table_count; i++) {
        free(f->tables[i].targets);
    }
    free(f->tables);
    free(f->params);
    free(f->results);
    free(f->registers);
    free(f->code);
    free(f->operands);
    free(f->elements);
    free(f->leader);
}

static void prototype_free(struct ptx_prototype *p) {
    free(p->result_bytes);
    free(p->result_align);
    free(p->param_bytes);
    free(p->param_align);
}

void ptx_module_free(struct ptx_module *m) {
    if (!m) {
        return;
    }
    for (uint32_t i = 0; i < m->function_count; i++) {
        function_free(&m->functions[i]);
    }
    for (uint32_t i = 0; i < m->variable_count; i++) {
        free(m->variables[i].initialiser);
        free(m->variables[i].relocations);
    }
    for (uint32_t i = 0; i < m->prototype_count; i++) {
        prototype_free(&m->prototypes[i]);
    }
    ptx_names_free(m->names);
    free(m->functions);
    free(m->variables);
    free(m->prototypes);
    free(m->places);
    free(m->files);
    free(m->text);
    free(m);
}

const struct ptx_function *ptx_find_entry(const struct ptx_module *m, const char *name) {
    return list_find(f, m->functions, m->function_count,
                     f->is_entry && !f->is_declaration && strcmp(f->name, name) == 0);
}
