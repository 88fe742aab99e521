/* The table of the room's operations, and those that ask the catalog. */
#include "skills/skill_operations.h"

#include "base/err.h"
#include "base/work.h"
#include "skills/catalog/catalog.h"
#include "skills/check/danger.h"
#include "skills/check/safety_text.h"
#include "skills/format/skill.h"
#include "skills/format/skill_name.h"
#include "skills/skill_check.operation.h"
#include "skills/skill_get.operation.h"
#include "skills/skill_install.operation.h"
#include "skills/skill_pack.operation.h"
#include "skills/skill_uninstall.operation.h"

/* --- skill/get: the files are read and digested on another thread --- */

struct reading {
    struct call *call;
    char *folder, *uri;
    json_t *source; /* of catalog_source */
    bool tests;
    json_t *result;
    struct err err;
};

static json_t *files_json(const struct skill *s) {
    json_t *files = json_array();
    for (size_t i = 0; i < s->file_count; i++) {
        const struct skill_file *f = &s->files[i];
        json_array_append_new(files, json_pack("{s:o,s:I,s:s}", "path",
                                               json_clean_z(f->path), "size",
                                               (json_int_t)f->size, "digest", f->digest));
    }
    return files;
}

/* Tests hold the answers, and may be far longer than the skill: whoever follows it is
 * told how many there are. */
static void add_meta(const struct skill *s, bool tests, json_t *all) {
    autojson *meta = skill_meta_read(s);
    json_t *list = json_object_get(meta, "tests");
    json_t *evaluations = json_object_get(meta, "evaluations");
    if (list) {
        json_object_set_new(all, "test_count",
                            json_integer((json_int_t)json_array_size(list)));
    }
    if (list && tests) {
        json_object_set(all, "tests", list);
    }
    if (evaluations) {
        json_object_set(all, "evaluations", evaluations);
    }
}

/* Looked at anew: what the index knows may be of a moment ago. */
static void add_trust(const struct skill *s, const char *name, const json_t *source,
                      json_t *all) {
    size_t left = SAFETY_SEARCHED;
    json_t *danger = danger_look(s, &left);
    bool own = !json_says(source, "source", "project");
    json_object_update(all, (json_t *)(uintptr_t)source);
    autofree char *misnamed = skill_name_problem(name);
    if (misnamed) {
        json_object_set_new(all, "misnamed", json_clean_z(misnamed));
    }
    json_object_set_new(all, "trusted",
                        json_boolean(own && !json_array_size(danger) &&
                                     !json_object_get(all, "misnamed")));
    json_object_set_new(all, "danger", danger);
}

static json_t *skill_json(const struct skill *s, const char *uri, const json_t *source,
                          bool tests) {
    const struct skill_text *t = &s->text;
    json_t *all = json_object();
    const char *name = t->name ? t->name : strrchr(s->folder, '/') + 1;
    json_object_set_new(all, "name", json_clean_z(name));
    if (uri) {
        json_object_set_new(all, "uri", json_string(uri));
    }
    json_object_set_new(all, "path", json_clean_z(s->folder));
    add_trust(s, name, source, all);
    if (t->frontmatter) {
        json_object_set(all, "frontmatter", t->frontmatter);
    } else {
        json_object_set_new(all, "frontmatter", json_object());
    }
    json_object_set_new(all, "body", json_clean(t->text + t->body, t->len - t->body));
    json_object_set_new(all, "files", files_json(s));
    add_meta(s, tests, all);
    if (json_array_size(s->problems)) {
        json_object_set(all, "problems", s->problems);
    }
    return all;
}

static void read_work(void *data) {
    struct reading *r = data;
    struct skill skill;
    if (skill_open(&skill, r->folder, true, &r->err) == 0) {
        autojson *raw = skill_json(&skill, r->uri, r->source, r->tests);
        r->result = json_clean_all(raw);
        skill_finish(&skill);
    }
}

static void read_done(void *data) {
    struct reading *r = data;
    if (r->result) {
        call_reply(r->call, r->result);
    } else {
        skills_fail(r->call, &r->err);
    }
    call_unref(r->call);
    free(r->folder);
    free(r->uri);
    json_decref(r->source);
    free(r);
}

static void get_go(struct skills *s, struct call *call, const json_t *params) {
    static const char *const keys[] = {"path", "uri", "name"};
    struct err err = {0};
    const char *words = "";
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        words = json_get_string(params, keys[i], words);
    }
    char *folder = skills_find_folder(s, call_origin(call), words, &err);
    if (!folder) {
        skills_fail(call, &err);
        return;
    }
    struct reading *r = xcalloc(1, sizeof *r);
    r->call = call_ref(call);
    r->folder = folder;
    r->uri = catalog_uri(skills_catalog(s), folder);
    r->source = catalog_source(skills_catalog(s), folder);
    r->tests = json_get_bool(params, "tests", false);
    work_start(call_origin(call)->loop, read_work, read_done, r);
}

static void get_start(struct call *call, const json_t *) {
    skills_when_current(call, get_go);
}

/* --- the table --- */

const struct operation skills_operations[] = {
    {SKILL_GET_OPERATION, .start = get_start, .describe = skill_get_describe},
    {SKILL_CHECK_OPERATION, .start = skill_check_operation,
     .describe = skill_check_describe},
    {SKILL_INSTALL_OPERATION, .start = skill_install_operation,
     .describe = skill_install_describe},
    {SKILL_PACK_OPERATION, .start = skill_pack_operation,
     .describe = skill_pack_describe},
    {SKILL_UNINSTALL_OPERATION, .start = skill_uninstall_operation,
     .describe = skill_install_describe},
};
const size_t skills_operation_count = ARRAY_LEN(skills_operations);
