#include "gpu/compile/toolkit.h"

#include "base/file.h"
#include "base/find.h"

#include <glob.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OLDEST_MAJOR = 12, NEWEST_MAJOR = 13, MAX_TOOLKITS = 16 };

struct finder {
    struct toolkit *found;
    size_t count;
    char *nvcc; /* the first one seen */
};

static bool is_file(const char *path) {
    struct stat st;
    return !stat(path, &st) && S_ISREG(st.st_mode);
}

static bool is_dir(const char *path) {
    struct stat st;
    return !stat(path, &st) && S_ISDIR(st.st_mode);
}

static void toolkit_finish(struct toolkit *t) {
    free(t->root);
    free(t->nvrtc);
    free(t->library_dir);
    for (char **dir = t->include_dirs; dir && *dir; dir++) {
        free(*dir);
    }
    free(t->include_dirs);
}

void toolkits_free(struct toolkit *t, size_t count) {
    for (size_t i = 0; i < count; i++) {
        toolkit_finish(&t[i]);
    }
    free(t);
}

/* The folder's newest libnvrtc that we know how to drive: its major version, or 0. */
static int library_major(const char *dir) {
    for (int major = NEWEST_MAJOR; major >= OLDEST_MAJOR; major--) {
        autofree char *path = xasprintf("%s/libnvrtc.so.%d", dir, major);
        if (is_file(path)) {
            return major;
        }
    }
    return 0;
}

/* The same library again, perhaps through another name? */
static bool is_known(const struct finder *f, const char *nvrtc) {
    struct stat a, b;
    if (stat(nvrtc, &a)) {
        return false;
    }
    return any_of(i, 0, f->count,
                  !stat(f->found[i].nvrtc, &b) && a.st_dev == b.st_dev &&
                      a.st_ino == b.st_ino);
}

/* Header folders: NULL-terminated, NULL when cuda_fp16.h, which every toolkit has, is in
 * none of the usual places. */
static char **include_dirs_find(const char *root) {
    static const char *const places[] = {"include", "targets/x86_64-linux/include",
                                         "targets/sbsa-linux/include"};
    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        autofree char *dir = path_join(root, places[i]);
        autofree char *probe = path_join(dir, "cuda_fp16.h");
        if (!is_file(probe)) {
            continue;
        }
        char **dirs = xcalloc(3, sizeof *dirs);
        char *cccl = path_join(dir, "cccl");
        dirs[0] = take(dir);
        if (is_dir(cccl)) {
            dirs[1] = cccl;
        } else {
            free(cccl);
        }
        return dirs;
    }
    return NULL;
}

static void add_library(struct finder *f, const char *root, const char *library_dir,
                        const char *include_root) {
    int major = library_major(library_dir);
    if (!major || f->count == MAX_TOOLKITS) {
        return;
    }
    autofree char *nvrtc = xasprintf("%s/libnvrtc.so.%d", library_dir, major);
    if (is_known(f, nvrtc)) {
        return;
    }
    char **includes = include_dirs_find(include_root);
    if (!includes) {
        return;
    }
    f->found = xreallocarray(f->found, f->count + 1, sizeof *f->found);
    f->found[f->count++] = (struct toolkit){
        .root = xstrdup(root),
        .nvrtc = take(nvrtc),
        .library_dir = xstrdup(library_dir),
        .include_dirs = includes,
        .major = major,
    };
}

static void look_for_nvcc(struct finder *f, const char *root) {
    autofree char *path = path_join(root, "bin/nvcc");
    if (!f->nvcc && is_file(path) && !access(path, X_OK)) {
        f->nvcc = take(path);
    }
}

/* A toolkit's root, or the folder that holds the wheels' "nvidia" folder. */
static void look_in(struct finder *f, const char *root) {
    static const char *const libraries[] = {"lib64", "lib", "targets/x86_64-linux/lib",
                                            "targets/sbsa-linux/lib"};
    static const char *const wheels[] = {"nvidia/cu13", "nvidia/cu12", "cu13", "cu12"};
    if (!root || root[0] != '/') {
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(libraries); i++) {
        autofree char *dir = path_join(root, libraries[i]);
        add_library(f, root, dir, root);
    }
    look_for_nvcc(f, root);
    for (size_t i = 0; i < ARRAY_LEN(wheels); i++) {
        autofree char *inner = path_join(root, wheels[i]);
        autofree char *dir = path_join(inner, "lib");
        add_library(f, inner, dir, inner);
        look_for_nvcc(f, inner);
    }
    /* CUDA 12's wheels put each library into a folder of its own. */
    autofree char *nvrtc12 = path_join(root, "nvidia/cuda_nvrtc/lib");
    autofree char *runtime12 = path_join(root, "nvidia/cuda_runtime");
    add_library(f, root, nvrtc12, runtime12);
}

static int version_order(const struct dirent **a, const struct dirent **b) {
    return strverscmp((*b)->d_name, (*a)->d_name);
}

static int is_versioned_cuda(const struct dirent *entry) {
    return !strncmp(entry->d_name, "cuda-", 5);
}

/* /usr/local/cuda-*, newest first. */
static void look_in_versioned(struct finder *f, const char *parent) {
    struct dirent **names = NULL;
    int n = scandir(parent, &names, is_versioned_cuda, version_order);
    for (int i = 0; i < n; i++) {
        autofree char *root = path_join(parent, names[i]->d_name);
        look_in(f, root);
        free(names[i]);
    }
    free(names);
}

/* A Python environment that this program was installed into, beside NVIDIA's wheels. */
static void look_in_environment(struct finder *f) {
    autofree char *folder = program_folder();
    autofree char *pattern =
        folder ? xasprintf("%s/../lib*/python3*/*-packages", folder) : NULL;
    glob_t found = {0};
    if (pattern && glob(pattern, 0, NULL, &found) == 0) {
        for (size_t i = 0; i < found.gl_pathc; i++) {
            autofree char *packages = path_normalize(found.gl_pathv[i]);
            look_in(f, packages);
        }
    }
    globfree(&found);
}

/* Where Debian's packages and the loader's own path put the library. The headers of such
 * an installation are in /usr/include or beneath /usr/lib/cuda. */
static void look_in_system(struct finder *f) {
    static const char *const dirs[] = {"/usr/lib/x86_64-linux-gnu",
                                       "/usr/lib/aarch64-linux-gnu", "/usr/lib64",
                                       "/usr/lib", "/usr/local/lib"};
    look_in(f, "/usr/lib/cuda");
    for (size_t i = 0; i < ARRAY_LEN(dirs); i++) {
        add_library(f, "/usr", dirs[i], "/usr/lib/cuda");
        add_library(f, "/usr", dirs[i], "/usr");
    }
    const char *paths = getenv("LD_LIBRARY_PATH");
    while (paths && *paths) {
        size_t len = strcspn(paths, ":");
        autofree char *dir = xstrndup(paths, len);
        autofree char *parent = xasprintf("%s/..", dir);
        autofree char *root = path_normalize(parent);
        if (dir[0] == '/') {
            add_library(f, root, dir, root);
        }
        paths += len + (paths[len] == ':');
    }
}

static void look_everywhere(struct finder *f) {
    autofree char *data = xdg_data_dir();
    autofree char *installed = data ? path_join(data, "cuda") : NULL;
    look_in(f, getenv("UPSKILLD_CUDA"));
    look_in(f, getenv("CUDA_HOME"));
    look_in(f, getenv("CUDA_PATH"));
    look_in_environment(f);
    look_in(f, installed);
    look_in(f, "/usr/local/cuda");
    look_in_versioned(f, "/usr/local");
    look_in(f, "/opt/cuda");
    look_in_system(f);
}

struct toolkit *toolkits_find(size_t *ret_count) {
    struct finder f = {0};
    look_everywhere(&f);
    free(f.nvcc);
    *ret_count = f.count;
    return f.found;
}

static void look_on_path(struct finder *f) {
    const char *paths = getenv("PATH");
    while (paths && *paths) {
        size_t len = strcspn(paths, ":");
        autofree char *parent = xasprintf("%.*s/..", (int)len, paths);
        autofree char *root = path_normalize(parent);
        if (paths[0] == '/') {
            look_for_nvcc(f, root);
        }
        paths += len + (paths[len] == ':');
    }
}

char *toolkit_nvcc(void) {
    struct finder f = {0};
    look_everywhere(&f);
    look_on_path(&f);
    toolkits_free(f.found, f.count);
    return f.nvcc;
}

char *toolkit_named(void) {
    static const char *const names[] = {"UPSKILLD_CUDA", "CUDA_HOME", "CUDA_PATH"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        const char *value = getenv(names[i]);
        if (value && *value) {
            return xasprintf(" (%s is %.300s)", names[i], value);
        }
    }
    return NULL;
}
