#include "skills/evaluation/evaluation_subject.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/text.h"
#include "skills/evaluation/agent_student.h"

#define TESTS_MAX (16u << 20)
#define TRACE_MAX (64u << 20)

/* --- tests --- */

static int read_tests_file(struct suite *ret, const char *path, struct err *err) {
    autobuf text = BUF_INIT(TESTS_MAX);
    int rc = file_read(path, &text, err);
    if (rc < 0) {
        return rc;
    }
    autojson *value = json_parse(text.data, text.len, err);
    if (!value) {
        return err_wrap(err, "%.200s", path_basename(path));
    }
    rc = suite_from_json(ret, value, err);
    return rc < 0 ? err_wrap(err, "%.200s", path_basename(path)) : 0;
}

static int read_suite(struct subject *s, const struct subject_request *r,
                      struct err *err) {
    if (r->tests) {
        return suite_from_json(&s->suite, r->tests, err);
    }
    if (r->tests_path) {
        return read_tests_file(&s->suite, r->tests_path, err);
    }
    int rc = suite_of_skill(&s->suite, &s->skill, err);
    return rc == -ENOENT
               ? err_set(err, -ENODATA, "%.100s has no tests", s->skill.text.name)
               : rc;
}

/* {"provenance": {"refinement": {…}}}: its refine and gate tests shaped the text. */
static bool was_refined(const struct skill *skill) {
    autojson *meta = skill_meta_read(skill);
    const json_t *provenance = json_object_get(meta, "provenance");
    const json_t *told = json_object_get(provenance, "refinement");
    return json_is_true(json_object_get(provenance, "refined")) || json_is_true(told) ||
           json_object_size(told) || json_array_size(told);
}

static bool counts(const struct test_case *test, const char *split) {
    return strcmp(split, "all") == 0 || strcmp(test_split_name(test->split), split) == 0;
}

static int choose_tests(struct subject *s, const char *split, struct err *err) {
    s->split = split ? split : was_refined(&s->skill) ? "report" : "all";
    if (strcmp(s->split, "all") != 0) {
        suite_split(&s->suite);
    }
    s->tests = xcalloc(s->suite.count, sizeof *s->tests);
    for (size_t i = 0; i < s->suite.count; i++) {
        if (counts(&s->suite.tests[i], s->split)) {
            s->tests[s->test_count++] = &s->suite.tests[i];
        }
    }
    return s->test_count
               ? 0
               : err_set(err, -ENODATA, "there are no tests in the %s split", s->split);
}

/* --- arms --- */

static void framed_arm(struct subject *s, enum arm_kind kind, const struct skill *skill,
                       char **ret_text) {
    autobuf text = BUF_INIT(ARM_MAX_TEXT / 2);
    arm_skill_text(skill, &text);
    arm_framed(&s->arms[s->arm_count++], kind,
               skill->text.name ? skill->text.name : path_basename(skill->folder),
               text.data, text.len);
    if (ret_text) {
        *ret_text = buf_detach(&text);
    }
}

static int trace_arm(struct subject *s, const char *path, struct err *err) {
    autobuf text = BUF_INIT(TRACE_MAX);
    int rc = file_read(path, &text, err);
    if (rc == 0) {
        arm_trace(&s->arms[s->arm_count++], text.data, text.len);
    }
    return rc;
}

/* Agents find the skills on their disk: the prompt does not mention them. */
static void installed_arm(struct subject *s, enum arm_kind kind,
                          const struct skill *copy) {
    struct arm *arm = &s->arms[s->arm_count++];
    arm_baseline(arm);
    arm->kind = kind;
    arm->installed = copy;
}

static int make_arms(struct subject *s, const struct subject_request *r,
                     struct err *err) {
    arm_baseline(&s->arms[s->arm_count++]);
    if (r->again) {
        arm_again(&s->arms[s->arm_count++], &s->arms[0]);
    } else if (r->installed) {
        installed_arm(s, ARM_SKILL, &s->copy);
    } else {
        framed_arm(s, ARM_SKILL, &s->skill, &s->text);
    }
    if (r->placebo) {
        arm_placebo(&s->arms[s->arm_count++], &s->arms[1]);
    }
    if (r->previous && r->installed) {
        installed_arm(s, ARM_PREVIOUS, &s->older_copy);
    } else if (r->previous) {
        framed_arm(s, ARM_PREVIOUS, &s->older, NULL);
    }
    return r->trace ? trace_arm(s, r->trace, err) : 0;
}

/* --- copies for agents --- */

static int copy_skill(const struct skill *skill, const char *root, struct skill *ret,
                      struct err *err) {
    autofree char *path = NULL;
    int rc = agent_install(skill, "universal", root, &path, err);
    return rc < 0 ? err_wrap(err, "the skill could not be copied")
                  : skill_open(ret, path, true, err);
}

static int make_copies(struct subject *s, struct err *err) {
    s->copies = dir_make_temporary("skill", err);
    if (!s->copies) {
        return err->code;
    }
    autofree char *now = path_join(s->copies, "now"), *old = path_join(s->copies, "old");
    int rc = dir_make(now, 0700, err);
    rc = rc < 0 ? rc : copy_skill(&s->skill, now, &s->copy, err);
    if (rc == 0 && s->older.folder) {
        rc = dir_make(old, 0700, err);
        rc = rc < 0 ? rc : copy_skill(&s->older, old, &s->older_copy, err);
    }
    return rc;
}

/* --- all of it --- */

static void set_name(struct subject *s) {
    const char *name =
        s->skill.text.name ? s->skill.text.name : path_basename(s->skill.folder);
    autobuf clean = BUF_INIT(4096);
    text_clean(&clean, name, text_cut(name, strlen(name), 1024));
    size_t len = text_cut(clean.data, clean.len, sizeof s->name - 1);
    memcpy(s->name, clean.data, len);
    s->name[len] = '\0';
}

int subject_read(struct subject *ret, const struct subject_request *request,
                 struct err *err) {
    *ret = (struct subject){0};
    int rc = skill_open(&ret->skill, request->folder, true, err);
    if (rc < 0) {
        return rc;
    }
    set_name(ret);
    rc = request->previous ? skill_open(&ret->older, request->previous, true, err) : 0;
    rc = rc < 0 ? rc : read_suite(ret, request, err);
    if (rc < 0) {
        return rc;
    }
    rc = choose_tests(ret, request->split, err);
    skill_hide_tests(&ret->skill);
    skill_hide_tests(&ret->older);
    skill_digest(&ret->skill, ret->digest);
    rc = rc == 0 && request->installed && !request->again ? make_copies(ret, err) : rc;
    return rc < 0 ? rc : make_arms(ret, request, err);
}

void subject_finish(struct subject *s) {
    struct skill *skills[] = {&s->skill, &s->older, &s->copy, &s->older_copy};
    for (size_t i = 0; i < ARRAY_LEN(skills); i++) {
        if (skills[i]->folder) {
            skill_finish(skills[i]);
        }
    }
    for (size_t i = 0; i < s->arm_count; i++) {
        arm_finish(&s->arms[i]);
    }
    if (s->copies) {
        dir_remove(s->copies, NULL);
    }
    if (s->suite.json) {
        suite_finish(&s->suite);
    }
    free(s->copies);
    free(s->text);
    free(s->tests);
    *s = (struct subject){0};
}
