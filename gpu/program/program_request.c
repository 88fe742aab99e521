#include "gpu/program/program_request.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/find.h"
#include "base/mem.h"
#include "gpu/program/program_words.h"
#include "gpu/source/source_set.h"
#include "gpu/spec/spec_file.h"
#include "gpu/spec/spec_npy.h"

#include <errno.h>
#include <string.h>

#define MEMORY_BYTES ((json_int_t)12 << 30) /* that the program may use */
#define GRACE_MS 20000                      /* around the compiler and the run */
#define MAX_FILES_BYTES (32u << 20)

#define BINARY_HINT                                                                      \
    "give its sources: nvcc links NVIDIA's own runtime by default (-cudart static), and " \
    "upskilld cannot replace it"

struct making {
    const json_t *params;
    const char *const *roots;
    const struct check_places *places;
    json_t *words, *left; /* options */
    struct source_set sources;
    json_t *units, *include_dirs;
    struct check_refusal *refusal;
};

static int bad_option(struct making *m, const struct err *err) {
    return check_refuse(m->refusal, -EINVAL, CALL_BAD_PARAMS, "bad_option", NULL, "%s",
                        err->msg);
}

/* --- sources --- */

/* As they are on disk: the host's part is compiled, too. */
static int add_files(struct making *m, const struct source_set *from) {
    struct err err = {0};
    for (size_t i = 0; i < from->count; i++) {
        const struct source_file *f = &from->files[i];
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

static void add_include_dirs(struct making *m, char *const *dirs) {
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

static bool is_source(const char *path) {
    static const char *const ends[] = {".cu", ".cpp", ".cc", ".cxx", ".c"};
    const char *end = strrchr(path_basename(path), '.');
    return end && any_of(i, 0, ARRAY_LEN(ends), !strcmp(end, ends[i]));
}

/* One of its files; more: words of the first one. NULL path: the source itself. */
static int add_unit(struct making *m, const char *path, bool first) {
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
    if (path && !json_object_get(asked, "source") && !is_source(path)) {
        check_input_finish(&input);
        return check_refuse(m->refusal, -EINVAL, CALL_BAD_PARAMS, "not_cuda",
                            "give files that end in .cu, .cpp, .cc, .cxx or .c",
                            "\"%s\" is not a source that nvcc compiles", path);
    }
    r = add_files(m, &input.closure.sources);
    add_include_dirs(m, input.closure.include_dirs);
    if (first) {
        program_words_add(m->words, &input.options);
    }
    check_input_finish(&input);
    return r;
}

static int add_units(struct making *m) {
    int r = add_unit(m, json_get_string(m->params, "path", NULL), true);
    json_each(json_object_get(m->params, "paths"), i, path) {
        r = r < 0 ? r : add_unit(m, json_string_value(path), false);
    }
    return r;
}

/* --- files --- */

/* Under the path that it has from the first source's folder, else under its last name. */
static char *room_name(const struct making *m, const char *path) {
    autofree char *source = path_normalize(json_get_string(m->params, "path", ""));
    size_t folder = (size_t)(path_basename(source) - source);
    autofree char *plain = path_normalize(path);
    bool beneath = folder ? !strncmp(plain, source, folder)
                          : plain[0] != '/' && strncmp(plain, "..", 2) != 0;
    return xstrdup(beneath ? plain + folder : path_basename(plain));
}

static int add_file(const struct making *m, const char *path, json_t *files,
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
    json_array_append_new(files,
                          json_pack("{s:o, s:o}", "name", json_text(name, strlen(name)),
                                    "data", spec_array_encode(bytes.data, bytes.len)));
    return 0;
}

static int add_all_files(const struct making *m, json_t *files) {
    size_t room = MAX_FILES_BYTES;
    int r = 0;
    json_each(json_object_get(m->params, "files"), i, path) {
        r = r < 0 ? r : add_file(m, json_string_value(path), files, &room);
    }
    return r;
}

/* --- the request --- */

static json_t *request_json(const struct making *m, json_t *files) {
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

static int request_make(struct making *m, struct buf *out) {
    autojson *files = json_array();
    int r = add_units(m);
    r = r < 0 ? r : add_all_files(m, files);
    if (r < 0) {
        return r;
    }
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
                    struct check_refusal *refusal) {
    struct err err = {0};
    struct making m = {.params = params,
                       .roots = roots,
                       .places = places,
                       .units = json_array(),
                       .include_dirs = json_array(),
                       .refusal = refusal};
    int r =
        program_words_read(json_object_get(params, "options"), &m.words, &m.left, &err);
    r = r < 0 ? bad_option(&m, &err) : request_make(&m, out);
    source_set_finish(&m.sources);
    json_t *const all[] = {m.words, m.left, m.units, m.include_dirs};
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        json_decref(all[i]);
    }
    return r;
}

json_t *program_params(const json_t *params, unsigned compile_ms) {
    json_int_t run_ms = json_get_integer(params, "timeout_s", 60) * 1000;
    return json_pack("{s:{s:I, s:I, s:I, s:I}}", "limits", "wall_ms",
                     run_ms + compile_ms + GRACE_MS, "compile_ms", (json_int_t)compile_ms,
                     "run_ms", run_ms, "memory_bytes", MEMORY_BYTES);
}
