/* skill/check: a skill's folder, a text, or a kernel project. */
#include "base/err.h"
#include "base/file.h"
#include "base/work.h"
#include "protocol/finding.h"
#include "skills/check/skill_check.h"
#include "skills/kernel_project/build_toml.h"
#include "skills/skill_operations.h"

#include <sys/stat.h>

#define MAX_FINDINGS 200

static enum skill_check_mode mode_of(const json_t *params) {
    return json_get_bool(params, "strict", 0) ? SKILL_CHECK_STRICT : SKILL_CHECK_LENIENT;
}

/* --- skills --- */

struct checking {
    struct call *call; /* a reference */
    char *folder;      /* NULL for a text */
};

static void on_checked(struct skill_check *, json_t *result, void *data) {
    struct checking *c = data;
    if (result && c->folder) {
        json_object_set_new(result, "path", json_clean_z(c->folder));
    }
    if (result) {
        call_reply(c->call, result);
    } else {
        call_stopped(c->call);
    }
    call_unref(c->call);
    free(c->folder);
    free(c);
}

static void on_cancel(struct call *, void *data) {
    skill_check_cancel(data);
}

static void check_skill(struct call *call, const char *folder) {
    const json_t *params = call_params(call);
    const json_t *text = folder ? NULL : json_object_get(params, "text");
    struct checking *c = xcalloc(1, sizeof *c);
    c->call = call_ref(call);
    c->folder = folder ? xstrdup(folder) : NULL;
    struct skill_check *check = skill_check_start(
        call_origin(call), folder, text ? "SKILL.md" : NULL, json_string_value(text),
        json_string_length(text), mode_of(params), json_object_get(params, "suppress"),
        on_checked, c);
    call_on_cancel(call, on_cancel, check);
}

/* --- kernel projects, on another thread --- */

struct project {
    struct call *call;
    char *folder;
    json_t *findings;
};

static void project_work(void *data) {
    struct project *p = data;
    p->findings = json_array();
    kernel_project_check(p->folder, p->findings);
}

static void project_done(void *data) {
    struct project *p = data;
    size_t omitted = findings_tidy(p->findings, MAX_FINDINGS);
    bool ok = !findings_first_error(p->findings);
    call_reply(p->call, json_pack("{s:b,s:o,s:I,s:o}", "ok", ok, "findings", p->findings,
                                  "omitted", (json_int_t)omitted, "path",
                                  json_clean_z(p->folder)));
    call_unref(p->call);
    free(p->folder);
    free(p);
}

static void check_project(struct call *call, const char *folder) {
    struct project *p = xcalloc(1, sizeof *p);
    p->call = call_ref(call);
    p->folder = xstrdup(folder);
    work_start(call_origin(call)->loop, project_work, project_done, p);
}

/* --- which of them --- */

static bool has_file(const char *folder, const char *name) {
    struct stat st;
    autofree char *path = path_join(folder, name);
    return stat(path, &st) == 0;
}

/* A project has no SKILL.md; naming its build.toml asks for the project too. */
static bool is_project(const char *folder, bool named) {
    return has_file(folder, "build.toml") &&
           (named || !(has_file(folder, "SKILL.md") || has_file(folder, "skill.md")));
}

/* path: a folder or a file in it, resolved; changed. */
static void check_path(struct call *call, char *path) {
    struct stat st;
    const char *base = path_basename(path);
    bool toml = strcmp(base, "build.toml") == 0;
    bool skill = strcasecmp(base, "SKILL.md") == 0;
    if (stat(path, &st) == 0 && !S_ISDIR(st.st_mode) && (toml || skill)) {
        path[base > path + 1 ? base - path - 1 : 1] = '\0';
    } else {
        toml = false;
    }
    if (is_project(path, toml)) {
        check_project(call, path);
    } else if (has_file(path, "SKILL.md") || has_file(path, "skill.md")) {
        check_skill(call, path);
    } else {
        call_fail(call, CALL_NOT_FOUND, "no_skill",
                  "the folders in it are not searched: name a skill's own, which has "
                  "SKILL.md, or a kernel project's, which has build.toml",
                  "%.200s has no SKILL.md", path);
    }
}

static void known_go(struct skills *s, struct call *call, const json_t *params) {
    struct err err = {0};
    autofree char *folder = skills_find_folder(s, call_origin(call),
                                               json_get_string(params, "path", ""), &err);
    if (folder) {
        check_path(call, folder);
    } else {
        skills_fail(call, &err);
    }
}

/* A path in the workspace is checked without the catalog. */
void skill_check_operation(struct call *call, const json_t *params) {
    const char *path = json_get_string(params, "path", NULL);
    if (!path) {
        check_skill(call, NULL);
        return;
    }
    autofree char *resolved = skills_resolve(call_origin(call), path, NULL);
    if (resolved) {
        check_path(call, resolved);
    } else {
        skills_when_current(call, known_go);
    }
}
