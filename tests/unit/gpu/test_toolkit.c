/* toolkit: made-up installations in a temporary folder. */
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "gpu/compile/toolkit.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/toolkit-test-XXXXXX";

static void touch(const char *rel) {
    struct root root;
    cr_assert(!root_open(&root, folder, NULL));
    cr_assert(!root_write(&root, rel, "", 0, 0644, NULL));
    root_close(&root);
}

static char *beneath(const char *rel) {
    return path_join(folder, rel);
}

static void point_env(const char *name, const char *rel) {
    autofree char *path = beneath(rel);
    setenv(name, path, 1);
}

static void start(void) {
    cr_assert(mkdtemp(folder) != NULL);
    static const char *const names[] = {"UPSKILLD_CUDA", "CUDA_HOME", "CUDA_PATH",
                                        "LD_LIBRARY_PATH"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        unsetenv(names[i]);
    }
    point_env("XDG_DATA_HOME", "data");
}

static void stop(void) {
    dir_remove(folder, NULL);
}

static void expect_path(const char *path, const char *rel) {
    autofree char *wanted = beneath(rel);
    cr_expect_str_eq(path, wanted);
}

Test(toolkit, understands_both_layouts_and_their_order, .init = start, .fini = stop) {
    touch("tk/lib64/libnvrtc.so.13");
    touch("tk/include/cuda_fp16.h");
    touch("tk/include/cccl/x");
    touch("data/upskilld/cuda/nvidia/cu13/lib/libnvrtc.so.13");
    touch("data/upskilld/cuda/nvidia/cu13/include/cuda_fp16.h");
    touch("old/lib64/libnvrtc.so.12");
    touch("old/include/cuda_fp16.h");
    point_env("CUDA_PATH", "old");
    point_env("CUDA_HOME", "tk");
    size_t count;
    struct toolkit *t = toolkits_find(&count);
    cr_assert_geq(count, 3);
    expect_path(t[0].root, "tk");
    expect_path(t[0].nvrtc, "tk/lib64/libnvrtc.so.13");
    expect_path(t[0].library_dir, "tk/lib64");
    expect_path(t[0].include_dirs[0], "tk/include");
    expect_path(t[0].include_dirs[1], "tk/include/cccl");
    cr_expect_null(t[0].include_dirs[2]);
    cr_expect_eq(t[0].major, 13);
    expect_path(t[1].root, "old");
    cr_expect_eq(t[1].major, 12);
    cr_expect_null(t[1].include_dirs[1]);
    expect_path(t[2].root, "data/upskilld/cuda/nvidia/cu13");
    toolkits_free(t, count);
}

Test(toolkit, the_same_library_counts_once, .init = start, .fini = stop) {
    touch("tk/lib64/libnvrtc.so.13");
    touch("tk/include/cuda_fp16.h");
    autofree char *link = beneath("tk/lib");
    cr_assert(!symlink("lib64", link));
    point_env("UPSKILLD_CUDA", "tk");
    point_env("CUDA_HOME", "tk");
    size_t count, ours = 0;
    struct toolkit *t = toolkits_find(&count);
    for (size_t i = 0; i < count; i++) {
        ours += !strncmp(t[i].root, folder, strlen(folder));
    }
    cr_expect_eq(ours, 1);
    toolkits_free(t, count);
}

Test(toolkit, what_cannot_compile_is_left_out, .init = start, .fini = stop) {
    touch("headers/include/cuda_fp16.h");
    touch("library/lib64/libnvrtc.so.13");
    touch("ancient/lib64/libnvrtc.so.11");
    touch("ancient/include/cuda_fp16.h");
    static const char *const names[] = {"headers", "library", "ancient"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        size_t count;
        point_env("UPSKILLD_CUDA", names[i]);
        struct toolkit *t = toolkits_find(&count);
        for (size_t k = 0; k < count; k++) {
            cr_expect(strncmp(t[k].root, folder, strlen(folder)) != 0, "%s", t[k].root);
        }
        toolkits_free(t, count);
    }
    setenv("UPSKILLD_CUDA", "relative/path", 1);
    size_t count;
    struct toolkit *t = toolkits_find(&count);
    toolkits_free(t, count);
}
