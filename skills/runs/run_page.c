#include "skills/runs/run_page.h"

#include "base/buf.h"
#include "base/words.h"
#include "skills/runs/html.h"
#include "skills/runs/run_plot.h"

#define FACT 1000    /* bytes of a value that is shown as it is */
#define EXPECTED 300 /* of what an assertion expects */

extern const char html_page_head[], style_report[];

static void add_style(struct buf *out, const json_t *, const void *) {
    buf_adds(out, style_report);
}

static void add_script(struct buf *out, const json_t *, const void *) {
    buf_adds(out, script_marks);
}

/* "helps", "hurts" … on its colour; "not judged" for what has no verdict. */
static void add_badge(struct buf *out, const json_t *of, const void *) {
    const char *verdict = json_get_string(of, "verdict", "");
    buf_addf(out, "<span class=\"badge %s\">%s</span>", html_tone(verdict),
             html_verdict(verdict));
}

static void add_json(struct buf *out, const json_t *value, size_t max) {
    autofree char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
    html_text(out, text ? text : "", max);
}

static void add_fact(struct buf *out, const json_t *value, const void *) {
    if (json_is_string(value)) {
        html_text(out, json_string_value(value), FACT);
    } else {
        add_json(out, value, FACT);
    }
}

/* /a.b/i, as people write it; anything else as JSON. */
static void add_expected(struct buf *out, const json_t *expected, const void *) {
    const char *pattern = json_get_string(expected, "pattern", NULL);
    if (pattern) {
        autofree char *text =
            xasprintf("/%s/%s", pattern, json_get_string(expected, "flags", ""));
        html_text(out, text, EXPECTED);
    } else {
        add_json(out, expected, EXPECTED);
    }
}

int run_page_write(struct buf *out, const char *words, const json_t *value) {
    static const struct words_part parts[] = {
        {"style", add_style},       {"script", add_script}, {"badge", add_badge},
        {"fact", add_fact},         {"lift", plot_lift},    {"rate", plot_rate},
        {"expected", add_expected}, {"pairs", plot_pairs},  {0}};
    static const struct words_manner manner = {.escape = html_escape, .parts = parts};
    words_add_as(out, &manner, html_page_head, value);
    words_add_as(out, &manner, words, value);
    return out->full ? -EMSGSIZE : 0;
}
