#include "gpu/spec/spec_file.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"

#define SUFFIX ".check.json"

bool spec_file_is_needed(const json_t *params) {
    return json_object_get(params, "path") && !json_object_get(params, "args") &&
           !json_object_get(params, "launches");
}

static bool has_suffix(const char *s, const char *suffix) {
    size_t len = strlen(s), tail = strlen(suffix);
    return len > tail && !strcmp(s + len - tail, suffix);
}

/* "a/k.cu" and ".check.json" give "a/k.check.json". */
static char *beside(const char *path, const char *old, const char *suffix) {
    size_t stem = strlen(path);
    const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
    if (old && has_suffix(path, old)) {
        stem -= strlen(old);
    } else if (dot && (!slash || dot > slash)) {
        stem = (size_t)(dot - path);
    }
    return xasprintf("%.*s%s", (int)stem, path, suffix);
}

static const char *root_of(const char *const *roots, const char *whole) {
    while (*roots && !path_is_beneath(whole, *roots)) {
        roots++;
    }
    return *roots;
}

/* A path as it is meant from one folder: a descriptor. */
static int open_from(const char *folder, const char *path, const char *const *roots,
                     struct err *err) {
    autofree char *whole = path_resolve(folder, path);
    const char *root = root_of(roots, whole);
    if (!root) {
        return err_set(err, -EACCES, "%s is outside the folders this daemon may read",
                       path);
    }
    if (!strcmp(whole, root)) {
        return err_set(err, -EISDIR, "%s is a folder", path);
    }
    struct root r;
    int rc = root_open(&r, root, err);
    if (rc < 0) {
        return rc;
    }
    const char *rel = whole + strlen(root);
    rc = root_open_file(&r, rel + strspn(rel, "/"), err);
    root_close(&r);
    return rc;
}

int spec_file_open(const char *const *roots, const char *path, struct err *err) {
    static const char *const none[] = {NULL};
    const char *const *all = roots ? roots : none;
    int rc =
        err_set(err, -EACCES, "%s is outside the folders this daemon may read", path);
    for (const char *const *folder = all; *folder; folder++) {
        struct err own = {0};
        int r = open_from(*folder, path, all, &own);
        if (r >= 0) {
            return r;
        }
        if (r != -EACCES) {
            rc = err_set(err, r, "%s", own.msg);
        }
        if (r != -EACCES && r != -ENOENT) {
            return rc;
        }
    }
    return rc;
}

int spec_file_read(const char *const *roots, const char *path, struct buf *out,
                   struct err *err) {
    int fd = spec_file_open(roots, path, err);
    return fd < 0 ? fd : file_read_open(fd, path, out, err);
}

static bool is_there(const char *const *roots, const char *path) {
    autobuf start = BUF_INIT(1);
    int r = spec_file_read(roots, path, &start, NULL);
    return r == 0 || r == -EFBIG;
}

static char *kernel_path(const char *spec_path, const json_t *spec,
                         const char *const *roots) {
    const char *named = json_get_string(spec, "path", NULL);
    if (!named) {
        autofree char *cuda = beside(spec_path, SUFFIX, ".cu"),
                      *ptx = beside(spec_path, SUFFIX, ".ptx");
        return is_there(roots, cuda) || !is_there(roots, ptx) ? take(cuda) : take(ptx);
    }
    const char *slash = strrchr(spec_path, '/');
    if (*named == '/' || !slash) {
        return xstrdup(named);
    }
    autofree char *folder = xstrndup(spec_path, (size_t)(slash - spec_path));
    return path_join(folder, named);
}

static json_t *parse(struct buf *text, const char *path, struct err *err) {
    json_t *spec = text->len ? json_parse_once(text->data, text->len, err) : NULL;
    if (!text->len) {
        err_set(err, -EBADMSG, "the file is empty");
    }
    if (spec && !json_is_object(spec)) {
        json_decref(spec);
        spec = NULL;
        err_set(err, -EINVAL, "a JSON object is expected");
    }
    if (!spec) {
        err_wrap(err, "%s", path);
    }
    return spec;
}

char *spec_file_path(const json_t *params) {
    const char *path = json_get_string(params, "path", "");
    return has_suffix(path, SUFFIX) ? xstrdup(path) : beside(path, NULL, SUFFIX);
}

/* There is no spec beside the kernel; if there is no kernel either, reports that
 * first. */
static void no_spec(const json_t *params, const char *const *roots, const char *spec_path,
                    struct err *err) {
    const char *path = json_get_string(params, "path", "");
    struct err own = {0};
    autobuf kernel = BUF_INIT(1);
    int r = json_object_get(params, "source")
                ? 0
                : spec_file_read(roots, path, &kernel, &own);
    if (r < 0 && r != -EFBIG) {
        err_set(err, r, "%s", own.msg);
    } else {
        err_set(err, -ENODATA,
                "nothing says how to launch the kernel: give `args` and `launch`, or "
                "write them to %s",
                spec_path);
    }
}

static int no_size(const json_t *sizes, const char *given, struct err *err) {
    autobuf known = BUF_INIT(400);
    json_each_member(sizes, name, value) {
        buf_addf(&known, "%s%s", known.len ? ", " : "", name);
    }
    return err_set(err, -EINVAL,
                   "sizes.%.64s: the check spec has no size of this name; it has %s",
                   given, known.len ? known.data : "none");
}

/* The request's sizes replace the file's of the same names, in each of its cases;
 * adjacent cases that become equal are merged. */
static int join_sizes(json_t *sizes, const json_t *given, struct err *err) {
    int r = 0;
    for (size_t i = json_array_size(sizes); r == 0 && i-- > 0;) {
        r = join_sizes(json_array_get(sizes, i), given, err);
        if (json_equal(json_array_get(sizes, i), json_array_get(sizes, i + 1))) {
            json_array_remove(sizes, i + 1);
        }
    }
    json_each_member(given, name, value) {
        if (r == 0 && json_is_object(sizes)) {
            r = json_object_get(sizes, name) ? json_object_set(sizes, name, value)
                                             : no_size(sizes, name, err);
        }
    }
    return r;
}

/* The file's own include folders are relative to it. */
static void place_folders(json_t *spec, const char *folder) {
    json_each(json_object_get(spec, "include_roots"), i, one) {
        const char *name = json_string_value(one);
        if (name && *folder) {
            autofree char *path = path_join(folder, name);
            json_array_set_new(json_object_get(spec, "include_roots"), i,
                               json_text(path, strlen(path)));
        }
    }
}

json_t *spec_file_join(const json_t *params, const char *const *roots, char **ret_folder,
                       struct err *err) {
    const char *path = json_get_string(params, "path", "");
    bool is_spec = has_suffix(path, SUFFIX);
    autofree char *spec_path = spec_file_path(params);
    autobuf text = BUF_INIT(SPEC_FILE_MAX);
    int r = spec_file_read(roots, spec_path, &text, err);
    if (r == -ENOENT && !is_spec) { /* not named: it would lie beside the kernel */
        no_spec(params, roots, spec_path, err);
    }
    json_t *joined = r < 0 ? NULL : parse(&text, spec_path, err);
    if (!joined) {
        return NULL;
    }
    if (json_object_get(joined, "save")) {
        json_decref(joined);
        err_set(err, -EINVAL,
                "%s: save: where files are written is said with the request, not here",
                spec_path);
        return NULL;
    }
    autofree char *kernel = kernel_path(spec_path, joined, roots);
    *ret_folder = path_folder(spec_path);
    place_folders(joined, *ret_folder);
    autojson *sizes = json_incref(json_object_get(joined, "sizes"));
    json_object_update(joined, (json_t *)(uintptr_t)params);
    const json_t *given = json_object_get(params, "sizes");
    if (sizes && json_is_object(given)) {
        json_object_set(joined, "sizes", sizes);
        if (join_sizes(sizes, given, err) < 0) {
            json_decref(joined);
            return NULL;
        }
    }
    if (is_spec && !json_object_get(params, "source")) {
        autobuf start = BUF_INIT(1);
        if (spec_file_read(roots, kernel, &start, NULL) == -ENOENT) {
            json_decref(joined);
            err_set(err, -ENOENT,
                    "%s is for %s, which is not there: \"path\" in it can name another "
                    "file",
                    spec_path, kernel);
            return NULL;
        }
        json_object_set_new(joined, "path", json_text(kernel, strlen(kernel)));
    }
    return joined;
}
