#include "skills/runs/run_table.h"

#include "base/buf.h"
#include "base/text.h"

struct column {
    const char *name, *of_cell, *of_run;
};
#include "skills/run_columns_table.h"

/* --- writing --- */

static bool looks_like_formula(const char *s, size_t len) {
    return len && strchr("=+-@\t\r", s[0]) != NULL;
}

static int add_text(struct buf *out, const char *s, size_t len) {
    autobuf clean = BUF_INIT(1u << 20);
    text_clean(&clean, s, len < 1u << 19 ? len : 1u << 19);
    buf_adds(out, looks_like_formula(clean.data, clean.len) ? "\"'" : "\"");
    for (size_t i = 0; i < clean.len; i++) {
        if (clean.data[i] == '"') {
            buf_addc(out, '"');
        }
        buf_addc(out, clean.data[i]);
    }
    return buf_addc(out, '"');
}

static void add_value(struct buf *out, const json_t *value) {
    if (json_is_string(value)) {
        add_text(out, json_string_value(value), json_string_length(value));
    } else if (json_is_boolean(value)) {
        buf_adds(out, json_is_true(value) ? "True" : "False");
    } else if (json_is_integer(value)) {
        buf_addf(out, "%lld", (long long)json_integer_value(value));
    } else if (json_is_real(value)) {
        buf_addf(out, "%.15g", json_real_value(value));
    }
}

/* "run.stats.turns": from member to member; NULL where there is none. */
static const json_t *value_at(const json_t *from, const char *way) {
    autofree char *words = xstrdup(way);
    char *rest = words;
    for (const char *name; from && (name = strsep(&rest, "."));) {
        from = json_object_get(from, name);
    }
    return from;
}

static void add_row(struct buf *out, const json_t *from, bool of_cell) {
    for (const struct column *c = columns; c->name; c++) {
        buf_adds(out, c == columns ? "" : ",");
        add_value(out, value_at(from, of_cell ? c->of_cell : c->of_run));
    }
    buf_adds(out, "\r\n");
}

int run_table_begin(struct buf *out) {
    for (const struct column *c = columns; c->name; c++) {
        buf_addf(out, "%s%s", c == columns ? "" : ",", c->name);
    }
    return buf_adds(out, "\r\n");
}

/* --- rows --- */

static void add_run(struct buf *out, json_t *result) {
    json_t *served = json_array_get(json_object_get(result, "served_models"), 0);
    json_t *stops = json_object_get(result, "stop_reasons");
    const char *stop = json_object_size(stops) == 1
                           ? json_object_iter_key(json_object_iter(stops))
                           : NULL;
    autojson *from = json_pack("{s:O,s:{s:O*,s:s*}}", "run", result, "told",
                               "served_model", served, "stop_reason", stop);
    add_row(out, from, false);
}

static void add_cell(struct buf *out, json_t *cell, json_t *result) {
    bool passed = json_says(cell, "outcome", "passed");
    autojson *from = json_pack("{s:O,s:O*,s:{s:b,s:i}}", "cell", cell, "run", result,
                               "told", "passed", passed, "turns", 1);
    add_row(out, from, true);
}

static json_t *key_of(const char *model, const char *arm, json_int_t run) {
    return json_sprintf("%s\n%s\n%lld", model, arm, (long long)run);
}

/* (model, arm, run) -> its RunResult; borrowed references. */
static json_t *index_runs(const json_t *runs) {
    json_t *index = json_object();
    json_each(runs, i, result) {
        autojson *key = key_of(
            json_get_string(json_object_get(result, "metadata"), "model", ""),
            json_get_string(result, "arm", ""), json_get_integer(result, "run", 0));
        if (key) {
            json_object_set(index, json_string_value(key), result);
        }
    }
    return index;
}

static json_t *run_of(const json_t *index, const json_t *cell) {
    autojson *key =
        key_of(json_get_string(cell, "model", ""), json_get_string(cell, "arm", ""),
               json_get_integer(cell, "run", 0));
    return key ? json_object_get(index, json_string_value(key)) : NULL;
}

int run_table_add(struct buf *out, const json_t *batch) {
    const json_t *runs = json_object_get(batch, "runs");
    const json_t *cells = json_object_get(batch, "cells");
    autojson *index = index_runs(runs);
    json_each(cells, i, item) {
        add_cell(out, item, run_of(index, item));
    }
    if (json_array_size(cells) == 0) {
        json_each(runs, i, item) {
            add_run(out, item);
        }
    }
    return buf_adds(out, "");
}

int run_table_write(struct buf *out, const json_t *batch) {
    int rc = run_table_begin(out);
    return rc < 0 ? rc : run_table_add(out, batch);
}
