/* Watching folders of skills. Watches are a shared, bounded resource of the user: at most
 * CATALOG_MAX_WATCHES are taken, and a folder that needs more is looked at again instead.
 */
#include "base/file.h"
#include "skills/catalog/catalog_internal.h"
#include "skills/format/skill.h"

#define STARTS_PER_TURN 128

struct folder_watch {
    uv_fs_event_t handle;
    struct watches *owner;
    struct folder_watch *next;
    char *path, *name; /* name: what a parent is watched for */
    ino_t inode;
    uint32_t folder;
    enum directory_kind kind;
    bool stale, started;
};
struct folder_state {
    bool set, refused, fresh;
    size_t pending;
};
struct watches {
    uv_loop_t *loop;
    uv_idle_t starter;
    struct watches_events events;
    struct folder_watch *list;
    size_t count, closing; /* closing: handles whose close callback is still to come */
    struct folder_state *folders;
    size_t folder_count;
    void (*closed)(void *data);
    void *closed_data;
};

static struct folder_state *state_of(struct watches *w, uint32_t folder) {
    if (folder >= w->folder_count) {
        w->folders = xreallocarray(w->folders, folder + 1, sizeof *w->folders);
        memset(w->folders + w->folder_count, 0,
               (folder + 1 - w->folder_count) * sizeof *w->folders);
        w->folder_count = folder + 1;
    }
    return &w->folders[folder];
}

/* --- closing --- */

static void finish_if_closed(struct watches *w) {
    if (w->closed && w->closing == 0) {
        w->closed(w->closed_data);
        free(w->folders);
        free(w);
    }
}

static void watch_closed(uv_handle_t *handle) {
    struct folder_watch *watch = handle->data;
    struct watches *w = watch->owner;
    free(watch->path);
    free(watch->name);
    free(watch);
    w->closing--;
    finish_if_closed(w);
}

/* Taken out of the list by the caller. */
static void drop(struct folder_watch *watch) {
    struct watches *w = watch->owner;
    if (!watch->started && state_of(w, watch->folder)->pending) {
        state_of(w, watch->folder)->pending--;
    }
    w->count--;
    w->closing++;
    uv_close((uv_handle_t *)&watch->handle, watch_closed);
}

static void drop_if(struct watches *w, bool all) {
    for (struct folder_watch **at = &w->list; *at;) {
        struct folder_watch *watch = *at;
        if (all || watch->stale) {
            *at = watch->next;
            drop(watch);
        } else {
            at = &watch->next;
        }
    }
}

/* --- events --- */

/* What is no part of a skill does not matter; its folder's name tells that it moved. */
static bool matters(const struct folder_watch *watch, const char *name) {
    if (!name || watch->kind == DIRECTORY_SEARCHED) {
        return true;
    }
    if (watch->kind == DIRECTORY_PARENT) {
        return strcmp(name, watch->name) == 0 ||
               strcmp(name, path_basename(watch->path)) == 0;
    }
    return !skill_skips(name);
}

static void on_event(uv_fs_event_t *handle, const char *name, int, int status) {
    struct folder_watch *watch = handle->data;
    struct watches *w = watch->owner;
    if (status < 0) {
        state_of(w, watch->folder)->refused = true;
    }
    if (status < 0 || matters(watch, name)) {
        w->events.changed(w->events.data, watch->folder);
    }
}

/* --- starting --- */

static void start(struct folder_watch *watch) {
    struct folder_state *state = state_of(watch->owner, watch->folder);
    watch->started = true;
    state->pending--;
    if (uv_fs_event_start(&watch->handle, on_event, watch->path, 0) < 0) {
        state->refused = true;
    }
    uv_unref((uv_handle_t *)&watch->handle);
}

static void report_settled(struct watches *w) {
    for (uint32_t i = 0; i < w->folder_count; i++) {
        struct folder_state *state = &w->folders[i];
        if (state->fresh && !state->pending) {
            state->fresh = false;
            w->events.settled(w->events.data, i);
        }
    }
}

/* Some per turn, so that the loop stays responsive. New ones stand in front. */
static void on_turn(uv_idle_t *idle) {
    struct watches *w = idle->data;
    unsigned started = 0;
    struct folder_watch *watch = w->list;
    for (; watch && started < STARTS_PER_TURN; watch = watch->next) {
        if (!watch->started) {
            start(watch);
            started++;
        }
    }
    report_settled(w);
    if (!watch) {
        uv_idle_stop(idle);
    }
}

/* What is waited for in an ancestor of the root; of other directories the root's name. */
static char *awaited_in(const char *directory, const char *root) {
    size_t len = strlen(directory);
    if (strncmp(root, directory, len) == 0 && root[len] == '/') {
        return xstrndup(root + len + 1, strcspn(root + len + 1, "/"));
    }
    return xstrdup(path_basename(root));
}

static void add(struct watches *w, uint32_t folder, const char *root,
                const struct found_directory *d) {
    struct folder_state *state = state_of(w, folder);
    if (w->count == CATALOG_MAX_WATCHES) {
        state->refused = true;
        return;
    }
    struct folder_watch *watch = xcalloc(1, sizeof *watch);
    *watch = (struct folder_watch){.owner = w,
                                   .next = w->list,
                                   .path = xstrdup(d->path),
                                   .name = awaited_in(d->path, root),
                                   .inode = d->inode,
                                   .folder = folder,
                                   .kind = d->kind};
    uv_fs_event_init(w->loop, &watch->handle);
    uv_unref((uv_handle_t *)&watch->handle);
    watch->handle.data = watch;
    w->list = watch;
    w->count++;
    state->pending++;
    state->fresh = true;
}

static int by_path(const void *a, const void *b) {
    return strcmp(((const struct found_directory *)a)->path,
                  ((const struct found_directory *)b)->path);
}

/* The wanted directory that a watch already stands for; a folder that was replaced has
 * another inode, and the old watch hears nothing of it. */
static bool keeps(const struct folder_watch *watch, const struct found_directory *sorted,
                  size_t count, bool *had) {
    struct found_directory key = {.path = watch->path};
    const struct found_directory *d =
        count ? bsearch(&key, sorted, count, sizeof *sorted, by_path) : NULL;
    bool same = d && d->inode == watch->inode && d->kind == watch->kind;
    if (same) {
        had[d - sorted] = true;
    }
    return same;
}

void watches_set(struct watches *w, uint32_t folder, const char *root,
                 const struct found *found) {
    size_t count = found->directory_count;
    autofree struct found_directory *sorted = xcalloc(count + 1, sizeof *sorted);
    autofree bool *had = xcalloc(count + 1, sizeof *had);
    if (count) {
        memcpy(sorted, found->directories, count * sizeof *sorted);
        qsort(sorted, count, sizeof *sorted, by_path);
    }
    for (struct folder_watch *watch = w->list; watch; watch = watch->next) {
        watch->stale = watch->folder == folder && !keeps(watch, sorted, count, had);
    }
    drop_if(w, false);
    struct folder_state *state = state_of(w, folder);
    state->set = true;
    state->refused =
        found->remote || found->truncated || count == 0 || count > CATALOG_MAX_WATCHES;
    for (size_t i = 0; i < count && !state->refused; i++) {
        if (!had[i]) {
            add(w, folder, root, &sorted[i]);
        }
    }
    state->refused |= found->distant;
    uv_idle_start(&w->starter, on_turn);
}

void watches_clear(struct watches *w) {
    drop_if(w, true);
    free(w->folders);
    w->folders = NULL;
    w->folder_count = 0;
}

bool watches_trusted(const struct watches *w, uint32_t folder) {
    if (folder >= w->folder_count) {
        return false;
    }
    const struct folder_state *state = &w->folders[folder];
    return state->set && !state->refused && !state->pending;
}

struct watches *watches_new(uv_loop_t *loop, const struct watches_events *events) {
    struct watches *w = xcalloc(1, sizeof *w);
    w->loop = loop;
    w->events = *events;
    uv_idle_init(loop, &w->starter);
    uv_unref((uv_handle_t *)&w->starter);
    w->starter.data = w;
    return w;
}

static void starter_closed(uv_handle_t *handle) {
    struct watches *w = handle->data;
    w->closing--;
    finish_if_closed(w);
}

void watches_close(struct watches *w, void (*closed)(void *data), void *data) {
    w->closed = closed;
    w->closed_data = data;
    drop_if(w, true);
    w->closing++;
    uv_close((uv_handle_t *)&w->starter, starter_closed);
}
