#include "skills/format/skill_files.h"

#include "base/buf.h"
#include "base/file.h"
#include "base/find.h"
#include "base/hash.h"
#include "base/strings.h"
#include "base/text.h"
#include "protocol/finding.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_DEPTH 16
#define MAX_ENTRIES 8192 /* looked at, folders and skipped ones included */
#define MAX_PROBLEMS 100
#define MAX_PATH 4096
#define READ_STEP (64u << 10)
#define OPEN_FLAGS (O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)

struct files_walk {
    struct skill *skill;
    bool digests;
    struct buf *text;
    const char *text_name;
    size_t capacity, entries;
    bool stopped; /* a limit of the whole skill was met */
};

bool skill_skips(const char *name) {
    static const char *const patterns[] = {
        ".git",      ".hg", ".svn",       "node_modules", "__pycache__", ".DS_Store",
        "Thumbs.db", "*~",  ".*.sw[a-p]", ".#*",          "#*#"};
    return any_of(i, 0, ARRAY_LEN(patterns), fnmatch(patterns[i], name, 0) == 0);
}

static void add_problem(struct files_walk *w, const char *code, const char *path,
                        const char *message) {
    if (json_array_size(w->skill->problems) < MAX_PROBLEMS || w->stopped) {
        json_array_append_new(w->skill->problems,
                              finding_new("skill", code, FINDING_ERROR, message, path,
                                          &(struct finding_span){.line = 1}));
    }
}

static void stop(struct files_walk *w, const char *code, const char *path,
                 const char *message) {
    w->stopped = true; /* reported even when the list of problems is full */
    add_problem(w, code, path, message);
}

static bool is_good_name(const char *name) {
    size_t len = strlen(name);
    for (size_t i = 0; i < len;) {
        uint32_t cp;
        i += text_decode(name + i, len - i, &cp);
        if (cp < 0x20 || (cp >= 0x7F && cp < 0xA0)) {
            return false;
        }
    }
    return text_is_utf8(name, len);
}

/* --- one file --- */

static bool same_state(const struct stat *a, const struct stat *b) {
    return a->st_size == b->st_size && a->st_ino == b->st_ino &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
           a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
           a->st_ctim.tv_sec == b->st_ctim.tv_sec &&
           a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

/* Reads to the end, at most one step further than `size`. -errno. */
static int read_bytes(int fd, size_t size, struct hash *hash, struct buf *text,
                      size_t *ret_read) {
    autofree char *step = xmalloc(READ_STEP);
    size_t total = 0;
    while (total <= size) {
        ssize_t got = read(fd, step, READ_STEP);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            *ret_read = total;
            return got < 0 ? -errno : 0;
        }
        total += (size_t)got;
        hash_add(hash, step, (size_t)got);
        if (text && !text->full) {
            size_t room = text->max - text->len;
            buf_add(text, step, (size_t)got < room ? (size_t)got : room);
        }
    }
    *ret_read = total;
    return 0;
}

/* 1 when the file changed meanwhile. */
static int read_once(int fd, struct stat *st, char digest[static 72], struct buf *text) {
    struct stat after;
    struct hash hash;
    size_t total = 0;
    hash_init(&hash);
    if (text) {
        buf_reset(text);
    }
    int rc = read_bytes(fd, (size_t)st->st_size, &hash, text, &total);
    if (rc < 0) {
        return rc;
    }
    memcpy(digest, "sha256:", sizeof "sha256:");
    hash_hex(&hash, digest + 7);
    if (fstat(fd, &after) < 0) {
        return -errno;
    }
    bool same = same_state(st, &after) && total == (size_t)st->st_size;
    *st = after;
    return !same;
}

/* A second attempt for a file that changed while it was read. */
static int read_steady(int fd, struct stat *st, char digest[static 72],
                       struct buf *text) {
    int rc = read_once(fd, st, digest, text);
    if (rc == 1 && st->st_size <= SKILL_MAX_BYTES && lseek(fd, 0, SEEK_SET) == 0) {
        rc = read_once(fd, st, digest, text);
    }
    return rc;
}

static bool is_skill_text(const struct files_walk *w, const char *path) {
    return strcmp(path, "SKILL.md") == 0 ||
           (strcmp(path, "skill.md") == 0 && !w->text_name);
}

static void add_file(struct files_walk *w, const char *path, const struct stat *st,
                     const char *digest) {
    struct skill *s = w->skill;
    list_room(s->files, s->file_count, w->capacity, 16);
    struct skill_file *f = &s->files[s->file_count++];
    *f = (struct skill_file){
        .path = xstrdup(path), .size = (size_t)st->st_size, .mode = st->st_mode & 07777};
    snprintf(f->digest, sizeof f->digest, "%s", digest);
    s->bytes += f->size;
}

static bool is_within_limits(struct files_walk *w, const char *path,
                             const struct stat *st) {
    char message[160];
    if (w->skill->file_count >= SKILL_MAX_FILES) {
        snprintf(message, sizeof message,
                 "A skill has at most %d files; this one and those after it are left "
                 "out.",
                 SKILL_MAX_FILES);
        stop(w, "too_many_files", path, message);
    } else if (w->skill->bytes > SKILL_MAX_BYTES || /* a file grew while it was read */
               (uintmax_t)st->st_size > SKILL_MAX_BYTES - w->skill->bytes) {
        snprintf(message, sizeof message,
                 "The files of a skill have at most %u MiB together; with this one there "
                 "are more.",
                 SKILL_MAX_BYTES >> 20);
        stop(w, "too_many_bytes", path, message);
    }
    return !w->stopped;
}

static void read_content(struct files_walk *w, int fd, const char *path,
                         struct stat *st) {
    bool is_text = is_skill_text(w, path);
    char digest[72] = "";
    int rc = 0;
    if (w->digests || is_text) {
        rc = read_steady(fd, st, digest, is_text ? w->text : NULL);
    }
    if (rc < 0) {
        add_problem(w, "file_unreadable", path, "The file cannot be read.");
    } else if (rc > 0) {
        add_problem(w, "file_changed", path,
                    "The file changed while it was read; check again when it no longer "
                    "changes.");
    } else {
        if (is_text) {
            w->text_name = path[0] == 'S' ? "SKILL.md" : "skill.md";
        }
        add_file(w, path, st, w->digests ? digest : "");
    }
    if (rc == 0 && is_text && st->st_size > SKILL_MAX_TEXT) {
        add_problem(w, "text_too_long", path,
                    "SKILL.md is longer than 1 MiB; only its beginning was read. Move "
                    "most of it to references/.");
    }
}

static void read_file(struct files_walk *w, int parent, const char *name,
                      const char *path) {
    autofd int fd = openat(parent, name, OPEN_FLAGS);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) < 0) {
        add_problem(w, errno == ELOOP ? "file_link" : "file_unreadable", path,
                    errno == ELOOP ? "Links are not followed; put the file itself here."
                                   : "The file cannot be opened.");
    } else if (!S_ISREG(st.st_mode)) {
        add_problem(w, "file_special", path, "This is not a regular file; remove it.");
    } else if (is_within_limits(w, path, &st)) {
        read_content(w, fd, path, &st);
    }
}

/* --- folders --- */

static int compare_names(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void read_names(struct files_walk *w, int folder, struct strings *ret) {
    autodir *entries = dir_entries(folder);
    for (const struct dirent *e; w->entries < MAX_ENTRIES && (e = dir_next(entries));) {
        w->entries++;
        strings_add(ret, xstrdup(e->d_name));
    }
    if (ret->count) {
        qsort(ret->list, ret->count, sizeof *ret->list, compare_names);
    }
}

static void walk_folder(struct files_walk *w, int fd, const char *prefix, unsigned depth);

static void enter_folder(struct files_walk *w, int parent, const char *name,
                         const char *path, unsigned depth) {
    if (depth > MAX_DEPTH) {
        add_problem(w, "folder_too_deep", path,
                    "Folders nest at most 16 levels deep; what is in this one is left "
                    "out.");
        return;
    }
    int fd = openat(parent, name, OPEN_FLAGS | O_DIRECTORY);
    if (fd < 0) {
        add_problem(w, "file_unreadable", path, "The folder cannot be opened.");
        return;
    }
    walk_folder(w, fd, path, depth);
}

static void visit(struct files_walk *w, int parent, const char *name, const char *path,
                  unsigned depth) {
    struct stat st;
    if (!is_good_name(name) || strlen(path) > MAX_PATH) {
        add_problem(w, "file_name", path,
                    "The name is not UTF-8, holds control characters or is too long; "
                    "rename the file.");
    } else if (fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
        add_problem(w, "file_unreadable", path, "The file's attributes cannot be read.");
    } else if (S_ISLNK(st.st_mode)) {
        add_problem(w, "file_link", path,
                    "Links are not followed; put the file itself here.");
    } else if (S_ISDIR(st.st_mode)) {
        enter_folder(w, parent, name, path, depth + 1);
    } else if (S_ISREG(st.st_mode)) {
        read_file(w, parent, name, path);
    } else {
        add_problem(w, "file_special", path,
                    "This is a device, FIFO or socket; remove it.");
    }
}

/* Takes fd over. */
static void walk_folder(struct files_walk *w, int fd, const char *prefix,
                        unsigned depth) {
    autofd int folder = fd;
    autostrings names = {0};
    read_names(w, folder, &names);
    for (size_t i = 0; i < names.count && !w->stopped; i++) {
        const char *name = names.list[i];
        if (!skill_skips(name)) {
            autofree char *path =
                *prefix ? xasprintf("%s/%s", prefix, name) : xstrdup(name);
            visit(w, folder, name, path, depth);
        }
    }
}

static int compare_files(const void *a, const void *b) {
    return strcmp(((const struct skill_file *)a)->path,
                  ((const struct skill_file *)b)->path);
}

const char *skill_files_read(struct skill *s, int fd, bool digests, struct buf *text) {
    struct files_walk w = {.skill = s, .digests = digests, .text = text};
    int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (own < 0) {
        return NULL;
    }
    walk_folder(&w, own, "", 0);
    if (w.entries >= MAX_ENTRIES) {
        add_problem(&w, "too_many_files", NULL,
                    "The folder has thousands of files; not all were checked.");
    }
    if (s->file_count) {
        qsort(s->files, s->file_count, sizeof *s->files, compare_files);
    }
    return w.text_name;
}
