/* The flow of an install: the folders, their contents, and whether they may be
 * replaced. */
#include "skills/install/install.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/find.h"
#include "base/words.h"
#include "skills/format/skill_name.h"
#include "skills/install/install_diff.h"
#include "skills/install/install_lock.h"
#include "skills/install/install_place.h"
#include "skills/install/install_stage.h"
#include "skills/install/install_tree.h"

#include <fcntl.h>
#include <sys/stat.h>

#define LOCK_WAIT_MS 20000
#define OPEN_FOLDER (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

/* One folder of skills and what is done in it. */
struct task {
    const struct install_request *request;
    const char *name;          /* of the skill */
    struct install_tree shall; /* empty for an uninstall */
    char digest[72];
    int folder;
    json_t *agents; /* names of the asked agents that use this folder */
    struct install_record record;
};

/* What lies under the skill's name now. */
struct present {
    bool there, readable;
    int fd;           /* of the folder, or -1 */
    const char *what; /* why the folder cannot be ours; else NULL */
    struct install_tree tree;
    char digest[72];
};

/* --- outcomes --- */

/* NULL or "": leave the member out. */
static json_t *outcome_new(const char *outcome, const char *reason, const char *digest) {
    bool told = reason && *reason, named = digest && *digest;
    return json_pack("{s:s, s:o*, s:s*}", "outcome", outcome, "reason",
                     told ? json_clean_z(reason) : NULL, "digest", named ? digest : NULL);
}

static json_t *refused(const struct err *err) {
    return outcome_new("refused", err->msg, NULL);
}

/* diff is taken over; may be NULL. */
static json_t *refused_with(const struct err *err, char *diff) {
    json_t *result = refused(err);
    if (diff && diff[0]) {
        json_object_set_new(result, "diff", json_clean_z(diff));
    }
    free(diff);
    return result;
}

/* --- what is there --- */

static void present_finish(struct present *p) {
    fd_close_p(&p->fd);
    install_tree_finish(&p->tree);
}

static struct present look(int folder, const char *name) {
    struct present p = {.fd = -1};
    struct stat st;
    struct err err = {0};
    p.there = fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
    if (!p.there) {
        return p;
    }
    if (!S_ISDIR(st.st_mode)) {
        p.what = S_ISLNK(st.st_mode) ? "is a link" : "is not a folder";
        return p;
    }
    p.fd = openat(folder, name, OPEN_FOLDER);
    if (p.fd < 0 || install_tree_read(p.fd, false, &p.tree, &err) < 0) {
        p.what = "cannot be read";
        return p;
    }
    if (p.tree.odd) {
        p.what = "contains what no skill may contain";
        return p;
    }
    install_tree_digest(&p.tree, p.digest);
    p.readable = true;
    return p;
}

/* A link or a folder with SKILL.md: force does not make this a tool to remove others. */
static bool is_skill(const struct present *p) {
    struct stat st;
    if (p->fd < 0) {
        return p->what && strcmp(p->what, "is a link") == 0;
    }
    return fstatat(p->fd, "SKILL.md", &st, AT_SYMLINK_NOFOLLOW) == 0 ||
           fstatat(p->fd, "skill.md", &st, AT_SYMLINK_NOFOLLOW) == 0;
}

static json_t *conflict(const struct task *t, const struct present *p,
                        const json_t *entry, char *diff) {
    struct err err = {0};
    bool removing = t->shall.count == 0;
    const char *next = !removing     ? "; `force` replaces it"
                       : is_skill(p) ? "; `force` removes it"
                                     : "";
    if (p->what) {
        err_set(&err, -EEXIST, "conflict: %s exists and %s%s%.200s%s", t->name, p->what,
                p->tree.odd ? ": " : "", p->tree.odd ? p->tree.odd : "", next);
    } else if (entry) {
        err_set(&err, -EEXIST, "conflict: %s was changed since it was installed%s",
                t->name, next);
    } else {
        err_set(&err, -EEXIST, "conflict: %s exists and was not installed by upskilld%s",
                t->name, next);
    }
    return refused_with(&err, diff);
}

/* --- installing --- */

/* The agents of the entry and those that ask now, without doubles. */
static json_t *all_agents(const json_t *entry, const json_t *asking) {
    json_t *all = json_array();
    const json_t *lists[] = {json_object_get(entry, "agents"), asking};
    for (size_t l = 0; l < 2; l++) {
        json_each(lists[l], i, name) {
            bool twice = json_any(all, known, json_equal(known, name));
            if (!twice) {
                json_array_append(all, name);
            }
        }
    }
    return all;
}

static void set_entry(struct task *t, const json_t *was, const char *before) {
    const char *source = t->request->source;
    autojson *agents = all_agents(was, t->agents);
    json_object_set_new(t->record.skills, t->name,
                        install_entry_new(&t->shall,
                                          source ? source : t->request->skill->folder,
                                          agents, before));
}

/* Writes the record first, so that a crash before or after the exchange leaves a skill
 * that is known to be ours. Until the old skill is gone, the record names both. */
static int put(struct task *t, const struct present *p, json_t *was, bool ours,
               struct err *err) {
    char stage[INSTALL_NAME_SIZE];
    int rc = install_stage(t->folder, t->request->skill->folder, &t->shall, stage, err);
    if (rc < 0) {
        return rc;
    }
    set_entry(t, was, ours ? p->digest : NULL);
    rc = install_record_write(t->folder, &t->record, err);
    if (rc < 0) {
        install_discard(t->folder, stage);
        return rc;
    }
    rc = install_exchange(t->folder, stage, t->name, t->request->force ? NULL : p->digest,
                          err);
    if (rc < 0) {
        if (was) {
            json_object_set(t->record.skills, t->name, was);
        } else {
            json_object_del(t->record.skills, t->name);
        }
        (void)install_record_write(t->folder, &t->record, NULL);
        return rc;
    }
    if (ours) {
        /* When this fails the old digest stays beside the new one, which does no harm. */
        json_object_del(json_object_get(t->record.skills, t->name), "previous");
        (void)install_record_write(t->folder, &t->record, NULL);
    }
    return 0;
}

/* The skill is there as asked for; see that the record says so. */
static int adopt(struct task *t, const json_t *was, struct err *err) {
    autojson *agents = all_agents(was, t->agents);
    if (was && json_equal(agents, json_object_get(was, "agents")) &&
        !json_object_get(was, "previous") && json_says(was, "digest", t->digest)) {
        return 0;
    }
    set_entry(t, was, NULL);
    return install_record_write(t->folder, &t->record, err);
}

static char *diff_of(const struct task *t, const struct present *p) {
    autofd int source =
        open(t->request->skill->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return p->readable && source >= 0 ? install_diff(p->fd, &p->tree, source, &t->shall)
                                      : NULL;
}

/* What an update took the place of: its digest, where it came from as the record says,
 * and the copy of it. */
static void tell_before(json_t *result, const struct present *p, const char *source,
                        const char *kept) {
    if (p->there && p->readable) {
        json_object_set_new(result, "was",
                            json_pack("{s:s,s:o*,s:o*}", "digest", p->digest, "source",
                                      source ? json_clean_z(source) : NULL, "kept",
                                      kept ? json_clean_z(kept) : NULL));
    }
}

/* A copy of what force takes away, where it was not ours; or NULL. */
static char *keep(const struct task *t, const struct present *p, bool ours) {
    return p->readable && !ours ? install_keep(p->fd, t->name, &p->tree, p->digest)
                                : NULL;
}

static json_t *install_here(struct task *t) {
    autojson *was = json_incref(json_object_get(t->record.skills, t->name));
    const char *from = json_get_string(was, "source", NULL);
    autofree char *before = from ? xstrdup(from) : NULL; /* the record is written anew */
    struct present p = look(t->folder, t->name);
    bool ours = p.readable && install_entry_matches(was, p.digest);
    bool goes = p.there && t->request->force && strcmp(p.digest, t->digest) != 0;
    autofree char *kept = goes ? keep(t, &p, ours) : NULL;
    struct err err = {0};
    json_t *result;
    if (p.readable && strcmp(p.digest, t->digest) == 0) {
        result = adopt(t, was, &err) < 0 ? refused(&err)
                                         : outcome_new("unchanged", NULL, t->digest);
    } else if (p.there && !ours && !t->request->force) {
        result = conflict(t, &p, was, diff_of(t, &p));
    } else if (put(t, &p, was, ours, &err) < 0) {
        result = refused(&err);
    } else {
        result = outcome_new(p.there ? "updated" : "installed", NULL, t->digest);
        tell_before(result, &p, before, kept);
    }
    present_finish(&p);
    return result;
}

/* --- uninstalling --- */

/* Agents that share the folder, were installed for and are not among those that ask. */
static json_t *other_agents(const struct task *t, const json_t *entry) {
    json_t *others = json_array();
    json_each(json_object_get(entry, "agents"), i, name) {
        bool asks = json_any(t->agents, asking, json_equal(asking, name));
        if (!asks) {
            json_array_append(others, name);
        }
    }
    return others;
}

static json_t *take_away(struct task *t, const struct present *p, bool ours) {
    autofree char *kept = keep(t, p, ours);
    struct err err = {0};
    int rc =
        install_take_away(t->folder, t->name, t->request->force ? NULL : p->digest, &err);
    if (rc == 0) {
        json_object_del(t->record.skills, t->name);
        rc = install_record_write(t->folder, &t->record, &err);
    }
    if (rc < 0) {
        return refused(&err);
    }
    json_t *result = outcome_new("removed", NULL, p->digest);
    if (kept) {
        tell_before(result, p, NULL, kept);
    }
    return result;
}

static json_t *not_there(struct task *t, bool recorded) {
    struct err err = {0};
    err_set(&err, -ENOENT, "not_installed: there is no %s here", t->name);
    if (recorded) { /* somebody else removed it */
        json_object_del(t->record.skills, t->name);
        (void)install_record_write(t->folder, &t->record, NULL);
    }
    return refused(&err);
}

static json_t *uninstall_here(struct task *t) {
    autojson *entry = json_incref(json_object_get(t->record.skills, t->name));
    autojson *others = other_agents(t, entry);
    struct present p = look(t->folder, t->name);
    bool force = t->request->force,
         ours = p.readable && install_entry_matches(entry, p.digest);
    struct err err = {0};
    json_t *result;
    if (!p.there) {
        result = not_there(t, entry != NULL);
    } else if (!ours && !(force && is_skill(&p))) {
        result = conflict(t, &p, entry,
                          entry && p.readable ? install_changes(&p.tree, entry) : NULL);
    } else if (json_array_size(others) && !force) {
        autobuf names = BUF_INIT(sizeof err.msg);
        words_add(&names, "{.<8/, /:{.}}[ and {.-8} more]", others);
        err_set(&err, -EBUSY, "shared: %s is installed here for %s too, in the same folder; name %s as well",
                t->name, names.data, json_array_size(others) > 1 ? "them" : "it");
        result = refused(&err);
    } else {
        result = take_away(t, &p, ours);
    }
    present_finish(&p);
    return result;
}

/* --- one folder --- */

typedef json_t *act_here(struct task *t);

/* Runs `act` while this process holds the folder's lock. */
static json_t *act_locked(struct task *t, act_here *act) {
    struct err err = {0};
    autofd int lock = install_lock(t->folder, LOCK_WAIT_MS, &err);
    if (lock < 0) {
        return refused(&err);
    }
    install_sweep(t->folder);
    json_t *result;
    if (install_record_read(t->folder, &t->record, &err) < 0) {
        result = refused(&err);
    } else {
        result = act(t);
        if (t->record.kept[0] && !json_object_get(result, "reason")) {
            err_set(&err, -EBADMSG,
                    "lock_rebuilt: the lock file was damaged and is kept as %s",
                    t->record.kept);
            json_object_set_new(result, "reason", json_string(err.msg));
        }
    }
    install_record_finish(&t->record);
    install_unlock(t->folder, take_fd(lock));
    return result;
}

/* --- requests --- */

struct install_work {
    const struct agents *agents;
    const struct install_request *request;
    const char *name;
    struct install_tree shall;
    char digest[72];
    act_here *act;
    bool create;
};

static void act_at(const struct install_work *w, struct install_place *places, size_t i,
                   size_t count) {
    struct task t = {.request = w->request,
                     .name = w->name,
                     .shall = w->shall,
                     .folder = places[i].fd,
                     .agents = json_array()};
    memcpy(t.digest, w->digest, sizeof t.digest);
    for (size_t k = i; k < count; k++) {
        if (places[k].leader == i) {
            json_array_append_new(t.agents, json_clean_z(w->request->agents[k]));
        }
    }
    places[i].outcome = act_locked(&t, w->act);
    json_decref(t.agents);
}

/* {"agent", "path"?, …outcome} */
static json_t *report(const struct install_work *w, const struct install_place *place,
                      const struct install_place *leader, const char *agent) {
    json_t *result = json_pack("{s:o}", "agent", json_clean_z(agent));
    if (place->path) {
        autofree char *path = path_join(place->path, w->name);
        json_object_set_new(result, "path", json_text(path, strlen(path)));
    }
    json_object_update(result, leader->outcome);
    return result;
}

static json_t *work_everywhere(const struct install_work *w) {
    size_t count = 0;
    while (w->request->agents[count]) {
        count++;
    }
    autofree struct install_place *places = xcalloc(count + 1, sizeof *places);
    for (size_t i = 0; i < count; i++) {
        struct err err = {0};
        if (install_place_open(&places[i], w->agents, w->request, w->request->agents[i],
                               w->create, &err) < 0) {
            places[i].outcome = refused(&err);
        }
        places[i].leader = install_place_leader(places, i);
    }
    json_t *results = json_array();
    for (size_t i = 0; i < count; i++) {
        struct install_place *leader = &places[places[i].leader];
        if (!leader->outcome) {
            act_at(w, places, i, count);
        }
        json_array_append_new(results,
                              report(w, &places[i], leader, w->request->agents[i]));
    }
    for (size_t i = 0; i < count; i++) {
        fd_close_p(&places[i].fd);
        free(places[i].path);
        json_decref(places[i].outcome);
    }
    return results;
}

/* The same refusal for every agent. */
static json_t *refuse_everywhere(const struct install_request *request,
                                 const struct err *err) {
    json_t *results = json_array();
    for (const char *const *agent = request->agents; *agent; agent++) {
        json_t *result = json_pack("{s:o}", "agent", json_clean_z(*agent));
        autojson *outcome = refused(err);
        json_object_update(result, outcome);
        json_array_append_new(results, result);
    }
    return results;
}

static int check_name(const char *name, struct err *err) {
    if (name && skill_name_is_valid(name)) {
        return 0;
    }
    return err_set(
        err, -EINVAL,
        "name_invalid: a skill is installed under a name of 1 to %d characters "
        "a-z, 0-9 and single hyphens, not \"%.100s\"",
        SKILL_MAX_NAME, name ? name : "");
}

/* A skill without its refused files would be another skill. */
static int check_whole(const struct skill *skill, bool force, struct err *err) {
    const json_t *problem = json_array_get(skill->problems, 0);
    if (!problem || force) {
        return 0;
    }
    return err_set(err, -EINVAL, "unsafe_path: not all of the skill can be installed: %s",
                   json_get_string(problem, "message", "a file was refused"));
}

json_t *install_skill(const struct agents *agents,
                      const struct install_request *request) {
    const struct skill *skill = request->skill;
    struct install_work work = {.agents = agents,
                                .request = request,
                                .name = skill->text.name,
                                .act = install_here,
                                .create = true};
    struct err err = {0};
    if (check_name(work.name, &err) < 0 || check_whole(skill, request->force, &err) < 0 ||
        install_tree_of(skill, &work.shall, &err) < 0) {
        return refuse_everywhere(request, &err);
    }
    install_tree_digest(&work.shall, work.digest);
    json_t *results = work_everywhere(&work);
    install_tree_finish(&work.shall);
    return results;
}

json_t *uninstall_skill(const struct agents *agents,
                        const struct install_request *request) {
    struct install_work work = {.agents = agents,
                                .request = request,
                                .name = request->name    ? request->name
                                        : request->skill ? request->skill->text.name
                                                         : NULL,
                                .act = uninstall_here};
    struct err err = {0};
    if (check_name(work.name, &err) < 0) {
        return refuse_everywhere(request, &err);
    }
    return work_everywhere(&work);
}
