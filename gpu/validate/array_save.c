#include "gpu/validate/array_save.h"

#include "base/file.h"
#include "base/work.h"
#include "gpu/run/run_save.h"
#include "gpu/spec/spec_npy.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum { MAX_NAME = 200, BATCH_MAX = 64 };
static const char magic[] = "\x93NUMPY";

struct save_part {
    json_t *json; /* NULL = all is forgotten */
    int memory;   /* that it is in; -1: it has "data" */
};

struct array_save {
    uv_loop_t *loop;
    bool working, freed;
    struct save_part *queue, *batch;
    size_t queued, batched;
    array_save_done *done;
    void *data;
    char *dir; /* absolute */

    /* Of the thread, while it works: */
    struct root root;
    char *rel; /* of dir beneath root */
    struct root_file file;
    char name[MAX_NAME + 1]; /* of the file that is being written; "" = none */
    size_t bytes, all_bytes;
    json_t *written;
    struct err err;
};

/* --- on a thread --- */

static bool name_is_good(const char *name) {
    size_t len = name ? strlen(name) : 0;
    return len > 4 && len <= MAX_NAME && *name != '.' &&
           !strcmp(name + len - 4, ".npy") &&
           strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                        "0123456789_-.") == len;
}

static void forget(struct array_save *s) {
    if (*s->name) {
        root_file_drop(&s->file);
    }
    *s->name = '\0';
    s->all_bytes = 0;
    json_object_clear(s->written);
    s->err = (struct err){0};
}

static int file_begin(struct array_save *s, const char *name) {
    autofree char *rel = path_join(s->rel, name);
    int n = root_file_begin(&s->file, &s->root, rel, 0644, &s->err);
    if (n == 0) {
        snprintf(s->name, sizeof s->name, "%s", name);
        s->bytes = 0;
    }
    return n;
}

static int file_end(struct array_save *s) {
    int n = root_file_end(&s->file, false);
    if (n < 0) {
        return err_set(&s->err, n, "%s/%s: %s", s->dir, s->name, strerror(-n));
    }
    autofree char *path = path_join(s->dir, s->name);
    json_object_set_new(s->written, s->name,
                        json_pack("{s:o, s:I}", "path", json_text(path, strlen(path)),
                                  "bytes", (json_int_t)s->bytes));
    *s->name = '\0';
    return 0;
}

static int file_add(struct array_save *s, const void *bytes, size_t len) {
    if (!s->bytes &&
        (len < sizeof magic - 1 || memcmp(bytes, magic, sizeof magic - 1) != 0)) {
        return err_set(&s->err, -EBADMSG,
                       "%s: the worker sent something that is not a .npy file", s->name);
    }
    int n = root_file_add(&s->file, bytes, len);
    if (n < 0) {
        return err_set(&s->err, n, "%s/%s: %s", s->dir, s->name, strerror(-n));
    }
    s->bytes += len;
    return 0;
}

/* bytes at `at` of what is in memory that nobody can change or cut short any more; NULL.
 */
static void *memory_map(int memory, uint64_t at, uint64_t bytes) {
    int seals = fcntl(memory, F_GET_SEALS), needed = F_SEAL_SHRINK | F_SEAL_WRITE;
    struct stat st;
    if (seals < 0 || (seals & needed) != needed || fstat(memory, &st) < 0 || !bytes ||
        bytes > (uint64_t)st.st_size || at > (uint64_t)st.st_size - bytes) {
        return NULL;
    }
    void *map = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, memory, (off_t)at);
    return map == MAP_FAILED ? NULL : map;
}

/* A whole file. */
static int memory_write(struct array_save *s, const struct save_part *part) {
    const char *name = json_get_string(part->json, "name", NULL);
    uint64_t bytes = (uint64_t)json_get_integer(part->json, "bytes", 0);
    uint64_t at = (uint64_t)json_get_integer(part->json, "at", 0);
    void *map =
        name_is_good(name) && !*s->name ? memory_map(part->memory, at, bytes) : NULL;
    if (!map) {
        return err_set(&s->err, -EBADMSG, "the worker sent something that is not a file");
    }
    if (json_object_size(s->written) >= SAVE_MAX_FILES) {
        munmap(map, bytes);
        return err_set(&s->err, -EFBIG, "the worker sent more than %d files",
                       SAVE_MAX_FILES);
    }
    int n = file_begin(s, name);
    n = n < 0 ? n : file_add(s, map, bytes);
    n = n < 0 ? n : file_end(s);
    munmap(map, bytes);
    return n;
}

static int part_write(struct array_save *s, const json_t *part) {
    const char *name = json_get_string(part, "name", NULL);
    const json_t *data = json_object_get(part, "data");
    size_t len = 0;
    bool fits = json_string_length(data) <= 2 * (size_t)NOTES_PART_BYTES;
    autofree unsigned char *bytes = fits ? spec_array_decode(data, &len) : NULL;
    if (!name_is_good(name) || (*s->name && strcmp(name, s->name) != 0) || !bytes) {
        return err_set(&s->err, -EBADMSG,
                       "the worker sent something that is not part of a file");
    }
    if (len > SAVE_MAX_BYTES - s->all_bytes ||
        json_object_size(s->written) >= SAVE_MAX_FILES) {
        return err_set(&s->err, -EFBIG, "the worker sent more than %u MiB or %d files",
                       SAVE_MAX_BYTES >> 20, SAVE_MAX_FILES);
    }
    s->all_bytes += len;
    int n = *s->name ? 0 : file_begin(s, name);
    n = n < 0 ? n : file_add(s, bytes, len);
    return n == 0 && json_is_true(json_object_get(part, "last")) ? file_end(s) : n;
}

static void on_thread(void *data) {
    struct array_save *s = data;
    for (size_t i = 0; i < s->batched; i++) {
        const struct save_part *p = &s->batch[i];
        if (!p->json) {
            forget(s);
        } else if (!s->err.code &&
                   (p->memory < 0 ? part_write(s, p->json) : memory_write(s, p)) < 0 &&
                   *s->name) {
            root_file_drop(&s->file);
            *s->name = '\0';
        }
    }
}

/* --- on the loop --- */

static void list_clear(struct save_part **list, size_t *count) {
    for (size_t i = 0; i < *count; i++) {
        json_decref((*list)[i].json);
        fd_close_p(&(*list)[i].memory);
    }
    free(*list);
    *list = NULL;
    *count = 0;
}

static void really_free(struct array_save *s) {
    if (*s->name) {
        root_file_drop(&s->file);
    }
    list_clear(&s->queue, &s->queued);
    root_close(&s->root);
    json_decref(s->written);
    free(s->rel);
    free(s->dir);
    free(s);
}

/* What comes faster than the disk takes it waits; no more of it at once than a turn of
 * the loop can give back. */
static void take_batch(struct array_save *s) {
    s->batched = s->queued < BATCH_MAX ? s->queued : BATCH_MAX;
    s->batch = xcalloc(s->batched, sizeof *s->batch);
    memcpy(s->batch, s->queue, s->batched * sizeof *s->batch);
    s->queued -= s->batched;
    memmove(s->queue, s->queue + s->batched, s->queued * sizeof *s->queue);
}

static void advance(struct array_save *s);

static void on_end(void *data) {
    struct array_save *s = data;
    list_clear(&s->batch, &s->batched);
    s->working = false;
    if (s->freed) {
        really_free(s);
    } else {
        advance(s);
    }
}

/* An end has work of its own, so that `done` never comes from inside array_save_end. */
static void advance(struct array_save *s) {
    if (s->working) {
        return;
    }
    if (s->queued) {
        take_batch(s);
        s->working = true;
        work_start(s->loop, on_thread, on_end, s);
    } else if (s->done) {
        array_save_done *done = take(s->done);
        if (*s->name && !s->err.code) {
            err_set(&s->err, -EPIPE, "%s: the worker did not send it whole", s->name);
        }
        done(s->written, s->err.code ? &s->err : NULL, s->data); /* may free s */
    }
}

static void push(struct array_save *s, json_t *json, int memory) {
    s->queue = xreallocarray(s->queue, s->queued + 1, sizeof *s->queue);
    s->queue[s->queued++] = (struct save_part){json, memory};
}

void array_save_part(struct array_save *s, const json_t *part, int memory) {
    push(s, json_incref((json_t *)(uintptr_t)part),
         memory < 0 ? -1 : fcntl(memory, F_DUPFD_CLOEXEC, 3));
    advance(s);
}

void array_save_again(struct array_save *s) {
    list_clear(&s->queue, &s->queued);
    push(s, NULL, -1); /* before the next part, or at the end */
}

void array_save_end(struct array_save *s, array_save_done *done, void *data) {
    s->done = done;
    s->data = data;
    if (!s->working) { /* one more turn of the loop, with nothing to do */
        s->working = true;
        work_start(s->loop, on_thread, on_end, s);
    }
}

void array_save_free(struct array_save *s) {
    if (s && s->working) {
        s->freed = true;
    } else if (s) {
        really_free(s);
    }
}

/* --- in a result --- */

/* What a case lists gets its place, or goes. */
static void place_files(json_t *list, const json_t *written) {
    size_t i = 0;
    while (i < json_array_size(list)) {
        json_t *file = json_array_get(list, i);
        const char *name = json_get_string(file, "file", "");
        json_t *facts = json_object_get(written, name);
        if (json_is_object(file) && facts) {
            json_object_del(file, "file");
            json_object_update(file, facts);
            i++;
        } else {
            json_array_remove(list, i);
        }
    }
}

void array_save_tell(const struct array_save *s, json_t *result, const json_t *written,
                     const struct err *err) {
    json_t *saved = json_object_get(result, "saved");
    bool told = json_is_object(saved);
    json_each(json_object_get(result, "cases"), i, of_case) {
        place_files(json_object_get(of_case, "files"), written);
    }
    if (!told) {
        saved = json_object();
        json_object_set_new(result, "saved", saved);
    }
    json_object_set_new(saved, "dir", json_text(s->dir, strlen(s->dir)));
    json_object_set_new(saved, "files",
                        json_integer((json_int_t)json_object_size(written)));
    if (err || !told) {
        json_object_set_new(saved, "error",
                            json_clean_z(err ? err->msg
                                             : "this worker sends no files: install the "
                                               "version of this daemon there"));
    }
}

/* --- where --- */

static int outside(const char *dir, struct err *err) {
    return err_set(err, -EACCES, "save: %s is outside the folders this daemon may use",
                   dir);
}

/* What is there must be a folder beneath the root; nothing is fine, too. */
static int place_check(const struct array_save *s, struct err *err) {
    struct err own = {0};
    autofd int fd = root_open_folder(&s->root, s->rel, &own);
    return fd >= 0 || fd == -ENOENT ? 0 : err_set(err, fd, "save: %s", own.msg);
}

static int place_find(struct array_save *s, const char *dir, const char *const *roots,
                      struct err *err) {
    s->dir = path_resolve(roots && *roots ? *roots : "", dir);
    for (; roots && *roots; roots++) {
        if (path_is_beneath(s->dir, *roots)) {
            const char *rel = s->dir + strlen(*roots);
            rel += *rel == '/';
            s->rel = xstrdup(*rel ? rel : ".");
            int n = root_open(&s->root, *roots, err);
            return n < 0 ? n : place_check(s, err);
        }
    }
    return outside(dir, err);
}

int array_save_new(struct array_save **ret, uv_loop_t *loop, const char *dir,
                   const char *const *roots, struct err *err) {
    struct array_save *s = xcalloc(1, sizeof *s);
    s->loop = loop;
    s->root.fd = -1;
    s->written = json_object();
    int n = place_find(s, dir, roots, err);
    if (n < 0) {
        really_free(s);
        return n;
    }
    *ret = s;
    return 0;
}
