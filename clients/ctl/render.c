#include "clients/ctl/render.h"

#include "base/buf.h"
#include "base/file.h"
#include "clients/ctl/paths.h"

#include <unistd.h>

#define OCCUPANCY_WORDS 70 /* columns beside its bars */
enum { LIMITS_ROOM = 20, LIMITS_BELOW = 4 };

/* --- kernel/check --- */

static const json_t *best_occupancy(const json_t *kernel) {
    const json_t *best = NULL;
    json_each(json_object_get(kernel, "occupancy"), i, one) {
        if (!best || json_number_value(json_object_get(one, "percent")) >
                         json_number_value(json_object_get(best, "percent"))) {
            best = one;
        }
    }
    return best;
}

static void kernel_table(const struct terminal *t, const json_t *kernels) {
    struct table *table = table_new("kernel\tline\tregisters\tspills\tshared\tstack\t"
                                    "barriers\tcode\tbest occupancy");
    json_each(kernels, i, kernel) {
        autojson *told = json_copy(kernel);
        json_object_set_new(told, "spills",
                            json_integer(count_of(kernel, "spill_store_bytes") +
                                         count_of(kernel, "spill_load_bytes")));
        json_object_set(told, "best", (json_t *)(uintptr_t)best_occupancy(kernel));
        table_row(table,
                  "{name|?}\t[{?line}{line}|–]\t{registers|0}\t{spills#bytes}\t"
                  "[{static_shared_bytes#bytes}|0 B]\t[{stack_bytes#bytes}|0 B]\t"
                  "{barriers|0}\t[{code_bytes#bytes}|0 B]\t"
                  "[{best.percent%.0f} % at {best.block_threads|0}|–]",
                  told);
    }
    table_print_and_free(t, table);
}

static enum style occupancy_style(double percent) {
    return percent >= 50 ? STYLE_GREEN : percent > 0 ? STYLE_YELLOW : STYLE_RED;
}

/* What limits all the block sizes [first, end), or else the first. */
static void add_limits(struct buf *out, const json_t *sizes, size_t first, size_t end) {
    const json_t *limits = json_object_get(json_array_get(sizes, first), "limited_by");
    const json_t *last = json_object_get(json_array_get(sizes, end - 1), "limited_by");
    const char *separator = "";
    json_each(limits, i, limit) {
        if (json_has_text(last, json_string_value(limit))) {
            buf_addf(out, "%s %s", separator, json_string_value(limit));
            separator = ",";
        }
    }
    if (!*separator) {
        buf_addf(out, " %s", json_string_value(json_array_get(limits, 0)));
    }
}

/* One bar for block sizes that reach the same. */
static void occupancy_bar(const struct terminal *t, const json_t *sizes, size_t first,
                          size_t end) {
    const json_t *one = json_array_get(sizes, first);
    const json_t *last = json_array_get(sizes, end - 1);
    double percent = json_number_value(json_object_get(one, "percent"));
    autobuf limits = BUF_INIT(1024), threads = BUF_INIT(64);
    buf_addf(&threads, "%lld", count_of(one, "block_threads"));
    buf_addf(&limits, "%lld", count_of(one, "blocks_per_sm"));
    if (last != one) {
        buf_addf(&threads, "-%lld", count_of(last, "block_threads"));
        buf_addf(&limits, " to %lld", count_of(last, "blocks_per_sm"));
    }
    buf_adds(&limits, " blocks an SM, limited by");
    add_limits(&limits, sizes, first, end);
    if (json_get_bool(one, "source_launch", 0)) {
        buf_addf(&limits, " (launched at line %lld)", count_of(one, "line"));
    }
    printf("  %9s threads ", threads.data);
    int cells = terminal_bar_cells(t, OCCUPANCY_WORDS);
    terminal_bar(t, percent / 100, cells, occupancy_style(percent));
    printf(" %5.1f %%", percent);
    bool beside = t->width - (31 + cells) >= LIMITS_ROOM;
    int column = beside ? 31 + cells : LIMITS_BELOW;
    printf("%s%*s", beside ? "" : "\n", beside ? 2 : column, "");
    terminal_put_wrapped(t, STYLE_PLAIN, limits.data, column, column);
}

/* The end of the block sizes from `first` on that reach the same occupancy; the source's
 * own stand alone. */
static size_t alike_end(const json_t *sizes, size_t first) {
    if (json_get_bool(json_array_get(sizes, first), "source_launch", 0)) {
        return first + 1;
    }
    double percent =
        json_number_value(json_object_get(json_array_get(sizes, first), "percent"));
    size_t end = first + 1;
    while (end < json_array_size(sizes) &&
           json_number_value(json_object_get(json_array_get(sizes, end), "percent")) ==
               percent) {
        end++;
    }
    return end;
}

/* Bars only where there are few kernels: the table has the best figure of each. */
static void occupancy_bars(const struct terminal *t, const json_t *kernels) {
    if (json_array_size(kernels) > 3) {
        return;
    }
    json_each(kernels, i, kernel) {
        const json_t *sizes = json_object_get(kernel, "occupancy");
        if (!json_array_size(sizes)) {
            continue; /* an architecture whose limits are not known */
        }
        printf("\noccupancy of ");
        terminal_line(t, STYLE_BOLD, json_get_string(kernel, "name", "?"));
        for (size_t first = 0, end; first < json_array_size(sizes); first = end) {
            end = alike_end(sizes, first);
            occupancy_bar(t, sizes, first, end);
        }
    }
}

/* And whose flags it was compiled with, where the project has some. */
static const char verdict_words[] =
    "\t[{?ok}" GREEN "|" RED "]{summary|}" END DIM " ({arch|?}, {compiler.name|no compiler} "
    "{compiler.version|}, [{compile_ms%.0f}|0] ms[{?cached}, cached])\n"
    "[" DIM "flags from {flags.from/, /:{.}}\n]";

/* kernel/check's result: findings, a table of the kernels, a last line. */
static void render_check(const struct terminal *t, const json_t *result,
                                const struct finding_sources *sources) {
    const json_t *kernels = json_object_get(result, "kernels");
    render_findings(t, json_object_get(result, "diagnostics"), sources);
    if (json_array_size(kernels)) {
        kernel_table(t, kernels);
        occupancy_bars(t, kernels);
        putchar('\n');
    }
    terminal_words(t, 0, verdict_words, result);
}

/* PTX goes to standard output where it was asked for, all else beside it. */
static void render_kernel_check(const struct terminal *t, const json_t *params,
                                const json_t *result,
                                const struct finding_sources *sources) {
    bool asked = json_get_bool(params, "ptx", 0) ||
                 json_has_text(json_object_get(params, "options"), "-ptx");
    fflush(stdout);
    autofd int out = asked ? dup(STDOUT_FILENO) : -1;
    if (out >= 0) {
        dup2(STDERR_FILENO, STDOUT_FILENO);
    }
    render_check(t, result, sources);
    if (out >= 0) {
        fflush(stdout);
        dup2(out, STDOUT_FILENO);
        fputs(json_get_string(result, "ptx", ""), stdout);
    }
}

static void render_jobs(const struct terminal *t, const json_t *result) {
    if (!table_print(t, "job\toperation\tstate\tclient\tcreated (UTC)",
                     "{job}\t{operation}\t[{?state=failed}" RED "|{?state=interrupted}" RED
                     "|{?state=succeeded}" GREEN "]{state}\t{client}\t{created#minute}",
                     json_object_get(result, "jobs"))) {
        puts("no jobs");
    }
}

static const char job_words[] =
    "[" BOLD "{operation}" END ": |job {job}: ][{?state=failed}" RED "|{?state=interrupted}" RED
    "|{?state=succeeded}" GREEN "|{?state=input_required}" YELLOW "]"
    "[{?state=input_required}waits for an answer|{state|?}]" END "[" DIM " ({job}, started {created#minute} UTC)]\n"
    "[{?state=running}\t[{progress.done%.6g} of {progress.total%.6g}{?progress.total}]"
    "[{?progress.total}{?progress.message}: ][{progress.message}]\n"
    "|{?state=input_required}\t[{work_order.instructions}|{progress.message|}]\n]"
    "[" RED "error: " END "\t{error.message}\n][" BLUE "hint: " END "\t{error.data.hint}\n]";

/* A job's state and what came of it, as its own command would have shown it. */
static void render_job(const struct terminal *t, const json_t *result) {
    const char *operation = json_get_string(result, "operation", "");
    terminal_words(t, 0, job_words, result);
    if (json_object_get(result, "result")) {
        putchar('\n');
        render_result(t, operation, NULL, json_object_get(result, "result"), NULL);
    } else if (json_object_get(result, "partial")) {
        puts("\nso far");
        render_value(t, json_object_get(result, "partial"));
    }
}

/* Whether `kernel validate FILE` may read a folder without naming it. */
static bool is_within_reach(const char *folder, const char *file) {
    autofree char *whole = realpath(folder, NULL), *here = realpath(".", NULL);
    autofree char *given = paths_granted(file),
                  *root = given ? realpath(given, NULL) : NULL;
    return whole && ((here && path_is_beneath(whole, here)) ||
                     (root && path_is_beneath(whole, root)));
}

/* The spec keeps the include folders, but does not open those outside. */
static void put_next(const json_t *params, const json_t *result) {
    const char *path = json_get_string(params, "path", "?");
    const json_t *spec = json_object_get(result, "spec");
    autofree char *folder = xstrdup(json_get_string(result, "path", ""));
    bool reached = true;
    folder[strlen(folder) - strlen(path_basename(folder))] = '\0';
    autojson *folders = json_array();
    json_each(json_object_get(spec, "include_roots"), i, one) {
        autofree char *whole = path_resolve(folder, json_string_value(one));
        reached = reached && is_within_reach(whole, path);
        json_array_append_new(folders, json_text(whole, strlen(whole)));
    }
    fputs("then run: upskillctl kernel validate ", stdout);
    render_word(path);
    for (size_t i = 0; !reached && i < json_array_size(folders); i++) {
        fputs(" -I ", stdout);
        render_word(json_string_value(json_array_get(folders, i)));
    }
    putchar('\n');
}

/* The spec goes to standard output where no file was written, all else beside it. */
static void render_kernel_init(const struct terminal *t, const json_t *params,
                               const json_t *result) {
    const char *text = json_get_string(result, "text", NULL);
    FILE *out = text ? stderr : stdout;
    if (text) {
        fputs(text, stdout);
        fflush(stdout);
    } else {
        fprintf(out, "wrote %s\n", json_get_string(result, "path", "?"));
    }
    json_each(json_object_get(result, "files"), i, file) {
        fprintf(out, "wrote %s\n", json_string_value(file));
    }
    if (!strcmp(json_get_string(result, "from", "source"), "run")) {
        fputs("everything is from the program's first launch\n", out);
    }
    json_each(json_object_get(result, "unknown"), k, one) {
        const char *member = json_get_string(one, "member", "?");
        const char *why = json_get_string(one, "why", "?");
        int column = 0;
        fputs(k ? "" : "left to fill in:\n", out);
        if (text) {
            fprintf(out, "  %s: %s\n", member, why);
        } else {
            column = printf("  ");
            terminal_flow(t, STYLE_PLAIN, &column, 4, "%s: %s", member, why);
            putchar('\n');
        }
    }
    if (!text) {
        put_next(params, result);
    }
}

static const struct {
    const char *operation;
    void (*render)(const struct terminal *t, const json_t *result);
} renderers[] = {
    {"daemon/status", render_status},      {"job/list", render_jobs},
    {"job/status", render_job},            {"job/cancel", render_job},
    {"run/list", render_run_list},         {"run/show", render_run},
    {"run/marks", render_preference},      {"skill/evaluate", render_evaluation},
    {"skill/trigger", render_trigger},     {"skill/find", render_found},
    {"skill/generate", render_generation}, {"skill/get", render_skill},
    {"skill/install", render_targets},     {"skill/list", render_skills},
    {"skill/uninstall", render_targets},   {"skill/pack", render_packed},
};

static void render_other(const struct terminal *t, const char *operation,
                         const json_t *result) {
    for (size_t i = 0; i < ARRAY_LEN(renderers); i++) {
        if (strcmp(renderers[i].operation, operation) == 0) {
            renderers[i].render(t, result);
            return;
        }
    }
    render_value(t, result);
}

int render_result(const struct terminal *t, const char *operation, const json_t *params,
                  const json_t *result, const struct finding_sources *sources) {
    if (strcmp(operation, "kernel/check") == 0) {
        render_kernel_check(t, params, result, sources);
    } else if (strcmp(operation, "kernel/validate") == 0) {
        render_kernel_validate(t, params, result, sources);
    } else if (strcmp(operation, "kernel/init") == 0) {
        render_kernel_init(t, params, result);
    } else if (strcmp(operation, "kernel/run") == 0) {
        render_kernel_run(t, result, sources);
    } else if (strcmp(operation, "skill/check") == 0) {
        render_skill_check(t, params, result);
    } else {
        render_other(t, operation, result);
    }
    return result_exit_status(operation, result);
}
