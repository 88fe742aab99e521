#include "skills/runs/run_queries.h"

#include "base/buf.h"
#include "skills/runs/html.h"
#include "skills/runs/run_plot.h"

#include <math.h>

#define SHORT 200
#define QUERY 1000

static void add_rate(struct buf *out, const json_t *student, const char *key,
                     const char *words) {
    const json_t *rate = json_object_get(student, key);
    double estimate = json_get_number(rate, "estimate", NAN);
    if (isnan(estimate)) {
        return;
    }
    buf_addf(out, "<tr><td>%s</td><td class=\"n\">%lld of %lld</td><td>", words,
             (long long)json_get_integer(rate, "right", 0),
             (long long)json_get_integer(rate, "of", 0));
    plot_rate(out, estimate, json_get_number(rate, "low", NAN),
              json_get_number(rate, "high", NAN), "even");
    buf_addf(out, "</td><td class=\"n\">%.0f %%</td></tr>\n", round(100 * estimate));
}

static void add_rates(struct buf *out, const json_t *student) {
    buf_adds(out, "<div class=\"scroll\"><table><tr><th>queries</th><th "
                  "class=\"n\">right</th><th>95 % interval</th><th></th></tr>\n");
    add_rate(out, student, "recall", "that need it, and load it");
    add_rate(out, student, "specificity", "that do not, and leave it");
    add_rate(out, student, "precision", "of those that load it, need it");
    buf_adds(out, "</table></div>\n");
}

static void add_others(struct buf *out, const json_t *others) {
    size_t count = 0;
    json_each_member(others, name, times) {
        if (count++ < 8) {
            buf_adds(out, count > 1 ? ", " : "");
            html_text(out, name, SHORT);
            buf_addf(out, " (%lld)", (long long)json_integer_value(times));
        }
    }
}

static void add_query(struct buf *out, const json_t *q) {
    const json_t *right = json_object_get(q, "right");
    bool wanted = json_is_true(json_object_get(q, "should_trigger"));
    buf_addf(out, "<tr><td class=\"%s\">%s %s</td><td class=\"n\">%lld of %lld</td><td>",
             json_is_true(right)    ? "passed"
             : json_is_false(right) ? "failed"
                                    : "muted",
             json_is_true(right)    ? "✓"
             : json_is_false(right) ? "✗"
                                    : "–",
             wanted ? "must load it" : "must not load it",
             (long long)json_get_integer(q, "loaded", 0),
             (long long)json_get_integer(q, "runs", 0));
    html_text(out, json_get_string(q, "query", ""), QUERY);
    buf_adds(out, "</td><td>");
    add_others(out, json_object_get(q, "others"));
    buf_adds(out, "</td><td class=\"muted\">");
    html_text(out, json_get_string(q, "split", ""), SHORT);
    buf_adds(out, "</td></tr>\n");
}

void run_queries_write(struct buf *out, const json_t *student) {
    const json_t *queries = json_object_get(student, "queries");
    if (!json_array_size(queries)) {
        return;
    }
    add_rates(out, student);
    buf_adds(out, "<h3>Each query</h3><div class=\"scroll\"><table class=\"queries\"><tr>"
                  "<th></th><th class=\"n\">loaded</th><th>query</th>"
                  "<th>loaded instead</th><th>split</th></tr>\n");
    json_each(queries, i, q) {
        if (i < RUN_QUERIES_MAX) {
            add_query(out, q);
        }
    }
    buf_adds(out, "</table></div>\n");
}
