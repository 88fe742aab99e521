/* Git at work: one child lists the repository, a second gives the skill's files. */

#include "base/child.h"
#include "base/err.h"
#include "base/file.h"
#include "base/strings.h"
#include "base/text.h"
#include "skills/install/repository_files.h"
#include "skills/repository_table.h"

#define TIMEOUT_MS 120000
#define LISTING_MAX (32u << 20) /* some 300,000 files */
#define BLOBS_MAX (SKILL_MAX_BYTES + SKILL_MAX_FILES * 128u)
#define ERRORS_MAX 4096u

struct repository_fetch {
    uv_loop_t *loop;
    struct repository repository;
    repository_fetched *fetched;
    void *data;
    struct child *child;
    char *room, *git; /* a folder of our own, and Git's in it */
    struct buf out, errors;
    char commit[65];
    struct repository_files files;
    bool cancelled;
};

/* --- the end --- */

void repository_copy_finish(struct repository_copy *copy) {
    if (copy) {
        (void)dir_remove(copy->room, NULL);
        free(copy->room);
        free(copy->folder);
        free(copy->pinned);
        free(copy);
    }
}

static void fetch_free(struct repository_fetch *f) {
    if (f->room) {
        (void)dir_remove(f->room, NULL);
    }
    repository_finish(&f->repository);
    repository_files_finish(&f->files);
    buf_finish(&f->out);
    buf_finish(&f->errors);
    free(f->room);
    free(f->git);
    free(f);
}

/* The receiver may start another from inside. */
static void finish(struct repository_fetch *f, struct repository_copy *copy,
                   const struct err *err) {
    f->fetched(copy, err, f->data);
    fetch_free(f);
}

/* Git's own last complaint, without what stands between "://" and "@": no password of an
 * address that the user's configuration puts there. */
static void git_complaint(const struct repository_fetch *f, struct buf *out) {
    const char *line = strstr(f->errors.data, "fatal: ");
    const char *text = line ? line + strlen("fatal: ") : f->errors.data;
    size_t len = strcspn(text, "\n");
    const char *user = strstr(text, "://"), *at = strchr(text, '@');
    if (user && at && at > user && at < text + len) {
        text_clean(out, text, (size_t)(user + 3 - text));
        len -= (size_t)(at + 1 - text);
        text = at + 1;
    }
    text_clean(out, text, len);
}

/* A server does not look for the beginning of a commit's name. */
static bool is_short_commit(const char *ref) {
    size_t len = strlen(ref);
    return len >= 4 && len < 40 && strspn(ref, "0123456789abcdef") == len;
}

static int git_failed(const struct repository_fetch *f, const struct child_end *end,
                      struct err *err) {
    autobuf complaint = BUF_INIT(300);
    if (f->cancelled) {
        return err_set(err, -ECANCELED, "stopped; nothing was installed");
    }
    if (end->failure == -ETIMEDOUT) {
        return err_set(err, -ETIMEDOUT, "%.200s did not answer within %d s",
                       f->repository.url, TIMEOUT_MS / 1000);
    }
    if (end->failure == -EMSGSIZE || f->out.full) {
        return err_set(err, -EFBIG, "%.200s is larger than a skill may be",
                       f->repository.url);
    }
    if (end->exit_status == 127) {
        return err_set(err, -ENOSYS, "git is not installed, or not on the daemon's PATH");
    }
    git_complaint(f, &complaint);
    if (is_short_commit(f->repository.ref) && complaint.len &&
        strstr(complaint.data, f->repository.ref)) {
        return err_set(err, -ENOENT,
                       "%.200s has no tag or branch %.100s; if it is a commit, give all "
                       "of its 40 digits",
                       f->repository.url, f->repository.ref);
    }
    return err_set(err, -ENOENT, "%.200s at %.100s cannot be read: %s", f->repository.url,
                   f->repository.ref,
                   complaint.len ? complaint.data : "git ended without a message");
}

/* --- children --- */

static void on_out(struct child *child, const char *bytes, size_t len, void *data) {
    struct repository_fetch *f = data;
    if (buf_add(&f->out, bytes, len) < 0) {
        child_kill(child);
    }
}

static void on_error(struct child *, const char *bytes, size_t len, void *data) {
    struct repository_fetch *f = data;
    size_t room = f->errors.max - f->errors.len;
    buf_add(&f->errors, bytes, len < room ? len : room);
}

/* What Git needs to reach a server as the user does, and no question to anybody. */
static char **git_environment(void) {
    static const char *const kept[] = {"PATH",          "HOME",        "LANG",
                                       "TMPDIR",        "USER",        "XDG_CONFIG_HOME",
                                       "SSH_AUTH_SOCK", "https_proxy", "HTTPS_PROXY",
                                       "http_proxy",    "no_proxy",    "NO_PROXY",
                                       "ALL_PROXY",     "all_proxy",   "SSL_CERT_FILE"};
    struct strings env = {0};
    for (size_t i = 0; i < ARRAY_LEN(kept); i++) {
        const char *value = getenv(kept[i]);
        if (value) {
            strings_add(&env, xasprintf("%s=%s", kept[i], value));
        }
    }
    strings_add(&env, xstrdup("GIT_TERMINAL_PROMPT=0"));
    strings_add(&env, xstrdup("GIT_ASKPASS=true"));
    strings_add(&env, xstrdup("GIT_SSH_COMMAND=ssh -oBatchMode=yes"));
    strings_add(&env, xstrdup("GIT_ALLOW_PROTOCOL=https:http:ssh"));
    return env.list;
}

static int start_child(struct repository_fetch *f, const char *script, bool want_stdin,
                       void (*end)(struct child *, const struct child_end *, void *),
                       struct err *err) {
    const char *argv[] = {
        "/bin/sh",         "-c", script, "sh", f->git, f->repository.url,
        f->repository.ref, NULL};
    autoptr(strings_free) char **env = git_environment();
    struct child_options options = {
        .argv = argv,
        .env = (const char *const *)env,
        .timeout_ms = TIMEOUT_MS,
        .want_stdin = want_stdin,
        .out = on_out,
        .error = on_error,
        .end = end,
        .data = f,
    };
    return child_start(f->loop, &options, &f->child, err);
}

/* --- the files --- */

/* The skill lies in a folder of its own name, as it does in the repository. */
static char *skill_folder(const struct repository_fetch *f) {
    const char *where = *f->files.folder ? f->files.folder : f->repository.shown;
    autofree char *name = xstrdup(path_basename(where));
    size_t len = strlen(name);
    if (len > 4 && strcmp(name + len - 4, ".git") == 0) {
        name[len - 4] = '\0';
    }
    return xasprintf("%s/skill/%s", f->room, *name ? name : "skill");
}

static char *pinned_words(const struct repository_fetch *f) {
    bool url = strstr(f->repository.shown, "://") != NULL;
    const char *folder = f->files.folder;
    return xasprintf("%s%s%s@%s", f->repository.shown,
                     !*folder ? ""
                     : url    ? "//"
                              : "/",
                     folder, f->commit);
}

static struct repository_copy *copy_new(struct repository_fetch *f, struct err *err) {
    autofree char *folder = skill_folder(f);
    if (dir_make(folder, 0700, err) < 0 ||
        repository_files_write(&f->files, &f->out, folder, err) < 0) {
        return NULL;
    }
    struct repository_copy *copy = xcalloc(1, sizeof *copy);
    copy->room = take(f->room);
    copy->folder = take(folder);
    copy->pinned = pinned_words(f);
    memcpy(copy->commit, f->commit, sizeof copy->commit);
    return copy;
}

static void on_files(struct child *, const struct child_end *end, void *data) {
    struct repository_fetch *f = data;
    struct err err = {0};
    f->child = NULL;
    bool failed = end->failure || end->exit_status != 0 || f->out.full;
    if (failed) {
        git_failed(f, end, &err);
    }
    finish(f, failed ? NULL : copy_new(f, &err), &err);
}

/* --- the listing --- */

/* The first line is the commit's id, the rest its tree. */
static int read_listing(struct repository_fetch *f, struct err *err) {
    size_t line = strcspn(f->out.data, "\n");
    if (line >= sizeof f->commit || f->out.data[line] != '\n') {
        return err_set(err, -EIO, "git did not say which commit this is");
    }
    memcpy(f->commit, f->out.data, line);
    buf_consume(&f->out, line + 1);
    return repository_files_find(&f->files, f->out.data, f->out.len, f->repository.path,
                                 err);
}

static int ask_for_files(struct repository_fetch *f, struct err *err) {
    autobuf ids = BUF_INIT(SKILL_MAX_FILES * 66u);
    buf_finish(&f->out);
    f->out = BUF_INIT(BLOBS_MAX);
    buf_reset(&f->errors);
    int rc = start_child(f, repository_blobs, true, on_files, err);
    if (rc == 0) {
        repository_files_ask(&f->files, &ids);
        child_write(f->child, ids.data, ids.len);
        child_close_stdin(f->child);
    }
    return rc;
}

static void on_listing(struct child *, const struct child_end *end, void *data) {
    struct repository_fetch *f = data;
    struct err err = {0};
    f->child = NULL;
    bool failed = end->failure || end->exit_status != 0 || f->out.full;
    if ((failed ? git_failed(f, end, &err) : read_listing(f, &err)) < 0 ||
        ask_for_files(f, &err) < 0) {
        finish(f, NULL, &err);
    }
}

struct repository_fetch *repository_fetch_start(uv_loop_t *loop,
                                                const struct repository *repository,
                                                repository_fetched *fetched, void *data,
                                                struct err *err) {
    struct repository_fetch *f = xcalloc(1, sizeof *f);
    f->loop = loop;
    f->fetched = fetched;
    f->data = data;
    f->repository = (struct repository){
        .url = xstrdup(repository->url),
        .path = xstrdup(repository->path),
        .ref = xstrdup(repository->ref),
        .shown = xstrdup(repository->shown),
    };
    f->out = BUF_INIT(LISTING_MAX);
    f->errors = BUF_INIT(ERRORS_MAX);
    f->room = dir_make_temporary("repository", err);
    f->git = f->room ? path_join(f->room, "git") : NULL;
    if (!f->room || start_child(f, repository_list, false, on_listing, err) < 0) {
        fetch_free(f);
        return NULL;
    }
    return f;
}

void repository_fetch_cancel(struct repository_fetch *f) {
    f->cancelled = true;
    if (f->child) {
        child_cancel(f->child);
    }
}
