#include "skills/runs/run_marks.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/find.h"
#include "base/hash.h"
#include "base/words.h"
#include "skills/statistics/statistics.h"

/* --- pairs --- */

static int compare(const void *a, const void *b) {
    const json_t *x = ((const struct run_pair *)a)->skill;
    const json_t *y = ((const struct run_pair *)b)->skill;
    int order = strcmp(json_get_string(x, "model", ""), json_get_string(y, "model", ""));
    order = order ? order
                  : strverscmp(json_get_string(x, "test", ""),
                               json_get_string(y, "test", "")); /* t2 before t10 */
    json_int_t run = json_get_integer(x, "run", 0), other = json_get_integer(y, "run", 0);
    return order ? order : (run > other) - (run < other);
}

static bool is_of(const json_t *a, const json_t *b) {
    return json_says(a, "model", json_get_string(b, "model", "")) &&
           json_says(a, "test", json_get_string(b, "test", "")) &&
           json_get_integer(a, "run", 0) == json_get_integer(b, "run", 0);
}

static bool is_answer(const json_t *cell, const char *arm) {
    return json_says(cell, "arm", arm) && *json_get_string(cell, "output", "");
}

/* "model\ntest\nrun": the key under which a cell finds its baseline. */
static char *key_of(const json_t *cell) {
    return xasprintf("%s\n%s\n%lld", json_get_string(cell, "model", ""),
                     json_get_string(cell, "test", ""),
                     (long long)json_get_integer(cell, "run", 0));
}

struct run_pair *run_pairs(const json_t *batch, size_t *ret_count) {
    const json_t *cells = json_object_get(batch, "cells");
    struct run_pair *pairs = xcalloc(json_array_size(cells) + 1, sizeof *pairs);
    autojson *baselines = json_object();
    *ret_count = 0;
    json_each(cells, i, cell) {
        if (is_answer(cell, "baseline")) {
            autofree char *key = key_of(cell);
            json_object_set(baselines, key, cell);
        }
    }
    json_each(cells, i, cell) {
        autofree char *key = key_of(cell);
        const json_t *baseline = json_object_get(baselines, key);
        if (baseline && is_answer(cell, "skill")) {
            pairs[(*ret_count)++] = (struct run_pair){baseline, cell};
        }
    }
    qsort(pairs, *ret_count, sizeof *pairs, compare);
    return pairs;
}

bool run_pair_is_turned(const char *batch, const json_t *cell) {
    autofree char *key = key_of(cell);
    char hex[HASH_HEX_SIZE];
    struct hash h;
    hash_init(&h);
    hash_add_field(&h, batch, strlen(batch));
    hash_add_field(&h, key, strlen(key));
    hash_hex(&h, hex);
    return strchr("13579bdf", hex[0]) != NULL;
}

/* --- taking --- */

static int wrong(struct err *err, size_t i, const char *why) {
    return err_set(err, -EINVAL, "marks[%zu]: %s", i, why);
}

static const json_t *pair_of(const struct run_pair *pairs, size_t count,
                             const json_t *mark) {
    const struct run_pair wanted = {.skill = mark};
    const struct run_pair *found = bsearch(&wanted, pairs, count, sizeof *pairs, compare);
    return found ? found->skill : NULL;
}

/* "skill", "baseline", "same", or NULL. */
static const char *better(const char *batch, const json_t *cell, bool blind,
                          const char *choice) {
    bool turned = blind && run_pair_is_turned(batch, cell);
    return strcmp(choice, "same") == 0 ? "same"
           : strcmp(choice, "a") == 0  ? (turned ? "skill" : "baseline")
           : strcmp(choice, "b") == 0  ? (turned ? "baseline" : "skill")
                                       : NULL;
}

static int take_mark(json_t *marks, const json_t *batch, const struct run_pair *pairs,
                     size_t count, const json_t *given, size_t i, bool blind,
                     struct err *err) {
    const json_t *cell = pair_of(pairs, count, given);
    const json_t *note = json_object_get(given, "note");
    const char *name = json_get_string(batch, "run", "");
    const char *what =
        cell ? better(name, cell, blind, json_get_string(given, "choice", "")) : NULL;
    if (!cell) {
        return wrong(err, i, "the run has no pair of that model, test and run");
    }
    if (!what) {
        return wrong(err, i, "choice: expected a, b or same");
    }
    if (note && (!json_is_string(note) || json_string_length(note) > RUN_MARK_NOTE)) {
        return wrong(err, i, "note: expected a text of at most 2000 bytes");
    }
    json_array_append_new(
        marks,
        json_pack("{s:O,s:O,s:O,s:s,s:b,s:o*}", "model", json_object_get(cell, "model"),
                  "test", json_object_get(cell, "test"), "run",
                  json_object_get(cell, "run"), "better", what, "blind", blind, "note",
                  note ? json_clean_z(json_string_value(note)) : NULL));
    return 0;
}

static bool is_marked(const json_t *marks, const json_t *mark) {
    return json_any(marks, one, is_of(one, mark));
}

static int take_all(json_t *marks, const json_t *batch, const json_t *given,
                    struct err *err) {
    const json_t *list = json_object_get(given, "marks");
    const char *order = json_get_string(given, "order", "");
    const char *run = json_get_string(batch, "run", "");
    bool blind = strcmp(order, "blind") == 0;
    size_t count;
    if (!json_is_array(list) || json_array_size(list) > RUN_MARKS_MAX ||
        (!blind && strcmp(order, "open") != 0)) {
        return err_set(err, -EINVAL,
                       "this is not a file of marks: the page that upskillctl run show "
                       "--mark makes saves one");
    }
    if (!json_says(given, "run", run)) {
        return err_set(err, -EINVAL, "these marks are of the run %.64s, not of %.64s",
                       json_get_string(given, "run", "(none)"), run);
    }
    autofree struct run_pair *pairs = run_pairs(batch, &count);
    json_each(list, i, mark) {
        int rc = is_marked(marks, mark)
                     ? wrong(err, i, "this pair is marked twice")
                     : take_mark(marks, batch, pairs, count, mark, i, blind, err);
        if (rc < 0) {
            return rc;
        }
    }
    return 0;
}

json_t *run_marks_take(const json_t *batch, const json_t *given, struct err *err) {
    autojson *marks = json_array();
    if (take_all(marks, batch, given, err) < 0) {
        return NULL;
    }
    size_t taken = json_array_size(marks);
    json_each(json_object_get(batch, "marks"), i, old) {
        bool again = any_of(k, 0, taken, is_of(json_array_get(marks, k), old));
        if (!again) {
            json_array_append(marks, old);
        }
    }
    return json_incref(marks);
}

/* --- counting --- */

static int vote(const json_t *mark) {
    const char *what = json_get_string(mark, "better", "");
    return strcmp(what, "skill") == 0 ? 1 : strcmp(what, "baseline") == 0 ? -1 : 0;
}

/* {test: votes for the skill minus votes against it} of one model. */
static json_t *votes_of(const json_t *marks, const char *model, int *ret_marks,
                        int *ret_blind) {
    json_t *votes = json_object();
    *ret_marks = *ret_blind = 0;
    json_each(marks, i, mark) {
        const char *test = json_get_string(mark, "test", "");
        if (json_says(mark, "model", model)) {
            json_object_set_new(
                votes, test, json_integer(json_get_integer(votes, test, 0) + vote(mark)));
            *ret_marks += 1;
            *ret_blind += json_get_bool(mark, "blind", 0);
        }
    }
    return votes;
}

struct tests {
    size_t skill, baseline, same;
};

static double sign_test(const struct tests *t) {
    size_t n = t->skill + t->baseline;
    autofree double *signs = xcalloc(n + 1, sizeof *signs);
    for (size_t i = 0; i < n; i++) {
        signs[i] = i < t->skill ? 1 : -1;
    }
    return sign_flip_p(signs, n, 1);
}

static const char sentence_words[] =
    "A person finds the answers of {model~200} better with the skill in {skill} of {tests} "
    "tests, better without it in {baseline}, the same in {same}"
    "[ ({share.estimate%.0p} % of the decided ones, 95 % interval {share.low%.0p} to "
    "{share.high%.0p} %; sign test p = {p%.2g})]"
    "[{?blind=marks}; marked blind.|{?blind}; marked blind in part."
    "|; the person saw which was which.]";

static json_t *preference_of(const json_t *marks, const char *model) {
    int count, blind;
    struct tests t = {0};
    autojson *votes = votes_of(marks, model, &count, &blind);
    json_each_member(votes, test, sum) {
        json_int_t v = json_integer_value(sum);
        t.skill += v > 0;
        t.baseline += v < 0;
        t.same += v == 0;
        (void)test;
    }
    struct interval share = wilson_interval((double)t.skill, t.skill + t.baseline);
    double p = sign_test(&t);
    json_t *told = json_pack("{s:s,s:I,s:I,s:I,s:I,s:{s:o,s:o,s:o},s:o,s:i,s:i}", "model",
                             model, "tests", (json_int_t)json_object_size(votes), "skill",
                             (json_int_t)t.skill, "baseline", (json_int_t)t.baseline,
                             "same", (json_int_t)t.same, "share", "estimate",
                             json_finite(share.estimate), "low", json_finite(share.low),
                             "high", json_finite(share.high), "p", json_finite(p),
                             "marks", count, "blind", blind);
    autobuf words = BUF_INIT(4096);
    words_add(&words, sentence_words, told);
    json_object_set_new(told, "sentence", json_clean(words.data, words.len));
    return told;
}

json_t *run_marks_preference(const json_t *batch) {
    const json_t *marks = json_object_get(batch, "marks");
    autojson *seen = json_object();
    json_t *list = json_array_size(marks) ? json_array() : NULL;
    json_each(marks, i, mark) {
        const char *model = json_get_string(mark, "model", "");
        if (!json_object_get(seen, model)) {
            json_object_set_new(seen, model, json_true());
            json_array_append_new(list, preference_of(marks, model));
        }
    }
    return list;
}
