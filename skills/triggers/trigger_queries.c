#include "skills/triggers/trigger_queries.h"

#include "base/err.h"
#include "base/hash.h"
#include "skills/triggers/trigger_list.h"

/* --- one query --- */

static int wrong(struct err *err, size_t i, const char *member, const char *why) {
    return err_set(err, -EINVAL, "queries[%zu].%s: %s", i, member, why);
}

static int check_query(const json_t *given, size_t i, struct err *err) {
    const json_t *query = json_object_get(given, "query");
    const json_t *id = json_object_get(given, "id");
    size_t len = json_string_length(query);
    if (!json_is_string(query) || len == 0 || len > TRIGGER_MAX_QUERY ||
        strlen(json_string_value(query)) != len) {
        return wrong(err, i, "query", "expected a text of 1 byte to 16 KiB");
    }
    if (!json_is_boolean(json_object_get(given, "should_trigger"))) {
        return wrong(err, i, "should_trigger", "expected true or false");
    }
    if (id && (!json_is_string(id) || json_string_length(id) == 0 ||
               json_string_length(id) > SUITE_MAX_ID)) {
        return wrong(err, i, "id", "expected a text of 1 to 128 bytes");
    }
    return 0;
}

static enum test_split split_of(const json_t *given) {
    const char *name = json_get_string(given, "split", "");
    for (int s = SPLIT_REFINE; s <= SPLIT_REPORT; s++) {
        if (strcmp(name, test_split_name((enum test_split)s)) == 0) {
            return (enum test_split)s;
        }
    }
    return SPLIT_NONE;
}

static json_t *test_of(const char *id, const char *query, bool wanted,
                       const char *skill) {
    return json_pack("{s:o,s:o,s:b,s:s}", "id", json_clean_z(id), "input",
                     json_text(query, strlen(query)), "should_trigger", wanted, "skill",
                     skill);
}

/* turns: the number of earlier queries of each kind. */
static json_t *read_query(const json_t *given, size_t i, const char *skill,
                          unsigned turns[2]) {
    bool wanted = json_is_true(json_object_get(given, "should_trigger"));
    enum test_split split = split_of(given);
    autofree char *made = xasprintf("query-%zu", i + 1);
    json_t *test = test_of(json_get_string(given, "id", made),
                           json_get_string(given, "query", ""), wanted, skill);
    if (split == SPLIT_NONE) {
        split = (enum test_split)(SPLIT_REFINE + turns[wanted]++ % 3);
    }
    json_object_set_new(test, "split", json_string(test_split_name(split)));
    return test;
}

/* --- the list --- */

static const json_t *list_of(const json_t *value) {
    static const char *const names[] = {"queries", "evals", "tests"};
    for (size_t i = 0; json_is_object(value) && i < ARRAY_LEN(names); i++) {
        const json_t *list = json_object_get(value, names[i]);
        if (list) {
            return list;
        }
    }
    return value;
}

static char *control_id(size_t i) {
    return xasprintf("control %zu", i + 1);
}

static json_t *control_ids(void) {
    json_t *ids = json_object();
    for (size_t i = 0; i < TRIGGER_CONTROLS; i++) {
        autofree char *id = control_id(i);
        json_object_set_new(ids, id, json_true());
    }
    return ids;
}

static int add_queries(json_t *tests, const json_t *list, const char *skill,
                       struct err *err) {
    autojson *ids = control_ids(), *queries = json_object();
    unsigned turns[2] = {0};
    json_each(list, i, given) {
        int rc = check_query(given, i, err);
        if (rc < 0) {
            return rc;
        }
        json_t *test = read_query(given, i, skill, turns);
        json_array_append_new(tests, test);
        const char *id = json_get_string(test, "id", "");
        const char *query = json_get_string(test, "input", "");
        if (json_object_get(ids, id) || json_object_get(queries, query)) {
            return wrong(err, i, json_object_get(ids, id) ? "id" : "query",
                         "it appears twice");
        }
        json_object_set_new(ids, id, json_true());
        json_object_set_new(queries, query, json_true());
    }
    return 0;
}

static void add_controls(json_t *tests) {
    for (size_t i = 0; i < TRIGGER_CONTROLS; i++) {
        autofree char *id = control_id(i);
        json_t *test = test_of(id, trigger_controls[i], true, TRIGGER_CONTROL);
        json_object_set_new(test, "control", json_true());
        json_array_append_new(tests, test);
    }
}

static void set_digest(struct suite *s) {
    char hex[HASH_HEX_SIZE];
    autofree char *text = json_dumps(s->json, JSON_SORT_KEYS | JSON_COMPACT);
    hash_bytes_hex(text, strlen(text), hex);
    snprintf(s->digest, sizeof s->digest, "sha256:%s", hex);
}

int trigger_queries_read(struct suite *ret, const json_t *value, const char *skill,
                         struct err *err) {
    const json_t *list = list_of(value);
    autojson *tests = json_array();
    size_t count = json_array_size(list);
    if (!json_is_array(list) || count == 0 || count > TRIGGER_MAX_QUERIES) {
        return err_set(err, -EINVAL,
                       "expected a list of 1 to %d queries, each {\"query\": text, "
                       "\"should_trigger\": true or false}",
                       TRIGGER_MAX_QUERIES);
    }
    int rc = add_queries(tests, list, skill, err);
    if (rc < 0) {
        return rc;
    }
    add_controls(tests);
    *ret = (struct suite){.json = json_incref(tests), .count = json_array_size(tests)};
    ret->tests = xcalloc(ret->count, sizeof *ret->tests);
    json_each(tests, i, test) {
        const char *id = json_get_string(test, "id", "");
        ret->tests[i] = (struct test_case){.id = id,
                                           .lesson = id,
                                           .input = json_get_string(test, "input", ""),
                                           .split = split_of(test),
                                           .json = test};
    }
    set_digest(ret);
    return 0;
}

bool trigger_wanted(const struct test_case *test) {
    return json_is_true(json_object_get(test->json, "should_trigger"));
}

bool trigger_is_control(const struct test_case *test) {
    return json_is_true(json_object_get(test->json, "control"));
}

/* --- what a student did --- */

bool trigger_rule(const struct test_case *test, const json_t *called, json_t *record) {
    const char *loaded = json_get_string(called, "skill", NULL);
    const char *skill = json_get_string(test->json, "skill", "");
    bool wanted = trigger_wanted(test);
    bool passed = (loaded && strcmp(loaded, skill) == 0) == wanted;
    autofree char *words = loaded ? xasprintf("the model loaded %.100s", loaded)
                                  : xstrdup("the model loaded no skill");
    if (loaded) {
        json_object_set_new(record, "loaded", json_clean_z(loaded));
    }
    json_object_set_new(record, "assertions",
                        json_pack("[{s:s,s:s,s:b,s:o}]", "check",
                                  wanted ? "must be loaded" : "must not be loaded",
                                  "expected", skill, "passed", passed, "message",
                                  json_clean_z(words)));
    return passed;
}
