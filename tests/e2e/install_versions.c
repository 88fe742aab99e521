#include "tests/e2e/install_versions.h"

#include "base/file.h"
#include "base/mem.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define FILES 12
#define FILLER 9000 /* bytes of a file, roughly */

static void file_path(char *ret, size_t size, int i) {
    static const char *const folders[] = {"", "references/", "scripts/", "assets/a/b/"};
    snprintf(ret, size, i ? "%sfile-%d.md" : "SKILL.md", folders[i % 4], i);
}

static char *file_text(int version, int i, const char *name) {
    char *text = xcalloc(1, FILLER + 200);
    int n = i ? 0
              : sprintf(text, "---\nname: %s\ndescription: Version %d.\n---\n", name,
                        version);
    while (n < FILLER) {
        n += sprintf(text + n, "version %d file %d offset %d\n", version, i, n);
    }
    return text;
}

int version_write(const char *folder, int version, const char *name, struct err *err) {
    struct root out;
    int n = dir_make(folder, 0755, err);
    n = n < 0 ? n : root_open(&out, folder, err);
    if (n < 0) {
        return n;
    }
    for (int i = 0; i < FILES && n >= 0; i++) {
        char path[64];
        file_path(path, sizeof path, i);
        autofree char *text = file_text(version, i, name);
        n = root_write(&out, path, text, strlen(text), 0644, err);
    }
    root_close(&out);
    return n;
}

static int count_files(const char *path) {
    DIR *dir = opendir(path);
    int n = 0;
    if (!dir) {
        return 0;
    }
    for (const struct dirent *entry; (entry = readdir(dir));) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) {
            continue;
        }
        autofree char *child = path_join(path, entry->d_name);
        n += entry->d_type == DT_DIR ? count_files(child) : 1;
    }
    closedir(dir);
    return n;
}

/* What file_text says of "demo", which is asked for a hundred thousand times. */
static const char *demo_text(int version, int i) {
    static char *texts[2][FILES];
    if (!texts[version][i]) {
        texts[version][i] = file_text(version, i, "demo");
    }
    return texts[version][i];
}

static bool is_version(const char *target, int version) {
    for (int i = 0; i < FILES; i++) {
        char rel[64];
        file_path(rel, sizeof rel, i);
        autofree char *path = path_join(target, rel);
        const char *want = demo_text(version, i);
        autofree char *got = xcalloc(1, FILLER + 300);
        FILE *f = fopen(path, "r");
        if (!f) {
            return false;
        }
        size_t n = fread(got, 1, FILLER + 299, f);
        fclose(f);
        if (n != strlen(want) || memcmp(got, want, n) != 0) {
            return false;
        }
    }
    return count_files(target) == FILES;
}

enum state state_of(const char *target) {
    struct stat st;
    if (lstat(target, &st) < 0) {
        return MISSING;
    }
    return is_version(target, 0) ? FIRST : is_version(target, 1) ? SECOND : MIXED;
}

int count_leftovers(const char *folder) {
    DIR *dir = opendir(folder);
    int n = 0;
    for (const struct dirent *entry; dir && (entry = readdir(dir));) {
        n += strncmp(entry->d_name, ".upskilld-stage-", 16) == 0 ||
             strncmp(entry->d_name, ".upskilld-old-", 14) == 0;
    }
    if (dir) {
        closedir(dir);
    }
    return n;
}
