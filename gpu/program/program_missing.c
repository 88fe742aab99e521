#include "gpu/program/program_missing.h"

#include "base/buf.h"
#include "base/file.h"
#include "base/find.h"
#include "gpu/program/program_request.h"
#include "gpu/source/cuda_lexer.h"

#include <fts.h>

enum { MAX_LACKS = 64, MAX_ENTRIES = 50000, MAX_DEPTH = 12, MAX_TEXT = 1 << 20 };

/* A header that the compiler did not find, or a function that the linker did not. */
struct lack {
    json_t *finding;
    char *name;
    bool function;
    char *place;  /* a folder or a source; NULL: not found yet */
    size_t near; /* how much of its path is that of the program's source */
};

struct lack_search {
    const json_t *params;
    struct lack lacks[MAX_LACKS];
    size_t count;
    const char *root;
    size_t hidden; /* bytes of a path that are not shown */
    char *source;  /* the program's first, absolute, as if it lay beneath this root */
};

/* --- what it lacks --- */

/* "book.h: No such file or directory" */
static char *header_of(const char *message) {
    const char *end = strstr(message, ": No such file or directory");
    return end && !strchr(end, ';') ? xstrndup(message, (size_t)(end - message)) : NULL;
}

/* "undefined reference to `ns::half<int>(float*)'"; of C: "… `half'" */
static char *function_of(const char *message) {
    const char *at = strchr(message, '`'), *end = at ? strpbrk(at, "(<'") : NULL;
    while (end && (at = strstr(message, "::")) && at < end) {
        message = at + 2;
    }
    at = end ? memrchr(message, '`', (size_t)(end - message)) : NULL;
    message = at ? at + 1 : message;
    return end ? xstrndup(message, (size_t)(end - message)) : NULL;
}

static char *name_of(const json_t *finding, bool *ret_function) {
    const char *message = json_get_string(finding, "message", "");
    *ret_function = json_says(finding, "code", "undefined");
    return *ret_function                        ? function_of(message)
           : json_says(finding, "source", "gcc") ? header_of(message)
                                                 : NULL;
}

bool program_lacks(const json_t *result) {
    return json_any(json_object_get(result, "diagnostics"), finding, ({
        bool function;
        autofree char *name = name_of(finding, &function);
        name != NULL;
    }));
}

static void lacks_take(struct lack_search *s, const json_t *diagnostics) {
    json_each(diagnostics, i, finding) {
        struct lack l = {.finding = finding};
        l.name = s->count < MAX_LACKS ? name_of(finding, &l.function) : NULL;
        if (l.name) {
            s->lacks[s->count++] = l;
        }
    }
}

/* --- whether a file has it --- */

/* "NAME(…) {", words like const between them. */
static bool defines(const struct buf *text, const char *name) {
    struct cuda_lexer l;
    struct cuda_token t;
    cuda_lexer_init(&l, text->data, text->len);
    for (int depth = -1; (t = cuda_lexer_next(&l)).kind != CUDA_END;) {
        bool opens = cuda_token_is(&l, &t, "("), closes = cuda_token_is(&l, &t, ")");
        if (depth < 0 || (depth == 0 && !opens && t.kind != CUDA_IDENTIFIER)) {
            if (depth == 0 && cuda_token_is(&l, &t, "{")) {
                return true;
            }
            depth = -1;
        }
        if (depth < 0 && cuda_token_is(&l, &t, name)) {
            t = cuda_lexer_next(&l);
            depth = cuda_token_is(&l, &t, "(") ? 1 : -1;
        } else if (depth > 0) {
            depth += opens - closes;
        }
    }
    return false;
}

static void place_set(struct lack *l, const struct lack_search *s, const char *path,
                      size_t len, size_t near) {
    free(l->place);
    l->place = len > s->hidden ? xstrndup(path + s->hidden, len - s->hidden) : xstrdup(".");
    l->near = near;
}

/* The bytes of whole names with which both begin. */
static size_t shared_start(const char *a, const char *b) {
    size_t ret = 0;
    for (size_t i = 0; a[i] && a[i] == b[i]; i++) {
        ret = a[i] == '/' ? i : ret;
    }
    return ret;
}

static void header_look(struct lack_search *s, const char *path, size_t len) {
    list_each(i, l, s->lacks, s->count) {
        size_t own = strlen(l->name), near = shared_start(path, s->source);
        bool has = !l->function && len > own && path[len - own - 1] == '/' &&
                   !strcmp(path + len - own, l->name);
        if (has && (!l->place || near > l->near)) {
            place_set(l, s, path, len - own - 1, near);
        }
    }
}

static bool is_given(const struct lack_search *s, const char *path) {
    return !strcmp(path, s->source) ||
           json_any(json_object_get(s->params, "paths"), one, ({
               autofree char *given = path_join(s->root, json_string_value(one));
               !strcmp(path, given);
           }));
}

/* A source beside the program's, with no main() of its own. */
static void source_look(struct lack_search *s, const char *path) {
    size_t folder = (size_t)(path_basename(s->source) - s->source);
    autobuf text = BUF_INIT(MAX_TEXT);
    if (strncmp(path, s->source, folder) != 0 || strchr(path + folder, '/') ||
        !program_is_source(path) || is_given(s, path) ||
        file_read(path, &text, NULL) < 0 || defines(&text, "main")) {
        return;
    }
    list_each(i, l, s->lacks, s->count) {
        if (l->function && !l->place && defines(&text, l->name)) {
            place_set(l, s, path, strlen(path), 0);
        }
    }
}

/* --- all files --- */

static void look_through(struct lack_search *s) {
    autofree char *root = xstrdup(s->root);
    char *const roots[] = {root, NULL};
    FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    FTSENT *e;
    for (unsigned n = 0; tree && n < MAX_ENTRIES && (e = fts_read(tree)); n++) {
        bool left_out = e->fts_level > MAX_DEPTH || e->fts_name[0] == '.';
        if (e->fts_info == FTS_D && e->fts_level > 0 && left_out) {
            fts_set(tree, e, FTS_SKIP);
        } else if (e->fts_info == FTS_F) {
            header_look(s, e->fts_path, e->fts_pathlen);
            source_look(s, e->fts_path);
        }
    }
    if (tree) {
        fts_close(tree);
    }
}

/* Once for each place. */
static bool is_told(const struct lack *earlier, const struct lack *l) {
    return earlier->place && earlier->function == l->function &&
           !strcmp(earlier->place, l->place);
}

static void lack_tell(const struct lack *l) {
    const char *message = json_get_string(l->finding, "message", "");
    autofree char *words =
        xasprintf(l->function ? "%s; %s defines it: give that file, too"
                              : "%s; the workspace has it in %s: give that folder with -I",
                  message, l->place);
    json_object_set_new(l->finding, "message", json_clean_z(words));
}

void program_find_missing(json_t *result, const json_t *params,
                          const char *const *roots) {
    struct lack_search s = {.params = params};
    lacks_take(&s, json_object_get(result, "diagnostics"));
    for (size_t k = 0; s.count && roots[k]; k++) {
        s.root = roots[k];
        s.hidden = k == 0 ? strlen(s.root) + 1 : 0;
        s.source = path_resolve(s.root, json_get_string(params, "path", ""));
        look_through(&s);
        free(s.source);
    }
    list_each(i, l, s.lacks, s.count) {
        if (l->place && !any_of(k, 0, i, is_told(&s.lacks[k], l))) {
            lack_tell(l);
        }
    }
    list_each(i, l, s.lacks, s.count) {
        free(l->place);
        free(l->name);
    }
}
