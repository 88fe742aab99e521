/* Parents, seen by the supervisor: started, asked to fork, given up, chosen by prefix. */
#include "base/find.h"
#include "gpu/worker/worker_internal.h"

#include "base/clock.h"
#include "base/strings.h"
#include "gpu/worker/zygote.h"

#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#define LOG_MODULE "worker"
#include "base/log.h"

static void parent_clear(struct parent *p) {
    *p = (struct parent){.socket = -1};
    p->asked_end = &p->asked;
}

void parents_init(struct worker *w) {
    for (size_t i = 0; i < ARRAY_LEN(w->parents); i++) {
        w->parents[i] = i ? &w->prefixes[i - 1] : &w->plain;
        parent_clear(w->parents[i]);
    }
}

static bool packet_pair(int ends[2]) {
    return !socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends);
}

/* --- asking --- */

static int parent_ask(struct parent *p, enum zygote_request request, int fd,
                      struct worker_child *child, struct parent *parent) {
    int r = zygote_send(p->socket, request, fd);
    if (r < 0) {
        return r;
    }
    struct asked *a = xcalloc(1, sizeof *a);
    a->child = child;
    a->parent = parent;
    *p->asked_end = a;
    p->asked_end = &a->next;
    return 0;
}

static void spare_ended(void *owner, struct worker_child *child) {
    struct parent *p = owner;
    p->spare = p->spare == child ? NULL : p->spare;
}

static const struct worker_child_events spare_events = {.ended = spare_ended};

static struct worker_child *parent_fork(struct worker *w, struct parent *p) {
    int far_end;
    struct worker_child *c = worker_child_new(w, p, &far_end);
    if (!c) {
        return NULL;
    }
    worker_child_own(c, &spare_events, p);
    int r = parent_ask(p, ZYGOTE_CHILD, far_end, c, NULL);
    close(far_end);
    if (r < 0) {
        worker_child_pid_known(w, c, -1);
        return NULL;
    }
    return c;
}

struct worker_child *parent_take_child(struct worker *w, struct parent *p) {
    p->used_ms = clock_ms();
    struct worker_child *spare = take(p->spare);
    return spare && !spare->eof ? spare : parent_fork(w, p);
}

void parent_want_spare(struct worker *w, struct parent *p) {
    if (p->state == PARENT_READY && !p->spare) {
        p->spare = parent_fork(w, p);
    }
}

/* --- ends --- */

static void asked_fail(struct worker *w, struct asked *a) {
    if (a->child) {
        worker_child_pid_known(w, a->child, -1);
    }
    if (a->parent) {
        struct parent *p = a->parent;
        close(p->socket);
        parent_clear(p);
        w->parent_changed(w, p, -EPIPE, "the compiler's parent process ended");
    }
    free(a);
}

/* The process is gone, or as good as: forget it, let what waits for it find another way.
 */
static void parent_forget(struct worker *w, struct parent *p, int status,
                          const char *why) {
    struct asked *asked = p->asked;
    if (p->socket >= 0) {
        close(p->socket);
    }
    if (p->spare) {
        worker_child_leave(p->spare);
    }
    for (struct worker_child *c = w->children; c; c = c->next) {
        c->parent = c->parent == p ? NULL : c->parent;
    }
    parent_clear(p);
    while (asked) {
        struct asked *next = asked->next;
        asked_fail(w, asked);
        asked = next;
    }
    w->parent_changed(w, p, status, why);
}

/* Its process, where the pid is still to come, is killed when it does. */
static void asked_unwant(struct worker *w, const struct parent *p) {
    for (struct asked *a = w->plain.asked; a; a = a->next) {
        a->parent = a->parent == p ? NULL : a->parent;
    }
}

static void parent_end(struct worker *w, struct parent *p, int status, const char *why) {
    if (p->pid > 0) {
        (void)kill(p->pid, SIGKILL);
    }
    asked_unwant(w, p);
    parent_forget(w, p, status, why);
}

static void unusable_add(struct worker *w, const char *key) {
    if (!w->unusable) {
        w->unusable = xcalloc(WORKER_MAX_UNUSABLE, sizeof *w->unusable);
    }
    memcpy(w->unusable[w->unusable_next], key, HASH_HEX_SIZE);
    w->unusable_next = (w->unusable_next + 1) % WORKER_MAX_UNUSABLE;
    if (w->unusable_count < WORKER_MAX_UNUSABLE) {
        w->unusable_count++;
    }
}

static bool is_unusable(const struct worker *w, const char *key) {
    return any_of(i, 0, w->unusable_count, !strcmp(w->unusable[i], key));
}

static void parent_fail(struct worker *w, struct parent *p, int status, const char *why) {
    if (p->key[0] && p->state == PARENT_STARTING) {
        unusable_add(w, p->key);
    }
    log_info("parent ended pid=%d reason=%s", p->pid, why);
    parent_end(w, p, status, why);
}

bool parents_reaped(struct worker *w, int pid) {
    for (size_t i = 0; i < ARRAY_LEN(w->parents); i++) {
        if (w->parents[i]->pid == pid && w->parents[i]->state != PARENT_NONE) {
            w->parents[i]->pid = 0;
            parent_fail(w, w->parents[i], -EPIPE, "the compiler's parent process ended");
            return true;
        }
    }
    return false;
}

void parents_kill(struct worker *w) {
    for (size_t i = 0; i < ARRAY_LEN(w->parents); i++) {
        if (w->parents[i]->pid > 0) {
            (void)kill(w->parents[i]->pid, SIGKILL);
        }
        if (w->parents[i]->socket >= 0) {
            close(w->parents[i]->socket);
            w->parents[i]->socket = -1;
        }
    }
}

/* --- beginnings --- */

/* Signals of the supervisor's are blocked until zygote_run undoes that. */
static int plain_start(struct worker *w) {
    int ends[2];
    if (!packet_pair(ends)) {
        return -errno;
    }
    int pid = fork();
    if (pid == 0) {
        zygote_run(w->toolkits, w->toolkit_count, w->pid, ends[1]);
    }
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return -EAGAIN;
    }
    w->plain.state = PARENT_STARTING;
    w->plain.pid = pid;
    w->plain.socket = ends[0];
    w->plain.deadline_ms = clock_ms() + PARENT_START_MS;
    return 0;
}

struct buf parent_job_head(const char *folder, const struct compile_run *run) {
    return worker_child_head(json_pack("{s:o, s:O}", "folder",
                                       json_text(folder, strlen(folder)), "job",
                                       rpc_call_params(run->call)));
}

/* Options that change what the front end sees; the optimiser's do not matter. */
static void prefix_key(const struct worker *w, const struct compile_run *run,
                       char ret[static HASH_HEX_SIZE]) {
    struct compile_options options = run->job.options;
    options.quick = false;
    autoptr(strings_free) char **argv = compile_options_argv(&options);
    struct hash h;
    hash_init(&h);
    hash_add_field(&h, w->version, strlen(w->version));
    hash_add_field(&h, run->job.prefix, strlen(run->job.prefix));
    for (char **word = argv; *word; word++) {
        hash_add_field(&h, *word, strlen(*word));
    }
    for (char **dir = run->job.include_dirs; *dir; dir++) {
        hash_add_field(&h, *dir, strlen(*dir));
    }
    hash_hex(&h, ret);
}

/* A free place, or that of the least recently used ready parent. One that is starting is
 * kept: a run may wait for it, and two at a time are enough. */
static struct parent *prefix_place(struct worker *w) {
    struct parent *oldest = NULL;
    list_each(i, p, w->prefixes, WORKER_PREFIXES) {
        if (p->state == PARENT_NONE) {
            return p;
        }
        if (p->state == PARENT_READY && (!oldest || p->used_ms < oldest->used_ms)) {
            oldest = p;
        }
    }
    if (oldest) {
        parent_end(w, oldest, -ECANCELED, "another precompiled header took its place");
    }
    return oldest;
}

static bool prefix_start(struct worker *w, const struct compile_run *run,
                         const char *key) {
    int ends[2];
    autobuf head = parent_job_head(w->folder, run);
    struct parent *p = head.len <= ZYGOTE_MAX_PREFIX_JOB ? prefix_place(w) : NULL;
    if (!p || !packet_pair(ends)) {
        return false;
    }
    int r = parent_ask(&w->plain, ZYGOTE_PREFIX, ends[1], NULL, p);
    close(ends[1]);
    if (r < 0 || send(ends[0], head.data, head.len, MSG_NOSIGNAL | MSG_DONTWAIT) !=
                     (ssize_t)head.len) {
        asked_unwant(w, p);
        close(ends[0]);
        return false;
    }
    p->state = PARENT_STARTING;
    p->socket = ends[0];
    p->used_ms = clock_ms();
    p->deadline_ms = p->used_ms + run->job.limits.wall_ms;
    memcpy(p->key, key, HASH_HEX_SIZE);
    return true;
}

/* Whether a core is free besides the one of the compile itself. The kernel's count of
 * runnable threads includes the one that reads it. */
static bool is_core_free(const struct worker *w) {
    char line[128] = "";
    FILE *f = fopen("/proc/loadavg", "re"); /* "0.15 0.03 0.01 2/112 8196": 2 of 112 */
    const char *at = f && fgets(line, sizeof line, f) ? strchr(line, '/') : NULL;
    if (f) {
        fclose(f);
    }
    while (at && at > line && at[-1] != ' ') {
        at--;
    }
    return (at ? strtoul(at, NULL, 10) : 1) + 1 <= w->cores;
}

static struct parent *prefix_find(struct worker *w, const char *key) {
    return list_find(one, w->prefixes, WORKER_PREFIXES,
                     one->state != PARENT_NONE && !strcmp(one->key, key));
}

/* The first compile with a prefix runs plainly; the parent for the next ones is made
 * beside it where a core is free, else after it, so that it costs the first one nothing.
 * Whoever comes meanwhile waits: hardly longer than compiling plainly beside the making.
 */
static struct parent *prefix_choose(struct worker *w, struct compile_run *run) {
    char key[HASH_HEX_SIZE];
    if (!run->job.prefix || !run->job.prefix[0] || run->plain_only) {
        return NULL;
    }
    prefix_key(w, run, key);
    struct parent *p = prefix_find(w, key);
    if (p || is_unusable(w, key)) {
        return p;
    }
    if (is_core_free(w)) {
        run->makes_prefix = prefix_start(w, run, key);
    } else {
        run->prefix_later = true;
    }
    return NULL;
}

void parent_plain_ended(struct worker *w, struct compile_run *run) {
    char key[HASH_HEX_SIZE];
    if (!run->prefix_later || w->plain.state != PARENT_READY) {
        return;
    }
    prefix_key(w, run, key);
    if (!prefix_find(w, key)) {
        run->makes_prefix = prefix_start(w, run, key);
    }
}

struct parent *parent_choose(struct worker *w, struct compile_run *run,
                             const char **why) {
    if (!w->toolkit_count) {
        *why = "No CUDA compiler was found on this machine.";
        return NULL;
    }
    if (w->plain.state == PARENT_NONE && plain_start(w) < 0) {
        *why = "The compiler's parent process could not be started.";
        return NULL;
    }
    if (w->plain.state == PARENT_STARTING) {
        return &w->plain;
    }
    struct parent *prefix = prefix_choose(w, run);
    return prefix ? prefix : &w->plain;
}

/* --- hearing from them --- */

/* Of a prefix zygote; p is NULL when it is no longer wanted. */
static void prefix_pid_known(struct worker *w, struct parent *p, int pid) {
    int status;
    if (pid <= 0 && p) {
        parent_fail(w, p, pid, "no process could be started");
    } else if (pid > 0 && stray_take(w, pid, &status)) {
        if (p) {
            parent_fail(w, p, -EPIPE, "the compiler's parent process ended");
        }
    } else if (pid > 0 && p) {
        p->pid = pid;
    } else if (pid > 0) {
        (void)kill(pid, SIGKILL);
    }
}

static void answer_read(struct worker *w, struct parent *p, int pid) {
    struct asked *a = p->asked;
    if (!a) {
        return;
    }
    p->asked = a->next;
    if (!p->asked) {
        p->asked_end = &p->asked;
    }
    if (a->child) {
        worker_child_pid_known(w, a->child, pid);
    } else {
        prefix_pid_known(w, a->parent, pid);
    }
    free(a);
}

static void hello_read(struct worker *w, struct parent *p) {
    struct zygote_hello hello;
    int r = zygote_receive_hello(p->socket, &hello);
    if (r == -EAGAIN) {
        return;
    }
    if (r < 0 || hello.status < 0) {
        parent_fail(w, p, r < 0 ? r : hello.status,
                    r < 0 ? "the compiler's parent process ended" : hello.text);
        return;
    }
    if (p == &w->plain) {
        snprintf(w->version, sizeof w->version, "%.40s", hello.text);
    }
    p->state = PARENT_READY;
    p->used_ms = clock_ms();
    w->parent_changed(w, p, 0, NULL);
}

static void parent_read(struct worker *w, struct parent *p) {
    if (p->state == PARENT_STARTING) {
        hello_read(w, p);
    }
    while (p->state == PARENT_READY) {
        int pid;
        int r = zygote_receive_pid(p->socket, &pid);
        if (r == -EAGAIN) {
            return;
        }
        if (r < 0) {
            parent_fail(w, p, r, "the compiler's parent process ended");
            return;
        }
        answer_read(w, p, pid);
    }
}

void parents_read(struct worker *w) {
    for (size_t i = 0; i < ARRAY_LEN(w->parents); i++) {
        parent_read(w, w->parents[i]);
    }
}

uint64_t parents_tick(struct worker *w, uint64_t now) {
    uint64_t next = UINT64_MAX;
    for (size_t i = 0; i < ARRAY_LEN(w->parents); i++) {
        struct parent *p = w->parents[i];
        uint64_t due = p->state == PARENT_STARTING ? p->deadline_ms
                       : p->state == PARENT_READY && p->key[0]
                           ? p->used_ms + PREFIX_IDLE_MS
                           : UINT64_MAX;
        if (due <= now) {
            parent_fail(w, p, -ETIMEDOUT,
                        p->state == PARENT_STARTING ? "the compiler did not start in time"
                                                    : "idle");
        } else if (due < next) {
            next = due;
        }
    }
    return next;
}

/* --- status --- */

static long resident_bytes(int pid) {
    char path[64], line[128] = "";
    snprintf(path, sizeof path, "/proc/%d/statm", pid);
    FILE *f = fopen(path, "re");
    if (!f) {
        return 0;
    }
    const char *second = fgets(line, sizeof line, f) ? strchr(line, ' ') : NULL;
    fclose(f);
    return second ? strtol(second, NULL, 10) * sysconf(_SC_PAGESIZE) : 0;
}

json_t *parents_to_json(const struct worker *w) {
    json_t *list = json_array();
    for (size_t i = 0; i < ARRAY_LEN(w->parents); i++) {
        const struct parent *p = w->parents[i];
        if (p->state == PARENT_NONE) {
            continue;
        }
        uint64_t idle_ms = p->used_ms ? clock_ms() - p->used_ms : 0;
        json_array_append_new(
            list, json_pack("{s:i, s:s, s:s*, s:I, s:I}", "pid", p->pid, "state",
                            p->state == PARENT_READY ? "ready" : "starting",
                            "prefix_digest", p->key[0] ? p->key : NULL, "resident_bytes",
                            (json_int_t)resident_bytes(p->pid), "idle_ms",
                            (json_int_t)idle_ms));
    }
    return list;
}
