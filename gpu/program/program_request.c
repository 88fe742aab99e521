#include "gpu/program/program_request.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/find.h"
#include "gpu/program/program_words.h"
#include "gpu/source/cuda_lexer.h"
#include "gpu/spec/spec_file.h"
#include "gpu/spec/spec_npy.h"

#define MEMORY_BYTES ((json_int_t)12 << 30) /* that the program may use */
#define GRACE_MS 20000                      /* around the compiler and the run */
#define MAX_FILES_BYTES (32u << 20)
#define MAX_NAMED 64 /* files, of which a program names some itself */
#define MAX_NAME 200

#define BINARY_HINT                                                                      \
    "give its sources: nvcc links NVIDIA's own runtime by default (-cudart static), and " \
    "upskilld cannot replace it"

struct request_making {
    const json_t *params;
    const char *const *roots;
    const struct check_places *places;
    json_t *words, *left; /* options */
    struct source_set sources;
    json_t *refused; /* includes */
    json_t *units, *include_dirs;
    struct check_refusal *refusal;
};

static int bad_option(struct request_making *m, const struct err *err) {
    return check_refuse(m->refusal, -EINVAL, CALL_BAD_PARAMS, "bad_option", NULL, "%s",
                        err->msg);
}

/* --- sources --- */

void program_sources_finish(struct program_sources *s) {
    source_set_finish(&s->set);
    json_decref(take(s->refused));
}

/* As they are on disk: the host's part is compiled, too. */
static int add_files(struct request_making *m, const struct source_set *from) {
    struct err err = {0};
    list_each(i, f, from->files, from->count) {
        int r = source_set_add(&m->sources, f->path, f->display,
                               f->original ? f->original : f->text, f->len, &err);
        if (r < 0 && r != -EEXIST) {
            return check_refuse(m->refusal, r, CALL_BAD_PARAMS, "too_large", NULL, "%s",
                                err.msg);
        }
    }
    json_array_append_new(m->units, json_string(from->files[0].path));
    return 0;
}

static void add_include_dirs(struct request_making *m, char *const *dirs) {
    for (; dirs && *dirs; dirs++) {
        bool known =
            json_any(m->include_dirs, one, !strcmp(json_string_value(one), *dirs));
        if (!known) {
            json_array_append_new(m->include_dirs, json_string(*dirs));
        }
    }
}

static bool is_binary(const char *path, const char *const *roots) {
    autobuf head = BUF_INIT(64u << 20);
    return spec_file_read(roots, path, &head, NULL) == 0 && head.len > 4 &&
           !memcmp(head.data, "\177ELF", 4);
}

bool program_is_source(const char *path) {
    static const char *const ends[] = {".cu", ".cpp", ".cc", ".cxx", ".c"};
    const char *end = strrchr(path_basename(path), '.');
    return end && any_of(i, 0, ARRAY_LEN(ends), !strcmp(end, ends[i]));
}

/* One of its files; more: words of the first one. NULL path: the source itself. */
static int add_unit(struct request_making *m, const char *path, bool first) {
    struct check_input input;
    static const char *const members[] = {"defines", "include_roots", NULL};
    autojson *asked = json_object();
    json_copy_members(asked, m->params, members);
    json_object_set(asked, "options", m->left);
    if (path) {
        json_object_set_new(asked, "path", json_string(path));
    }
    if (first) {
        static const char *const own[] = {"source", "name", NULL};
        json_copy_members(asked, m->params, own);
    }
    if (path && !json_object_get(asked, "source") && is_binary(path, m->roots)) {
        return check_refuse(m->refusal, -EINVAL, CALL_BAD_PARAMS, "not_cuda", BINARY_HINT,
                            "\"%s\" is a finished program", path);
    }
    int r = check_input_read(&input, asked, NULL, m->roots, m->places, m->refusal);
    if (r < 0) {
        return r;
    }
    if (path && !json_object_get(asked, "source") && !program_is_source(path)) {
        check_input_finish(&input);
        return check_refuse(m->refusal, -EINVAL, CALL_BAD_PARAMS, "not_cuda",
                            "give files that end in .cu, .cpp, .cc, .cxx or .c",
                            "\"%s\" is not a source that nvcc compiles", path);
    }
    r = add_files(m, &input.closure.sources);
    add_include_dirs(m, input.closure.include_dirs);
    json_array_extend(m->refused, input.closure.findings);
    if (first) {
        program_words_add(m->words, &input.options);
    }
    check_input_finish(&input);
    return r;
}

static int add_units(struct request_making *m) {
    int r = add_unit(m, json_get_string(m->params, "path", NULL), true);
    json_each(json_object_get(m->params, "paths"), i, path) {
        r = r < 0 ? r : add_unit(m, json_string_value(path), false);
    }
    return r;
}

/* --- files --- */

/* Under the path that it has from the first source's folder, else under its last name. */
static char *room_name(const struct request_making *m, const char *path) {
    autofree char *source = path_normalize(json_get_string(m->params, "path", ""));
    size_t folder = (size_t)(path_basename(source) - source);
    autofree char *plain = path_normalize(path);
    bool beneath = folder ? !strncmp(plain, source, folder)
                          : plain[0] != '/' && strncmp(plain, "..", 2) != 0;
    return xstrdup(beneath ? plain + folder : path_basename(plain));
}

static json_t *file_json(const char *name, const struct buf *bytes) {
    return json_pack("{s:o, s:o}", "name", json_text(name, strlen(name)), "data",
                     spec_array_encode(bytes->data, bytes->len));
}

static int add_file(const struct request_making *m, const char *path, json_t *files,
                    size_t *room) {
    struct err err = {0};
    autobuf bytes = BUF_INIT(*room);
    int r = spec_file_read(m->roots, path, &bytes, &err);
    if (r < 0) {
        bool outside = r == -EACCES || r == -EXDEV;
        return check_refuse(m->refusal, r, outside ? CALL_REFUSED : CALL_BAD_PARAMS,
                            outside ? "outside_roots" : "bad_file", NULL, "files: %s",
                            r == -EFBIG ? "all together may have 32 MiB" : err.msg);
    }
    *room -= bytes.len;
    autofree char *name = room_name(m, path);
    json_array_append_new(files, file_json(name, &bytes));
    return 0;
}

static int add_all_files(const struct request_making *m, json_t *files, size_t *room) {
    int r = 0;
    json_each(json_object_get(m->params, "files"), i, path) {
        r = r < 0 ? r : add_file(m, json_string_value(path), files, room);
    }
    return r;
}

/* --- files that it names itself --- */

/* "signal.dat", "data/a.ppm": no address, and nothing above its own folder. */
static bool may_be_file(const char *name, size_t len) {
    bool named = memchr(name, '.', len) || memchr(name, '/', len);
    return named && len > 2 && len < MAX_NAME && name[0] != '/' &&
           !memmem(name, len, "..", 2) && !memmem(name, len, "//", 2) &&
           !memchr(name, '\\', len) && !memchr(name, '\0', len);
}

static bool is_given(const json_t *files, const char *name) {
    return json_any(files, one, json_says(one, "name", name));
}

/* In the first source's folder, or in its folder data; too many and too large ones are
 * left out, for the program says what it lacks. */
static void add_named(const struct request_making *m, const char *name, size_t len,
                      json_t *files, size_t *room) {
    static const char *const folders[] = {"", "data/"};
    const char *source = json_get_string(m->params, "path", "");
    int own = (int)(path_basename(source) - source);
    for (size_t i = 0; i < ARRAY_LEN(folders); i++) {
        autofree char *inside = xasprintf("%s%.*s", folders[i], (int)len, name);
        autofree char *path = xasprintf("%.*s%s", own, source, inside);
        autobuf bytes = BUF_INIT(*room);
        bool wanted = json_array_size(files) < MAX_NAMED && !is_given(files, inside);
        if (wanted && spec_file_read(m->roots, path, &bytes, NULL) == 0) {
            *room -= bytes.len;
            json_array_append_new(files, file_json(inside, &bytes));
        }
    }
}

static bool is_define(const struct cuda_lexer *l, const struct cuda_token *t) {
    struct cuda_directive d;
    cuda_directive_read(l, t, &d);
    bool ret = !strcmp(d.name, "define");
    cuda_directive_finish(&d);
    return ret;
}

static void add_literals(const struct request_making *m, const char *text, size_t len,
                         json_t *files, size_t *room) {
    struct cuda_lexer lexer;
    struct cuda_token t;
    cuda_lexer_init(&lexer, text, len);
    while ((t = cuda_lexer_next(&lexer)).kind != CUDA_END) {
        const char *at = text + t.start + 1;
        size_t inside = t.end - t.start - 1;
        if (t.kind == CUDA_DIRECTIVE && is_define(&lexer, &t)) {
            add_literals(m, at, inside, files, room);
        } else if (t.kind == CUDA_STRING && at[-1] == '"' && inside > 1 &&
                   may_be_file(at, inside - 1)) {
            add_named(m, at, inside - 1, files, room);
        }
    }
}

static void add_named_files(const struct request_making *m, json_t *files, size_t *room) {
    if (!json_object_get(m->params, "path")) {
        return;
    }
    list_each(i, f, m->sources.files, m->sources.count) {
        add_literals(m, f->text, f->len, files, room);
    }
    json_each(json_object_get(m->params, "args"), i, arg) {
        const char *word = json_string_value(arg);
        if (may_be_file(word, strlen(word))) {
            add_named(m, word, strlen(word), files, room);
        }
    }
}

/* --- the request --- */

static json_t *request_json(const struct request_making *m, json_t *files) {
    static const char *const config_members[] = {"checks", "run_all_launches", "launches",
                                                 "record", NULL};
    static const char *const members[] = {"args", "stdin", "strict", NULL};
    json_t *config = json_object();
    json_copy_members(config, m->params, config_members);
    json_t *request = json_pack(
        "{s:o, s:O, s:O, s:O, s:O, s:o, s:b}", "sources", source_set_to_json(&m->sources),
        "units", m->units, "include_dirs", m->include_dirs, "words", m->words, "files",
        files, "config", config, "save", json_object_get(m->params, "save") != NULL);
    json_copy_members(request, m->params, members);
    return request;
}

static int request_make(struct request_making *m, struct buf *out) {
    autojson *files = json_array();
    size_t room = MAX_FILES_BYTES;
    int r = add_units(m);
    r = r < 0 ? r : add_all_files(m, files, &room);
    if (r < 0) {
        return r;
    }
    add_named_files(m, files, &room);
    autojson *request = request_json(m, files);
    if (json_write(out, request) < 0) {
        return check_refuse(m->refusal, -EMSGSIZE, CALL_BAD_PARAMS, "too_large", NULL,
                            "the sources and files are too large for one message to a "
                            "worker (64 MiB)");
    }
    return 0;
}

int program_request(const json_t *params, const char *const *roots,
                    const struct check_places *places, struct buf *out,
                    struct program_sources *ret_sources, struct check_refusal *refusal) {
    struct err err = {0};
    struct request_making m = {.params = params,
                               .roots = roots,
                               .places = places,
                               .units = json_array(),
                               .include_dirs = json_array(),
                               .refused = json_array(),
                               .refusal = refusal};
    int r =
        program_words_read(json_object_get(params, "options"), &m.words, &m.left, &err);
    r = r < 0 ? bad_option(&m, &err) : request_make(&m, out);
    *ret_sources = (struct program_sources){m.sources, m.refused};
    json_t *const all[] = {m.words, m.left, m.units, m.include_dirs};
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        json_decref(all[i]);
    }
    return r;
}

json_t *program_params(const json_t *params, unsigned compile_ms) {
    json_int_t run_s = json_get_integer(params, "timeout_s", 60), run_ms = run_s * 1000;
    json_int_t work_s = json_get_integer(params, "work_s", run_s);
    return json_pack("{s:{s:I, s:I, s:I, s:I, s:I}}", "limits", "wall_ms",
                     run_ms + compile_ms + GRACE_MS, "compile_ms", (json_int_t)compile_ms,
                     "run_ms", run_ms, "work_ms", work_s * 1000, "memory_bytes",
                     MEMORY_BYTES);
}
