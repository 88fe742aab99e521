#include "skills/runs/run_table.h"

#include "base/buf.h"
#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

const char *const run_table_columns[] = {
    /* upskill's, by its names */
    "batch_id", "run_number", "model", "task", "timestamp", "passed", "assertions_passed",
    "assertions_total", "input_tokens", "output_tokens", "total_tokens",
    "conversation_span_ms", "llm_time_ms", "tool_time_ms", "turns", "tool_calls",
    "tool_errors", "mcp_calls", "execute_calls", "error_message", "session_id",
    "session_history_file",
    /* ours */
    "run_type", "skill_name", "arm", "run", "test", "split", "outcome", "skill_digest",
    "tests_digest", "tests", "tests_errored", "tests_refused", "cost", "requests",
    "cached", "attempts", "served_model", "base_url", "stop_reason", "prompt_digest",
    "reported", NULL};

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

static void add_row(struct buf *out, const json_t *row) {
    for (size_t i = 0; run_table_columns[i]; i++) {
        buf_adds(out, i ? "," : "");
        add_value(out, json_object_get(row, run_table_columns[i]));
    }
    buf_adds(out, "\r\n");
}

static void add_header(struct buf *out) {
    for (size_t i = 0; run_table_columns[i]; i++) {
        buf_addf(out, "%s%s", i ? "," : "", run_table_columns[i]);
    }
    buf_adds(out, "\r\n");
}

/* --- rows --- */

/* Members of `from` under the same names; NULL-terminated keys. */
static void copy(json_t *row, const json_t *from, const char *const *keys) {
    for (; *keys; keys++) {
        json_t *value = json_object_get(from, *keys);
        if (value) {
            json_object_set(row, *keys, value);
        }
    }
}

/* The first of a list of words. */
static void copy_first(json_t *row, const char *key, const json_t *list) {
    json_t *first = json_array_get(list, 0);
    if (first) {
        json_object_set(row, key, first);
    }
}

static json_t *row_of_run(const json_t *result) {
    static const char *const of_metadata[] = {"batch_id", "run_number", "model",
                                              "task",     "timestamp",  NULL};
    static const char *const of_stats[] = {
        "input_tokens", "output_tokens", "total_tokens",  "conversation_span_ms",
        "llm_time_ms",  "tool_time_ms",  "turns",         "tool_calls",
        "tool_errors",  "mcp_calls",     "execute_calls", NULL};
    json_t *row = json_object();
    copy(row, result, run_table_columns);
    copy(row, json_object_get(result, "metadata"), of_metadata);
    copy(row, json_object_get(result, "stats"), of_stats);
    copy_first(row, "served_model", json_object_get(result, "served_models"));
    json_t *stops = json_object_get(result, "stop_reasons");
    void *first = json_object_iter(stops);
    if (first && json_object_size(stops) == 1) {
        json_object_set_new(row, "stop_reason", json_string(json_object_iter_key(first)));
    }
    return row;
}

static json_t *key_of(const char *model, const char *arm, json_int_t run) {
    return json_sprintf("%s\n%s\n%lld", model, arm, (long long)run);
}

/* (model, arm, run) -> its RunResult; borrowed references. */
static json_t *index_runs(const json_t *runs) {
    json_t *index = json_object();
    size_t i;
    json_t *result;
    json_array_foreach(runs, i, result) {
        autojson *key = key_of(
            json_get_string(json_object_get(result, "metadata"), "model", ""),
            json_get_string(result, "arm", ""), json_get_integer(result, "run", 0));
        if (key) {
            json_object_set(index, json_string_value(key), result);
        }
    }
    return index;
}

static const json_t *run_of(const json_t *index, const json_t *cell) {
    autojson *key =
        key_of(json_get_string(cell, "model", ""), json_get_string(cell, "arm", ""),
               json_get_integer(cell, "run", 0));
    return key ? json_object_get(index, json_string_value(key)) : NULL;
}

static void set_if(json_t *row, const char *key, json_t *value) {
    if (value) {
        json_object_set(row, key, value);
    }
}

static json_t *row_of_cell(const json_t *cell, const json_t *result) {
    static const char *const of_run[] = {"run_type", "skill_name", "skill_digest",
                                         "tests_digest", NULL};
    static const char *const of_metadata[] = {"batch_id", "run_number", "task", NULL};
    static const char *const of_tokens[] = {"reported", NULL};
    json_t *row = json_object();
    const json_t *tokens = json_object_get(cell, "tokens");
    copy(row, json_object_get(result, "metadata"), of_metadata);
    copy(row, result, of_run);
    copy(row, cell, run_table_columns);
    copy(row, tokens, of_tokens);
    set_if(row, "input_tokens", json_object_get(tokens, "input"));
    set_if(row, "output_tokens", json_object_get(tokens, "output"));
    set_if(row, "total_tokens", json_object_get(tokens, "total"));
    set_if(row, "timestamp", json_object_get(cell, "ended"));
    set_if(row, "llm_time_ms", json_object_get(cell, "ms"));
    set_if(row, "conversation_span_ms", json_object_get(cell, "ms"));
    set_if(row, "error_message", json_object_get(cell, "why"));
    const char *outcome = json_get_string(cell, "outcome", "");
    json_object_set_new(row, "passed", json_boolean(strcmp(outcome, "passed") == 0));
    json_object_set_new(row, "turns", json_integer(1));
    return row;
}

int run_table_begin(struct buf *out) {
    add_header(out);
    return buf_adds(out, "");
}

int run_table_add(struct buf *out, const json_t *batch) {
    const json_t *runs = json_object_get(batch, "runs");
    const json_t *cells = json_object_get(batch, "cells");
    autojson *index = index_runs(runs);
    size_t i;
    json_t *item;
    json_array_foreach(cells, i, item) {
        autojson *row = row_of_cell(item, run_of(index, item));
        add_row(out, row);
    }
    if (json_array_size(cells) == 0) {
        json_array_foreach(runs, i, item) {
            autojson *row = row_of_run(item);
            add_row(out, row);
        }
    }
    return buf_adds(out, "");
}

int run_table_write(struct buf *out, const json_t *batch) {
    int rc = run_table_begin(out);
    return rc < 0 ? rc : run_table_add(out, batch);
}
