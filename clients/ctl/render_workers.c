/* Workers on a terminal: where each runs, its compiler and its GPUs. */
#include "base/buf.h"
#include "clients/ctl/render.h"

static void add_words(struct buf *out, const json_t *words) {
    json_each(words, i, word) {
        buf_addf(out, "%s%s", i ? " " : "", json_string_value(word));
    }
}

/* "NVIDIA H100, NVIDIA H100"; "none" once a greeting or a driver said so, "?" before. */
static void add_gpus(struct buf *out, const json_t *worker) {
    const json_t *gpus = json_object_get(worker, "gpus");
    json_each(gpus, i, gpu) {
        buf_addf(out, "%s%s", i ? ", " : "", json_get_string(gpu, "name", "?"));
    }
    bool none = gpus || json_is_false(json_object_get(worker, "cuda"));
    if (!out->len) {
        buf_adds(out, none ? "none" : "?");
    }
}

static void add_row(struct table *table, const json_t *worker) {
    autobuf gpus = BUF_INIT(4096), argv = BUF_INIT(64u << 10);
    const char *state = json_get_string(worker, "state", "?");
    add_gpus(&gpus, worker);
    add_words(&argv, json_object_get(worker, "argv"));
    table_cell(table, json_get_string(worker, "name", "?"));
    table_cell(table, state);
    table_style(table, !strcmp(state, "failed")  ? STYLE_RED
                       : !strcmp(state, "ready") ? STYLE_GREEN
                                                 : STYLE_PLAIN);
    table_cell(table, json_get_string(worker, "host", ""));
    table_cell(table, gpus.data);
    table_cellf(table, "%d/%d", (int)json_get_integer(worker, "running", 0),
                (int)json_get_integer(worker, "parallel", 0));
    table_cell(table, argv.data);
}

static void put_trouble(const struct terminal *t, const json_t *worker) {
    static const char *const keys[] = {"says", "last_error"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const char *words = json_get_string(worker, keys[i], NULL);
        if (words) {
            terminal_put(t, STYLE_YELLOW, json_get_string(worker, "name", "?"));
            fputs(": ", stdout);
            terminal_line(t, STYLE_PLAIN, words);
        }
    }
}

void render_workers(const struct terminal *t, const json_t *workers) {
    static const char *const titles[] = {"worker", "state",   "host", "GPUs",
                                         "jobs",   "command", NULL};
    if (!json_array_size(workers)) {
        return;
    }
    putchar('\n');
    struct table *table = table_new(titles);
    json_each(workers, i, worker) {
        add_row(table, worker);
    }
    table_print_and_free(t, table);
    json_each(workers, i, worker) {
        put_trouble(t, worker);
    }
}
