#include "skills/models/sse.h"

#include "base/err.h"
#include "base/find.h"

#include <stdio.h>

void sse_init(struct sse *s, sse_event *event, void *user) {
    *s = (struct sse){.line = BUF_INIT(SSE_MAX_EVENT),
                      .data = BUF_INIT(SSE_MAX_EVENT),
                      .event = event,
                      .user = user};
}

void sse_finish(struct sse *s) {
    buf_finish(&s->line);
    buf_finish(&s->data);
}

static int dispatch(struct sse *s) {
    int rc = 0;
    if (s->has_data) {
        rc = s->event(s->name[0] ? s->name : "message", s->data.data, s->data.len,
                      s->user);
    }
    buf_reset(&s->data);
    s->name[0] = '\0';
    s->has_data = false;
    return rc;
}

static int take_field(struct sse *s, const char *name, size_t name_len, const char *value,
                      size_t len) {
    if (name_len == 5 && memcmp(name, "event", 5) == 0) {
        snprintf(s->name, sizeof s->name, "%.*s", (int)(len < 64 ? len : 64), value);
    } else if (name_len == 4 && memcmp(name, "data", 4) == 0) {
        if (s->has_data) {
            buf_addc(&s->data, '\n');
        }
        s->has_data = true;
        return buf_add(&s->data, value, len);
    }
    return 0; /* id, retry and whatever else */
}

static int end_line(struct sse *s) {
    const char *line = s->line.data;
    size_t len = s->line.len;
    if (!s->begun && len >= 3 && memcmp(line, "\xef\xbb\xbf", 3) == 0) {
        line += 3;
        len -= 3;
    }
    s->begun = true;
    int rc = 0;
    if (len == 0) {
        rc = dispatch(s);
    } else {
        const char *colon = memchr(line, ':', len);
        size_t name = colon ? (size_t)(colon - line) : len;
        size_t value = colon ? name + 1 : len;
        value += value < len && line[value] == ' ';
        rc = take_field(s, line, name, line + value, len - value);
    }
    buf_reset(&s->line);
    return rc;
}

/* Bytes of s up to the end of a line, or all. */
static size_t span(const char *bytes, size_t len) {
    return first_of(i, 0, len, bytes[i] == '\n' || bytes[i] == '\r');
}

static int feed(struct sse *s, const char *bytes, size_t len) {
    for (size_t i = 0; i < len;) {
        if (s->after_cr && bytes[i] == '\n') {
            s->after_cr = false;
            i++;
            continue;
        }
        s->after_cr = false;
        size_t n = span(bytes + i, len - i);
        int rc = buf_add(&s->line, bytes + i, n);
        i += n;
        if (rc == 0 && i < len) {
            s->after_cr = bytes[i++] == '\r';
            rc = end_line(s);
        }
        if (rc < 0) {
            return rc;
        }
    }
    return 0;
}

int sse_feed(struct sse *s, const char *bytes, size_t len, struct err *err) {
    int rc = feed(s, bytes, len);
    if (rc == -EMSGSIZE && (s->line.full || s->data.full)) {
        return err_set(err, rc, "an event of the stream is longer than %u MiB",
                       SSE_MAX_EVENT >> 20);
    }
    return rc;
}
