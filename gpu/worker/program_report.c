#include "gpu/worker/program_report.h"

#include "base/buf.h"
#include "base/file.h"
#include "base/find.h"
#include "gpu/facts/kernel_index.h"
#include "gpu/run/run_report.h"
#include "gpu/runtime/run_report.h"
#include "gpu/worker/call_value.h"
#include "gpu/worker/constant_place.h"
#include "gpu/worker/program_lines.h"

enum { MAX_FINDINGS = 200, MAX_ROWS = 500, MAX_FRAMES = 16, MAX_NESTING = 8, MAX_LATER = 4 };

/* --- lines --- */

/* Each event's lines by their event, id, and what it tells, so that the latest stays and
 * no program replaces a finding by a milder one. */
static void event_keep(json_t *events, json_t *event) {
    json_int_t id = json_get_integer(event, "id", 0);
    const char *name = json_get_string(event, "event", NULL);
    const json_t *finding = json_object_get(event, "finding");
    if (!name) {
        json_decref(event);
        return;
    }
    autofree char *key = id ? xasprintf("%s %lld %s %s %s", name, (long long)id,
                                        json_get_string(event, "function", ""),
                                        json_get_string(finding, "severity", ""),
                                        json_get_string(finding, "code", ""))
                            : xasprintf("%s +%zu", name, json_object_size(events));
    json_object_set_new(events, key, event);
}

/* A killed program may have left half a line. */
static json_t *events_read(const struct buf *text) {
    json_t *events = json_object();
    char *at = text->data, *end = at + text->len, *stop;
    for (; at < end && (stop = memchr(at, '\n', (size_t)(end - at))); at = stop + 1) {
        size_t len = (size_t)(stop - at);
        if (json_object_size(events) < RUN_REPORT_MAX_LINES) {
            autojson *event = json_parse(at, len, NULL);
            if (json_is_object(event)) {
                event_keep(events, json_clean_all(event));
            }
        }
    }
    return events;
}

/* --- places in the host's code --- */

/* An offset in the program itself as a name in the table of places; false: elsewhere. */
static bool frame_name(const json_t *frame, const char *program, char name[24]) {
    json_int_t offset = json_get_integer(frame, "offset", -1);
    snprintf(name, 24, "%lld", (long long)offset);
    return offset >= 0 && json_says(frame, "object", program);
}

static void places_of(const json_t *frames, const char *program, json_t *places) {
    json_each(frames, i, frame) {
        char name[24];
        if (i < MAX_FRAMES && frame_name(frame, program, name)) {
            json_object_set_new(places, name, json_null());
        }
    }
}

/* The first calls that failed for the same reason; NULL: no more. */
static const json_t *later_call(const json_t *event, size_t k) {
    return json_array_get(json_object_get(event, "later_calls"), k);
}

static json_t *places_find(const struct build_job *job, const json_t *events,
                           const char *program) {
    json_t *places = json_object();
    json_each_member(events, key, event) {
        (void)key;
        places_of(json_object_get(event, "host"), program, places);
        places_of(json_object_get(event, "other_host"), program, places);
        places_of(json_object_get(event, "third_host"), program, places);
        for (size_t k = 0; k < MAX_LATER; k++) {
            places_of(json_object_get(later_call(event, k), "host"), program, places);
        }
    }
    program_lines_find(job, places);
    return places;
}

/* The place where the program called the library: its innermost frame in a source; or
 * NULL. */
static const json_t *place_of(const json_t *frames, const json_t *places,
                              const char *program) {
    json_each(frames, i, frame) {
        char name[24];
        const json_t *place = i < MAX_FRAMES && frame_name(frame, program, name)
                                  ? json_object_get(places, name)
                                  : NULL;
        if (json_is_object(place)) {
            return place;
        }
    }
    return NULL;
}

static const json_t *host_place(const json_t *event, const json_t *places,
                                const char *program) {
    return place_of(json_object_get(event, "host"), places, program);
}

/* --- events as members of the result --- */

struct report_making {
    struct program_report *ret;
    const struct build_job *job;
    const json_t *places;
    const char *program;
};

static enum call_value value_of(const struct report_making *m, const json_t *call) {
    const json_t *place = host_place(call, m->places, m->program);
    return call_value_of(&m->job->sources, json_get_string(place, "file", ""),
                         (int)json_get_integer(place, "line", 0),
                         json_get_string(call, "function", ""));
}

/* Whoever did not ask for the error may have looked at what the call returned, or a later
 * one that failed for the same reason. The member is left out where that is not known. */
static void look_at_value(const struct report_making *m, json_t *event) {
    if (json_get_bool(event, "looked_at", 0)) {
        return;
    }
    enum call_value value = value_of(m, event);
    if (value != CALL_VALUE_USED &&
        any_of(k, 0, (size_t)MAX_LATER,
               value_of(m, later_call(event, k)) == CALL_VALUE_USED)) {
        value = CALL_VALUE_USED;
    }
    if (value == CALL_VALUE_UNKNOWN) {
        json_object_del(event, "looked_at");
    } else {
        json_object_set_new(event, "looked_at", json_boolean(value == CALL_VALUE_USED));
    }
}

/* The event itself, without what only the reader needs, with its place. */
static json_t *plain(const struct report_making *m, json_t *event) {
    static const char *const own[] = {"event", "id", "host", "later_calls"};
    const json_t *place = host_place(event, m->places, m->program);
    json_t *copy = json_copy(event);
    for (size_t i = 0; i < ARRAY_LEN(own); i++) {
        json_object_del(copy, own[i]);
    }
    json_object_update(copy, (json_t *)(uintptr_t)place);
    return copy;
}

/* Replaces files and kernels by the names that the user knows, at any depth. */
static void names_mend(const struct report_making *m, json_t *value, int depth) {
    const char *file = json_get_string(value, "file", NULL);
    const char *kernel = json_get_string(value, "kernel", NULL);
    if (depth > MAX_NESTING) {
        return;
    }
    if (file) {
        autofree char *name = program_file_name(file, &m->job->sources);
        json_object_set_new(value, "file", json_clean_z(name));
    }
    if (kernel) {
        autofree char *name = kernel_name_new(kernel);
        json_object_set_new(value, "kernel", json_clean_z(name));
    }
    json_each(value, i, item) {
        names_mend(m, item, depth + 1);
    }
    json_each_member(value, key, member) {
        (void)key;
        if (json_is_array(member) || json_is_object(member)) {
            names_mend(m, member, depth + 1);
        }
    }
}

static void add_row(struct report_making *m, json_t *rows, json_t *event) {
    if (json_array_size(rows) >= MAX_ROWS) {
        m->ret->omitted_rows++;
        return;
    }
    names_mend(m, event, 0);
    json_array_append_new(rows, plain(m, event));
}

/* A finding without a place gets that of the host's call. */
static void place_host(json_t *finding, const json_t *place) {
    const char *file = json_get_string(place, "file", NULL);
    json_int_t line = json_get_integer(place, "line", 0);
    if (!json_get_integer(finding, "line", 0)) {
        static const char *const members[] = {"file", "line", NULL};
        json_copy_members(finding, place, members);
    } else {
        finding_add_related(finding, "the host's call", file, (int)line, 0);
    }
}

/* Another place in the host's code. */
static void add_other(const struct report_making *m, const char *what,
                      const json_t *host, json_t *finding) {
    const json_t *place = place_of(host, m->places, m->program);
    if (place) {
        finding_add_related(finding, what,
                            json_get_string(place, "file", NULL),
                            (int)json_get_integer(place, "line", 0), 0);
    }
}

/* nvcc names a column only where the line changes: it is the one of a statement only when
 * that begins the line. */
static void column_check(const struct report_making *m, json_t *finding,
                         const char *file) {
    const struct source_file *source = program_source(file, &m->job->sources);
    const char *at = source ? source->original ? source->original : source->text : NULL;
    json_int_t line = json_get_integer(finding, "line", 0);
    json_int_t column = json_get_integer(finding, "column", 0);
    for (json_int_t n = 1; at && n < line; n++) {
        at = strchr(at, '\n');
        at += at != NULL;
    }
    if (at && (json_int_t)strspn(at, " \t") + 1 < column) {
        json_object_del(finding, "column");
        json_object_del(finding, "end_column");
    }
}

/* A variable that the source does not initialise is shown; of others the library could
 * not know that. */
static bool is_initialised(const struct report_making *m, const json_t *event,
                           json_t *finding) {
    struct constant_place place;
    const char *name = json_get_string(event, "constant", NULL);
    if (name && constant_place_find(&m->job->sources, name, &place)) {
        finding_add_related(finding, "the declaration", place.display, place.line, 0);
        return false;
    }
    return name != NULL;
}

static void add_finding(struct report_making *m, const json_t *event) {
    const json_t *place = host_place(event, m->places, m->program);
    json_t *finding = json_object_get(event, "finding");
    if (!json_is_object(finding)) {
        m->ret->omitted++;
        return;
    }
    if (is_initialised(m, event, finding)) {
        return;
    }
    column_check(m, finding, json_get_string(finding, "file", ""));
    run_report_name_buffer(finding);
    names_mend(m, finding, 0);
    if (place) {
        place_host(finding, place);
    }
    add_other(m, json_get_string(event, "other", "the other call"),
              json_object_get(event, "other_host"), finding);
    add_other(m, json_get_string(event, "third", "the third call"),
              json_object_get(event, "third_host"), finding);
    if (run_report_is_known(m->ret->findings, finding)) {
        return;
    }
    if (json_array_size(m->ret->findings) < MAX_FINDINGS) {
        json_array_append(m->ret->findings, finding);
    } else {
        m->ret->omitted++;
    }
}

/* Whether the library has reported the same as a finding. */
static bool is_told(const struct report_making *m, const char *message) {
    return json_any(m->ret->findings, finding, json_says(finding, "message", message));
}

static void add_crash(struct report_making *m, const json_t *event) {
    const json_t *place = host_place(event, m->places, m->program);
    const char *message = json_get_string(event, "message", "the program crashed");
    if (is_told(m, message)) {
        return;
    }
    json_t *finding = finding_new("run", "host_crash", FINDING_ERROR, message, NULL,
                                  &(struct finding_span){0});
    if (place) {
        place_host(finding, place);
    }
    json_array_append_new(m->ret->findings, finding);
}

static void add_event(struct report_making *m, json_t *event) {
    struct program_report *r = m->ret;
    const char *name = json_get_string(event, "event", "");
    const struct {
        const char *name;
        json_t *list;
    } lists[] = {{"launch", r->launches},
                 {"api_error", r->api_errors},
                 {"leak", r->leaks},
                 {"unsupported", r->unsupported},
                 {"limit", r->limits}};
    if (!strcmp(name, "api_error") && json_array_size(r->api_errors) < MAX_ROWS) {
        look_at_value(m, event);
    }
    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        if (!strcmp(name, lists[i].name)) {
            add_row(m, lists[i].list, event);
        }
    }
    if (!strcmp(name, "finding")) {
        add_finding(m, event);
    } else if (!strcmp(name, "crash")) {
        add_crash(m, event);
    } else if (!strcmp(name, "skipped")) {
        json_decref(r->skipped);
        r->skipped = plain(m, event);
    } else if (!strcmp(name, "record")) {
        json_decref(r->record);
        r->record = plain(m, event);
    } else if (!strcmp(name, "counters")) {
        r->counters = r->counters ? r->counters : json_array();
        names_mend(m, json_object_get(event, "counters"), 0);
        json_array_append(r->counters, json_object_get(event, "counters"));
    } else if (!strcmp(name, "begin")) {
        r->began = true;
    } else if (!strcmp(name, "end")) {
        r->ended = true;
        r->called = json_get_bool(event, "called", 0);
        r->omitted += json_get_integer(event, "omitted", 0);
        r->first_launch_us = json_get_integer(event, "first_launch_us", 0);
    }
}

void program_report_read(struct program_report *ret, const struct build_job *job,
                         const struct buf *lines) {
    autofree char *program = path_join(job->folder, "out/program");
    autojson *events = events_read(lines);
    autojson *places = places_find(job, events, program);
    *ret = (struct program_report){
        .launches = json_array(),
        .findings = json_array(),
        .api_errors = json_array(),
        .leaks = json_array(),
        .unsupported = json_array(),
        .limits = json_array(),
    };
    struct report_making m = {
        .ret = ret, .job = job, .places = places, .program = program};
    json_each_member(events, key, event) {
        (void)key;
        add_event(&m, event);
    }
    run_report_causes_first(ret->findings);
}

void program_report_finish(struct program_report *r) {
    json_t *const all[] = {r->launches, r->findings,    r->api_errors,
                           r->leaks,    r->unsupported, r->limits,
                           r->skipped,  r->counters,    r->record};
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        json_decref(all[i]);
    }
}
