#include "skills/generation/skill_save.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/find.h"
#include "base/hash.h"
#include "base/text.h"
#include "skills/grading/suite.h"
#include "skills/install/install_lock.h"
#include "skills/install/install_stage.h"
#include "skills/install/install_tree.h"
#include "skills/traces/redaction.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#define LOCK_WAIT_MS 2000u
#define OPEN_FOLDER (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

static int failed(struct err *err, const char *path, const char *what) {
    int code = -errno;
    return err_set(err, code, "%.300s: cannot %s: %s", path, what, strerror(-code));
}

/* The improved skill's files, verified, under the new name. */
static int copy_base(int stage, const char *name, const struct skill *base,
                     struct err *err) {
    struct install_tree tree = {0};
    char copy[INSTALL_NAME_SIZE];
    int rc = install_tree_of(base, &tree, err);
    rc = rc < 0 ? rc : install_stage(stage, base->folder, &tree, copy, err);
    install_tree_finish(&tree);
    if (rc == 0 && renameat(stage, copy, stage, name) < 0) {
        rc = failed(err, name, "rename the copy");
    }
    return rc;
}

/* Sweeps what others left, then makes the stage and holds it, both under the folder's
 * lock: without that a sweep could meet the stage before it is held. Where the lock is
 * taken for long there is no sweep. */
static int make_stage(struct skill_stage *s, struct err *err) {
    autofree char *path = path_join(s->parent, s->stage);
    autofd int parent = open(s->parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int lock = parent < 0 ? -1 : install_lock(parent, LOCK_WAIT_MS, NULL);
    if (lock >= 0) {
        install_sweep(parent);
    }
    int rc = mkdir(path, 0755) < 0 ? failed(err, path, "make the folder") : 0;
    s->hold = rc < 0 ? -1 : open(path, OPEN_FOLDER);
    if (rc == 0 && s->hold < 0) {
        rc = failed(err, path, "open the folder");
    } else if (rc == 0) {
        (void)flock(s->hold, LOCK_EX | LOCK_NB); /* some file systems have no locks */
    }
    if (lock >= 0) {
        install_unlock(parent, lock);
    }
    return rc;
}

static int fill(struct skill_stage *s, const struct skill *base, struct err *err) {
    int rc = make_stage(s, err);
    if (rc < 0 || base) {
        return rc < 0 ? rc : copy_base(s->hold, s->name, base, err);
    }
    return mkdirat(s->hold, s->name, 0755) < 0 ? failed(err, s->folder, "make the folder")
                                               : 0;
}

int skill_stage_open(struct skill_stage *ret, const char *parent, const char *name,
                     const struct skill *base, const struct redaction *redaction,
                     struct err *err) {
    char random[33];
    int rc = dir_make(parent, 0755, err);
    if (rc < 0) {
        return rc;
    }
    random_hex(16, random);
    *ret = (struct skill_stage){
        .parent = xstrdup(parent),
        .name = xstrdup(name),
        .stage = xasprintf(INSTALL_STAGE "%s", random),
        .redaction = redaction,
        .base = base,
        .hold = -1,
    };
    ret->folder = xasprintf("%s/%s/%s", parent, ret->stage, name);
    rc = fill(ret, base, err);
    if (rc < 0) {
        skill_stage_discard(ret);
    }
    return rc;
}

/* --- what is written --- */

struct secret_search {
    const char *text;
    const struct buf *known; /* the file as its author wrote it */
    size_t line;             /* of the first secret; 0: none */
};

static bool on_secret(size_t start, size_t end, void *data) {
    struct secret_search *x = data;
    if (x->known && memmem(x->known->data, x->known->len, x->text + start, end - start)) {
        return true;
    }
    x->line = 1 + text_count(x->text, start, '\n');
    return false;
}

static size_t secret_line_of(const struct redaction *r, const char *text, size_t len,
                             const struct buf *known) {
    struct secret_search x = {.text = text, .known = known};
    redaction_find(r, text, len, on_secret, &x);
    return x.line;
}

int skill_refuse_secret(const struct redaction *r, const struct skill *base,
                        const char *path, const char *text, size_t len, struct err *err) {
    autobuf known = BUF_INIT(SKILL_MAX_TEXT);
    autofree char *file = base ? path_join(base->folder, path) : NULL;
    bool has = file && file_read(file, &known, NULL) == 0;
    size_t line = secret_line_of(r, text, len, has ? &known : NULL);
    return line ? err_set(err, -EKEYREJECTED,
                          "%.100s, line %zu contains what looks like a secret: write a "
                          "placeholder such as <secret> in its place",
                          path, line)
                : 0;
}

static int write_in(const struct skill_stage *s, const char *path, const char *text,
                    size_t len, struct err *err) {
    struct root root;
    int rc = skill_refuse_secret(s->redaction, s->base, path, text, len, err);
    rc = rc < 0 ? rc : root_open(&root, s->folder, err);
    if (rc == 0) {
        rc = root_write(&root, path, text, len, 0644, err);
        root_close(&root);
    }
    return rc;
}

int skill_stage_write_file(const struct skill_stage *s, const char *path,
                           const char *text, struct err *err) {
    return write_in(s, path, text, strlen(text), err);
}

int skill_stage_write(const struct skill_stage *s, const struct skill_draft *d,
                      struct err *err) {
    int rc = skill_stage_write_file(s, "SKILL.md", d->text, err);
    json_each_member(d->files, path, text) {
        rc = rc < 0 ? rc
                    : write_in(s, path, json_string_value(text), json_string_length(text),
                               err);
    }
    return rc;
}

void skill_tests_digest(const json_t *tests, char ret[static 72]) {
    struct suite suite;
    if (suite_from_json(&suite, tests, NULL) < 0) {
        snprintf(ret, 72, "none");
        return;
    }
    snprintf(ret, 72, "%s", suite.digest);
    suite_finish(&suite);
}

/* The tests are those that were saved; older skills do not say which these were. */
static bool has_own_tests(const json_t *meta) {
    const char *noted =
        json_get_string(json_object_get(meta, "provenance"), "tests", NULL);
    char digest[72];
    skill_tests_digest(json_object_get(meta, "tests"), digest);
    return !noted || strcmp(noted, digest) == 0;
}

/* What skill_meta.json says SKILL.md was when it was generated. */
static bool is_unchanged(const struct skill *s, const json_t *meta) {
    const json_t *provenance = json_object_get(meta, "provenance");
    const char *digest = json_get_string(provenance, "skill_md", "");
    const struct skill_file *file = skill_find_file(s, "SKILL.md");
    return file && *digest && strcmp(file->digest, digest) == 0 && has_own_tests(meta);
}

static bool same_string(const json_t *a, const json_t *b, const char *key) {
    const json_t *value = json_object_get(a, key);
    return value && json_equal(value, json_object_get(b, key));
}

/* A session that went on has another digest under its old name. */
static bool has_source(const json_t *list, const json_t *source) {
    return json_any(list, one,
                    same_string(one, source, "digest") ||
                        same_string(one, source, "name"));
}

/* Whether a skill of these sources may take the place of the one that meta is of: what
 * that one teaches is in them, too. */
static bool has_sources_of(const json_t *sources, const char *task, const json_t *meta) {
    static const char *const kinds[] = {"traces", "documents"};
    const json_t *old = json_object_get(meta, "provenance");
    const char *old_task =
        json_get_string(json_object_get(meta, "metadata"), "source_task", "");
    size_t count = 0;
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        const json_t *list = json_object_get(sources, kinds[i]);
        const json_t *before = json_object_get(old, kinds[i]);
        if (json_any(before, source, !has_source(list, source))) {
            return false;
        }
        count += json_array_size(before);
    }
    return count || !task || strcmp(old_task, task) == 0;
}

int skill_may_replace(const char *parent, const char *name, const struct skill *base,
                      const json_t *sources, const char *task, struct err *err) {
    autofree char *path = path_join(parent, name);
    struct stat st;
    struct skill skill;
    if (lstat(path, &st) < 0) {
        return 0;
    }
    autofree char *real = realpath(path, NULL);
    autofree char *base_real = base ? realpath(base->folder, NULL) : NULL;
    if (real && base_real && strcmp(real, base_real) == 0) {
        return 0;
    }
    bool unchanged = false, covered = false;
    if (S_ISDIR(st.st_mode) && skill_open(&skill, path, true, NULL) == 0) {
        autojson *meta = skill_meta_read(&skill);
        unchanged = is_unchanged(&skill, meta);
        covered = has_sources_of(sources, task, meta);
        skill_finish(&skill);
    }
    return unchanged && covered
               ? 0
               : err_set(err, covered ? -EEXIST : -ENOTUNIQ,
                         "%.64s is there already, and %s: say `skill` to improve it, or "
                         "another `name` or `output`",
                         name,
                         covered ? "not as it was generated"
                                 : "was made from other sources");
}

int skill_stage_commit(struct skill_stage *s, struct err *err) {
    autofd int parent = open(s->parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (parent < 0) {
        return failed(err, s->parent, "open the folder");
    }
    autofree char *staged = xasprintf("%s/%s", s->stage, s->name);
    if (strlen(staged) >= INSTALL_NAME_SIZE) {
        return err_set(err, -ENAMETOOLONG, "%.64s: the name is too long", s->name);
    }
    return install_exchange(parent, staged, s->name, NULL, err);
}

void skill_stage_discard(struct skill_stage *s) {
    if (s->stage) {
        autofree char *path = path_join(s->parent, s->stage);
        struct stat st;
        if (lstat(path, &st) == 0) {
            (void)dir_remove(path, NULL);
        }
        fd_close_p(&s->hold);
    }
    free(s->parent);
    free(s->name);
    free(s->stage);
    free(s->folder);
    *s = (struct skill_stage){0};
}
