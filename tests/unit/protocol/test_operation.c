#include "base/err.h"
#include "protocol/operation.h"
#include "protocol/schema/schema.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <string.h>

static void start_nothing(struct call *call, const json_t *params) {
    (void)params;
    call_reply(call, NULL);
}

static const struct operation good[] = {
    {.name = "thing/check",
     .tool = "thing_check",
     .title = "Check a thing",
     .summary = "Says what is wrong with it.",
     .params_schema = "{\"type\":\"object\",\"required\":[\"source\"],\"properties\":{"
                      "\"source\":{\"type\":\"string\",\"description\":\"its text\"},"
                      "\"deep\":{\"type\":\"boolean\"}}}",
     .result_schema = "{\"type\":\"object\"}",
     .example = "{\"source\":\"x\"}",
     .flags = OPERATION_READ_ONLY | OPERATION_LONG,
     .start = start_nothing},
    {.name = "thing/list",
     .title = "List",
     .summary = "All of them.",
     .params_schema = "{\"type\":\"object\"}",
     .start = start_nothing},
};

Test(operation, what_was_added_is_found_in_order) {
    struct operation_table *t = operation_table_new(), *other = operation_table_new();
    cr_assert(zero(int, operation_table_add(t, good, 2, NULL)));
    cr_assert(eq(sz, operation_count(t), (size_t)2));
    cr_assert(operation_at(t, 1) == &good[1]);
    cr_assert(operation_at(t, 2) == NULL);
    cr_assert(operation_find(t, "thing/check") == &good[0]);
    cr_assert(operation_find(t, "thing") == NULL);
    cr_assert(operation_find_tool(t, "thing_check") == &good[0]);
    cr_assert(operation_find_tool(t, "thing/check") == NULL);
    cr_assert(operation_params(t, &good[0]) != NULL);
    cr_assert(operation_params(NULL, &good[0]) == operation_params(t, &good[0]));
    cr_assert(operation_params(other, &good[0]) == NULL);
    operation_table_free(t);
    cr_assert(operation_params(NULL, &good[0]) == NULL);
    operation_table_free(other);
    operation_table_free(NULL);
}

Test(operation, a_tool_that_is_not_offered_stays_a_method) {
    struct operation_table *t = operation_table_new();
    struct err err = {0};
    cr_assert(zero(int, operation_table_add(t, good, 2, NULL)));
    cr_assert(eq(str, (char *)operation_tool(t, &good[0]), "thing_check"));
    cr_assert(operation_tool(t, &good[1]) == NULL);
    autojson *none = json_array(), *one = json_pack("[s]", "thing_check"),
             *wrong = json_pack("[s,s]", "thing_check", "thing_list");
    cr_assert(zero(int, operation_table_offer(t, none, &err)));
    cr_assert(operation_tool(t, &good[0]) == NULL);
    cr_assert(operation_find_tool(t, "thing_check") == NULL);
    cr_assert(operation_find(t, "thing/check") == &good[0]);
    cr_assert(zero(int, operation_table_offer(t, one, &err)));
    cr_assert(operation_find_tool(t, "thing_check") == &good[0]);
    cr_assert(eq(int, operation_table_offer(t, wrong, &err), -EINVAL));
    cr_assert(eq(str, err.msg, "tools: there is no tool \"thing_list\", but thing_check"));
    operation_table_free(t);
}

Test(operation, a_name_is_used_once) {
    static const struct operation rows[] = {{.name = "thing/list"},
                                            {.name = "b", .tool = "thing_check"}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct err err = {0};
        struct operation_table *t = operation_table_new();
        cr_assert(zero(int, operation_table_add(t, good, 2, &err)), "%s", err.msg);
        cr_assert(eq(int, operation_table_add(t, &rows[i], 1, &err), -EEXIST));
        cr_assert_not_null(strstr(err.msg, "twice"), "%s", err.msg);
        cr_assert_not_null(strstr(err.msg, rows[i].name), "%s", err.msg);
        cr_assert(eq(sz, operation_count(t), (size_t)2));
        operation_table_free(t);
    }
}

/* The members that OpenRPC 1.3 demands, and ours behind "x-". */
Test(operation, the_table_is_an_openrpc_document) {
    struct operation_table *t = operation_table_new();
    cr_assert(zero(int, operation_table_add(t, good, 2, NULL)));
    autojson *doc = operation_table_discover(t);
    operation_table_free(t);
    cr_assert_eq(strncmp(json_get_string(doc, "openrpc", ""), "1.3.", 4), 0);
    json_t *info = json_object_get(doc, "info");
    cr_assert_str_eq(json_get_string(info, "title", ""), "upskilld");
    cr_assert_str_eq(json_get_string(info, "version", ""), UPSKILLD_VERSION);
    json_t *method = json_array_get(json_object_get(doc, "methods"), 0);
    autojson *want = json_loads(
        "{\"name\":\"thing/check\",\"summary\":\"Check a thing\","
        "\"description\":\"Says what is wrong with it.\",\"paramStructure\":\"by-name\","
        "\"params\":[{\"name\":\"source\",\"required\":true,\"schema\":{\"type\":"
        "\"string\","
        "\"description\":\"its "
        "text\"}},{\"name\":\"deep\",\"schema\":{\"type\":\"boolean\"}}],"
        "\"result\":{\"name\":\"result\",\"schema\":{\"type\":\"object\"}},"
        "\"examples\":[{\"name\":\"thing/"
        "check\",\"params\":[{\"name\":\"source\",\"value\":\"x\"}]}],"
        "\"x-tool\":\"thing_check\",\"x-flags\":[\"read-only\",\"long\"],"
        "\"x-params\":{\"type\":\"object\",\"required\":[\"source\"],\"properties\":{"
        "\"source\":{\"type\":\"string\",\"description\":\"its text\"},"
        "\"deep\":{\"type\":\"boolean\"}}}}",
        0, NULL);
    autofree char *got = json_dumps(method, 0);
    cr_assert(eq(int, json_equal(method, want), 1), "%s", got);
    cr_assert(
        zero(ptr, json_object_get(json_array_get(json_object_get(doc, "methods"), 1),
                                  "x-tool")));
}
