#include "gpu/worker/program_result.h"

#include "gpu/run/validate_result.h"
#include "protocol/finding.h"

#include <signal.h>
#include <sys/wait.h>

/* --- not run --- */

static void tell_compilation(const struct program_built *built, json_t *result) {
    json_object_set(result, "diagnostics", built->log.findings);
    if (json_array_size(built->log.missing)) {
        json_object_set(result, "unsupported", built->log.missing);
    }
    json_object_set_new(result, "cached", json_boolean(built->cached));
}

/* The first few by name, because kernel/init shows the message alone. */
static void name_missing(const json_t *missing, struct buf *message) {
    enum { named = 4 };
    size_t n = json_array_size(missing);
    buf_adds(message, "the program calls functions that are not supported: ");
    json_each(missing, i, one) {
        if (i < named) {
            buf_addf(message, "%s%.80s", i ? ", " : "",
                     json_get_string(one, "function", "?"));
        }
    }
    if (n > named) {
        buf_addf(message, " and %zu more", n - named);
    }
}

static void tell_not_compiled(const struct program_built *built, json_t *result) {
    bool only_missing = !built->code && json_array_size(built->log.missing);
    if (only_missing) {
        struct buf message = BUF_INIT(512);
        name_missing(built->log.missing, &message);
        validate_set_error(result, "unsupported", "compile", "missing_functions",
                           message.data,
                           "avoid them, or check the kernels alone with kernel/validate");
        buf_finish(&message);
        return;
    }
    const char *message =
        *built->message ? built->message : "the program does not compile";
    bool late = built->code && !strcmp(built->code, "compile_timeout");
    validate_set_error(result, late ? "timeout" : "error", "compile",
                       built->code ? built->code : "compiler_failed", message,
                       built->hint);
}

/* --- run --- */

/* If it was ended, adds the reason as an error; false: it ended by itself. */
static bool tell_ended(const struct program_ran *ran, json_t *result) {
    const struct program_end *end = &ran->end;
    char message[160] = "";
    if (end->failure) {
        snprintf(message, sizeof message, "the program could not be started: %s",
                 strerror(-end->failure));
        validate_set_error(result, "error", "run", "not_started", message, NULL);
    } else if (end->over == LIMIT_TIME || program_killed_by(end, SIGXCPU)) {
        bool worked = program_killed_by(end, SIGXCPU);
        double s = (worked ? ran->work_ms : ran->wall_ms) / 1e3;
        snprintf(message, sizeof message, "the program was ended after %.*g s%s",
                 s < 1000 ? 3 : 9, s, worked ? " of processor time for each core" : "");
        validate_set_error(result, "timeout", "run", "wall_time", message,
                           "give smaller sizes as arguments, or a larger `timeout_s`");
    } else if (end->over == LIMIT_FOLDER || program_killed_by(end, SIGXFSZ)) {
        validate_set_error(result, "error", "run", "space",
                           "the program wrote more than 256 MiB of files, of which each "
                           "counts 4 KiB besides its content",
                           NULL);
    } else if (end->over == LIMIT_THREADS) {
        snprintf(message, sizeof message, "the program had more than %d threads",
                 PROGRAM_THREADS);
        validate_set_error(result, "error", "run", "threads", message, NULL);
    } else if (end->over == LIMIT_MEMORY) {
        snprintf(message, sizeof message,
                 "the program used more than its %zu MiB of memory",
                 ran->memory_bytes >> 20);
        validate_set_error(result, "error", "run", "memory", message,
                           "give smaller sizes as arguments");
    } else if (program_killed_by(end, SIGKILL)) { /* not by the keeper */
        validate_set_error(result, "error", "run", "killed",
                           "the program was killed, and not by upskilld",
                           "the system does this when its memory runs out: give smaller "
                           "sizes as arguments, or end other programs; or the program "
                           "killed itself");
    }
    return json_object_get(result, "error") != NULL;
}

/* A launch, copy or fill that did not take place, and the program went on as if it had,
 * as far as is known. */
static bool lacks_work(const json_t *api_errors) {
    static const char *const work[] = {"cudaLaunch", "cudaMemcpy", "cudaMemset"};
    json_each(api_errors, i, one) {
        const char *function = json_get_string(one, "function", "");
        for (size_t k = 0; k < ARRAY_LEN(work); k++) {
            if (!strncmp(function, work[k], strlen(work[k])) &&
                !json_get_bool(one, "looked_at", 1)) {
                return true;
            }
        }
    }
    return false;
}

static const char *verdict_of(const struct program_ran *ran,
                              const struct program_report *report) {
    const json_t *findings = report->findings;
    bool bad = !WIFEXITED(ran->end.status) || WEXITSTATUS(ran->end.status) ||
               findings_count(findings, FINDING_ERROR) || report->omitted ||
               lacks_work(report->api_errors);
    bool doubtful = findings_count(findings, FINDING_WARNING) ||
                    json_array_size(report->leaks) || json_array_size(report->api_errors);
    return bad || (ran->strict && doubtful) ? "fail" : "pass";
}

/* Who names checks gets no others; races are checked only where that is asked for, since
 * it makes a program some times slower. */
static bool was_checked(const struct program_ran *ran, const char *name) {
    return ran->checks ? json_has_text(ran->checks, name) || json_has_text(ran->checks, "all")
                       : strcmp(name, "race") != 0;
}

static void note_checks(const struct program_ran *ran, struct buf *note) {
    static const char *const checks[][2] = {{"memory", "memory"},
                                            {"initialized", "uninitialized reads"},
                                            {"race", "races"},
                                            {"barrier", "barriers"}};
    for (size_t k = 0; k < ARRAY_LEN(checks); k++) {
        if (!was_checked(ran, checks[k][0])) {
            buf_addf(note, "%s%s", note->len ? ", " : "not checked: ", checks[k][1]);
        }
    }
    if (note->len) {
        buf_adds(note, " (`checks` all)");
    }
}

static void tell_note(const struct program_ran *ran, const struct program_report *report,
                      bool idle, json_t *result) {
    autobuf note = BUF_INIT(256);
    if (idle) {
        buf_adds(&note, "no kernel was launched: only calls of CUDA functions were checked");
    } else if (json_array_size(report->launches)) {
        note_checks(ran, &note);
    }
    if (note.len && !json_object_get(result, "error")) {
        json_object_set_new(result, "note", json_stringn(note.data, note.len));
    }
}

/* Parts that were not checked do not count as passed. */
static void tell_verdict(const struct program_ran *ran,
                         const struct program_report *report, json_t *result) {
    const char *verdict = verdict_of(ran, report);
    const json_t *limit = json_array_get(report->limits, 0);
    bool passes = !strcmp(verdict, "pass");
    bool idle = passes && !json_array_size(report->launches);
    if (json_array_size(report->unsupported)) {
        const json_t *first = json_array_get(report->unsupported, 0);
        validate_set_error(result, "unsupported", "run", "unsupported",
                           json_get_string(first, "message",
                                           "a feature is not "
                                           "supported"),
                           NULL);
    } else if (limit && passes) {
        validate_set_error(result, "error", "run", "limit",
                           json_get_string(limit, "message", "a limit was reached"),
                           NULL);
    } else if (passes && !report->ended && report->began) {
        validate_set_error(result, "error", "run", "report_cut",
                           "the program ended without the runtime library's final report "
                           "(_exit, or the report was too long): some results are "
                           "missing",
                           NULL);
    } else if (idle && (ran->strict || !report->called)) {
        validate_set_error(result, "error", "run", "nothing_launched",
                           report->called
                               ? "the program ended with status 0 and "
                                 "launched no kernel: none was checked"
                               : "the program ended with status 0 and called no "
                                 "CUDA function: nothing was checked",
                           NULL);
    } else {
        json_object_set_new(result, "verdict", json_string(verdict));
    }
    tell_note(ran, report, idle, result);
}

static void tell_end(const struct program_end *end, json_t *result) {
    bool exited = !end->failure && WIFEXITED(end->status);
    json_object_set_new(result, "exit_status",
                        exited ? json_integer(WEXITSTATUS(end->status)) : json_null());
    if (!end->over && WIFSIGNALED(end->status)) {
        const char *name = sigabbrev_np(WTERMSIG(end->status));
        json_object_set_new(result, "signal", json_sprintf("SIG%s", name ? name : "?"));
    }
}

static void tell_output(const struct program_ran *ran, json_t *result) {
    json_object_set_new(result, "stdout", json_clean(ran->out.data, ran->out.len));
    json_object_set_new(result, "stderr", json_clean(ran->error.data, ran->error.len));
    json_int_t left = (json_int_t)(ran->end.out_bytes - ran->out.len +
                                   ran->end.error_bytes - ran->error.len);
    if (left) {
        json_object_set_new(result, "output_omitted_bytes", json_integer(left));
    }
}

static void tell_report(const struct program_report *r, json_t *result) {
    json_object_set(result, "launches", r->launches);
    json_object_set(result, "findings", r->findings);
    json_object_set(result, "api_errors", r->api_errors);
    json_object_set(result, "leaks", r->leaks);
    json_object_set(result, "unsupported", r->unsupported);
    json_object_set(result, "skipped_launches", r->skipped);
    json_object_set(result, "counters", r->counters);
    json_object_set_new(result, "omitted", json_integer(r->omitted));
    if (r->omitted_rows) {
        json_object_set_new(result, "omitted_rows", json_integer(r->omitted_rows));
    }
    if (json_array_size(r->limits)) {
        json_object_set(result, "limits", r->limits);
    }
}

/* In the order of time. */
static void tell_phases(const struct program_built *built, const struct program_ran *ran,
                        const struct program_report *report, json_t *result) {
    json_t *phases = json_pack("[{s:s, s:i}]", "phase", "compile", "ms", (int)built->ms);
    if (ran) {
        json_array_append_new(
            phases, json_pack("{s:s, s:i}", "phase", "run", "ms", (int)ran->end.ms));
        if (report->first_launch_us) {
            json_object_set_new(json_array_get(phases, 1), "first_launch_ms",
                                json_real((double)report->first_launch_us / 1e3));
        }
    }
    json_object_set_new(result, "phases", phases);
    json_object_set_new(
        result, "confinement",
        confinement_to_json(ran ? ran->end.confinement : built->confinement));
}

json_t *program_result(const struct program_built *built, const struct program_ran *ran,
                       const struct program_report *report) {
    json_t *result = json_object();
    if (!ran) {
        tell_not_compiled(built, result);
        json_object_set_new(result, "findings", json_array());
    } else {
        if (!tell_ended(ran, result)) {
            tell_verdict(ran, report, result);
        }
        tell_end(&ran->end, result);
        tell_output(ran, result);
        tell_report(report, result);
    }
    tell_compilation(built, result);
    tell_phases(built, ran, report, result);
    return result;
}
