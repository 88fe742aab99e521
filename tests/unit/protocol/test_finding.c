#include "base/buf.h"
#include "base/mem.h"
#include "protocol/finding.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

static json_t *parsed(const char *text) {
    json_t *json = json_loads(text, 0, NULL);
    cr_assert_not_null(json, "%s", text);
    return json;
}

static void same(const json_t *got, const char *want) {
    autojson *wanted = parsed(want);
    autofree char *text = json_dumps(got, JSON_COMPACT);
    cr_assert(eq(int, json_equal(got, wanted), 1), "got %s", text);
}

Test(finding, the_same_fix_is_told_once) {
    const struct finding_span at = {.line = 1, .column = 1}, other = {.line = 2, .column = 1};
    json_t *all = json_array();
    for (int k = 0; k < 3; k++) {
        json_t *f = finding_new("nvrtc", "20", FINDING_ERROR, "m", "k.cu", &other);
        finding_add_fix(f, "add #include <mma.h>", "k.cu", k < 2 ? &at : &other, "x");
        json_array_append_new(all, f);
    }
    for (size_t k = 0; k < 3; k++) {
        const json_t *f = json_array_get(all, k);
        const json_t *fix = json_array_get(json_object_get(f, "fixes"), 0);
        cr_expect_eq(finding_fix_is_new(all, f, fix), k != 1, "%zu", k);
    }
    json_decref(all);
}

Test(finding, a_finding_has_the_one_shape) {
    autojson *f = finding_new("nvrtc", "68", FINDING_ERROR, "integer \x1b[1mconversion",
                              "k.cu", &(struct finding_span){12, 5, 12, 9});
    finding_add_related(f, "declared here", "k.cu", 3, 0);
    finding_add_fix(f, "Cast it", "k.cu", &(struct finding_span){12, 5, 12, 5}, "(int)");
    finding_add_edit(f, "k.cu", &(struct finding_span){13, 1, 13, 2}, "");
    same(f,
         "{\"source\":\"nvrtc\",\"code\":\"68\",\"severity\":\"error\","
         "\"message\":\"integer conversion\",\"file\":\"k.cu\",\"line\":12,\"column\":5,"
         "\"end_line\":12,\"end_column\":9,"
         "\"related\":[{\"message\":\"declared here\",\"file\":\"k.cu\",\"line\":3}],"
         "\"fixes\":[{\"title\":\"Cast it\",\"edits\":["
         "{\"file\":\"k.cu\",\"line\":12,\"column\":5,\"end_line\":12,\"end_column\":5,"
         "\"text\":\"(int)\"},"
         "{\"file\":\"k.cu\",\"line\":13,\"column\":1,\"end_line\":13,\"end_column\":2,"
         "\"text\":\"\"}]}]}");
}

Test(finding, without_a_place_it_has_no_line) {
    autojson *bare = finding_new("upskilld", NULL, FINDING_INFO, "m", NULL, NULL);
    same(bare, "{\"source\":\"upskilld\",\"code\":\"\",\"severity\":\"info\",\"message\":"
               "\"m\"}");
    autojson *lineless = finding_new("upskilld", "x", FINDING_WARNING, "m", "k.cu",
                                     &(struct finding_span){0});
    same(lineless, "{\"source\":\"upskilld\",\"code\":\"x\",\"severity\":\"warning\","
                   "\"message\":\"m\"}");
}

/* By file, line, column, severity; what has no file and is no error comes last. */
Test(finding, the_place_decides_and_then_the_severity) {
    static const char *const sorted[] = {
        "{\"severity\":\"error\",\"message\":\"of all\"}",
        "{\"file\":\"a\",\"line\":2,\"column\":3,\"severity\":\"info\"}",
        "{\"file\":\"a\",\"line\":2,\"column\":11,\"severity\":\"error\"}",
        "{\"file\":\"a\",\"line\":2,\"column\":11,\"severity\":\"warning\"}",
        "{\"file\":\"a\",\"line\":10,\"column\":1,\"severity\":\"info\"}",
        "{\"file\":\"b\",\"line\":1,\"column\":1,\"severity\":\"error\"}",
        "{\"severity\":\"warning\",\"message\":\"at the end\"}",
        "{\"severity\":\"info\",\"message\":\"at the end\"}"};
    enum { COUNT = sizeof sorted / sizeof *sorted };
    autojson *want = json_array();
    for (size_t i = 0; i < COUNT; i++) {
        json_array_append_new(want, parsed(sorted[i]));
    }
    for (size_t step = 1; step < COUNT; step += 2) { /* odd: each once */
        autojson *mixed = json_array();
        for (size_t i = 0; i < COUNT; i++) {
            json_array_append(mixed, json_array_get(want, (i * step + 5) % COUNT));
        }
        cr_assert(eq(sz, findings_tidy(mixed, 100), (size_t)0));
        cr_expect(json_equal(mixed, want), "%zu", step);
    }
    /* What is said of a whole file comes before its first line. */
    autojson *two = json_array();
    json_array_append_new(two,
                          parsed("{\"file\":\"a\",\"line\":1,\"severity\":\"error\"}"));
    json_array_append_new(two, parsed("{\"file\":\"a\",\"severity\":\"info\"}"));
    findings_tidy(two, 100);
    cr_expect(not(json_object_get(json_array_get(two, 0), "line") != NULL));
}

Test(finding, they_are_counted_in_words) {
    static const char *const cases[][2] = {
        {"[]", ""},
        {"[{\"severity\":\"warning\"}]", "1 warning"},
        {"[{\"severity\":\"info\"},{\"severity\":\"error\"},{\"severity\":\"info\"}]",
         "1 error, 2 notes"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        autojson *array = parsed(cases[i][0]);
        autobuf text = BUF_INIT(1000);
        cr_expect(eq(int, findings_tell(array, &text), i > 0));
        cr_expect_str_eq(text.len ? text.data : "", cases[i][1]);
    }
}

Test(finding, tidying_sorts_drops_repeats_and_keeps_the_worst) {
    static const char in[] =
        "[{\"file\":\"b\",\"line\":1,\"severity\":\"warning\",\"message\":\"w1\"},"
        "{\"file\":\"a\",\"line\":9,\"severity\":\"error\",\"message\":\"e9\"},"
        "{\"file\":\"a\",\"line\":2,\"column\":7,\"severity\":\"info\",\"message\":"
        "\"i2\"},"
        "{\"file\":\"a\",\"line\":9,\"severity\":\"error\",\"message\":\"d9\"},"
        "{\"file\":\"a\",\"line\":2,\"column\":3,\"severity\":\"warning\",\"message\":"
        "\"w2\"},"
        "{\"file\":\"a\",\"line\":9,\"severity\":\"error\",\"message\":\"e9\"}]";
    autojson *all = parsed(in);
    cr_assert(eq(sz, findings_tidy(all, 100), (size_t)0));
    same(all, "[{\"file\":\"a\",\"line\":2,\"column\":3,\"severity\":\"warning\","
              "\"message\":\"w2\"},"
              "{\"file\":\"a\",\"line\":2,\"column\":7,\"severity\":\"info\",\"message\":"
              "\"i2\"},"
              "{\"file\":\"a\",\"line\":9,\"severity\":\"error\",\"message\":\"e9\"},"
              "{\"file\":\"a\",\"line\":9,\"severity\":\"error\",\"message\":\"d9\"},"
              "{\"file\":\"b\",\"line\":1,\"severity\":\"warning\",\"message\":\"w1\"}]");
    autojson *three = parsed(in);
    cr_assert(eq(sz, findings_tidy(three, 3), (size_t)2));
    same(three, "[{\"file\":\"a\",\"line\":2,\"column\":3,\"severity\":\"warning\","
                "\"message\":\"w2\"},"
                "{\"file\":\"a\",\"line\":9,\"severity\":\"error\",\"message\":\"e9\"},"
                "{\"file\":\"a\",\"line\":9,\"severity\":\"error\",\"message\":\"d9\"}]");
    autojson *one = parsed(in);
    cr_assert(eq(sz, findings_tidy(one, 1), (size_t)4));
    same(one, "[{\"file\":\"a\",\"line\":9,\"severity\":\"error\",\"message\":\"e9\"}]");
    autojson *none = json_array();
    cr_assert(eq(sz, findings_tidy(none, 1), (size_t)0));
}
