/* grade_json: does an answer, or the JSON in it, fit a schema? */
#include "base/buf.h"
#include "base/err.h"
#include "protocol/schema/schema.h"
#include "skills/grading/grade_check.h"
#include "skills/models/structured.h"

#include <stdint.h>
#include <string.h>

#define MAX_SCHEMA (128u << 10)
#define MAX_JSON (128u << 10) /* a schema's patterns may take the square of it */

static const struct markdown_code *first_json(const struct answer_code *code) {
    const struct markdown_code *bare = NULL;
    for (size_t i = 0; i < code->blocks.code_count; i++) {
        const struct markdown_code *block = &code->blocks.codes[i];
        if (strcmp(block->language, "json") == 0) {
            return block;
        }
        bool opens = strchr("{[", block->text[strspn(block->text, " \t\r\n")]) != NULL;
        bare = !bare && !block->language[0] && opens ? block : bare;
    }
    return bare;
}

/* The whole answer when it is JSON, else its first block of JSON. */
static json_t *json_of(struct answer *answer, struct err *err) {
    json_t *whole = answer->len <= MAX_JSON
                        ? structured_parse(answer->text, answer->len, NULL)
                        : NULL;
    if (whole) {
        return whole;
    }
    const struct markdown_code *block = first_json(answer_code_of(answer));
    if (!block) {
        err_set(err, -1, "the answer is not JSON and holds no JSON block");
        return NULL;
    }
    size_t len = strlen(block->text);
    if (len > MAX_JSON) {
        err_set(err, -1, "the block of JSON at line %d is over 128 KiB", block->line);
        return NULL;
    }
    json_t *value = structured_parse(block->text, len, err);
    if (!value) {
        err_wrap(err, "the block of JSON at line %d", block->line);
    }
    return value;
}

void grade_json_schema(struct answer *answer, const struct test_case *test,
                       const char *check, const json_t *expected,
                       struct assertions *out) {
    (void)test;
    struct err err = {0};
    struct schema *schema = NULL;
    autobuf text = BUF_INIT(MAX_SCHEMA);
    if (json_write(&text, expected) < 0 || schema_new(text.data, &schema, &err) < 0) {
        assertion_add(out, check, GRADE_ERRORED, expected, NULL, "the schema: %s",
                      err.msg);
        return;
    }
    autojson *value = json_of(answer, &err);
    bool fits = value && schema_check(schema, value, NULL, &err) == 0;
    autofree char *found =
        value ? json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
    assertion_add(out, check, fits ? GRADE_PASSED : GRADE_FAILED, expected,
                  found ? evidence(found, strlen(found)) : NULL, "%s",
                  fits ? "it fits" : err.msg);
    schema_free(schema);
}
