#pragma once
/* Students, a teacher and a check that are played, to drive the refinement engine without
 * models. A student passes a test with a chance that the text decides; its dice are a
 * hash of text, test, run and seed, so that the same question gets the same answer, and
 * another run another draw. */
#include "skills/refinement/refinement.h"
#include "skills/traces/redaction.h"

#include <stdint.h>

struct play {
    /* Chance that a test of a split is passed with a text. */
    double (*chance)(const struct play *p, enum test_split split, size_t test,
                     const char *text);
    /* The teacher's answer (new reference) to its n-th question, or NULL. */
    json_t *(*answer)(struct play *p, unsigned n, const char *prompt);
    /* What is wrong with a text, or NULL. */
    const char *(*problem)(const char *text);
    size_t tests[4]; /* by split */
    size_t variants; /* tests of one lesson, side by side; 0 = 1 */
    unsigned students;
    uint64_t seed;
    unsigned cancel_at, lack_at; /* the n-th hook that is answered so; 0 = none */
    enum refine_lack lack;
    void *data;

    enum { IDLE, LOOK, TEACH, CHECK } asked;
    struct refine_look look;
    char *text, *prompt;
    unsigned hooks, questions, looks[4];
    uint64_t answers; /* that students gave */
    bool over;
    enum refinement_stop stop;
};

static inline double play_dice(uint64_t x) {
    x ^= x >> 33; /* splitmix's finish */
    x *= 0xff51afd7ed558ccdull;
    x ^= x >> 33;
    x *= 0xc4ceb9fe1a85ec53ull;
    x ^= x >> 33;
    return (double)(x >> 11) / 9007199254740992.0;
}

static inline uint64_t play_hash(const char *text, uint64_t h) {
    for (; *text; text++) {
        h = (h ^ (unsigned char)*text) * 0x100000001b3ull;
    }
    return h;
}

static void play_look(void *host, struct refinement *r, const struct refine_look *look) {
    struct play *p = host;
    (void)r;
    p->asked = LOOK;
    p->look = *look;
}

static void play_teach(void *host, struct refinement *r, const char *system,
                       const char *prompt) {
    struct play *p = host;
    (void)r;
    (void)system;
    free(p->prompt);
    p->prompt = xstrdup(prompt);
    p->asked = TEACH;
}

static void play_check(void *host, struct refinement *r, const char *text) {
    struct play *p = host;
    (void)r;
    free(p->text);
    p->text = xstrdup(text);
    p->asked = CHECK;
}

static void play_stop(void *host) {
    (void)host;
}

static const struct refinement_hooks play_hooks = {play_look, play_teach, play_check,
                                                   play_stop, NULL};

static inline void play_done(struct refinement *r, enum refinement_stop stop,
                             void *data) {
    struct play *p = data;
    (void)r;
    p->over = true;
    p->stop = stop;
}

/* Another name for each; up to 32. */
static inline const char *play_lesson(const struct play *p, size_t test) {
    static const char marks[] = "********************************";
    return marks + test / (p->variants ? p->variants : 1);
}

static inline void play_test(struct play *p, size_t text, size_t test,
                             struct refine_score *ret) {
    const struct refine_look *q = &p->look;
    double chance = p->chance(p, q->split, test, q->texts[text]);
    ret->lesson = play_lesson(p, test);
    uint64_t h = play_hash(q->texts[text], p->seed * 0x9e3779b97f4a7c15ull + test);
    for (unsigned run = 0; run < q->runs * p->students; run++) {
        uint64_t number =
            ((uint64_t)q->first_run << 20) + run + ((uint64_t)q->split << 40);
        ret->passed += play_dice(h + number * 0x9e3779b97f4a7c15ull) < chance;
        ret->graded++;
        p->answers++;
    }
}

static inline void play_answer_look(struct play *p, struct refinement *r,
                                    enum refine_lack lack) {
    struct refine_look q = p->look;
    size_t n = p->tests[q.split];
    struct refine_score *scores[2] = {xcalloc(n + 1, sizeof(struct refine_score)),
                                      xcalloc(n + 1, sizeof(struct refine_score))};
    json_t *failures = json_array();
    for (size_t t = 0; t < q.text_count; t++) {
        for (size_t i = 0; i < n; i++) {
            play_test(p, t, i, &scores[t][i]);
            if (q.failures && scores[t][i].passed < scores[t][i].graded) {
                json_array_append_new(failures,
                                      json_pack("{s:s,s:s,s:[{s:s,s:s,s:s}],s:s,s:i,s:i}",
                                                "test", "t", "input", "Which?", "checks",
                                                "check", "contains", "expected", "it",
                                                "message", "", "answer", "Nothing.",
                                                "passed", (int)scores[t][i].passed,
                                                "asked", (int)scores[t][i].graded));
            }
        }
    }
    p->looks[q.split]++;
    const struct refine_score *const lent[2] = {scores[0], scores[1]};
    refinement_looked(r, lack, lent, n, failures, "the students are away");
    free(scores[0]);
    free(scores[1]);
}

/* One hook is answered. */
static inline void play_step(struct play *p, struct refinement *r) {
    int asked = (int)p->asked;
    p->asked = IDLE;
    p->hooks++;
    if (p->hooks == p->cancel_at) {
        refinement_cancel(r);
    }
    enum refine_lack lack = p->hooks == p->lack_at ? p->lack : REFINE_FINE;
    if (asked == LOOK) {
        play_answer_look(p, r, lack);
    } else if (asked == TEACH) {
        autojson *answer = p->answer(p, p->questions++, p->prompt);
        refinement_taught(r, lack, answer, "the teacher is away");
    } else {
        autofree char *text = take(p->text);
        refinement_checked(r, lack, p->problem ? p->problem(text) : NULL);
    }
}

/* Plays one refinement to its end; returns it, to be freed. */
static inline struct refinement *play(struct play *p, const char *text, unsigned rounds,
                                      unsigned runs) {
    struct redaction *redaction = redaction_new(NULL);
    const struct refinement_options o = {.text = text,
                                         .rounds = rounds,
                                         .runs = runs,
                                         .redaction = redaction,
                                         .hooks = &play_hooks,
                                         .host = p,
                                         .done = play_done,
                                         .data = p};
    struct refinement *r = refinement_start(&o);
    while (!p->over) {
        play_step(p, r);
    }
    free(take(p->prompt));
    free(take(p->text));
    redaction_free(redaction); /* no teacher is asked any more */
    return r;
}
