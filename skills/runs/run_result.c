#include "skills/runs/run_result.h"

#include "base/strings.h"
#include "base/text.h"
#include "skills/run_stats_table.h"

#define NAME_MAX_BYTES 512
#define RUN_MAX 100000
#define SEVERAL_MAX 16 /* served models and stop reasons that are kept */

struct group {
    const char *model, *arm; /* in cell */
    json_t *cell;            /* the first cell, for the members that are equal in all */
    json_int_t run;
    size_t model_order;
    size_t passed, failed, errored, refused, cached;
    double checks_passed, checks_total, input, output, requests, ms, cost;
    bool cost_unknown, splits_differ;
    json_t *served, *stops;
    char *why; /* of the first cell that was not graded */
};

struct run_results {
    json_t *meta;
    json_t *index;  /* "model\nrun\narm" -> place in groups */
    json_t *models; /* name -> order of appearance */
    struct group *groups;
    size_t count, cap;
};

struct run_results *run_results_new(const json_t *meta) {
    struct run_results *r = xcalloc(1, sizeof *r);
    r->meta = json_incref((json_t *)(uintptr_t)meta);
    r->index = json_object();
    r->models = json_object();
    return r;
}

void run_results_free(struct run_results *r) {
    if (!r) {
        return;
    }
    for (size_t i = 0; i < r->count; i++) {
        json_decref(r->groups[i].cell);
        json_decref(r->groups[i].served);
        json_decref(r->groups[i].stops);
        free(r->groups[i].why);
    }
    free(r->groups);
    json_decref(r->meta);
    json_decref(r->index);
    json_decref(r->models);
    free(r);
}

/* --- cells --- */

static bool is_name(const json_t *cell, const char *key) {
    json_t *value = json_object_get(cell, key);
    size_t len = json_string_length(value);
    return json_is_string(value) && len > 0 && len <= NAME_MAX_BYTES &&
           strlen(json_string_value(value)) == len;
}

const char *run_cell_problem(const json_t *cell) {
    static const char *const outcomes[] = {"passed", "failed", "errored", "refused",
                                           NULL};
    json_int_t run = json_get_integer(cell, "run", 0);
    if (!json_is_object(cell)) {
        return "a cell is an object";
    }
    if (!is_name(cell, "model") || !is_name(cell, "arm") || !is_name(cell, "test")) {
        return "a cell names its model, arm and test";
    }
    if (run < 1 || run > RUN_MAX) {
        return "a cell's run counts from 1";
    }
    return strings_have(outcomes, json_get_string(cell, "outcome", ""))
               ? NULL
               : "a cell's outcome is passed, failed, errored or refused";
}

static size_t model_order(struct run_results *r, const char *model) {
    json_t *known = json_object_get(r->models, model);
    if (!known) {
        known = json_integer((json_int_t)json_object_size(r->models));
        json_object_set_new(r->models, model, known);
    }
    return (size_t)json_integer_value(known);
}

static struct group *group_of(struct run_results *r, const json_t *cell) {
    static const char *const common[] = {"model", "arm", "split", "base_url", NULL};
    const char *model = json_get_string(cell, "model", "");
    const char *arm = json_get_string(cell, "arm", "");
    json_int_t run = json_get_integer(cell, "run", 1);
    autofree char *key = xasprintf("%s\n%lld\n%s", model, (long long)run, arm);
    json_t *at = json_object_get(r->index, key);
    if (at) {
        return &r->groups[json_integer_value(at)];
    }
    if (r->count == RUN_RESULTS_MAX) {
        return NULL;
    }
    list_room(r->groups, r->count, r->cap, 16);
    json_object_set_new(r->index, key, json_integer((json_int_t)r->count));
    struct group *g = &r->groups[r->count++];
    *g = (struct group){.run = run,
                        .model_order = model_order(r, model),
                        .cell = json_object(),
                        .served = json_object(),
                        .stops = json_object()};
    json_copy_members(g->cell, cell, common);
    g->model = json_get_string(g->cell, "model", "");
    g->arm = json_get_string(g->cell, "arm", "");
    return g;
}

/* Impossible figures count as 0. */
static double number_of(const json_t *object, const char *key) {
    double value = json_get_number(object, key, 0);
    return value > 0 && value < 1e15 ? value : 0;
}

/* word -> how often */
static void count_word(json_t *counts, const char *word) {
    json_int_t n = json_get_integer(counts, word, 0);
    if (*word && (n || json_object_size(counts) < SEVERAL_MAX)) {
        json_object_set_new(counts, word, json_integer(n + 1));
    }
}

static void count_outcome(struct group *g, const json_t *cell) {
    const char *outcome = json_get_string(cell, "outcome", "");
    g->passed += strcmp(outcome, "passed") == 0;
    g->failed += strcmp(outcome, "failed") == 0;
    g->errored += strcmp(outcome, "errored") == 0;
    g->refused += strcmp(outcome, "refused") == 0;
    const char *why = json_get_string(cell, "why", NULL);
    if (why && !g->why) {
        g->why = xstrndup(why, text_cut(why, strlen(why), 500));
    }
}

void run_results_add(struct run_results *r, const json_t *cell) {
    struct group *g = group_of(r, cell);
    if (!g) {
        return;
    }
    const json_t *tokens = json_object_get(cell, "tokens");
    const json_t *cost = json_object_get(cell, "cost");
    count_outcome(g, cell);
    g->checks_passed += number_of(cell, "assertions_passed");
    g->checks_total += number_of(cell, "assertions_total");
    g->input += number_of(tokens, "input");
    g->output += number_of(tokens, "output");
    g->requests += number_of(cell, "requests");
    g->ms += number_of(cell, "ms");
    g->cached += json_get_bool(cell, "cached", 0) != 0;
    g->cost += number_of(cell, "cost");
    g->cost_unknown |= !json_is_number(cost);
    g->splits_differ |= !json_says(cell, "split", json_get_string(g->cell, "split", ""));
    count_word(g->served, json_get_string(cell, "served_model", ""));
    count_word(g->stops, json_get_string(cell, "stop_reason", ""));
}

/* --- upskill's shapes --- */

static json_t *integer_of(double value) {
    return json_integer((json_int_t)value);
}

static json_int_t tests_of(const struct group *g) {
    return (json_int_t)(g->passed + g->failed + g->errored + g->refused);
}

/* Figures that only agents have are 0 or empty, because upskill's readers expect them. */
static json_t *stats_json(const struct group *g) {
    json_t *stats = json_loads(no_stats, 0, NULL);
    autojson *known = json_pack(
        "{s:f,s:f,s:I,s:o,s:o,s:o}", "conversation_span_ms", g->ms, "llm_time_ms", g->ms,
        "turns", tests_of(g), "input_tokens", integer_of(g->input), "output_tokens",
        integer_of(g->output), "total_tokens", integer_of(g->input + g->output));
    json_object_update(stats, known);
    return stats;
}

static json_t *error_message(const struct group *g) {
    if (g->errored + g->refused == 0) {
        return json_null();
    }
    autofree char *text = xasprintf("%zu errored, %zu refused%s%s", g->errored,
                                    g->refused, g->why ? ": " : "", g->why ? g->why : "");
    return json_clean_z(text);
}

static const json_t *skill_of(const json_t *meta) {
    return json_object_get(meta, "skill");
}

static const char *task_of(const json_t *meta) {
    const char *name = json_get_string(skill_of(meta), "name", "");
    return json_get_string(meta, "task", name);
}

static json_t *metadata_json(const json_t *meta, const struct group *g, const char *batch,
                             size_t number, const char *timestamp) {
    return json_pack("{s:s,s:s,s:s,s:I,s:s}", "model", g->model, "task", task_of(meta),
                     "batch_id", batch, "run_number", (json_int_t)number, "timestamp",
                     timestamp);
}

static json_t *result_json(const struct group *g, const json_t *meta, const char *batch,
                           size_t number, const char *timestamp) {
    bool with_skill = strcmp(g->arm, "skill") == 0;
    const char *digest = json_get_string(skill_of(meta), "digest", NULL);
    return json_pack(
        "{s:o,s:o,s:b,s:I,s:I,s:o,s:n,s:n,s:s,s:s?,"
        "s:s,s:I,s:s?,s:s?,s:s,s:I,s:I,s:I,s:o,s:o,s:o,s:o,s:I,s:o,s:s?,s:O}",
        "metadata", metadata_json(meta, g, batch, number, timestamp), "stats",
        stats_json(g), "passed", g->passed > g->failed, "assertions_passed",
        (json_int_t)g->passed, "assertions_total", (json_int_t)(g->passed + g->failed),
        "error_message", error_message(g), "session_id", "session_history_file",
        "run_type", with_skill ? "with_skill" : g->arm, "skill_name",
        json_get_string(skill_of(meta), "name", NULL),
        /* ours */
        "arm", g->arm, "run", g->run, "skill_digest", digest, "tests_digest",
        json_get_string(meta, "tests_digest", NULL), "split",
        g->splits_differ ? "mixed" : json_get_string(g->cell, "split", ""), "tests",
        tests_of(g), "tests_errored", (json_int_t)g->errored, "tests_refused",
        (json_int_t)g->refused, "checks_passed", integer_of(g->checks_passed),
        "checks_total", integer_of(g->checks_total), "cost",
        g->cost_unknown ? json_null() : json_real(g->cost), "requests",
        integer_of(g->requests), "cached", (json_int_t)g->cached, "served_models",
        json_keys(g->served), "base_url", json_get_string(g->cell, "base_url", NULL),
        "stop_reasons", g->stops);
}

/* --- numbering --- */

/* Baseline and skill are a pair; other arms follow. */
static int arm_rank(const struct group *g) {
    return strcmp(g->arm, "baseline") == 0 ? 0 : strcmp(g->arm, "skill") == 0 ? 1 : 2;
}

/* Pairs first, by model and run; then the rest. */
static char *order_of(const struct group *g) {
    int rank = arm_rank(g);
    return xasprintf("%d %08zu %08lld %d %s", rank == 2, g->model_order,
                     (long long)g->run, rank, g->arm);
}

static int compare_groups(const void *a, const void *b) {
    autofree char *x = order_of(a), *y = order_of(b);
    return strcmp(x, y);
}

/* The number of the group after one with the number `last`: a baseline gets the next odd
 * one, the skill the next even one. */
static size_t next_number(size_t last, const struct group *g) {
    bool odd_wanted = arm_rank(g) == 0, even_wanted = arm_rank(g) == 1;
    bool next_is_odd = last % 2 == 0;
    return last + 1 + ((odd_wanted && !next_is_odd) || (even_wanted && next_is_odd));
}

json_t *run_results_json(struct run_results *r, const char *batch,
                         const char *timestamp) {
    json_t *list = json_array();
    size_t number = 0;
    if (r->count) {
        qsort(r->groups, r->count, sizeof *r->groups, compare_groups);
    }
    for (size_t i = 0; i < r->count; i++) {
        number = next_number(number, &r->groups[i]);
        json_array_append_new(
            list, result_json(&r->groups[i], r->meta, batch, number, timestamp));
    }
    return list;
}

static json_t *models_text(const json_t *results) {
    autojson *seen = json_object();
    size_t len = 0;
    char text[1024] = "";
    json_each(results, i, result) {
        const char *model =
            json_get_string(json_object_get(result, "metadata"), "model", "");
        if (!json_object_get(seen, model) && len < sizeof text - 1) {
            json_object_set_new(seen, model, json_true());
            len += (size_t)snprintf(text + len, sizeof text - len, "%s%s",
                                    len ? ", " : "", model);
        }
    }
    return json_text(text, strlen(text));
}

json_t *run_batch_summary(const json_t *meta, const char *batch, const json_t *results) {
    json_int_t passed = 0;
    json_each(results, i, result) {
        passed += json_get_bool(result, "passed", 0) != 0;
    }
    return json_pack("{s:s,s:o,s:s,s:I,s:I,s:O}", "batch_id", batch, "model",
                     models_text(results), "task", task_of(meta), "total_runs",
                     (json_int_t)json_array_size(results), "passed_runs", passed,
                     "results", results);
}
