#include "skills/runs/run_list.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/find.h"
#include "base/strings.h"
#include "skills/runs/run_read.h"
#include "skills/statistics/statistics.h"

#include <math.h>

#define NAMES_MAX 20000
#define MATRIX_MAX 100 /* skills, and models */
#define MODELS_MAX 64  /* of one unfinished batch */
#define PROBLEMS_MAX 20
#define SCAN_MS 10000 /* then the rest is left out, and that is said */

/* --- names --- */

static int compare_names(const void *a, const void *b) {
    return strcmp(*(char *const *)b, *(char *const *)a);
}

json_t *run_names(const struct root *dir, size_t *ret_omitted) {
    json_t *list = json_array();
    autofd int fd = root_open_folder(dir, ".", NULL);
    autodir *entries = dir_entries(fd);
    autostrings names = {0};
    for (const struct dirent *e; names.count < NAMES_MAX && (e = dir_next(entries));) {
        bool maybe_folder = e->d_type == DT_DIR || e->d_type == DT_UNKNOWN;
        if (maybe_folder && run_name_is_valid(e->d_name)) {
            strings_add(&names, xstrdup(e->d_name));
        }
    }
    if (names.count) {
        qsort(names.list, names.count, sizeof *names.list, compare_names);
    }
    for (size_t i = 0; i < names.count && i < RUN_SCAN_MAX; i++) {
        json_array_append_new(list, json_string(names.list[i]));
    }
    *ret_omitted = names.count > RUN_SCAN_MAX ? names.count - RUN_SCAN_MAX : 0;
    return list;
}

/* --- rows --- */

/* more: further members; stolen. */
static json_t *row_new(const json_t *batch, const char *skill, const char *model,
                       json_t *more) {
    static const char *const keys[] = {"run", "folder", "origin", "state", NULL};
    json_t *row = json_object();
    json_copy_members(row, batch, keys);
    json_object_set_new(row, "skill", json_clean_z(skill));
    json_object_set_new(row, "model", json_clean_z(model));
    const json_t *meta = json_object_get(batch, "meta");
    const char *kind = json_get_string(meta, "kind", "evaluate");
    if (strcmp(kind, "evaluate") != 0) { /* such as a trigger test */
        json_object_set_new(row, "kind", json_clean_z(kind));
    }
    json_object_update(row, more);
    json_decref(more);
    return row;
}

static json_t *number_or_null(const json_t *object, const char *key) {
    json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_incref(value) : json_null();
}

static const json_t *named(const json_t *list, const char *name) {
    return json_find(list, item, json_says(item, "name", name));
}

static json_t *lift_json(const json_t *given) {
    static const char *const keys[] = {"estimate", "low",     "high",
                                       "p",        "n_tests", "smallest_detectable"};
    if (!json_is_object(given)) {
        return json_null();
    }
    json_t *lift = json_object();
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        json_object_set_new(lift, keys[i], number_or_null(given, keys[i]));
    }
    return lift;
}

/* A count as JSON; what no count can be is null. */
static json_t *count_json(double value) {
    return value >= 0 && value < 1e15 ? json_integer((json_int_t)value) : json_null();
}

/* Tokens and cost over all arms; null where one is unknown. */
static double arms_total(const json_t *arms, const char *of, const char *key) {
    double sum = 0;
    json_each(arms, i, arm) {
        const json_t *from = of ? json_object_get(arm, of) : arm;
        sum += json_get_number(from, key, NAN);
    }
    return json_array_size(arms) ? sum : NAN;
}

static json_t *student_row(const json_t *batch, const json_t *student) {
    const json_t *evaluation = json_object_get(batch, "evaluation");
    const json_t *skill = json_object_get(json_object_get(batch, "meta"), "skill");
    const json_t *lift = json_object_get(student, "lift");
    const json_t *arms = json_object_get(student, "arms");
    const json_t *provenance = json_object_get(evaluation, "provenance");
    const char *verdict = json_get_string(student, "verdict", "");
    json_t *more = json_pack(
        "{s:s?,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "verdict",
        strings_have(verdict_names, verdict) ? verdict : NULL, "lift", lift_json(lift),
        "baseline_rate", number_or_null(named(arms, "baseline"), "pass_rate"),
        "skill_rate", number_or_null(named(arms, "skill"), "pass_rate"), "tests",
        number_or_null(lift, "n_tests"), "tokens",
        count_json(arms_total(arms, "tokens", "total")), "cost",
        json_finite(arms_total(arms, NULL, "cost")), "ended",
        json_clean_z(json_get_string(provenance, "ended", "")));
    return row_new(batch, json_get_string(skill, "name", ""),
                   json_get_string(student, "model", ""), more);
}

/* --- rows from runs: upskill's, and what is not finished --- */

struct sums {
    double passed[2], total[2], tokens, cost; /* baseline, with_skill */
    bool cost_unknown;
    const char *skill, *last;
};

static double number_of(const json_t *object, const char *key) {
    double value = json_get_number(object, key, 0);
    return value > 0 && value < 1e15 ? value : 0;
}

static void add_run(struct sums *s, const json_t *result) {
    const char *type = json_get_string(result, "run_type", "");
    int arm = strcmp(type, "baseline") == 0     ? 0
              : strcmp(type, "with_skill") == 0 ? 1
                                                : -1;
    const json_t *metadata = json_object_get(result, "metadata");
    const char *when = json_get_string(metadata, "timestamp", "");
    if (arm >= 0) {
        s->passed[arm] += number_of(result, "assertions_passed");
        s->total[arm] += number_of(result, "assertions_total");
    }
    s->tokens += number_of(json_object_get(result, "stats"), "total_tokens");
    s->cost += number_of(result, "cost");
    s->cost_unknown |= !json_is_number(json_object_get(result, "cost"));
    s->skill = json_get_string(result, "skill_name", s->skill);
    s->last = strcmp(when, s->last) > 0 ? when : s->last;
}

static json_t *rate_json(const struct sums *s, int arm) {
    return s->total[arm] > 0 ? json_real(fmin(1, s->passed[arm] / s->total[arm]))
                             : json_null();
}

static json_t *sums_row(const json_t *batch, const char *model, const struct sums *s) {
    bool both = s->total[0] > 0 && s->total[1] > 0;
    json_t *lift =
        both ? json_pack("{s:f}", "estimate",
                         s->passed[1] / s->total[1] - s->passed[0] / s->total[0])
             : json_null();
    json_t *more = json_pack("{s:n,s:o,s:o,s:o,s:n,s:o,s:o,s:o}", "verdict", "lift", lift,
                             "baseline_rate", rate_json(s, 0), "skill_rate",
                             rate_json(s, 1), "tests", "tokens", count_json(s->tokens),
                             "cost", s->cost_unknown ? json_null() : json_real(s->cost),
                             "ended", json_clean_z(s->last));
    return row_new(batch, s->skill, model, more);
}

static const char *model_of(const json_t *result) {
    return json_get_string(json_object_get(result, "metadata"), "model", "");
}

static json_t *rows_of_runs(const json_t *batch) {
    const json_t *runs = json_object_get(batch, "runs");
    const json_t *skill = json_object_get(json_object_get(batch, "meta"), "skill");
    json_t *rows = json_array();
    autojson *seen = json_object();
    json_each(runs, i, first) {
        const char *model = model_of(first);
        if (json_object_get(seen, model) || json_array_size(rows) == MODELS_MAX) {
            continue;
        }
        json_object_set_new(seen, model, json_true());
        struct sums s = {.skill = json_get_string(skill, "name", ""), .last = ""};
        json_each(runs, k, result) {
            if (strcmp(model_of(result), model) == 0) {
                add_run(&s, result);
            }
        }
        json_array_append_new(rows, sums_row(batch, model, &s));
    }
    return rows;
}

json_t *run_rows(const json_t *batch) {
    const json_t *students =
        json_object_get(json_object_get(batch, "evaluation"), "students");
    if (json_array_size(students) == 0) {
        return rows_of_runs(batch);
    }
    return json_map(students, student, student_row(batch, student));
}

/* --- the matrix --- */

struct run_matrix {
    json_t *skills; /* {skill: {model: entry}} */
    json_t *models; /* {model: true} */
};

static bool has_room(const json_t *names, const char *name) {
    return json_object_get(names, name) || json_object_size(names) < MATRIX_MAX;
}

/* Other runs than evaluations, such as trigger tests, have no rates. */
static bool is_measured(const json_t *row) {
    return json_is_number(json_object_get(row, "baseline_rate")) ||
           json_is_number(json_object_get(row, "skill_rate"));
}

/* Rows come newest first: the first of a pair stays, unless it measured nothing. */
static void matrix_add(struct run_matrix *m, const json_t *row) {
    static const char *const keys[] = {"baseline_rate", "skill_rate", "verdict", "run",
                                       NULL};
    const char *skill = json_get_string(row, "skill", "");
    const char *model = json_get_string(row, "model", "");
    if (!*skill || !*model || !has_room(m->skills, skill) ||
        !has_room(m->models, model) || !json_says(row, "state", "complete")) {
        return;
    }
    if (!json_object_get(m->skills, skill)) {
        json_object_set_new(m->skills, skill, json_object());
    }
    json_t *of_skill = json_object_get(m->skills, skill);
    json_object_set_new(m->models, model, json_true());
    const json_t *there = json_object_get(of_skill, model);
    if (!there || (!is_measured(there) && is_measured(row))) {
        json_t *entry = json_object();
        json_copy_members(entry, row, keys);
        json_object_set_new(of_skill, model, entry);
    }
}

static json_t *matrix_json(const struct run_matrix *m) {
    json_t *rows = json_array();
    json_each_member(m->skills, skill, of_skill) {
        json_t *row = json_array();
        json_each_member(m->models, model, known) {
            json_array_append_new(row, json_pack("O?", json_object_get(of_skill, model)));
        }
        json_array_append_new(rows, row);
    }
    return json_pack("{s:o,s:o,s:o}", "skills", json_keys(m->skills), "models",
                     json_keys(m->models), "cells", rows);
}

/* --- the list --- */

struct listing {
    const char *skill, *model;
    size_t limit, omitted;
    json_t *rows, *problems;
    struct run_matrix matrix;
};

static void add_row(struct listing *l, json_t *row) {
    if ((l->skill && !json_says(row, "skill", l->skill)) ||
        (l->model && !json_says(row, "model", l->model))) {
        return;
    }
    matrix_add(&l->matrix, row);
    if (json_array_size(l->rows) < l->limit) {
        json_array_append(l->rows, row);
    } else {
        l->omitted++;
    }
}

static void add_problems(struct listing *l, const json_t *batch) {
    json_each(json_object_get(batch, "problems"), i, problem) {
        if (json_array_size(l->problems) < PROBLEMS_MAX) {
            autofree char *text = xasprintf("%s: %s", json_get_string(batch, "run", ""),
                                            json_string_value(problem));
            json_array_append_new(l->problems, json_clean_z(text));
        }
    }
}

static void add_batch(struct listing *l, const struct root *dir, const char *name) {
    autojson *batch = run_read(dir, name, 0, NULL);
    autojson *rows = batch ? run_rows(batch) : NULL;
    json_each(rows, i, row) {
        add_row(l, row);
    }
    add_problems(l, batch);
}

json_t *run_list(const struct root *dir, const char *skill, const char *model,
                 size_t limit) {
    size_t unread;
    autojson *names = run_names(dir, &unread);
    struct listing l = {.skill = skill, .model = model, .limit = limit};
    l.rows = json_array();
    l.problems = json_array();
    l.matrix = (struct run_matrix){json_object(), json_object()};
    uint64_t until = clock_ms() + SCAN_MS;
    json_each(names, i, name) {
        if (clock_ms() < until) {
            add_batch(&l, dir, json_string_value(name));
        } else {
            unread++;
        }
    }
    size_t omitted = l.omitted + unread;
    json_t *all =
        json_pack("{s:o,s:o,s:o*,s:O*}", "runs", l.rows, "matrix", matrix_json(&l.matrix),
                  "omitted", omitted ? json_integer((json_int_t)omitted) : NULL,
                  "problems", json_array_size(l.problems) ? l.problems : NULL);
    json_decref(l.problems);
    json_decref(l.matrix.skills);
    json_decref(l.matrix.models);
    return all;
}
