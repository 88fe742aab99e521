/* kernel/run's result on a terminal. */
#include "base/buf.h"
#include "clients/ctl/render.h"

enum { MAX_ROWS = 12, MAX_MISSING = 60 };

/* The line's end: where in the host's code, and the newline. */
static void put_place(const struct terminal *t, const json_t *item) {
    const char *file = json_get_string(item, "file", NULL);
    if (file) {
        terminal_putf(t, STYLE_DIM, "  %s:%lld", file, count_of(item, "line"));
    }
    putchar('\n');
}

static void put_times(const json_t *item, const char *name) {
    if (count_of(item, name) > 1) {
        printf(", %lld times", count_of(item, name));
    }
}

static void put_more(const json_t *list) {
    if (json_array_size(list) > MAX_ROWS) {
        printf("and %zu more\n", json_array_size(list) - MAX_ROWS);
    }
}

/* --- parts --- */

static void put_stream(const struct terminal *t, const json_t *result, const char *name) {
    const char *text = json_get_string(result, name, "");
    if (*text) {
        terminal_putf(t, STYLE_DIM, "%s:\n", name);
        terminal_put(t, STYLE_PLAIN, text);
        fputs(text[strlen(text) - 1] == '\n' ? "" : "\n", stdout);
    }
}

static void put_missing(const struct terminal *t, const json_t *list) {
    json_each(list, i, one) {
        if (i < MAX_MISSING) {
            fputs("  ", stdout);
            terminal_put(
                t, STYLE_BOLD,
                json_get_string(one, "function", json_get_string(one, "what", "?")));
            put_place(t, one);
        }
    }
}

static void put_error(const struct terminal *t, const json_t *result) {
    const json_t *error = json_object_get(result, "error");
    render_labelled(t, verdict_style(result), json_get_string(error, "stage", ""),
                    json_get_string(error, "message", NULL));
    put_missing(t, json_object_get(result, "unsupported"));
    render_labelled(t, STYLE_BLUE, "hint", json_get_string(error, "hint", NULL));
}

static void put_why(const struct terminal *t, const json_t *one) {
    const char *why = json_get_string(one, "message", NULL);
    json_int_t later = count_of(one, "later");
    if (why) {
        fputs("  ", stdout);
        terminal_wrapf(t, STYLE_PLAIN, 2, 2, "%s", why);
    }
    if (later) {
        printf("  and so did %lld later call%s\n", (long long)later,
               later == 1 ? "" : "s");
    }
}

static const char *checked_words(const json_t *looked_at) {
    return json_is_true(looked_at)    ? ""
           : json_is_false(looked_at) ? ", and the program did not check"
                                      : "; whether the program checked is not known";
}

static void put_api_errors(const struct terminal *t, const json_t *list) {
    json_each(list, i, one) {
        if (i < MAX_ROWS) {
            terminal_put(t, STYLE_YELLOW, json_get_string(one, "function", "?"));
            fputs(" failed with ", stdout);
            terminal_put(t, STYLE_PLAIN, json_get_string(one, "error", "?"));
            fputs(checked_words(json_object_get(one, "looked_at")), stdout);
            put_times(one, "count");
            put_place(t, one);
            put_why(t, one);
        }
    }
    put_more(list);
}

static void put_leaks(const struct terminal *t, const json_t *list) {
    json_each(list, i, one) {
        if (i < MAX_ROWS) {
            terminal_put(t, STYLE_YELLOW, "not freed at the end: ");
            printf("%lld bytes of %.20s memory", count_of(one, "bytes"),
                   json_get_string(one, "kind", "device"));
            put_times(one, "count");
            put_place(t, one);
        }
    }
    put_more(list);
}

static void put_extent(const json_t *extent) {
    json_each(extent, i, n) {
        printf("%s%lld", i ? "," : "", json_integer_value(n));
    }
}

static void put_launches(const struct terminal *t, const json_t *result) {
    const json_t *list = json_object_get(result, "launches");
    json_each(list, i, one) {
        if (i < MAX_ROWS) {
            fputs("launched ", stdout);
            terminal_put(t, STYLE_BOLD, json_get_string(one, "kernel", "?"));
            fputs("<<<", stdout);
            put_extent(json_object_get(one, "grid"));
            fputs(" / ", stdout);
            put_extent(json_object_get(one, "block"));
            fputs(">>>", stdout);
            put_times(one, "times");
            put_place(t, one);
        }
    }
    put_more(list);
    json_int_t skipped =
        count_of(json_object_get(result, "skipped_launches"), "launches");
    if (skipped) {
        terminal_wrapf(t, STYLE_DIM, 0, 0,
                       "%lld launches were skipped, because their outcome was known from "
                       "equal ones (--run-all-launches runs them)",
                       (long long)skipped);
    }
}

static void put_written(const json_t *list) {
    json_each(list, i, one) {
        if (i < MAX_ROWS) {
            printf("wrote %s, %lld bytes\n", json_get_string(one, "name", "?"),
                   count_of(one, "bytes"));
        }
    }
    put_more(list);
}

static void put_saved(const json_t *saved) {
    const char *error = json_get_string(saved, "error", NULL);
    if (saved) {
        printf("%lld file%s in %s\n", count_of(saved, "files"),
               count_of(saved, "files") == 1 ? "" : "s",
               json_get_string(saved, "dir", "?"));
    }
    if (error) {
        printf("not all was saved: %s\n", error);
    }
}

static void put_verdict(const struct terminal *t, const json_t *result) {
    bool launched = json_array_size(json_object_get(result, "launches"));
    autobuf rest = BUF_INIT(128);
    if (launched) {
        buf_adds(&rest, "; kernels ran on the CPU, so times say nothing about a GPU");
    }
    render_verdict(t, verdict_style(result), json_get_string(result, "summary", "?"),
                   &rest);
}

void render_kernel_run(const struct terminal *t, const json_t *result,
                       const struct finding_sources *sources) {
    put_stream(t, result, "stdout");
    put_stream(t, result, "stderr");
    if (count_of(result, "output_omitted_bytes")) {
        printf("%lld more bytes were printed\n",
               count_of(result, "output_omitted_bytes"));
    }
    render_findings(t, json_object_get(result, "diagnostics"), sources);
    render_findings(t, json_object_get(result, "findings"), sources);
    render_explain(t, json_object_get(result, "findings"));
    put_api_errors(t, json_object_get(result, "api_errors"));
    put_leaks(t, json_object_get(result, "leaks"));
    put_launches(t, result);
    put_error(t, result);
    render_labelled(t, STYLE_BLUE, "hint", json_get_string(result, "hint", NULL));
    put_written(json_object_get(result, "files"));
    put_saved(json_object_get(result, "saved"));
    put_verdict(t, result);
}
