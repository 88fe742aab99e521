#include "clients/ctl/fixes.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/find.h"
#include "base/lines.h"

#include <sys/stat.h>

#define MAX_FILE (4u << 20)

/* A file with the edits that were taken so far, by offsets of its text. */
struct edited {
    char *name, *path;
    struct buf text;
    struct lines lines;
    struct edit {
        size_t from, to;
        const char *text;
    } * edits;
    size_t count;
    bool usable;
};

struct fixes {
    const char *folder; /* of the names; NULL: the working folder */
    const char *only;   /* NULL: all files */
    struct edited *files;
    size_t count;
};

static struct edited *file_of(struct fixes *f, const char *name) {
    for (size_t i = 0; i < f->count; i++) {
        if (strcmp(f->files[i].name, name) == 0) {
            return &f->files[i];
        }
    }
    f->files = xreallocarray(f->files, f->count + 1, sizeof *f->files);
    struct edited *e = &f->files[f->count++];
    *e = (struct edited){.name = xstrdup(name), .text = BUF_INIT(MAX_FILE)};
    e->path = f->folder ? path_join(f->folder, name) : xstrdup(name);
    e->usable = file_read(e->path, &e->text, NULL) == 0;
    lines_init(&e->lines, e->text.data, e->text.len);
    return e;
}

static void fixes_finish(struct fixes *f) {
    list_each(i, e, f->files, f->count) {
        lines_finish(&e->lines);
        buf_finish(&e->text);
        free(e->edits);
        free(e->name);
        free(e->path);
    }
    free(f->files);
}

/* 1-based line and column to an offset; false: there is no such place. */
static bool offset_of(const struct edited *e, const json_t *edit, const char *line_name,
                      const char *column_name, size_t *ret) {
    json_int_t line = json_get_integer(edit, line_name, 0);
    json_int_t column = json_get_integer(edit, column_name, 0);
    if (line < 1 || column < 1 || (size_t)line > e->lines.count) {
        return false;
    }
    size_t end = (size_t)line < e->lines.count ? e->lines.starts[line] : e->text.len;
    *ret = e->lines.starts[line - 1] + (size_t)column - 1;
    return *ret <= end;
}

static bool edit_read(const struct edited *e, const json_t *json, struct edit *ret) {
    ret->text = json_get_string(json, "text", "");
    return e->usable && offset_of(e, json, "line", "column", &ret->from) &&
           offset_of(e, json, "end_line", "end_column", &ret->to) && ret->from <= ret->to;
}

/* Two insertions at one place overlap too: their order would be a guess. */
static bool overlaps(const struct edited *e, const struct edit *edit) {
    return list_any(other, e->edits, e->count,
                    edit->from == other->from ||
                        (edit->from < other->to && other->from < edit->to));
}

/* In another file than the only one. */
static bool is_elsewhere(const struct fixes *f, const json_t *edits) {
    return json_any(edits, json, f->only && !json_says(json, "file", f->only));
}

static bool fits(struct fixes *f, const json_t *edits) {
    json_each(edits, i, json) {
        struct edit edit;
        const struct edited *e = file_of(f, json_get_string(json, "file", ""));
        if (!edit_read(e, json, &edit) || overlaps(e, &edit)) {
            return false;
        }
    }
    return json_array_size(edits) > 0;
}

static void take_edits(struct fixes *f, const json_t *edits) {
    json_each(edits, i, json) {
        struct edited *e = file_of(f, json_get_string(json, "file", ""));
        struct edit edit;
        if (edit_read(e, json, &edit)) {
            e->edits = xreallocarray(e->edits, e->count + 1, sizeof *e->edits);
            e->edits[e->count++] = edit;
        }
    }
}

static int by_place(const void *a, const void *b) {
    size_t first = ((const struct edit *)a)->from,
           second = ((const struct edit *)b)->from;
    return (first > second) - (first < second);
}

static void write_edits(const struct edited *e, struct buf *out) {
    size_t at = 0;
    qsort(e->edits, e->count, sizeof *e->edits, by_place);
    for (size_t i = 0; i < e->count; i++) {
        buf_add(out, e->text.data + at, e->edits[i].from - at);
        buf_adds(out, e->edits[i].text);
        at = e->edits[i].to;
    }
    buf_add(out, e->text.data + at, e->text.len - at);
}

static int write_file(const struct edited *e, struct err *err) {
    struct stat st;
    struct root root;
    char *real = realpath(e->path, NULL);
    autofree char *path = real ? real : xstrdup(e->path);
    autofree char *parent = path_resolve(path, "..");
    autobuf text = BUF_INIT(2 * MAX_FILE);
    write_edits(e, &text);
    int rc = stat(path, &st) < 0 ? err_set(err, -errno, "%s: %s", path, strerror(errno))
             : text.full         ? err_set(err, -EFBIG, "%s would grow too large", path)
                                 : root_open(&root, parent, err);
    if (rc == 0) {
        rc = root_write(&root, path_basename(path), text.data, text.len,
                        st.st_mode & 0777, err);
        root_close(&root);
    }
    return rc;
}

int fixes_apply(const json_t *findings, const char *folder, const char *only,
                int *ret_elsewhere, struct err *err) {
    struct fixes f = {.folder = folder, .only = only};
    int made = 0, rc = 0;
    *ret_elsewhere = 0;
    json_each(findings, i, finding) {
        const json_t *fix = json_array_get(json_object_get(finding, "fixes"), 0);
        const json_t *edits = json_object_get(fix, "edits");
        if (is_elsewhere(&f, edits)) {
            ++*ret_elsewhere;
        } else if (fits(&f, edits)) {
            take_edits(&f, edits);
            made++;
        }
    }
    for (size_t k = 0; k < f.count && rc == 0; k++) {
        rc = f.files[k].count ? write_file(&f.files[k], err) : 0;
    }
    fixes_finish(&f);
    return rc < 0 ? rc : made;
}
