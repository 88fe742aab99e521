#include "skills/grading/quality.h"

#include "base/buf.h"
#include "skills/grading/expected.h"
#include "skills/grading/grade.h"

#define MAX_AT_ONCE 8

struct mark {
    const char *mark, *message;
};
#include "skills/quality_marks_table.h"

enum probe { PROBE_EMPTY, PROBE_SKILL, PROBE_ECHO, PROBES, MARK_JUDGE_ONLY = PROBES };

struct probing {
    struct quality *quality;
    size_t test;
    enum probe probe;
    struct grading *grading;
};

struct quality {
    struct grade_room room;
    const struct suite *suite;
    char *skill_text;
    uv_timer_t timer; /* begins */
    quality_done *done;
    void *data;
    unsigned char *found;              /* one bit a mark, for each test */
    struct probing slots[MAX_AT_ONCE]; /* grading NULL: free */
    size_t running, next;              /* next: test * PROBES + probe */
    bool cancelled;
};

const char *quality_mark_message(const char *mark) {
    const struct mark *m = marks;
    while (m->mark && strcmp(m->mark, mark) != 0) {
        m++;
    }
    return m->message;
}

const char *quality_of_results(double baseline, double skill) {
    return baseline >= 1 && skill >= 1   ? "always_passes"
           : baseline <= 0 && skill <= 0 ? "never_passes"
                                         : NULL;
}

static bool is_judge_only(const struct test_case *test) {
    json_each_member(test->expected, check, value) {
        if (!expected_is_judged(check)) {
            return false;
        }
    }
    return true;
}

static void add_marks(json_t *list, const struct test_case *test, unsigned found) {
    autobuf message = BUF_INIT(1024);
    json_t *names = json_array();
    for (size_t i = 0; marks[i].mark; i++) {
        if (found & (1u << i)) {
            json_array_append_new(names, json_string(marks[i].mark));
            buf_addf(&message, "%s%s", message.len ? "; " : "", marks[i].message);
        }
    }
    json_array_append_new(list, json_pack("{s:s,s:o,s:s}", "id", test->id, "marks", names,
                                          "message", message.data));
}

static void on_closed(uv_handle_t *handle) {
    struct quality *q = container_of((uv_timer_t *)handle, struct quality, timer);
    free(q->skill_text);
    free(q->found);
    free(q);
}

static void finish(struct quality *q) {
    json_t *list = q->cancelled ? NULL : json_array();
    for (size_t i = 0; list && i < q->suite->count; i++) {
        if (q->found[i]) {
            add_marks(list, &q->suite->tests[i], q->found[i]);
        }
    }
    q->done(q, list, q->data);
    uv_close((uv_handle_t *)&q->timer, on_closed);
}

static void start_more(struct quality *q);

static void on_grade(struct grading *, const struct grade *grade, void *data) {
    struct probing *p = data;
    struct quality *q = p->quality;
    if (grade->outcome == GRADE_PASSED) {
        q->found[p->test] |= (unsigned char)(1u << p->probe);
    }
    p->grading = NULL;
    q->running--;
    start_more(q);
}

/* The answer of a probe; NULL: nothing to ask. Freed by the caller. */
static char *answer_of(const struct quality *q, const struct test_case *test,
                       enum probe probe) {
    return probe == PROBE_EMPTY  ? xstrdup("")
           : probe == PROBE_ECHO ? test_case_prompt(test)
           : q->skill_text       ? xstrdup(q->skill_text)
                                 : NULL;
}

static void start_probe(struct quality *q, size_t test, enum probe probe) {
    struct probing *p = q->slots;
    autofree char *answer = answer_of(q, &q->suite->tests[test], probe);
    /* Judges are not asked here, so a test that only a judge decides would pass every
     * probe. */
    if (!answer || (q->found[test] & (1u << MARK_JUDGE_ONLY))) {
        return;
    }
    while (p->grading) {
        p++;
    }
    *p = (struct probing){.quality = q, .test = test, .probe = probe};
    q->running++;
    p->grading = grading_start(&q->room, &q->suite->tests[test], answer, strlen(answer),
                               on_grade, p);
}

static void start_more(struct quality *q) {
    while (!q->cancelled && q->running < MAX_AT_ONCE &&
           q->next < q->suite->count * PROBES) {
        size_t at = q->next++;
        start_probe(q, at / PROBES, (enum probe)(at % PROBES));
    }
    if (q->running == 0) {
        finish(q);
    }
}

/* On a timer, because done never comes from inside quality_start. */
static void on_begin(uv_timer_t *timer) {
    start_more(container_of(timer, struct quality, timer));
}

struct quality *quality_start(const struct grade_room *room, const struct suite *suite,
                              const char *skill_text, size_t len, quality_done *done,
                              void *data) {
    struct quality *q = xcalloc(1, sizeof *q);
    *q = (struct quality){.room = *room,
                          .suite = suite,
                          .skill_text = skill_text ? xstrndup(skill_text, len) : NULL,
                          .done = done,
                          .data = data,
                          .found = xcalloc(suite->count + 1, 1)};
    q->room.unjudged = true;
    for (size_t i = 0; i < suite->count; i++) {
        if (is_judge_only(&suite->tests[i])) {
            q->found[i] = 1u << MARK_JUDGE_ONLY;
        }
    }
    uv_timer_init(room->loop, &q->timer);
    uv_timer_start(&q->timer, on_begin, 0, 0);
    return q;
}

void quality_cancel(struct quality *q) {
    if (q->cancelled) {
        return;
    }
    q->cancelled = true;
    for (size_t i = 0; i < MAX_AT_ONCE; i++) {
        if (q->slots[i].grading) {
            grading_cancel(q->slots[i].grading);
        }
    }
}
