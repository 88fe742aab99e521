#include "base/stdio_link.h"

#include "base/err.h"
#include "base/file.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#define READ_SIZE (64u << 10)

/* One side. A stream of libuv, or a plain file that libuv cannot poll (epoll refuses
 * regular files, and libuv aborts then). */
struct side {
    int fd;
    int flags; /* of the open file, which others may share; put back at the end */
    bool is_file;
    bool open; /* `handle` was initialised and is not being closed */
    union {
        uv_handle_t handle;
        uv_stream_t stream;
        uv_pipe_t pipe;
        uv_tty_t tty;
        uv_tcp_t tcp;
    };
};

struct stdio_link {
    uv_loop_t *loop;
    struct stdio_link_events events;
    void *data;
    struct side in, out;
    struct side *writer; /* &out, or &in when both are one descriptor */
    uv_timer_t timer;    /* delivers a break, or watches the reader */
    unsigned pending;    /* close callbacks and file reads still to come */
    int broken;          /* negative errno: nothing can be written any more */
    bool ended, paused, closing, reading_file, congested;
    void (*closed)(int status, void *data);
    void *closed_data;
    uint64_t queued;    /* bytes in all */
    unsigned stuck_ms;  /* for which the reader may take nothing */
    uint64_t taken;     /* by the reader, when that was looked at last */
    uint64_t watch_end; /* of the loop's clock, however much it takes */
    uv_fs_t file_read;
    char buffer[READ_SIZE];
};

struct write_request {
    uv_write_t uv;
    struct stdio_link *link;
    char *bytes;
};

int stdio_claim(int *ret_in, int *ret_out) {
    int opened = file_open_standard();
    if (opened < 0) {
        return opened;
    }
    int in = fcntl(0, F_DUPFD_CLOEXEC, 3);
    int out = fcntl(1, F_DUPFD_CLOEXEC, 3);
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (in < 0 || out < 0 || null < 0 || dup2(null, 0) < 0 || dup2(2, 1) < 0) {
        int rc = -errno;
        fd_close_p(&in);
        fd_close_p(&out);
        fd_close_p(&null);
        return rc;
    }
    close(null);
    signal(SIGPIPE, SIG_IGN);
    *ret_in = in;
    *ret_out = out;
    return 0;
}

/* --- the end --- */

static void drop_pending(struct stdio_link *link) {
    if (--link->pending) {
        return;
    }
    if (link->closed) {
        link->closed(link->broken, link->closed_data);
    }
    free(link);
}

static void on_handle_closed(uv_handle_t *handle) {
    drop_pending(handle->data);
}

static void close_side(struct stdio_link *link, struct side *side) {
    if (side->fd >= 0 && side->flags >= 0) {
        (void)fcntl(side->fd, F_SETFL, side->flags);
    }
    if (side->open) {
        side->open = false;
        uv_close(&side->handle, on_handle_closed);
    } else if (side->fd >= 0 && !(side == &link->in && link->reading_file)) {
        close(side->fd);
        side->fd = -1;
    }
}

static void close_handles(struct stdio_link *link) {
    if (link->reading_file) {
        uv_cancel((uv_req_t *)&link->file_read);
    }
    close_side(link, &link->in);
    close_side(link, &link->out);
    if (!uv_is_closing((uv_handle_t *)&link->timer)) {
        uv_close((uv_handle_t *)&link->timer, on_handle_closed);
    }
}

static void on_break_due(uv_timer_t *timer) {
    struct stdio_link *link = container_of(timer, struct stdio_link, timer);
    link->events.broken(link, link->broken, link->data);
}

/* The other side is gone. Reported from the loop, never from inside a caller's call. */
static void break_link(struct stdio_link *link, int status) {
    if (link->broken || link->closing) {
        return;
    }
    link->broken = status;
    stdio_link_pause(link);
    uv_ref((uv_handle_t *)&link->timer);
    uv_timer_start(&link->timer, on_break_due, 0, 0);
}

static void give_up(struct stdio_link *link) {
    if (link->closing) {
        link->broken = -ETIMEDOUT;
        close_handles(link);
    } else {
        break_link(link, -ETIMEDOUT);
    }
}

static uint64_t taken(const struct stdio_link *link) {
    return link->queued - stdio_link_queued(link);
}

static void on_look(uv_timer_t *timer) {
    struct stdio_link *link = container_of(timer, struct stdio_link, timer);
    bool moves = !stdio_link_queued(link) || taken(link) > link->taken;
    link->taken = taken(link);
    if (moves && uv_now(link->loop) < link->watch_end) {
        uv_timer_start(timer, on_look, link->stuck_ms, 0);
    } else {
        give_up(link);
    }
}

static void watch_reader(struct stdio_link *link, struct stdio_patience patience) {
    link->stuck_ms = patience.stuck_ms;
    link->taken = taken(link);
    link->watch_end =
        patience.most_ms ? uv_now(link->loop) + patience.most_ms : UINT64_MAX;
    uv_timer_start(&link->timer, on_look, link->stuck_ms, 0);
}

static void report_end(struct stdio_link *link) {
    if (link->ended || link->closing || link->broken) {
        return;
    }
    link->ended = true;
    watch_reader(link, (struct stdio_patience){.stuck_ms = STDIO_LINK_STUCK_MS});
    uv_unref((uv_handle_t *)&link->timer); /* what is written keeps the loop going */
    link->events.ended(link, link->data);
}

void stdio_link_hurry(struct stdio_link *link, struct stdio_patience patience) {
    if (link->closing && !uv_is_closing((uv_handle_t *)&link->timer)) {
        watch_reader(link, patience);
    }
}

void stdio_link_close(struct stdio_link *link, struct stdio_patience patience,
                      void (*closed)(int status, void *data), void *data) {
    if (link->closing) {
        return;
    }
    stdio_link_pause(link);
    link->closing = true;
    link->closed = closed;
    link->closed_data = data;
    uv_timer_stop(&link->timer);
    uv_ref((uv_handle_t *)&link->timer);
    if (link->broken || !stdio_link_queued(link)) {
        close_handles(link);
    } else {
        watch_reader(link, patience);
    }
}

/* --- reading --- */

static void on_alloc(uv_handle_t *handle, size_t, uv_buf_t *ret) {
    struct stdio_link *link = handle->data;
    *ret = uv_buf_init(link->buffer, sizeof link->buffer);
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *bytes) {
    struct stdio_link *link = stream->data;
    if (n > 0) {
        link->events.bytes(link, bytes->base, (size_t)n, link->data);
    } else if (n == UV_EOF) {
        report_end(link);
    } else if (n < 0) {
        break_link(link, (int)n);
    }
}

static void read_file(struct stdio_link *link);

static void on_file_read(uv_fs_t *request) {
    struct stdio_link *link = container_of(request, struct stdio_link, file_read);
    ssize_t n = request->result;
    uv_fs_req_cleanup(request);
    link->reading_file = false;
    if (link->closing) {
        if (link->in.fd >= 0 && uv_is_closing((uv_handle_t *)&link->timer)) {
            close(link->in.fd);
            link->in.fd = -1;
        }
    } else if (n > 0) {
        link->events.bytes(link, link->buffer, (size_t)n, link->data);
        if (!link->closing && !link->paused) {
            read_file(link);
        }
    } else if (n == 0) {
        report_end(link);
    } else {
        break_link(link, (int)n);
    }
    drop_pending(link);
}

static void read_file(struct stdio_link *link) {
    uv_buf_t into = uv_buf_init(link->buffer, sizeof link->buffer);
    if (link->reading_file) {
        return;
    }
    int rc =
        uv_fs_read(link->loop, &link->file_read, link->in.fd, &into, 1, -1, on_file_read);
    if (rc < 0) {
        break_link(link, rc);
        return;
    }
    link->reading_file = true;
    link->pending++;
}

void stdio_link_pause(struct stdio_link *link) {
    link->paused = true;
    if (!link->in.is_file && link->in.open) {
        uv_read_stop(&link->in.stream);
    }
}

void stdio_link_resume(struct stdio_link *link) {
    if (link->closing || link->broken || link->ended) {
        return;
    }
    link->paused = false;
    if (link->in.is_file) {
        read_file(link);
        return;
    }
    int rc = uv_read_start(&link->in.stream, on_alloc, on_read);
    if (rc < 0 && rc != UV_EALREADY) {
        break_link(link, rc);
    }
}

/* --- writing --- */

/* While it is flushed: the last bytes are out, or will never be. */
static void finish_flush(struct stdio_link *link, int status) {
    bool closed = uv_is_closing((uv_handle_t *)&link->timer);
    if (!closed && (status < 0 || !stdio_link_queued(link))) {
        link->broken = status;
        close_handles(link);
    }
}

static void on_written(uv_write_t *uv, int status) {
    struct write_request *request = container_of(uv, struct write_request, uv);
    struct stdio_link *link = request->link;
    free(request->bytes);
    free(request);
    if (link->closing) {
        finish_flush(link, status);
    } else if (status < 0) {
        break_link(link, status);
    } else if (link->congested && stdio_link_queued(link) <= STDIO_LINK_SOFT_LIMIT / 2) {
        link->congested = false;
        if (link->events.drained) {
            link->events.drained(link, link->data);
        }
    }
}

static int write_stream(struct stdio_link *link, char *bytes, size_t len) {
    struct write_request *request = xmalloc(sizeof *request);
    uv_buf_t piece = uv_buf_init(bytes, (unsigned)len);
    request->link = link;
    request->bytes = bytes;
    int rc = uv_write(&request->uv, &link->writer->stream, &piece, 1, on_written);
    if (rc < 0) {
        free(request);
        return rc;
    }
    link->queued += len;
    link->congested = link->congested || stdio_link_queued(link) > STDIO_LINK_SOFT_LIMIT;
    return 0;
}

void stdio_link_write(struct stdio_link *link, char *bytes, size_t len) {
    int rc = 0;
    if (link->closing || link->broken || !len) {
        free(bytes);
        return;
    }
    if (len > STDIO_LINK_HARD_LIMIT ||
        stdio_link_queued(link) > STDIO_LINK_HARD_LIMIT - len) {
        rc = -ENOBUFS;
    } else if (link->writer->is_file) {
        rc = file_write_all(link->writer->fd, bytes, len);
    } else {
        rc = write_stream(link, bytes, len);
        bytes = rc < 0 ? bytes : NULL;
    }
    free(bytes);
    if (rc < 0) {
        break_link(link, rc);
    }
}

size_t stdio_link_queued(const struct stdio_link *link) {
    const struct side *side = link->writer;
    return side->is_file || !side->open ? 0
                                        : uv_stream_get_write_queue_size(&side->stream);
}

bool stdio_link_congested(const struct stdio_link *link) {
    return link->congested;
}

/* --- the beginning --- */

static int init_handle(struct stdio_link *link, struct side *side) {
    switch (uv_guess_handle(side->fd)) {
    case UV_NAMED_PIPE:
        return uv_pipe_init(link->loop, &side->pipe, 0);
    case UV_TCP:
        return uv_tcp_init(link->loop, &side->tcp);
    case UV_TTY:
        return uv_tty_init(link->loop, &side->tty, side->fd, 0);
    case UV_FILE:
        side->is_file = true;
        return 0;
    default:
        return -EINVAL;
    }
}

static int open_side(struct stdio_link *link, struct side *side) {
    int rc = init_handle(link, side);
    if (rc < 0 || side->is_file) {
        return rc;
    }
    side->open = true;
    side->handle.data = link;
    link->pending++;
    if (side->handle.type == UV_NAMED_PIPE) {
        rc = uv_pipe_open(&side->pipe, side->fd);
    } else if (side->handle.type == UV_TCP) {
        rc = uv_tcp_open(&side->tcp, side->fd);
    }
    if (rc == 0) {
        return 0;
    }
    close(side->fd); /* not the handle's */
    side->fd = -1;
    return rc;
}

int stdio_link_new(uv_loop_t *loop, int in_fd, int out_fd,
                   const struct stdio_link_events *events, void *data,
                   struct stdio_link **ret, struct err *err) {
    struct stdio_link *link = xmalloc(sizeof *link);
    memset(link, 0, offsetof(struct stdio_link, buffer));
    link->loop = loop;
    link->events = *events;
    link->data = data;
    link->in = (struct side){.fd = in_fd, .flags = fcntl(in_fd, F_GETFL)};
    link->out = (struct side){.fd = -1, .flags = -1};
    link->writer = &link->in;
    uv_timer_init(loop, &link->timer);
    link->timer.data = link;
    link->pending = 1;
    if (out_fd != in_fd) {
        link->out = (struct side){.fd = out_fd, .flags = fcntl(out_fd, F_GETFL)};
        link->writer = &link->out;
    }
    int rc = open_side(link, &link->in);
    if (rc == 0 && out_fd != in_fd) {
        rc = open_side(link, &link->out);
    }
    if (rc < 0) {
        link->closing = true;
        close_handles(link);
        return err_set(err, rc, "standard input or output cannot be used: %s",
                       uv_strerror(rc));
    }
    stdio_link_resume(link);
    *ret = link;
    return 0;
}
