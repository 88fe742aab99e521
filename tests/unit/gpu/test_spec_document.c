/* Where the diagnostics of a check spec stand, and what may be written at a place. */
#include "base/mem.h"
#include "gpu/editor/json_places.h"
#include "gpu/editor/spec_completion.h"
#include "gpu/editor/spec_document.h"
#include "gpu/editor/spec_lens.h"
#include "gpu/validate/validate_verdict.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <string.h>

/* `marked` is a text in which «…» stands around what a diagnostic is to be about. */
static void expect_finding(const char *marked, const char *severity, const char *code,
                           const char *words) {
    const char *open = strstr(marked, "«"), *close = strstr(marked, "»");
    size_t start = (size_t)(open - marked), end = (size_t)(close - marked) - 2;
    autofree char *text = xasprintf("%.*s%.*s%s", (int)start, marked, (int)(end - start),
                                    open + 2, close + 2);
    int line = 1, column = 1;
    for (size_t i = 0; i < start; i++) {
        column = text[i] == '\n' ? 1 : column + 1;
        line += text[i] == '\n';
    }
    autojson *findings = json_array();
    spec_document_judge(text, strlen(text), NULL, "k.check.json", findings);
    cr_assert_eq(json_array_size(findings), 1, "%zu findings for %s",
                 json_array_size(findings), text);
    const json_t *f = json_array_get(findings, 0);
    const char *message = json_get_string(f, "message", "");
    cr_assert_str_eq(json_get_string(f, "severity", ""), severity, "%s", message);
    cr_assert_str_eq(json_get_string(f, "code", ""), code, "%s", message);
    cr_assert(strstr(message, words), "\"%s\" says nothing of \"%s\"", message, words);
    cr_assert_eq(json_get_integer(f, "line", 0), line, "%s", message);
    cr_assert_eq(json_get_integer(f, "column", 0), column, "column %lld, not %d: %s",
                 (long long)json_get_integer(f, "column", 0), column, message);
    cr_assert_eq(json_get_integer(f, "end_column", 0), column + (int)(end - start), "%s",
                 message);
}

#define HEAD "{\"sizes\": {\"n\": 3},\n \"launch\": {\"grid\": [1], \"block\": [32]},\n"
#define X "{\"name\": \"x\", \"type\": \"float32\", \"shape\": [\"n\"], \"output\": true}"
#define TAIL ",\n \"expect\": {\"values\": {\"x\": [1, 2, 3]}}}"

Test(spec_document, a_good_spec_has_no_findings) {
    static const char text[] = HEAD " \"args\": [" X "]" TAIL;
    autojson *findings = json_array();
    spec_document_judge(text, strlen(text), NULL, "k.check.json", findings);
    cr_assert_eq(json_array_size(findings), 0);
}

/* "1 / n" of sizes is C's, as everywhere in a spec; with n = 3 it loses all there is. */
Test(spec_document, a_float_that_whole_numbers_round_is_told) {
#define SCALAR(type, value)                                                              \
    HEAD " \"args\": [" X ",\n {\"name\": \"s\", \"type\": \"" type                      \
         "\", \"value\": " value "}]" TAIL
    expect_finding(SCALAR("float32", "«\"1 / n\"»"), "warning", "integer_division",
                   "is 0: a float32 that is to keep the fraction is written '1.0 / n'");
    expect_finding(SCALAR("float16", "«\"(n + 4) / 2\"»"), "warning", "integer_division",
                   "is 3: a float16 that is to keep the fraction is written "
                   "'1.0 * (n + 4) / 2'");
    static const char *const fine[] = {
        SCALAR("float32", "\"1.0 / n\""), SCALAR("float32", "\"6 / n\""),
        SCALAR("float32", "\"n * 2\""),   SCALAR("float32", "\"rsqrt(n)\""),
        SCALAR("float32", "0.5"),         SCALAR("int32", "\"4 / n\"")};
    for (size_t i = 0; i < ARRAY_LEN(fine); i++) {
        autojson *findings = json_array();
        spec_document_judge(fine[i], strlen(fine[i]), NULL, "k.check.json", findings);
        cr_assert_eq(json_array_size(findings), 0, "%s", fine[i]);
    }
}

Test(spec_document, syntax) {
    expect_finding("{\"sizes\": {\"n\": 3},\n  «launch»: 3}", "error", "json", "launch");
    expect_finding("{\"sizes\": [1, 2«}»", "error", "json", "']' expected");
    expect_finding("«[»]", "error", "bad_spec", "a JSON object");
}

Test(spec_document, members_and_types) {
    expect_finding("{\n «\"sizs\"»: {}}", "error", "unknown_member", "sizs");
    expect_finding(HEAD " \"args\": [" X "], «\"trialz\"»: 3" TAIL, "error",
                   "unknown_member", "trialz");
    expect_finding("{\"launch\": {\"grid\": 1, \"block\": 1, «\"grib\"»: 2},"
                   " \"args\": []}",
                   "error", "bad_spec", "grib");
    expect_finding(HEAD " \"args\": [" X "], \"fast_math\": «3»" TAIL, "error",
                   "bad_spec", "fast_math");
    expect_finding(HEAD " \"args\": [" X "], \"trials\": «99»" TAIL, "error", "bad_spec",
                   "trials");
    expect_finding("«{»}", "error", "bad_spec", "launch");
}

Test(spec_document, expressions_and_names) {
    expect_finding(HEAD " \"args\": [{\"name\": \"x\", \"type\": \"float32\",\n"
                        "\"shape\": [4, «\"rowz\"»], \"output\": true}]}",
                   "error", "bad_spec", "rowz");
    expect_finding(HEAD " \"args\": [" X
                        ", {\"type\": «\"float31\"», \"value\": 1}]" TAIL,
                   "error", "bad_spec", "args[1].type");
    expect_finding(HEAD " \"args\": [" X "],\n \"expect\": {\"values\": {«\"y\"»: [1]}}}",
                   "error", "bad_spec", "no output of that name");
    expect_finding(
        "{\"sizes\": {\"n\": 0}, \"launch\": {\"grid\": [«\"n\"»], \"block\": 1},"
        " \"args\": []}",
        "error", "bad_spec", "launch.grid[0]");
}

Test(spec_document, what_is_missing_or_twice) {
    expect_finding(HEAD " \"args\": [" X "],\n «\"expect\"»: null}", "info",
                   "no_expectation", "expect");
    expect_finding(HEAD " \"args\": [" X "], \"trials\": 2, «\"trials\"»: 3" TAIL,
                   "error", "duplicate_member", "trials");
}

/* --- places of a text that is half written --- */

Test(json_places, paths) {
    static const char text[] = "{\"a\": [1, {\"b\": \"c\"}], \"d\": ";
    struct json_places p;
    bool whole;
    json_places_read(&p, text, strlen(text));
    size_t i = json_places_find(&p, "a[1].b", 6, &whole);
    cr_assert(whole);
    cr_assert_eq(text[p.list[i].start + 1], 'c');
    cr_assert_eq(json_places_pointer(&p, "/a/1/b"), i);
    i = json_places_find(&p, "a[1].zz", 7, &whole);
    cr_assert(!whole);
    cr_assert_eq(p.list[i].kind, '{');
    cr_assert_eq(json_places_find(&p, "zz", 2, &whole), SIZE_MAX);
    i = json_places_find(&p, "d", 1, &whole);
    cr_assert(whole);
    cr_assert_eq(p.list[i].kind, 0);
    json_places_finish(&p);
}

/* --- completion; '|' is where the cursor stands --- */

static json_t *complete(const char *marked) {
    size_t at = strcspn(marked, "|");
    autofree char *text = xasprintf("%.*s%s", (int)at, marked, marked + at + 1);
    const struct document d = {.text = text, .len = strlen(text)};
    return spec_completions(&d, at);
}

static const json_t *item(const json_t *list, const char *label) {
    size_t i;
    const json_t *one;
    json_array_foreach(list, i, one) {
        if (!strcmp(json_get_string(one, "label", ""), label)) {
            return one;
        }
    }
    return NULL;
}

static void expect_offer(const char *marked, const char *label, const char *text,
                         const char *not_label) {
    autojson *list = complete(marked);
    const json_t *one = item(list, label);
    cr_assert(one, "%s does not offer %s", marked, label);
    cr_assert_str_eq(json_get_string(one, "text", ""), text);
    cr_assert(!item(list, not_label), "%s offers %s", marked, not_label);
}

Test(spec_completion, members) {
    expect_offer("{|", "launch", "\"launch\": {}", "grid");
    expect_offer("{\"la|", "launch", "\"launch\": {}", "grid");
    expect_offer("{\"launch\": {}, |}", "args", "\"args\": []", "launch");
    expect_offer("{\"la|\": 3}", "launch", "\"launch\"", "grid");
    expect_offer("{\"launch\": {\"grid\": 1, |}}", "block", "\"block\": ", "grid");
    expect_offer("{\"args\": [{\"name\": \"x\", \"shape\": [1], \"init\": {|}}]}",
                 "normal", "\"normal\": []", "shape");
    expect_offer("{\"args\": [{\"shape\": [], |}]}", "type", "\"type\": \"\"", "value");
}

Test(spec_completion, values) {
    expect_offer("{\"args\": [{\"type\": \"fl|\"}]}", "float16", "\"float16\"", "launch");
    expect_offer("{\"args\": [{\"type\": |}]}", "int32", "\"int32\"", "launch");
    expect_offer("{\"expect\": {\"op\": \"|\"}}", "softmax", "\"softmax\"", "float16");
    expect_offer("{\"backend\": \"|\"}", "emulator", "\"emulator\"", "float16");
    expect_offer("{\"checks\": [\"|\"]}", "memory", "\"memory\"", "float16");
    expect_offer("{\"odd_sizes\": |}", "false", "false", "float16");
    expect_offer(
        "{\"args\": [{\"name\": \"xs\", \"shape\": [1]}, {\"pointers\": [\"|\"]}]}", "xs",
        "\"xs\"", "float16");
}

/* --- what the lens says --- */

static void expect_title(const char *result, const char *title) {
    autojson *json = json_loads(result, 0, NULL);
    validate_verdict_set(json, false);
    cr_assert_str_eq(json_get_string(json, "summary", ""), title);
}

Test(spec_lens, titles) {
    expect_title("{\"verdict\": \"pass\", \"cases\": [{\"trial\": 0, \"outputs\": "
                 "[{\"max_abs_error\": 3e-7}]}, {\"trial\": 1, \"outputs\": "
                 "[{\"max_abs_error\": 1e-7}]}, {\"trial\": 0, \"outputs\": []}]}",
                 "pass (2 cases, max error 3e-07; other sizes were not tried)");
    expect_title(
        "{\"verdict\": \"fail\", \"cases\": [{\"outputs\": [{\"mismatches\": 0}]}, "
        "{\"outputs\": [{\"mismatches\": 120}]}]}",
        "fail: 120 wrong elements");
    expect_title("{\"verdict\": \"fail\", \"cases\": [], \"findings\": [{\"severity\": "
                 "\"error\", \"code\": \"out_of_bounds\"}]}",
                 "fail: out_of_bounds");
    expect_title("{\"verdict\": \"timeout\"}", "timeout");
    expect_title("{\"verdict\": \"unsupported\", \"unsupported\": [{\"opcode\": "
                 "\"wgmma.fence\"}]}",
                 "unsupported: wgmma.fence");
}
