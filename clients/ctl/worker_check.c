/* upskillctl worker check: a compilation and a run on one worker, and what was learnt. */
#include "base/find.h"
#include "clients/ctl/worker_commands.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/file.h"
#include "clients/ctl/connection.h"
#include "clients/ctl/texts.h"

#include <fcntl.h>

#define WARM_CHECKS 5
#define DAEMON_ARGS 64

struct worker_trial {
    const struct worker_command *command;
    bool compiles_here; /* the worker has no compiler: this machine's has */
    struct connection *connection;
    char folder[64];
    const char *name;
    const json_t *argv; /* borrowed, or of `words` */
    json_t *words;
    json_t *report;
    bool good;
};

/* --- a daemon that knows this worker alone, or with it this machine's --- */

static const json_t *configured(const json_t *status, const char *name) {
    const json_t *kernels = json_object_get(status, "kernels");
    return json_find(json_object_get(kernels, "workers"), worker,
                     json_says(worker, "name", name));
}

static int choose_worker(struct worker_trial *t, const json_t *status, struct err *err) {
    const struct worker_command *c = t->command;
    if (c->count < 2) {
        return err_set(err, -EINVAL,
                       "worker check: give a name from the configuration, or a command "
                       "line");
    }
    const json_t *known = configured(status, c->words[1]);
    if (c->count == 2 && known) {
        t->name = c->words[1];
        t->argv = json_object_get(known, "argv");
        return 0;
    }
    if (c->count == 2 && !strchr(c->words[1], '/')) {
        return err_set(err, -ENOENT,
                       "no worker is called \"%s\" (upskillctl status lists them)",
                       c->words[1]);
    }
    t->words = json_array();
    for (int i = 1; i < c->count; i++) {
        json_array_append_new(t->words, json_text(c->words[i], strlen(c->words[i])));
    }
    t->argv = t->words;
    t->name = "checked";
    return 0;
}

/* JSON is YAML. */
static int write_config(struct worker_trial *t, struct err *err) {
    autojson *config = json_pack("{s:b, s:[{s:s, s:O, s:i}]}", "local_worker",
                                 t->compiles_here, "workers", "name", t->name, "argv",
                                 (json_t *)(uintptr_t)t->argv, "start_timeout_s", 120);
    autobuf text = BUF_INIT(64u << 10);
    strcpy(t->folder, "/tmp/upskillctl-XXXXXX");
    if (!mkdtemp(t->folder) || !config || json_write(&text, config) < 0) {
        return err_set(err, -EIO, "a folder in /tmp: %s", strerror(errno));
    }
    autofree char *path = path_join(t->folder, "config.yaml");
    autofd int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    int rc = fd < 0 ? -errno : file_write_all(fd, text.data, text.len);
    return rc < 0 ? err_set(err, rc, "%s: %s", path, strerror(-rc)) : 0;
}

static void close_daemon(struct worker_trial *t) {
    if (t->connection) {
        connection_close(t->connection);
        t->connection = NULL;
    }
    if (t->folder[0]) {
        (void)dir_remove(t->folder, NULL);
        t->folder[0] = 0;
    }
}

static int open_daemon(struct worker_trial *t, struct err *err) {
    const char *args[DAEMON_ARGS + 3] = {0};
    int n = 0;
    for (const char *const *a = t->command->daemon_args; *a && n < DAEMON_ARGS; a++) {
        args[n++] = *a;
    }
    int rc = write_config(t, err);
    autofree char *path = path_join(t->folder, "config.yaml");
    args[n++] = "--config";
    args[n++] = path;
    struct connection_options options = {.daemon_args = args,
                                         .keep_stderr = t->command->keep_stderr};
    return rc < 0 ? rc : connection_open(&options, &t->connection, err);
}

/* --- what is asked --- */

/* The result (new reference), or NULL after the error went into the report. */
static json_t *ask(struct worker_trial *t, const char *method, json_t *params,
                   double *ret_ms) {
    struct err err = {0};
    json_t *result = NULL;
    autojson *error = NULL;
    uint64_t start = clock_us();
    int rc = connection_call(t->connection, method, params, &result, &error, &err);
    *ret_ms = (double)(clock_us() - start) / 1000;
    if (rc == 0) {
        return result;
    }
    t->good = false;
    const char *why = rc > 0 ? json_get_string(error, "message", "?") : err.msg;
    json_object_set_new(t->report, "error", json_clean_z(why));
    return NULL;
}

/* One word a compilation, so that no cache answers. */
static json_t *check_params(int number) {
    autofree char *source = xasprintf(worker_kernel, number);
    return json_pack("{s:s}", "source", source);
}

static json_t *validate_params(const char *backend) {
    autojson *spec = json_loads(worker_spec, 0, NULL);
    json_t *params = check_params(3);
    json_object_update(params, spec);
    json_object_set_new(params, "backend", json_string(backend));
    return params;
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void note_ms(struct worker_trial *t, const char *key, double ms) {
    json_object_set_new(t->report, key, json_real((double)(long)(ms * 10) / 10));
}

static bool ask_checks(struct worker_trial *t) {
    double first, warm[WARM_CHECKS];
    autojson *result = ask(t, "kernel/check", check_params(0), &first);
    if (!result) {
        return false;
    }
    t->good = json_get_bool(result, "ok", 0);
    note_ms(t, "first_check_ms", first);
    json_object_set(t->report, "compiler", json_object_get(result, "compiler"));
    json_object_set(t->report, "confinement", json_object_get(result, "confinement"));
    for (int i = 0; i < WARM_CHECKS; i++) {
        autojson *next = ask(t, "kernel/check", check_params(i + 1), &warm[i]);
        if (!next) {
            return false;
        }
    }
    qsort(warm, WARM_CHECKS, sizeof *warm, compare);
    note_ms(t, "warm_check_ms", warm[WARM_CHECKS / 2]);
    return true;
}

static const char *run_key(const char *backend) {
    return strcmp(backend, "cuda") ? "run_cpu" : "run_gpu";
}

static void ask_validation(struct worker_trial *t, const char *backend) {
    double ms;
    autojson *result = ask(t, "kernel/validate", validate_params(backend), &ms);
    if (!result) {
        return;
    }
    const char *verdict = json_get_string(result, "verdict", "?");
    t->good = t->good && strcmp(verdict, "pass") == 0;
    json_t *told =
        json_pack("{s:O, s:s, s:f}", "backend", json_object_get(result, "backend"),
                  "verdict", verdict, "ms", (double)(long)(ms * 10) / 10);
    const json_t *worker = json_object_get(result, "worker");
    json_object_set_new(told, "worker", json_string(json_get_string(worker, "name", "")));
    json_object_set_new(t->report, run_key(backend), told);
}

static void note_worker(struct worker_trial *t) {
    double ms;
    autojson *status = ask(t, "daemon/status", NULL, &ms);
    const json_t *kernels = json_object_get(status, "kernels");
    const json_t *worker = json_array_get(json_object_get(kernels, "workers"), 0);
    static const char *const keys[] = {"host", "greeted_ms", "cuda", "gpus",
                                       "last_error"};
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        json_t *value = json_object_get(worker, keys[i]);
        if (value) {
            json_object_set(t->report, keys[i], value);
        }
    }
    static const char *const told[] = {"version", "protocol", "machine", "toolkits"};
    for (size_t i = 0; i < ARRAY_LEN(told); i++) {
        json_t *value = json_object_get(json_object_get(worker, "hello"), told[i]);
        if (value) {
            json_object_set(t->report, told[i], value);
        }
    }
}

static void refuse(struct worker_trial *t, const char *why) {
    t->good = false;
    json_object_set_new(t->report, "error", json_clean_z(why));
}

/* It told of itself, and of no toolkit. */
static bool lacks_compiler(const struct worker_trial *t) {
    const json_t *toolkits = json_object_get(t->report, "toolkits");
    return json_object_get(t->report, "host") && json_is_array(toolkits) &&
           !json_array_size(toolkits);
}

/* A GPU that is nearer is preferred: then nothing was learnt of this worker. */
static void expect_worker(struct worker_trial *t) {
    const char *ran =
        json_get_string(json_object_get(t->report, "run_gpu"), "worker", "");
    if (t->good && strcmp(ran, t->name) != 0) {
        autofree char *why = xasprintf(
            "the kernel ran on the worker \"%s\": this machine has a GPU itself", ran);
        refuse(t, why);
    }
}

/* What it is there for when others compile: kernels on its GPU, compiled here. */
static void try_without_compiler(struct worker_trial *t) {
    struct err err = {0};
    json_object_del(t->report, "error");
    if (!json_get_bool(t->report, "cuda", 0)) {
        refuse(t,
               "the worker has no CUDA compiler and no NVIDIA driver: it can do nothing");
        return;
    }
    close_daemon(t);
    t->compiles_here = t->good = true;
    json_object_set_new(t->report, "compiled_here", json_true());
    if (open_daemon(t, &err) < 0) {
        refuse(t, err.msg);
        return;
    }
    ask_validation(t, "cuda");
    expect_worker(t);
}

static void try_worker(struct worker_trial *t) {
    bool compiles = ask_checks(t);
    note_worker(t);
    if (!compiles && lacks_compiler(t)) {
        try_without_compiler(t);
        return;
    }
    if (compiles) {
        ask_validation(t, "emulator");
    }
    if (compiles && json_get_bool(t->report, "cuda", 0)) {
        ask_validation(t, "cuda");
        note_worker(t); /* with the devices */
    }
}

/* --- what is shown --- */

#define COLUMN 14
#define RUN(member, label)                                                               \
    "[" BOLD label END "\t{" member ".verdict} on {" member ".backend.device|?} in "       \
    "{" member ".ms%.0f} ms\n]"
static const char report_words[] =
    "[" BOLD "greeting" END "\t{host} ({machine|?}), upskilld-worker {version|?}, protocol "
    "{protocol|0}, after {greeted_ms|0} ms\n]"
    "[{gpus:" BOLD "GPU" END "\t{name|?}\n}|" BOLD "GPU" END
    "\tnone that CUDA's driver knows{?host}\n]"
    "[" BOLD "compiler" END "\t{?compiler}{compiler.name|?} {compiler.version|?}, first check "
    "{first_check_ms%.0f} ms, then {warm_check_ms%.0f} ms\n"
    "|" BOLD "compiler" END "\tnone there: kernels for it are compiled here{?compiled_here}\n]"
    RUN("run_cpu", "run (CPU)") RUN("run_gpu", "run (GPU)");

static int show(const struct worker_trial *t) {
    const struct terminal *terminal = t->command->terminal;
    const char *error = json_get_string(t->report, "error", NULL);
    if (t->command->json) {
        autobuf text = BUF_INIT(1u << 20);
        json_write(&text, t->report);
        puts(text.data);
    } else {
        terminal_words(terminal, COLUMN, report_words, t->report);
        if (error) {
            terminal_error(terminal, "%s", error);
        }
    }
    return t->good ? 0 : json_object_get(t->report, "host") ? 1 : 2;
}

int worker_check(const struct worker_command *command, const json_t *status) {
    struct worker_trial t = {.command = command, .report = json_object()};
    struct err err = {0};
    int code = 2;
    int rc = choose_worker(&t, status, &err);
    rc = rc < 0 ? rc : open_daemon(&t, &err);
    if (rc < 0) {
        terminal_error(command->terminal, "%s", err.msg);
    } else {
        json_object_set_new(t.report, "name", json_clean_z(t.name));
        try_worker(&t);
        json_object_set_new(t.report, "ok", json_boolean(t.good));
        code = show(&t);
    }
    close_daemon(&t);
    json_decref(t.words);
    json_decref(t.report);
    return code;
}
