#define LOG_MODULE "worker"
#include "gpu/pool/worker_link.h"

#include "base/buf.h"
#include "base/child.h"
#include "base/fd_channel.h"
#include "base/log.h"
#include "base/text.h"
#include "base/work.h"
#include "gpu/compile/compile.h"
#include "protocol/rpc/rpc.h"

#include <signal.h>
#include <unistd.h>

#define END_GRACE_MS 2000
#define MAX_WORDS 1024 /* bytes kept of a line on stderr */

/* A large answer on its way through a thread. */
struct link_parse {
    struct rpc_parse *parse;
    struct worker_link *link; /* NULL once that is gone */
};

/* What the timer limits. */
enum link_wait { WAIT_HELLO, WAIT_END, WAIT_LEAVE };

struct worker_link {
    uv_timer_t timer;
    enum link_wait wait;
    bool carrier, stopped;
    struct child *child;
    struct rpc_peer *peer;
    struct fd_channel channel;
    struct link_parse *parsing; /* or NULL; the child is paused then */
    bool child_ended;           /* while `parsing`: told when that is done */
    struct buf banner; /* what came before the greeting, from the last line's start */
    size_t skipped;    /* bytes of banner lines */
    struct buf words;  /* an unfinished line of stderr */
    char last_words[256];
    char why[512];
    unsigned hello_ms;
    struct worker_link_events events;
    void *data;
};

/* The variables that a worker or its carrier (ssh, srun, kubectl) may need. Keys for
 * models are in the same environment and are not passed on. */
static bool env_may_pass(const char *entry) {
    static const char *const prefixes[] = {
        "PATH=",   "HOME=",  "USER=",       "LOGNAME=", "SHELL=", "LANG=",
        "TMPDIR=", "LC_",    "XDG_",        "CUDA_",    "NVRTC_", "UPSKILLD_",
        "SSH_",    "SLURM_", "KUBECONFIG=", "NVIDIA_",  "TERM=",  "LD_LIBRARY_PATH=",
        "ASAN_",   "UBSAN_", "LSAN_",
    };
    for (size_t i = 0; i < ARRAY_LEN(prefixes); i++) {
        if (strncmp(entry, prefixes[i], strlen(prefixes[i])) == 0) {
            size_t name = strcspn(entry, "=");
            return !memmem(entry, name, "KEY", 3) && !memmem(entry, name, "TOKEN", 5) &&
                   !memmem(entry, name, "SECRET", 6);
        }
    }
    return false;
}

/* The array alone is the caller's; the strings are the environment's. */
static const char **worker_env(bool has_channel) {
    size_t count = 0;
    for (char **e = environ; e && *e; e++) {
        count++;
    }
    const char **env = xcalloc(count + 2, sizeof *env);
    count = 0;
    if (has_channel) {
        env[count++] = COMPILE_CHANNEL_ENV;
    }
    for (char **e = environ; e && *e; e++) {
        if (env_may_pass(*e)) {
            env[count++] = *e;
        }
    }
    return env;
}

static void words_flush(struct worker_link *link);
static void link_fail(struct worker_link *link, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
static void link_fail(struct worker_link *link, const char *fmt, ...) {
    if (!link->why[0]) {
        text_format(link->why, fmt);
    }
    worker_link_stop(link);
}

/* The messages of srun about its queue and of ssh about its host are what a person
 * needs. */
static void greeting_missed(struct worker_link *link) {
    words_flush(link);
    const char *words = link->last_words;
    link_fail(link, "sent no greeting within %u ms%s%s", link->hello_ms,
              *words ? ": " : "", words);
}

static void timer_fired(uv_timer_t *timer) {
    struct worker_link *link = container_of(timer, struct worker_link, timer);
    switch (link->wait) {
    case WAIT_HELLO:
        greeting_missed(link);
        break;
    case WAIT_END:
        worker_link_stop(link);
        break;
    case WAIT_LEAVE:
        if (link->child) {
            child_leave(link->child);
        }
        break;
    }
}

/* --- the peer --- */

static void peer_request(struct rpc_call *call, void *) {
    rpc_error(call, RPC_METHOD_NOT_FOUND, NULL,
              "the daemon serves no requests of workers");
}

static void peer_notification(struct rpc_peer *, enum frame_mode, const char *method,
                              json_t *params, void *data) {
    struct worker_link *link = data;
    if (link->events.said) {
        link->events.said(link, method, params, link->data);
    }
}

static void peer_send(struct rpc_peer *, char *bytes, size_t len, bool, void *data) {
    struct worker_link *link = data;
    if (link->child) {
        child_write(link->child, bytes, len);
    }
    free(bytes);
}

static void peer_send_shared(struct rpc_peer *, struct shared_bytes *shared, void *data) {
    struct worker_link *link = data;
    if (link->child) {
        child_write_shared(link->child, shared);
    }
}

/* --- large answers --- */

static void end_link(struct worker_link *link);

static void run_parse(void *data) {
    rpc_parse_run(((struct link_parse *)data)->parse);
}

static void parse_ran(void *data) {
    struct link_parse *p = data;
    struct worker_link *link = p->link;
    if (link) {
        link->parsing = NULL;
    }
    rpc_parse_done(p->parse); /* may start the next one */
    free(p);
    if (!link || link->parsing) {
        return;
    }
    if (link->child_ended) {
        end_link(link);
    } else if (link->child) {
        child_resume(link->child);
    }
}

static void peer_parse(struct rpc_peer *, struct rpc_parse *parse, void *data) {
    struct worker_link *link = data;
    struct link_parse *p = xcalloc(1, sizeof *p);
    *p = (struct link_parse){.parse = parse, .link = link};
    link->parsing = p;
    if (link->child) {
        child_pause(link->child);
    }
    work_start(link->timer.loop, run_parse, parse_ran, p);
}

static const struct rpc_events peer_events = {
    .request = peer_request,
    .notification = peer_notification,
    .send = peer_send,
    .send_shared = peer_send_shared,
    .parse = peer_parse,
};

/* --- the greeting --- */

/* The greeting's params (a new reference), or NULL when the line is anything else. */
static json_t *greeting_read(const char *line, size_t len) {
    while (len && (*line == ' ' || *line == '\t' || *line == '\r')) {
        line++, len--;
    }
    if (!len || *line != '{') {
        return NULL;
    }
    autofree char *copy = xstrndup(line, len);
    autojson *message = json_parse(copy, strlen(copy), NULL);
    json_t *params = json_object_get(message, "params");
    if (!json_says(message, "method", "worker/hello") || !json_is_object(params)) {
        return NULL;
    }
    return json_incref(params);
}

static void other_protocol(struct worker_link *link, const json_t *hello) {
    const char *version = json_get_string(hello, "version", "unknown");
    autobuf clean = BUF_INIT(1024);
    text_clean(&clean, version, text_cut(version, strlen(version), 40));
    link_fail(link,
              "(version %s) speaks worker protocol %lld, and this daemon "
              "(" UPSKILLD_VERSION ") speaks %d: install the same version of both",
              clean.data, (long long)json_get_integer(hello, "protocol", 0),
              COMPILE_PROTOCOL);
}

static void greeted(struct worker_link *link, const json_t *hello) {
    if (json_get_integer(hello, "protocol", 0) != COMPILE_PROTOCOL) {
        other_protocol(link, hello);
        return;
    }
    link->last_words[0] = '\0';
    uv_timer_stop(&link->timer);
    link->peer = rpc_peer_new(FRAME_HEADERS, FRAME_MAX_BODY, &peer_events, link);
    rpc_peer_allow_attachments(link->peer);
    link->events.ready(link, hello, link->data);
}

/* Take whole lines off the banner until the greeting is among them. */
static void banner_read(struct worker_link *link) {
    char *newline;
    while (!link->peer && !link->why[0] &&
           (newline = memchr(link->banner.data, '\n', link->banner.len))) {
        size_t len = (size_t)(newline - link->banner.data);
        autojson *hello = greeting_read(link->banner.data, len);
        link->skipped += len + 1;
        buf_consume(&link->banner, len + 1);
        if (hello) {
            greeted(link, hello);
        }
    }
    if (!link->peer && link->skipped + link->banner.len > WORKER_LINK_MAX_BANNER) {
        link_fail(link, "sent %u KiB without a greeting", WORKER_LINK_MAX_BANNER >> 10);
    }
}

static void child_said(struct child *, const char *bytes, size_t len, void *data) {
    struct worker_link *link = data;
    if (link->peer) {
        rpc_feed(link->peer, bytes, len);
        return;
    }
    if (link->why[0]) {
        return;
    }
    buf_add(&link->banner, bytes, len);
    banner_read(link);
    if (link->peer && link->banner.len) {
        struct buf rest = link->banner;
        link->banner = BUF_INIT(WORKER_LINK_MAX_BANNER);
        rpc_feed(link->peer, rest.data, rest.len);
        buf_finish(&rest);
    }
}

/* --- stderr --- */

static void words_flush(struct worker_link *link) {
    autobuf clean = BUF_INIT((size_t)4 * MAX_WORDS);
    size_t len = link->words.len;
    while (len && strchr(" \t\r\n", link->words.data[len - 1])) {
        len--; /* ssh ends its lines as a terminal wants them */
    }
    text_clean(&clean, link->words.data, len);
    buf_reset(&link->words);
    if (clean.len) {
        size_t cut = text_cut(clean.data, clean.len, sizeof link->last_words - 1);
        snprintf(link->last_words, sizeof link->last_words, "%.*s", (int)cut, clean.data);
        log_debug("stderr: %s", clean.data);
    }
}

static void child_complained(struct child *, const char *bytes, size_t len, void *data) {
    struct worker_link *link = data;
    while (len) {
        const char *newline = memchr(bytes, '\n', len);
        size_t part = newline ? (size_t)(newline - bytes) : len;
        size_t room = MAX_WORDS - link->words.len;
        buf_add(&link->words, bytes, part < room ? part : room);
        if (newline) {
            words_flush(link);
            part++;
        }
        bytes += part, len -= part;
    }
}

/* --- life --- */

static void link_free(struct worker_link *link) {
    fd_channel_finish(&link->channel);
    buf_finish(&link->banner);
    buf_finish(&link->words);
    free(link);
}

static void timer_closed(uv_handle_t *handle) {
    struct worker_link *link = container_of(handle, struct worker_link, timer);
    link->events.ended(link, link->why, link->data);
    link_free(link);
}

static void why_from_end(struct worker_link *link, const struct child_end *end) {
    size_t size = sizeof link->why;
    int n = end->term_signal
                ? snprintf(link->why, size, "was ended by signal %d (%s)",
                           end->term_signal, strsignal(end->term_signal))
                : snprintf(link->why, size, "ended with status %d", end->exit_status);
    if (link->last_words[0] && n > 0 && (size_t)n < size) {
        snprintf(link->why + n, size - (size_t)n, ": %s", link->last_words);
    }
}

static void end_link(struct worker_link *link) {
    if (link->parsing) {
        link->parsing->link = NULL;
        link->parsing = NULL;
    }
    rpc_peer_free(take(link->peer));
    uv_close((uv_handle_t *)&link->timer, timer_closed);
}

static void child_ended(struct child *, const struct child_end *end, void *data) {
    struct worker_link *link = data;
    link->child = NULL;
    words_flush(link);
    if (!link->why[0]) {
        why_from_end(link, end);
    }
    log_debug("ended why=\"%s\"", link->why);
    link->child_ended = true;
    if (link->stopped || !link->parsing) { /* its last message still counts */
        end_link(link);
    }
}

static void start_failed(uv_handle_t *handle) {
    link_free(container_of(handle, struct worker_link, timer));
}

/* The worker's end, or -1: it is elsewhere, or no socket could be made. */
static int channel_open(struct worker_link *link) {
    int ends[2] = {-1, -1};
    if (!link->carrier) {
        (void)fd_channel_pair(ends);
    }
    link->channel = (struct fd_channel){.socket = ends[0]};
    return ends[1];
}

int worker_link_start(uv_loop_t *loop, const struct worker_link_options *how,
                      const struct worker_link_events *events, void *data,
                      struct worker_link **ret, struct err *err) {
    struct worker_link *link = xcalloc(1, sizeof *link);
    link->banner = BUF_INIT((size_t)FRAME_MAX_BODY);
    link->words = BUF_INIT(MAX_WORDS);
    link->hello_ms = how->hello_ms;
    link->carrier = how->carrier;
    link->events = *events;
    link->data = data;
    uv_timer_init(loop, &link->timer);
    autofd int far_end = channel_open(link);
    autofree const char **env = worker_env(far_end >= 0);
    struct child_options options = {
        .argv = how->argv,
        .env = env,
        .want_stdin = true,
        .channel = far_end < 0 ? 0 : far_end,
        .grace_ms = how->carrier ? WORKER_LINK_GRACE_MS : WORKER_LINK_LOCAL_GRACE_MS,
        .death_signal = how->carrier ? SIGTERM : SIGKILL,
        .out = child_said,
        .error = child_complained,
        .end = child_ended,
        .data = link,
    };
    int r = child_start(loop, &options, &link->child, err);
    if (r < 0) {
        uv_close((uv_handle_t *)&link->timer, start_failed);
        return r;
    }
    uv_timer_start(&link->timer, timer_fired, how->hello_ms, 0);
    log_debug("started pid=%d program=%s", child_pid(link->child), how->argv[0]);
    *ret = link;
    return 0;
}

struct rpc_peer *worker_link_peer(const struct worker_link *link) {
    return link->peer;
}

struct fd_channel *worker_link_channel(struct worker_link *link) {
    return &link->channel;
}

int worker_link_pid(const struct worker_link *link) {
    return link->child ? child_pid(link->child) : 0;
}

const char *worker_link_words(const struct worker_link *link) {
    return link->last_words;
}

static void wait_for(struct worker_link *link, enum link_wait wait, unsigned ms) {
    link->wait = wait;
    uv_timer_start(&link->timer, timer_fired, ms, 0);
}

void worker_link_end(struct worker_link *link) {
    if (link->child && !link->stopped) {
        child_close_stdin(link->child);
        wait_for(link, WAIT_END, END_GRACE_MS);
    }
}

void worker_link_stop(struct worker_link *link) {
    if (!link->child || link->stopped) {
        return;
    }
    link->stopped = true;
    uv_timer_stop(&link->timer);
    child_close_stdin(link->child);
    child_cancel(link->child); /* SIGTERM, and SIGKILL after the grace */
}

void worker_link_leave(struct worker_link *link, unsigned ms) {
    worker_link_stop(link);
    if (link->child && link->carrier) {
        wait_for(link, WAIT_LEAVE, ms);
    }
}
