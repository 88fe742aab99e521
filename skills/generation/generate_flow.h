#pragma once
/* generate_flow: one running skill/generate, and its parts.
 *
 * [fetching] -> reading (thread) -> asking (model or host), of traces twice: the draft goes
 * back once with what it cites; or writing (builtin) -> staging (thread) -> checking, and if it fails back to asking, with the problem ->
 * testing -> [refining] -> saving (thread) -> [installing] -> [evaluating] -> the answer.
 * Everything except the threads runs on the loop. Each step ends by calling the next one,
 * or generate_end at the end; the skill's place is not written before saving. */
#include "base/err.h"
#include "skills/evaluation/evaluation_room.h"
#include "skills/generation/generate_request.h"
#include "skills/generation/skill_save.h"
#include "skills/generation/teacher_prompts.h"
#include "skills/grading/suite.h"
#include "skills/models/model_client.h"

#define GENERATE_ROUNDS 3u
#define GENERATE_DRAWS 100u /* of kept drafts that cannot be used */
#define GENERATE_PART_TOKENS 7000u /* of an order: agents cut a tool's answer at 10,000 tokens, or a command's at 30,000 bytes */

/* The stages that progress reports. */
enum generate_stage {
    GENERATE_READING,
    GENERATE_ASKING,
    GENERATE_CHECKING,
    GENERATE_TESTING,
    GENERATE_REFINING,
    GENERATE_SAVING,
    GENERATE_MEASURING,
    GENERATE_STAGES,
};

struct fetching;
struct generating;
struct skill_check;
struct testing;
typedef void generate_step(struct generating *g);

struct generating {
    struct work *work;         /* or NULL */
    generate_step *job, *next; /* on the thread; then on the loop */
    struct call *call;         /* a reference */
    struct generate_request request;
    struct material material;
    struct skill_draft draft; /* the staged draft; the refinement may replace its text */
    struct skill_stage stage;
    json_t *aside;      /* final files that do not compile alone */
    json_t *check;      /* of the staged skill */
    json_t *base_check; /* of the skill to improve, before; or NULL */
    json_t *result;
    json_t *tests;           /* the tests to save: suite.h's form, with splits */
    struct testing *testing; /* for generate_tests.c; not NULL while it works */
    json_t *tests_report;    /* of the result: see generate_test */
    json_t *given_tests;     /* the host's, not yet checked; or NULL */
    json_t
        *refinement; /* {"rounds", "kept", …} of the result and of provenance, or NULL */
    void *refining;  /* for generate_refine.c; not NULL while it works */
    struct evaluation_room *room; /* NULL only when the daemon ends */
    struct evaluation_guest guest;
    struct model_budget budget; /* of teacher, students and judge together */
    uint64_t deadline_ms;       /* clock_ms() when the time is over; 0 = never */
    struct fetching *fetching;
    struct model_call *asking;
    void (*answered)(struct generating *g, const struct model_answer *answer);
    size_t heard; /* bytes of the answer received so far */
    uint64_t heard_ms;
    const char *heard_what;
    enum generate_stage heard_stage;
    char *question;            /* the first of them: the teacher's prompt */
    char *answer;              /* the last draft as received, for the next question */
    unsigned requests, cached; /* of the teacher */
    unsigned round;            /* number of drafts requested */
    json_t *told;    /* teacher_told; NULL: no trace was given */
    char *first;     /* the first good draft from traces, until another one passes its check; or NULL */
    json_t *review;  /* what the first good draft cites, for its proof, in parts; or NULL */
    json_t *unshown; /* citations of the last draft that were dropped */
    char *remarks;   /* on that draft: what its check warns of, and unshown; or NULL */
    bool reviewed;   /* that was looked for, and the draft went back if it cites anything */
    bool unreviewed; /* the teacher did not answer then, or with nothing of use */
    size_t part;     /* of told or review: index of the one in the last order … */
    bool more_parts; /* … behind which others come */
    unsigned draws; /* times that all of these were kept answers, and of no use */
    bool cancelled;
    bool keeps; /* keep the improved skill's text: nothing says how to change it */
    const char *nothing; /* why there is no skill */
    char *said;          /* the teacher's words for it */
    struct skill_check *checking;
    generate_step *after_checking; /* for a text that must not be revised */
    struct call *nested;           /* install, evaluation */
    struct call_view view;
    generate_step *after_nested;
    char *kept_draft; /* the file of one that could not be saved; or NULL */
    struct err err;
    enum call_fault fault; /* for err, with the next two, if reason is set */
    char *reason, *hint;
    json_t *refused; /* findings that prevent saving */
    struct generating *next_hosted;
};

/* job on a thread of the pool, then next on the loop. A cancellation may skip job: next
 * must check generate_is_over. */
void generate_on_thread(struct generating *g, generate_step *job, generate_step *next);
/* A teacher's drafts that are of no use were another command's if it was not asked: then
 * it is. */
bool generate_may_draw_again(const struct generating *g);
/* The task that skill_meta.json keeps; NULL: there is none, or it is unsafe. */
const char *generate_kept_task(const struct generating *g);
/* The name that the caller gave; NULL: the teacher's choice. */
const char *generate_asked_name(const struct generating *g);
int generate_may_replace(struct generating *g); /* skill_may_replace of the stage */
/* The same of the place that the caller named, before a teacher writes for it. */
int generate_may_ask(struct generating *g);
/* Stages the draft; a name that the teacher chose and that another skill has gets a
 * number. Blocking. */
void generate_stage_draft(struct generating *g);
/* Without the secrets that the material's redaction knows or finds. */
char *generate_redacted(const struct generating *g, const char *text);
/* The call fails, and a teacher wrote something. */
bool generate_has_lost_draft(const struct generating *g); /* generate_keep.c */
void generate_keep_draft(struct generating *g); /* sets kept_draft; blocking */
/* Another skill took the place before the draft was saved: stage it again. */
bool generate_lost_place(const struct generating *g);
void generate_end(struct generating *g);        /* answers and frees */
/* Cancelled, failed, or nothing to teach: call generate_end. */
bool generate_is_over(const struct generating *g);
/* Sets the error of the call (the first one counts); returns -1. generate_end must still
 * be called. */
int generate_fail(struct generating *g, enum call_fault fault, const char *reason,
                  const char *hint, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
/* Whether a check has a finding with this code and message, on any line. */
bool generate_has_finding(const json_t *check, const json_t *finding);
/* The teacher of traces answers that there is nothing to teach: g->nothing is its reason. */
bool generate_says_nothing(struct generating *g, const char *answer);
void generate_add_finding(struct buf *text, size_t i, const json_t *finding); /* i: that many before */
/* What does not keep the draft from being saved, and its writer should know. Malloc'ed. */
char *generate_remarks(const struct generating *g);
/* generate_stage_draft of a teacher's, without the evidence of which the line that cites it says nothing. */
void generate_stage_cited(struct generating *g);
/* Sets review and first, of the last answer. Blocking. */
void generate_find_review(struct generating *g);
/* A proof costs no draft: where those behind the first good one were all of no use, that one is
 * g->draft again. */
bool generate_reads_first(struct generating *g);
void generate_forgive(struct generating *g); /* clears the error and continues */
void generate_report(struct generating *g, enum generate_stage stage, const char *fmt,
                     ...) __attribute__((format(printf, 3, 4)));

/* --- the steps --- */
void generate_begin(struct generating *g); /* g->request is there */
void generate_fetch(struct generating *g); /* generate_fetch.c */
void generate_fetch_stop(struct generating *g);
void generate_read(struct generating *g);
/* Returns a rejected draft to its writer. */
void generate_mend(struct generating *g, const char *problem);
/* Stages and checks g->draft, then goes on to testing; the first good one from traces goes back to
 * its teacher before, with what it cites. */
void generate_use_draft(struct generating *g);
/* Stages and checks the draft, then calls next. For a text that passed its check before:
 * if it does not pass, the call ends with the findings. */
void generate_stage_again(struct generating *g, generate_step *next);
/* Sets g->tests and g->tests_report {"wanted", "kept": of the improved skill, "taken":
 * new ones, "seen": candidates, "marked": that passed an answer without merit,
 * "repeated", "broken", "reason"?: for fewer than wanted}. */
void generate_test(struct generating *g);
void generate_test_stop(struct generating *g);
void generate_test_free(struct generating *g);
void generate_test_given(struct generating *g); /* g->given_tests came */
/* Improves g->draft on the students' failures, stages it (generate_stage_again) and sets
 * g->refinement; or does nothing. Then calls next. */
void generate_refine(struct generating *g, generate_step *next); /* generate_refine.c */
/* While g->refining: stops it; then it ends like any step. */
void generate_refine_stop(struct generating *g);
void generate_save(struct generating *g);

/* --- the host's part (generate_host.c) --- */
/* Asks for a draft; problem: the error in the last one, or NULL. */
void generate_ask_host(struct generating *g, const char *problem);
/* One more job whose caller is to write; -1: generate_fail was called, they are too many. */
int generate_enter_host(struct generating *g);
void generate_ask_host_review(struct generating *g);
void generate_forget_host(struct generating *g); /* no draft is taken for it any more */
/* {job, draft} */
void generate_give_draft(struct call *call, const json_t *params);
/* Asks for tests only, for an accepted draft; problem as above. */
void generate_ask_host_tests(struct generating *g, const char *problem, size_t count);

/* --- a model's part (generate_model.c) --- */
struct teacher_question {
    const char *system;
    struct model_message messages[3];
    size_t count;
    const json_t *schema; /* or NULL */
    const char *schema_name;
    unsigned run; /* another sample for the same question */
    enum generate_stage stage;
    const char *what; /* text of progress while it answers; static */
};
/* Not called after a cancellation: then the call ends. */
typedef void teacher_answered(struct generating *g, const struct model_answer *answer);
/* Budget, deadline and cancellation are g's. -1: generate_fail was called. */
int generate_ask_teacher(struct generating *g, const struct teacher_question *q,
                         teacher_answered *answered);
void generate_ask_model(struct generating *g, const char *problem);
void generate_ask_model_review(struct generating *g);
struct teacher_material generate_teacher_material(const struct generating *g);
