/* The parts of an install, one by one: what a system call that fails leaves behind, what
 * of a record is believed, and which paths are safe. */
#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "skills/install/install.h"
#include "skills/install/install_lock.h"
#include "skills/install/install_stage.h"
#include "skills/install/install_tree.h"

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
    cr_expect(zero(int, skill_read_beneath(folder, "a/b", &text)));
    cr_expect(eq(str, text.data, (char[]){"123"}));
    cr_expect(eq(int, skill_read_beneath(folder, "a/b", &too_long), -EFBIG));
    cr_expect(eq(int, skill_read_beneath(folder, "a/c", &text), -ENOENT));
    cr_expect(eq(int, skill_read_beneath(folder, "a", &text), -EINVAL));
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

/* --- names --- */

Test(install_parts, a_fresh_name_is_of_chance_and_not_taken_twice) {
    char one[INSTALL_NAME_SIZE], two[INSTALL_NAME_SIZE];
    memset(one, '\xff', sizeof one);
    install_fresh_name(one, "before-", "-behind");
    install_fresh_name(two, "before-", "-behind");
    cr_expect(strcmp(one, two) != 0);
    cr_expect(strncmp(one, "before-", 7) == 0);
    cr_expect(eq(sz, strspn(one + 7, "0123456789abcdef"), (size_t)32), "%s", one);
    cr_expect(strcmp(one + 7 + 32, "-behind") == 0, "%s", one);
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

/* Sorted by path (install_tree.h), whatever order the skill has them in. */
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

/* Down to the last byte; the digest is Python's hashlib's. */
Test(install_parts, a_file_of_one_byte_is_read) {
    struct install_tree tree = {0};
    put("skill/SKILL.md", "x");
    int fd = open("skill", O_RDONLY | O_DIRECTORY);
    cr_assert(zero(int, install_tree_read(fd, false, &tree, NULL)));
    cr_expect(eq(sz, tree.bytes, (size_t)1));
    cr_expect(strcmp(tree.files[0].digest, "sha256:2d711642b726b04401627ca9fbac32f5"
                                           "c8530fb1903cc4db02258717921a4881") == 0,
              "%s", tree.files[0].digest);
    install_tree_finish(&tree);
    close(fd);
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
