#include "gpu/worker/program_cache.h"

#include "base/buf.h"
#include "base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_ENTRIES = 512 };
#define MAX_PROGRAM (64u << 20)
#define MAX_FINDINGS (1u << 20)

static int cache_open(struct root *root) {
    autofree char *cache = xdg_cache_dir();
    autofree char *folder = cache ? path_join(cache, "programs") : NULL;
    return folder && dir_make(folder, 0700, NULL) == 0 ? root_open(root, folder, NULL)
                                                       : -1;
}

/* KEY is the program, KEY.json what its compiler said. */
static char *findings_name(const char *key) {
    return xasprintf("%s.json", key);
}

static bool file_put(const char *path, const struct buf *bytes) {
    autofd int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
    return fd >= 0 && file_write_all(fd, bytes->data, bytes->len) == 0;
}

bool program_cache_take(const char key[static HASH_HEX_SIZE], const char *path,
                        json_t **ret_findings) {
    struct root root;
    autobuf program = BUF_INIT(MAX_PROGRAM), text = BUF_INIT(MAX_FINDINGS);
    autofree char *name = findings_name(key);
    *ret_findings = NULL;
    if (cache_open(&root) < 0) {
        return false;
    }
    bool found = root_read(&root, key, &program, NULL) == 0 &&
                 root_read(&root, name, &text, NULL) == 0;
    if (found) {
        (void)utimensat(root.fd, key, NULL, 0);
        *ret_findings = json_parse(text.data, text.len, NULL);
        found = *ret_findings && file_put(path, &program);
    }
    root_close(&root);
    return found;
}

/* --- what is kept --- */

struct entry {
    char key[HASH_HEX_SIZE];
    struct timespec used;
    size_t bytes;
};

static int newest_first(const void *a, const void *b) {
    const struct timespec *x = &((const struct entry *)a)->used;
    const struct timespec *y = &((const struct entry *)b)->used;
    return x->tv_sec != y->tv_sec ? (x->tv_sec < y->tv_sec) - (x->tv_sec > y->tv_sec)
                                  : (x->tv_nsec < y->tv_nsec) - (x->tv_nsec > y->tv_nsec);
}

static size_t entries_read(const struct root *root, struct entry *entries) {
    size_t count = 0;
    autodir *folder = dir_entries(root->fd);
    for (const struct dirent *d; count < MAX_ENTRIES && (d = dir_next(folder));) {
        struct stat st;
        if (strlen(d->d_name) == HASH_HEX_SIZE - 1 &&
            !fstatat(root->fd, d->d_name, &st, AT_SYMLINK_NOFOLLOW)) {
            struct entry *e = &entries[count++];
            memcpy(e->key, d->d_name, HASH_HEX_SIZE);
            e->used = st.st_mtim;
            e->bytes = (size_t)st.st_size;
        }
    }
    return count;
}

static void old_drop(const struct root *root) {
    autofree struct entry *entries = xcalloc(MAX_ENTRIES, sizeof *entries);
    size_t count = entries_read(root, entries), bytes = 0;
    qsort(entries, count, sizeof *entries, newest_first);
    for (size_t i = 0; i < count; i++) {
        autofree char *name = findings_name(entries[i].key);
        bytes += entries[i].bytes;
        if (bytes > PROGRAM_CACHE_BYTES || i >= MAX_ENTRIES / 2) {
            (void)unlinkat(root->fd, entries[i].key, 0);
            (void)unlinkat(root->fd, name, 0);
        }
    }
}

static bool entry_put(const struct root *root, const char *name, const struct buf *b) {
    struct root_file file;
    return root_file_begin(&file, root, name, 0600, NULL) == 0 &&
           (root_file_add(&file, b->data, b->len) == 0 ? root_file_end(&file, false) == 0
                                                       : (root_file_drop(&file), false));
}

void program_cache_put(const char key[static HASH_HEX_SIZE], const char *path,
                       const json_t *findings) {
    struct root root;
    autobuf program = BUF_INIT(MAX_PROGRAM), text = BUF_INIT(MAX_FINDINGS);
    autofree char *name = findings_name(key);
    if (file_read(path, &program, NULL) < 0 || json_write(&text, findings) < 0 ||
        cache_open(&root) < 0) {
        return;
    }
    if (entry_put(&root, name, &text) && entry_put(&root, key, &program)) {
        old_drop(&root);
    }
    root_close(&root);
}
