/* A validation that takes another process: to try the driver, or compute-sanitizer. */
#include "gpu/worker/validation_internal.h"

#include "base/clock.h"
#include "gpu/run/sanitizer_merge.h"
#include "gpu/worker/cuda_room.h"
#include "gpu/worker/driver_trial.h"
#include "gpu/worker/sanitize_child.h"

#include <sys/stat.h>

enum {
    SOONER_MS = 300,       /* a run under a tool ends before it would be ended */
    DRIVER_TRIALS_MAX = 3, /* that may tell nothing */
};

/* --- a driver that does not start --- */

/* True if the call must wait: the driver is tried without the kernel. The process that
 * reported that it did not start has read the kernel's text and is not trusted. */
static bool trial_begin(struct validation *v, const json_t *answer) {
    if (v->wants_devices || v->answer || v->is_retried ||
        !json_object_get(answer, "driver_refused")) {
        return false;
    }
    v->head = worker_child_head(json_pack("{s:b}", "trial", 1));
    v->in_trial = true;
    return true;
}

/* answer NULL: it came to no end. */
static void trial_learn(struct worker *w, const json_t *answer) {
    const char *narrow = json_get_string(answer, "too_narrow", NULL);
    bool failed = !answer || json_object_get(answer, "failed");
    if (narrow) {
        snprintf(w->driver_words, sizeof w->driver_words, "%s", narrow);
        cuda_room_set_confinement(CUDA_CONFINEMENT_LIMITS);
    } else if (!failed || ++w->driver_trials >= DRIVER_TRIALS_MAX) {
        cuda_room_set_confinement(CUDA_CONFINEMENT_FULL);
    }
}

void validation_trial_ended(struct worker *w, struct validation *v,
                            const json_t *answer) {
    trial_learn(w, answer);
    v->in_trial = v->timed_out = false;
    v->killed_ms = 0;
    v->is_retried = true;
    v->head = worker_child_head(json_incref(rpc_call_params(v->call)));
}

/* Marks the result of a run on a device as unconfined, unless that was configured. */
static void tell_unconfined(const struct worker *w, json_t *answer) {
    const json_t *backend = json_object_get(answer, "backend");
    json_t *findings = json_object_get(answer, "findings");
    if (w->driver_words[0] && json_is_array(findings) &&
        json_says(backend, "kind", "cuda")) {
        json_array_append_new(findings, driver_trial_finding(w->driver_words));
    }
}

/* --- once more, under compute-sanitizer --- */

/* A report of a child that gave none. */
static json_t *report_of_death(const struct validation *v, int status) {
    const char *how = v->timed_out || v->killed_ms ? "timeout" : "failed";
    autofree char *why = v->timed_out ? xstrdup("time ran out")
                         : WIFSIGNALED(status)
                             ? xasprintf("the process that watches it died (SIG%s)",
                                         sigabbrev_np(WTERMSIG(status)))
                             : xstrdup("the process that watches it gave no answer");
    json_t *tools = json_array();
    autojson *wanted = sanitizer_wanted(v->answer);
    json_each(wanted, i, tool) {
        json_array_append_new(
            tools, json_pack("{s:O, s:s, s:s, s:s, s:i}", "tool", tool, "check",
                             sanitizer_check_of(json_string_value(tool)), "outcome", how,
                             "reason", why, "cases", 0));
    }
    return json_pack("{s:o}", "tools", tools);
}

json_t *validation_sanitized(struct validation *v, const json_t *report, int status) {
    autojson *none = report ? NULL : report_of_death(v, status);
    if (report && v->key[0]) {
        sanitize_remember(&v->worker->sanitized, v->key, report);
    }
    sanitizer_merge(v->answer, report ? report : none);
    return json_incref(v->answer);
}

static json_t *sanitize_job(const struct validation *v, const json_t *wanted,
                            const char *path, uint64_t wall_ms) {
    return json_pack("{s:O, s:s, s:s, s:O, s:I, s:I}", "params", rpc_call_params(v->call),
                     "path", path, "folder", v->folder, "tools", wanted, "wall_ms",
                     (json_int_t)wall_ms, "cpu_s", (json_int_t)v->limits.cpu_s);
}

/* True when the call is not answered yet: it goes on. Else the answer says why not. */
static bool sanitize_begin(struct worker *w, struct validation *v, json_t *answer) {
    autojson *wanted = sanitizer_wanted(answer), *absent = NULL;
    uint64_t now = clock_ms();
    if (v->wants_devices || v->answer || !json_array_size(wanted)) {
        return false;
    }
    autofree char *path = sanitize_locate(&absent);
    autojson *known = path && sanitize_key(v->request.fds[0], v->key)
                          ? sanitize_recall(&w->sanitized, v->key)
                          : NULL;
    if (!path || known) {
        sanitizer_merge(answer, known ? known : absent);
        return false;
    }
    v->answer = json_incref(answer);
    v->folder = worker_folder_make(w, NULL) < 0
                    ? NULL
                    : xasprintf("%s/sanitize-%llx", w->folder, (unsigned long long)now);
    uint64_t left =
        v->deadline_ms > now + SOONER_MS ? v->deadline_ms - now - SOONER_MS : 0;
    bool ready = v->folder && mkdir(v->folder, 0700) == 0;
    if (!ready) {
        json_t *failed = validation_sanitized(v, NULL, 0);
        json_decref(failed); /* the same object, with its warning */
        return false;
    }
    v->head = worker_child_head(sanitize_job(v, wanted, path, left));
    return true;
}

bool validation_needs_another(struct worker *w, struct validation *v, json_t *answer) {
    if (trial_begin(v, answer)) {
        return true;
    }
    tell_unconfined(w, answer);
    return sanitize_begin(w, v, answer);
}
