/* What kernel/validate measured, a line each: a word, a bar where there is a share, and
 * the figures. */
#include "base/buf.h"
#include "base/find.h"
#include "clients/ctl/render.h"

enum { LABEL = 15, POOR_COALESCING = 50 };

static double real(const json_t *object, const char *key) {
    return json_number_value(json_object_get(object, key));
}

/* Odd sizes, the time, and how far it is from what the device can do. A label's blanks
 * are there where a bar stands behind it, which is not wrapped. */
static const char time_words[] =
    "[" BOLD "odd sizes" END "\t{added_cases/; /:{sizes:{@}={.} }{verdict|?}}\n]"
    "[" BOLD "time" END "\t{timing.summary~200} ({timing.samples|0} samples, "
    "{timing.cache|?} cache[{?timing.sm_clock_mhz}, SM at {timing.sm_clock_mhz} MHz]"
    "[{?timing.mem_clock_mhz}, memory at {timing.mem_clock_mhz} MHz])"
    "[{?timing.throttled}, the GPU was throttled]\n"
    "[               [{?timing.speedup>1}" GREEN "|{?timing.speedup=1}" GREEN "|" RED
    "]{timing.speedup%.3g} times as fast as the reference" END
    " ({timing.reference_median_us%.4g} us)\n]"
    "[{timing.notes:\t" YELLOW "{.}\n}]]"
    "[" BOLD "roofline" END "{?roofline.limit_us=*}"
    "[       {roofline.percent#measure}\n]\t[{?roofline.percent=*}" DIM
    "]no faster than {roofline.limit_us%.3g} us on an {roofline.device|?}, bound by "
    "[{?roofline.bound=compute}arithmetic|memory]\n]";

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
        const struct facts facts = {STYLE_BOLD, 0, LABEL};
        terminal_fact(t, &facts, "checked in", STYLE_DIM, "%s", text.data);
    }
}

/* --- counters --- */

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

static const char counter_words[] =
    "[" BOLD "coalescing     " END "{?global_requests}{coalesced#measure}  "
    "\t{global_sectors_per_request%.3g} sectors a request"
    "[, worst in line {worst.line|0}{?worst}]\n]"
    "[" BOLD "bank conflicts" END "{?shared_requests}\t[{?shared_bank_conflicts}" YELLOW
    "|" GREEN "]{shared_bank_conflicts|0}" END " in {shared_requests} requests to shared "
    "memory\n]"
    "[" BOLD "lanes active   " END "{active_lanes_percent#measure}  "
    "\t{divergent_branches|0} of {branches|0} branches diverge\n]"
    "[" BOLD "work" END "{?instructions}\t{instructions} warp instructions\n]";

/* What share of the sectors was needed, and the line to blame where few were. */
static void put_counters(const struct terminal *t, const json_t *counters) {
    double sectors = real(counters, "global_sectors");
    double percent =
        sectors > 0 ? 100 * real(counters, "global_sectors_ideal") / sectors : 100;
    const json_t *worst = percent < POOR_COALESCING ? worst_line(counters) : NULL;
    autojson *told = json_is_object(counters) ? json_copy((json_t *)(uintptr_t)counters)
                                              : json_object();
    json_object_set_new(told, "coalesced", json_real(percent));
    json_object_set_new(told, "worst", worst ? json_deep_copy(worst) : json_null());
    terminal_words(t, LABEL, counter_words, told);
}

void render_measures(const struct terminal *t, const json_t *result) {
    static const char *const members[] = {"added_cases", "timing", "roofline", "counters",
                                          "phases"};
    bool there = any_of(i, 0, ARRAY_LEN(members),
                        json_object_size(json_object_get(result, members[i])) ||
                            json_array_size(json_object_get(result, members[i])));
    fputs(there ? "\n" : "", stdout);
    terminal_words(t, LABEL, time_words, result);
    put_counters(t, json_object_get(result, "counters"));
    put_phases(t, json_object_get(result, "phases"));
}
