#include "daemon/skill_entry.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/find.h"
#include "base/hash.h"
#include "base/text.h"
#include "protocol/uri.h"
#include "skills/check/danger.h"
#include "skills/check/safety_text.h"
#include "skills/format/skill.h"
#include "skills/format/skill_name.h"

#include <fcntl.h>
#include <nettle/base64.h>
#include <sys/stat.h>

#define SCHEME "skill://"
#define MANIFEST "SKILL.md"
#define SKILL_URI_MAX 8192

/* --- URIs --- */

/* NULL for a broken escape, an encoded slash or U+0000. */
static char *decode(const char *s) {
    autofree char *out = xcalloc(strlen(s) + 1, 1);
    for (char *to = out; *s; to++) {
        bool escaped = *s == '%';
        int byte = uri_byte(&s);
        if (byte < 0 || (escaped && byte == '/')) {
            return NULL;
        }
        *to = (char)byte;
    }
    return take(out);
}

static char *file_uri(const char *base, const char *path) {
    autobuf out = BUF_INIT(4 * SKILL_URI_MAX);
    buf_addf(&out, "%s/", base);
    uri_escape(&out, path);
    return buf_detach(&out);
}

int skill_uri_split(struct skill_uri *ret, const char *uri, struct err *err) {
    const char *at = uri + strlen(SCHEME);
    bool known = strlen(uri) < SKILL_URI_MAX && strncmp(uri, SCHEME, strlen(SCHEME)) == 0;
    int segments = known && strncmp(at, "shadowed/", strlen("shadowed/")) == 0 ? 3 : 2;
    for (; known && segments > 0; segments--) {
        size_t len = strcspn(at, "/");
        known = len > 0 && (at[len] == '/' || segments == 1);
        at += len + (segments > 1);
    }
    char *rest = known ? decode(*at ? at + 1 : "") : NULL;
    if (!rest) {
        return err_set(err, -EINVAL, "not the URI of a skill: %.200s", uri);
    }
    *ret = (struct skill_uri){.base = xstrndup(uri, (size_t)(at - uri)), .rest = rest};
    return 0;
}

void skill_uri_finish(struct skill_uri *u) {
    free(u->base);
    free(u->rest);
}

/* --- files --- */

/* The name of the file for clients: SKILL.md, even if it is in small letters. */
static const char *shown_path(const struct skill *s, const char *path) {
    bool small = strcmp(path, "skill.md") == 0 && !skill_find_file(s, MANIFEST);
    return small ? MANIFEST : path;
}

static const struct skill_file *find_shown(const struct skill *s, const char *path) {
    const struct skill_file *f = skill_find_file(s, path);
    return f || strcmp(path, MANIFEST) != 0 ? f : skill_find_file(s, "skill.md");
}

static bool is_text(const struct buf *bytes) {
    return text_is_utf8(bytes->data, bytes->len) && !memchr(bytes->data, 0, bytes->len);
}

/* Reads a file for a model or a terminal: text without deceptive characters. */
static int read_served(const char *folder, const char *path, struct buf *bytes,
                       struct err *err) {
    int rc = skill_read_file(folder, path, bytes, err);
    if (rc == 0 && is_text(bytes)) {
        struct buf clean = BUF_INIT(SKILL_MAX_BYTES);
        text_clean(&clean, bytes->data, bytes->len);
        buf_finish(bytes);
        *bytes = clean;
    }
    return rc;
}

struct mime_type {
    const char *ending, *name;
};
#include "daemon/mime_types_table.h"

static const char *mime_type(const char *path) {
    const char *dot = strrchr(path_basename(path), '.');
    for (const struct mime_type *t = mime_types; dot && t->ending; t++) {
        if (strcasecmp(dot, t->ending) == 0) {
            return t->name;
        }
    }
    return "application/octet-stream";
}

/* --- entries --- */

static bool is_string_map(const json_t *value) {
    bool strings = json_is_object(value);
    json_each_member(value, key, member) {
        strings = strings && json_is_string(member);
    }
    return strings;
}

/* Fields that hosts reject: one such entry makes some of them reject the whole list. */
static const char *unfit_fields(const struct skill_text *t) {
    const json_t *compatibility = json_object_get(t->frontmatter, "compatibility");
    const json_t *metadata = json_object_get(t->frontmatter, "metadata");
    const char *text = json_string_value(compatibility);
    if (!t->name || !skill_name_is_valid(t->name)) {
        return "its name violates the specification";
    }
    if (!t->description || !*t->description ||
        text_code_points(t->description, strlen(t->description)) >
            SKILL_MAX_DESCRIPTION) {
        return "its description is missing or too long";
    }
    if (compatibility &&
        (!text || !*text ||
         text_code_points(text, strlen(text)) > SKILL_MAX_COMPATIBILITY)) {
        return "its compatibility is not a text of the allowed length";
    }
    if (metadata && !is_string_map(metadata)) {
        return "its metadata does not map strings to strings";
    }
    return NULL;
}

static bool is_too_large(const struct skill *s) {
    json_each(s->problems, i, problem) {
        const char *code = json_get_string(problem, "code", "");
        if (strncmp(code, "too_many", strlen("too_many")) == 0 ||
            strcmp(code, "text_too_long") == 0) {
            return true;
        }
    }
    return s->file_count > SKILL_MAX_FILES || s->bytes > SKILL_MAX_BYTES;
}

/* A host loads the extension's skills without showing a warning. */
static bool is_dangerous(const struct skill *s) {
    size_t left = SAFETY_SEARCHED;
    autojson *danger = danger_look(s, &left);
    return json_array_size(danger) > 0;
}

/* Why the extension cannot serve it: every YAML reader must get the same values as
 * ours. */
static const char *unfit(const struct skill *s, const char *base) {
    const struct skill_text *t = &s->text;
    if (t->problem.line || t->repaired || !t->frontmatter) {
        return "its frontmatter is not valid YAML";
    }
    if (!text_is_utf8(t->text, t->len)) {
        return "SKILL.md is not UTF-8";
    }
    if (is_too_large(s)) {
        return "it is larger than a skill may be";
    }
    const char *why = unfit_fields(t);
    if (!why && is_dangerous(s)) {
        why = "it breaks safety rules; skill/check names them";
    }
    return why ? why
           : strcmp(t->name, strrchr(base, '/') + 1) != 0
               ? "its name differs from the name in the URI"
               : NULL;
}

/* The digest and size are those of resources/read's contents. */
static json_t *resource_of(const struct skill *s, const char *base,
                           const struct skill_file *f) {
    autobuf bytes = BUF_INIT(SKILL_MAX_BYTES);
    char digest[sizeof "sha256:" + HASH_HEX_SIZE] = "sha256:";
    autofree char *uri = file_uri(base, shown_path(s, f->path));
    bool read = read_served(s->folder, f->path, &bytes, NULL) == 0;
    hash_bytes_hex(bytes.data, bytes.len, digest + strlen(digest));
    return json_pack("{s:s,s:s,s:I}", "uri", uri, "digest", read ? digest : f->digest,
                     "size", read ? (json_int_t)bytes.len : (json_int_t)f->size);
}

static json_t *entry_of(const struct skill *s, const char *base) {
    json_t *files = json_list(i, 0, s->file_count, resource_of(s, base, &s->files[i]));
    autofree char *uri = file_uri(base, MANIFEST);
    return json_pack("{s:s,s:O,s:o}", "uri", uri, "frontmatter", s->text.frontmatter,
                     "resources", files);
}

int skill_entry_read(const char *base, const char *folder, json_t **ret, size_t *bytes,
                     struct err *err) {
    struct skill s;
    int rc = skill_open(&s, folder, true, err);
    if (rc < 0) {
        return rc;
    }
    const char *why = unfit(&s, base);
    *bytes = s.bytes;
    if (why) {
        rc = err_set(err, -EINVAL, "%.200s cannot be served: %s", base, why);
    } else {
        *ret = entry_of(&s, base);
    }
    skill_finish(&s);
    return rc;
}

/* --- folders --- */

static json_t *child_json(const char *base, const struct skill *s, const char *path,
                          bool directory) {
    autofree char *uri = file_uri(base, path);
    bool manifest = strcmp(path, MANIFEST) == 0;
    const char *name = manifest && s->text.name ? s->text.name : path_basename(path);
    bool described = manifest && s->text.description;
    return json_pack("{s:s,s:o,s:s,s:o*}", "uri", uri, "name", json_clean_z(name),
                     "mimeType", directory ? "inode/directory" : mime_type(path),
                     "description", described ? json_clean_z(s->text.description) : NULL);
}

/* Files are sorted by path, so those of a folder are consecutive. */
static json_t *children_of(const struct skill *s, const char *base, const char *rest) {
    json_t *list = json_array();
    size_t len = *rest ? strlen(rest) + 1 : 0;
    autofree char *last = NULL;
    for (size_t i = 0; i < s->file_count; i++) {
        const char *path = shown_path(s, s->files[i].path);
        if (len && (strncmp(path, rest, len - 1) != 0 || path[len - 1] != '/')) {
            continue;
        }
        const char *slash = strchr(path + len, '/');
        autofree char *child =
            slash ? xstrndup(path, (size_t)(slash - path)) : xstrdup(path);
        if (!last || strcmp(last, child) != 0) {
            json_array_append_new(list, child_json(base, s, child, slash));
            free(last);
            last = take(child);
        }
    }
    return list;
}

int skill_entry_directory(const char *base, const char *folder, const char *rest,
                          json_t **ret, struct err *err) {
    struct skill s;
    size_t len = strlen(rest);
    int rc = skill_open(&s, folder, false, err);
    if (rc < 0) {
        return rc;
    }
    json_t *list = children_of(&s, base, rest);
    if (!json_array_size(list) || (len && rest[len - 1] == '/')) {
        json_decref(list);
        rc = err_set(err, -EINVAL, "the skill has no folder %.200s", rest);
    } else {
        *ret = list;
    }
    skill_finish(&s);
    return rc;
}

/* --- reading --- */

/* The instructions of a dangerous skill begin with a warning. */
static void add_warning(const struct skill *s, struct buf *bytes) {
    size_t left = SAFETY_SEARCHED;
    autojson *danger = danger_look(s, &left);
    autobuf marked = BUF_INIT(SKILL_MAX_BYTES + (64u << 10));
    if (json_array_size(danger)) {
        danger_warn(&marked, danger);
        buf_adds(&marked, "\n\n");
        text_clean(&marked, bytes->data, bytes->len);
        struct buf plain = *bytes;
        *bytes = marked;
        marked = plain;
    }
}

static json_t *contents_of(const char *uri, const char *path, const struct buf *bytes) {
    json_t *one = json_pack("{s:s,s:s}", "uri", uri, "mimeType", mime_type(path));
    if (is_text(bytes)) {
        json_object_set_new(one, "text", json_stringn(bytes->data, bytes->len));
    } else {
        size_t len = BASE64_ENCODE_RAW_LENGTH(bytes->len);
        autofree char *encoded = xmalloc(len + 1);
        base64_encode_raw(encoded, bytes->len, (const uint8_t *)bytes->data);
        json_object_set_new(one, "blob", json_stringn(encoded, len));
    }
    return json_pack("{s:[o]}", "contents", one);
}

int skill_entry_file(const char *uri, const char *folder, const char *rest, json_t **ret,
                     struct err *err) {
    struct skill s;
    autobuf bytes = BUF_INIT(SKILL_MAX_BYTES);
    int rc = skill_open(&s, folder, false, err);
    if (rc < 0) {
        return rc;
    }
    const struct skill_file *file = find_shown(&s, rest);
    rc = file ? read_served(folder, file->path, &bytes, err)
              : err_set(err, -ENOENT, "the skill has no file %.200s", rest);
    if (rc == 0 && strcmp(rest, MANIFEST) == 0) {
        add_warning(&s, &bytes);
    }
    if (rc == 0) {
        *ret = contents_of(uri, rest, &bytes);
    }
    skill_finish(&s);
    return rc;
}

/* Of a file in the skill, reached without any link. */
static bool look_at(int folder, const char *path, struct stat *st) {
    autofd int fd = skill_open_file(folder, path);
    return fd >= 0 && fstat(fd, st) == 0 && S_ISREG(st->st_mode);
}

char *skill_entry_stamp(const char *folder, const char *rest) {
    struct stat st;
    autofd int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool there = fd >= 0 && (look_at(fd, rest, &st) || (strcmp(rest, MANIFEST) == 0 &&
                                                        look_at(fd, "skill.md", &st)));
    return there ? xasprintf("%lld.%09ld %lld", (long long)st.st_mtim.tv_sec,
                             st.st_mtim.tv_nsec, (long long)st.st_size)
                 : NULL;
}
