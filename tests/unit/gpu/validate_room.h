#pragma once
/* validate_room: kernel/validate from the request to the answer, with a worker that is
 * played (fake_worker.c). */
#include "check_room.h"
#include "protocol/call.h"

#define KERNEL(name, symbol)                                                             \
    "{\"name\":\"" name "\",\"symbol\":\"" symbol "\",\"file\":\"k.cu\",\"line\":3,"     \
    "\"registers\":16,\"static_shared_bytes\":0,\"max_threads\":512,"                    \
    "\"parameters\":[\"x\",\"n\"]}"
#define COMPILED(findings)                                                               \
    "{\"result\":{\"outcome\":\"compiled\",\"diagnostics\":[" findings                   \
    "],\"kernels\":[" KERNEL("k", "k_") "," KERNEL(                                      \
        "t<float>", "t_") "],\"ptx\":\"P\",\"cubin\":\"QUJD\"}}"
#define WARNING "{\"source\":\"nvrtc\",\"severity\":\"warning\",\"message\":\"w\"}"
#define ERROR                                                                            \
    "{\"source\":\"nvrtc\",\"severity\":\"error\",\"code\":\"c\",\"message\":\"bad\","   \
    "\"file\":\"k.cu\",\"line\":2}"
#define REJECTED                                                                         \
    "{\"result\":{\"outcome\":\"rejected\",\"diagnostics\":[" ERROR "],\"kernels\":[]}}"
#define PASSED(more)                                                                     \
    "{\"result\":{\"verdict\":\"pass\",\"cases\":[],\"findings\":[],"                    \
    "\"phases\":[{\"phase\":\"run\",\"ms\":5}]" more "}}"

#define MAX_TOLD 64

/* What a view of the call was told. */
struct told {
    double done, total;
    char message[128];
};

struct validate_room {
    struct check_room base;
    struct operation_table *table;
    struct call_view view;
    char log[64];
    struct told told[MAX_TOLD];
    size_t tellings;
    int ends;
    size_t cancel_at; /* the telling that cancels it, from 1 on */
};

/* compile, validate: lists of answers (fake_worker.c), without their brackets. */
void validate_room_open(struct validate_room *r, const char *compile,
                        const char *validate);
void validate_room_close(struct validate_room *r);
/* Starts it; params are stolen. The caller's reference. */
struct call *validate_room_begin(struct validate_room *r, json_t *params);
void validate_room_wait(struct validate_room *r, struct call *call); /* until its end */
/* From begin to end; it succeeds. The result: a new reference. */
json_t *validate_room_run(struct validate_room *r, json_t *params);
/* It fails like this; words are a part of the message. */
void validate_room_refuses(struct validate_room *r, json_t *params, enum call_fault fault,
                           const char *reason, const char *words);
/* Of launches of k<<<1, (32, 2, 1), 1024>>>(x, n) on n = 4 and 5, and more. */
json_t *validate_room_params(const char *more);
/* The params of the n-th request of a method, from 0 on: a new reference, or NULL. */
json_t *validate_room_asked(const struct validate_room *r, const char *method, size_t n);
void validate_room_told(struct call *call, void *data); /* the view's progress */
