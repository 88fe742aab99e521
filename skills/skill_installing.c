/* skill/install and skill/uninstall: blocking work on another thread; the skill of a
 * repository or an archive is fetched before. */
#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/find.h"
#include "base/text.h"
#include "base/work.h"
#include "skills/catalog/catalog.h"
#include "skills/check/skill_check.h"
#include "skills/install/agents.h"
#include "skills/install/archive.h"
#include "skills/install/install.h"
#include "skills/skill_operations.h"

#include <sys/stat.h>

#define MAX_WARNINGS 20

struct installing {
    struct work *work;
    struct call *call; /* a reference; its params are only read meanwhile */
    const json_t *params;
    bool remove, may_suppress;
    char *folder; /* of the skill; NULL for what is removed by name alone */
    char *name;   /* for removing; the skill's own once it was read */
    char *source, *root;
    json_t *about;                  /* of catalog_source; NULL for what is fetched */
    struct repository_fetch *fetch; /* while it runs */
    struct archive_fetch *archive;  /* likewise */
    struct repository_copy *copy;
    bool is_archive;
    bool pinned; /* the caller named the very commit, the archive's digest, or a file */
    bool stopped;
    json_t *warnings; /* of the safety rules */
    /* The outcome: results, or the first of these that is set. */
    json_t *results, *unsafe;
    char *unpinned; /* what a repository has at the moment */
    char *unknown_agent;
    struct err err;
};

/* --- on the other thread --- */

/* The findings that stand in the way: errors of the safety rules, unless they are
 * suppressed with a reason. Warnings are collected. */
static json_t *blocking_findings(const struct skill *skill, const json_t *suppress,
                                 json_t *warnings) {
    autojson *findings = json_array();
    json_t *blocking = json_array();
    safety_rules_check(skill, findings);
    json_each(findings, i, finding) {
        bool blocks = json_says(finding, "severity", "error");
        if (json_says(finding, "severity", "warning") &&
            json_array_size(warnings) < MAX_WARNINGS) {
            json_array_append(warnings, finding);
        }
        json_each(suppress, k, one) {
            blocks =
                blocks && !json_says(one, "code", json_get_string(finding, "code", ""));
        }
        if (blocks) {
            json_array_append(blocking, finding);
        }
    }
    if (!json_array_size(blocking)) {
        json_decref(blocking);
        return NULL;
    }
    return blocking;
}

/* A tag or branch may mean another commit a moment later: what it means now is shown, and
 * is installed when it is asked for by its commit. */
static char *tell_unpinned(const struct skill *skill, const struct installing *in) {
    char size[TEXT_SIZE_MAX];
    autobuf told = BUF_INIT(4096);
    const char *name = skill->text.name ? skill->text.name : "without a name";
    const char *text = skill->text.description ? skill->text.description : "";
    buf_addf(&told,
             in->is_archive ? "the archive's SHA-256 is now %s: skill "
                            : "this is now commit %.12s: skill ",
             in->copy->commit);
    text_clean(&told, name, text_cut(name, strlen(name), SKILL_MAX_NAME));
    buf_addf(&told, ", %zu file%s, %s: ", skill->file_count,
             skill->file_count == 1 ? "" : "s", text_size(size, skill->bytes));
    size_t len = text_cut(text, strlen(text), 200);
    text_clean(&told, text, len);
    buf_adds(&told, text[len] ? "\xE2\x80\xA6" : "");
    json_each(in->warnings, i, one) {
        buf_addf(&told, "%s%s (line %d of %s)", i ? ", " : "; the safety rules warn: ",
                 json_get_string(one, "code", ""), (int)json_get_integer(one, "line", 0),
                 json_get_string(one, "file", "SKILL.md"));
    }
    return buf_detach(&told);
}

static void install_work_skill(struct installing *in, const struct agents *agents,
                               struct install_request *request) {
    struct skill skill;
    if (skill_open(&skill, in->folder, true, &in->err) < 0) {
        return;
    }
    in->warnings = json_array();
    in->unsafe = blocking_findings(&skill, json_object_get(in->params, "suppress"),
                                   in->warnings);
    in->name = skill.text.name ? xstrdup(skill.text.name) : NULL;
    skill_hide_tests(&skill); /* they hold the answers, and what somebody asked */
    if (!in->unsafe && in->copy && !in->pinned) {
        in->unpinned = tell_unpinned(&skill, in);
    } else if (!in->unsafe) {
        request->skill = &skill;
        in->results = install_skill(agents, request);
    }
    skill_finish(&skill);
}

static const char **agent_names(struct installing *in, const struct agents *agents) {
    const json_t *list = json_object_get(in->params, "agents");
    const char **names = xcalloc(json_array_size(list) + 1, sizeof *names);
    json_each(list, i, one) {
        names[i] = json_string_value(one);
        if (!agents_find(agents, names[i]) && !in->unknown_agent) {
            in->unknown_agent = xstrdup(names[i]);
        }
    }
    return names;
}

static void install_all(void *data) {
    struct installing *in = data;
    struct agents agents;
    if (agents_load(&agents, &in->err) < 0) {
        return;
    }
    const char **names = agent_names(in, &agents);
    struct install_request request = {
        .name = in->name,
        .agents = names,
        .scope = json_get_string(in->params, "scope", "project"),
        .root = in->root,
        .source = in->source,
        .force = json_get_bool(in->params, "force", 0),
    };
    if (in->unknown_agent) {
        (void)agents_unknown(&agents, in->unknown_agent, &in->err);
    } else if (in->remove) {
        in->results = uninstall_skill(&agents, &request);
    } else {
        install_work_skill(in, &agents, &request);
    }
    free((void *)names);
    agents_finish(&agents);
}

/* --- the answer --- */

static void refuse_unsafe(struct call *call, const json_t *findings, bool may_suppress) {
    const json_t *first = json_array_get(findings, 0);
    call_fail(
        call, CALL_REFUSED, "unsafe_skill",
        may_suppress
            ? "skill/check shows all findings; `suppress` takes their codes, with a "
              "reason"
            : "skill/check shows all findings; tell the person what was found: only "
              "a person may install it, with upskillctl skill install --suppress",
        "%s (%s, line %d of %s)%s", json_get_string(first, "message", ""),
        json_get_string(first, "code", ""), (int)json_get_integer(first, "line", 0),
        json_get_string(first, "file", "SKILL.md"),
        json_array_size(findings) > 1 ? ", and more" : "");
}

/* The request was stopped before it changed anything. If it changed something, the
 * results are returned. */
static bool was_stopped(const struct installing *in) {
    return !json_any(in->results, result, !json_says(result, "outcome", "refused")) &&
           in->stopped;
}

static void on_cancel(struct call *, void *data) {
    struct installing *in = data;
    in->stopped = true;
    if (in->fetch) {
        repository_fetch_cancel(in->fetch);
    } else if (in->archive) {
        archive_fetch_cancel(in->archive);
    } else {
        work_cancel(in->work);
    }
}

/* Of a skill that the index did not have: others of its name, and what is wrong with the
 * name. */
static json_t *about_unknown(const struct installing *in) {
    const struct catalog *c = skills_catalog(skills_of(call_origin(in->call)));
    const char *folder = path_basename(in->folder);
    json_t *about = catalog_namesakes(c, in->name, in->results);
    if (strcmp(folder, in->name) != 0 && !json_object_get(about, "misnamed")) {
        autofree char *said = xasprintf("it comes from a folder called %s", folder);
        json_object_set_new(about, "misnamed", json_clean_z(said));
    }
    return about;
}

/* Adds the origin of the text to each target. */
static json_t *result_of(struct installing *in) {
    bool known = in->about && !json_says(in->about, "source", "folder");
    autojson *about = known                     ? json_incref(in->about)
                      : in->remove || !in->name ? NULL
                                                : about_unknown(in);
    json_t *hides = json_object_get(about, "hides");
    json_t *misnamed = json_object_get(about, "misnamed");
    json_each(in->results, i, target) {
        if (in->about) {
            json_object_set(target, "source", json_object_get(in->about, "source"));
            json_object_set_new(target, "from", json_clean_z(in->folder));
        } else if (in->copy) {
            json_object_set_new(target, "source",
                                json_string(in->is_archive ? "archive" : "repository"));
            json_object_set_new(target, "from", json_clean_z(in->source));
        }
    }
    json_t *result = json_pack("{s:o}", "results", in->results);
    if (hides) {
        json_object_set(result, "hides", hides);
    }
    if (misnamed) {
        json_object_set(result, "misnamed", misnamed);
    }
    if (json_array_size(in->warnings)) {
        json_object_set(result, "findings", in->warnings);
    }
    return result;
}

static void installing_free(struct installing *in) {
    call_unref(in->call);
    repository_copy_finish(in->copy);
    json_decref(in->unsafe);
    json_decref(in->warnings);
    free(in->folder);
    free(in->name);
    free(in->source);
    free(in->root);
    json_decref(in->about);
    free(in->unknown_agent);
    free(in->unpinned);
    free(in);
}

static void refuse_unpinned(const struct installing *in) {
    autofree char *hint =
        xasprintf("to install exactly this, use `path` %s", in->copy->pinned);
    call_fail(in->call, CALL_REFUSED, "unpinned", hint, "%s", in->unpinned);
}

static void install_done(void *data) {
    struct installing *in = data;
    if (was_stopped(in)) {
        json_decref(in->results);
        call_stopped(in->call);
    } else if (in->results) {
        call_reply(in->call, result_of(in));
    } else if (in->unsafe) {
        refuse_unsafe(in->call, in->unsafe, in->may_suppress);
    } else if (in->unpinned) {
        refuse_unpinned(in);
    } else if (in->unknown_agent) {
        call_fail_param(in->call, "/agents", "%s", in->err.msg);
    } else {
        skills_fail(in->call, &in->err);
    }
    installing_free(in);
}

/* --- the question --- */

static char *find_root(struct call *call, const json_t *params, struct err *err) {
    const char *root = json_get_string(params, "root", NULL);
    const char *const *roots = call_origin(call)->roots;
    if (root) {
        return skills_resolve(call_origin(call), root, err);
    }
    if (!roots || !roots[0]) {
        err_set(err, -ENOENT, "there is no workspace to install into: say root");
        return NULL;
    }
    return xstrdup(roots[0]);
}

/* The skill's name for removing: it may be gone from where it came from. */
static char *name_to_remove(const json_t *params) {
    const char *words = json_get_string(
        params, "name",
        json_get_string(params, "path", json_get_string(params, "uri", "")));
    autofree char *path = xstrdup(words);
    size_t len = strlen(path);
    while (len > 1 && path[len - 1] == '/') {
        path[--len] = '\0';
    }
    char *base = (char *)(uintptr_t)path_basename(path);
    if (strcasecmp(base, "SKILL.md") == 0 && base > path) {
        base[-1] = '\0';
        base = (char *)(uintptr_t)path_basename(path);
    }
    return xstrdup(base);
}

static char *find_skill(struct skills *s, struct call *call, const json_t *params,
                        bool own, struct err *err) {
    const char *words = json_get_string(
        params, "uri",
        json_get_string(params, "path", json_get_string(params, "name", "")));
    return own ? skills_find_own_folder(s, call_origin(call), words, err)
               : skills_find_original(s, call_origin(call), words, err);
}

/* The source in a record must mean the same skill wherever it is read. A URI by digest
 * is invalid after the next change, and a project's URIs mean something else outside the
 * project. */
static char *source_of(struct skills *s, const char *folder, bool at_home) {
    autojson *about = catalog_source(skills_catalog(s), folder);
    bool projects = json_says(about, "source", "project");
    autofree char *uri = catalog_uri(skills_catalog(s), folder);
    bool stays =
        uri && strncmp(uri, "skill://shadowed/", strlen("skill://shadowed/")) != 0;
    return stays && !(at_home && projects) ? take(uri) : xstrdup(folder);
}

/* What the index does not have is the project's only beneath its folder, the first root:
 * the others may be there because a path was named that leads out of it. */
static json_t *source_told(struct skills *s, const struct call *call,
                           const char *folder) {
    json_t *about = catalog_source(skills_catalog(s), folder);
    const char *const *roots = call_origin(call)->roots;
    bool own = roots && roots[0] && path_is_beneath(folder, roots[0]);
    if (json_says(about, "source", "project") && !own) {
        json_object_set_new(about, "source", json_string("folder"));
    }
    return about;
}

static struct installing *installing_new(struct skills *s, struct call *call,
                                         const json_t *params) {
    struct installing *in = xcalloc(1, sizeof *in);
    in->call = call_ref(call);
    in->params = params;
    in->may_suppress = skills_may_suppress(s, call_origin(call));
    return in;
}

static void start_work(struct installing *in) {
    in->work = work_start(call_origin(in->call)->loop, install_all, install_done, in);
}

static bool is_at_home(const json_t *params) {
    return strcmp(json_get_string(params, "scope", "project"), "user") == 0;
}

static void start(struct skills *s, struct call *call, const json_t *params,
                  bool removing) {
    struct err err = {0};
    bool at_home = is_at_home(params);
    autofree char *folder = removing ? NULL : find_skill(s, call, params, at_home, &err);
    bool found = removing || folder;
    autofree char *root = found && !at_home ? find_root(call, params, &err) : NULL;
    if (!found || (!root && !at_home)) {
        skills_fail(call, &err);
        return;
    }
    struct installing *in = installing_new(s, call, params);
    in->remove = removing;
    in->name = removing ? name_to_remove(params) : NULL;
    in->source = folder ? source_of(s, folder, at_home) : NULL;
    in->about = folder ? source_told(s, call, folder) : NULL;
    in->folder = take(folder);
    in->root = take(root); /* NULL at home */
    start_work(in);
    call_on_cancel(call, on_cancel, in);
}

/* --- what is fetched --- */

static void on_fetched(struct repository_copy *copy, const struct err *err, void *data) {
    struct installing *in = data;
    in->fetch = NULL;
    in->archive = NULL;
    if (copy && !in->stopped) {
        in->copy = copy;
        in->folder = xstrdup(copy->folder);
        in->source = xstrdup(copy->pinned);
        start_work(in);
        return;
    }
    repository_copy_finish(copy);
    if (in->stopped) {
        call_stopped(in->call);
    } else {
        call_fail(in->call, err->code == -ENOENT ? CALL_NOT_FOUND : CALL_REFUSED,
                  in->is_archive ? "no_archive" : "no_repository", "nothing was installed",
                  "%s", err->msg);
    }
    installing_free(in);
}

/* A fetch that has begun continues by itself. */
static void fetch_began(struct installing *in, const struct err *err) {
    if (in->fetch || in->archive) {
        call_on_cancel(in->call, on_cancel, in);
    } else {
        skills_fail(in->call, err);
        installing_free(in);
    }
}

static bool find_target(struct installing *in, struct err *err) {
    bool at_home = is_at_home(in->params);
    in->root = at_home ? NULL : find_root(in->call, in->params, err);
    return at_home || in->root;
}

static void start_repository(struct skills *s, struct call *call, const json_t *params,
                             const char *words) {
    struct err err = {0};
    struct repository repository = {0};
    if (repository_read(&repository, words, &err) < 0) {
        call_fail_param(call, "/path", "%s", err.msg);
        return;
    }
    struct installing *in = installing_new(s, call, params);
    in->pinned = repository_is_pinned(&repository);
    if (find_target(in, &err)) {
        call_report(call, 0, 0, "reading %s", repository.url);
        in->fetch = repository_fetch_start(call_origin(call)->loop, &repository,
                                           on_fetched, in, &err);
    }
    fetch_began(in, &err);
    repository_finish(&repository);
}

/* -1 once the call has failed. */
static int read_archive(struct skills *s, struct call *call, const char *words,
                        struct archive_source *ret) {
    struct err err = {0};
    if (archive_read(ret, words, &err) < 0) {
        call_fail_param(call, "/path", "%s", err.msg);
        return -1;
    }
    if (ret->url && strcmp(skills_links(s), "none") == 0) {
        call_fail(call, CALL_REFUSED, "no_links", NULL,
                  "the configuration's `links: none` forbids fetching %.200s", ret->url);
    } else if (ret->url) {
        return 0;
    } else {
        char *path = skills_resolve(call_origin(call), ret->file, &err);
        if (path) {
            free(ret->file);
            ret->file = path;
            return 0;
        }
        skills_fail(call, &err);
    }
    archive_finish(ret);
    return -1;
}

static void start_archive(struct skills *s, struct call *call, const json_t *params,
                          const char *words) {
    struct err err = {0};
    struct archive_source source;
    if (read_archive(s, call, words, &source) < 0) {
        return;
    }
    struct installing *in = installing_new(s, call, params);
    in->is_archive = true;
    in->pinned = !source.url || source.sha256[0];
    if (find_target(in, &err)) {
        call_report(call, 0, 0, "reading %s", source.url ? source.url : source.file);
        in->archive = archive_fetch_start(call_origin(call)->loop, &source,
                                          strcmp(skills_links(s), "any") == 0, on_fetched,
                                          in, &err);
    }
    fetch_began(in, &err);
    archive_finish(&source);
}

/* A folder may be called like an archive. */
static bool names_archive(const struct call *call, const char *words) {
    struct stat st;
    struct err err = {0};
    autofree char *path = skills_resolve(call_origin(call), words, &err);
    return archive_is_meant(words) &&
           !(path && stat(path, &st) == 0 && S_ISDIR(st.st_mode));
}

static void install_go(struct skills *s, struct call *call, const json_t *params) {
    if (json_array_size(json_object_get(params, "suppress")) &&
        !skills_may_suppress(s, call_origin(call))) {
        call_fail(call, CALL_REFUSED, "suppress_refused",
                  "tell the person what skill/check found; a person may install it, with "
                  "upskillctl skill install --suppress",
                  "only a person may suppress findings of the safety rules");
        return;
    }
    const char *path = json_get_string(params, "path", "");
    if (names_archive(call, path)) {
        start_archive(s, call, params, path);
    } else if (repository_is_meant(path)) {
        start_repository(s, call, params, path);
    } else {
        start(s, call, params, false);
    }
}

static void remove_go(struct skills *s, struct call *call, const json_t *params) {
    start(s, call, params, true);
}

void skill_install_operation(struct call *call, const json_t *params) {
    if (strchr(json_get_string(params, "name", ""), '/')) {
        call_fail_param(call, "/name",
                        "a name holds no \"/\": give a folder, an archive or a "
                        "repository as `path`");
        return;
    }
    skills_when_current(call,
                        json_get_bool(params, "remove", 0) ? remove_go : install_go);
}

void skill_uninstall_operation(struct call *call, const json_t *) {
    skills_when_current(call, remove_go);
}
