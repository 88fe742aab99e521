/* kernel/validate's result in words, as agents read it. */
#include "base/buf.h"
#include "base/json.h"
#include "gpu/validate/kernel_validate.h"

#include <criterion/criterion.h>
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
