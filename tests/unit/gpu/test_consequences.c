#include "base/mem.h"
#include "gpu/fixes/consequences.h"
#include "protocol/finding.h"

#include <criterion/criterion.h>
#include <string.h>

struct words {
    int line, column;
    const char *message;
    bool cured; /* has a fix */
};

static json_t *findings_of(const struct words *words, size_t count) {
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        const struct finding_span span = {words[i].line, words[i].column, words[i].line,
                                          words[i].column + 1};
        json_t *finding =
            finding_new("nvrtc", "", FINDING_ERROR, words[i].message, "k.cu", &span);
        if (words[i].cured) {
            finding_add_fix(finding, "a cure", "k.cu", &span, "x");
        }
        json_array_append_new(list, finding);
    }
    return list;
}

/* What NVRTC 13.0.88 says of `__global__ void k(uint32_t *x, half *h)`, and of a second
 * mistake below. */
static const struct words unknown_type[] = {
    {3, 1, "attribute \"__global__\" does not apply here", false},
    {3, 17, "A namespace scope variable without memory space annotations is host", false},
    {3, 17, "incomplete type \"void\" is not allowed", false},
    {3, 19, "identifier \"uint32_t\" is undefined", true},
    {4, 29, "identifier \"x\" is undefined", false},
    {4, 32, "identifier \"half\" is undefined", true},
    {4, 40, "expected a \";\"", false},
    {9, 5, "identifier \"y\" is undefined", false},
};

/* One unknown type is one error; what has a cure of its own, and what comes later, stays.
 */
Test(consequences, fold_into_their_cause) {
    autojson *findings = findings_of(unknown_type, ARRAY_LEN(unknown_type));
    consequences_fold(findings);
    cr_assert_eq(json_array_size(findings), 3);
    const json_t *cause = json_array_get(findings, 0);
    cr_assert_str_eq(json_get_string(cause, "message", ""),
                     "identifier \"uint32_t\" is undefined");
    const json_t *related = json_object_get(cause, "related");
    cr_assert_eq(json_array_size(related), 5);
    cr_assert_eq(json_get_integer(json_array_get(related, 0), "line", 0), 3);
    cr_assert_eq(json_get_integer(json_array_get(findings, 1), "column", 0), 32);
    cr_assert_eq(json_get_integer(json_array_get(findings, 2), "line", 0), 9);
}

/* Without a misread declaration, or without a name to blame, nothing is folded. */
Test(consequences, leave_the_rest_alone) {
    static const struct words apart[] = {
        {3, 1, "identifier \"a\" is undefined", false},
        {3, 9, "expected a \";\"", false},
        {5, 1, "attribute \"__global__\" does not apply here", false},
        {5, 9, "expected a \";\"", false},
    };
    autojson *findings = findings_of(apart, ARRAY_LEN(apart));
    autojson *before = json_deep_copy(findings);
    consequences_fold(findings);
    cr_assert(json_equal(findings, before));
    autojson *none = json_array();
    consequences_fold(none);
    cr_assert_eq(json_array_size(none), 0);
}
