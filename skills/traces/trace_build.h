#pragma once
/* trace_build: adds events to a trace, within its limits, for the readers of the formats.
 * Each text is cleaned and cut on arrival. When all texts together exceed TRACE_MAX_KEPT,
 * all long ones are cut shorter, so that a long trace keeps all of its events. */
#include "skills/traces/trace.h"

/* Readers call this for nearly every word of a record. */
static inline bool is(const char *s, const char *word) {
    return strcmp(s, word) == 0;
}

struct trace_odd;
struct trace_mark {
    uint32_t record; /* the format's record from which the event came; for the reader */
    uint32_t call;   /* hash of the call id, 0 without */
    uint32_t group;  /* for the reader */
    bool side;       /* of a sub-agent */
    bool tentative;  /* may repeat another event */
};

struct trace_build {
    struct trace *trace;
    struct trace_mark *marks; /* one per event */
    size_t cap;
    size_t kept;     /* bytes of all texts */
    size_t max_text; /* of one event, now */
    unsigned moved;  /* how often events have changed their indices */
    void *state;     /* of the format, as is odd */
    const struct trace_odd *odd;
    size_t left_out;        /* bytes already cut from its strings */
    struct trace_mark mark; /* for new events */
};

void build_init(struct trace_build *b, struct trace *t);
/* Numbers the events; frees everything that the trace does not own. */
void build_finish(struct trace_build *b);

/* Call it before a record: if the events are near their limit, it drops some that are
 * neither among the first nor the latest. Events may move. */
void build_room(struct trace_build *b);
/* A new event, or NULL (and counted) over the limits; valid until the next one is
 * added. */
struct trace_event *build_event(struct trace_build *b, enum trace_event_kind kind);
/* The functions below accept e == NULL. Sets the text to s, cleaned and cut. */
void build_set_text(struct trace_build *b, struct trace_event *e, const char *s,
                    size_t len);
void build_set(struct trace_build *b, char **field, const char *s); /* a short string */
void build_set_call(struct trace_build *b, struct trace_event *e, const char *call);
void build_set_command(struct trace_build *b, struct trace_event *e, const char *s);
/* USER, SAY or THINK; adds nothing if the text is blank. */
struct trace_event *build_words(struct trace_build *b, enum trace_event_kind kind,
                                const char *s, size_t len);
/* Whether an event of mark.group has this text already: one message may be in several
 * records. */
bool build_is_said(const struct trace_build *b, enum trace_event_kind kind,
                   const char *s);
struct trace_event *build_result(struct trace_build *b, const char *call, const char *s,
                                 size_t len);
struct trace_event *build_result_json(struct trace_build *b, const char *call,
                                      const json_t *content);
void build_exit(struct trace_build *b, struct trace_event *e, int code);
void build_exit_json(struct trace_build *b, struct trace_event *e, const json_t *code);
/* Also marks the edits of the same call. */
void build_failed(struct trace_build *b, struct trace_event *e);
/* Reads "Exit code 2", "Process exited with code 2" … at the beginning of a tool's
 * answer. */
void build_exit_in_text(struct trace_build *b, struct trace_event *e);
struct trace_event *build_edit(struct trace_build *b, const char *call, const char *tool,
                               const char *path, const char *s, size_t len, bool is_diff);
void build_usage(struct trace_build *b, uint64_t input, uint64_t output);
/* The latest event of the kind with this call id among the last few hundred, or NULL. */
struct trace_event *build_find(struct trace_build *b, enum trace_event_kind kind,
                               const char *call);
/* Keeps the events for which keep returns true. */
void build_filter(struct trace_build *b,
                  bool (*keep)(void *data, const struct trace_event *e,
                               const struct trace_mark *m),
                  void *data);
/* trace->model, cwd: sets the field unless it is set. */
void build_name(char **field, const char *s);

/* Appends the text of a "content": a string, a block {type, text} or a list of them;
 * images and other data are named in brackets. */
void content_text(struct buf *out, const json_t *content);
uint64_t build_count(const json_t *number); /* 0 if it is not a count */
