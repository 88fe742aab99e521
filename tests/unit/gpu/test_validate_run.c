/* The course of a validation, on a backend that does as the kernel's name says. */
#include "base/json.h"
#include "base/mem.h"
#include "fake_backend.h"
#include "gpu/run/trial.h"
#include "gpu/run/validate_run.h"

#include <criterion/criterion.h>
#include <string.h>

/* --- requests --- */

#define ARGS                                                                             \
    "'launch':{'grid':[1],'block':[32]},'args':[{'name':'y','type':'float32','shape':['" \
    "n'],'output':true},"                                                                \
    "{'name':'x','type':'float32','shape':['n'],'init':{'normal':[0,1]}},"               \
    "{'name':'n','type':'int32','value':'n'}]"

static json_t *run_within(const char *limits, const char *kernel, const char *spec,
                          const char *ptx) {
    autofree char *text = xasprintf(
        "{'spec':{'sizes':[{'n':5},{'n':33}]," ARGS "%s},'ptx':'%s','entries':{'':{"
        "'symbol':'%s','name':'%s'}},'reference_ptx':'ref','reference_entries':{'':{"
        "'symbol':'ref','name':'ref'},'bad':{'symbol':'fault','name':'bad'},"
        "'picky_too':{'symbol':'picky_too','name':'picky_too'},"
        "'part':{'symbol':'short','name':'part'}},'seed':'0x1','limits':{%s}}",
        spec, ptx, kernel, kernel, limits);
    for (char *c = text; *c; c++) {
        *c = *c == '\'' ? '"' : *c;
    }
    autojson *request = json_loads(text, 0, NULL);
    cr_assert(request != NULL, "%s", text);
    return validate_run(request, NULL, &fake_backend, NULL);
}

static json_t *run(const char *kernel, const char *spec, const char *ptx) {
    return run_within("", kernel, spec, ptx);
}

static const char *verdict(const json_t *r) {
    return json_get_string(r, "verdict", "");
}
static const char *error_of(const json_t *r, const char *member) {
    return json_get_string(json_object_get(r, "error"), member, "");
}

/* Of the only finding. */
static const char *only_code(const json_t *result) {
    const json_t *findings = json_object_get(result, "findings");
    return json_array_size(findings) == 1
               ? json_get_string(json_array_get(findings, 0), "code", "")
               : "";
}

#define TWICE ",'expect':{'expression':{'y':'x[i] * 2'}}"

Test(validate_run, a_right_kernel_passes) {
    autojson *r = run("good", TWICE, "ptx");
    cr_assert_str_eq(verdict(r), "pass");
    cr_assert_eq(json_array_size(json_object_get(r, "cases")), 6);
    cr_assert_eq(json_array_size(json_object_get(r, "findings")), 0);
    cr_assert_str_eq(json_get_string(r, "printf", ""), "hello\nhello\n");
    /* Three trials of 5 and 33, and one that looks for races. */
    cr_assert_eq(json_get_integer(json_object_get(r, "budget"), "spent", 0), 3 * 38 + 33);
    cr_assert_eq(json_get_integer(json_object_get(r, "counters"), "lane_instructions", 0),
                 33);
    autojson *with_kernel = run("good", ",'expect':{'kernel':{}}", "ptx");
    cr_assert_str_eq(verdict(with_kernel), "pass");
}

Test(validate_run, trials_have_seeds_of_their_own) {
    autojson *r = run("good", TWICE, "ptx");
    json_t *cases = json_object_get(r, "cases");
    for (size_t i = 0; i < 6; i++) {
        for (size_t k = 0; k < i; k++) {
            cr_assert_str_neq(json_get_string(json_array_get(cases, i), "seed", ""),
                              json_get_string(json_array_get(cases, k), "seed", ""));
        }
    }
}

Test(validate_run, a_run_and_each_trial_can_be_repeated_by_the_seeds_told) {
    autojson *r = run("good", TWICE, "ptx");
    cr_assert_str_eq(json_get_string(r, "seed", ""), "0x0000000000000001");
    const json_t *first = json_array_get(json_object_get(r, "cases"), 0);
    cr_assert_str_eq(json_get_string(first, "seed", ""), "0x0000000000000001");
    for (uint64_t seed = 1; seed < 100; seed++) {
        uint64_t other = trial_seed(seed, 3, 2);
        cr_assert_neq(other, seed);
        cr_assert_eq(trial_seed(other, 0, 0), other);
    }
}

/* __FILE__ is the file that was given, not the compiler's name for it. */
Test(validate_run, what_is_printed_names_files_as_they_were_given) {
    autojson *r = run("printing", TWICE ",'sizes':{'n':5},'checks':['memory']", "ptx");
    cr_assert_str_eq(json_get_string(r, "printf", ""),
                     "src/k.cu:3 a-b.cuh; r0/x or0/y.z r2/ r/0 q_+.h a/r0/b.c");
}

Test(validate_run, a_wrong_kernel_fails_where_it_is_wrong) {
    autojson *r = run("wrong", TWICE, "ptx");
    cr_assert_str_eq(verdict(r), "fail");
    json_t *output = json_array_get(
        json_object_get(json_array_get(json_object_get(r, "cases"), 0), "outputs"), 0);
    cr_assert_eq(json_get_integer(output, "mismatches", 0), 1);
    json_t *index = json_object_get(json_object_get(output, "first_mismatch"), "index");
    cr_assert_eq(json_integer_value(json_array_get(index, 0)), 2);
}

Test(validate_run, what_is_not_written_is_told) {
    autojson *r = run("short", TWICE, "ptx");
    cr_assert_str_eq(verdict(r), "fail");
    json_t *finding = json_array_get(json_object_get(r, "findings"), 0);
    cr_assert_str_eq(json_get_string(finding, "code", ""), "unwritten_output");
    cr_assert_eq(json_array_size(json_object_get(r, "findings")), 1);
    /* Nothing else is known to be wrong without a reference. */
    autojson *alone = run("short", "", "ptx");
    cr_assert_str_eq(verdict(alone), "fail");
}

/* What nobody looks at may be workspace: that is no verdict, and need not even be told.
 */
Test(validate_run, what_is_not_expected_need_not_be_written) {
#define ONLY_X(more)                                                                     \
    ",'args':[{'name':'y','type':'float32','shape':['n']," more "},"                     \
    "{'name':'x','type':'float32','shape':['n'],'init':{'normal':[0,1]},'output':true}," \
    "{'name':'n','type':'int32','value':'n'}],'expect':{'expression':{'x':'x[i]'}}"
    autojson *r = run("short", ONLY_X("'output':true"), "ptx");
    const json_t *finding = json_array_get(json_object_get(r, "findings"), 0);
    cr_assert_str_eq(verdict(r), "unjudged");
    cr_assert_str_eq(json_get_string(finding, "code", ""), "unwritten_output");
    cr_assert_str_eq(json_get_string(finding, "severity", ""), "warning");
    cr_assert(strstr(json_get_string(finding, "message", ""), "\"scratch\": true"));
    autojson *scratch = run("short", ONLY_X("'init':{'fill':0},'scratch':true"), "ptx");
    cr_assert_eq(json_array_size(json_object_get(scratch, "findings")), 0);
    autojson *all = run("short",
                        ",'args':[{'name':'y','type':'float32','shape':['n'],"
                        "'scratch':true},{'name':'x','type':'float32',"
                        "'shape':['n'],'init':{'normal':[0,1]}},"
                        "{'name':'n','type':'int32','value':'n'}]",
                        "ptx");
    cr_assert_str_eq(verdict(all), "pass");
    cr_assert_str_eq(only_code(all), "nothing_compared");
}

#define Y_ARGS(more)                                                                     \
    ",'args':[{'name':'y','type':'float32','shape':['n'],'output':true" more "},"        \
    "{'name':'x','type':'float32','shape':['n'],'init':{'normal':[0,1]}},"               \
    "{'name':'n','type':'int32','value':'n'}]"

static const json_t *first_output(const json_t *result) {
    const json_t *of_case = json_array_get(json_object_get(result, "cases"), 0);
    return json_array_get(json_object_get(of_case, "outputs"), 0);
}

/* Without an expectation even the wrong kernel would pass: neither does. */
Test(validate_run, what_nobody_judges_is_no_pass) {
    static const char *const kernels[] = {"good", "wrong"};
    for (size_t i = 0; i < ARRAY_LEN(kernels); i++) {
        autojson *r = run(kernels[i], ",'expect':null", "ptx");
        const json_t *error = json_object_get(r, "error"), *output = first_output(r);
        cr_expect_str_eq(verdict(r), "unjudged");
        cr_expect_str_eq(json_get_string(error, "code", ""), "unjudged");
        cr_expect(strstr(json_get_string(error, "message", ""), "'y'"));
        cr_expect(strstr(json_get_string(error, "hint", ""), "\"expression\""));
        cr_expect_str_eq(json_get_string(output, "name", ""), "y");
        cr_expect_str_eq(json_get_string(output, "verdict", ""), "unjudged");
        autojson *allowed = run(kernels[i], Y_ARGS(",'judge':false"), "ptx");
        cr_expect_str_eq(verdict(allowed), "pass");
        cr_expect_null(first_output(allowed));
        cr_expect_str_eq(only_code(allowed), "nothing_compared");
    }
    /* What is found all the same is a failure. */
    autojson *found = run("noted", ",'expect':null", "ptx");
    cr_expect_str_eq(verdict(found), "fail");
}

Test(validate_run, more_first_values_than_elements_are_refused) {
    autojson *r =
        run("good",
            ",'args':[{'name':'y','type':'float32','shape':['n'],'output':true},"
            "{'name':'x','type':'float32','shape':['n'],'init':{'values':[1,2,3,4,"
            "5,6]}},{'name':'n','type':'int32','value':'n'}]" TWICE,
            "ptx");
    const char *message = error_of(r, "message");
    cr_expect_str_eq(error_of(r, "code"), "bad_spec");
    cr_expect(strstr(message, "x.init.values: it has 6 numbers, the buffer 5 elements"),
              "%s", message);
}

/* The wrong kernel errs in element 2, the short one leaves the last unwritten. */
Test(validate_run, a_mask_says_which_elements_are_judged) {
    static const struct {
        const char *kernel, *more, *verdict;
        json_int_t judged;
    } rows[] = {
        {"wrong", Y_ARGS(",'judge':'i != 2'"), "pass", -1},
        {"wrong", Y_ARGS(",'judge':'i >= 2'"), "fail", -2},
        {"short", Y_ARGS(",'judge':'i < n - 1'"), "pass", -1},
        {"short", Y_ARGS(",'judge':'i > 0'"), "fail", -1},
        {"good", Y_ARGS(",'judge':'0'"), "error", 0},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        autofree char *more = xasprintf("%s%s", rows[i].more, TWICE);
        autojson *r = run(rows[i].kernel, more, "ptx");
        const json_t *output = first_output(r);
        json_int_t elements = json_get_integer(output, "elements", -1);
        cr_expect_str_eq(verdict(r), rows[i].verdict, "%zu: %s", i, verdict(r));
        cr_expect_eq(json_get_integer(output, "judged", -9),
                     rows[i].judged ? elements + rows[i].judged : 0, "%zu", i);
    }
    autojson *odd = run("good", Y_ARGS(",'judge':'nobody < 3'") TWICE, "ptx");
    const char *message = json_get_string(json_object_get(odd, "error"), "message", "");
    cr_expect_str_eq(verdict(odd), "error");
    cr_expect(strstr(message, "y.judge: ") && strstr(message, "nobody"), "%s", message);
}

/* One case that expects zeros, or one value, must not excuse the others. The good kernel
 * doubles x, so these tolerances pass it. */
Test(validate_run, a_tolerance_is_judged_by_all_cases_together) {
#define X_VALUES(values)                                                                 \
    ",'trials':1,'sizes':{'n':5},'args':[{'name':'y','type':'float32','shape':['n'],"    \
    "'output':true},{'name':'x','type':'float32','shape':['n'],'init':{'values':"        \
    "[" values "]}},{'name':'n','type':'int32','value':'n'}]" TWICE
#define FIVE_ZEROS ",'expect':{'expression':{'y':'n == 5 ? 0 : x[i] * 2'}}"
    static const struct {
        const char *spec, *verdict, *code;
    } rows[] = {
        {FIVE_ZEROS ",'tolerance':{'atol':100}", "error", ""},
        {",'sizes':[{'n':33},{'n':1}],'tolerance':{'rtol':1}" TWICE, "error", ""},
        {",'sizes':[{'n':33},{'n':1}],'tolerance':{'rtol':0.9}" TWICE, "pass", ""},
        /* Zeros and the mean are wrong at the one large value. */
        {X_VALUES("1000,1,2,3,4") ",'tolerance':{'atol':500}", "pass", "wide_tolerance"},
        /* The constant and the shift are wrong there, most others may be anything. */
        {X_VALUES("1000,1,2,3,4") ",'tolerance':{'atol':400}", "pass", "wide_tolerance"},
        {X_VALUES("1000,500,90,700,800") ",'tolerance':{'atol':380}", "pass", ""},
        {X_VALUES("1000,90,80,700,800") ",'tolerance':{'atol':380}", "pass",
         "wide_tolerance"},
        /* By default half of them. */
        {X_VALUES("1e9,1,2,0,0"), "pass", "wide_tolerance"},
        {X_VALUES("1e9,1,0,5e8,1e9"), "pass", ""},
        {X_VALUES("1e9,1,2,3,4"), "pass", ""},
        {X_VALUES("1e9,1,2,3,4") ",'expect':{'expression':{'y':'i ? 42 : x[i] * 2'}}",
         "fail", "narrow_tolerance"},
        {X_VALUES("0,0,0,0,0") ",'tolerance':{'atol':1e30}", "pass", "wide_tolerance"},
        {X_VALUES("0,0,0,0,0"), "pass", ""},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        autojson *r = run("good", rows[i].spec, "ptx");
        cr_expect_str_eq(verdict(r), rows[i].verdict, "%zu: %s", i, verdict(r));
        cr_expect_str_eq(only_code(r), rows[i].code, "%zu: %s", i, only_code(r));
        cr_expect_str_eq(error_of(r, "code"),
                         strcmp(rows[i].verdict, "error") ? "" : "trivial_check");
    }
}

#define OPERATOR(words) ",'expect':{'op':" words "}"
#define ONE_ROW                                                                          \
    ",'args':[{'name':'y','type':'float32','shape':[1,'n'],'output':true},{'name':'x','" \
    "type':'float32','shape':[1,'n'],'init':{'normal':[0,1]}},{'name':'n','type':"       \
    "'int32','value':'n'}]"

Test(validate_run, an_operator_over_all_of_flat_buffers_is_noted) {
    static const char *const rows[][2] = {
        {OPERATOR("'softmax'"), "flat_shape"},
        {OPERATOR("'relu','then':[{'op':'softmax'}]"), "flat_shape"},
        {OPERATOR("'softmax','dim':0"), ""},
        {OPERATOR("'relu'"), ""},
        {OPERATOR("'softmax'") ONE_ROW, ""},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        autojson *r = run("good", rows[i][0], "ptx");
        cr_expect_str_eq(verdict(r), "fail", "%zu: %s", i, verdict(r));
        cr_expect_str_eq(only_code(r), rows[i][1], "%zu: %s", i, only_code(r));
    }
    /* Right outputs and a race: the shape explains nothing. */
    autojson *r = run("racy",
                      OPERATOR("'narrow','length':'n','inputs':{'input':'x'},'then':["
                               "{'op':'mul','inputs':{'other':2}}]"),
                      "ptx");
    cr_expect_str_eq(verdict(r), "fail");
    json_each(json_object_get(r, "findings"), i, finding) {
        cr_expect(!json_says(finding, "code", "flat_shape"));
    }
}

Test(validate_run, a_mask_that_hides_most_is_told) {
    static const struct {
        const char *mask, *code;
    } rows[] = {{"i == 3", "few_judged"}, {"i % 2 == 0", ""}, {"i < 30", ""}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        autofree char *args = xasprintf(Y_ARGS(",'judge':'%s'") TWICE, rows[i].mask);
        autojson *r = run("good", args, "ptx");
        cr_expect_str_eq(only_code(r), rows[i].code, "%s", rows[i].mask);
        cr_expect_str_eq(verdict(r), "pass");
    }
    autojson *r = run("good", Y_ARGS(",'judge':'i == 3'") TWICE, "ptx");
    const json_t *finding = json_array_get(json_object_get(r, "findings"), 0);
    cr_expect(strstr(json_get_string(finding, "message", ""), "6 of 114 elements"));
}

Test(validate_run, findings_fail_a_right_result) {
    autojson *r = run("noted", TWICE, "ptx");
    cr_assert_str_eq(verdict(r), "fail");
    json_t *findings = json_object_get(r, "findings");
    cr_assert_eq(json_array_size(findings), 1);
    cr_assert_eq(json_get_integer(json_array_get(findings, 0), "count", 0), 6);
}

/* One helper may hold all waits: who is waited for in vain is told beside the others. */
Test(validate_run, deadlocks_of_one_line_are_told_apart) {
    autojson *r = run("stuck", TWICE, "ptx");
    json_t *findings = json_object_get(r, "findings");
    cr_assert_eq(json_array_size(findings), 3);
    cr_assert_eq(json_get_integer(json_array_get(findings, 1), "count", 0), 2);
    cr_assert_eq(json_get_integer(json_array_get(findings, 2), "count", 0), 2);
}

static bool looked_for_races(const json_t *r) {
    size_t i;
    const json_t *check;
    json_array_foreach(json_object_get(r, "checks"), i, check) {
        if (!strcmp(json_string_value(check), "race")) {
            return true;
        }
    }
    return false;
}

/* Nobody need ask; of that trial only the races count, and not what is harmless. */
Test(validate_run, races_are_looked_for_once_where_no_checks_are_named) {
    autojson *r = run("racy", TWICE, "ptx");
    json_t *findings = json_object_get(r, "findings");
    cr_assert_str_eq(verdict(r), "fail");
    cr_assert(looked_for_races(r));
    cr_assert_eq(json_array_size(findings), 3);
    cr_assert_str_eq(json_get_string(json_array_get(findings, 0), "code", ""), "race");
    cr_assert_str_eq(json_get_string(json_array_get(findings, 1), "severity", ""),
                     "warning");
    cr_assert(json_says(json_array_get(findings, 2), "code", "missing_fence"));
    cr_assert(!json_object_get(r, "error"), "the trial's own end is nobody's");
    cr_assert_eq(json_array_size(json_object_get(r, "cases")), 6);

    autojson *good = run("good", TWICE, "ptx");
    cr_assert(looked_for_races(good));
    autojson *faulty = run("fault", TWICE, "ptx");
    cr_assert_eq(json_array_size(json_object_get(faulty, "findings")), 1);

    static const char *const without[] = {
        TWICE ",'checks':['memory']", /* they are named */
        TWICE ",'instructions':115",  /* three trials, and no more */
    };
    for (size_t i = 0; i < ARRAY_LEN(without); i++) {
        autojson *none = run("racy", without[i], "ptx");
        cr_assert_str_eq(verdict(none), "pass", "%s", without[i]);
        cr_assert(!looked_for_races(none), "%s", without[i]);
    }
}

static const char *added_verdict(const json_t *r, size_t i) {
    const json_t *added = json_array_get(json_object_get(r, "added_cases"), i);
    return json_get_string(added, "verdict", "");
}

/* Races are looked for in the largest case, so the round case that an odd one was made of
 * may have them too. */
Test(validate_run, a_race_of_round_sizes_too_is_no_odd_size) {
    autojson *r = run("small_racy", ",'sizes':[{'n':64},{'n':32}]" TWICE, "ptx");
    cr_expect_str_eq(verdict(r), "fail");
    cr_expect_str_eq(only_code(r), "missing_fence");
    cr_expect_str_eq(added_verdict(r, 0), "fail");
}

Test(validate_run, odd_sizes_are_tried_where_all_are_round) {
#define ROUND ",'sizes':[{'n':64},{'n':32}]" TWICE
    autojson *good = run("good", ROUND, "ptx");
    cr_assert_str_eq(verdict(good), "pass");
    cr_assert_str_eq(added_verdict(good, 0), "pass");
    cr_assert_eq(json_array_size(json_object_get(good, "findings")), 0);
    cr_assert_eq(json_array_size(json_object_get(good, "cases")), 6);

    autojson *round = run("round", ROUND, "ptx");
    cr_assert_str_eq(verdict(round), "pass");
    cr_assert_str_eq(added_verdict(round, 0), "fail");
    const json_t *finding = json_array_get(json_object_get(round, "findings"), 0);
    cr_assert_str_eq(json_get_string(finding, "code", ""), "odd_size");
    cr_assert_str_eq(json_get_string(finding, "severity", ""), "warning");
    cr_assert(strstr(json_get_string(finding, "message", ""), "n = 31"));
    cr_assert(strstr(json_get_string(finding, "message", ""), "1 of 31 elements of 'y'"));
    cr_assert(strstr(json_get_string(finding, "message", ""), "only a warning"));
    cr_assert_eq(json_array_size(json_object_get(round, "cases")), 6);

    static const char *const without[] = {
        ROUND ",'odd_sizes':false",
        TWICE, /* 5 and 33 are odd enough */
        ",'sizes':[{'n':64},{'n':32}]",
    };
    for (size_t i = 0; i < 2; i++) {
        autojson *none = run("round", without[i], "ptx");
        cr_assert(!json_object_get(none, "added_cases"), "%s", without[i]);
    }
    /* A size that the reference cannot be of either is no fault of the kernel's. */
    autojson *picky = run(
        "picky", ",'sizes':{'n':64},'expect':{'kernel':{'kernel':'picky_too'}}", "ptx");
    cr_assert_str_eq(verdict(picky), "pass");
    cr_assert_str_eq(added_verdict(picky, 0), "skipped");
    cr_assert_eq(json_array_size(json_object_get(picky, "findings")), 0);
    autojson *unchecked = run("round", without[2], "ptx"); /* only findings could tell */
    cr_assert_str_eq(added_verdict(unchecked, 0), "unjudged");
}

/* A grid that is rounded up promises a last block that is not full: a kernel that fails
 * with half of it, too, is wrong, and one that takes fours may be meant to. */
Test(validate_run, a_partial_block_that_the_grid_makes_is_no_matter_of_taste) {
#define ROUNDED ",'sizes':[{'n':64}],'launch':{'grid':['ceil_div(n, 32)'],'block':[32]}"
    autojson *round = run("round", ROUNDED TWICE, "ptx");
    const json_t *finding = json_array_get(json_object_get(round, "findings"), 0);
    cr_assert_str_eq(verdict(round), "fail");
    cr_assert_str_eq(json_get_string(finding, "severity", ""), "error");
    cr_assert(strstr(json_get_string(finding, "message", ""), "n = 63"));
    cr_assert(strstr(json_get_string(finding, "message", ""), "also fails with 48"));
    cr_assert_eq(json_array_size(json_object_get(round, "added_cases")), 2);

    autojson *fours = run("fours", ROUNDED TWICE, "ptx");
    finding = json_array_get(json_object_get(fours, "findings"), 0);
    cr_assert_str_eq(verdict(fours), "pass");
    cr_assert_str_eq(json_get_string(finding, "severity", ""), "warning");
    cr_assert_str_eq(added_verdict(fours, 0), "fail");
    cr_assert_str_eq(added_verdict(fours, 1), "pass");
}

Test(validate_run, an_odd_size_stands_where_it_fails_and_tells_all) {
    autojson *r = run("many", ROUND, "ptx");
    const json_t *finding = json_array_get(json_object_get(r, "findings"), 0);
    const json_t *related = json_object_get(finding, "related");
    cr_assert_eq(json_array_size(json_object_get(r, "findings")), 1);
    cr_assert_str_eq(json_get_string(finding, "file", ""), "k.cu");
    cr_assert_eq(json_get_integer(finding, "line", 0), 20);
    cr_assert_eq(json_array_size(related), 8);
    cr_assert_eq(json_get_integer(json_array_get(related, 7), "line", 0), 28);
    cr_assert(strstr(json_get_string(finding, "message", ""), "and 3 more"));
}

/* Two sizes that fail at one line are two findings: each names its own. */
Test(validate_run, two_odd_sizes_are_told_apart) {
    autojson *r = run("many",
                      ",'sizes':[{'n':64,'m':64}],'launch':{'grid':['m'],'block':[32]},"
                      "'args':[{'name':'y','type':'float32','shape':['n'],'output':true},"
                      "{'name':'x','type':'float32','shape':['n'],'init':{'fill':1}},"
                      "{'name':'n','type':'int32','value':'min(n, m)'}]",
                      "ptx");
    json_t *findings = json_object_get(r, "findings");
    cr_assert_eq(json_array_size(findings), 2);
    cr_assert(
        strstr(json_get_string(json_array_get(findings, 0), "message", ""), "n = 63"));
    cr_assert(
        strstr(json_get_string(json_array_get(findings, 1), "message", ""), "m = 63"));
}

Test(validate_run, early_ends) {
    static const struct {
        const char *kernel, *spec, *ptx, *verdict, *stage, *code;
    } cases[] = {
        {"fault", TWICE, "ptx", "fail", "run", "CUDA_ERROR_LAUNCH_FAILED"},
        {"endless", TWICE, "ptx", "timeout", "run", "instruction_budget"},
        {"refused", TWICE, "ptx", "error", "launch", "launch_refused"},
        {"good", TWICE, "unsupported", "unsupported", "compile", "unsupported"},
        {"good", ",'expect':{'kernel':{'kernel':'bad'}}", "ptx", "error", "reference",
         "reference_faulted"},
        {"good", ",'expect':{'kernel':{'kernel':'part'}}", "ptx", "error", "reference",
         "reference_incomplete"},
        {"good", ",'expect':{'expression':{'y':'x[i + 1]'}}", "ptx", "error", "reference",
         "expectation"},
        {"good", ",'expect':{'values':{'y':[1,2]}}", "ptx", "error", "spec", "bad_spec"},
        {"good", ",'tolerance':{'atol':100}" TWICE, "ptx", "error", "spec",
         "trivial_check"},
        {"good", ",'kernel':'other'" TWICE, "ptx", "error", "spec", "unknown_kernel"},
        {"good", ",'trials':0", "ptx", "error", "spec", "bad_spec"},
        {"good", ",'launch':{'grid':[2147483647,65535],'block':[1024]}" TWICE, "ptx",
         "error", "run", "wall_time"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        autojson *r = run(cases[i].kernel, cases[i].spec, cases[i].ptx);
        cr_assert_str_eq(verdict(r), cases[i].verdict, "case %zu: %s %s", i, verdict(r),
                         error_of(r, "message"));
        cr_assert_str_eq(error_of(r, "stage"), cases[i].stage, "case %zu", i);
        cr_assert_str_eq(error_of(r, "code"), cases[i].code, "case %zu: %s", i,
                         error_of(r, "code"));
        cr_assert(json_is_array(json_object_get(r, "cases")));
    }
}

/* It is the author's own kernel: what it did, where, and what it may be. */
Test(validate_run, a_reference_that_faults_is_told_with_its_line) {
    autojson *r = run("good", ",'expect':{'kernel':{'kernel':'bad'}}", "ptx");
    cr_assert_str_eq(error_of(r, "message"),
                     "the reference kernel itself does not run cleanly: so it is, in its "
                     "line 7");
    cr_assert(strstr(error_of(r, "hint"), "it gets the kernel's arguments"));
    cr_assert_eq(json_array_size(json_object_get(r, "findings")), 0,
                 "findings are the kernel's");
}

/* The first trial of every case is run; later ones are left out when they do not fit. */
Test(validate_run, the_budget_leaves_out_later_trials) {
    autojson *r = run("good", ",'instructions':80" TWICE, "ptx");
    cr_assert_str_eq(verdict(r), "pass");
    json_t *budget = json_object_get(r, "budget");
    cr_assert_eq(json_get_integer(budget, "skipped_trials", 0), 2);
    cr_assert(json_object_get(budget, "ended_run") == json_false());
    autojson *less = run("good", ",'instructions':20" TWICE, "ptx");
    cr_assert_str_eq(verdict(less), "timeout");
    cr_assert(json_object_get(json_object_get(less, "budget"), "ended_run") ==
              json_true());
}

/* Six trials of 250 ms in a second: some do not fit. The first of a case is never left
 * out. */
Test(validate_run, the_time_leaves_out_later_trials) {
    autojson *r = run_within("'wall_ms':1700", "slow", TWICE, "ptx");
    cr_assert_str_eq(verdict(r), "pass");
    json_int_t skipped =
        json_get_integer(json_object_get(r, "budget"), "skipped_trials", 0);
    cr_assert(skipped >= 1 && skipped <= 4, "%d", (int)skipped);
}

/* Of 33 floats: x, which is not copied, 132 bytes; y and who wrote it 132 + 33, and its
 * first contents, which an expression may read, 132; what is expected of it, in double
 * precision, 264: 693. */
Test(validate_run, what_does_not_fit_is_not_run) {
    autojson *r = run_within("'memory_bytes':651", "good", TWICE, "ptx");
    cr_assert_str_eq(verdict(r), "error");
    cr_assert_str_eq(error_of(r, "code"), "memory");
    cr_assert(strstr(error_of(r, "message"), "case 1: ") &&
                  strstr(error_of(r, "message"), "with 0.94 of the elements would fit"),
              "%s", error_of(r, "message"));
    cr_assert_eq(json_array_size(json_object_get(r, "cases")), 0);
    autojson *fits = run_within("'memory_bytes':693", "good", TWICE, "ptx");
    cr_assert_str_eq(verdict(fits), "pass");
}

Test(validate_run, stopped_in_time_it_keeps_what_it_has) {
    validate_stop();
    autojson *r = run("good", TWICE, "ptx");
    cr_assert_str_eq(verdict(r), "timeout");
    cr_assert_str_eq(error_of(r, "code"), "wall_time");
}
