/* skill/evaluate's params, resolved; and what they may cost. */
#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/find.h"
#include "skills/catalog/catalog.h"
#include "skills/evaluation/evaluate_operation.h"
#include "skills/evaluation/evaluation_room.h"
#include "skills/format/tokens.h"
#include "skills/runs/run_record.h"
#include "skills/skill_operations.h"
#include "skills/statistics/statistics.h"

#include <sys/stat.h>

#define DEFAULT_RUNS 3

/* --- students --- */

/* An agent is a name of the configuration's `students`, or an object with "cli". */
static int read_student(struct evaluate_request *r, struct evaluation_room *room,
                        const json_t *value, const char *base_url, struct err *err) {
    size_t i = r->student_count;
    const char *name = json_string_value(value);
    const json_t *known =
        name ? json_object_get(evaluation_room_setting(room, "students"), name) : NULL;
    const json_t *aliases = evaluation_room_models(room);
    bool is_agent = known || json_object_get(value, "cli");
    bool agents_name =
        !is_agent && name && agent_student_is(name) && !json_object_get(aliases, name);
    if (r->models_only && (is_agent || agents_name)) {
        return err_set(err, -EINVAL, "agents cannot be asked here: name a model");
    }
    if (agents_name) {
        return err_set(err, -EINVAL,
                       "%s is an agent, not a model: say \"mode\": \"installed\" and the "
                       "student {\"cli\": \"%s\"}",
                       name, name);
    }
    int rc = is_agent ? agent_student_read(&r->agents[i], known ? known : value,
                                           known != NULL, err)
                      : model_resolve(&r->models[i], value, aliases, base_url, err);
    if (rc < 0) {
        return rc;
    }
    if (known) {
        free(r->agents[i].name);
        r->agents[i].name = xstrdup(name);
    }
    r->students[i] = (struct student){
        .name = is_agent ? r->agents[i].name : r->models[i].name,
        .model = is_agent ? NULL : &r->models[i],
        .agent = is_agent ? &r->agents[i] : NULL,
    };
    r->student_count++;
    for (size_t k = 0; k < i; k++) {
        if (strcmp(r->students[k].name, r->students[i].name) == 0) {
            return err_set(err, -EINVAL, "%.100s appears twice", r->students[i].name);
        }
    }
    return r->subject.installed == is_agent
               ? 0
               : err_set(err, -EINVAL,
                         is_agent ? "%.100s is an agent: say \"mode\": \"installed\""
                                  : "%.100s is a model: \"installed\" is for agents "
                                    "(claude-code, codex, opencode)",
                         r->students[i].name);
}

static int read_students(struct evaluate_request *r, struct evaluation_room *room,
                         struct call *call, const json_t *params) {
    const char *base_url = json_get_string(params, "base_url", NULL);
    const json_t *students = json_object_get(params, "students");
    students = students ? students : evaluation_room_setting(room, "default_students");
    if (!json_array_size(students)) {
        call_fail_param(call, "/students",
                        "name the models to ask as `students`, or set default_students in "
                        "the configuration");
        return -1;
    }
    json_each(students, i, one) {
        struct err err = {0};
        char path[32];
        snprintf(path, sizeof path, "/students/%zu", i);
        if (read_student(r, room, one, base_url, &err) < 0) {
            return evaluation_model_fail(call, path, "base_url", &err);
        }
    }
    const json_t *judge = json_object_get(params, "judge");
    struct err err = {0};
    judge = judge ? judge : evaluation_room_setting(room, "judge");
    if (judge) {
        if (model_resolve(&r->judge_model, judge, evaluation_room_models(room),
                          model_shared_url(judge, base_url), &err) < 0) {
            return evaluation_model_fail(call, "/judge", NULL, &err);
        }
        r->judge = &r->judge_model;
    }
    return 0;
}

/* --- files --- */

static int find_file(struct call *call, const json_t *params, const char *key,
                     char **ret) {
    struct err err = {0};
    const char *path = json_get_string(params, key, NULL);
    *ret = path ? skills_resolve(call_origin(call), path, &err) : NULL;
    if (path && !*ret) {
        autofree char *pointer = xasprintf("/%s", key);
        return skills_fail_path(call, pointer, &err);
    }
    return 0;
}

static bool is_folder(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* A folder that may not be there yet, beneath one that is. */
static int find_runs_dir(struct call *call, const json_t *params, char **ret) {
    struct err err = {0};
    const char *path = json_get_string(params, "runs_dir", NULL);
    if (!path) {
        *ret = run_default_dir(call_origin(call));
        return 0;
    }
    autofree char *whole = skills_resolve(call_origin(call), path, &err);
    if (whole && is_folder(whole)) {
        *ret = take(whole);
        return 0;
    }
    autofree char *normal = path_normalize(path);
    const char *base = path_basename(normal);
    autofree char *parent =
        base > normal ? xstrndup(normal, (size_t)(base - normal)) : xstrdup(".");
    autofree char *found = whole ? NULL : skills_resolve(call_origin(call), parent, &err);
    if (!found || strcmp(base, "..") == 0) {
        err.code = err.code ? err.code : -EINVAL;
        return whole
                   ? (call_fail_param(call, "/runs_dir", "%.200s is not a folder", path),
                      -1)
                   : skills_fail_path(call, "/runs_dir", &err);
    }
    *ret = path_join(found, base);
    return 0;
}

static int find_skills(struct evaluate_request *r, struct skills *skills,
                       struct call *call, const json_t *params) {
    struct err err = {0};
    const char *words =
        json_get_string(params, "skill", json_get_string(params, "path", ""));
    const char *previous = json_get_string(params, "previous", NULL);
    r->subject.folder = skills_find_original(skills, call_origin(call), words, &err);
    if (r->subject.folder && previous) {
        r->subject.previous =
            skills_find_folder(skills, call_origin(call), previous, &err);
    }
    if (!r->subject.folder || (previous && !r->subject.previous)) {
        skills_fail(call, &err);
        return -1;
    }
    r->source = catalog_source(skills_catalog(skills), r->subject.folder);
    return 0;
}

static int find_files(struct evaluate_request *r, struct skills *skills,
                      struct call *call, const json_t *params) {
    const json_t *tests = json_object_get(params, "tests");
    r->subject.tests = json_is_string(tests) ? NULL : tests;
    int rc = find_skills(r, skills, call, params);
    rc = rc < 0 ? rc : find_file(call, params, "trace", &r->subject.trace);
    rc = rc < 0 || r->subject.tests
             ? rc
             : find_file(call, params, "tests", &r->subject.tests_path);
    return rc < 0 ? rc : find_runs_dir(call, params, &r->runs_dir);
}

/* --- the rest --- */

static bool wants_arm(const json_t *params, const char *name) {
    return json_any(json_object_get(params, "arms"), one,
                    strcmp(json_string_value(one), name) == 0);
}

/* An arm needs what it is made of; what it is made of asks for the arm. */
static int check_arms(struct call *call, const json_t *params,
                      const struct evaluate_request *r) {
    static const char *const made_of[] = {"previous", "trace"};
    for (size_t i = 0; i < ARRAY_LEN(made_of); i++) {
        if (wants_arm(params, made_of[i]) && !json_object_get(params, made_of[i])) {
            call_fail_param(call, "/arms", "the %s arm needs `%s`", made_of[i],
                            made_of[i]);
            return -1;
        }
    }
    if (r->subject.placebo && r->subject.installed) {
        call_fail_param(call, "/arms", "the placebo arm is for mode inject alone");
        return -1;
    }
    if (r->subject.again && (r->subject.placebo || json_object_get(params, "previous") ||
                             json_object_get(params, "trace"))) {
        call_fail_param(call, "/aa", "an A/A evaluation has no further arms");
        return -1;
    }
    return 0;
}

static void read_numbers(struct evaluate_request *r, const json_t *params) {
    const json_t *budget = json_object_get(params, "budget");
    double minutes = json_number_value(json_object_get(budget, "minutes"));
    r->budget.max_tokens = (uint64_t)json_get_integer(budget, "tokens", 0);
    r->budget.max_cost = json_number_value(json_object_get(budget, "cost"));
    r->deadline_ms = (unsigned)(minutes * 60000);
    r->runs = (unsigned)json_get_integer(params, "runs", DEFAULT_RUNS);
    r->concurrency = (unsigned)json_get_integer(params, "concurrency", 0);
    r->seed = (uint64_t)json_get_integer(params, "seed", 1);
    r->subject.again = json_get_bool(params, "aa", 0);
    r->fresh = json_get_bool(params, "fresh", 0);
    r->subject.placebo = wants_arm(params, "placebo");
    r->subject.installed =
        strcmp(json_get_string(params, "mode", "inject"), "installed") == 0;
    const json_t *record = json_object_get(params, "record");
    r->record = !json_is_false(record);
    r->record_in_skill = json_is_true(record);
    r->subject.split = json_get_string(params, "split", NULL);
    r->baseline_from = json_get_string(params, "baseline_from", NULL);
}

int evaluate_request_read(struct evaluate_request *ret, struct skills *skills,
                          struct call *call, const json_t *params, bool models_only) {
    struct evaluation_room *room = evaluation_room_of(call_origin(call));
    *ret = (struct evaluate_request){.models_only = models_only};
    if (!room) {
        call_fail(call, CALL_UNAVAILABLE, "closing", NULL, "the daemon is ending");
        return -1;
    }
    read_numbers(ret, params);
    int rc = check_arms(call, params, ret);
    rc = rc < 0 ? rc : find_files(ret, skills, call, params);
    return rc < 0 ? rc : read_students(ret, room, call, params);
}

void evaluate_request_finish(struct evaluate_request *r) {
    for (size_t i = 0; i < r->student_count; i++) {
        if (r->students[i].model) {
            model_finish(&r->models[i]);
        } else {
            agent_student_finish(&r->agents[i]);
        }
    }
    if (r->judge) {
        model_finish(&r->judge_model);
    }
    json_decref(r->source);
    free(r->subject.folder);
    free(r->subject.previous);
    free(r->subject.trace);
    free(r->subject.tests_path);
    free(r->runs_dir);
    *r = (struct evaluate_request){0};
}

/* --- what it may cost --- */

static int by_size(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static double cost_of(const struct evaluate_request *r, uint64_t input,
                      uint64_t answers) {
    double sum = 0;
    struct model_usage usage = {.input = input,
                                .output = answers * EVALUATE_ANSWER_TOKENS};
    for (size_t i = 0; i < r->student_count; i++) {
        double one = r->students[i].model ? model_cost(r->students[i].model, &usage) : -1;
        sum = one < 0 || sum < 0 ? -1 : sum + one;
    }
    return sum;
}

/* Input tokens of the questions alone, per test. */
static uint64_t *questions(const struct subject *s) {
    uint64_t *sizes = xcalloc(s->test_count, sizeof *sizes);
    for (size_t i = 0; i < s->test_count; i++) {
        autobuf text = BUF_INIT(ARM_MAX_TEXT);
        arm_question(&s->arms[0], s->tests[i], true, &text);
        sizes[i] = tokens_estimate(text.data, text.len);
    }
    return sizes;
}

void evaluate_estimate(struct evaluate_estimate *ret, const struct evaluate_request *r,
                       const struct subject *s) {
    autofree uint64_t *sizes = questions(s);
    uint64_t asked = 0, least = 0, added = 0;
    uint64_t neutral = tokens_estimate(s->arms[0].system, strlen(s->arms[0].system));
    size_t fewest = s->test_count < VERDICT_MIN_TESTS ? s->test_count : VERDICT_MIN_TESTS;
    qsort(sizes, s->test_count, sizeof *sizes, by_size);
    for (size_t i = 0; i < s->test_count; i++) {
        asked += sizes[i] + neutral;
        least += i < fewest ? 2 * (sizes[i] + neutral) + s->arms[1].added_tokens : 0;
    }
    for (size_t i = 0; i < s->arm_count; i++) {
        added += s->arms[i].added_tokens;
    }
    uint64_t input = (asked * s->arm_count + added * s->test_count) * r->runs;
    uint64_t per_student = (uint64_t)s->test_count * s->arm_count * r->runs;
    ret->answers = per_student * r->student_count;
    ret->tokens = (input + per_student * EVALUATE_ANSWER_TOKENS) * r->student_count;
    ret->cost = cost_of(r, input, per_student);
    ret->least_tokens =
        (least + 2ull * fewest * EVALUATE_ANSWER_TOKENS) * r->student_count;
    ret->least_cost = cost_of(r, least, 2ull * fewest);
}
