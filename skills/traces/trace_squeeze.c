#include "skills/traces/trace_squeeze.h"

#define MARK "\\n[… left out …]\\n"
#define MARK_LEN (sizeof MARK - 1)
/* Records that are shorter are not looked at. */
#define LOOK_FROM (1u << 20)

void squeeze_init(struct squeeze *q, size_t max) {
    /* Room for one piece before it is squeezed. */
    *q = (struct squeeze){.text = BUF_INIT(max)};
}

void squeeze_finish(struct squeeze *q) {
    buf_finish(&q->text);
}

void squeeze_reset(struct squeeze *q) {
    size_t max = q->text.max;
    if (q->text.cap > LOOK_FROM) {
        buf_finish(&q->text);
    }
    buf_reset(&q->text);
    *q = (struct squeeze){.text = q->text};
    q->text.max = max;
}

/* Whether s[at] is inside an escape that began before it, within the string at start. */
static bool splits_escape(const char *s, size_t start, size_t at) {
    size_t low = at > start + 5 ? at - 5 : start;
    for (size_t i = at; i > low; i--) {
        if (s[i - 1] != '\\') {
            continue;
        }
        size_t run = 0;
        while (i - 1 - run > start && s[i - 1 - run] == '\\') {
            run++;
        }
        bool begins = run % 2 == 1;
        return begins && (i == at || (s[i] == 'u' && at < i + 5));
    }
    return false;
}

/* Leaves out the middle of the string that text[start, done) holds so far. */
static void leave_out(struct squeeze *q) {
    struct buf *t = &q->text;
    size_t head = q->start + SQUEEZE_HEAD, tail = q->done - SQUEEZE_TAIL;
    if (!q->cut) {
        while (splits_escape(t->data, q->start, head) ||
               ((unsigned char)t->data[head] & 0xc0) == 0x80) {
            head--;
        }
        memcpy(t->data + head, MARK, MARK_LEN);
        q->start = head - SQUEEZE_HEAD; /* so that the mark is found again */
        q->cut = true;
    }
    while (tail < q->done && (splits_escape(t->data, head, tail) ||
                              ((unsigned char)t->data[tail] & 0xc0) == 0x80)) {
        tail++;
    }
    size_t to = head + MARK_LEN;
    memmove(t->data + to, t->data + tail, t->len - tail);
    q->left_out += tail - to;
    t->len -= tail - to;
    t->data[t->len] = '\0';
    q->done -= tail - to;
}

static void look(struct squeeze *q) {
    const size_t most = SQUEEZE_HEAD + 2 * SQUEEZE_TAIL + MARK_LEN;
    while (q->done < q->text.len) {
        char c = q->text.data[q->done++];
        if (!q->in_string) {
            q->in_string = c == '"';
            q->start = q->done;
            q->cut = q->escaped = false;
            q->values += c == ',' || c == ':';
        } else if (q->escaped) {
            q->escaped = false;
        } else if (c == '"') {
            q->in_string = false;
        } else {
            q->escaped = c == '\\';
        }
        if (q->in_string && !q->escaped && q->done - q->start >= most) {
            leave_out(q);
        }
    }
}

void squeeze_add(struct squeeze *q, const char *bytes, size_t len) {
    while (len && !q->text.full) {
        size_t piece = len < LOOK_FROM / 4 ? len : LOOK_FROM / 4;
        buf_add(&q->text, bytes, piece);
        if (q->text.len > LOOK_FROM || q->done) {
            look(q);
        }
        q->text.full = q->text.full || q->values > SQUEEZE_VALUES;
        bytes += piece;
        len -= piece;
    }
}
