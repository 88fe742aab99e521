/* What list_page.html tells: the matrix of skills and models, and the course of each
 * pair. */
#include "skills/runs/run_list_html.h"

#include "skills/runs/html.h"
#include "skills/runs/run_page.h"

extern const char html_list_page[];

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

static json_t *point_of(const json_t *row) {
    char date[17];
    date_of(json_get_string(row, "run", ""), date);
    return json_pack("{s:o,s:s,s:O*,s:O*}", "id", json_text(date, strlen(date)), "split",
                     html_verdict(json_get_string(row, "verdict", "")), "before",
                     json_object_get(row, "baseline_rate"), "after",
                     json_object_get(row, "skill_rate"));
}

/* Oldest first; the rows have the opposite order. */
static json_t *course(const json_t *rows, const json_t *skill, const json_t *model) {
    json_t *points = json_array();
    for (size_t i = json_array_size(rows); i-- > 0;) {
        const json_t *row = json_array_get(rows, i);
        if (is_of(row, skill, model) && !json_object_get(row, "kind")) {
            json_array_append_new(points, point_of(row));
        }
    }
    return points;
}

static json_t *models_of(const json_t *rows, const json_t *skill, const json_t *models) {
    json_t *all = json_array();
    json_each(models, i, model) {
        json_t *runs = course(rows, skill, model);
        if (json_array_size(runs)) {
            json_array_append_new(
                all, json_pack("{s:O,s:O}", "model", model, "runs", runs));
        }
        json_decref(runs);
    }
    return all;
}

/* Each with its model, which a narrow page tells beside it. */
static json_t *cells_of(const json_t *row, const json_t *models) {
    json_t *cells = json_array();
    json_each(models, i, model) {
        const json_t *cell = json_array_get(row, i);
        json_t *one = json_is_object(cell) ? json_copy((json_t *)(uintptr_t)cell) : json_object();
        json_object_set(one, "model", model);
        json_array_append_new(cells, one);
    }
    return cells;
}

int run_list_html_write(struct buf *out, const json_t *list) {
    const json_t *rows = json_object_get(list, "runs"),
                 *matrix = json_object_get(list, "matrix"),
                 *models = json_object_get(matrix, "models");
    json_t *skills = json_array();
    json_each(json_object_get(matrix, "skills"), i, skill) {
        json_array_append_new(
            skills,
            json_pack("{s:O,s:o,s:o}", "skill", skill, "cells",
                      cells_of(json_array_get(json_object_get(matrix, "cells"), i), models), "models",
                      models_of(rows, skill, models)));
    }
    autojson *page = json_pack("{s:s,s:O*,s:o}", "kind", "Evaluations", "models", models,
                               "skills", skills);
    return run_page_write(out, html_list_page, page);
}
