/* What evaluation_page.html tells: a batch, with what is computed of it. */
#include "skills/runs/run_html.h"

#include "skills/runs/html.h"
#include "skills/runs/run_answers.h"
#include "skills/runs/run_page.h"

#include <math.h>

extern const char html_evaluation_page[];

static json_t *member(const json_t *of, const char *name) {
    return json_object_get(of, name);
}

/* --- a student --- */

/* The rates of a test over those runs that hold both arms. */
static void set_rates(json_t *test) {
    double before = 0, after = 0, runs = 0;
    json_each(member(test, "pairs"), i, pair) {
        const json_t *a = member(pair, "baseline"), *b = member(pair, "skill");
        if (json_is_boolean(a) && json_is_boolean(b)) {
            before += json_is_true(a);
            after += json_is_true(b);
            runs++;
        }
    }
    json_object_set_new(test, "before", json_finite(before / runs));
    json_object_set_new(test, "after", json_finite(after / runs));
}

/* Of an answer in that arm; NAN where no price is known. */
static double answer_cost(const json_t *student, const char *name) {
    json_each(member(student, "arms"), i, arm) {
        if (json_says(arm, "name", name)) {
            return json_get_number(arm, "cost", NAN) / json_get_number(arm, "runs", NAN);
        }
    }
    return NAN;
}

static void set_cost(json_t *student) {
    double with = answer_cost(student, "skill"),
           without = answer_cost(student, "baseline");
    if (with > 0 && without > 0) {
        bool less = with < without;
        double size = less ? 1 - with / without : with / without;
        json_object_set_new(student, "cost",
                            json_pack("{s:o,s:o,s:o}", less ? "less" : "times",
                                      json_finite(size), "with", json_finite(with),
                                      "without", json_finite(without)));
    }
}

/* Its colour, on the lift and the bar of the skill's rate. */
static void set_tone(json_t *student) {
    const char *tone = html_tone(json_get_string(student, "verdict", ""));
    json_object_set_new(member(student, "lift"), "tone", json_string(tone));
    json_each(member(student, "arms"), i, arm) {
        bool skill = json_says(arm, "name", "skill");
        json_object_set_new(arm, "tone", json_string(skill ? tone : "even"));
    }
}

/* said: a sentence that the page shows already, which is not repeated. */
static void complete(json_t *student, const char *said) {
    double ratio = json_get_number(member(student, "token_ratio"), "estimate", NAN);
    set_tone(student);
    set_cost(student);
    if (ratio < 1) {
        json_object_set_new(student, "fewer_tokens", json_real(1 - ratio));
    }
    if (json_says(student, "verdict", "not_measurable")) {
        json_object_del(member(student, "lift"), "smallest_detectable");
    }
    if (json_says(student, "sentence", said)) {
        json_object_del(student, "sentence");
    }
    json_each(member(student, "tests"), i, test) {
        set_rates(test);
    }
}

/* --- what the tests prove --- */

/* The tests about which the same is said. */
static json_t *tests_by_message(const json_t *marks) {
    json_t *rows = json_object();
    json_each(marks, i, test) {
        const char *message = json_get_string(test, "message", "");
        if (!json_object_get(rows, message)) {
            json_object_set_new(rows, message, json_array());
        }
        json_array_append(json_object_get(rows, message), json_object_get(test, "id"));
    }
    return rows;
}

/* --- the page --- */

static const char *skill_name(const json_t *batch) {
    const json_t *skill = member(member(batch, "meta"), "skill");
    const json_t *row = json_array_get(member(batch, "rows"), 0);
    return json_get_string(skill, "name", json_get_string(row, "skill", "skill"));
}

int run_html_write(struct buf *out, const json_t *batch) {
    const json_t *evaluation = member(batch, "evaluation");
    const char *said = json_get_string(evaluation, "sentence", "");
    size_t more;
    json_t *students = json_deep_copy(member(evaluation, "students"));
    json_t *answers = run_answers(batch, &more);
    json_each(students, i, student) {
        complete(student, said);
    }
    autojson *page = json_pack(
        "{s:s,s:s,s:s,s:s,s:o*,s:O*,s:o,s:O,s:o,s:o*}", "kind", "evaluation", "name",
        skill_name(batch), "verdict", json_get_string(evaluation, "verdict", ""),
        "sentence",
        *said ? said : "No verdict: these runs were not judged, or did not end.",
        "students", students, "rows", member(batch, "rows"), "doubts",
        tests_by_message(member(evaluation, "marks")), "batch", batch, "answers", answers,
        "more", more ? json_integer((json_int_t)more) : NULL);
    return run_page_write(out, html_evaluation_page, page);
}
