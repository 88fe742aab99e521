#include "skills/runs/run_list_html.h"

#include "base/buf.h"
#include "skills/runs/html.h"
#include "skills/runs/run_plot.h"

#include <math.h>
#include <stdio.h>

#define SHORT 200 /* bytes of a name */

static void add_name(struct buf *out, const char *tag, const json_t *name) {
    buf_addf(out, "<%s>", tag);
    html_text(out, json_string_value(name) ? json_string_value(name) : "", SHORT);
    buf_addf(out, "</%s>", tag);
}

/* --- the matrix --- */

/* "40 → 85 %", and the verdict. */
static void add_pair(struct buf *out, const json_t *cell) {
    double before = json_get_number(cell, "baseline_rate", NAN),
           after = json_get_number(cell, "skill_rate", NAN);
    buf_adds(out, "<td>");
    if (!isnan(before) && !isnan(after)) {
        buf_addf(out, "%.0f → %.0f %% ", round(100 * before), round(100 * after));
        html_badge(out, json_get_string(cell, "verdict", ""));
    } else {
        buf_adds(out, "<span class=\"muted\">–</span>");
    }
    buf_adds(out, "</td>");
}

static void add_matrix(struct buf *out, const json_t *matrix) {
    const json_t *cells = json_object_get(matrix, "cells");
    buf_adds(out,
             "<p class=\"muted\">Tests solved without and with the skill, in the newest "
             "whole evaluation of each pair.</p>\n<div class=\"scroll\"><table "
             "class=\"matrix\"><tr><th>skill</th>");
    json_each(json_object_get(matrix, "models"), i, model) {
        add_name(out, "th", model);
    }
    buf_adds(out, "</tr>\n");
    json_each(json_object_get(matrix, "skills"), k, skill) {
        buf_adds(out, "<tr>");
        add_name(out, "td", skill);
        json_each(json_array_get(cells, k), m, cell) {
            add_pair(out, cell);
        }
        buf_adds(out, "</tr>\n");
    }
    buf_adds(out, "</table></div>\n");
}

/* --- the course of a pair --- */

static bool is_of(const json_t *row, const json_t *skill, const json_t *model) {
    return json_equal(json_object_get(row, "skill"), skill) &&
           json_equal(json_object_get(row, "model"), model);
}

/* "2026-11-23 19:19" of the run's name. */
static void date_of(const char *run, char ret[static 17]) {
    static const char form[] = "____-__-__ __:__";
    snprintf(ret, 17, "%s", run);
    for (size_t i = 0; form[i] && ret[i]; i++) {
        ret[i] = form[i] == '_' ? ret[i] : form[i];
    }
}

static struct plot_pair point_of(const json_t *row, char date[static 17]) {
    date_of(json_get_string(row, "run", ""), date);
    const char *verdict = json_get_string(row, "verdict", "not judged");
    return (struct plot_pair){.label = date,
                              .note = strcmp(verdict, "no_evidence") == 0 ? "no evidence"
                                      : strcmp(verdict, "not_measurable") == 0
                                          ? "not measurable"
                                          : verdict,
                              .before = json_get_number(row, "baseline_rate", NAN),
                              .after = json_get_number(row, "skill_rate", NAN)};
}

/* Oldest first; the rows have the opposite order. */
static void add_course(struct buf *out, const json_t *rows, const json_t *skill,
                       const json_t *model) {
    size_t count = 0, most = json_array_size(rows) + 1;
    autofree struct plot_pair *points = xcalloc(most, sizeof *points);
    autofree char(*dates)[17] = xcalloc(most, sizeof *dates);
    for (size_t i = json_array_size(rows); i-- > 0;) {
        const json_t *row = json_array_get(rows, i);
        if (is_of(row, skill, model)) {
            points[count] = point_of(row, dates[count]);
            count++;
        }
    }
    if (count) {
        add_name(out, "h3", model);
        plot_pairs(out, points, count);
    }
}

int run_list_html_write(struct buf *out, const json_t *list) {
    const json_t *rows = json_object_get(list, "runs"),
                 *matrix = json_object_get(list, "matrix");
    html_page_begin(out, "Evaluations");
    buf_addf(out, "<h1>Evaluations</h1>\n");
    add_matrix(out, matrix);
    json_each(json_object_get(matrix, "skills"), i, skill) {
        add_name(out, "h2", skill);
        buf_adds(out,
                 "\n<p class=\"muted\">Each evaluation, oldest first. Ring: without the "
                 "skill; disc: with it.</p>\n");
        json_each(json_object_get(matrix, "models"), k, model) {
            add_course(out, rows, skill, model);
        }
    }
    return buf_adds(out, "</body></html>\n");
}
