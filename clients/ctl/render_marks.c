/* What is known against tests: one line a mark, with the tests that have it. */
#include "base/find.h"
#include "clients/ctl/render.h"

static bool has_mark(const json_t *test, const char *name) {
    return json_has_text(json_object_get(test, "marks"), name);
}

/* The sentence of a test that has no other mark is about this one. */
static const char *mark_message(const json_t *marks, const char *name) {
    json_each(marks, i, test) {
        if (has_mark(test, name) &&
            json_array_size(json_object_get(test, "marks")) == 1) {
            return json_get_string(test, "message", NULL);
        }
    }
    return NULL;
}

static void mark_line(const struct terminal *t, const json_t *marks, const char *name) {
    json_t *tests = json_array();
    json_each(marks, i, test) {
        if (has_mark(test, name)) {
            json_array_append(tests, test);
        }
    }
    autojson *told = json_pack("{s:s,s:o,s:s*}", "name", name, "tests", tests, "message",
                               mark_message(marks, name));
    terminal_words(t, 0,
                   "  " YELLOW "{name}" END " \t([{tests-0}|0] test[{!tests=1}s]): "
                   "{tests<12/, /:{id~60}}[ and {tests-12} more].[ {message}]\n",
                   told);
}

void render_marks(const struct terminal *t, const json_t *marks) {
    static const char *const names[] = {"passes_empty", "quotes_skill",  "echoes_input",
                                        "judge_only",   "always_passes", "never_passes"};
    bool titled = false;
    for (size_t k = 0; k < ARRAY_LEN(names); k++) {
        bool there = json_any(marks, test, has_mark(test, names[k]));
        if (there && !titled) {
            puts("\ntests that prove little");
            titled = true;
        }
        if (there) {
            mark_line(t, marks, names[k]);
        }
    }
}
