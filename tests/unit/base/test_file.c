#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static char folder[64];

static void make_folder(void) {
    strcpy(folder, "/tmp/test-file-XXXXXX");
    cr_assert(mkdtemp(folder) != NULL);
    cr_assert(zero(int, chdir(folder)));
}

static void drop_folder(void) {
    struct err err = {0};
    cr_assert(zero(int, dir_remove(folder, &err)), "%s", err.msg);
    cr_assert(eq(int, access(folder, F_OK), -1));
}

static void put(const char *path, const char *text) {
    FILE *f = fopen(path, "w");
    fputs(text, f);
    fclose(f);
}

static size_t count_entries(const char *path) {
    DIR *dir = opendir(path);
    size_t n = 0;
    while (readdir(dir)) {
        n++;
    }
    closedir(dir);
    return n - 2;
}

/* Kernels before 5.6 answer so. */
static void forbid_openat2(void) {
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {ARRAY_LEN(code), code};
    cr_assert(zero(int, prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)));
    cr_assert(zero(int, prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)));
}

Test(file, only_regular_files_within_the_limit_are_read, .init = make_folder,
     .fini = drop_folder) {
    struct err err = {0};
    autobuf out = BUF_INIT(10);
    put("five", "12345");
    put("ten", "1234567890");
    put("empty", "");
    cr_assert(zero(int, mkfifo("fifo", 0600)));
    cr_assert(zero(int, file_read("five", &out, &err)), "%s", err.msg);
    cr_assert(zero(int, file_read("five", &out, &err)));
    cr_assert(eq(str, out.data, "1234512345"));
    cr_assert(zero(int, file_read("empty", &out, &err)));
    cr_assert(eq(int, file_read("five", &out, &err), -EFBIG));
    cr_expect(eq(str, err.msg, "five: larger than 10 bytes"));
    cr_assert(eq(str, out.data, "1234512345"));
    buf_reset(&out);
    cr_assert(zero(int, file_read("ten", &out, &err)));
    cr_assert(eq(int, file_read("fifo", &out, &err), -EINVAL));
    cr_assert(eq(int, file_read("/dev/zero", &out, &err), -EINVAL));
    cr_assert(eq(int, file_read(".", &out, &err), -EISDIR));
    cr_assert(eq(int, file_read("none", &out, &err), -ENOENT));
    cr_assert(strstr(err.msg, "none") != NULL);
    /* A file of /proc says that its size is 0. */
    buf_reset(&out);
    cr_assert(eq(int, file_read("/proc/self/status", &out, &err), -EFBIG));
    cr_assert(zero(sz, out.len));
}

/* What must hold with openat2 and without it. */
static void check_root(bool links_followed) {
    struct err err = {0};
    struct root r;
    autobuf out = BUF_INIT(100);
    put("outside", "secret");
    mkdir("root", 0755);
    mkdir("root/in", 0755);
    put("root/in/file", "inside");
    cr_assert(zero(int, symlink("../outside", "root/up")));
    cr_assert(zero(int, symlink("/etc", "root/etc")));
    cr_assert(zero(int, symlink("in", "root/alias")));
    cr_assert(zero(int, root_open(&r, "root", &err)), "%s", err.msg);
    cr_assert(eq(chr, r.path[0], '/'));
    cr_assert(zero(int, root_read(&r, "in/../in/./file", &out, &err)), "%s", err.msg);
    cr_assert(eq(str, out.data, "inside"));
    int linked = root_read(&r, "alias/file", &out, &err);
    cr_assert(eq(int, linked == 0, links_followed), "%s", err.msg);
    static const char *const bad[] = {
        "../outside", "in/../../outside", "/etc/passwd", "up", "etc/passwd", "", "in",
        "none"};
    buf_reset(&out);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        cr_assert(root_read(&r, bad[i], &out, &err) < 0, "%s", bad[i]);
        cr_assert(zero(sz, out.len), "%s", bad[i]);
    }
    cr_assert(eq(int, root_read(&r, "../outside", &out, &err), -EXDEV));
    cr_assert(zero(int, root_write(&r, "a/b/c.txt", "new", 3, 0644, &err)), "%s",
              err.msg);
    cr_assert(zero(int, root_write(&r, "a/b/c.txt", "newer", 5, 0600, &err)));
    cr_assert(zero(int, root_read(&r, "a/b/c.txt", &out, &err)));
    cr_assert(eq(str, out.data, "newer"));
    cr_assert(eq(sz, count_entries("root/a/b"), 1));
    cr_assert(zero(int, root_mkdir(&r, "x/y/z", 0755, &err)));
    cr_assert(zero(int, root_mkdir(&r, "x/y/z", 0755, &err)));
    cr_assert(eq(int, root_create(&r, "a/b/c.txt", "other", 5, &err), -EEXIST));
    cr_assert(zero(int, root_create(&r, "a/b/new.txt", "other", 5, &err)), "%s", err.msg);
    cr_assert(eq(int, root_create(&r, "a/b/new.txt", "again", 5, &err), -EEXIST));
    cr_assert(eq(int, root_write(&r, "../out", "x", 1, 0644, &err), -EXDEV));
    cr_assert(eq(int, root_mkdir(&r, "a/../../out", 0755, &err), -EXDEV));
    cr_assert(root_write(&r, "etc/upskilld-test", "x", 1, 0644, &err) < 0);
    root_close(&r);
    root_close(&r);
}

Test(file, nothing_leads_out_of_a_root, .init = make_folder, .fini = drop_folder) {
    check_root(true);
}

Test(file, nothing_leads_out_of_a_root_without_openat2, .init = make_folder,
     .fini = drop_folder) {
    forbid_openat2();
    check_root(false);
}

Test(file, a_failed_replacement_leaves_the_old_file_and_nothing_else, .init = make_folder,
     .fini = drop_folder) {
    struct err err = {0};
    struct root r;
    struct stat st;
    cr_assert(zero(int, root_open(&r, folder, &err)));
    mkdir("taken", 0755);
    put("taken/file", "x");
    cr_assert(eq(int, root_write(&r, "taken", "y", 1, 0644, &err), -EISDIR));
    cr_assert(eq(int, root_write(&r, "taken/file/under", "y", 1, 0644, &err), -ENOTDIR));
    cr_assert(eq(int, root_write(&r, "taken/", "y", 1, 0644, &err), -EINVAL));
    cr_assert(eq(int, root_write(&r, "", "y", 1, 0644, &err), -EINVAL));
    cr_assert(eq(int, root_write(&r, "..", "y", 1, 0644, &err), -EXDEV));
    cr_assert(eq(sz, count_entries("."), 1));
    cr_assert(eq(sz, count_entries("taken"), 1));
    /* A link is replaced, not written through. */
    cr_assert(zero(int, symlink("taken/file", "link")));
    cr_assert(zero(int, root_write(&r, "link", "new", 3, 0644, &err)), "%s", err.msg);
    cr_assert(zero(int, lstat("link", &st)));
    cr_assert(eq(int, st.st_mode &S_IFMT, S_IFREG));
    autobuf out = BUF_INIT(10);
    cr_assert(zero(int, root_read(&r, "taken/file", &out, &err)));
    cr_assert(eq(str, out.data, "x"));
    root_close(&r);
}

/* As after a process that was killed before it named its file. */
static void leave_behind(const struct root *r, time_t written) {
    struct root_file f;
    struct err err = {0};
    const struct timespec times[2] = {{.tv_sec = written}, {.tv_sec = written}};
    cr_assert(zero(int, root_file_begin(&f, r, "wanted", 0600, &err)), "%s", err.msg);
    cr_assert(zero(int, futimens(f.fd, times)));
    cr_assert(zero(int, rename(f.temporary, "kept")));
    root_file_drop(&f);
    cr_assert(zero(int, rename("kept", f.temporary)));
}

Test(file, what_a_killed_process_left_is_swept_when_it_is_old, .init = make_folder,
     .fini = drop_folder) {
    struct err err = {0};
    struct root r;
    cr_assert(zero(int, root_open(&r, folder, &err)));
    put(".upskilld-notes.tmp", "somebody's own");
    struct timespec old[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
    cr_assert(zero(int, utimensat(AT_FDCWD, ".upskilld-notes.tmp", old, 0)));
    leave_behind(&r, 1);
    leave_behind(&r, 1);
    leave_behind(&r, time(NULL));
    cr_assert(eq(sz, count_entries("."), 4));
    root_sweep(&r);
    cr_assert(eq(sz, count_entries("."), 2));
    root_close(&r);
}

Test(file, the_oldest_entry_makes_room, .init = make_folder, .fini = drop_folder) {
    struct root root;
    cr_assert(zero(int, root_open(&root, folder, NULL)));
    static const char *const names[] = {"b", "a", "c"};
    for (int i = 0; i < 3; i++) {
        struct timespec when[2] = {{.tv_sec = 1000 + i}, {.tv_sec = 1000 + i}};
        cr_assert(zero(int, mkdir(names[i], 0755)));
        cr_assert(zero(int, utimensat(AT_FDCWD, names[i], when, 0)));
    }
    root_make_room(&root, 4);
    cr_expect(eq(sz, count_entries("."), 3));
    root_make_room(&root, 3);
    cr_expect(eq(sz, count_entries("."), 2));
    cr_expect(eq(int, access("b", F_OK), -1));
    root_make_room(&root, 3);
    cr_expect(eq(sz, count_entries("."), 2));
    root_close(&root);
}

Test(file, removal_takes_deep_trees_and_never_follows_links, .init = make_folder,
     .fini = drop_folder) {
    struct err err = {0};
    mkdir("keep", 0755);
    put("keep/me", "x");
    mkdir("tree", 0755);
    cr_assert(zero(int, symlink("../keep", "tree/link")));
    cr_assert(zero(int, chdir("tree")));
    for (int i = 0; i < 1500; i++) { /* longer than PATH_MAX, deeper than any fd limit */
        mkdir("sub", 0755);
        put("file", "x");
        cr_assert(zero(int, chdir("sub")));
    }
    cr_assert(zero(int, chdir(folder)));
    mkdir("tree/shut", 0);
    cr_assert(zero(int, dir_remove("tree", &err)), "%s", err.msg);
    cr_assert(eq(int, access("tree", F_OK), -1));
    cr_assert(zero(int, access("keep/me", F_OK)));
    cr_assert(zero(int, symlink("keep", "alias")));
    cr_assert(dir_remove("alias", &err) < 0);
    cr_assert(eq(int, dir_remove("none", &err), -ENOENT));
    cr_assert(zero(int, dir_make("p/q/../r/", 0700, &err)));
    cr_assert(zero(int, dir_make("p/r", 0700, &err)));
    cr_assert(eq(int, dir_make("keep/me/x", 0700, &err), -ENOTDIR));
    cr_assert(eq(int, dir_make("keep/me", 0700, &err), -ENOTDIR));
}

Test(path, texts_are_joined_normalised_and_compared_by_components) {
    static const struct {
        const char *in, *want;
    } cases[] = {
        {"", "."},          {".", "."},
        {"/", "/"},         {"a/./b/../c", "a/c"},
        {"../x", "../x"},   {"a/../..", ".."},
        {"/..", "/"},       {"/a/../../b", "/b"},
        {"a//b///", "a/b"}, {"./a", "a"},
        {"a/..", "."},      {"../../a/..", "../.."},
        {"//a", "/a"},      {"a/.../b", "a/.../b"},
        {"/a/b/..", "/a"},  {"..a/b", "..a/b"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        autofree char *got = path_normalize(cases[i].in);
        cr_assert(eq(str, got, (char *)cases[i].want), "%s", cases[i].in);
    }
    static const struct {
        const char *path, *dir;
        int want;
    } pairs[] = {{"/a/b", "/a", 1}, {"/a", "/a", 1},    {"/ab", "/a", 0},
                 {"/a", "/a/b", 0}, {"/a/b", "/a/", 1}, {"/etc", "/", 1},
                 {"/", "/", 1}};
    for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
        int got = path_is_beneath(pairs[i].path, pairs[i].dir);
        cr_assert(eq(int, got, pairs[i].want), "pair %zu", i);
    }
    autofree char *joined = path_join("/a/", "b"), *plain = path_join("a", "b"),
                  *absolute = path_join("/a", "/b"), *alone = path_join("", "b");
    cr_assert(eq(str, joined, "/a/b"));
    cr_assert(eq(str, plain, "a/b"));
    cr_assert(eq(str, absolute, "/b"));
    cr_assert(eq(str, alone, "b"));
    cr_assert(eq(str, (char *)path_basename("/a/b.c"), "b.c"));
}

Test(file, a_path_is_named_from_a_folder) {
    static const struct {
        const char *path, *dir, *want;
    } cases[] = {
        {"/a/inc", "/a/src", "../inc"}, {"/a/src/inc", "/a/src", "inc"},
        {"/a/src", "/a/src", "."},      {"/a", "/a/src/deep", "../.."},
        {"/a/b", "/a/bc", "../b"},      {"/x/inc", "/a/src", "/x/inc"},
        {"/a/inc", "", "/a/inc"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        autofree char *got = path_relative(cases[i].path, cases[i].dir);
        cr_expect(strcmp(got, cases[i].want) == 0, "%s from %s: %s", cases[i].path,
                  cases[i].dir, got);
    }
}

Test(file, a_path_leads_out_by_its_root_or_by_more_ups_than_downs) {
    static const char *const out[] = {"/",       "/a",     "..",       "../a",
                                      "a/../..", "./../x", "a/../../b"};
    static const char *const inside[] = {"",    ".",      "a",   "a/..",
                                         "..a", "a/../b", "...", "a/b/../.."};
    for (size_t i = 0; i < sizeof out / sizeof *out; i++) {
        cr_expect(path_leads_out(out[i]), "%s", out[i]);
    }
    for (size_t i = 0; i < sizeof inside / sizeof *inside; i++) {
        cr_expect(not(path_leads_out(inside[i])), "%s", inside[i]);
    }
}

Test(path, the_folders_follow_the_environment) {
    setenv("HOME", "/home/x", 1);
    setenv("XDG_CONFIG_HOME", "/c", 1);
    setenv("XDG_STATE_HOME", "relative", 1);
    unsetenv("XDG_CACHE_HOME");
    autofree char *config = xdg_config_dir(), *state = xdg_state_dir(),
                  *cache = xdg_cache_dir();
    cr_assert(eq(str, config, "/c/upskilld"));
    cr_assert(eq(str, state, "/home/x/.local/state/upskilld"));
    cr_assert(eq(str, cache, "/home/x/.cache/upskilld"));
    unsetenv("HOME");
    unsetenv("XDG_DATA_HOME");
    cr_assert(xdg_data_dir() == NULL);
}
