#pragma once
/* evaluate_room: skill/evaluate as a caller meets it, with models that are played: this
 * stands in the place of skills/models/model_client.c. */
#include "protocol/call.h"
#include "protocol/operation.h"
#include "skills/evaluation/evaluation_room.h"
#include "skills/models/model_client.h"

struct skills;

/* What a played model does with one question. */
struct played {
    enum model_outcome outcome;
    const char *text, *reason, *message, *hint;
    uint64_t input, output;
    bool unreported;   /* its endpoint tells no usage */
    unsigned delay_ms; /* 0: at once, from the loop */
};

/* A question that was asked. */
struct question {
    char *model, *system, *text;
    unsigned run, at_once, max_tokens;
    bool no_cache;
};

struct evaluate_room {
    uv_loop_t loop;
    struct operation_table *table;
    struct skills *skills;
    struct evaluation_room *room;
    struct call_origin origin;
    char home[64];
    char *work; /* the root */
    const char *roots[2];
    struct call_view view;
    int ends, closed;
    double done, total; /* as told last */
    char first[200];    /* what was told first */
    /* The student: helped by the skill's word alone, unless a test says otherwise. */
    void (*play)(const struct evaluate_room *r, const struct question *q,
                 struct played *ret);
    struct question *questions;
    size_t count, in_flight, most_in_flight;
    size_t cancel_at; /* the question that cancels the call, from 1 on */
    struct call *call;
    double keep_partial_at; /* what is known when so much is told to be done, */
    json_t *partial;        /* to be released */
};

/* config NULL: nothing is configured. The skill `words`, whose word is marigold, lies in
 * skills/words of the root. */
void evaluate_room_open(struct evaluate_room *r, const json_t *settings);
void evaluate_room_close(struct evaluate_room *r);
void evaluate_room_write(const struct evaluate_room *r, const char *name,
                         const char *text);
/* Params of an evaluation of `words` by generic.m with n tests ("q0" …), whose members
 * more (JSON text of an object) replaces or, with null, removes. */
json_t *evaluate_room_params(size_t n, const char *more);
/* Asks (params are stolen) until the call has ended; the caller's reference. */
struct call *evaluate_room_ask(struct evaluate_room *r, json_t *params);
/* The result of a call that succeeds: a new reference. */
json_t *evaluate_room_result(struct evaluate_room *r, json_t *params);
/* It fails with a reason, or at a param; words are a part of the message. */
void evaluate_room_fails(struct evaluate_room *r, json_t *params, const char *reason,
                         const char *words);
/* The student's table of an arm, borrowed from a result. */
const json_t *evaluate_arm(const json_t *result, size_t student, size_t arm);
/* passes with the skill's word */
void play_helped(const struct evaluate_room *r, const struct question *q,
                 struct played *ret);
