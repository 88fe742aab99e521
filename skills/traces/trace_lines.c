#include "skills/traces/trace_lines.h"

#include "skills/traces/trace.h"

void trace_lines_init(struct trace_lines *l, bool is_json, trace_hand *hand, void *data) {
    *l = (struct trace_lines){
        .is_json = is_json, .blanks = !is_json, .hand = hand, .data = data};
    squeeze_init(&l->record, is_json ? TRACE_MAX_RECORD : TRACE_MAX_LINE);
}

void trace_lines_finish(struct trace_lines *l) {
    squeeze_finish(&l->record);
}

static void add_piece(struct trace_lines *l, const char *bytes, size_t len) {
    struct squeeze *q = &l->record;
    if (l->is_json) {
        squeeze_add(q, bytes, len);
        return;
    }
    size_t room = TRACE_MAX_LINE - q->text.len, fits = len < room ? len : room;
    buf_add(&q->text, bytes, fits);
    q->left_out += len - fits;
}

static bool is_edge(char c) {
    return c == '\r' || c == '\0';
}

static void end_line(struct trace_lines *l, bool last) {
    struct squeeze *q = &l->record;
    char *text = q->text.data;
    size_t len = q->text.len, lead = 0;
    while (len && is_edge(text[len - 1])) {
        len--;
    }
    while (lead < len && text[lead] == '\0') {
        lead++;
    }
    struct trace_piece line = {NULL,        text + lead,  len - lead,
                               q->left_out, q->text.full, last};
    if (len > lead || l->blanks) {
        if (q->text.cap) {
            text[len] = '\0';
        }
        l->hand(l->data, &line);
    }
    squeeze_reset(q);
}

void trace_lines_add(struct trace_lines *l, const char *bytes, size_t len) {
    while (len) {
        const char *newline = memchr(bytes, '\n', len);
        size_t piece = newline ? (size_t)(newline - bytes) : len;
        add_piece(l, bytes, piece);
        if (newline) {
            end_line(l, false);
            piece++;
        }
        bytes += piece;
        len -= piece;
    }
}

void trace_lines_end(struct trace_lines *l) {
    if (l->record.text.len) {
        end_line(l, true);
    }
}
