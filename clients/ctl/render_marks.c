/* What is known against tests: one line a mark, with the tests that have it. */
#include "base/buf.h"
#include "base/find.h"
#include "clients/ctl/method.h"
#include "clients/ctl/render.h"

#define MARK_TESTS_SHOWN 12u

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
    autobuf ids = BUF_INIT(64u << 10);
    size_t count = 0;
    json_each(marks, i, test) {
        if (has_mark(test, name) && count++ < MARK_TESTS_SHOWN) {
            buf_addf(&ids, "%s%.60s", ids.len ? ", " : "",
                     json_get_string(test, "id", ""));
        }
    }
    if (count > MARK_TESTS_SHOWN) {
        buf_addf(&ids, " and %zu more", count - MARK_TESTS_SHOWN);
    }
    const char *message = mark_message(marks, name);
    autofree char *text = xasprintf("(%zu test%s): %s. %s", count, count == 1 ? "" : "s",
                                    ids.data, message ? message : "");
    fputs("  ", stdout);
    terminal_put(t, STYLE_YELLOW, name);
    putchar(' ');
    terminal_put_wrapped(t, STYLE_PLAIN, text, 3 + (int)strlen(name), 4);
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
