/* Lookup on a set of skills and tasks written for it (data/lookup), split in halves by
 * the hash of the task: one to develop on, one to measure with. */
#include "base/hash.h"
#include "tests/unit/skills/lookup.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>

struct tally {
    int tasks, first, within_five, empty;
    int sure, sure_right; /* first ones told as 0.9 or more; of these the right ones */
};
enum kind { SHORT, LONG, NONE, KINDS };
static const char *const kind_names[] = {"short tasks", "long tasks", "no skill fits"};

static void write_skill(const struct fixture *f, const json_t *o) {
    autobuf body = BUF_INIT(64u << 10);
    const json_t *heading;
    size_t i;
    json_array_foreach(json_object_get(o, "headings"), i, heading) {
        buf_addf(&body, "## %s\n\n%s\n\n", json_string_value(heading),
                 i == 0 ? json_get_string(o, "body", "") : "");
    }
    fixture_skill(f, "user", json_get_string(o, "skill", ""),
                  json_get_string(o, "description", ""), body.data);
}

/* Writes the skills; returns the tasks. */
static json_t *read_set(const struct fixture *f) {
    autobuf text = BUF_INIT(1u << 20);
    json_t *tasks = json_array();
    cr_assert(zero(int, file_read(TEST_DATA "/lookup/lookup.jsonl", &text, NULL)));
    char *rest = NULL;
    for (char *line = strtok_r(text.data, "\n", &rest); line;
         line = strtok_r(NULL, "\n", &rest)) {
        autojson *o = json_loads(line, 0, NULL);
        cr_assert(ne(ptr, o, NULL));
        if (json_object_get(o, "skill")) {
            write_skill(f, o);
        } else {
            json_array_append(tasks, o);
        }
    }
    return tasks;
}

static int place_of(const json_t *matches, const char *name) {
    const json_t *m;
    size_t i;
    json_array_foreach(matches, i, m) {
        if (strcmp(json_get_string(m, "name", ""), name) == 0) {
            return (int)i;
        }
    }
    return -1;
}

static void check_shape(const json_t *result) {
    const json_t *m;
    size_t i;
    json_array_foreach(json_object_get(result, "matches"), i, m) {
        double score = json_number_value(json_object_get(m, "score"));
        cr_assert(score >= 0 && score <= 1);
        cr_assert(strlen(json_get_string(m, "why", "")) > 0);
    }
    cr_assert(json_array_size(json_object_get(result, "nearest")) <= 3);
    json_array_foreach(json_object_get(result, "nearest"), i, m) {
        cr_assert(json_number_value(json_object_get(m, "score")) < 0.5);
        cr_assert(strstr(json_get_string(m, "why", ""), "but ") != NULL);
    }
}

static void ask(struct fixture *f, const json_t *o, struct tally tallies[2][KINDS]) {
    const char *task = json_get_string(o, "task", "");
    const char *gold = json_get_string(o, "gold", NULL);
    char hex[HASH_HEX_SIZE];
    hash_bytes_hex(task, strlen(task), hex);
    int held_out = strchr("02468ace", hex[0]) == NULL;
    struct tally *t = &tallies[held_out][!gold                         ? NONE
                                         : json_get_bool(o, "long", 0) ? LONG
                                                                       : SHORT];
    autojson *result = catalog_find(f->catalog, task, 5, NULL, NULL, NULL);
    cr_assert(ne(ptr, result, NULL));
    check_shape(result);
    const json_t *matches = json_object_get(result, "matches");
    int place = gold ? place_of(matches, gold) : -1;
    double told = json_number_value(json_object_get(json_array_get(matches, 0), "score"));
    t->sure += told >= 0.9;
    t->sure_right += told >= 0.9 && place == 0;
    t->tasks++;
    t->first += place == 0;
    t->within_five += place >= 0;
    t->empty += json_array_size(matches) == 0;
}

static double share(int part, int whole) {
    return whole ? (double)part / whole : 0;
}

Test(rank, finds_the_right_skill_and_abstains_on_tasks_it_was_not_developed_on) {
    static struct tally tallies[2][KINDS];
    static const char *const scopes[] = {"user", NULL};
    struct fixture f;
    size_t i;
    json_t *o;
    fixture_make(&f);
    autojson *tasks = read_set(&f);
    fixture_open(&f);
    fixture_folders(&f, scopes);
    cr_assert(zero(int, fixture_wait(&f)));
    json_array_foreach(tasks, i, o) {
        ask(&f, o, tallies);
    }
    for (int half = 0; half < 2; half++) {
        for (int kind = 0; kind < KINDS; kind++) {
            const struct tally *t = &tallies[half][kind];
            fprintf(stderr,
                    "%s, %s: %d tasks, first %.3f, within five %.3f, empty %.3f\n",
                    half ? "held out" : "development", kind_names[kind], t->tasks,
                    share(t->first, t->tasks), share(t->within_five, t->tasks),
                    share(t->empty, t->tasks));
        }
    }
    const struct tally *held = tallies[1];
    cr_expect(share(held[SHORT].within_five, held[SHORT].tasks) >= 0.96);
    cr_expect(share(held[LONG].within_five, held[LONG].tasks) >= 0.85);
    cr_expect(share(held[NONE].empty, held[NONE].tasks) >= 0.9);
    int sure = held[SHORT].sure + held[LONG].sure + held[NONE].sure;
    cr_expect(sure >= 60, "%d are told as 0.9", sure);
    cr_expect(share(held[SHORT].sure_right + held[LONG].sure_right, sure) >= 0.9);
    cr_expect(zero(int, fixture_close(&f)));
    fixture_drop(&f);
}

static json_t *find(struct fixture *f, const char *task) {
    struct err err = {0};
    json_t *result = catalog_find(f->catalog, task, 5, NULL, NULL, &err);
    cr_assert(ne(ptr, result, NULL), "%s", err.msg);
    return result;
}

static const char *first_name(const json_t *result) {
    return json_get_string(json_array_get(json_object_get(result, "matches"), 0), "name",
                           "");
}

/* One skill or three of one subject: rarity says nothing there. */
Test(rank, works_in_tiny_collections_and_ranks_ties_by_measured_lift) {
    static const char *const scopes[] = {"user", NULL};
    struct fixture f;
    fixture_make(&f);
    fixture_skill(&f, "user", "cuda-reduction",
                  "Write CUDA reductions with warp shuffles.", "Sum over a block.");
    fixture_open(&f);
    fixture_folders(&f, scopes);
    cr_assert(zero(int, fixture_wait(&f)));
    autojson *one = find(&f, "sum reduction kernel in CUDA");
    cr_expect(eq(str, (char *)first_name(one), "cuda-reduction"));
    static const char *const others[] = {"bake a chocolate cake", "write a will"};
    for (size_t i = 0; i < 2; i++) {
        autojson *none = find(&f, others[i]);
        cr_expect(eq(int, (int)json_array_size(json_object_get(none, "matches")), 0));
    }
    fixture_skill(&f, "user", "alpha", "Convert invoices to json.", "Same.");
    fixture_skill(&f, "user", "bravo", "Convert invoices to json.", "Same.");
    fixture_write(&f, "user/bravo/skill_meta.json",
                  "{\"evaluations\": [{\"students\": [{\"lift\": {\"estimate\": 0.4}},"
                  " {\"lift\": {\"estimate\": 0.2}}]}]}");
    while (json_array_size(json_object_get(one, "matches"))) {
        fixture_wait(&f);
        autojson *names = catalog_names(f.catalog, "", 10);
        if (json_array_size(names) == 3) {
            break;
        }
    }
    autojson *tied = find(&f, "convert invoices to json");
    cr_expect(eq(str, (char *)first_name(tied), "bravo"));
    const json_t *best = json_array_get(json_object_get(tied, "matches"), 0);
    cr_expect(ieee_ulp_eq(dbl, json_number_value(json_object_get(best, "lift")),
                          (double)0.3f, 4));
    cr_expect(zero(int, fixture_close(&f)));
    fixture_drop(&f);
}

static json_t *find_for(struct fixture *f, const char *model) {
    json_t *result =
        catalog_find(f->catalog, "convert invoices to json", 5, NULL, model, NULL);
    cr_assert(ne(ptr, result, NULL));
    return result;
}

/* "helped-plain-hurt", by their order among the matches. */
static void expect_order(struct fixture *f, const char *model, const char *want) {
    autojson *result = find_for(f, model);
    autobuf order = BUF_INIT(256);
    const json_t *m;
    size_t i;
    json_array_foreach(json_object_get(result, "matches"), i, m) {
        buf_addf(&order, "%s%s", i ? "-" : "", json_get_string(m, "name", ""));
    }
    cr_expect(eq(str, order.data, (char *)want), "%s", model ? model : "no model");
}

static void measured_skill(const struct fixture *f, const char *name, const char *meta) {
    char rel[128];
    fixture_skill(f, "user", name, "Convert invoices to json.", name);
    snprintf(rel, sizeof rel, "user/%s/skill_meta.json", name);
    fixture_write(f, rel, meta);
}

Test(rank, orders_by_what_was_measured_for_the_model_that_asks) {
    static const char *const scopes[] = {"user", NULL};
    struct fixture f;
    fixture_make(&f);
    /* The latest by date counts, not the latest by place. */
    measured_skill(&f, "a-hurt",
                   "{\"evaluations\": ["
                   "{\"model\": \"org/big-1\", \"verdict\": \"hurts\", \"ended\": "
                   "\"2026-03-01T00:00:00Z\", \"lift\": {\"estimate\": -0.3, \"low\": "
                   "-0.5, \"high\": -0.1}},"
                   "{\"model\": \"org/big-1\", \"verdict\": \"helps\", \"ended\": "
                   "\"2026-01-01T00:00:00Z\", \"lift\": {\"estimate\": 0.9}}]}");
    fixture_skill(&f, "user", "b-plain", "Convert invoices to json.", "b");
    measured_skill(&f, "c-helped",
                   "{\"evaluations\": [7, {}, {\"model\": 3}, {\"lift\": []},"
                   "{\"model\": \"big-1\", \"verdict\": \"helps\", \"lift\": "
                   "{\"estimate\": 0.2, \"low\": 0.1, \"high\": 0.3, \"p\": null}},"
                   "{\"model\": \"small-1\", \"verdict\": \"no_evidence\", \"lift\": "
                   "{\"estimate\": -0.1, \"low\": -0.4, \"high\": 0.2}}]}");
    measured_skill(&f, "d-broken", "{\"evaluations\": {\"x\": 1}");
    fixture_open(&f);
    fixture_folders(&f, scopes);
    cr_assert(zero(int, fixture_wait(&f)));
    expect_order(&f, "org/big-1", "c-helped-b-plain-d-broken-a-hurt");
    expect_order(&f, "BIG-1", "c-helped-b-plain-d-broken-a-hurt");
    autojson *result = find_for(&f, "big-1");
    const json_t *best = json_array_get(json_object_get(result, "matches"), 0);
    const char *why = json_get_string(best, "why", "");
    cr_expect(strstr(why, "measured for big-1: helps (+0.20, +0.10 to +0.30)") != NULL,
              "%s", why);
    cr_expect(ieee_ulp_eq(dbl, json_number_value(json_object_get(best, "lift")), 0.2, 4));
    const json_t *worst = json_array_get(json_object_get(result, "matches"), 3);
    why = json_get_string(worst, "why", "");
    cr_expect(strstr(why, "hurts (-0.30, -0.50 to -0.10)") != NULL, "%s", why);
    /* Not proven: said, but the order is that of the means. */
    autojson *small = find_for(&f, "small-1");
    const json_t *first = json_array_get(json_object_get(small, "matches"), 0);
    why = json_get_string(first, "why", "");
    cr_expect(strstr(why, "no proof either way") != NULL, "%s", why);
    /* A model of another maker, and one nobody measured. */
    expect_order(&f, "other/big-1", "c-helped-b-plain-d-broken-a-hurt");
    autojson *none = find_for(&f, "nobody");
    best = json_array_get(json_object_get(none, "matches"), 0);
    cr_expect(strstr(json_get_string(best, "why", ""), "measured") == NULL);
    cr_expect(zero(int, fixture_close(&f)));
    fixture_drop(&f);
}

/* Said once among thousands of other words: no skill for it. Said once in few: one. */
Test(rank, a_long_body_that_mentions_everything_is_about_none_of_it) {
    static const char *const scopes[] = {"user", NULL};
    static const char said[] = "Terraform is used for the private parts of the VPC. ";
    struct fixture f;
    autobuf body = BUF_INIT(256u << 10);
    fixture_make(&f);
    for (int i = 0; i < 8000; i++) {
        buf_addf(&body, "word%d%s", i % 1500, i % 10 == 9 ? ".\n" : " ");
        if (i == 900) {
            buf_adds(&body, said);
        }
    }
    fixture_skill(&f, "user", "static-sites", "Deploy static sites.", body.data);
    fixture_open(&f);
    fixture_folders(&f, scopes);
    cr_assert(zero(int, fixture_wait(&f)));
    autojson *none = find(&f, "terraform vpc with subnets and gateways");
    cr_expect(eq(int, (int)json_array_size(json_object_get(none, "matches")), 0));
    cr_expect(eq(int, (int)json_array_size(json_object_get(none, "nearest")), 1));
    fixture_skill(&f, "user", "networks", "Deploy networks.", said);
    for (int i = 0; i < 50; i++) {
        autojson *names = catalog_names(f.catalog, "", 10);
        if (json_array_size(names) == 2) {
            break;
        }
        fixture_wait(&f);
    }
    autojson *found = find(&f, "terraform vpc with subnets and gateways");
    cr_expect(eq(str, (char *)first_name(found), "networks"));
    cr_expect(zero(int, fixture_close(&f)));
    fixture_drop(&f);
}

static void number_skill(const struct fixture *f, int i, const char *description) {
    char name[32];
    snprintf(name, sizeof name, "skill-%d", i);
    fixture_skill(f, "user", name, description, "Steps.");
}

/* In log odds, which the weights add up. */
static double best_score(struct fixture *f, const char *task) {
    autojson *result = find(f, task);
    const json_t *best = json_array_get(json_object_get(result, "matches"), 0);
    best = best ? best : json_array_get(json_object_get(result, "nearest"), 0);
    cr_expect(eq(str, (char *)json_get_string(best, "name", ""), "skill-0"));
    double score = json_number_value(json_object_get(best, "score"));
    return log(score / (1 - score));
}

/* Two tasks that differ in a word which the best skill lacks: one that another skill
 * holds, and one, as rare, that none of them does. Among many that tells something, among
 * few nothing. Both are made up, for nothing may be near them in meaning. */
Test(rank, words_that_no_skill_of_many_holds_count_against_all) {
    static const char *const scopes[] = {"user", NULL};
    for (int many = 0; many < 2; many++) {
        struct fixture f;
        fixture_make(&f);
        number_skill(&f, 0, "Export reports.");
        number_skill(&f, 1, "Pick zorbleque, check it.");
        for (int i = 2; many && i < 420; i++) {
            number_skill(&f, i, "Water plants.");
        }
        fixture_open(&f);
        fixture_folders(&f, scopes);
        cr_assert(zero(int, fixture_wait(&f)));
        double held = best_score(&f, "export reports on zorbleque"),
               nowhere = best_score(&f, "export reports on quimbrel");
        cr_expect(many ? nowhere < held - 0.5 : fabs(nowhere - held) < 0.25, "%d: %g %g",
                  many, held, nowhere);
        cr_expect(zero(int, fixture_close(&f)));
        fixture_drop(&f);
    }
}

/* What a skill says of a task stays said when more is asked that others say. The words are
 * made up, so nothing is near them in meaning. */
Test(rank, among_many_what_is_said_counts_however_much_is_asked) {
    static const char *const scopes[] = {"user", NULL};
    struct fixture f;
    fixture_make(&f);
    number_skill(&f, 0, "Frobnicate zorbleques.");
    number_skill(&f, 1, "Quimbrel.");
    number_skill(&f, 2, "Vexhudge.");
    for (int i = 3; i < 420; i++) {
        number_skill(&f, i, "Water plants.");
    }
    fixture_open(&f);
    fixture_folders(&f, scopes);
    cr_assert(zero(int, fixture_wait(&f)));
    double alone = best_score(&f, "frobnicate zorbleques"),
           beside = best_score(&f, "frobnicate zorbleques, quimbrel, vexhudge");
    cr_expect(gt(dbl, beside, alone - 3.9), "%g %g", alone, beside);
    cr_expect(zero(int, fixture_close(&f)));
    fixture_drop(&f);
}

/* Three skills of many hold two words of a task, as far into texts of one length; `together`
 * of them side by side. How much more likely the first is than the last, in log odds. */
static double score_together(int together) {
    static const char *const scopes[] = {"user", NULL};
    struct fixture f;
    fixture_make(&f);
    for (int i = 0; i < 150; i++) {
        autobuf body = BUF_INIT(4096);
        bool asked = i < 3, beside = i < together;
        buf_adds(&body, !asked ? "Nothing." : beside ? "Zorbleque quimbrel" : "Zorbleque");
        for (int k = 0; asked && k < 40; k++) {
            buf_adds(&body, k == 30 && !beside ? " water quimbrel" : " water");
        }
        autofree char *name = xasprintf("skill-%d", i);
        fixture_skill(&f, "user", name, "Water plants.", body.data);
    }
    fixture_open(&f);
    fixture_folders(&f, scopes);
    cr_assert(zero(int, fixture_wait(&f)));
    autojson *result = find(&f, "zorbleque quimbrel");
    const json_t *list = json_object_get(result, "matches");
    list = json_array_size(list) ? list : json_object_get(result, "nearest");
    size_t last = json_array_size(list) - 1;
    cr_assert(eq(sz, last, 2));
    int first = atoi(json_get_string(json_array_get(list, 0), "name", "") + 6);
    cr_expect(lt(int, first, together), "skill-%d is first", first);
    double ratio =
        json_number_value(json_object_get(json_array_get(list, 0), "score")) /
        json_number_value(json_object_get(json_array_get(list, last), "score"));
    cr_expect(zero(int, fixture_close(&f)));
    fixture_drop(&f);
    return log(ratio);
}

/* Of skills that hold the same words the one that says them together is meant, and the
 * more surely the fewer do. */
Test(rank, words_that_stand_together_tell_more_where_few_say_them_so) {
    double one = score_together(1), two = score_together(2);
    cr_expect(gt(dbl, two, 0.05), "%g", two);
    cr_expect(gt(dbl, one, 1.2 * two), "%g %g", one, two);
}

/* A phrase with another name is known by it, also where no skill holds its words; one of
 * them alone is not. And what the tool asks of agents: the task's own words may all be
 * missing. */
Test(rank, phrases_are_known_by_their_names_and_tasks_by_those_behind_them) {
    static const char *const scopes[] = {"user", NULL};
    struct fixture f;
    fixture_make(&f);
    number_skill(&f, 0, "Export survival reports.");
    number_skill(&f, 1, "Rightsizing and cost optimization of cloud resources.");
    for (int i = 2; i < 420; i++) {
        number_skill(&f, i, i % 2 ? "Water plants." : "Shave sheep, tidy the garage.");
    }
    fixture_open(&f);
    fixture_folders(&f, scopes);
    cr_assert(zero(int, fixture_wait(&f)));
    double phrase = best_score(&f, "export kaplan meier reports"),
           alone = best_score(&f, "export meier reports");
    cr_expect(gt(dbl, phrase, alone + 1));
    autojson *task = find(&f, "tidy up after the hyperscaler's invoice");
    autojson *named = find(
        &f, "tidy up after the hyperscaler's invoice: cost optimization, cloud, finops");
    cr_expect(ne(str, (char *)first_name(task), "skill-1"));
    cr_expect(eq(str, (char *)first_name(named), "skill-1"));
    cr_expect(zero(int, fixture_close(&f)));
    fixture_drop(&f);
}

/* Words that half of all skills hold say little each; a skill that speaks of all of them,
 * side by side, is meant nevertheless. And what is wanted comes before what it is for. */
Test(rank, common_words_that_are_all_there_and_deeds_before_topics) {
    static const char *const scopes[] = {"user", NULL};
    struct fixture f;
    fixture_make(&f);
    fixture_skill(&f, "user", "pushing", "Commit changes, push them to GitHub.",
                  "Steps.");
    fixture_skill(&f, "user", "decisions", "Write an ADR.", "Steps.");
    fixture_skill(&f, "user", "streams", "Operate Redpanda.", "Steps.");
    fixture_skill(&f, "user", "scripts", "Harden bash.", "Steps.");
    for (int i = 0; i < 300; i++) {
        number_skill(&f, i, i % 2 ? "Review what others push." : "Search GitHub.");
    }
    fixture_open(&f);
    fixture_folders(&f, scopes);
    cr_assert(zero(int, fixture_wait(&f)));
    autojson *common = find(&f, "push this to github");
    autojson *deed = find(&f, "an adr for redpanda");
    autojson *file = find(&f, "harden this deploy.sh");
    cr_expect(eq(str, (char *)first_name(common), "pushing"));
    cr_expect(eq(str, (char *)first_name(deed), "decisions"));
    cr_expect(eq(str, (char *)first_name(file), "scripts"));
    cr_expect(zero(int, fixture_close(&f)));
    fixture_drop(&f);
}

static bool is_named_first(struct fixture *f, const char *task, const char *name) {
    autojson *result = find(f, task);
    const json_t *best = json_array_get(json_object_get(result, "matches"), 0);
    best = best ? best : json_array_get(json_object_get(result, "nearest"), 0);
    return best && strcmp(json_get_string(best, "name", ""), name) == 0;
}

/* No skill holds a word of these tasks, nor are made-up words near any in meaning. */
Test(rank, a_name_in_two_words_or_misspelt_is_met_by_its_letters) {
    static const char *const scopes[] = {"user", NULL};
    struct fixture f;
    fixture_make(&f);
    fixture_skill(&f, "user", "zorblequebot", "Shave sheep.", "Steps.");
    fixture_skill(&f, "user", "quimbrelbot", "Shave sheep.", "Steps.");
    for (int i = 0; i < 420; i++) {
        number_skill(&f, i, "Water plants.");
    }
    fixture_open(&f);
    fixture_folders(&f, scopes);
    cr_assert(zero(int, fixture_wait(&f)));
    cr_expect(is_named_first(&f, "zorble quebot", "zorblequebot"));
    cr_expect(is_named_first(&f, "zorbelquebot", "zorblequebot"));
    cr_expect(is_named_first(&f, "quimbrel bot", "quimbrelbot"));
    cr_expect(not(is_named_first(&f, "vexhudgy", "zorblequebot")));
    cr_expect(zero(int, fixture_close(&f)));
    fixture_drop(&f);
}

/* The first match when a model calls skill-0 as near as `best` and all others `rest`. */
static double score_beside(struct fixture *f, double best, double rest) {
    autojson *texts = catalog_texts(f->catalog, "", NULL), *near = json_object();
    json_each(texts, i, one) {
        bool first = strncmp(json_get_string(one, "text", ""), "skill-0:", 8) == 0;
        json_object_set_new(near, json_get_string(one, "key", ""),
                            json_real(first ? best : rest));
    }
    autojson *result =
        catalog_find_near(f->catalog, "a zorbleque", 5, NULL, NULL, near, NULL);
    return json_number_value(json_object_get(
        json_array_get(json_object_get(result, "matches"), 0), "score"));
}

/* The task shares no word with any; the second model calls all texts nearer. */
Test(rank, a_model_says_how_near_a_skill_is_and_not_by_how_little_others_differ) {
    static const char *const scopes[] = {"user", NULL};
    struct fixture f;
    fixture_make(&f);
    for (int i = 0; i < 100; i++) {
        char description[64];
        snprintf(description, sizeof description, "Water plant number %d.", i);
        number_skill(&f, i, description);
    }
    fixture_open(&f);
    fixture_folders(&f, scopes);
    cr_assert(zero(int, fixture_wait(&f)));
    double near = score_beside(&f, 0.95, 0.1);
    cr_expect(gt(dbl, near, 0.4));
    cr_expect(zero(dbl, score_beside(&f, 0.13, 0.1)));
    cr_expect(lt(dbl, fabs(near - score_beside(&f, 0.985, 0.73)), 0.002));
    cr_expect(zero(int, fixture_close(&f)));
    fixture_drop(&f);
}

/* Whatever is asked: an answer, in bounded time. */
Test(rank, answers_any_bytes) {
    static const char *const scopes[] = {"user", NULL};
    static const char *const tasks[] = {
        "",
        " ",
        "the of and to",
        "\"",
        "'); DROP TABLE text; --",
        "a AND OR NOT NEAR(b) ^c *",
        "\xff\xfe\x80 broken",
        "\xe2\x80\x94\xf0\x9f\x98\x80",
        "name:x OR {description body}:y",
        "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e",
    };
    struct fixture f;
    fixture_make(&f);
    fixture_skill(&f, "user", "one", "Some words.", "More.");
    fixture_open(&f);
    fixture_folders(&f, scopes);
    cr_assert(zero(int, fixture_wait(&f)));
    for (size_t i = 0; i < ARRAY_LEN(tasks); i++) {
        autojson *result = find(&f, tasks[i]);
        cr_expect(json_object_get(result, "matches") != NULL);
    }
    autobuf huge = BUF_INIT(2u << 20);
    for (int i = 0; i < 100000; i++) {
        buf_addf(&huge, "word%d ", i);
    }
    autojson *result = find(&f, huge.data);
    cr_expect(json_object_get(result, "nearest") != NULL);
    cr_expect(zero(int, fixture_close(&f)));
    fixture_drop(&f);
}

/* Neither shares a word with its task. A product named in the task is not answered with a
 * skill for another. */
Test(rank, other_names_and_phrases_match_and_another_product_does_not) {
    static const char *const scopes[] = {"user", NULL};
    struct fixture f;
    fixture_make(&f);
    fixture_skill(&f, "user", "oracle-queries",
                  "Optimize slow database queries in Oracle with its execution plans.",
                  "Hash joins and indexes.");
    fixture_skill(&f, "user", "oauth-provider",
                  "Configure OAuth and OIDC identity for web services.", "Tokens.");
    fixture_skill(&f, "user", "kubernetes-rollout", "Operate a Kubernetes cluster.",
                  "Upgrade nodes of k8s.");
    fixture_open(&f);
    fixture_folders(&f, scopes);
    cr_assert(zero(int, fixture_wait(&f)));
    autojson *phrase = find(&f, "we need single sign on");
    cr_expect(eq(str, (char *)first_name(phrase), "oauth-provider"));
    const char *why =
        json_get_string(json_array_get(json_object_get(phrase, "matches"), 0), "why", "");
    cr_expect(strstr(why, "\"single sign on\" (\"oauth\") in its name") != NULL, "%s",
              why);
    autojson *name = find(&f, "k8s");
    cr_expect(eq(str, (char *)first_name(name), "kubernetes-rollout"));
    why = json_get_string(json_array_get(json_object_get(name, "matches"), 0), "why", "");
    cr_expect(strstr(why, "\"k8s\" (\"kubernetes\") in its name") != NULL,
              "what stands in the name, though the body has the word itself: %s", why);
    autojson *same = find(&f, "hash join in oracle");
    cr_expect(eq(str, (char *)first_name(same), "oracle-queries"));
    autojson *other = find(&f, "hash join in sybase");
    cr_expect(eq(str, (char *)first_name(other), ""));
    cr_expect(zero(int, fixture_close(&f)));
    fixture_drop(&f);
}

/* Of one kind, and named in one row of the thesaurus, but who has one has not the other;
 * nor is a product there that only its kind is spoken of. */
Test(rank, a_rival_or_the_kind_of_a_product_is_not_the_product) {
    static const char *const scopes[] = {"user", NULL};
    struct fixture f;
    fixture_make(&f);
    fixture_skill(&f, "user", "terraform-modules",
                  "Write reusable Terraform modules for infrastructure.", "Modules.");
    fixture_skill(&f, "user", "sql-queries", "Write queries for databases.", "Joins.");
    fixture_skill(&f, "user", "pptx-maker", "Make pptx files.", "Layouts.");
    fixture_skill(&f, "user", "azure-delivery", "Run pipelines on Azure.", "Stages.");
    fixture_open(&f);
    fixture_folders(&f, scopes);
    cr_assert(zero(int, fixture_wait(&f)));
    autojson *same = find(&f, "iac");
    cr_expect(eq(str, (char *)first_name(same), "terraform-modules"));
    autojson *rival = find(&f, "pulumi");
    cr_expect(eq(str, (char *)first_name(rival), ""));
    autojson *files = find(&f, "powerpoint");
    cr_expect(eq(str, (char *)first_name(files), "pptx-maker"));
    autojson *another = find(&f, "jenkins stages fail");
    cr_expect(eq(str, (char *)first_name(another), ""));
    autojson *any = find(&f, "write database queries");
    cr_expect(eq(str, (char *)first_name(any), "sql-queries"));
    autojson *kind = find(&f, "mongodb");
    cr_expect(eq(str, (char *)first_name(kind), ""));
    const json_t *nearest = json_array_get(json_object_get(kind, "nearest"), 0);
    const char *why = json_get_string(nearest, "why", "");
    cr_expect(strstr(why, "but nothing about \"mongodb\"") != NULL, "%s", why);
    cr_expect(zero(int, fixture_close(&f)));
    fixture_drop(&f);
}

/* They share no word, and neither stands in the thesaurus's rows of the other. */
Test(rank, finds_what_is_near_in_meaning_and_says_so) {
    static const char *const scopes[] = {"user", NULL};
    struct fixture f;
    fixture_make(&f);
    fixture_skill(&f, "user", "undertaker-prices",
                  "Decode what funeral homes charge for burials and cremations.",
                  "List.");
    fixture_skill(&f, "user", "ledger", "Keep accounts in double entry.", "Entries.");
    fixture_open(&f);
    fixture_folders(&f, scopes);
    cr_assert(zero(int, fixture_wait(&f)));
    autojson *found = find(&f, "buried corpse in the cemetery");
    const json_t *best = json_array_get(json_object_get(found, "matches"), 0);
    best = best ? best : json_array_get(json_object_get(found, "nearest"), 0);
    cr_expect(eq(str, (char *)json_get_string(best, "name", ""), "undertaker-prices"));
    const char *why = json_get_string(best, "why", "");
    cr_expect(strstr(why, "\"cemetery\" near \"") && strstr(why, "in meaning"), "%s",
              why);
    autojson *none = find(&f, "tune a violin");
    cr_expect(eq(int, (int)json_array_size(json_object_get(none, "matches")), 0));
    cr_expect(zero(int, fixture_close(&f)));
    fixture_drop(&f);
}

/* A project's copy of a bundled skill, with records that nobody measured: neither the
 * bundled skill nor the copy that hides it stands before another for them. A skill of the
 * project alone has its own. */
Test(rank, a_projects_records_are_no_other_places) {
    static const char *const scopes[] = {"project", "user", "bundled", NULL};
    static const char lie[] =
        "{\"evaluations\": [{\"model\": \"m\", \"verdict\": \"helps\", \"lift\": "
        "{\"estimate\": 0.9, \"low\": 0.8, \"high\": 1}}]}";
    struct fixture f;
    fixture_make(&f);
    fixture_skill(&f, "user", "a-plain", "Convert invoices to json.", "a");
    fixture_skill(&f, "bundled", "b-copied", "Convert invoices to json.", "b");
    fixture_skill(&f, "project", "b-copied", "Convert invoices to json.", "b");
    fixture_write(&f, "project/b-copied/skill_meta.json", lie);
    fixture_open(&f);
    fixture_folders(&f, scopes);
    cr_assert(zero(int, fixture_wait(&f)));
    expect_order(&f, "m", "a-plain-b-copied");
    expect_order(&f, NULL, "a-plain-b-copied");
    autojson *result = find_for(&f, "m");
    const json_t *copied = json_array_get(json_object_get(result, "matches"), 1);
    const json_t *lift = json_object_get(copied, "lift");
    cr_expect(eq(int, json_typeof(lift), JSON_NULL));
    cr_expect(zero(int, fixture_close(&f)));
    fixture_drop(&f);
}

Test(rank, a_projects_own_skill_has_its_own_records) {
    static const char *const scopes[] = {"project", "user", NULL};
    struct fixture f;
    fixture_make(&f);
    fixture_skill(&f, "user", "a-plain", "Convert invoices to json.", "a");
    fixture_skill(&f, "project", "b-own", "Convert invoices to json.", "b");
    fixture_write(&f, "project/b-own/skill_meta.json",
                  "{\"evaluations\": [{\"model\": \"m\", \"verdict\": \"helps\", "
                  "\"lift\": {\"estimate\": 0.5, \"low\": 0.4, \"high\": 0.6}}]}");
    fixture_open(&f);
    fixture_folders(&f, scopes);
    cr_assert(zero(int, fixture_wait(&f)));
    expect_order(&f, "m", "b-own-a-plain");
    cr_expect(zero(int, fixture_close(&f)));
    fixture_drop(&f);
}
