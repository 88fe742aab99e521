/* The parts of an install, one by one: what a system call that fails leaves behind, what
 * of a record is believed, which paths are safe, and what is said of a difference. */
#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "skills/install/install_internal.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static char top[64];
static int folder = -1;

static void make_folder(void) {
    strcpy(top, "/tmp/test-install-parts-XXXXXX");
    cr_assert(mkdtemp(top) != NULL);
    folder = open(top, O_RDONLY | O_DIRECTORY);
    cr_assert(zero(int, fchdir(folder)));
}

static void drop_folder(void) {
    cr_assert(zero(int, chdir("/")));
    cr_assert(zero(int, dir_remove(top, NULL)));
    close(folder);
}

TestSuite(install_parts, .init = make_folder, .fini = drop_folder);

static void put(const char *path, const char *text) {
    struct root root;
    cr_assert(zero(int, root_open(&root, top, NULL)));
    cr_assert(zero(int, root_write(&root, path, text, strlen(text), 0644, NULL)));
    root_close(&root);
}

static void expect_text(const char *path, const char *text, const char *what) {
    autobuf got = BUF_INIT(1u << 20);
    int rc = file_read(path, &got, NULL);
    if (text) {
        cr_expect(rc == 0 && strcmp(got.data, text) == 0, "%s: %s holds %s", what, path,
                  rc == 0 ? got.data : "nothing");
    } else {
        cr_expect(rc < 0, "%s: %s is there", what, path);
    }
}

static size_t count_entries(void) {
    DIR *dir = opendir(top);
    size_t n = 0;
    while (readdir(dir)) {
        n++;
    }
    closedir(dir);
    return n - 2;
}

/* --- system calls that fail --- */

struct fault {
    int number, code; /* the system call, and the errno that it answers */
};

static void forbid(struct fault f) {
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)f.number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)f.code),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {ARRAY_LEN(filter), filter};
    if (f.code && (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
                   prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)) {
        _exit(255);
    }
}

/* What the act answers in a process in which these calls fail. */
static int with_faults(const struct fault faults[2], int (*act)(const void *),
                       const void *data) {
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        forbid(faults[0]);
        forbid(faults[1]);
        _exit(-act(data));
    }
    cr_assert(waitpid(child, &status, 0) == child && WIFEXITED(status));
    return -WEXITSTATUS(status);
}

static int write_record(const void *skills) {
    struct err err = {0};
    struct install_record record = {.skills = json_loads(skills, 0, NULL)};
    int rc = install_record_write(folder, &record, &err);
    bool told =
        rc == 0 ? !*err.msg : strstr(err.msg, "io_error: " INSTALL_LOCK_FILE) != NULL;
    return told ? rc : -255;
}

Test(install_parts, a_record_is_replaced_whole_or_not_at_all) {
    static const struct {
        const char *what, *skills, *was, *is; /* NULL: no file */
        struct fault faults[2];
        int rc;
    } cases[] = {
        {"first", "{\"a\":{}}", NULL, "{\"version\":1,\"skills\":{\"a\":{}}}\n", {}, 0},
        {"next", "{\"a\":{}}", "old", "{\"version\":1,\"skills\":{\"a\":{}}}\n", {}, 0},
        {"not on the disk", "{\"a\":{}}", "old", "old", {{SYS_fsync, EIO}}, -EIO},
        {"not written", "{\"a\":{}}", "old", "old", {{SYS_write, EIO}}, -EIO},
        {"not renamed", "{\"a\":{}}", "old", "old", {{SYS_renameat, EIO}}, -EIO},
        {"empty", "{}", "old", NULL, {}, 0},
        {"empty again", "{}", NULL, NULL, {}, 0},
        {"not removed", "{}", "old", "old", {{SYS_unlinkat, EIO}}, -EIO},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        if (cases[i].was) {
            put(INSTALL_LOCK_FILE, cases[i].was);
        }
        int rc = with_faults(cases[i].faults, write_record, cases[i].skills);
        cr_expect(eq(int, rc, cases[i].rc), "%s", cases[i].what);
        expect_text(INSTALL_LOCK_FILE, cases[i].is, cases[i].what);
        unlink(INSTALL_LOCK_FILE);
        cr_expect(zero(sz, count_entries()), "%s", cases[i].what);
    }
}

static int read_record(const void *unused) {
    (void)unused;
    struct install_record record;
    struct err err = {0};
    int rc = install_record_read(folder, &record, &err);
    return rc == 0 || strstr(err.msg, ": " INSTALL_LOCK_FILE ": ") ? rc : -255;
}

Test(install_parts, a_record_that_cannot_be_read_is_left_alone) {
    static const struct fault faults[][2] = {
        {{SYS_read, EIO}}, {{SYS_openat, EACCES}}, {{SYS_openat, EPERM}}};
    put(INSTALL_LOCK_FILE, "{\"version\":1,\"skills\":{}}");
    for (size_t i = 0; i < ARRAY_LEN(faults); i++) {
        cr_expect(eq(int, with_faults(faults[i], read_record, NULL), -faults[i][0].code));
        expect_text(INSTALL_LOCK_FILE, "{\"version\":1,\"skills\":{}}", "unread");
    }
    static const struct fault stuck[2] = {{SYS_renameat, EIO}};
    put(INSTALL_LOCK_FILE, "damaged");
    cr_expect(eq(int, with_faults(stuck, read_record, NULL), -EIO));
    expect_text(INSTALL_LOCK_FILE, "damaged", "not kept aside");
}

/* What errno says counts only where a call failed. */
Test(install_parts, an_old_errno_is_no_interruption, .timeout = 10) {
    autobuf text = BUF_INIT(10), too_long = BUF_INIT(2);
    put("a/b", "123");
    errno = EINTR;
    cr_expect(zero(int, install_read_file(folder, "a/b", &text)));
    cr_expect(eq(str, text.data, (char[]){"123"}));
    cr_expect(eq(int, install_read_file(folder, "a/b", &too_long), -EFBIG));
    cr_expect(eq(int, install_read_file(folder, "a/c", &text), -ENOENT));
    cr_expect(eq(int, install_read_file(folder, "a", &text), -EINVAL));
}

#define SOUND "\"digest\":\"d\",\"files\":{\"SKILL.md\":\"d\"},\"agents\":[\"codex\"]"

Test(install_parts, only_sound_entries_of_a_record_are_believed) {
    static const struct {
        const char *name, *entry;
        bool sound;
    } cases[] = {
        {"demo", SOUND, true},
        {"demo", SOUND ",\"more\":7", true},
        {"demo", "\"digest\":\"d\",\"files\":{},\"agents\":[]", true},
        {"-demo", SOUND, false},
        {"demo-", SOUND, false},
        {"Demo", SOUND, false},
        {"", SOUND, false},
        {"demo", "\"files\":{},\"agents\":[]", false},
        {"demo", "\"digest\":7,\"files\":{},\"agents\":[]", false},
        {"demo", "\"digest\":\"d\",\"agents\":[]", false},
        {"demo", "\"digest\":\"d\",\"files\":[],\"agents\":[]", false},
        {"demo", "\"digest\":\"d\",\"files\":{\"a\":7},\"agents\":[]", false},
        {"demo", "\"digest\":\"d\",\"files\":{}", false},
        {"demo", "\"digest\":\"d\",\"files\":{},\"agents\":\"codex\"", false},
        {"demo", "\"digest\":\"d\",\"files\":{},\"agents\":[\"codex\",7]", false},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        autofree char *text =
            xasprintf("{\"version\":1,\"skills\":{\"other\":{" SOUND "},\"%s\":{%s}}}",
                      cases[i].name, cases[i].entry);
        struct install_record record = {0};
        put(INSTALL_LOCK_FILE, text);
        cr_assert(zero(int, install_record_read(folder, &record, NULL)));
        bool there = json_object_get(record.skills, cases[i].name);
        cr_expect(there == cases[i].sound, "%s", text);
        cr_expect(cases[i].sound == !record.kept[0], "%s", text);
        cr_expect(json_object_get(record.skills, "other") != NULL);
        if (!cases[i].sound) {
            expect_text(record.kept, text, "kept");
            unlink(record.kept);
        }
        install_record_finish(&record);
    }
}

Test(install_parts, where_a_skill_came_from_is_in_the_record_beside_it) {
    put(INSTALL_LOCK_FILE,
        "{\"version\":1,\"skills\":{\"a\":{\"source\":\"here\"},\"b\":{}}}");
    static const char *const cases[][2] = {
        {"a", "here"}, {"b", NULL}, {"c", NULL}, {"no/a", NULL}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        autofree char *path = path_join(top, cases[i][0]);
        autofree char *source = install_source(path);
        cr_expect(cases[i][1] ? source && strcmp(source, cases[i][1]) == 0 : !source,
                  "%s", cases[i][0]);
    }
}

/* --- exchanging --- */

static char digest_of_old[72];

static void digest_folder(const char *name, char ret[static 72]) {
    struct install_tree tree = {0};
    int fd = open(name, O_RDONLY | O_DIRECTORY);
    cr_assert(zero(int, install_tree_read(fd, false, &tree, NULL)));
    install_tree_digest(&tree, ret);
    install_tree_finish(&tree);
    close(fd);
}

static int exchange(const void *digest) {
    return install_exchange(folder, INSTALL_STAGE "1", "demo", digest, NULL);
}

static int take_away(const void *digest) {
    return install_take_away(folder, "demo", digest, NULL);
}

Test(install_parts, a_skill_is_exchanged_whole_or_not_at_all) {
    static const struct fault plain[2] = {}, without[2] = {{SYS_renameat2, EINVAL}},
                              unknown[2] = {{SYS_renameat2, ENOSYS}},
                              no_flags[2] = {{SYS_renameat2, ENOTSUP}},
                              broken[2] = {{SYS_renameat2, EIO}},
                              both[2] = {{SYS_renameat2, EINVAL}, {SYS_renameat, EIO}},
                              no_rename[2] = {{SYS_renameat, EIO}};
    static const struct {
        const char *was, *digest, *is; /* NULL: nothing there, or no digest */
        const struct fault *faults;
        int rc;
        bool removing;
    } cases[] = {
        {"old", digest_of_old, "new", plain, 0, false},
        {"old", digest_of_old, "new", without, 0, false},
        {"old", digest_of_old, "new", unknown, 0, false},
        {"old", digest_of_old, "new", no_flags, 0, false},
        {"old", NULL, "new", plain, 0, false},
        {"old", "another", "old", plain, -EEXIST, false},
        {"old", "another", "old", without, -EEXIST, false},
        {"old", digest_of_old, "old", broken, -EIO, false},
        {"old", digest_of_old, "old", both, -EIO, false},
        {NULL, NULL, "new", plain, 0, false},
        {NULL, NULL, "new", without, 0, false},
        {NULL, NULL, NULL, broken, -EIO, false},
        {NULL, NULL, NULL, both, -EIO, false},
        {"old", digest_of_old, NULL, plain, 0, true},
        {"old", NULL, NULL, plain, 0, true},
        {"old", "another", "old", plain, -EEXIST, true},
        {"old", digest_of_old, "old", no_rename, -EIO, true},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        autofree char *what = xasprintf("case %zu", i);
        if (cases[i].was) {
            put("demo/SKILL.md", cases[i].was);
            digest_folder("demo", digest_of_old);
        }
        if (!cases[i].removing) {
            put(INSTALL_STAGE "1/SKILL.md", "new");
        }
        int rc = with_faults(cases[i].faults, cases[i].removing ? take_away : exchange,
                             cases[i].digest);
        cr_expect(eq(int, rc, cases[i].rc), "%s", what);
        expect_text("demo/SKILL.md", cases[i].is, what);
        cr_expect(eq(sz, count_entries(), (size_t)(cases[i].is != NULL)), "%s", what);
        dir_remove("demo", NULL);
    }
}

/* --- paths --- */

Test(install_parts, paths_stay_inside_and_say_nothing_to_a_terminal) {
    char deepest[2 * 32], deeper[2 * 33], *longest = xmalloc(4097);
    for (size_t i = 0; i < sizeof deeper; i++) {
        deeper[i] = i % 2 ? '/' : 'd';
    }
    memcpy(deepest, deeper, sizeof deepest);
    deeper[sizeof deeper - 1] = deepest[sizeof deepest - 1] = '\0';
    memset(longest, 'x', 4096);
    longest[4096] = '\0';
    const struct {
        const char *path;
        bool safe;
    } cases[] = {
        {"SKILL.md", true},
        {"a/b.md", true},
        {"..a/b", true},
        {".hidden", true},
        {deepest, true},
        {longest + 1, true},
        {deeper, false},
        {longest, false},
        {"", false},
        {".", false},
        {"..", false},
        {"../a", false},
        {"/a", false},
        {"/", false},
        {"a//b", false},
        {"a/../b", false},
        {"./a", false},
        {"a/", false},
        {"a\nb", false},
        {"a\x1f"
         "b",
         false},
        {"a\x7f"
         "b",
         false},
        {"a b", true},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct skill_file file = {.path = (char *)(uintptr_t)cases[i].path, .mode = 0600};
        struct skill skill = {.files = &file, .file_count = 1};
        struct install_tree tree = {0};
        struct err err = {0};
        int rc = install_tree_of(&skill, &tree, &err);
        cr_expect(eq(int, rc, cases[i].safe ? 0 : -EINVAL), "%.80s", cases[i].path);
        cr_expect(cases[i].safe || strncmp(err.msg, "unsafe_path: ", 13) == 0);
        cr_expect(tree.count == cases[i].safe &&
                  (tree.count == 0 || tree.files[0].mode == 0644));
        install_tree_finish(&tree);
    }
    free(longest);
}

/* A tree 32 deep can be installed, and is read. */
Test(install_parts, the_first_thing_that_no_skill_may_hold_is_said) {
    char deep[2 * 33 + 1];
    for (size_t i = 0; i < sizeof deep - 1; i++) {
        deep[i] = i % 2 ? '/' : 'd';
    }
    deep[sizeof deep - 1] = '\0';
    put("link/SKILL.md", "x");
    cr_assert(zero(int, symlink("SKILL.md", "link/other.md")));
    put("fifo/SKILL.md", "x");
    cr_assert(zero(int, mkfifo("fifo/pipe", 0644)));
    autofree char *fits = xasprintf("fits/%sf", deep + 4),
                  *over = xasprintf("over/%sf", deep + 2);
    put(fits, "x");
    put(over, "x");
    autofree char *too_deep =
        xasprintf("%.*s is too deep", (int)strlen(over) - 5, over + 5);
    const char *cases[][2] = {{"link", "other.md is a link"},
                              {"fifo", "pipe is not a regular file"},
                              {"fits", NULL},
                              {"over", too_deep}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct install_tree tree = {0};
        int fd = open(cases[i][0], O_RDONLY | O_DIRECTORY);
        cr_assert(zero(int, install_tree_read(fd, false, &tree, NULL)));
        cr_expect(cases[i][1] ? tree.odd && strcmp(tree.odd, cases[i][1]) == 0
                              : !tree.odd,
                  "%s: %s", cases[i][0], tree.odd);
        install_tree_finish(&tree);
        close(fd);
    }
}

/* Sorted by path (install_internal.h), whatever order the skill has them in. */
Test(install_parts, the_files_of_a_skill_are_sorted_and_counted) {
    struct skill_file files[] = {
        {.path = (char[]){"b/x"}, .mode = 0755, .size = 3, .digest = "sha256:b"},
        {.path = (char[]){"SKILL.md"}, .mode = 0600, .size = 20, .digest = "sha256:s"},
        {.path = (char[]){"a"}, .mode = 0710, .size = 100, .digest = "sha256:a"}};
    struct skill skill = {.files = files, .file_count = 3};
    struct install_tree tree = {0};
    cr_assert(zero(int, install_tree_of(&skill, &tree, NULL)));
    cr_assert(eq(sz, tree.count, (size_t)3));
    cr_expect(eq(sz, tree.bytes, (size_t)123));
    static const struct {
        const char *path, *digest;
        unsigned mode;
    } want[] = {{"SKILL.md", "sha256:s", 0644},
                {"a", "sha256:a", 0755},
                {"b/x", "sha256:b", 0755}};
    for (size_t i = 0; i < 3; i++) {
        cr_expect(eq(str, tree.files[i].path, (char *)(uintptr_t)want[i].path));
        cr_expect(eq(str, tree.files[i].digest, (char *)(uintptr_t)want[i].digest));
        cr_expect(eq(u32, tree.files[i].mode, want[i].mode));
        cr_expect(install_tree_find(&tree, want[i].path) == &tree.files[i]);
    }
    cr_expect(install_tree_find(&tree, "b") == NULL);
    install_tree_finish(&tree);
}

static int read_whole_tree(const void *unused) {
    (void)unused;
    struct install_tree tree = {0};
    struct err err = {0};
    int fd = open("demo", O_RDONLY | O_DIRECTORY);
    int rc = install_tree_read(fd, true, &tree, &err);
    return rc == 0 || (strstr(err.msg, "io_error: ") && tree.count == 0) ? rc : -255;
}

Test(install_parts, a_tree_that_cannot_be_read_is_not_taken_for_a_smaller_one) {
    static const struct fault faults[][2] = {{{SYS_read, EIO}},
                                             {{SYS_fsync, EIO}},
                                             {{SYS_newfstatat, EIO}},
                                             {{SYS_openat, EIO}}};
    put("demo/a/b/SKILL.md", "x");
    static const struct fault none[2] = {};
    cr_expect(zero(int, with_faults(none, read_whole_tree, NULL)));
    for (size_t i = 0; i < ARRAY_LEN(faults); i++) {
        cr_expect(lt(int, with_faults(faults[i], read_whole_tree, NULL), 0), "%zu", i);
    }
}

/* --- turns --- */

/* The lock's file goes with its last user, while others wait for it. */
Test(install_parts, processes_take_turns, .timeout = 60) {
    enum { PROCESSES = 3, TURNS = 150 };
    static struct err err;
    pid_t children[PROCESSES];
    for (int i = 0; i < PROCESSES; i++) {
        children[i] = fork();
        for (int turn = 0; children[i] == 0 && turn < TURNS; turn++) {
            int lock = install_lock(folder, 50000, &err);
            int alone = lock < 0 ? -1 : open("alone", O_CREAT | O_EXCL | O_WRONLY, 0600);
            if (alone < 0 || unlink("alone") < 0) {
                _exit(1);
            }
            close(alone);
            install_unlock(folder, lock);
        }
        if (children[i] == 0) {
            _exit(0);
        }
    }
    for (int i = 0; i < PROCESSES; i++) {
        int status = -1;
        waitpid(children[i], &status, 0);
        cr_expect(zero(int, status));
    }
    cr_expect(zero(sz, count_entries()));
}

Test(install_parts, a_refusal_begins_with_its_reason) {
    static const struct {
        int code;
        const char *says;
    } cases[] = {
        {-EACCES, "not_writable: f: Permission denied"},
        {-EPERM, "not_writable: f: Operation not permitted"},
        {-EROFS, "not_writable: f: Read-only file system"},
        {-ENOSPC, "no_space: f: No space left on device"},
        {-EDQUOT, "no_space: f: Disk quota exceeded"},
        {-EFBIG, "no_space: f: File too large"},
        {-ELOOP, "unsafe_path: f: Too many levels of symbolic links"},
        {-EXDEV, "unsafe_path: f: leads out of the project"},
        {-ENOTDIR, "unsafe_path: f: Not a directory"},
        {-ENAMETOOLONG, "unsafe_path: f: File name too long"},
        {-EBUSY, "busy: f: Device or resource busy"},
        {-EEXIST, "conflict: f: File exists"},
        {-EIO, "io_error: f: Input/output error"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct err err = {0};
        cr_expect(eq(int, install_failed(&err, cases[i].code, "f"), cases[i].code));
        cr_expect(eq(str, err.msg, (char *)(uintptr_t)cases[i].says));
    }
}

/* --- differences --- */

static void read_tree(const char *name, int *ret_fd, struct install_tree *ret) {
    *ret_fd = open(name, O_RDONLY | O_DIRECTORY);
    cr_assert(zero(int, install_tree_read(*ret_fd, false, ret, NULL)));
}

static char *diff_of_folders(void) {
    struct install_tree is = {0}, shall = {0};
    int now, then;
    read_tree("now", &now, &is);
    read_tree("then", &then, &shall);
    char *diff = install_diff(now, &is, then, &shall);
    install_tree_finish(&is);
    install_tree_finish(&shall);
    close(now);
    close(then);
    return diff;
}

/* Too many edits to look for the shortest: what both ends share is still no change. */
Test(install_parts, of_many_changes_the_ends_are_none) {
    autobuf was = BUF_INIT(1u << 20), now = BUF_INIT(1u << 20);
    buf_adds(&was, "1\n2\n");
    buf_adds(&now, "1\n2\n");
    for (int i = 0; i < 300; i++) {
        buf_addf(&was, "was %d\n", i);
        buf_addf(&now, "now %d\n", i);
    }
    buf_adds(&was, "3\n4\n5\n");
    buf_adds(&now, "3\n4\n5\n");
    put("now/a.txt", was.data);
    put("then/a.txt", now.data);
    autofree char *diff = diff_of_folders();
    cr_expect(strstr(diff, "a.txt: would change (-300 +300 lines)\n") != NULL, "%s",
              diff);
    cr_expect(strstr(diff, "@@ -1,305 +1,305 @@\n 1\n 2\n-was 0\n") != NULL, "%s", diff);
}

Test(install_parts, what_is_no_short_text_is_named_alone) {
    char *large = xmalloc((256u << 10) + 2);
    memset(large, 'x', (256u << 10) + 1);
    large[(256u << 10) + 1] = '\0';
    put("now/large", large);
    put("then/large", "x\n");
    put("now/more", "x\n");
    put("then/more", large);
    FILE *f = fopen("then/nul", "w");
    cr_assert(f && fwrite("a\0b\n", 1, 4, f) == 4 && fclose(f) == 0);
    autofree char *diff = diff_of_folders();
    cr_expect(eq(str, diff,
                 "large: would change\nmore: would change\nnul: new\n\n"
                 "--- installed/large\n+++ new/large\n(too long to compare)\n"
                 "--- installed/more\n+++ new/more\n(too long to compare)\n"
                 "--- /dev/null\n+++ new/nul\n(binary)\n"));
    free(large);
}

/* docs/guide/installing.md: the first 100 lines of differences. */
Test(install_parts, a_hundred_lines_are_shown_and_the_rest_counted) {
    for (int lines = 97; lines <= 99; lines++) { /* and three lines of headers */
        autobuf text = BUF_INIT(1000);
        for (int i = 0; i < lines; i++) {
            buf_adds(&text, "x\n");
        }
        autofree char *diff = install_text_diff("f", "", text.data);
        size_t feeds = 0;
        for (const char *at = diff; (at = strchr(at, '\n')); at++) {
            feeds++;
        }
        cr_expect(eq(sz, feeds, (size_t)(lines > 97 ? 101 : 100)), "%d: %s", lines, diff);
        autofree char *note =
            xasprintf("(%d more line%s not shown", lines - 97, lines == 98 ? "" : "s");
        cr_expect(eq(int, strstr(diff, note) != NULL, lines > 97), "%s", diff);
    }
}

Test(install_parts, files_that_end_one_side_are_named) {
    static const char *const names[] = {"m.txt", "x.txt", "y.txt", "z.txt"};
    for (int removed = 0; removed < 2; removed++) {
        put("now/SKILL.md", "same\n");
        put("then/SKILL.md", "same\n");
        for (size_t i = 0; i < ARRAY_LEN(names); i++) {
            autofree char *path = path_join(removed ? "now" : "then", names[i]);
            put(path, "x\n");
        }
        autofree char *diff = diff_of_folders();
        const char *what =
            removed ? "would be removed (-1 +0 lines)" : "new (-0 +1 lines)";
        autofree char *want = xasprintf("m.txt: %s\nx.txt: %s\ny.txt: %s\nz.txt: %s\n\n",
                                        what, what, what, what);
        cr_expect(strncmp(diff, want, strlen(want)) == 0, "%s", diff);
        dir_remove("now", NULL);
        dir_remove("then", NULL);
    }
}

Test(install_parts, a_difference_of_texts_is_that_of_diff) {
    static const struct {
        const char *was, *now, *diff;
    } cases[] = {
        {"a\n", "a\n", NULL},
        {"a\n", "b\n", "@@ -1,1 +1,1 @@\n-a\n+b\n"},
        {"a\nb\nc\nd\ne\nf\n", "a\nb\nc\nd\nx\nf\n",
         "@@ -2,5 +2,5 @@\n b\n c\n d\n-e\n+x\n f\n"},
        {"", "a\n", "@@ -0,0 +1,1 @@\n+a\n"},
        {"a\nb\n", "", "@@ -1,2 +0,0 @@\n-a\n-b\n"},
        /* Two changes: six lines that stay make one hunk, seven make two. */
        {"A\n1\n2\n3\n4\n5\n6\nB\n", "C\n1\n2\n3\n4\n5\n6\nD\n",
         "@@ -1,8 +1,8 @@\n-A\n+C\n 1\n 2\n 3\n 4\n 5\n 6\n-B\n+D\n"},
        {"A\n1\n2\n3\n4\n5\n6\n7\nB\n", "C\n1\n2\n3\n4\n5\n6\n7\nD\n",
         "@@ -1,4 +1,4 @@\n-A\n+C\n 1\n 2\n 3\n@@ -6,4 +6,4 @@\n 5\n 6\n 7\n-B\n+D\n"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        autofree char *got = install_text_diff("f", cases[i].was, cases[i].now);
        autofree char *want =
            cases[i].diff ? xasprintf("--- f\n+++ f\n%s", cases[i].diff) : NULL;
        cr_expect(want ? got && strcmp(got, want) == 0 : !got, "%zu: %s", i, got);
    }
}

Test(install_parts, a_difference_of_folders_names_each_file_once) {
    put("now/SKILL.md", "same\n");
    put("then/SKILL.md", "same\n");
    put("now/a.txt", "text\n");
    put("then/a.txt", "\xff");
    put("now/b.txt", "gone\n");
    put("then/c.txt", "came\n");
    put("now/run.sh", "x\n");
    put("then/run.sh", "x\n");
    cr_assert(zero(int, chmod("then/run.sh", 0755)));
    autofree char *diff = diff_of_folders();
    cr_expect(eq(str, diff,
                 "a.txt: would change\nb.txt: would be removed (-1 +0 lines)\n"
                 "c.txt: new (-0 +1 lines)\nrun.sh: would change\n\n"
                 "--- installed/a.txt\n+++ new/a.txt\n(binary)\n"
                 "--- installed/b.txt\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-gone\n"
                 "--- /dev/null\n+++ new/c.txt\n@@ -0,0 +1,1 @@\n+came\n"
                 "--- installed/run.sh\n+++ new/run.sh\n(mode 644, new 755)\n"));
}

Test(install_parts, of_many_files_that_differ_twenty_are_named) {
    static const size_t counts[] = {20, 23};
    put("then/SKILL.md", "same\n");
    put("now/SKILL.md", "same\n");
    for (size_t c = 0; c < ARRAY_LEN(counts); c++) {
        for (size_t i = 0; i < counts[c]; i++) {
            autofree char *path = xasprintf("then/f%02zu", i);
            put(path, "x\n");
        }
        autofree char *diff = diff_of_folders();
        const char *more = strstr(diff, "more files");
        cr_expect(c ? more && strncmp(more - 4, "\n(3 more files)\n\n", 17) == 0 : !more,
                  "%s", diff);
        cr_expect(strstr(diff, "\nf19: new (-0 +1 lines)\n") &&
                  !strstr(diff, "f20: new"));
    }
}

Test(install_parts, what_was_changed_since_is_said_file_by_file) {
    put("now/SKILL.md", "same\n");
    put("now/more.md", "mine\n");
    struct install_tree is = {0};
    int fd;
    read_tree("now", &fd, &is);
    const char *same = install_tree_find(&is, "SKILL.md")->digest,
               *more = install_tree_find(&is, "more.md")->digest;
    const struct {
        const char *skill_md, *more, *gone, *said;
    } cases[] = {
        {same, more, NULL, "changed: which files are executable\n"},
        {same, NULL, NULL, "added: more.md\n"},
        {"other", more, NULL, "changed: SKILL.md\n"},
        {"other", NULL, "x", "changed: SKILL.md\nadded: more.md\nmissing: gone.md\n"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        autojson *entry =
            json_pack("{s:{s:s, s:s*, s:s*}}", "files", "SKILL.md", cases[i].skill_md,
                      "more.md", cases[i].more, "gone.md", cases[i].gone);
        autofree char *said = install_changes(&is, entry);
        cr_expect(eq(str, said, (char *)(uintptr_t)cases[i].said), "%zu", i);
    }
    install_tree_finish(&is);
    close(fd);
}
