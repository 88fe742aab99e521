#include "gpu/runtime/outcome.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/file.h"
#include "gpu/ptx/state/findings.h"
#include "gpu/runtime/api_errors.h"
#include "gpu/runtime/leaks.h"
#include "gpu/runtime/registration.h"
#include "gpu/runtime/runtime.h"

#include <unistd.h>

/* ---- what was launched ---- */

#define KINDS_MAX 1024
#define FINDINGS_MAX 200
#define NUMBERED_MAX (UINT32_C(1) << 20) /* launches whose places are known */

static struct {
    struct launched {
        const struct kernel *kernel;
        struct launch_shape shape;
        struct host_site site;
        uint64_t times, times_told;
    } items[KINDS_MAX];
    unsigned count;
    struct told_finding {
        struct host_site launch;
        struct told_place {
            const char *what; /* a constant; NULL: there is none */
            struct host_site site;
        } others[2]; /* what showed it, if that is another call, or its allocation's */
    } * found;       /* the findings that were told */
    size_t findings, found_room;
    uint64_t skipped, skipped_sets;
    json_t *skipped_kernels; /* {name: times} */
    bool ended;
} told;

static void launched_tell(struct launched *l, uint64_t id) {
    json_t *event = report_event("launch", id, &l->site);
    json_object_set_new(event, "kernel", json_clean_z(l->kernel->entry->name));
    json_object_set_new(event, "grid", finding_triple(l->shape.grid));
    json_object_set_new(event, "block", finding_triple(l->shape.block));
    if (l->shape.cluster[0]) {
        json_object_set_new(event, "cluster", finding_triple(l->shape.cluster));
    }
    if (l->shape.shared_bytes) {
        json_object_set_new(event, "shared_bytes", json_integer(l->shape.shared_bytes));
    }
    if (l->shape.cooperative) {
        json_object_set_new(event, "cooperative", json_true());
    }
    json_object_set_new(event, "times", json_integer((json_int_t)l->times));
    report_line(event);
    l->times_told = l->times;
}

static void launched_tell_all(void) {
    for (unsigned k = 0; k < told.count; k++) {
        if (told.items[k].times != told.items[k].times_told) {
            launched_tell(&told.items[k], k + 1u);
        }
    }
}

/* The queue's turn. */
void outcome_launch(const struct kernel *k, const struct launch_shape *shape,
                    const struct host_site *site) {
    struct launched *l = told.items, *end = l + told.count;
    while (l < end && (l->kernel != k || memcmp(&l->shape, shape, sizeof *shape) != 0 ||
                       l->site.frames[0] != site->frames[0])) {
        l++;
    }
    if (l < end) {
        l->times++;
    } else if (told.count < KINDS_MAX) {
        *l = (struct launched){k, *shape, *site, 1, 0};
        launched_tell(l, ++told.count);
    }
}

void outcome_skipped(const struct kernel *k) {
    told.skipped += k != NULL;
    told.skipped_sets += k == NULL;
    if (k) {
        told.skipped_kernels =
            told.skipped_kernels ? told.skipped_kernels : json_object();
        json_int_t times = json_get_integer(told.skipped_kernels, k->entry->name, 0);
        json_object_set_new(told.skipped_kernels, k->entry->name,
                            json_integer(times + 1));
    }
}

static void skipped_tell(void) {
    if (told.skipped || told.skipped_sets) {
        json_t *event = report_event("skipped", 1, NULL);
        json_object_set_new(event, "launches", json_integer((json_int_t)told.skipped));
        json_object_set_new(event, "sets", json_integer((json_int_t)told.skipped_sets));
        json_object_set_new(event, "kernels",
                            told.skipped_kernels ? json_incref(told.skipped_kernels)
                                                 : json_object());
        report_line(event);
    }
}

/* ---- where launches stand ---- */

static struct {
    struct host_site *sites; /* each once */
    uint16_t *of;            /* by the launch's number: 1 + that of its site */
    size_t count, room, of_count, of_room;
} places;

static size_t place_number(const struct host_site *site) {
    size_t k = places.count;
    while (k > 0 && !host_site_same(&places.sites[k - 1], site)) {
        k--;
    }
    if (k == 0 && places.count < KINDS_MAX) {
        list_room(places.sites, places.count, places.room, 16);
        places.sites[places.count++] = *site;
        k = places.count;
    }
    return k;
}

/* The latest launch is of this call. */
static void place_keep(const struct host_site *site) {
    uint32_t launch = findings_launches(runtime.device.space.findings);
    if (launch >= NUMBERED_MAX) {
        return;
    }
    while (places.of_count <= launch) {
        list_room(places.of, places.of_count, places.of_room, 256);
        places.of[places.of_count++] = 0;
    }
    places.of[launch] = (uint16_t)place_number(site);
}

/* NULL: not known. */
static const struct host_site *place_of_finding(size_t number) {
    uint32_t launch = findings_launch_of(runtime.device.space.findings, number);
    size_t k = launch < places.of_count ? places.of[launch] : 0;
    return k ? &places.sites[k - 1] : NULL;
}

/* ---- what launches did ---- */

static void finding_tell(size_t number, const struct told_finding *at) {
    json_t *finding = findings_get(runtime.device.space.findings, number);
    json_t *event = report_event("finding", number + 1, &at->launch);
    static const char *const members[][2] = {{"other", "other_host"},
                                             {"third", "third_host"}};
    for (unsigned k = 0; k < 2 && at->others[k].what; k++) {
        json_object_set_new(event, members[k][0], json_string(at->others[k].what));
        json_object_set_new(event, members[k][1], host_site_json(&at->others[k].site));
    }
    if (!report_has_reader() && !told.ended) {
        (void)fprintf(stderr, "%s:%lld: %s: %s [%s]\n",
                      json_get_string(finding, "file", "?"),
                      (long long)json_get_integer(finding, "line", 0),
                      json_get_string(finding, "severity", ""),
                      json_get_string(finding, "message", ""),
                      json_get_string(finding, "code", ""));
    }
    json_object_set_new(event, "finding", finding);
    report_line(event);
}

static struct told_finding found_at(size_t number, const struct host_site *site,
                             const char *what) {
    const struct host_site *launch = place_of_finding(number);
    struct told_finding at = {.launch = launch ? *launch : *site};
    const struct allocation *a =
        memory_find(&runtime.device.memory,
                    findings_memory_of(runtime.device.space.findings, number));
    struct allocation_life life;
    const struct report_other use = {site, what, NULL};
    const struct report_other *other = launch && !host_site_same(launch, site) ? &use
                                       : a ? allocation_others(a, &life)
                                           : NULL;
    for (unsigned k = 0; k < 2 && other; k++, other = other->more) {
        at.others[k] = (struct told_place){other->what, *other->site};
    }
    return at;
}

void outcome_found(const struct host_site *site, const char *what) {
    size_t count = findings_kept(runtime.device.space.findings);
    for (; told.findings < count && told.findings < FINDINGS_MAX; told.findings++) {
        list_room(told.found, told.findings, told.found_room, 8);
        told.found[told.findings] = found_at(told.findings, site, what);
        finding_tell(told.findings, &told.found[told.findings]);
    }
}

void outcome_stopped(const struct host_site *launch) {
    outcome_found(launch, "the launch that was ended");
    launched_tell_all();
}

static void printed_tell(struct module *m) {
    const char *text = machine_printf(m->machine);
    size_t len = strlen(text);
    if (len > m->printed) {
        (void)fflush(stdout);
        (void)file_write_all(STDOUT_FILENO, text + m->printed, len - m->printed);
        m->printed = len;
    }
}

/* The machine says "FILE:LINE: FUNCTION: assertion `WORDS' failed"; CUDA says it so. */
static void assertion_print(const json_t *finding) {
    const char *message = json_get_string(finding, "message", "");
    const char *mark = strstr(message, ": assertion `");
    const json_t *block = json_object_get(finding, "block");
    const json_t *thread = json_object_get(finding, "thread");
    int at[6];
    for (unsigned k = 0; k < 6; k++) {
        at[k] = (int)json_integer_value(json_array_get(k < 3 ? block : thread, k % 3));
    }
    if (mark) {
        const char *words = mark + strlen(": assertion `"), *end = strrchr(words, '\'');
        (void)fprintf(
            stderr,
            "%.*s: block: [%d,%d,%d], thread: [%d,%d,%d] Assertion `%.*s` failed.\n",
            (int)(mark - message), message, at[0], at[1], at[2], at[3], at[4], at[5],
            end ? (int)(end - words) : 0, words);
    }
}

/* CUDA's code for what ended a kernel. */
static cudart_error code_of_fault(void) {
    static const struct {
        const char *finding;
        cudart_error code;
    } codes[] = {{"assert", CUDART_ASSERT},
                 {"misaligned", CUDART_MISALIGNED_ADDRESS},
                 {"out_of_bounds", CUDART_ILLEGAL_ADDRESS}};
    const struct findings *f = runtime.device.space.findings;
    for (size_t k = findings_kept(f); k > 0; k--) {
        autojson *finding = findings_get(f, k - 1);
        for (size_t c = 0; c < ARRAY_LEN(codes); c++) {
            if (json_says(finding, "code", codes[c].finding)) {
                if (codes[c].code == CUDART_ASSERT) {
                    assertion_print(finding);
                }
                return codes[c].code;
            }
        }
    }
    return CUDART_LAUNCH_FAILURE;
}

void outcome_limit(const char *which, const char *message) {
    json_t *event = report_event("limit", 0, NULL);
    json_object_set_new(event, "which", json_string(which));
    json_object_set_new(event, "message", json_string(message));
    report_line(event);
}

static cudart_error code_of_end(enum machine_end end, const struct err *err,
                                const struct host_site *site) {
    switch (end) {
    case MACHINE_FAULT:
        return code_of_fault();
    case MACHINE_DEADLOCK: /* on a device it would wait for ever */
        return CUDART_TIMEOUT;
    case MACHINE_BUDGET:
        outcome_limit("work",
                      "The kernels executed more instructions than the limit allows");
        return CUDART_TIMEOUT;
    case MACHINE_REFUSED:
        report_finding("launch_error", site, "%s", err->msg);
        return CUDART_LAUNCH_FAILURE;
    default:
        return CUDART_SUCCESS;
    }
}

static void counters_tell(struct module *m, uint64_t number) {
    json_t *event = report_event("counters", number, NULL);
    json_object_set_new(event, "counters", machine_counters(m->machine));
    report_line(event);
}

#define TOLD_EVERY_US 2000000u
#define TOLD_SHARE 8 /* of the time that has passed, so that the report stays small */

/* A program that is ended from outside cannot tell at its end what it did. */
static void counters_tell_now_and_then(void) {
    static uint64_t next = TOLD_EVERY_US;
    uint64_t now = clock_us() - runtime.born_us, part = now / TOLD_SHARE;
    if (now >= next) {
        next = now + (part > TOLD_EVERY_US ? part : TOLD_EVERY_US);
        skipped_tell();
        launched_tell_all();
        registered_modules(counters_tell);
    }
}

cudart_error outcome_of(struct module *m, enum machine_end end, const struct err *err,
                        const struct host_site *site) {
    printed_tell(m);
    place_keep(site);
    outcome_found(site, "the launch that uses it");
    counters_tell_now_and_then();
    return code_of_end(end, err, site);
}

/* ---- the end ---- */

void outcome_end(const char *how, int signal) {
    if (told.ended) {
        return;
    }
    told.ended = true;
    launched_tell_all();
    json_t *end = report_event("end", 0, NULL);
    json_object_set_new(end, "how", json_string(how));
    json_object_set_new(end, "called", json_boolean(runtime.called));
    if (signal) {
        json_object_set_new(end, "signal", json_integer(signal));
    }
    if (runtime.first_launch_us) {
        json_object_set_new(
            end, "first_launch_us",
            json_integer((json_int_t)(runtime.first_launch_us - runtime.born_us)));
    }
    if (!signal) {
        skipped_tell();
        for (size_t k = 0; k < told.findings; k++) {
            finding_tell(k, &told.found[k]);
        }
        registered_modules(counters_tell);
        leaks_tell();
    }
    api_errors_tell();
    report_line(end);
}
