#include "worker_process.h"

#include "base/fd_channel.h"
#include "base/shared_bytes.h"
#include "gpu/compile/compile.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void child_exec(const char *const *env, int in, int out, int channel) {
    dup2(in, 0);
    dup2(out, 1);
    dup2(channel, FD_CHANNEL_INHERITED);
    (void)fcntl(FD_CHANNEL_INHERITED, F_SETFD, 0);
    putenv((char[]){COMPILE_CHANNEL_ENV});
    for (; env && *env; env++) {
        if (strchr(*env, '=')) {
            putenv((char *)(uintptr_t)*env);
        } else {
            unsetenv(*env);
        }
    }
    const char *path = getenv("UPSKILLD_WORKER");
    execl(path ? path : "upskilld-worker", "upskilld-worker", (char *)NULL);
    _exit(127);
}

void worker_spawn(struct worker_process *w, const char *const *env) {
    int to[2], from[2], channel[2];
    cr_assert(!pipe2(to, O_CLOEXEC) && !pipe2(from, O_CLOEXEC) &&
              !fd_channel_pair(channel));
    *w = (struct worker_process){
        .in = to[1], .out = fdopen(from[0], "r"), .channel = channel[0]};
    w->pid = fork();
    if (w->pid == 0) {
        child_exec(env, to[0], from[1], channel[1]);
    }
    close(to[0]);
    close(from[1]);
    close(channel[1]);
    signal(SIGPIPE, SIG_IGN);
    json_t *first = worker_receive(w);
    cr_assert(first, "the worker did not start: is UPSKILLD_WORKER set?");
    cr_assert_str_eq(json_string_value(json_object_get(first, "method")), "worker/hello");
    w->hello = json_incref(json_object_get(first, "params"));
    json_decref(first);
}

void worker_need_compiler(const struct worker_process *w) {
    if (!json_array_size(json_object_get(w->hello, "toolkits"))) {
        fprintf(stderr, "SKIPPED: no CUDA compiler on this machine; run ./setup\n");
        cr_skip_test("no CUDA compiler on this machine");
    }
}

/* attached: NULL, or freed. */
static void send_text(struct worker_process *w, json_t *message, char *attached) {
    autofree char *text = json_dumps(message, JSON_COMPACT);
    autofree char *all =
        attached ? xasprintf("Content-Length: %zu\nAttachment-Length: %zu\n\n%s%s",
                             strlen(text), strlen(attached), text, attached)
                 : xasprintf("%s\n", text);
    size_t len = strlen(all);
    for (size_t at = 0; at < len;) {
        ssize_t n = write(w->in, all + at, len - at);
        cr_assert(n > 0);
        at += (size_t)n;
    }
    free(attached);
    json_decref(message);
}

/* What the daemon attaches to params, taken out of them; NULL. */
static char *attachment_take(const char *method, json_t *params) {
    if (!strcmp(method, "compile")) {
        const json_t *sources = json_object_get(params, "sources");
        char *text = sources ? json_dumps(sources, JSON_COMPACT) : NULL;
        json_object_del(params, "sources");
        return text;
    }
    autojson *request = json_copy(params);
    if (!strcmp(method, "validate")) {
        json_t *small = json_object();
        json_object_set(small, "seed", json_object_get(params, "seed"));
        json_object_set(small, "limits", json_object_get(params, "limits"));
        json_object_clear(params);
        json_object_update(params, small);
        json_decref(small);
        json_object_del(request, "seed");
        json_object_del(request, "limits");
        return json_dumps(request, JSON_COMPACT);
    }
    return NULL;
}

int worker_send_bytes(struct worker_process *w, const char *method, json_t *params,
                      char *attached) {
    int id = ++w->last_id;
    send_text(w,
              json_pack("{s:s,s:i,s:s,s:o}", "jsonrpc", "2.0", "id", id, "method", method,
                        "params", params),
              attached);
    return id;
}

int worker_send(struct worker_process *w, const char *method, json_t *params) {
    char *attached = attachment_take(method, params);
    return worker_send_bytes(w, method, params, attached);
}

int worker_send_parcel(struct worker_process *w, const char *method, json_t *params) {
    autofree char *text = attachment_take(method, params);
    autofd int fd = bytes_seal(text, strlen(text));
    json_object_set_new(params, "parcel", json_integer(++w->parcels));
    cr_assert_eq(fd_parcel_send(w->channel, w->parcels, &fd, 1), 0);
    return worker_send_bytes(w, method, params, NULL);
}

void worker_notify(struct worker_process *w, const char *method, json_t *params) {
    send_text(
        w,
        json_pack("{s:s,s:s,s:o}", "jsonrpc", "2.0", "method", method, "params", params),
        NULL);
}

static json_t *read_json(struct worker_process *w, size_t len) {
    autofree char *text = xmalloc(len + 1);
    cr_assert_eq(fread(text, 1, len, w->out), len);
    json_t *json = json_loadb(text, len, 0, NULL);
    cr_assert(json, "not JSON: %.*s", len < 200 ? (int)len : 200, text);
    return json;
}

json_t *worker_receive(struct worker_process *w) {
    autofree char *line = NULL;
    size_t room = 0, len = 0, attached = 0;
    json_t *message = NULL;
    while (getline(&line, &room, w->out) > 0 && *line != '\r') {
        if (*line == '{') {
            message = json_loads(line, 0, NULL);
            cr_assert(message, "not JSON: %.200s", line);
            return message;
        }
        sscanf(line, "Content-Length: %zu", &len);
        sscanf(line, "Attachment-Length: %zu", &attached);
    }
    message = len ? read_json(w, len) : NULL;
    if (attached) {
        json_t *result = read_json(w, attached);
        json_object_update(result, json_object_get(message, "result"));
        json_object_set_new(message, "result", result);
    }
    return message;
}

json_t *worker_call(struct worker_process *w, const char *method, json_t *params) {
    return worker_answer(w, worker_send(w, method, params));
}

json_t *worker_answer(struct worker_process *w, int id) {
    for (;;) {
        json_t *message = worker_receive(w);
        cr_assert(message, "the worker ended before it answered");
        if (json_integer_value(json_object_get(message, "id")) == id) {
            return message;
        }
        json_decref(message);
    }
}

int worker_end(struct worker_process *w) {
    int status = 0;
    close(w->in);
    close(w->channel);
    cr_assert_eq(waitpid(w->pid, &status, 0), w->pid);
    fclose(w->out);
    json_decref(w->hello);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* Fields of /proc/PID/stat after the name in parentheses. */
static bool process_stat(pid_t pid, char *ret_state, int *ret_parent) {
    char path[64], line[512] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *f = fopen(path, "re");
    if (!f) {
        return false;
    }
    const char *end = fgets(line, sizeof line, f) ? strrchr(line, ')') : NULL;
    fclose(f);
    return end && sscanf(end + 1, " %c %d", ret_state, ret_parent) == 2;
}

size_t worker_children(const struct worker_process *w, pid_t *pids, size_t max) {
    size_t n = 0;
    DIR *proc = opendir("/proc");
    for (struct dirent *entry; proc && (entry = readdir(proc));) {
        char state;
        int parent;
        pid_t pid = atoi(entry->d_name);
        if (pid > 0 && n < max && process_stat(pid, &state, &parent) &&
            parent == w->pid && state != 'Z') {
            pids[n++] = pid;
        }
    }
    closedir(proc);
    return n;
}

bool process_is_gone(pid_t pid) {
    char state;
    int parent;
    return !process_stat(pid, &state, &parent) || state == 'Z' || state == 'X';
}

json_t *compile_params(const char *text) {
    return json_pack("{s:{s:[{s:s,s:s,s:s}]},s:[],s:{s:s},s:n,s:{}}", "sources", "files",
                     "path", "r0/k.cu", "display", "k.cu", "text", text, "include_dirs",
                     "options", "arch", "sm_90a", "prefix", "limits");
}

void compile_add_file(json_t *params, const char *path, const char *text) {
    json_t *files = json_object_get(json_object_get(params, "sources"), "files");
    json_array_append_new(files, json_pack("{s:s,s:s,s:s}", "path", path, "display",
                                           path + 3, "text", text));
}

json_t *compile_result(struct worker_process *w, json_t *params) {
    json_t *response = worker_call(w, "compile", params);
    json_t *result = json_incref(json_object_get(response, "result"));
    if (!result) {
        char *text = json_dumps(response, 0);
        cr_assert_fail("compile failed: %.500s", text);
    }
    json_decref(response);
    return result;
}

const char *outcome_of(const json_t *result) {
    return json_string_value(json_object_get(result, "outcome"));
}
