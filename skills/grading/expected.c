#include "skills/grading/expected.h"

#include "base/buf.h"
#include "base/err.h"
#include "protocol/schema/schema.h"
#include "skills/grading/regex.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#define MAX_SCHEMA (64u << 10)
#define MAX_CRITERION 4096
#define MAX_NAME 256

/* One check's value being read; what is wrong is told with its place. */
struct reading {
    const char *path, *check;
    struct err *err;
};

static int wrong(const struct reading *r, const char *at, const char *why) {
    return err_set(r->err, -EINVAL, "%s.%s%s: %s", r->path, r->check, at, why);
}

static int wrong_item(const struct reading *r, size_t i, const char *why) {
    char at[32];
    snprintf(at, sizeof at, "[%zu]", i);
    return wrong(r, at, why);
}

/* A list of it, or it alone in a list. */
static json_t *as_list(const json_t *value) {
    json_t *kept = json_incref((json_t *)(uintptr_t)value);
    return json_is_array(value) ? kept : json_pack("[o]", kept);
}

static int check_count(const struct reading *r, const json_t *list) {
    if (json_array_size(list) == 0) {
        return wrong(r, "", "an empty list checks nothing");
    }
    return json_array_size(list) > EXPECTED_MAX_ITEMS ? wrong(r, "", "more than 64 items")
                                                      : 0;
}

typedef int read_check(const struct reading *r, const json_t *value, json_t **ret);

/* --- texts and patterns --- */

static int read_contains(const struct reading *r, const json_t *value, json_t **ret) {
    autojson *list = as_list(value);
    size_t i;
    json_t *item;
    int rc = check_count(r, list);
    json_array_foreach(list, i, item) {
        struct err err = {0};
        struct regex *regex = NULL;
        if (rc == 0 && !json_is_string(item)) {
            rc = wrong_item(r, i, "expected a text");
        } else if (rc == 0 && regex_new_literal(&regex, json_string_value(item),
                                                json_string_length(item), &err) < 0) {
            rc = wrong_item(r, i, err.msg);
        }
        regex_free(regex);
    }
    *ret = rc == 0 ? take(list) : NULL;
    return rc;
}

/* The full form of one pattern, or NULL with err filled. */
static json_t *pattern_of(const json_t *item, struct err *err) {
    const json_t *pattern =
        json_is_string(item) ? item : json_object_get(item, "pattern");
    const char *flags = json_get_string(item, "flags", "");
    const char *key;
    json_t *member;
    json_object_foreach((json_t *)(uintptr_t)item, key, member) {
        if (strcmp(key, "pattern") != 0 &&
            (strcmp(key, "flags") != 0 || !json_is_string(member))) {
            err_set(err, -EINVAL, "expected {\"pattern\", \"flags\"?}");
            return NULL;
        }
    }
    if (!json_is_string(pattern)) {
        err_set(err, -EINVAL, "expected a pattern, or {\"pattern\", \"flags\"?}");
        return NULL;
    }
    struct regex *regex = NULL;
    if (regex_new(&regex, json_string_value(pattern), json_string_length(pattern), flags,
                  err) < 0) {
        return NULL;
    }
    regex_free(regex);
    return json_pack("{s:O,s:s}", "pattern", pattern, "flags", flags);
}

static int read_regex(const struct reading *r, const json_t *value, json_t **ret) {
    autojson *list = as_list(value);
    autojson *full = json_array();
    size_t i;
    json_t *item;
    int rc = check_count(r, list);
    json_array_foreach(list, i, item) {
        struct err err = {0};
        json_t *pattern = rc == 0 ? pattern_of(item, &err) : NULL;
        if (rc == 0 && !pattern) {
            rc = wrong_item(r, i, err.msg);
        } else if (pattern) {
            json_array_append_new(full, pattern);
        }
    }
    *ret = rc == 0 ? take(full) : NULL;
    return rc;
}

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

enum member_kind { MEMBER_TRUE, MEMBER_FLAG, MEMBER_NAME, MEMBER_OBJECT };
struct member {
    const char *name;
    enum member_kind kind;
    const char *what; /* when it is something else */
};

static bool fits(const json_t *value, enum member_kind kind) {
    size_t len = json_string_length(value);
    switch (kind) {
    case MEMBER_TRUE:
        return json_is_true(value);
    case MEMBER_FLAG:
        return json_is_boolean(value);
    case MEMBER_NAME:
        return len > 0 && len <= MAX_NAME && !memchr(json_string_value(value), 0, len);
    case MEMBER_OBJECT:
        return json_is_object(value);
    }
    return false;
}

/* true or an object of these members; a shallow copy. members end with a NULL name. */
static int read_members(const struct reading *r, const json_t *value,
                        const struct member *members, json_t **ret) {
    const char *key;
    json_t *given;
    if (!json_is_object(value) && !json_is_true(value)) {
        return wrong(r, "", "expected true or an object");
    }
    json_object_foreach((json_t *)(uintptr_t)value, key, given) {
        const struct member *m = members;
        while (m->name && strcmp(m->name, key) != 0) {
            m++;
        }
        if (!m->name || !fits(given, m->kind)) {
            autofree char *at = xasprintf(".%.64s", key);
            return wrong(r, at, m->name ? m->what : "unknown");
        }
    }
    *ret = json_is_object(value) ? json_copy((json_t *)(uintptr_t)value) : json_object();
    return 0;
}

static const char only_true[] = "only true can be asked for";
static const char a_name[] = "expected a text of 1 to 256 bytes";

static int read_build_toml(const struct reading *r, const json_t *value, json_t **ret) {
    static const struct member members[] = {
        {"valid", MEMBER_TRUE, only_true},
        {"values", MEMBER_OBJECT, "expected {JSON Pointer: value}"},
        {NULL, 0, NULL}};
    int rc = read_members(r, value, members, ret);
    if (rc < 0) {
        return rc;
    }
    json_object_set_new(*ret, "valid", json_true());
    const json_t *values = json_object_get(*ret, "values");
    bool good = json_object_size(values) <= EXPECTED_MAX_ITEMS;
    const char *pointer;
    json_t *wanted;
    json_object_foreach((json_t *)(uintptr_t)values, pointer, wanted) {
        good = good && pointer[0] == '/';
    }
    if (!good) {
        json_decref(take(*ret));
        return wrong(r, ".values",
                     "expected up to 64 JSON Pointers such as \"/general/name\"");
    }
    return 0;
}

static int read_project(const struct reading *r, const json_t *value, json_t **ret) {
    static const struct member members[] = {
        {"valid", MEMBER_TRUE, only_true},
        {"with_files", MEMBER_FLAG, "expected true or false"},
        {NULL, 0, NULL}};
    int rc = read_members(r, value, members, ret);
    if (rc == 0) {
        bool with_files = json_get_bool(*ret, "with_files", 0);
        json_object_set_new(*ret, "valid", json_true());
        json_object_set_new(*ret, "with_files", json_boolean(with_files));
    }
    return rc;
}

static int read_compiles(const struct reading *r, const json_t *value, json_t **ret) {
    static const struct member members[] = {
        {"entry", MEMBER_NAME, a_name}, {"arch", MEMBER_NAME, a_name}, {NULL, 0, NULL}};
    return read_members(r, value, members, ret);
}

static int read_passes(const struct reading *r, const json_t *value, json_t **ret) {
    static const struct member members[] = {
        {"spec", MEMBER_OBJECT, "expected a check spec, an object"},
        {"entry", MEMBER_NAME, a_name},
        {"arch", MEMBER_NAME, a_name},
        {NULL, 0, NULL}};
    if (!json_is_object(json_object_get(value, "spec"))) {
        return wrong(r, ".spec", "expected a check spec, an object");
    }
    return read_members(r, value, members, ret);
}

/* --- judge --- */

static int check_criteria(const struct reading *r, const json_t *criteria) {
    size_t i;
    json_t *item;
    int rc = check_count(r, criteria);
    json_array_foreach(criteria, i, item) {
        if (rc == 0 &&
            (json_string_length(item) == 0 || json_string_length(item) > MAX_CRITERION)) {
            rc = wrong_item(r, i, "expected a text of 1 to 4096 bytes");
        }
    }
    return rc;
}

static int read_judge(const struct reading *r, const json_t *value, json_t **ret) {
    const json_t *given =
        json_is_object(value) ? json_object_get(value, "criteria") : value;
    const json_t *model = json_object_get(value, "model");
    if (!given ||
        (json_is_object(value) && json_object_size(value) != 1 + (model != NULL)) ||
        (model && !fits(model, MEMBER_NAME))) {
        return wrong(r, "", "expected criteria, or {\"criteria\", \"model\"?}");
    }
    autojson *criteria = as_list(given);
    int rc = check_criteria(r, criteria);
    if (rc == 0) {
        *ret = json_pack("{s:O}", "criteria", criteria);
        if (model) {
            json_object_set(*ret, "model", (json_t *)(uintptr_t)model);
        }
    }
    return rc;
}

/* --- all of them --- */

static const struct {
    const char *name;
    read_check *read;
} checks[] = {
    {"contains", read_contains},
    {"not_contains", read_contains},
    {"regex", read_regex},
    {"not_regex", read_regex},
    {"json_schema", read_schema},
    {"equals", read_equals},
    {"build_toml", read_build_toml},
    {"kernel_project", read_project},
    {"kernel_compiles", read_compiles},
    {"kernel_passes", read_passes},
    {"judge", read_judge},
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
            struct reading r = {path, checks[i].name, err};
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
    const char *name;
    json_t *value;
    if (json_is_string(given) || json_is_array(given)) {
        int rc = read_one(full, "contains", given, path, err);
        *ret = rc < 0 ? *ret : take(full);
        return rc;
    }
    if (json_object_size(given) == 0) {
        return err_set(err, -EINVAL,
                       "%s: expected checks such as {\"contains\": [\"text\"]}", path);
    }
    json_object_foreach((json_t *)(uintptr_t)given, name, value) {
        int rc = read_one(full, name, value, path, err);
        if (rc < 0) {
            return rc;
        }
    }
    *ret = take(full);
    return 0;
}
