#include "gpu/driver/cuda_output.h"

#include "base/err.h"
#include "protocol/finding.h"

#include <ctype.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <unistd.h>

/* --- pipes --- */

struct output_stream {
    int fd; /* our end, non-blocking */
    struct buf kept;
    uint64_t lost;
    bool ended;
};
static struct {
    bool started;
    pthread_t thread;
    pthread_mutex_t mutex; /* guards the streams' contents and reading from them */
    struct output_stream streams[2];
} output = {.mutex = PTHREAD_MUTEX_INITIALIZER};

/* Until there is nothing in the pipe. Under the mutex, so that whoever has it knows that
 * all that was written before is in `kept`. */
static void stream_drain(struct output_stream *s) {
    char piece[16384];
    ssize_t n;
    while (!s->ended) {
        n = read(s->fd, piece, sizeof piece);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            s->ended = n == 0;
            return;
        }
        size_t room = s->kept.max - s->kept.len, len = (size_t)n;
        (void)buf_add(&s->kept, piece, len < room ? len : room);
        s->lost += len < room ? 0 : len - room;
    }
}

static void *drain(void *) {
    struct output_stream *s = output.streams;
    for (bool ended = false; !ended;) {
        struct pollfd polls[2] = {{.fd = s[0].ended ? -1 : s[0].fd, .events = POLLIN},
                                  {.fd = s[1].ended ? -1 : s[1].fd, .events = POLLIN}};
        (void)poll(polls, 2, -1);
        pthread_mutex_lock(&output.mutex);
        stream_drain(&s[0]);
        stream_drain(&s[1]);
        ended = s[0].ended && s[1].ended;
        pthread_mutex_unlock(&output.mutex);
    }
    return NULL;
}

static int stream_open(struct output_stream *s, int target) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC)) {
        return -errno;
    }
    *s = (struct output_stream){.fd = ends[0], .kept = BUF_INIT(CUDA_OUTPUT_KEPT)};
    (void)fcntl(ends[0], F_SETFL, O_NONBLOCK);
    int r = dup2(ends[1], target) < 0 ? -errno : 0;
    close(ends[1]);
    return r;
}

int cuda_output_start(struct err *err) {
    (void)fflush(stdout);
    int r = stream_open(&output.streams[0], 1);
    r = r ? r : stream_open(&output.streams[1], 2);
    r = r ? r : -pthread_create(&output.thread, NULL, drain, NULL);
    output.started = r == 0;
    return r < 0
               ? err_set(err, r, "the kernels' output cannot be caught: %s", strerror(-r))
               : 0;
}

static uint64_t stream_take(struct output_stream *s, struct buf *ret) {
    stream_drain(s);
    (void)buf_add(ret, s->kept.data, s->kept.len);
    uint64_t lost = s->lost;
    buf_reset(&s->kept);
    s->lost = 0;
    return lost;
}

void cuda_output_take(struct buf *printed, uint64_t *ret_lost, struct buf *said) {
    *ret_lost = 0;
    if (!output.started) {
        return;
    }
    (void)fflush(stdout); /* the driver prints through the C library */
    pthread_mutex_lock(&output.mutex);
    *ret_lost = stream_take(&output.streams[0], printed);
    (void)stream_take(&output.streams[1], said);
    pthread_mutex_unlock(&output.mutex);
}

/* --- asserts --- */

struct assertion {
    const char *file, *expression;
    int file_len, expression_len;
    int line;
    size_t head_len; /* of what stands before the thread */
    unsigned block[3], thread[3];
    bool whole; /* the expression's end was found */
};

/* "LABEL [x,y,z]" */
static const char *triple_read(const char *at, const char *label, unsigned ret[3]) {
    size_t len = strlen(label);
    int used = 0;
    if (strncmp(at, label, len) != 0 ||
        sscanf(at + len, "[%9u,%9u,%9u]%n", &ret[0], &ret[1], &ret[2], &used) != 3 ||
        !used) {
        return NULL;
    }
    return at + len + used;
}

const char *cuda_file_display(const char *file, size_t len) {
    const char *display = file, *end = file + len;
    for (const char *c = file; c < end; c++) {
        if (*c != 'r' || (c > file && c[-1] != '/')) {
            continue;
        }
        const char *digit = c + 1;
        while (digit < end && isdigit((unsigned char)*digit)) {
            digit++;
        }
        if (digit > c + 1 && digit < end && *digit == '/') {
            display = digit + 1;
            break;
        }
    }
    return display;
}

/* Where the first thread is told in a line; what stands before it is told of all threads
 * that failed there. The function's text may hold anything, colons and brackets too, and
 * so may the expression behind it: the first place that has all the words counts. */
static const char *thread_find(const char *line, struct assertion *ret) {
    static const char blocks[] = ": block: ", threads[] = ", thread: ",
                      says[] = " Assertion `";
    for (const char *found = line; (found = strstr(found, blocks)); found++) {
        const char *at = triple_read(found, blocks, ret->block);
        at = at ? triple_read(at, threads, ret->thread) : NULL;
        if (at && strncmp(at, says, sizeof says - 1) == 0) {
            ret->expression = at + sizeof says - 1;
            return found;
        }
    }
    return NULL;
}

/* Without its end where it goes on in another line. */
static void expression_end(struct assertion *a) {
    static const char ends[] = "` failed.";
    size_t len = strlen(a->expression), end = sizeof ends - 1;
    while (len && isspace((unsigned char)a->expression[len - 1])) {
        len--;
    }
    bool whole = len >= end && memcmp(a->expression + len - end, ends, end) == 0;
    a->expression_len = (int)(whole ? len - end : len);
    a->whole = whole;
}

/* line is NUL-terminated. */
static bool assertion_read(const char *line, struct assertion *ret) {
    const char *found = thread_find(line, ret);
    if (!found) {
        return false;
    }
    expression_end(ret);
    /* file:LINE: at the beginning; a file's name may hold colons, a line has digits. */
    for (const char *c = strchr(line, ':'); c && c < found; c = strchr(c + 1, ':')) {
        int used = 0;
        if (isdigit((unsigned char)c[1]) &&
            sscanf(c + 1, "%9d:%n", &ret->line, &used) == 1 && used) {
            ret->file = cuda_file_display(line, (size_t)(c - line));
            ret->file_len = (int)(c - ret->file);
            ret->head_len = (size_t)(found - line);
            return true;
        }
    }
    return false;
}

static json_t *triple(const unsigned n[3]) {
    return json_pack("[I,I,I]", (json_int_t)n[0], (json_int_t)n[1], (json_int_t)n[2]);
}

static json_t *assertion_add(const struct assertion *a, json_t *findings) {
    enum { MAX_EXPRESSION = 400 };
    autofree char *file = xstrndup(a->file, (size_t)a->file_len);
    int len = a->expression_len < MAX_EXPRESSION ? a->expression_len : MAX_EXPRESSION;
    autofree char *message =
        xasprintf("assertion `%.*s%s` failed", len, a->expression, a->whole ? "" : "…");
    struct finding_span at = {.line = a->line};
    json_t *f = finding_new("run", "assert", FINDING_ERROR, message, file, &at);
    json_object_set_new(f, "block", triple(a->block));
    json_object_set_new(f, "thread", triple(a->thread));
    json_array_append_new(findings, f);
    return f;
}

/* The same place again: another thread's. */
static bool is_again(const char *line, const char *first, size_t head_len) {
    struct assertion other = {0};
    return strncmp(line, first, head_len) == 0 && assertion_read(line, &other) &&
           other.head_len == head_len;
}

size_t cuda_assert_read(const char *text, size_t len, json_t *findings) {
    autofree char *first = NULL;
    size_t head_len = 0, count = 0;
    json_t *f = NULL;
    for (size_t at = 0; at < len;) {
        const char *newline = memchr(text + at, '\n', len - at);
        size_t line_len = newline ? (size_t)(newline - (text + at)) : len - at;
        autofree char *line = xstrndup(text + at, line_len);
        struct assertion a = {0};
        if (!f && assertion_read(line, &a)) {
            f = assertion_add(&a, findings);
            head_len = a.head_len;
            first = take(line);
            count = 1;
        } else if (f && is_again(line, first, head_len)) {
            count++;
        }
        at += line_len + 1;
    }
    if (f) {
        json_object_set_new(f, "count", json_integer((json_int_t)count));
    }
    return count;
}
