#pragma once
/* generate_flow: one running skill/generate, and its parts.
 *
 * reading (thread) -> [waiting for the host's draft] -> staging (thread) -> checking ->
 * testing -> saving (thread) -> [installing] -> [evaluating] -> the answer. Everything
 * but the threads runs on the loop. */
#include "base/err.h"
#include "protocol/call.h"
#include "skills/evaluation/suite.h"
#include "skills/generation/generate_request.h"
#include "skills/generation/skill_save.h"

#define GENERATE_ROUNDS 3u

struct skill_check;
struct quality;
struct generating;
typedef void generate_step(struct generating *g);

struct generating {
    uv_work_t work;
    generate_step *job, *next; /* on the thread; then on the loop */
    struct call *call;         /* a reference */
    struct generate_request request;
    struct material material;
    struct skill_draft draft;
    struct skill_stage stage;
    json_t *aside; /* final files that do not compile alone */
    json_t *check; /* of the staged skill */
    json_t *result;
    struct suite candidates;
    json_t *tests; /* that are saved */
    size_t marked, wanted;
    unsigned round;
    volatile bool cancelled;
    const char *nothing; /* why there is no skill */
    struct skill_check *checking;
    struct quality *quality;
    struct call *nested; /* install, evaluation */
    struct call_view view;
    generate_step *after_nested;
    struct err err;
    json_t *refused; /* findings that stand in the way */
    struct generating *next_waiting;
};

/* job on a thread of the pool, then next on the loop. */
void generate_on_thread(struct generating *g, generate_step *job, generate_step *next);
void generate_end(struct generating *g); /* answers and frees */
/* Draft -> stage -> check -> …; g->draft is there. */
void generate_use_draft(struct generating *g);

/* --- the host's part (generate_host.c) --- */
/* Ask for a draft; problem: what was wrong with the last one, or NULL. */
void generate_ask_host(struct generating *g, const char *problem);
void generate_forget_host(struct generating *g);
/* {job, draft} */
void generate_give_draft(struct call *call, const json_t *params);

/* --- tests (generate_tests.c) --- */
void generate_make_tests(struct generating *g);                  /* thread */
void generate_choose_tests(struct generating *g, json_t *marks); /* marks are taken */
json_t *generate_meta(struct generating *g); /* skill_meta.json's value */
