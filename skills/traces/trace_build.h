#pragma once
/* trace_build: events into a trace, within its limits. For the readers of the formats.
 *
 * A text is cleaned and cut as it comes. When all texts together pass TRACE_MAX_KEPT
 * every long one is cut shorter, so that a long trace keeps all of its events. */
#include "skills/traces/trace.h"

#include <string.h>

/* What readers ask of nearly every word of a record. */
static inline bool is(const char *s, const char *word) {
    return strcmp(s, word) == 0;
}

struct trace_odd;
struct trace_mark {
    uint32_t record; /* which record of the format the event came from; reader's own */
    uint32_t call;   /* hash of the call id, 0 without */
    uint32_t group;  /* reader's own */
    bool side;       /* a sub-agent's */
    bool tentative;  /* said elsewhere too, perhaps */
};

struct trace_build {
    struct trace *trace;
    struct trace_mark *marks; /* one per event */
    size_t cap;
    size_t kept;     /* bytes of all texts */
    size_t max_text; /* of one event, now */
    unsigned moved;  /* how often events have changed their index */
    void *state;     /* the format's, as the next */
    const struct trace_odd *odd;
    size_t left_out;        /* bytes that were cut out of its strings already */
    struct trace_mark mark; /* what new events get */
};

void build_init(struct trace_build *b, struct trace *t);
/* Numbers the events; frees what is not the trace's. */
void build_finish(struct trace_build *b);

/* Before a record: makes room when the events near their limit, by dropping some that are
 * neither among the first nor the latest. Events may move. */
void build_room(struct trace_build *b);
/* A new event, or NULL (and counted) over the limits; valid until the next is made. */
struct trace_event *build_event(struct trace_build *b, enum trace_event_kind kind);
/* The functions below take e == NULL. Text of s: cleaned and cut. */
void build_set_text(struct trace_build *b, struct trace_event *e, const char *s,
                    size_t len);
void build_set(struct trace_build *b, char **field, const char *s); /* a short string */
void build_set_call(struct trace_build *b, struct trace_event *e, const char *call);
void build_set_command(struct trace_build *b, struct trace_event *e, const char *s);
/* USER, SAY or THINK: nothing when it is blank. */
struct trace_event *build_words(struct trace_build *b, enum trace_event_kind kind,
                                const char *s, size_t len);
/* An event of mark.group says it already: one message may come in several records. */
bool build_is_said(const struct trace_build *b, enum trace_event_kind kind,
                   const char *s);
struct trace_event *build_result(struct trace_build *b, const char *call, const char *s,
                                 size_t len);
struct trace_event *build_result_json(struct trace_build *b, const char *call,
                                      const json_t *content);
void build_exit(struct trace_build *b, struct trace_event *e, int code);
void build_exit_json(struct trace_build *b, struct trace_event *e, const json_t *code);
/* Also of the edits of the same call. */
void build_failed(struct trace_build *b, struct trace_event *e);
/* "Exit code 2", "Process exited with code 2" … at the beginning of a tool's answer. */
void build_exit_in_text(struct trace_build *b, struct trace_event *e);
struct trace_event *build_edit(struct trace_build *b, const char *call, const char *tool,
                               const char *path, const char *s, size_t len, bool is_diff);
void build_usage(struct trace_build *b, uint64_t input, uint64_t output);
/* The latest event of the kind with this call id among the last some hundred, or NULL. */
struct trace_event *build_find(struct trace_build *b, enum trace_event_kind kind,
                               const char *call);
/* Keep those events for which keep says so. */
void build_filter(struct trace_build *b,
                  bool (*keep)(void *data, const struct trace_event *e,
                               const struct trace_mark *m),
                  void *data);
/* trace->model, cwd: the first one told. */
void build_name(char **field, const char *s);

/* What is in a "content": a string, a block {type, text} or a list of them; images and
 * other data are named in brackets. Appended. */
struct buf;
void content_text(struct buf *out, const json_t *content);
uint64_t build_count(const json_t *number); /* 0 for what is none */
