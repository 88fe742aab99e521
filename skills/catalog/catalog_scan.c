/* Walking a folder of skills: bounded, following no link, opening nothing that blocks. */
#include "base/file.h"
#include "base/find.h"
#include "base/strings.h"
#include "base/work.h"
#include "skills/catalog/catalog_internal.h"
#include "skills/format/skill.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/vfs.h>

/* ~/.codeium/windsurf/skills lies three below what surely is there. */
#define MAX_CLIMB 3

/* More than a skill may have: what comes behind is no part of one. */
#define BESIDE_DEPTH 16
#define BESIDE_ENTRIES 8192
#define FOLDER_FLAGS (O_RDONLY | O_DIRECTORY | O_CLOEXEC)

struct scan_walk {
    struct found *found;
    size_t searched;
};

static int64_t nanoseconds(const struct timespec *t) {
    return (int64_t)t->tv_sec * 1000000000 + t->tv_nsec;
}

/* Their events tell of this machine's changes only. */
static bool is_remote(int fd) {
    static const unsigned long magics[] = {
        0x6969 /* NFS */,        0x517b /* SMB */,
        0xff534d42 /* CIFS */,   0xfe534d42 /* SMB2 */,
        0x65735546 /* FUSE */,   0x01021997 /* 9P */,
        0x00c36400 /* Ceph */,   0x5346414f /* AFS */,
        0x0bd00bd0 /* Lustre */, 0x47504653 /* GPFS */};
    struct statfs fs;
    if (fstatfs(fd, &fs) < 0) {
        return true;
    }
    return any_of(i, 0, ARRAY_LEN(magics),
                  ((unsigned long)fs.f_type & 0xffffffffu) == magics[i]);
}

static void add_directory(struct found *f, const char *path, ino_t inode,
                          enum directory_kind kind) {
    if (f->directory_count % 64 == 0) {
        f->directories = xreallocarray(f->directories, f->directory_count + 64,
                                       sizeof *f->directories);
    }
    f->directories[f->directory_count++] =
        (struct found_directory){xstrdup(path), inode, kind};
}

/* --- what lies beside SKILL.md --- */

struct beside {
    struct found *found; /* its folders are watched too */
    uint64_t sum;        /* of files, in whatever order they come */
    size_t entries, files;
};

uint64_t fnv_add(uint64_t h, const void *bytes, size_t len) {
    for (const unsigned char *c = bytes; len > 0; len--) {
        h = (h ^ *c++) * 0x100000001b3;
    }
    return h;
}

/* A change that puts the old time back still has another st_ctim. */
static uint64_t entry_stamp(uint64_t above, const char *name, const struct stat *st) {
    const int64_t state[] = {nanoseconds(&st->st_mtim), nanoseconds(&st->st_ctim),
                             (int64_t)st->st_size, (int64_t)st->st_ino,
                             (int64_t)st->st_mode};
    return fnv_add(fnv_add(above, name, strlen(name) + 1), state, sizeof state);
}

static void look_beside(struct beside *b, int folder, const char *path, uint64_t above,
                        unsigned depth);

/* The content of a folder is what counts: its own times change with what is skipped. */
static void add_beside(struct beside *b, int folder, const char *path, uint64_t above,
                       const char *name, unsigned depth) {
    struct stat st;
    if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
        return;
    }
    if (!S_ISDIR(st.st_mode)) {
        b->sum += entry_stamp(above, name, &st);
        b->files++;
        return;
    }
    autofd int child =
        openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    autofree char *below = path_join(path, name);
    if (child >= 0 && depth < BESIDE_DEPTH) {
        add_directory(b->found, below, st.st_ino, DIRECTORY_SKILL);
        look_beside(b, child, below, fnv_add(above, name, strlen(name) + 1), depth + 1);
    }
}

static void look_beside(struct beside *b, int folder, const char *path, uint64_t above,
                        unsigned depth) {
    autodir *entries = dir_entries(folder);
    for (const struct dirent *e; b->entries < BESIDE_ENTRIES && (e = dir_next(entries));
         b->entries++) {
        bool itself = depth == 0 && strcmp(e->d_name, "SKILL.md") == 0;
        if (!itself && !skill_skips(e->d_name)) {
            add_beside(b, folder, path, above, e->d_name, depth);
        }
    }
}

/* Fills *ret when the folder holds SKILL.md as a regular file, or by a link that stays in
 * the folder (reading refuses others). */
static bool find_skill(int folder, struct found_skill *ret) {
    static const char *const names[] = {"SKILL.md", "skill.md"};
    struct stat st;
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (fstatat(folder, names[i], &st, 0) == 0 && S_ISREG(st.st_mode)) {
            *ret = (struct found_skill){
                .file = names[i],
                .stamp = {nanoseconds(&st.st_mtim), st.st_size, (int64_t)st.st_ino}};
            if (fstatat(folder, "skill_meta.json", &st, AT_SYMLINK_NOFOLLOW) == 0) {
                ret->meta_ns = nanoseconds(&st.st_mtim);
            }
            return true;
        }
    }
    return false;
}

static void add_skill(struct scan_walk *w, const char *path,
                      const struct found_skill *skill) {
    struct found *f = w->found;
    if (f->skill_count == CATALOG_MAX_SKILLS) {
        f->truncated = true;
        return;
    }
    if (f->skill_count % 64 == 0) {
        f->skills = xreallocarray(f->skills, f->skill_count + 64, sizeof *f->skills);
    }
    f->skills[f->skill_count] = *skill;
    f->skills[f->skill_count++].path = xstrdup(path);
}

/* Version control, packages, and what an install left half-way. */
static bool is_skipped(const char *name) {
    static const char *const names[] = {".",   "..",   ".git",        "node_modules",
                                        ".hg", ".svn", "__pycache__", NULL};
    return strings_have(names, name) || strncmp(name, ".upskilld-", 10) == 0;
}

static void walk_folder(struct scan_walk *w, int folder, const char *path,
                        unsigned depth);

static void walk_entries(struct scan_walk *w, int folder, const char *path,
                         unsigned depth) {
    autodir *entries = dir_entries(folder);
    for (const struct dirent *e; !work_is_stopped() && (e = dir_next(entries));) {
        if ((e->d_type == DT_DIR || e->d_type == DT_UNKNOWN) && !is_skipped(e->d_name)) {
            autofree char *child = path_join(path, e->d_name);
            autofd int inner = openat(folder, e->d_name, FOLDER_FLAGS | O_NOFOLLOW);
            walk_folder(w, inner, child, depth + 1);
        }
    }
}

/* folder: opened, or negative. */
static void walk_folder(struct scan_walk *w, int folder, const char *path,
                        unsigned depth) {
    struct found_skill skill;
    struct stat st;
    if (folder < 0 || fstat(folder, &st) < 0) {
        w->found->missing |= depth == 0;
        return;
    }
    if (find_skill(folder, &skill)) { /* skills inside a skill are its own business */
        struct beside beside = {.found = w->found};
        add_directory(w->found, path, st.st_ino, DIRECTORY_SKILL);
        look_beside(&beside, folder, path, FNV_SEED, 0);
        skill.beside = beside.files ? (int64_t)(beside.sum & INT64_MAX) | 1 : 0;
        add_skill(w, path, &skill);
        return;
    }
    if (w->searched++ == CATALOG_MAX_DIRECTORIES || w->found->truncated) {
        w->found->truncated = true;
        w->searched--;
        return;
    }
    add_directory(w->found, path, st.st_ino, DIRECTORY_SEARCHED);
    if (depth == 0) {
        w->found->remote = is_remote(folder);
    }
    if (depth < CATALOG_MAX_DEPTH) {
        walk_entries(w, folder, path, depth);
    }
}

/* So that the folder is seen when it comes to be: its nearest ancestor that is there. */
static void add_parent(struct found *f, const char *path) {
    autofree char *parent = xstrdup(path);
    struct stat st;
    char *slash;
    for (int up = 0; up < MAX_CLIMB && (slash = strrchr(parent, '/')) && slash > parent;
         up++) {
        *slash = '\0';
        if (stat(parent, &st) == 0 && S_ISDIR(st.st_mode)) {
            add_directory(f, parent, st.st_ino, DIRECTORY_PARENT);
            return;
        }
        f->distant = true;
    }
}

static int by_path(const void *a, const void *b) {
    return strcmp(((const struct found_skill *)a)->path,
                  ((const struct found_skill *)b)->path);
}

/* A folder of the user's may be reached by links; a project's only by those that stay in
 * the project, for they arrive with a cloned repository. */
static int open_folder(const struct catalog_folder *f) {
    struct root root;
    if (!f->within) {
        return open(f->path, FOLDER_FLAGS);
    }
    const char *rest = f->path + strlen(f->within);
    if (!path_is_beneath(f->path, f->within) || root_open(&root, f->within, NULL) < 0) {
        return -1;
    }
    rest += strspn(rest, "/");
    int fd = root_open_folder(&root, *rest ? rest : ".", NULL);
    root_close(&root);
    return fd;
}

void folder_walk(const struct catalog_folder *folder, struct found *ret) {
    *ret = (struct found){0};
    struct scan_walk w = {.found = ret};
    autofd int fd = open_folder(folder);
    walk_folder(&w, fd, folder->path, 0);
    if (ret->missing) {
        add_parent(ret, folder->path);
    }
    if (ret->skill_count) {
        qsort(ret->skills, ret->skill_count, sizeof *ret->skills, by_path);
    }
}

void found_finish(struct found *f) {
    for (size_t i = 0; i < f->skill_count; i++) {
        free(f->skills[i].path);
    }
    for (size_t i = 0; i < f->directory_count; i++) {
        free(f->directories[i].path);
    }
    free(f->skills);
    free(f->directories);
    *f = (struct found){0};
}
