#include "skills/skills.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/file.h"
#include "base/find.h"
#include "base/strings.h"
#include "skills/catalog/catalog.h"
#include "skills/install/agents.h"
#include "skills/install/install.h"
#include "skills/skill_operations.h"

#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#define INSTALLED_MS 2000
#define MAX_COPIES 8 /* copies of copies that are followed to their origin */

struct skills {
    struct catalog *catalog;
    struct agents agents;
    struct err agents_problem; /* the user's file of agents; the built-in ones are used */
    char *bundled;
    bool agents_may_suppress;
    char *links;
    char **roots;
    json_t *installed; /* agents on this machine, as last looked for; NULL: never */
    uint64_t installed_ms;
};

struct folder_list {
    struct catalog_folder *list; /* owned paths */
    size_t count, cap;
    json_t *paths; /* the same paths as keys, because a hundred roots have thousands */
};

/* --- where skills are looked for --- */

/* Takes path. A path that is listed already is skipped, so its first scope counts.
 * within: the project's root; NULL for other folders, also for a folder that the user's
 * own table of agents puts outside the project. */
static void add_folder(struct folder_list *l, char *path, const char *scope,
                       const char *agent, const char *within) {
    if (!path || json_object_get(l->paths, path)) {
        free(path);
        return;
    }
    json_object_set_new_nocheck(l->paths, path, json_true());
    list_room(l->list, l->count, l->cap, 64);
    l->list[l->count++] = (struct catalog_folder){
        .path = path,
        .scope = scope,
        .agent = agent,
        .within = within && path_is_beneath(path, within) ? within : NULL};
}

static void folders_free(struct folder_list *l) {
    for (size_t i = 0; i < l->count; i++) {
        free(l->list[i].path);
    }
    free(l->list);
    json_decref(l->paths);
}

static void add_project_folders(struct folder_list *l, const struct agents *agents,
                                const char *root) {
    add_folder(l, path_resolve(root, "skills"), "project", NULL, root);
    list_each(i, a, agents->list, agents->count) {
        if (a->project) {
            add_folder(l, path_resolve(root, a->project), "project", a->name, root);
        }
        for (char **reads = a->reads; reads && *reads; reads++) {
            if (!strchr("/~$", **reads)) {
                add_folder(l, path_resolve(root, *reads), "project", a->name, root);
            }
        }
    }
}

/* A folder that several agents write to is the user's; one agent's own is that agent's.
 */
static bool is_shared(const struct agents *agents, const char *path) {
    size_t users = total_of(size_t, i, 0, agents->count,
                          agents->list[i].user &&strcmp(agents->list[i].user, path) == 0);
    return users > 1;
}

static void add_user_folders(struct folder_list *l, const struct agents *agents) {
    list_each(i, a, agents->list, agents->count) {
        if (a->user && is_shared(agents, a->user)) {
            add_folder(l, xstrdup(a->user), "user", NULL, NULL);
        }
    }
    list_each(i, a, agents->list, agents->count) {
        if (a->user) {
            add_folder(l, xstrdup(a->user), "agent", a->name, NULL);
        }
    }
}

static void folders_tell(struct skills *s) {
    struct folder_list l = {.paths = json_object()};
    /* The user's folders come first, so that they stay the user's when the home folder
     * is the project. */
    add_user_folders(&l, &s->agents);
    for (char **root = s->roots; root && *root; root++) {
        add_project_folders(&l, &s->agents, *root);
    }
    if (s->bundled) {
        add_folder(&l, xstrdup(s->bundled), "bundled", NULL, NULL);
    }
    catalog_set_folders(s->catalog, l.list, l.count);
    folders_free(&l);
}

void skills_set_roots(struct skills *s, const char *const *roots) {
    strings_free(s->roots);
    s->roots = strings_copy(roots);
    for (char **root = s->roots; root && *root; root++) {
        char *normal = path_normalize(*root);
        free(*root);
        *root = normal;
    }
    folders_tell(s);
}

/* --- the domain's state --- */

static char *default_db(void) {
    autofree char *cache = xdg_cache_dir();
    return cache ? path_join(cache, "skills.db") : NULL;
}

struct skills *skills_new(uv_loop_t *loop, const struct skills_config *config) {
    struct skills *s = xcalloc(1, sizeof *s);
    autofree char *db = config->db_path ? xstrdup(config->db_path) : default_db();
    struct err err = {0};
    if (agents_load(&s->agents, &err) < 0) {
        agents_builtin(&s->agents);
        s->agents_problem = err;
    }
    s->bundled = config->bundled ? xstrdup(config->bundled) : NULL;
    s->agents_may_suppress = config->agents_may_suppress;
    s->links = xstrdup(config->links ? config->links : "public");
    s->catalog = catalog_new(loop, db);
    folders_tell(s);
    return s;
}

static void tell_nobody(void *) {}

void skills_close(struct skills *s, void (*closed)(void *data), void *data) {
    catalog_close(s->catalog, closed ? closed : tell_nobody, data);
    agents_finish(&s->agents);
    strings_free(s->roots);
    free(s->bundled);
    free(s->links);
    json_decref(s->installed);
    free(s);
}

struct catalog *skills_catalog(struct skills *s) {
    return s->catalog;
}

bool skills_may_suppress(const struct skills *s, const struct call_origin *origin) {
    return !origin->agent || s->agents_may_suppress;
}

const char *skills_links(const struct skills *s) {
    return s->links;
}

static json_t *agent_json(const struct agent *a) {
    return json_pack("{s:o, s:o, s:o*, s:o*}", "name", json_clean_z(a->name), "title",
                     json_clean_z(a->title), "project",
                     a->project ? json_clean_z(a->project) : NULL, "user",
                     a->user ? json_clean_z(a->user) : NULL);
}

static json_t *agents_look(const struct skills *s) {
    json_t *installed = json_array();
    for (size_t i = 0; i < s->agents.count; i++) {
        if (agent_is_installed(&s->agents.list[i])) {
            json_array_append_new(installed, agent_json(&s->agents.list[i]));
        }
    }
    return installed;
}

/* Each agent is a question to the disk: what is told may be two seconds old. */
json_t *skills_status(struct skills *s) {
    if (!s->installed || clock_ms() - s->installed_ms >= INSTALLED_MS) {
        json_decref(s->installed);
        s->installed = agents_look(s);
        s->installed_ms = clock_ms();
    }
    const struct err *problem = &s->agents_problem;
    return json_pack("{s:o, s:O, s:o*, s:o*}", "catalog", catalog_status(s->catalog),
                     "agents", s->installed, "bundled",
                     s->bundled ? json_clean_z(s->bundled) : NULL, "problem",
                     problem->code ? json_clean_z(problem->msg) : NULL);
}

/* --- what people name --- */

static bool is_beneath_roots(const struct call_origin *origin, const char *path) {
    for (const char *const *root = origin->roots; root && *root; root++) {
        char real[PATH_MAX];
        if (realpath(*root, real) && path_is_beneath(path, real)) {
            return true;
        }
    }
    return false;
}

/* The first of the roots beneath which there is such a path. */
static char *find_relative(const struct call_origin *origin, const char *path) {
    for (const char *const *root = origin->roots; root && *root; root++) {
        autofree char *joined = path_join(*root, path);
        char *real = realpath(joined, NULL);
        if (real) {
            return real;
        }
    }
    return NULL;
}

char *skills_resolve(const struct call_origin *origin, const char *path,
                     struct err *err) {
    autofree char *real =
        *path == '/' ? realpath(path, NULL) : find_relative(origin, path);
    if (real && is_beneath_roots(origin, real)) {
        return take(real);
    }
    /* A path elsewhere gets the same answer whether it is there or not. */
    autofree char *normal = path_normalize(path);
    bool outside = real || *normal == '/' || strncmp(normal, "..", 2) == 0;
    if (outside && !is_beneath_roots(origin, normal)) {
        err_set(err, -EACCES, "%.200s is not in the workspace's folders", path);
    } else {
        err_set(err, -ENOENT, "there is no %.200s", path);
    }
    return NULL;
}

int skills_check_own(const struct call_origin *origin, const char *folder,
                     struct err *err) {
    autofree char *beneath = skills_resolve(origin, folder, err);
    autofree char *parent = path_resolve(folder, "..");
    autofree char *lock = path_join(parent, ".upskilld-lock.json");
    if (!beneath) {
        return -EACCES;
    }
    return access(lock, F_OK) == 0
               ? err_set(err, -EACCES,
                         "the skill was installed, it is not the user's own")
               : 0;
}

/* SKILL.md itself names its folder. */
static char *folder_of(char *path) {
    const char *base = path_basename(path);
    if (strcasecmp(base, "SKILL.md") == 0 && base > path + 1) {
        path[base - path - 1] = '\0';
    }
    return path;
}

int skills_out(const struct call_origin *origin, const char *out, struct root *ret_root,
               char **ret_path, struct err *err) {
    const char *const *root = origin->roots;
    if (!root || !*root) {
        return err_set(err, -EACCES, "there is no workspace to write to");
    }
    if (!out) {
        *ret_path = NULL;
        return root_open(ret_root, *root, err);
    }
    autofree char *joined = path_join(*root, out), *path = path_normalize(joined);
    for (; *root; root++) {
        autofree char *normal = path_normalize(*root);
        if (path_is_beneath(path, normal) && strlen(path) > strlen(normal) + 1) {
            *ret_path = xstrdup(path + strlen(normal) + 1);
            return root_open(ret_root, normal, err);
        }
    }
    return err_set(err, -EACCES, "%.200s is not in the workspace's folders", out);
}

char *skills_find_folder(struct skills *s, const struct call_origin *origin,
                         const char *words, struct err *err) {
    struct stat st;
    char *folder = catalog_locate(s->catalog, words);
    if (folder) {
        return folder;
    }
    autofree char *path = skills_resolve(origin, words, err);
    if (!path) {
        if (!strchr(words, '/')) {
            const char *meant = catalog_meant(s->catalog, words);
            err_set(err, -ENOENT, "no skill is named %.100s%s%.100s%s", words,
                    meant ? "; did you mean " : "", meant ? meant : "", meant ? "?" : "");
        }
        return NULL;
    }
    if (stat(folder_of(path), &st) < 0 || !S_ISDIR(st.st_mode)) {
        err_set(err, -ENOENT, "%.200s is not a skill's folder", words);
        return NULL;
    }
    return take(path);
}

static char *original_folder(struct skills *s, const struct call_origin *origin,
                             char *folder) {
    for (int i = 0; folder && i < MAX_COPIES; i++) {
        struct err err = {0};
        autofree char *source = install_source(folder);
        char *from = source ? skills_find_folder(s, origin, source, &err) : NULL;
        /* A record is an untrusted file of the project. A skill with another name is
         * another skill, whatever the record says. */
        if (!from || strcmp(from, folder) == 0 ||
            strcmp(path_basename(from), path_basename(folder)) != 0) {
            free(from);
            break;
        }
        free(folder);
        folder = from;
    }
    return folder;
}

/* In a project, a name finds the copy in an agent's folder first. */
char *skills_find_original(struct skills *s, const struct call_origin *origin,
                           const char *words, struct err *err) {
    char *folder = skills_find_folder(s, origin, words, err);
    return strchr(words, '/') ? folder : original_folder(s, origin, folder);
}

static bool is_copy(const char *folder) {
    autofree char *source = install_source(folder);
    return source;
}

/* The first skill of that name outside the project that is not an installed copy. */
static char *find_original(struct skills *s, const char *name, struct err *err) {
    bool foreign;
    autofree char *copy = NULL,
                  *folder = catalog_locate_own(s->catalog, name, 0, &foreign);
    for (size_t nth = 1; folder && is_copy(folder); nth++) {
        free(copy);
        copy = take(folder);
        folder = catalog_locate_own(s->catalog, name, nth, &foreign);
    }
    if (!folder && copy) {
        err_set(
            err, -ENOENT,
            "there is only an installed copy of %.100s, without its source: to use the "
            "copy as it is now, give `path` %.300s",
            name, copy);
    }
    return take(folder);
}

char *skills_find_own_folder(struct skills *s, const struct call_origin *origin,
                             const char *words, struct err *err) {
    bool foreign, uri = strncmp(words, "skill://", strlen("skill://")) == 0;
    if (strchr(words, '/') && !uri) {
        return skills_find_folder(s, origin, words, err);
    }
    char *folder = uri ? catalog_locate_own(s->catalog, words, 0, &foreign)
                       : find_original(s, words, err);
    autofree char *other =
        folder || err->code ? NULL : skills_find_folder(s, origin, words, err);
    if (other) {
        err_set(err, -ENOTUNIQ,
                "only this project has the skill %.100s, and outside of it a name or URI "
                "means a bundled skill or one of the user's: to use the project's, give "
                "path %.300s",
                words, other);
    }
    return folder;
}

struct skills *skills_of(const struct call_origin *origin) {
    return call_lent(origin, SKILLS_LENT);
}

/* --- waiting for the catalog --- */

struct current_wait {
    struct call *call; /* a reference */
    struct skills *skills;
    skills_go *go;
};

static void on_current(struct catalog *, int status, void *data) {
    struct current_wait *w = data;
    if (status == -ECANCELED) {
        call_fail(w->call, CALL_UNAVAILABLE, "closing", NULL, "the daemon is ending");
    } else if (status < 0) {
        call_fail(w->call, CALL_UNAVAILABLE, "no_index", "daemon/status shows more",
                  "the index of skills cannot be used: %s", strerror(-status));
    } else if (call_ended(w->call)) { /* cancelled meanwhile */
        call_stopped(w->call);
    } else {
        w->go(w->skills, w->call, call_params(w->call));
    }
    call_unref(w->call);
    free(w);
}

void skills_when_current(struct call *call, skills_go *go) {
    struct skills *s = skills_of(call_origin(call));
    if (!s) {
        call_fail(call, CALL_UNAVAILABLE, "no_skills", NULL,
                  "this process knows no skills");
        return;
    }
    struct current_wait *w = xcalloc(1, sizeof *w);
    *w = (struct current_wait){.call = call_ref(call), .skills = s, .go = go};
    if (!catalog_is_filled(skills_catalog(s))) {
        call_report(call, 0, 0, "reading the skills of this machine");
    }
    catalog_when_current(skills_catalog(s), on_current, w);
}

int skills_fail_path(struct call *call, const char *pointer, const struct err *err) {
    if (err->code == -EACCES || err->code == -EXDEV) {
        call_fail(call, CALL_REFUSED, "outside_roots", "name a file of the workspace",
                  "%s", err->msg);
    } else {
        call_fail_param(call, pointer, "%s", err->msg);
    }
    return -1;
}

void skills_fail(struct call *call, const struct err *err) {
    if (err->code == -EACCES || err->code == -EXDEV) {
        call_fail(call, CALL_REFUSED, "outside_roots",
                  "name a folder of the workspace, or a known skill", "%s", err->msg);
    } else if (err->code == -ENOTUNIQ) {
        call_fail(call, CALL_REFUSED, "project_skill",
                  "read it first: agents would follow the project's text in all projects",
                  "%s", err->msg);
    } else if (err->code == -ENOENT) {
        call_fail(call, CALL_NOT_FOUND, "unknown_skill",
                  "skill/find searches by task; skill/list shows all", "%s", err->msg);
    } else {
        call_fail(call, CALL_UNAVAILABLE, "unreadable", NULL, "%s", err->msg);
    }
}
