#define LOG_MODULE "daemon"
#include "daemon/daemon.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/strings.h"
#include "base/text.h"
#include "daemon/daemon_status.operation.h"
#include "daemon/grader.h"
#include "daemon/jobs.h"
#include "daemon/operations.h"
#include "daemon/session.h"
#include "daemon/skill_serving.h"
#include "daemon/texts.h"
#include "gpu/check/kernel_check.h"
#include "protocol/rpc/rpc.h"
#include "protocol/schema/schema.h"
#include "skills/catalog/catalog.h"
#include "skills/evaluation/evaluation_room.h"
#include "skills/runs/run_record.h"
#include "skills/skills.h"

#include <limits.h>
#include <signal.h>
#include <unistd.h>

#define CLIENT_MAX 128     /* bytes of its name that every call and job carry */
#define STOP_LIMIT_MS 2000 /* handles that have not closed by then never will */
#define PARSE_LIMIT_MS 80  /* the same, when a large body is still being read */

/* For a reader of answers: used after an end of input, when it may still need time, and
 * when the daemon is asked to end. */
static const struct stdio_patience patient = {.stuck_ms = STDIO_LINK_STUCK_MS};
static const struct stdio_patience hurried = {.stuck_ms = 50, .most_ms = 1500};
#define FLUSH_LOOK_MS 50

static const int stop_signals[] = {SIGINT, SIGTERM, SIGHUP};

enum daemon_state { DAEMON_RUNNING, DAEMON_STOPPING };

struct daemon {
    uv_loop_t loop;
    const struct config *config;
    struct face_tables tables;
    struct face_settings settings;
    struct call_origin origin;
    char *client, *client_version;
    json_t *client_settings; /* the editor's, or NULL */
    char **roots;            /* the session's: the client's own, or the configuration's */
    struct session *session;
    struct gpu *gpu;
    struct skills *skills;
    struct evaluation_room *evaluations;
    bool skills_ended;
    struct skill_serving *serving;
    struct jobs *jobs;
    uv_signal_t signals[ARRAY_LEN(stop_signals)];
    uv_idle_t stopper; /* leaves the callback that asked for the end */
    uv_timer_t limit;
    enum daemon_state state;
    bool signalled, waits; /* for the reader, at the end */
    int exit_code;
    uint64_t started_ms;
};

/* --- roots and the client --- */

/* The client's own before the configuration's. */
static char **join_roots(const json_t *own, char *const *configured) {
    autojson *all = json_array();
    json_each(own, i, path) {
        if (json_string_length(path) < PATH_MAX) { /* every call copies them */
            json_array_append(all, path);
        }
    }
    for (; *configured; configured++) {
        json_array_append_new(all, json_string_nocheck(*configured));
    }
    return strings_from(all);
}

static void set_roots(void *data, const json_t *paths) {
    struct daemon *d = data;
    strings_free(d->roots);
    d->roots = join_roots(paths, d->config->roots);
    d->origin.roots = (const char *const *)d->roots;
    if (d->skills) {
        skills_set_roots(d->skills, d->origin.roots);
    }
}

static void set_settings(void *data, json_t *settings) {
    struct daemon *d = data;
    json_decref(d->client_settings);
    d->client_settings = json_incref(settings);
}

static void set_client(void *data, const char *name, const char *version) {
    struct daemon *d = data;
    log_info("client=%s version=%s", name, version);
    free(d->client);
    free(d->client_version);
    d->client = xstrndup(name, text_cut(name, strlen(name), CLIENT_MAX));
    d->client_version = xstrndup(version, text_cut(version, strlen(version), CLIENT_MAX));
    d->origin.client = d->client;
}

static void set_agent(void *data) {
    struct daemon *d = data;
    d->origin.agent = true;
}

/* --- domains --- */

static struct gpu *domain_gpu(struct daemon *d) {
    if (!d->gpu) {
        struct gpu_config config = {
            .pool = &d->config->pool,
            .include_dirs = (const char *const *)d->config->include_dirs,
            .default_arch = d->config->arch,
            .known_keys = json_object_get(schema_json(d->config->schema), "properties"),
            .cache_bytes = d->config->cache_bytes,
            .compile_wall_ms = 1000 * d->config->compile_timeout_s,
        };
        d->gpu = gpu_new(&d->loop, &config);
    }
    return d->gpu;
}

static void on_skills_changed(void *data) {
    struct daemon *d = data;
    skill_serving_changed(d->serving);
    if (d->session && d->state == DAEMON_RUNNING) {
        session_resources_changed(d->session);
    }
}

/* The skills that come with the program: where it was installed, else in the sources that
 * it was built from. Relative to its folder; the build says both. */
static const char *const bundled_places[] = {BUNDLED_INSTALLED, BUNDLED_SOURCE};

static struct skills *domain_skills(struct daemon *d) {
    if (!d->skills && !d->skills_ended) {
        autofree char *bundled =
            beside_program(bundled_places, ARRAY_LEN(bundled_places), X_OK);
        d->skills = skills_new(
            &d->loop, &(struct skills_config){
                          .bundled = bundled,
                          .links = json_get_string(d->config->settings, "links", NULL),
                          .agents_may_suppress = d->config->agents_may_suppress});
        skills_set_roots(d->skills, d->origin.roots);
        catalog_on_change(skills_catalog(d->skills), on_skills_changed, d);
    }
    return d->skills;
}

static struct evaluation_room *domain_evaluations(struct daemon *d) {
    if (!d->evaluations && !d->skills_ended) {
        d->evaluations = evaluation_room_new(&d->loop, d->config->settings);
    }
    return d->evaluations;
}

/* What operations of all domains request from their origin. */
static void *lend(void *host, const char *name) {
    struct daemon *d = host;
    return strcmp(name, GPU_LENT) == 0               ? (void *)domain_gpu(d)
           : strcmp(name, SKILLS_LENT) == 0          ? (void *)domain_skills(d)
           : strcmp(name, EVALUATION_ROOM_LENT) == 0 ? (void *)domain_evaluations(d)
           : strcmp(name, JOBS_LENT) == 0            ? (void *)d->jobs
           : strcmp(name, CLIENT_SETTINGS_LENT) == 0 ? (void *)d->client_settings
           : strcmp(name, RUNS_DIR_LENT) == 0     ? (void *)(uintptr_t)d->config->runs_dir
           : strcmp(name, SKILL_GRADER_LENT) == 0 ? (void *)(uintptr_t)&gpu_skill_grader
           : strcmp(name, KERNEL_VALIDATOR_LENT) == 0
               ? (void *)(uintptr_t)&gpu_kernel_validator
               : NULL;
}

static json_t *find_job(void *data, const char *id, struct call **live) {
    struct daemon *d = data;
    return jobs_status(d->jobs, id, live);
}

static json_t *strings_json(char *const *list) {
    json_t *array = json_array();
    for (; *list; list++) {
        json_array_append_new(array, json_clean_z(*list));
    }
    return array;
}

static json_t *status_of(struct daemon *d) {
    autojson *kernels = gpu_status(domain_gpu(d));
    json_t *missing = json_array();
    json_array_extend(missing, json_object_get(kernels, "missing"));
    json_object_del(kernels, "missing");
    if (jobs_problem(d->jobs)) {
        json_array_append_new(missing,
                              json_pack("{s:o,s:s}", "what",
                                        json_clean_z(jobs_problem(d->jobs)), "hint",
                                        "jobs live in this process only; make the state "
                                        "folder writable"));
    }
    return json_pack("{s:s,s:i,s:f,s:{s:o,s:o},s:o,s:{s:O,s:O},s:O,s:o,s:o,s:o}",
                     "version", UPSKILLD_VERSION, "pid", (int)getpid(), "uptime_s",
                     (double)(clock_ms() - d->started_ms) / 1000, "client", "name",
                     json_clean_z(d->client), "version", json_clean_z(d->client_version),
                     "roots", strings_json(d->roots), "configuration", "files",
                     d->config->files, "warnings", d->config->warnings, "kernels",
                     kernels, "skills", skills_status(domain_skills(d)), "models",
                     evaluation_room_status(domain_evaluations(d)), "missing", missing);
}

static void status_start(struct call *call, const json_t *) {
    call_reply(call, status_of(call_origin(call)->host));
}

static const struct operation status_operation = {DAEMON_STATUS_OPERATION,
                                                  .start = status_start};

/* --- the end --- */

static void close_handle(uv_handle_t *handle) {
    if (!uv_is_closing(handle)) {
        uv_close(handle, NULL);
    }
}

static void on_limit(uv_timer_t *timer) {
    struct daemon *d = container_of(timer, struct daemon, limit);
    if (d->session && session_is_flushing(d->session)) { /* which has a separate limit */
        uv_timer_start(timer, on_limit, FLUSH_LOOK_MS, 0);
        return;
    }
    log_error("handles did not close in %d ms", STOP_LIMIT_MS);
    _exit(d->exit_code ? d->exit_code : 1);
}

static void on_parse_limit(uv_timer_t *timer) {
    struct daemon *d = container_of(timer, struct daemon, limit);
    if (rpc_parses_running() && !(d->session && session_is_flushing(d->session))) {
        _exit(d->exit_code);
    }
    uv_timer_start(timer, on_limit, STOP_LIMIT_MS - PARSE_LIMIT_MS, 0);
}

static void complain_of_reader(int status) {
    if (status == -EPIPE) {
        log_error("standard output was closed: answers were lost");
    } else if (status == -ETIMEDOUT) {
        log_error("the reader of standard output took nothing: answers were lost");
    } else if (status == -ENOBUFS) {
        log_error("more than %u MiB of answers wait for the reader of standard output: "
                  "answers were lost",
                  STDIO_LINK_HARD_LIMIT >> 20);
    } else {
        log_error("standard input or output broke: %s", uv_strerror(status));
    }
}

static void session_closed(int status, void *data) {
    struct daemon *d = data;
    d->session = NULL;
    if (status < 0) {
        complain_of_reader(status);
        d->exit_code = d->exit_code ? d->exit_code : 1;
    }
}

static void on_stop(uv_idle_t *idle) {
    struct daemon *d = container_of(idle, struct daemon, stopper);
    uv_idle_stop(idle);
    session_close(d->session, d->waits ? patient : hurried, session_closed, d);
    jobs_free(d->jobs);
    d->jobs = NULL;
    if (d->gpu) {
        gpu_close(d->gpu, NULL, NULL);
    }
    d->skills_ended = true;
    if (d->evaluations) {
        evaluation_room_close(take(d->evaluations));
    }
    if (d->skills) {
        skills_close(take(d->skills), NULL, NULL);
    }
    close_handle((uv_handle_t *)idle);
    uv_timer_start(&d->limit, on_parse_limit, PARSE_LIMIT_MS, 0);
    uv_unref((uv_handle_t *)&d->limit);
}

static void daemon_stop(struct daemon *d, const char *reason, int exit_code) {
    if (d->state == DAEMON_STOPPING) {
        return;
    }
    d->state = DAEMON_STOPPING;
    d->exit_code = exit_code;
    log_info("state=stopping reason=%s", reason);
    if (d->gpu) {
        gpu_kill(d->gpu);
    }
    uv_idle_start(&d->stopper, on_stop);
}

static void on_session_ended(void *data, int exit_code, bool waits) {
    struct daemon *d = data;
    d->waits = d->state == DAEMON_STOPPING ? d->waits : waits;
    daemon_stop(d, "client", exit_code);
}

static void on_quit(void *data, int exit_code) {
    on_session_ended(data, exit_code, false);
}

static void on_signal(uv_signal_t *handle, int number) {
    struct daemon *d = handle->data;
    if (d->signalled) { /* the end of input alone makes the first signal no second one */
        _exit(128 + number);
    }
    d->signalled = true;
    d->waits = false;
    if (d->session) {
        session_hurry(d->session, hurried);
    }
    daemon_stop(d, strsignal(number), 0);
}

/* --- the beginning --- */

static void init_handles(struct daemon *d) {
    uv_idle_init(&d->loop, &d->stopper);
    uv_timer_init(&d->loop, &d->limit);
    for (size_t i = 0; i < ARRAY_LEN(stop_signals); i++) {
        uv_signal_init(&d->loop, &d->signals[i]);
        d->signals[i].data = d;
        uv_signal_start(&d->signals[i], on_signal, stop_signals[i]);
        uv_unref((uv_handle_t *)&d->signals[i]);
    }
}

static void init_face(struct daemon *d) {
    d->settings = face_settings_default;
    d->settings.tool_wait_ms = 1000 * d->config->tool_wait_s;
    d->settings.debounce_ms = d->config->debounce_ms;
    d->settings.structured = d->config->structured;
    d->client = xstrdup("");
    d->client_version = xstrdup("");
    set_roots(d, NULL);
    d->origin.loop = &d->loop;
    d->origin.host = d;
    d->origin.client = d->client;
    d->origin.lend = lend;
    d->jobs = jobs_new(NULL);
}

static int open_session(struct daemon *d, int in_fd, int out_fd, struct err *err) {
    struct face_host host = {
        .tables = &d->tables,
        .settings = &d->settings,
        .origin = &d->origin,
        .name = "upskilld",
        .title = "upskilld: skills and CUDA kernels",
        .version = UPSKILLD_VERSION,
        .instructions = instructions,
        .job = find_job,
        .set_roots = set_roots,
        .set_settings = set_settings,
        .set_client = set_client,
        .set_agent = set_agent,
        .quit = on_quit,
        .data = d,
    };
    return session_new(&d->loop, in_fd, out_fd, &host, on_session_ended, &d->session,
                       err);
}

static void finish(struct daemon *d) {
    if (uv_loop_close(&d->loop) != 0) {
        log_error("the event loop is not empty");
        uv_print_all_handles(&d->loop, stderr);
        d->exit_code = d->exit_code ? d->exit_code : 1;
    }
    tables_finish(&d->tables);
    skill_serving_free(d->serving);
    strings_free(d->roots);
    free(d->client);
    free(d->client_version);
    json_decref(d->client_settings);
}

int daemon_run(const struct config *config, int in_fd, int out_fd, struct err *err) {
    struct daemon d = {.config = config, .started_ms = clock_ms()};
    d.serving = skill_serving_new(&d.origin);
    int rc = tables_init(&d.tables, d.serving, &status_operation, config->tools, err);
    if (rc < 0) {
        skill_serving_free(d.serving);
        return rc;
    }
    uv_loop_init(&d.loop);
    init_handles(&d);
    init_face(&d);
    rc = open_session(&d, in_fd, out_fd, err);
    if (rc < 0) {
        return rc; /* the process ends; nothing was started */
    }
    uv_run(&d.loop, UV_RUN_DEFAULT);
    close_handle((uv_handle_t *)&d.limit);
    for (size_t i = 0; i < ARRAY_LEN(stop_signals); i++) { /* to the last moment */
        close_handle((uv_handle_t *)&d.signals[i]);
    }
    uv_run(&d.loop, UV_RUN_DEFAULT);
    finish(&d);
    return d.exit_code;
}
