/* kernel/validate's result in words, as agents read it. */
#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "gpu/validate/kernel_validate.h"
#include "gpu/validate/validate_verdict.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <string.h>

TestSuite(validate_report, .timeout = 60);

Test(validate_report, says_how_many_elements_were_judged) {
    autojson *result =
        json_pack("{s:s, s:[{s:s, s:[{s:s, s:s, s:i, s:i}, {s:s, s:s, s:i}]}], s:[]}",
                  "verdict", "pass", "cases", "verdict", "pass", "outputs", "name", "y",
                  "verdict", "pass", "elements", 1000, "judged", 1, "name", "z",
                  "verdict", "pass", "elements", 7, "findings");
    autobuf text = BUF_INIT(1u << 20);
    validate_result_describe(result, &text);
    cr_expect(strstr(text.data, "  y: judged 1 of 1000, largest error"), "%s", text.data);
    cr_expect(strstr(text.data, "  z: largest error"), "%s", text.data);
}

/* A race has two sides, and a helper's line is not where the mistake is. */
Test(validate_report, tells_the_other_side_and_the_calls) {
    json_t *result = json_loads(
        "{\"verdict\": \"fail\", \"findings\": [{\"code\": \"race\", \"severity\": "
        "\"error\","
        " \"message\": \"Race\", \"file\": \"k.cu\", \"line\": 17, \"related\": ["
        "{\"message\": \"called from here\", \"file\": \"k.cu\", \"line\": 27},"
        "{\"message\": \"the read before it\", \"file\": \"h.cuh\", \"line\": 3},"
        "{\"message\": \"of no file\"}]}]}",
        0, NULL);
    autobuf text = BUF_INIT(1u << 20);
    validate_result_describe(result, &text);
    const char *said = text.data;
    const char *race = strstr(said, "k.cu:17: error [race]: Race\n"),
               *call = strstr(said, "k.cu:27: called from here\n"),
               *other = strstr(said, "h.cuh:3: the read before it\n");
    cr_expect(race && call && other && race < call && call < other, "%s", said);
    cr_expect(!strstr(said, "of no file"), "%s", said);
    json_decref(result);
}

/* --- line by line --- */

/* The report of a result, without its first line. */
static char *report_of(const char *json) {
    autojson *result = json_loads(json, 0, NULL);
    cr_assert_not_null(result, "%s", json);
    autobuf text = BUF_INIT(1u << 20);
    validate_result_describe(result, &text);
    const char *rest = strchr(text.data, '\n');
    cr_assert_not_null(rest);
    return xstrdup(rest + 1);
}

Test(validate_report, each_part_has_its_words) {
    static const struct {
        const char *result, *says;
    } cases[] = {
        {"{}", ""},
        /* What was wrong, in which case, with which seed. */
        {"{\"cases\":[{\"verdict\":\"fail\",\"sizes\":{\"n\":4,\"m\":5},\"trial\":2,"
         "\"seed\":\"0x7\",\"outputs\":[{\"name\":\"y\",\"mismatches\":2,\"elements\":20,"
         "\"samples\":[{\"index\":[1,3],\"actual\":2.5,\"expected\":\"nan\",\"state\":"
         "\"so\"}]}]}]}",
         "fail: n=4 m=5 (trial 2, seed 0x7)\n  y: 2 of 20 elements are wrong\n"
         "    [1, 3] is 2.5 (so), should be nan\n"},
        {"{\"cases\":[{\"verdict\":\"unjudged\",\"outputs\":[{\"name\":\"y\",\"verdict\":"
         "\"unjudged\",\"elements\":20}]}]}",
         "unjudged:  (trial 0, seed ?)\n"
         "  y: not judged, because its 20 elements have no expected values\n"},
        {"{\"cases\":[{\"verdict\":\"unjudged\",\"outputs\":[{\"verdict\":"
         "\"unjudged\"}]}]}",
         "unjudged:  (trial 0, seed ?)\n"
         "  ?: not judged, because its 0 elements have no expected values\n"},
        /* A relative error over the tolerance passes for its small value. */
        {"{\"cases\":[{\"verdict\":\"pass\",\"outputs\":[{\"name\":\"y\",\"verdict\":"
         "\"pass\","
         "\"max_abs_error\":0.25,\"max_rel_error\":2,\"tolerance\":{\"allowed\":"
         "\"0.5 + 1 * |expected|\",\"rtol\":1}},{\"name\":\"z\",\"verdict\":\"pass\",\"max_abs_error\":0,"
         "\"max_rel_error\":1,\"tolerance\":{\"allowed\":\"!\",\"rtol\":1}}]}]}",
         "pass:  (trial 0, seed ?)\n  y: largest error 0.25 absolute, 2 relative, of a "
         "small value: each may be off by 0.5 + 1 * |expected|\n"
         "  z: largest error 0 absolute, 1 relative\n"},
        /* Findings with their places and how often they came. */
        {"{\"findings\":[{\"code\":\"race\",\"severity\":\"error\",\"message\":\"m\","
         "\"block\":[1,0,2],\"thread\":[3,4,5],\"count\":2},{\"code\":\"c\","
         "\"severity\":\"warning\",\"message\":\"w\",\"file\":\"k.cu\",\"line\":7,"
         "\"count\":1,\"block\":[1,1,1]}],\"omitted\":3}",
         "error [race]: m (block 1,0,2, thread 3,4,5), 2 times\n"
         "k.cu:7: warning [c]: w\nand 3 more findings\n"},
        /* No verdict, and why. */
        {"{\"error\":{\"stage\":\"launch\",\"message\":\"too large\",\"hint\":\"less\"},"
         "\"unsupported\":[{\"opcode\":\"foo.s32\",\"file\":\"k.cu\",\"line\":9}]}",
         "launch: too large\nhint: less\n  foo.s32 at k.cu:9\n"},
        {"{\"backend\":{\"fallback\":\"no driver\"},\"unchecked\":[\"races\",\"leaks\"]}",
         "not on a GPU: no driver\nnot checked here: races, leaks\n"},
        {"{\"numerics\":\"ideal\"}", "tensor cores: ideal sums, not an H100's\n"},
        {"{\"numerics\":\"h100\"}", ""},
        {"{\"ideal_trial\":{\"verdict\":\"pass\",\"ms\":12}}",
         "one trial again with ideal sums: pass (12 ms)\n"},
        /* The sanitizer that is not there is missed where something was not looked for.
         */
        {"{\"sanitizer\":{\"absent\":\"none here\",\"hint\":\"install it\"},"
         "\"unchecked\":[\"races\"]}",
         "not checked here: races\nnone here: install it\n"},
        {"{\"sanitizer\":{\"absent\":\"none here\"}}", ""},
        {"{\"sanitizer\":{\"tools\":[{\"tool\":\"memcheck\",\"outcome\":\"clean\"},"
         "{\"tool\":\"racecheck\",\"outcome\":\"timeout\"}]}}",
         "compute-sanitizer: memcheck clean, racecheck timeout\n"},
        {"{\"counters\":{\"instructions\":10,\"lane_instructions\":320,"
         "\"global_sectors_per_request\":4,\"shared_bank_conflicts\":6,"
         "\"active_lanes_percent\":99.5}}",
         "10 warp instructions, 320 of single threads, 4 sectors per global request, "
         "6 shared bank conflicts, 99.5 % of lanes active\n"},
        {"{\"counters\":{}}",
         "0 warp instructions, 0 of single threads, 0 sectors per global request, "
         "0 shared bank conflicts, 0 % of lanes active\n"},
        {"{\"timing\":{\"summary\":\"median 12.5 us\",\"samples\":30,"
         "\"cache\":\"cold\",\"method\":\"events\",\"sizes\":{\"n\":4},"
         "\"reference_median_us\":25,\"speedup\":2,\"notes\":[\"a note\"]}}",
         "median 12.5 us (30 samples, cold cache, events; n=4)\n"
         "  the reference takes 25 us: 2 times as long\n  a note\n"},
        {"{\"timing\":{\"throttled\":true}}",
         "? (0 samples, ? cache, ?; ); the GPU was "
         "throttled\n"},
        {"{\"roofline\":{\"limit_us\":3.5,\"device\":\"H100\",\"bound\":\"compute\","
         "\"percent\":40}}",
         "at least 3.5 us on an H100, bound by arithmetic; 40 % of that was reached\n"},
        {"{\"roofline\":{\"limit_us\":3.5,\"device\":\"H100\",\"bound\":\"memory\"}}",
         "at least 3.5 us on an H100, bound by memory\n"},
        {"{\"saved\":{\"files\":2,\"dir\":\"/d\",\"error\":\"disk full\"},\"cases\":["
         "{\"verdict\":\"pass\",\"trial\":1,\"files\":[{\"path\":\"/d/a.npy\"},{\"path\":"
         "\"b.npy\"}]}]}",
         "2 files in /d: a.npy, b.npy\nnot all was saved: disk full\n"},
        {"{\"saved\":{\"files\":0,\"dir\":\"/d\"}}", "0 files in /d\n"},
        {"{\"printf\":\"hello\"}", "the kernel printed:\nhello\n"},
        {"{\"printf\":\"hello\\n\"}", "the kernel printed:\nhello\n"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        autofree char *said = report_of(cases[i].result);
        cr_expect_str_eq(said, cases[i].says, "%zu: %s", i, said);
    }
}

/* What did not compile is told with the compiler's own findings. */
Test(validate_report, what_was_not_compiled_is_told_as_by_kernel_check) {
    autofree char *said = report_of(
        "{\"check\":{\"ok\":false,\"summary\":\"not ok: 1 error\",\"diagnostics\":["
        "{\"source\":\"nvrtc\",\"severity\":\"error\",\"message\":\"bad thing\",\"file\":"
        "\"k.cu\",\"line\":2}]}}");
    cr_expect(strstr(said, "bad thing"), "%s", said);
    autofree char *well = report_of(
        "{\"check\":{\"ok\":true,\"diagnostics\":[{\"source\":\"nvrtc\",\"severity\":"
        "\"warning\",\"message\":\"odd\"}]}}");
    cr_expect_str_eq(well, "");
}

/* --- how much is told --- */

static size_t count_of(const char *text, const char *words) {
    size_t count = 0;
    while ((text = strstr(text, words))) {
        text++;
        count++;
    }
    return count;
}

static json_t *repeated(const json_t *item, size_t count) {
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        json_array_append(list, (json_t *)(uintptr_t)item);
    }
    return list;
}

/* A list that is as long as may be told is told whole; one more is counted or left out.
 */
Test(validate_report, lists_are_cut_and_what_is_left_out_is_counted) {
    static const struct {
        const char *around, *item, *words, *rest;
        size_t most;
    } cases[] = {
        {"{\"findings\":0}", "{\"code\":\"c\",\"message\":\"m\"}", "[c]: m",
         "and 1 more findings\n", 30},
        {"{\"cases\":0}", "{\"verdict\":\"fail\",\"trial\":1}",
         "fail: ", "and 1 more cases\n", 16},
        {"{\"cases\":0}", "{\"verdict\":\"pass\",\"trial\":0}",
         "pass: ", "and 1 more cases\n", 16},
        {"{\"findings\":[{\"message\":\"m\",\"related\":0}]}",
         "{\"file\":\"k.cu\",\"line\":5,\"message\":\"called\"}", "k.cu:5: called", NULL,
         6},
        {"{\"saved\":{\"files\":1,\"dir\":\"d\"},\"cases\":[{\"verdict\":\"pass\","
         "\"trial\":"
         "1,\"files\":0}]}",
         "{\"path\":\"d/a.npy\"}", " a.npy", ", …\n", 12},
    };
    for (size_t i = 0; i < 2 * ARRAY_LEN(cases); i++) {
        size_t k = i / 2, more = i % 2;
        autojson *item = json_loads(cases[k].item, 0, NULL);
        autojson *list = repeated(item, cases[k].most + more);
        autofree char *text = json_dumps(list, JSON_COMPACT);
        const char *hole = strstr(cases[k].around, ":0") + 1;
        autofree char *whole = xasprintf("%.*s%s%s", (int)(hole - cases[k].around),
                                         cases[k].around, text, hole + 1);
        autofree char *said = report_of(whole);
        cr_expect_eq(count_of(said, cases[k].words), cases[k].most, "%zu: %s", i, said);
        if (cases[k].rest) {
            cr_expect_eq(count_of(said, cases[k].rest), more, "%zu: %s", i, said);
        }
    }
}

/* Failures come before what passed, and of what passed the first trial alone. */
Test(validate_report, failures_come_first) {
    autofree char *said = report_of(
        "{\"cases\":[{\"verdict\":\"pass\",\"sizes\":{\"n\":1}},{\"verdict\":\"pass\","
        "\"trial\":1,\"sizes\":{\"n\":1}},{\"verdict\":\"fail\",\"trial\":1,\"sizes\":{"
        "\"n\":2}},{\"verdict\":\"unjudged\",\"sizes\":{\"n\":3}}]}");
    cr_expect_str_eq(said, "fail: n=2 (trial 1, seed ?)\npass: n=1 (trial 0, seed ?)\n"
                           "unjudged: n=3 (trial 0, seed ?)\n");
}

Test(validate_report, is_never_longer_than_its_limit) {
    autobuf printed = BUF_INIT(1u << 20);
    for (size_t i = 0; i < 1999; i++) {
        buf_addc(&printed, 'x');
    }
    buf_adds(&printed, "ä"); /* two bytes, of which one would still fit */
    autojson *result = json_pack("{s:s}", "printf", printed.data);
    autobuf text = BUF_INIT(1u << 20);
    validate_result_describe(result, &text);
    cr_expect_eq(count_of(text.data, "x"), 1999);
    cr_expect(strstr(text.data, "x…\n") && !strstr(text.data, "ä"), "cut before it");
    autofree char *message = xcalloc(601, 1);
    memset(message, 'm', 600);
    autojson *item = json_pack("{s:s}", "message", message);
    autojson *case_of =
        json_pack("{s:s, s:o}", "verdict", "fail", "outputs", repeated(item, 5000));
    autojson *large = json_pack("{s:o, s:o}", "findings", repeated(item, 30), "cases",
                                repeated(case_of, 16));
    buf_reset(&text);
    buf_adds(&text, "before ");
    validate_result_describe(large, &text);
    cr_expect_eq(text.len, (24u << 10) + strlen("before "));
    cr_expect_eq(strncmp(text.data, "before ?", 8), 0, "appended");
}

/* Two bytes are one letter: wherever the limit falls, what is told is UTF-8. */
Test(validate_report, is_cut_between_letters) {
    for (size_t ahead = 0; ahead < 2; ahead++) {
        autobuf name = BUF_INIT(1u << 20), text = BUF_INIT(1u << 20);
        buf_adds(&name, ahead ? "x" : "");
        for (size_t i = 0; i < 20000; i++) {
            buf_adds(&name, "ä");
        }
        autojson *result =
            json_pack("{s:[{s:[{s:s}]}]}", "cases", "outputs", "name", name.data);
        validate_result_describe(result, &text);
        cr_expect(text.len == 24u << 10 || text.len == (24u << 10) - 1, "%zu", text.len);
        cr_expect(text_is_utf8(text.data, text.len), "%zu", ahead);
    }
}

/* --- the first line --- */

/* So many warnings of the compiler, or one of them of the run. */
static void add_warnings(json_t *result, int count) {
    json_t *all = json_array();
    json_object_set_new(result, "check", json_pack("{s:o}", "diagnostics", all));
    for (int i = json_array_append_new(json_object_get(result, "findings"),
                                       json_pack("{s:s}", "severity", "warning")) == 0;
         i < count; i++) {
        json_array_append_new(all, json_pack("{s:s}", "severity", "warning"));
    }
}

Test(validate_report, the_summary_says_the_verdict_and_why) {
    static const struct {
        const char *result, *summary;
        int warnings;
        bool strict, fails;
    } cases[] = {
        {"{\"verdict\":\"pass\",\"cases\":[{\"outputs\":[{\"max_abs_error\":0.5},"
         "{\"max_abs_error\":0.25}]},{\"trial\":1}]}",
         "pass (1 case, max error 0.5; other sizes were not tried)", 0, true, false},
        {"{\"verdict\":\"pass\",\"cases\":[{\"sizes\":{\"n\":1024,\"m\":4}},{\"sizes\":{\"n\":"
         "96,\"m\":1}}]}",
         "pass (2 cases, nothing was compared; only round sizes were tried)", 0, true,
         false},
        {"{\"verdict\":\"pass\",\"cases\":[{\"sizes\":{\"n\":1024,\"m\":4}},{\"sizes\":{\"n\":"
         "96,\"m\":3}}]}",
         "pass (2 cases, nothing was compared)", 0, true, false},
        {"{\"verdict\":\"pass\",\"cases\":[{\"sizes\":{\"n\":1024}}],\"added_cases\":[{"
         "\"verdict\":\"skipped\"}]}",
         "pass (1 case, nothing was compared; only round sizes were tried)", 0, true,
         false},
        {"{\"verdict\":\"pass\",\"cases\":[{\"sizes\":{\"n\":1024}}],\"added_cases\":[{"
         "\"verdict\":\"skipped\"},{\"verdict\":\"pass\"}]}",
         "pass (1 case, nothing was compared)", 0, true, false},
        {"{\"verdict\":\"pass\",\"cases\":[{},{}],\"findings\":[]}",
         "pass with 2 warnings (2 cases, nothing was compared; other sizes were not "
         "tried)", 2, false, false},
        {"{\"verdict\":\"pass\",\"cases\":[]}",
         "pass with 1 warning (0 cases, nothing was compared; other sizes were not "
         "tried)", 1, false, false},
        {"{\"verdict\":\"pass\"}", "fail: 1 warning, and strict allows none", 1, true,
         true},
        {"{\"verdict\":\"pass\",\"findings\":[]}",
         "fail: 3 warnings, and strict allows none", 3, true, true},
        {"{\"verdict\":\"fail\",\"findings\":[]}", "fail: see the findings", 1, true,
         false},
        {"{\"verdict\":\"fail\",\"cases\":[{\"outputs\":[{},{\"mismatches\":0}]},"
         "{\"outputs\":[{\"mismatches\":3},{\"mismatches\":4}]},{\"outputs\":["
         "{\"mismatches\":9}]}]}",
         "fail: 7 wrong elements", 0, false, false},
        {"{\"verdict\":\"fail\",\"cases\":[{\"outputs\":[{\"mismatches\":1}]}],"
         "\"findings\":[{\"severity\":\"warning\",\"code\":\"w\"},"
         "{\"severity\":\"error\",\"code\":\"race\"}]}",
         "fail: race, 1 wrong element", 0, false, false},
        {"{\"verdict\":\"fail\",\"findings\":[{\"severity\":\"error\",\"code\":\"race\"}]"
         "}",
         "fail: race", 0, false, false},
        {"{\"verdict\":\"fail\"}", "fail: see the findings", 0, false, false},
        {"{\"verdict\":\"unsupported\",\"unsupported\":[{\"opcode\":\"foo.s32\"}]}",
         "unsupported: foo.s32", 0, false, false},
        {"{\"verdict\":\"error\",\"error\":{\"message\":\"no launch\"}}",
         "error: no launch", 0, false, false},
        {"{\"verdict\":\"timeout\"}", "timeout", 0, false, false},
        {"{}", "?", 0, false, false},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        autojson *result = json_loads(cases[i].result, 0, NULL);
        if (cases[i].warnings) {
            add_warnings(result, cases[i].warnings);
        }
        validate_verdict_set(result, cases[i].strict);
        cr_expect_str_eq(json_get_string(result, "summary", ""), cases[i].summary);
        cr_expect_eq(json_get_bool(result, "strict", 0), cases[i].fails);
        json_object_set_new(result, "backend", json_pack("{s:s}", "device", "H100"));
        autobuf text = BUF_INIT(1u << 20);
        validate_result_describe(result, &text);
        autofree char *first = xasprintf("%s on H100\n", cases[i].summary);
        cr_expect_eq(strncmp(text.data, first, strlen(first)), 0, "%s", text.data);
    }
}
