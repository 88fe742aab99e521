#include "skills/grading/expected.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/strings.h"
#include "protocol/schema/schema.h"
#include "skills/grading/regex.h"

#define MAX_SCHEMA (64u << 10)
#define MAX_CRITERION 4096
#define MAX_NAME 256

enum member_kind {
    MEMBER_END,
    MEMBER_TRUE,     /* is always there */
    MEMBER_FLAG,     /* false where it is not said */
    MEMBER_NAME,     /* a text */
    MEMBER_POINTERS, /* {JSON Pointer: value} */
    MEMBER_NEEDED,   /* an object that must be there */
};
struct member {
    const char *name;
    enum member_kind kind;
};

/* The check that is being read; errors name its place. */
struct reading {
    const char *path, *check;
    const struct member *members; /* of checks that are objects of wishes */
    struct err *err;
};
typedef int read_check(const struct reading *r, const json_t *value, json_t **ret);

static int wrong(const struct reading *r, const char *at, const char *why) {
    return err_set(r->err, -EINVAL, "%s.%s%s: %s", r->path, r->check, at, why);
}

/* --- lists --- */

/* One item in its full form (new), or NULL with err. */
typedef json_t *read_item(const json_t *item, struct err *err);

/* A list of it, or it alone in a list. */
static int read_list(const struct reading *r, const json_t *value, read_item *item,
                     json_t **ret) {
    size_t count = json_is_array(value) ? json_array_size(value) : 1;
    autojson *full = json_array();
    if (count == 0 || count > EXPECTED_MAX_ITEMS) {
        return wrong(r, "",
                     count ? "more than 64 items" : "an empty list checks nothing");
    }
    for (size_t i = 0; i < count; i++) {
        struct err err = {0};
        json_t *one = item(json_is_array(value) ? json_array_get(value, i) : value, &err);
        if (!one) {
            autofree char *at = xasprintf("[%zu]", i);
            return wrong(r, at, err.msg);
        }
        json_array_append_new(full, one);
    }
    *ret = take(full);
    return 0;
}

static json_t *text_of(const json_t *item, struct err *err) {
    struct regex *regex = NULL;
    int rc = json_is_string(item) ? regex_new_literal(&regex, json_string_value(item),
                                                      json_string_length(item), err)
                                  : err_set(err, -EINVAL, "expected a text");
    regex_free(regex);
    return rc < 0 ? NULL : json_incref((json_t *)(uintptr_t)item);
}

static int read_contains(const struct reading *r, const json_t *value, json_t **ret) {
    return read_list(r, value, text_of, ret);
}

static json_t *pattern_of(const json_t *item, struct err *err) {
    const json_t *pattern =
        json_is_string(item) ? item : json_object_get(item, "pattern");
    const json_t *given = json_object_get(item, "flags");
    const char *flags = json_get_string(item, "flags", "");
    struct regex *regex = NULL;
    if (!json_is_string(pattern) || (given && !json_is_string(given)) ||
        (json_is_object(item) && json_object_size(item) != 1 + (given != NULL))) {
        err_set(err, -EINVAL, "expected a pattern, or {\"pattern\", \"flags\"?}");
        return NULL;
    }
    int rc = regex_new(&regex, json_string_value(pattern), json_string_length(pattern),
                       flags, err);
    regex_free(regex);
    return rc < 0 ? NULL : json_pack("{s:O,s:s}", "pattern", pattern, "flags", flags);
}

static int read_regex(const struct reading *r, const json_t *value, json_t **ret) {
    return read_list(r, value, pattern_of, ret);
}

/* --- values --- */

static int read_equals(const struct reading *r, const json_t *value, json_t **ret) {
    if (json_is_string(value)) {
        *ret = json_incref((json_t *)(uintptr_t)value);
        return 0;
    }
    const json_t *number =
        json_is_number(value) ? value : json_object_get(value, "number");
    const json_t *tolerance = json_object_get(value, "tolerance");
    size_t members = json_is_object(value) ? 1 + (tolerance != NULL) : 0;
    if (!json_is_number(number) || json_object_size(value) != members ||
        (tolerance &&
         (!json_is_number(tolerance) || !(json_number_value(tolerance) >= 0)))) {
        return wrong(r, "", "expected a text, a number or {\"number\", \"tolerance\"}");
    }
    *ret = json_pack("{s:O,s:f}", "number", number, "tolerance",
                     json_number_value(tolerance));
    return 0;
}

static int read_schema(const struct reading *r, const json_t *value, json_t **ret) {
    autobuf text = BUF_INIT(MAX_SCHEMA);
    struct err err = {0};
    struct schema *schema = NULL;
    if (!json_is_object(value)) {
        return wrong(r, "", "expected a JSON Schema, an object");
    }
    if (json_write(&text, value) < 0) {
        return wrong(r, "", "the schema is larger than 64 KiB");
    }
    if (schema_new(text.data, &schema, &err) < 0) {
        return wrong(r, "", err.msg);
    }
    schema_free(schema);
    *ret = json_incref((json_t *)(uintptr_t)value);
    return 0;
}

/* --- objects of wishes --- */

static bool are_pointers(const json_t *values) {
    bool good = json_is_object(values) && json_object_size(values) <= EXPECTED_MAX_ITEMS;
    json_each_member(values, pointer, wanted) {
        good = good && pointer[0] == '/';
    }
    return good;
}

static bool is_name(const json_t *value) {
    size_t len = json_string_length(value);
    return len > 0 && len <= MAX_NAME && !memchr(json_string_value(value), 0, len);
}

/* The error in a member, or NULL. */
static const char *misfit(const json_t *value, enum member_kind kind) {
    switch (kind) {
    case MEMBER_TRUE:
        return json_is_true(value) ? NULL : "only true can be asked for";
    case MEMBER_FLAG:
        return json_is_boolean(value) ? NULL : "expected true or false";
    case MEMBER_NAME:
        return is_name(value) ? NULL : "expected a text of 1 to 256 bytes";
    case MEMBER_POINTERS:
        return are_pointers(value) ? NULL
                                   : "expected up to 64 {JSON Pointer: value}, with "
                                     "pointers such as \"/general/name\"";
    case MEMBER_NEEDED:
        return json_is_object(value) ? NULL : "expected a check spec, an object";
    case MEMBER_END:
        break;
    }
    return "unknown";
}

/* true or an object of r->members; a shallow copy. */
static int read_members(const struct reading *r, const json_t *value, json_t **ret) {
    if (!json_is_object(value) && !json_is_true(value)) {
        return wrong(r, "", "expected true or an object");
    }
    autojson *full =
        json_is_object(value) ? json_copy((json_t *)(uintptr_t)value) : json_object();
    for (const struct member *m = r->members; m->name; m++) {
        if (!json_object_get(full, m->name) && m->kind == MEMBER_NEEDED) {
            json_object_set_new(full, m->name, json_null());
        } else if (!json_object_get(full, m->name) && m->kind <= MEMBER_FLAG) {
            json_object_set_new(full, m->name, json_boolean(m->kind == MEMBER_TRUE));
        }
    }
    json_each_member(full, key, given) {
        const struct member *m = r->members;
        while (m->name && strcmp(m->name, key) != 0) {
            m++;
        }
        const char *why = misfit(given, m->kind);
        if (why) {
            autofree char *at = xasprintf(".%.64s", key);
            return wrong(r, at, why);
        }
    }
    *ret = take(full);
    return 0;
}

/* --- judge --- */

static json_t *criterion_of(const json_t *item, struct err *err) {
    size_t len = json_string_length(item);
    if (len == 0 || len > MAX_CRITERION) {
        err_set(err, -EINVAL, "expected a text of 1 to 4096 bytes");
        return NULL;
    }
    return json_incref((json_t *)(uintptr_t)item);
}

static int read_judge(const struct reading *r, const json_t *value, json_t **ret) {
    bool object = json_is_object(value);
    const json_t *given = object ? json_object_get(value, "criteria") : value;
    json_t *model = json_object_get(value, "model"), *criteria;
    if (!given || (object && json_object_size(value) != 1 + (model != NULL)) ||
        (model && !is_name(model))) {
        return wrong(r, "", "expected criteria, or {\"criteria\", \"model\"?}");
    }
    int rc = read_list(r, given, criterion_of, &criteria);
    if (rc == 0) {
        *ret = json_pack("{s:o,s:O*}", "criteria", criteria, "model", model);
    }
    return rc;
}

/* --- files --- */

static bool is_of_text(const char *check) {
    static const char *const names[] = {
        "contains", "not_contains", "regex", "not_regex", "json_schema", "equals", NULL};
    return strings_have(names, check);
}

/* true, false, or checks of the file's text in full form (new), or NULL with err. */
static json_t *read_wish(const struct reading *r, const char *file, const json_t *value) {
    json_t *full = NULL;
    if (json_is_boolean(value)) {
        return json_incref((json_t *)(uintptr_t)value);
    }
    autofree char *path = xasprintf("%s.files[\"%.64s\"]", r->path, file);
    if (expected_read(&full, value, path, r->err) < 0) {
        return NULL;
    }
    json_each_member(full, check, one) {
        (void)one;
        if (!is_of_text(check)) {
            err_set(r->err, -EINVAL, "%s.%s: not a check of a file's text", path, check);
            json_decref(full);
            return NULL;
        }
    }
    return full;
}

static int read_files(const struct reading *r, const json_t *value, json_t **ret) {
    size_t count = json_object_size(value);
    autojson *full = json_object();
    if (!json_is_object(value) || count == 0 || count > EXPECTED_MAX_ITEMS) {
        return wrong(r, "", "expected 1 to 64 {path: true, false or checks}");
    }
    json_each_member(value, path, wish) {
        autofree char *normal = path_normalize(path);
        if (!*path || strlen(path) > MAX_NAME || strcmp(normal, path) != 0 ||
            path_leads_out(path)) {
            autofree char *at = xasprintf("[\"%.64s\"]", path);
            return wrong(r, at, "a path is relative and plain, such as src/kernel.cu");
        }
        json_t *one = read_wish(r, path, wish);
        if (!one) {
            return -EINVAL;
        }
        json_object_set_new(full, path, one);
    }
    *ret = take(full);
    return 0;
}

/* --- all of them --- */

static const struct {
    const char *name;
    read_check *read;
    struct member members[5];
} checks[] = {
    {"contains", read_contains, {}},
    {"not_contains", read_contains, {}},
    {"regex", read_regex, {}},
    {"not_regex", read_regex, {}},
    {"json_schema", read_schema, {}},
    {"equals", read_equals, {}},
    {"build_toml", read_members, {{"valid", MEMBER_TRUE}, {"values", MEMBER_POINTERS}}},
    {"kernel_project",
     read_members,
     {{"valid", MEMBER_TRUE}, {"with_files", MEMBER_FLAG}}},
    {"kernel_compiles",
     read_members,
     {{"entry", MEMBER_NAME}, {"arch", MEMBER_NAME}, {"path", MEMBER_NAME}}},
    {"kernel_passes",
     read_members,
     {{"spec", MEMBER_NEEDED},
      {"entry", MEMBER_NAME},
      {"arch", MEMBER_NAME},
      {"path", MEMBER_NAME}}},
    {"files", read_files, {}},
    {"judge", read_judge, {}},
};

bool expected_is_judged(const char *check) {
    return strcmp(check, "judge") == 0;
}

static int unknown_check(const char *path, const char *name, struct err *err) {
    autobuf known = BUF_INIT(1024);
    for (size_t i = 0; i < ARRAY_LEN(checks); i++) {
        buf_addf(&known, "%s%s", i ? ", " : "", checks[i].name);
    }
    return err_set(err, -EINVAL, "%s.%.64s: no such check; there are %s", path, name,
                   known.data);
}

static int read_one(json_t *full, const char *name, const json_t *value, const char *path,
                    struct err *err) {
    for (size_t i = 0; i < ARRAY_LEN(checks); i++) {
        if (strcmp(checks[i].name, name) == 0) {
            struct reading r = {path, checks[i].name, checks[i].members, err};
            json_t *check = NULL;
            int rc = checks[i].read(&r, value, &check);
            if (rc == 0) {
                json_object_set_new(full, name, check);
            }
            return rc;
        }
    }
    return unknown_check(path, name, err);
}

int expected_read(json_t **ret, const json_t *given, const char *path, struct err *err) {
    autojson *full = json_object();
    if (json_is_string(given) || json_is_array(given)) {
        int rc = read_one(full, "contains", given, path, err);
        *ret = rc < 0 ? *ret : take(full);
        return rc;
    }
    if (json_object_size(given) == 0) {
        return err_set(err, -EINVAL,
                       "%s: expected checks such as {\"contains\": [\"text\"]}", path);
    }
    json_each_member(given, name, value) {
        int rc = read_one(full, name, value, path, err);
        if (rc < 0) {
            return rc;
        }
    }
    *ret = take(full);
    return 0;
}
