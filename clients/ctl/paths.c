#include "clients/ctl/paths.h"

#include "base/edit_distance.h"
#include "base/err.h"
#include "base/file.h"
#include "base/find.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <fts.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_FILES 2000

static int by_name(const FTSENT **a, const FTSENT **b) {
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

/* A link to a file is one too; where it leads out, the daemon says so. */
static bool is_cuda(const FTSENT *entry) {
    return (entry->fts_info == FTS_F || entry->fts_info == FTS_SL ||
            entry->fts_info == FTS_SLNONE) &&
           entry->fts_namelen > 3 &&
           strcmp(entry->fts_name + entry->fts_namelen - 3, ".cu") == 0;
}

static bool is_hidden(const FTSENT *entry) {
    return entry->fts_level > 0 && entry->fts_info == FTS_D && *entry->fts_name == '.';
}

static int add_folder(const char *folder, json_t *all, struct err *err) {
    autofree char *path = xstrdup(folder);
    char *paths[] = {path, NULL};
    FTS *walk = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, by_name);
    autojson *files = json_array();
    if (!walk) {
        return err_set(err, -errno, "%s: %s", folder, strerror(errno));
    }
    for (FTSENT *entry;
         (entry = fts_read(walk)) && json_array_size(files) <= MOST_FILES;) {
        if (is_hidden(entry)) {
            fts_set(walk, entry, FTS_SKIP);
        } else if (is_cuda(entry)) {
            json_array_append_new(files, json_text(entry->fts_path, entry->fts_pathlen));
        }
    }
    fts_close(walk);
    if (json_array_size(files) > MOST_FILES) {
        return err_set(err, -E2BIG,
                       "%s has more than %d .cu files: name some of its folders", folder,
                       MOST_FILES);
    }
    if (!json_array_size(files)) {
        return err_set(err, -ENOENT, "%s has no .cu file", folder);
    }
    json_array_extend(all, files);
    return 0;
}

int paths_expand(const json_t *paths, bool cuda, json_t *all, struct err *err) {
    json_each(paths, i, path) {
        struct stat st;
        bool folder =
            cuda && stat(json_string_value(path), &st) == 0 && S_ISDIR(st.st_mode);
        int rc = folder ? add_folder(json_string_value(path), all, err)
                        : json_array_append(all, path);
        if (rc == -ENOENT && json_array_size(paths) > 1) {
            rc = json_array_append(all, path);
        }
        if (rc < 0) {
            return rc;
        }
    }
    return 0;
}

static bool is_project(const char *folder) {
    static const char *const marks[] = {".git", "upskilld.yaml", "compile_commands.json",
                                        "build/compile_commands.json"};
    for (size_t i = 0; i < ARRAY_LEN(marks); i++) {
        autofree char *mark = path_join(folder, marks[i]);
        if (access(mark, F_OK) == 0) {
            return true;
        }
    }
    return false;
}

static char *project_of(const char *folder) {
    const char *home = getenv("HOME");
    autofree char *at = xstrdup(folder);
    while (at[1] && !(home && strcmp(at, home) == 0)) {
        if (is_project(at)) {
            return take(at);
        }
        char *slash = strrchr(at, '/');
        slash[slash == at] = '\0';
    }
    return NULL;
}

static bool is_kernel(const char *word) {
    return fnmatch("*.cu", word, 0) == 0 || fnmatch("*.cuh", word, 0) == 0 ||
           fnmatch("*.check.json", word, 0) == 0 || fnmatch("*.ptx", word, 0) == 0;
}

/* The nearest folder above a path of nothing that is there; false: it is / or the
 * working folder, which is looked in anyway. */
static bool nearest_folder(const char *missing, char ret[PATH_MAX]) {
    autofree char *at = path_normalize(missing);
    char *slash;
    do {
        slash = strrchr(at, '/');
        at[slash ? slash - at : 0] = '\0';
    } while (*at && !realpath(at, ret));
    return *at;
}

static bool is_link(const char *path) {
    struct stat st;
    return lstat(path, &st) == 0 && S_ISLNK(st.st_mode);
}

/* The path in a word: all of it, or what follows an option's name; NULL: none. */
static const char *path_in(const char *word) {
    const char *equals = *word == '-' ? strchr(word, '=') : NULL; /* --tests=FILE */
    word = equals ? equals + 1 : strncmp(word, "-I", 2) == 0 ? word + 2 : word;
    return *word == '-' || !(strpbrk(word, "./") || is_link(word)) ? NULL : word;
}

char *paths_followed(const char *word) {
    char real[PATH_MAX], here[PATH_MAX];
    const char *path = path_in(word);
    if (!path || !realpath(path, real) || !realpath(".", here)) {
        return NULL;
    }
    autofree char *joined = path_join(here, path), *named = path_normalize(joined);
    bool stays = path_is_beneath(named, here) && path_is_beneath(real, here);
    return stays || strcmp(named, real) == 0
               ? NULL
               : xasprintf("%.*s%s", (int)(path - word), word, real);
}

char *paths_granted(const char *word) {
    char path[PATH_MAX];
    word = path_in(word);
    if (!word) {
        return NULL;
    }
    if (realpath(word, path)) {
        char *slash = strrchr(path, '/');
        slash[slash == path] = '\0';
    } else if (!nearest_folder(word, path)) {
        return NULL;
    }
    char *project = is_kernel(word) ? project_of(path) : NULL;
    return project ? project : xstrdup(path);
}

char *paths_meant(const char *word) {
    const char *slash = strrchr(word, '/');
    autofree char *folder =
        slash ? xstrndup(word, (size_t)(slash - word) + 1) : xstrdup("./");
    autofd int opened = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    autodir *entries = dir_entries(opened);
    const char *said = slash ? slash + 1 : word; /* all have an ending in common */
    struct nearest_name near = {.said = said, .limit = strlen(said) < 8 ? 2 : 3};
    autofree char *best = NULL;
    for (const struct dirent *e; (e = dir_next(entries));) {
        nearest_name_try(&near, e->d_name);
        if (near.best == e->d_name) { /* which the next entry overwrites */
            free(best);
            near.best = best = xstrdup(e->d_name);
        }
    }
    if (best && strcmp(best, near.said) == 0) {
        return xasprintf("%s is a link that leads to nothing", word);
    }
    return best ? xasprintf("did you mean %s%s?", slash ? folder : "", best) : NULL;
}

const char *paths_missing(const char *const *words, int count) {
    int at = first_of(i, 0, count,
                      *words[i] != '-' && strpbrk(words[i], "./") &&
                          access(words[i], F_OK) < 0);
    return at < count ? words[at] : NULL;
}
