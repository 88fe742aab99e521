/* What kernel/validate measured, a line each: a word, a bar where there is a share, and
 * the figures. */
#include "base/buf.h"
#include "clients/ctl/render.h"

enum { LABEL = 15, BAR_MIN = 8, BAR_MAX = 28, POOR_COALESCING = 50 };

int render_bar_cells(const struct terminal *t, int words) {
    int room = t->width - words;
    return room < BAR_MIN ? BAR_MIN : room > BAR_MAX ? BAR_MAX : room;
}

static double real(const json_t *object, const char *key) {
    return json_number_value(json_object_get(object, key));
}

static void put_label(const struct terminal *t, const char *label) {
    printf("%s%-*s%s", terminal_start(t, STYLE_BOLD), LABEL, label, terminal_end(t));
}

/* A bar of a percentage with the number behind it. Returns the column behind that. */
static int put_share(const struct terminal *t, double percent) {
    enum style style = percent >= 75   ? STYLE_GREEN
                       : percent >= 40 ? STYLE_YELLOW
                                       : STYLE_RED;
    int cells = render_bar_cells(t, LABEL + 50);
    terminal_bar(t, percent / 100, cells, style);
    return LABEL + cells + printf(" %.3g %%", percent);
}

/* The same with words behind it. */
static void put_share_of(const struct terminal *t, double percent, const char *words) {
    int column = put_share(t, percent) + 1;
    putchar(' ');
    terminal_flow(t, STYLE_PLAIN, &column, LABEL, " %s", words);
    putchar('\n');
}

/* --- odd sizes --- */

static const char added_words[] =
    "[" BOLD "odd sizes" END "\t{added_cases/; /:{sizes:{@}={.} }{verdict|?}}\n]";

/* --- time --- */

static const char time_words[] =
    "[" BOLD "time" END "\t{summary~200} ({samples|0} samples, {cache|?} cache"
    "[{?sm_clock_mhz}, SM at {sm_clock_mhz} MHz]"
    "[{?mem_clock_mhz}, memory at {mem_clock_mhz} MHz])"
    "[{?throttled}, the GPU was throttled]\n]";

static void put_timing(const struct terminal *t, const json_t *timing) {
    if (!json_object_get(timing, "summary")) {
        return;
    }
    terminal_words(t, LABEL, time_words, timing);
    if (json_object_get(timing, "speedup")) {
        double speedup = real(timing, "speedup");
        printf("%*s%s%.3g times as fast as the reference%s (%.4g us)\n", LABEL, "",
               terminal_start(t, speedup >= 1 ? STYLE_GREEN : STYLE_RED), speedup,
               terminal_end(t), real(timing, "reference_median_us"));
    }
    terminal_words(t, LABEL, "{notes:\t" YELLOW "{.}\n}", timing);
}

static void put_roofline(const struct terminal *t, const json_t *roofline) {
    if (!json_object_get(roofline, "limit_us")) {
        return;
    }
    autobuf text = BUF_INIT(512);
    const json_t *percent = json_object_get(roofline, "percent");
    put_label(t, "roofline");
    if (percent) {
        (void)put_share(t, json_number_value(percent));
        puts("");
        printf("%*s", LABEL, "");
    }
    buf_addf(&text, "no faster than %.3g us on an %.60s, bound by %s",
             real(roofline, "limit_us"), json_get_string(roofline, "device", "?"),
             !json_says(roofline, "bound", "compute") ? "memory" : "arithmetic");
    terminal_put_wrapped(t, percent ? STYLE_DIM : STYLE_PLAIN, text.data, LABEL, LABEL);
}

/* --- where the time of the check itself went --- */

static void put_phases(const struct terminal *t, const json_t *phases) {
    autobuf text = BUF_INIT(512);
    json_each(phases, i, phase) {
        double ms = real(phase, "ms");
        if (ms >= 1) {
            buf_addf(&text, ms < 1000 ? "%s%s %.0f ms" : "%s%s %.3g s",
                     text.len ? ", " : "", json_get_string(phase, "phase", "?"),
                     ms < 1000 ? ms : ms / 1000);
        }
    }
    if (text.len) {
        put_label(t, "checked in");
        terminal_put_wrapped(t, STYLE_DIM, text.data, LABEL, LABEL);
    }
}

/* --- counters --- */

static double coalescing(const json_t *counters) {
    double sectors = real(counters, "global_sectors");
    return sectors > 0 ? 100 * real(counters, "global_sectors_ideal") / sectors : 100;
}

/* The line that moves the most sectors in vain. */
static const json_t *worst_line(const json_t *counters) {
    const json_t *worst = NULL;
    double most = 0;
    json_each(json_object_get(counters, "by_line"), i, line) {
        double vain = real(line, "global_sectors") - real(line, "global_sectors_ideal");
        if (vain > most) {
            most = vain;
            worst = line;
        }
    }
    return worst;
}

static void put_coalescing(const struct terminal *t, const json_t *counters) {
    const json_t *worst = worst_line(counters);
    if (!count_of(counters, "global_requests")) {
        return;
    }
    double percent = coalescing(counters);
    autobuf words = BUF_INIT(256);
    buf_addf(&words, "%.3g sectors a request",
             real(counters, "global_sectors_per_request"));
    if (worst && percent < POOR_COALESCING) {
        buf_addf(&words, ", worst in line %lld", count_of(worst, "line"));
    }
    put_label(t, "coalescing");
    put_share_of(t, percent, words.data);
}

static void put_counters(const struct terminal *t, const json_t *counters) {
    json_int_t requests = count_of(counters, "shared_requests");
    json_int_t conflicts = count_of(counters, "shared_bank_conflicts");
    json_int_t divergent = count_of(counters, "divergent_branches");
    if (!json_is_object(counters)) {
        return;
    }
    put_coalescing(t, counters);
    if (requests) {
        put_label(t, "bank conflicts");
        int column = LABEL;
        terminal_flow(t, conflicts ? STYLE_YELLOW : STYLE_GREEN, &column, LABEL, "%lld",
                      conflicts);
        putchar(' ');
        terminal_wrapf(t, STYLE_PLAIN, column + 1, LABEL,
                       "in %lld requests to shared memory", requests);
    }
    if (json_object_get(counters, "active_lanes_percent")) {
        put_label(t, "lanes active");
        autofree char *words = xasprintf("%lld of %lld branches diverge", divergent,
                                         count_of(counters, "branches"));
        put_share_of(t, real(counters, "active_lanes_percent"), words);
    }
    if (!count_of(counters, "instructions")) {
        return; /* the launch did not come so far */
    }
    terminal_words(t, LABEL, BOLD "work" END "\t{instructions} warp instructions\n",
                   counters);
}

void render_measures(const struct terminal *t, const json_t *result) {
    static const char *const members[] = {"added_cases", "timing", "roofline", "counters",
                                          "phases"};
    size_t there = 0;
    for (size_t i = 0; i < ARRAY_LEN(members); i++) {
        there += json_object_size(json_object_get(result, members[i])) > 0 ||
                 json_array_size(json_object_get(result, members[i])) > 0;
    }
    fputs(there ? "\n" : "", stdout);
    terminal_words(t, LABEL, added_words, result);
    put_timing(t, json_object_get(result, "timing"));
    put_roofline(t, json_object_get(result, "roofline"));
    put_counters(t, json_object_get(result, "counters"));
    put_phases(t, json_object_get(result, "phases"));
}
