#include "clients/ctl/watch.h"

#include "base/buf.h"
#include "base/file.h"
#include "base/find.h"

#include <signal.h>
#include <uv.h>

#define FILES_MAX 1024
#define FILE_BYTES_MAX (8u << 20)
#define SETTLE_MS 50 /* a save is several events */

struct folder {
    uv_fs_event_t event;
    char *path;
    struct watch *watch;
};

struct watch {
    uv_loop_t loop;
    uv_timer_t settle;
    uv_signal_t interrupt;
    char **files;
    struct folder **folders;
    size_t file_count, folder_count;
    char **include_dirs;
    size_t include_count;
    const char *changed; /* the first one */
    bool is_changed[FILES_MAX];
};

/* --- which files --- */

static bool has_file(const struct watch *w, const char *path) {
    return any_of(i, 0, w->file_count, strcmp(w->files[i], path) == 0);
}

/* Takes path. */
static void add_file(struct watch *w, char *path) {
    if (w->file_count >= FILES_MAX || has_file(w, path)) {
        free(path);
        return;
    }
    w->files = xreallocarray(w->files, w->file_count + 1, sizeof *w->files);
    w->files[w->file_count++] = path;
}

static char *folder_of(const char *path) {
    return xstrndup(path, (size_t)(path_basename(path) - path));
}

static bool is_there(const char *path) {
    uv_fs_t request;
    bool there = uv_fs_access(NULL, &request, path, 0, NULL) == 0;
    uv_fs_req_cleanup(&request);
    return there;
}

/* Where the compiler would find it; beside the file that includes it where nowhere. */
static char *find_included(const struct watch *w, const char *from, const char *name) {
    autofree char *folder = folder_of(from);
    autofree char *beside = path_join(folder, name);
    for (size_t i = 0; i < w->include_count && !is_there(beside); i++) {
        autofree char *path = path_join(w->include_dirs[i], name);
        if (is_there(path)) {
            return path_normalize(path);
        }
    }
    return path_normalize(beside);
}

/* #include "name" on a line; NULL: it is none. Malloc'ed. */
static char *included_name(const char *line) {
    line += strspn(line, " \t");
    if (*line != '#') {
        return NULL;
    }
    line += 1 + strspn(line + 1, " \t");
    if (strncmp(line, "include", 7) != 0) {
        return NULL;
    }
    line += 7 + strspn(line + 7, " \t");
    size_t len = *line == '"' ? strcspn(line + 1, "\"\n") : 0;
    return len && line[1 + len] == '"' ? xstrndup(line + 1, len) : NULL;
}

/* The list grows while it is walked. */
static void add_included(struct watch *w) {
    for (size_t i = 0; i < w->file_count; i++) {
        autobuf text = BUF_INIT(FILE_BYTES_MAX);
        if (file_read(w->files[i], &text, NULL) < 0) {
            continue;
        }
        for (const char *line = text.data; line; line = strchr(line, '\n')) {
            line += *line == '\n';
            autofree char *name = included_name(line);
            if (name) {
                add_file(w, find_included(w, w->files[i], name));
            }
        }
    }
}

static void add_include_dir(struct watch *w, const char *path) {
    w->include_dirs =
        xreallocarray(w->include_dirs, w->include_count + 1, sizeof *w->include_dirs);
    w->include_dirs[w->include_count++] = xstrdup(path);
}

static void read_include_dirs(struct watch *w, const json_t *params) {
    json_each(json_object_get(params, "include_roots"), i, item) {
        add_include_dir(w, json_string_value(item));
    }
    const json_t *options = json_object_get(params, "options");
    json_each(options, i, item) {
        const char *option = json_string_value(item);
        bool folder = option && strncmp(option, "-I", 2) == 0;
        const char *next = json_string_value(json_array_get(options, i + 1));
        if (folder && (option[2] || next)) {
            add_include_dir(w, option[2] ? option + 2 : next);
        }
    }
}

/* --- waiting --- */

static void settled(uv_timer_t *timer) {
    uv_stop(timer->loop);
}

/* Folders are watched, because editors put a new file in the old one's place. */
static void seen(uv_fs_event_t *event, const char *name, int, int status) {
    struct folder *f = container_of(event, struct folder, event);
    struct watch *w = f->watch;
    if (status < 0 || !name) {
        return;
    }
    for (size_t i = 0; i < w->file_count; i++) {
        size_t len = strlen(f->path);
        if (strncmp(w->files[i], f->path, len) == 0 && !strcmp(w->files[i] + len, name)) {
            w->changed = w->changed ? w->changed : w->files[i];
            w->is_changed[i] = true;
            uv_timer_start(&w->settle, settled, SETTLE_MS, 0);
        }
    }
}

static void interrupted(uv_signal_t *handle, int) {
    uv_stop(handle->loop);
}

static bool has_folder(const struct watch *w, const char *path) {
    return any_of(i, 0, w->folder_count, strcmp(w->folders[i]->path, path) == 0);
}

static void add_folder(struct watch *w, const char *file) {
    autofree char *path = folder_of(file);
    if (has_folder(w, path)) {
        return;
    }
    struct folder *f = xcalloc(1, sizeof *f);
    f->path = take(path);
    f->watch = w;
    uv_fs_event_init(&w->loop, &f->event);
    /* A folder that is not there says nothing. */
    uv_fs_event_start(&f->event, seen, *f->path ? f->path : ".", 0);
    w->folders = xreallocarray(w->folders, w->folder_count + 1, sizeof *w->folders);
    w->folders[w->folder_count++] = f;
}

struct watch *watch_new(const json_t *paths, const json_t *params) {
    struct watch *w = xcalloc(1, sizeof *w);
    if (uv_loop_init(&w->loop) < 0) {
        free(w);
        return NULL;
    }
    uv_timer_init(&w->loop, &w->settle);
    uv_signal_init(&w->loop, &w->interrupt);
    uv_signal_start(&w->interrupt, interrupted, SIGINT); /* none gets lost before wait */
    json_each(paths, i, path) {
        add_file(w, path_normalize(json_string_value(path)));
    }
    read_include_dirs(w, params);
    add_included(w);
    for (size_t i = 0; i < w->file_count; i++) {
        add_folder(w, w->files[i]);
    }
    return w;
}

const char *watch_wait(struct watch *w) {
    uv_run(&w->loop, UV_RUN_DEFAULT);
    return w->changed;
}

static void free_files(struct watch *w) {
    for (size_t i = 0; i < w->file_count; i++) {
        free(w->files[i]);
    }
    free(w->files);
}

bool watch_touches(const struct watch *w, const char *path) {
    struct watch alone = {.include_dirs = w->include_dirs,
                          .include_count = w->include_count};
    add_file(&alone, path_normalize(path));
    add_included(&alone);
    bool touched =
        any_of(i, 0, w->file_count, w->is_changed[i] && has_file(&alone, w->files[i]));
    free_files(&alone);
    return touched;
}

static void close_handle(uv_handle_t *handle, void *) {
    uv_close(handle, NULL);
}

void watch_free(struct watch *w) {
    if (!w) {
        return;
    }
    uv_walk(&w->loop, close_handle, NULL);
    uv_run(&w->loop, UV_RUN_DEFAULT);
    uv_loop_close(&w->loop);
    for (size_t i = 0; i < w->folder_count; i++) {
        free(w->folders[i]->path);
        free(w->folders[i]);
    }
    free_files(w);
    for (size_t i = 0; i < w->include_count; i++) {
        free(w->include_dirs[i]);
    }
    free(w->folders);
    free(w->include_dirs);
    free(w);
}
