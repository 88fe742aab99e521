#pragma once
/* evaluate_operation: declarations shared by the files of skill/evaluate. */
#include "protocol/call.h"
#include "skills/evaluation/agent_student.h"
#include "skills/evaluation/evaluation.h"
#include "skills/evaluation/evaluation_subject.h"

struct skills;

/* The resolved params; no file has been read yet. */
struct evaluate_request {
    struct subject_request subject; /* owns its strings; its JSON belongs to the params */
    char *runs_dir;
    struct student students[EVALUATION_MAX_STUDENTS];
    struct model models[EVALUATION_MAX_STUDENTS];
    struct agent_student agents[EVALUATION_MAX_STUDENTS];
    size_t student_count;
    struct model judge_model;
    const struct model *judge; /* NULL or the above */
    struct model_budget budget;
    unsigned deadline_ms, runs, concurrency;
    uint64_t seed;
    bool fresh, record, record_in_skill, models_only;
    const char *baseline_from; /* borrowed from the params */
    json_t *source;            /* of the skill: catalog_source */
};

/* Fails the call (and returns -1) if the params name something that does not exist. The
 * catalog must be current. models_only: agents are not allowed as students. */
int evaluate_request_read(struct evaluate_request *ret, struct skills *skills,
                          struct call *call, const json_t *params, bool models_only);
void evaluate_request_finish(struct evaluate_request *r);

/* The estimated use, before the first question (tokens.h; an answer counts as
 * EVALUATE_ANSWER_TOKENS). */
#define EVALUATE_ANSWER_TOKENS 400u
struct evaluate_estimate {
    uint64_t tokens;
    double cost; /* negative: unknown */
    size_t answers;
    /* The cheapest complete pairs of one run over VERDICT_MIN_TESTS tests (or all, if
     * there are fewer), for every student. */
    uint64_t least_tokens;
    double least_cost;
};
void evaluate_estimate(struct evaluate_estimate *ret, const struct evaluate_request *r,
                       const struct subject *s);
