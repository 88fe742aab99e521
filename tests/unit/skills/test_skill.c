#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "skills/format/skill.h"
#include "skills/format/skill_name.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static char folder[64];

static void make_folder(void) {
    strcpy(folder, "/tmp/test-skill-XXXXXX");
    cr_assert(mkdtemp(folder) != NULL);
}

static void remove_folder(void) {
    cr_assert(dir_remove(folder, NULL) == 0);
}

TestSuite(skill, .init = make_folder, .fini = remove_folder);

static void put(const char *path, const char *bytes, size_t len) {
    struct root root;
    cr_assert(root_open(&root, folder, NULL) == 0);
    cr_assert(root_write(&root, path, bytes, len, 0644, NULL) == 0, "%s", path);
    root_close(&root);
}

static void put_text(const char *path, const char *text) {
    put(path, text, strlen(text));
}

static char *in_folder(const char *name) {
    return path_join(folder, name);
}

static bool has_problem(const struct skill *s, const char *code, const char *file) {
    size_t i;
    json_t *p;
    json_array_foreach(s->problems, i, p) {
        if (strcmp(json_get_string(p, "code", ""), code) == 0 &&
            strcmp(json_get_string(p, "file", ""), file) == 0) {
            return true;
        }
    }
    return false;
}

#define TEXT "---\nname: a\ndescription: b\n---\nBody\n"

/* Digests of the standard: SHA-256 of "abc" is FIPS 180-4's own example. */
Test(skill, a_folder_is_read_in_order_with_digests) {
    put_text("SKILL.md", TEXT);
    put_text("references/z.md", "abc");
    put_text("references/deep/er/x.txt", "");
    put_text("a.txt", "abc");
    put_text(".git/config", "x");
    put_text("node_modules/m/index.js", "x");
    put_text("a.txt~", "x");
    put_text(".SKILL.md.swp", "x");
    put_text("#a.txt#", "x");
    struct skill s;
    struct err err = {0};
    cr_assert(skill_open(&s, folder, true, &err) == 0, "%s", err.msg);
    static const char *const want[] = {"SKILL.md", "a.txt", "references/deep/er/x.txt",
                                       "references/z.md"};
    cr_assert(eq(sz, s.file_count, ARRAY_LEN(want)));
    for (size_t i = 0; i < ARRAY_LEN(want); i++) {
        cr_expect(eq(str, s.files[i].path, (char *)want[i]));
        cr_expect(skill_find_file(&s, want[i]) == &s.files[i]);
    }
    cr_expect(
        eq(str, s.files[1].digest,
           "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"));
    cr_expect(
        eq(str, s.files[2].digest,
           "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"));
    cr_expect(eq(sz, s.bytes, strlen(TEXT) + 6));
    cr_expect(eq(str, (char *)s.text.name, "a"));
    cr_expect(eq(str, s.folder, folder));
    cr_expect(eq(sz, json_array_size(s.problems), 0));
    cr_expect(skill_find_file(&s, "nothing") == NULL);
    skill_finish(&s);
}

static void digest_of(char ret[static 72]) {
    struct skill s;
    cr_assert(skill_open(&s, folder, true, NULL) == 0);
    skill_digest(&s, ret);
    skill_finish(&s);
}

Test(skill, the_digest_follows_content_names_and_execute_bits_only) {
    put_text("SKILL.md", TEXT);
    put_text("s/run.sh", "x");
    char first[72], again[72];
    autofree char *run = in_folder("s/run.sh"), *moved = in_folder("s/go.sh");
    digest_of(first);
    chmod(run, 0600);
    digest_of(again);
    cr_expect(eq(str, first, again));
    chmod(run, 0755);
    digest_of(again);
    cr_expect(ne(str, first, again));
    chmod(run, 0644);
    put_text("s/run.sh", "y");
    digest_of(again);
    cr_expect(ne(str, first, again));
    put_text("s/run.sh", "x");
    digest_of(again);
    cr_expect(eq(str, first, again));
    cr_assert(rename(run, moved) == 0);
    digest_of(again);
    cr_expect(ne(str, first, again));
}

Test(skill, tests_and_records_are_no_part_of_what_a_student_sees) {
    put_text("SKILL.md", TEXT);
    put_text("evals.md", "x");
    struct skill s;
    char bare[72], hidden[72];
    digest_of(bare);
    put_text("skill_meta.json", "{}");
    put_text("evals/evals.json", "{}");
    put_text("evals/files/a.csv", "1,2");
    digest_of(hidden);
    cr_expect(ne(str, bare, hidden));
    cr_assert(skill_open(&s, folder, true, NULL) == 0);
    skill_hide_tests(&s);
    skill_digest(&s, hidden);
    cr_expect(eq(str, bare, hidden));
    cr_expect(eq(sz, s.file_count, 2));
    cr_expect(eq(sz, s.bytes, strlen(TEXT) + 1));
    cr_expect(skill_find_file(&s, "skill_meta.json") == NULL);
    cr_expect(skill_find_file(&s, "evals.md") != NULL);
    skill_hide_tests(&s);
    cr_expect(eq(sz, s.file_count, 2));
    skill_finish(&s);
}

static void make_socket(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    autofd int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    cr_assert(bind(fd, (struct sockaddr *)&address, sizeof address) == 0);
}

Test(skill, links_devices_and_bad_names_are_left_out_and_named) {
    put_text("SKILL.md", TEXT);
    put_text("real/x", "abc");
    autofree char *fifo = in_folder("fifo"), *file = in_folder("link"),
                  *dir = in_folder("dirlink"), *dangling = in_folder("dangling"),
                  *sock = in_folder("sock"), *bad = in_folder("bad\x01name"),
                  *latin = in_folder("caf\xE9"), *self = in_folder("real/self");
    cr_assert(mkfifo(fifo, 0600) == 0);
    cr_assert(symlink("/etc/passwd", file) == 0 && symlink("/etc", dir) == 0 &&
              symlink("nowhere", dangling) == 0 && symlink(".", self) == 0);
    make_socket(sock);
    close(open(bad, O_CREAT | O_WRONLY, 0600));
    close(open(latin, O_CREAT | O_WRONLY, 0600));
    struct skill s;
    cr_assert(skill_open(&s, folder, true, NULL) == 0);
    cr_expect(eq(sz, s.file_count, 2));
    cr_expect(has_problem(&s, "file_special", "fifo"));
    cr_expect(has_problem(&s, "file_special", "sock"));
    cr_expect(has_problem(&s, "file_link", "link"));
    cr_expect(has_problem(&s, "file_link", "dirlink"));
    cr_expect(has_problem(&s, "file_link", "dangling"));
    cr_expect(has_problem(&s, "file_link", "real/self"));
    cr_expect(eq(sz, json_array_size(s.problems), 8));
    skill_finish(&s);
}

Test(skill, what_is_no_skill_says_so) {
    struct skill s;
    struct err err = {0};
    cr_expect(eq(int, skill_open(&s, folder, true, &err), -ENOENT));
    autofree char *text = in_folder("SKILL.md"), *none = in_folder("none");
    cr_assert(mkfifo(text, 0600) == 0);
    cr_expect(eq(int, skill_open(&s, folder, true, &err), -ENOENT));
    cr_expect(strstr(err.msg, "FIFO") != NULL, "%s", err.msg);
    cr_expect(eq(int, skill_open(&s, text, true, &err), -EINVAL));
    cr_expect(eq(int, skill_open(&s, none, true, &err), -ENOENT));
    put_text("skill.md", TEXT);
    cr_expect(eq(int, skill_open(&s, folder, true, &err), 0));
    cr_expect(has_problem(&s, "file_special", "SKILL.md"));
    skill_finish(&s);
}

Test(skill, limits_are_kept_and_named) {
    put_text("SKILL.md", TEXT);
    char name[64];
    for (int i = 0; i < SKILL_MAX_FILES + 10; i++) {
        snprintf(name, sizeof name, "f/%04d", i);
        put_text(name, "");
    }
    struct skill s;
    cr_assert(skill_open(&s, folder, true, NULL) == 0);
    cr_expect(eq(sz, s.file_count, SKILL_MAX_FILES));
    cr_expect(has_problem(&s, "too_many_files", "f/0511"));
    skill_finish(&s);
}

Test(skill, too_many_bytes_and_too_deep_folders_are_left_out) {
    put_text("SKILL.md", TEXT);
    char deep[256] = "d";
    for (int i = 0; i < 20; i++) {
        strcat(deep, "/d");
    }
    strcat(deep, "/x");
    put_text(deep, "x");
    put_text("huge", "");
    autofree char *huge = in_folder("huge");
    cr_assert(truncate(huge, SKILL_MAX_BYTES) == 0);
    struct skill s;
    cr_assert(skill_open(&s, folder, true, NULL) == 0);
    cr_expect(eq(sz, s.file_count, 1));
    cr_expect(eq(sz, json_array_size(s.problems), 2));
    cr_expect(has_problem(&s, "too_many_bytes", "huge"));
    skill_finish(&s);
}

Test(skill, one_file_is_read_but_never_through_a_link) {
    put_text("SKILL.md", TEXT);
    put_text("a/b.txt", "abc");
    autofree char *dir = in_folder("etc"), *file = in_folder("a/p");
    cr_assert(symlink("/etc", dir) == 0 && symlink("b.txt", file) == 0);
    autobuf out = BUF_INIT(16);
    struct err err = {0};
    cr_expect(eq(int, skill_read_file(folder, "a/b.txt", &out, &err), 0));
    cr_expect(eq(str, out.data, "abc"));
    cr_expect(eq(int, skill_read_file(folder, "etc/passwd", &out, &err), -ELOOP));
    cr_expect(eq(int, skill_read_file(folder, "a/p", &out, &err), -ELOOP));
    cr_expect(eq(int, skill_read_file(folder, "../x", &out, &err), -EINVAL));
    cr_expect(eq(int, skill_read_file(folder, "/etc/passwd", &out, &err), -EINVAL));
    cr_expect(eq(int, skill_read_file(folder, "a/../a/b.txt", &out, &err), -EINVAL));
    cr_expect(eq(int, skill_read_file(folder, "", &out, &err), -EINVAL));
    cr_expect(eq(int, skill_read_file(folder, "a", &out, &err), -EINVAL));
    cr_expect(eq(int, skill_read_file(folder, "none", &out, &err), -ENOENT));
    cr_expect(eq(int, skill_read_file(folder, "SKILL.md", &out, &err), -EFBIG));
}

/* The shapes are upskill's models.py and skill-creator's schemas.md. */
Test(skill, saved_tests_come_in_one_shape) {
    put_text("SKILL.md", TEXT);
    put_text(
        "skill_meta.json",
        "{\"metadata\":{\"version\":\"1.0\"},\"tests\":[{\"input\":\"i\",\"context\":"
        "{\"files\":{\"f\":\"t\"}},\"expected\":{\"contains\":\"x\"},\"output_file\":"
        "null},{\"input\":\"j\",\"expected\":[\"y\",\"z\"]},{\"input\":\"k\",\"expected\""
        ":\"w\",\"id\":\"own\"},{\"none\":1}]}");
    put_text(
        "evals/evals.json",
        "{\"skill_name\":\"a\",\"evals\":[{\"id\":7,\"prompt\":\"p\",\"expected_output\":"
        "\"o\",\"files\":[\"evals/files/x\",\"../y\"],\"assertions\":[\"c1\"]},"
        "{\"prompt\":\"q\",\"expectations\":[{\"text\":\"c2\"}]}]}");
    put_text("evals/files/x", "content");
    struct skill s;
    cr_assert(skill_open(&s, folder, false, NULL) == 0);
    autojson *meta = skill_meta_read(&s);
    autojson *want = json_loads(
        "{\"metadata\":{\"version\":\"1.0\"},\"tests\":["
        "{\"id\":\"test-1\",\"input\":\"i\",\"files\":{\"f\":\"t\"},\"expected\":{"
        "\"contains\":"
        "[\"x\"]},\"output_file\":null},"
        "{\"id\":\"test-2\",\"input\":\"j\",\"expected\":{\"contains\":[\"y\",\"z\"]}},"
        "{\"id\":\"own\",\"input\":\"k\",\"expected\":{\"contains\":[\"w\"]}},"
        "{\"id\":\"eval-7\",\"input\":\"p\",\"expected\":{\"judge\":[\"c1\"],"
        "\"expected_output\":\"o\"},\"files\":{\"evals/files/x\":\"content\"}},"
        "{\"id\":\"eval-2\",\"input\":\"q\",\"expected\":{\"judge\":[\"c2\"]}}],"
        "\"problems\":[{\"file\":\"skill_meta.json\",\"message\":\"a test has no "
        "\\\"input\\\"\"},{\"file\":\"evals/evals.json\",\"message\":\"../y: not a path "
        "within a skill\"}]}",
        0, NULL);
    autofree char *got = json_dumps(meta, 0);
    cr_expect(want != NULL && json_equal(meta, want), "%s", got);
    skill_finish(&s);
}

Test(skill, broken_test_files_are_problems_and_missing_ones_are_not) {
    put_text("SKILL.md", TEXT);
    struct skill s;
    cr_assert(skill_open(&s, folder, false, NULL) == 0);
    autojson *none = skill_meta_read(&s);
    cr_expect(eq(sz, json_object_size(none), 0));
    skill_finish(&s);
    put_text("skill_meta.json", "[1]");
    put_text("evals/evals.json", "{");
    cr_assert(skill_open(&s, folder, false, NULL) == 0);
    autojson *broken = skill_meta_read(&s);
    cr_expect(eq(sz, json_array_size(json_object_get(broken, "problems")), 2));
    skill_finish(&s);
}

/* What a person can read is shown as it is. */
Test(skill, a_misnamed_skill_is_told_what_its_name_holds) {
    static const char *const names[][2] = {
        {"O_x", "its name holds \"O\", \"_\"; "},
        {"a b", "its name holds U+0020; "},
        {"h100\u2010cuda", "its name holds U+2010; "},
        {"-a", "its name breaks the specification: "},
    };
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        autofree char *problem = skill_name_problem(names[i][0]);
        cr_expect(problem && strstr(problem, names[i][1]) == problem, "%s", problem);
    }
    cr_expect(zero(ptr, skill_name_problem("h100-cuda")));
}

Test(skill, names_that_look_like_another_are_told_from_it) {
    static const char *const alike[][2] = {
        {"hl00-cuda-kernels", "h100-cuda-kernels"},
        {"hi00-cuda", "h100-cuda"},
        {"h1oo-cuda", "h100-cuda"},
        {"cornrnit", "commit"},
        {"H100-Cuda", "h100-cuda"},
        {"h100_cuda", "h100-cuda"},
    };
    static const char *const apart[][2] = {
        {"h100-cuda", "h100-cuda"},
        {"h100-cuda", "h200-cuda"},
        {"h100-cuda", "h100-cuda-x"},
        {"rm", "m"},
        {"mr", "m"},
        {"commit", "corn"},
        {"", "a"},
    };
    for (size_t i = 0; i < ARRAY_LEN(alike); i++) {
        cr_expect(skill_name_looks_like(alike[i][0], alike[i][1]), "%s", alike[i][0]);
        cr_expect(skill_name_looks_like(alike[i][1], alike[i][0]), "%s", alike[i][0]);
    }
    for (size_t i = 0; i < ARRAY_LEN(apart); i++) {
        cr_expect(skill_name_looks_like(apart[i][0], apart[i][1]) == false, "%s",
                  apart[i][0]);
        cr_expect(skill_name_looks_like(apart[i][1], apart[i][0]) == false, "%s",
                  apart[i][0]);
    }
}
