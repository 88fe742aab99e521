/* What compute-sanitizer found, in a validation's answer: pure. */
#include "gpu/run/sanitizer_merge.h"

#include "base/mem.h"

#include <criterion/criterion.h>
#include <string.h>

static json_t *parse(const char *text) {
    autofree char *copy = xstrdup(text);
    for (char *c = copy; *c; c++) {
        *c = *c == '\'' ? '"' : *c;
    }
    json_t *json = json_loads(copy, 0, NULL);
    cr_assert(json != NULL, "%s", copy);
    return json;
}

#define CUDA                                                                             \
    "'backend':{'kind':'cuda'},'checks':['memory'],'unchecked':['barrier','race'],"
#define FOUND(findings)                                                                  \
    "{'version':'1','tools':[{'tool':'memcheck','check':'memory','outcome':'findings',"  \
    "'omitted':2,'findings':[" findings "]}]}"
#define AT(code, kernel, line)                                                           \
    "{'code':'" code "','severity':'error','kernel':'" kernel                            \
    "','file':'k.cu','line':" #line ",'thread':[1,0,0]}"

/* own: findings of the answer. */
static json_t *merged(const char *own, const char *report) {
    autofree char *text =
        xasprintf("{'verdict':'pass'," CUDA "'findings':[%s],'omitted':1}", own);
    json_t *answer = parse(text);
    autojson *told = parse(report);
    sanitizer_merge(answer, told);
    return answer;
}

static size_t count(const json_t *answer) {
    return json_array_size(json_object_get(answer, "findings"));
}

static const json_t *nth(const json_t *answer, size_t i) {
    return json_array_get(json_object_get(answer, "findings"), i);
}

Test(sanitizer_merge, what_says_less_gives_way) {
    autojson *a = merged("{'code':'out_of_bounds','severity':'error','kernel':'k'}",
                         FOUND(AT("out_of_bounds", "ns::k<int>(float *)", 7)));
    cr_assert_eq(count(a), 2, "k and k<int> are two kernels");
    autojson *b = merged("{'code':'out_of_bounds','severity':'error','kernel':'k<int>'}",
                         FOUND(AT("out_of_bounds", "ns::k<int>(float *)", 7)));
    cr_assert_eq(count(b), 1);
    cr_expect_eq(json_get_integer(nth(b, 0), "line", 0), 7);
    cr_expect_str_eq(json_get_string(b, "verdict", ""), "fail");
    cr_expect_eq(json_get_integer(b, "omitted", 0), 3);
    cr_expect_null(json_object_get(
        json_array_get(json_object_get(json_object_get(b, "sanitizer"), "tools"), 0),
        "findings"));
}

Test(sanitizer_merge, a_buffer_learns_its_place_when_there_is_one) {
    static const char own[] = "{'code':'out_of_bounds','severity':'error','kernel':'k',"
                              "'buffer':'y','offset':400}";
    autojson *one = merged(own, FOUND(AT("out_of_bounds", "k(int)", 7)));
    cr_assert_eq(count(one), 1);
    cr_expect_str_eq(json_get_string(nth(one, 0), "buffer", ""), "y");
    cr_expect_eq(json_get_integer(nth(one, 0), "line", 0), 7);
    autojson *two =
        merged(own, FOUND(AT("out_of_bounds", "k", 7) "," AT("out_of_bounds", "k", 9)));
    cr_assert_eq(count(two), 3);
    cr_expect_eq(json_get_integer(nth(two, 0), "line", 0), 0);
    /* Two buffers, one place: it is told once, with one of them. */
    autofree char *both = xasprintf("%s,%s", own, own);
    autojson *shared = merged(both, FOUND(AT("out_of_bounds", "k", 7)));
    cr_assert_eq(count(shared), 2);
}

Test(sanitizer_merge, nothing_is_told_twice) {
    autojson *a = merged(
        "{'code':'assert','severity':'error','kernel':'k','file':'k.cu',"
        "'line':3}",
        FOUND(AT("assert", "k", 3) "," AT("race", "k", 4) "," AT("race", "k(int)", 4)));
    cr_expect_eq(count(a), 2);
}

Test(sanitizer_merge, checks_move_when_their_tool_came_to_its_end) {
    autojson *a = merged(
        "", "{'tools':[{'tool':'synccheck','outcome':'clean','findings':[]},"
            "{'tool':'racecheck','outcome':'failed','reason':'why','findings':[]}]}");
    autojson *checks = parse("['memory','barrier']"), *left = parse("['race']");
    cr_expect(json_equal(json_object_get(a, "checks"), checks));
    cr_expect(json_equal(json_object_get(a, "unchecked"), left));
    cr_assert_eq(count(a), 1);
    cr_expect_str_eq(json_get_string(nth(a, 0), "code", ""), "not_sanitized");
    cr_expect(strstr(json_get_string(nth(a, 0), "message", ""), "why"));
    cr_expect_str_eq(json_get_string(a, "verdict", ""), "pass");
}

Test(sanitizer_merge, the_list_stays_short) {
    json_t *report = parse(FOUND(""));
    json_t *tool = json_array_get(json_object_get(report, "tools"), 0);
    for (int i = 1; i <= 300; i++) {
        json_t *f = parse(AT("race", "k", 4));
        json_object_set_new(f, "line", json_integer(i));
        json_array_append_new(json_object_get(tool, "findings"), f);
    }
    autojson *answer = parse("{'verdict':'fail'," CUDA "'findings':[],'omitted':0}");
    sanitizer_merge(answer, report);
    cr_expect_eq(count(answer), 100);
    cr_expect_eq(json_get_integer(answer, "omitted", 0), 202);
    json_decref(report);
}

Test(sanitizer_merge, which_tools_are_wanted) {
    static const struct {
        const char *answer;
        size_t tools;
    } cases[] = {
        {"{'verdict':'pass'," CUDA "'findings':[]}", 3},
        {"{'verdict':'fail'," CUDA "'findings':[]}", 3},
        {"{'verdict':'timeout'," CUDA "'findings':[]}", 0},
        {"{'verdict':'error'," CUDA "'findings':[]}", 0},
        {"{'verdict':'pass','backend':{'kind':'emulator'},'checks':['memory']}", 0},
        {"{'verdict':'pass','backend':{'kind':'cuda'},'checks':[]}", 0},
        {"{}", 0},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        autojson *answer = parse(cases[i].answer);
        autojson *wanted = sanitizer_wanted(answer);
        cr_expect_eq(json_array_size(wanted), cases[i].tools, "case %zu", i);
    }
}

/* A report comes from a process that a kernel may have taken over. */
Test(sanitizer_merge, any_report_is_survived) {
    static const char *const reports[] = {
        "{}",
        "[]",
        "{'tools':7}",
        "{'tools':[7,null,'x',[],{}]}",
        "{'tools':[{'tool':3,'outcome':[],'findings':{},'omitted':'x'}]}",
        FOUND("7,null,[],{},{'code':9,'severity':{},'kernel':[],'line':'x'}"),
        "{'absent':5,'hint':[],'tools':[]}",
    };
    for (size_t i = 0; i < ARRAY_LEN(reports); i++) {
        autojson *a = merged("", reports[i]);
        cr_expect(json_is_array(json_object_get(a, "findings")), "case %zu", i);
        cr_expect(json_object_get(a, "verdict") != NULL);
    }
}
