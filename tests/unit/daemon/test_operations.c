/* The table of all operations, as the daemon fills it. A start compiles no schema, so a mistake in
 * one shows here. */
#include "base/err.h"
#include "daemon/operations.h"
#include "daemon/skill_serving.h"
#include "protocol/operation.h"
#include "protocol/schema/schema.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

static const struct operation status = {
    .name = "daemon/status", .params_schema = "{\"type\":\"object\"}"};

static void compiles(const struct operation *op, const char *what, const char *text) {
    struct schema *schema = NULL;
    struct err err = {0};
    int rc = text ? schema_new(text, &schema, &err) : 0;
    cr_expect(zero(int, rc), "%s: %s: %s", op->name, what, err.msg);
    schema_free(schema);
}

/* An example that its own schema refuses would teach people errors. */
static void accepts_example(const struct operation *op, const struct schema *params) {
    struct err err = {0};
    autojson *example = json_loads(op->example, JSON_REJECT_DUPLICATES, NULL);
    cr_expect(ne(ptr, example, NULL), "%s: the example is not JSON", op->name);
    int rc = example ? schema_check(params, example, NULL, &err) : 0;
    cr_expect(zero(int, rc), "%s: %s", op->name, err.msg);
}

Test(operations, schemas_compile_and_accept_their_examples) {
    struct call_origin origin = {0};
    struct err err = {0};
    struct face_tables tables;
    struct skill_serving *serving = skill_serving_new(&origin);
    cr_assert(zero(int, tables_init(&tables, serving, &status, NULL, &err)), "%s",
              err.msg);
    size_t count = operation_count(tables.operations);
    cr_assert(gt(sz, count, 20));
    for (size_t i = 0; i < count; i++) {
        const struct operation *op = operation_at(tables.operations, i);
        compiles(op, "params", op->params_schema);
        compiles(op, "tool", op->tool_schema);
        compiles(op, "result", op->result_schema);
        if (op->example) {
            accepts_example(op, operation_params(tables.operations, op));
        }
    }
    tables_finish(&tables);
    skill_serving_free(serving);
}
