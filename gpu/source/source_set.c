#include "gpu/source/source_set.h"

#include "base/err.h"
#include "base/find.h"
#include "base/text.h"

/* Longer than any real include path, short enough for every file system. */
#define PATH_MAX_BYTES 1024

void source_set_finish(struct source_set *s) {
    for (size_t i = 0; i < s->count; i++) {
        free(s->files[i].path);
        free(s->files[i].display);
        free(s->files[i].text);
        free(s->files[i].original);
    }
    free(s->files);
    *s = (struct source_set){0};
}

/* One component between slashes; "" "." ".." would make the path name something else. */
static bool is_plain_component(const char *s, size_t len) {
    if (len == 0 || (len == 1 && s[0] == '.') ||
        (len == 2 && s[0] == '.' && s[1] == '.')) {
        return false;
    }
    return !any_of(i, 0, len, (unsigned char)s[i] < 0x20 || s[i] == 0x7f);
}

/* The worker writes files by these names: a path must stay beneath the job's folder. */
static bool is_job_path(const char *path) {
    size_t len = strlen(path);
    if (len == 0 || len > PATH_MAX_BYTES || !text_is_utf8(path, len)) {
        return false;
    }
    for (const char *at = path;; at++) {
        size_t component = strcspn(at, "/");
        if (!is_plain_component(at, component)) {
            return false;
        }
        at += component;
        if (!*at) {
            return true;
        }
    }
}

static int bad_name(const char *name, struct err *err) {
    autojson *text = json_text(name, strlen(name));
    autofree char *shown = json_dumps(text, JSON_ENCODE_ANY);
    return err_set(err, -EINVAL,
                   "%s: a source file's name may hold no control characters and at most "
                   "%d bytes",
                   shown, PATH_MAX_BYTES);
}

static int check_room(const struct source_set *s, size_t len, struct err *err) {
    if (s->count >= SOURCE_SET_MAX_FILES) {
        return err_set(err, -E2BIG, "more than %d source files", SOURCE_SET_MAX_FILES);
    }
    if (len > SOURCE_SET_MAX_BYTES - s->bytes) {
        return err_set(err, -E2BIG, "more than %u MiB of source text",
                       SOURCE_SET_MAX_BYTES >> 20);
    }
    return 0;
}

static char *copy_bytes(const char *bytes, size_t len) {
    char *copy = xmalloc(len + 1);
    if (len > 0) {
        memcpy(copy, bytes, len);
    }
    copy[len] = '\0';
    return copy;
}

int source_set_add(struct source_set *s, const char *path, const char *display,
                   const char *text, size_t len, struct err *err) {
    if (!is_job_path(path)) {
        return bad_name(display ? display : path, err);
    }
    if (source_set_find(s, path)) {
        return err_set(err, -EEXIST, "the source file %s is there twice", path);
    }
    int r = check_room(s, len, err);
    if (r < 0) {
        return r;
    }
    s->files = xreallocarray(s->files, s->count + 1, sizeof *s->files);
    s->files[s->count++] = (struct source_file){
        .path = xstrdup(path),
        .display = xstrdup(display ? display : path),
        .text = copy_bytes(text, len),
        .len = len,
    };
    s->bytes += len;
    return 0;
}

size_t source_set_unit(const struct source_set *s) {
    return s->count > 1 && strcmp(s->files[0].path, SOURCE_SET_UNIT) == 0;
}

void source_set_append(struct source_set *s, const char *text) {
    struct source_file *unit = &s->files[0];
    size_t len = strlen(text);
    char **forms[] = {&unit->text, &unit->original};
    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        if (*forms[i]) {
            *forms[i] = xrealloc(*forms[i], unit->len + len + 1);
            memcpy(*forms[i] + unit->len, text, len + 1);
        }
    }
    unit->len += len;
    s->bytes += len;
    s->appended += len;
}

void source_set_shorten(struct source_set *s) {
    struct source_file *unit = &s->files[0];
    unit->len -= s->appended;
    s->bytes -= s->appended;
    s->appended = 0;
    unit->text[unit->len] = '\0';
    if (unit->original) {
        unit->original[unit->len] = '\0';
    }
}

const struct source_file *source_set_find(const struct source_set *s, const char *path) {
    return list_find(one, s->files, s->count, strcmp(one->path, path) == 0);
}

json_t *source_set_to_json(const struct source_set *s) {
    json_t *files = json_array();
    list_each(i, file, s->files, s->count) {
        json_t *entry = json_object();
        json_object_set_new(entry, "path", json_text(file->path, strlen(file->path)));
        json_object_set_new(entry, "display",
                            json_text(file->display, strlen(file->display)));
        json_object_set_new(entry, "text", json_text(file->text, file->len));
        json_array_append_new(files, entry);
    }
    json_t *json = json_object();
    json_object_set_new(json, "files", files);
    return json;
}

/* jansson's strings may hold U+0000, which no path may. */
static bool is_c_string(const json_t *value) {
    return json_is_string(value) &&
           strlen(json_string_value(value)) == json_string_length(value);
}

static int add_entry(struct source_set *s, const json_t *entry, struct err *err) {
    const json_t *path = json_object_get(entry, "path");
    const json_t *display = json_object_get(entry, "display");
    const json_t *text = json_object_get(entry, "text");
    if (!is_c_string(path) || !json_is_string(text) ||
        (display && !is_c_string(display))) {
        return err_set(err, -EINVAL, "a source file needs the strings path and text");
    }
    return source_set_add(s, json_string_value(path), json_string_value(display),
                          json_string_value(text), json_string_length(text), err);
}

int source_set_from_json(struct source_set *ret, const json_t *json, struct err *err) {
    *ret = (struct source_set){0};
    const json_t *files = json_object_get(json, "files");
    if (json_array_size(files) == 0) {
        return err_set(err, -EINVAL, "sources hold no files");
    }
    for (size_t i = 0; i < json_array_size(files); i++) {
        int r = add_entry(ret, json_array_get(files, i), err);
        if (r < 0) {
            source_set_finish(ret);
            return r;
        }
    }
    return 0;
}
