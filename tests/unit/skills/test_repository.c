/* Skills in Git repositories: how they are named, and what Git lists of them. */
#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "skills/install/repository_files.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The parts of a name, or the error's code. */
static const char *parts(const char *words) {
    static char told[512];
    struct repository r = {0};
    struct err err = {0};
    if (!repository_is_meant(words)) {
        return "none";
    }
    if (repository_read(&r, words, &err) < 0) {
        return "wrong";
    }
    snprintf(told, sizeof told, "%s %s %s %s", r.url, r.path, r.ref,
             repository_is_pinned(&r) ? "pinned" : "moves");
    repository_finish(&r);
    return told;
}

#define HEX "0123456789012345678901234567890123456789"

Test(repository, names_have_an_address_a_path_and_a_commit) {
    static const char *const cases[][2] = {
        {"acme/skills@main", "https://github.com/acme/skills  main moves"},
        {"acme/skills/a/b@v1.2", "https://github.com/acme/skills a/b v1.2 moves"},
        {"acme/skills/a/SKILL.md@" HEX,
         "https://github.com/acme/skills a " HEX " pinned"},
        {"acme/skills/SKILL.md@feature/x",
         "https://github.com/acme/skills  feature/x moves"},
        {"https://example.com/g/r.git@main", "https://example.com/g/r.git  main moves"},
        {"https://example.com/g/r.git//a/b@main",
         "https://example.com/g/r.git a/b main moves"},
        {"http://127.0.0.1:80/r@" HEX, "http://127.0.0.1:80/r  " HEX " pinned"},
        {"acme/skills", "none"},
        {"./acme/skills@main", "none"},
        {"../acme/skills@main", "none"},
        {"/acme/skills@main", "none"},
        {"tidy", "none"},
        {"tidy@main", "none"},
        {"skills/a b@main", "none"},
        {"acme/skills@", "wrong"},
        {"acme/skills@-x", "wrong"},
        {"acme/skills@a..b", "wrong"},
        {"acme/skills@a b", "wrong"},
        {"acme/skills@a:b", "wrong"},
        {"acme/skills/../x@main", "wrong"},
        {"acme/skills/a//b@main", "wrong"},
        {"acme/skills/\xFF@main", "wrong"},
        {"https://example.com/r", "wrong"},
        {"https://user:word@example.com/r@main", "wrong"},
        {"https://example.com/a b@main", "wrong"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cr_expect(eq(str, (char *)parts(cases[i][0]), (char *)cases[i][1]), "%s",
                  cases[i][0]);
    }
}

#define OID                                                                              \
    "ce013625030ba8dba906f756967f9e9ca394464a" /* of "hello\n", git hash-object's */
#define BLOB(mode, path) mode " blob " OID "\t" path "\0"

static int find(const char *listing, size_t len, const char *path, size_t *count) {
    struct repository_files files = {0};
    struct err err = {0};
    int rc = repository_files_find(&files, listing, len, path, &err);
    *count = files.count;
    repository_files_finish(&files);
    return rc;
}

Test(repository, a_folder_gives_its_own_files) {
    static const char tree[] = BLOB("100644", "a/SKILL.md") BLOB("100755", "a/x/run.sh")
        BLOB("100644", "a/node_modules/y.js") BLOB("100644", "ab/z")
            BLOB("120000", "b/link");
    size_t count;
    cr_expect(zero(int, find(tree, sizeof tree - 1, "", &count)));
    cr_expect(eq(sz, count, 2));
    cr_expect(zero(int, find(tree, sizeof tree - 1, "a", &count)));
    cr_expect(eq(sz, count, 2));
    cr_expect(eq(int, find(tree, sizeof tree - 1, "ab", &count), -ENOENT));
    cr_expect(eq(int, find(tree, sizeof tree - 1, "b", &count), -EINVAL));
}

Test(repository, links_other_repositories_and_odd_names_are_refused) {
    static const char *const odd[] = {
        "120000 blob " OID "\tlink", "160000 commit " OID "\tother",
        "100644 blob " OID "\t../x", "100644 blob " OID "\ta//b",
        "100644 blob " OID "\t\xFF"};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        autobuf tree = BUF_INIT(4096);
        size_t count;
        buf_add(&tree, BLOB("100644", "SKILL.md"),
                sizeof(BLOB("100644", "SKILL.md")) - 1);
        buf_add(&tree, odd[i], strlen(odd[i]) + 1);
        cr_expect(eq(int, find(tree.data, tree.len, "", &count), -EINVAL), "%s", odd[i]);
    }
}

/* However Git's answer is cut, nothing is read behind it and a cut file is not written.
 */
Test(repository, cut_answers_are_errors_or_fewer_files) {
    static const char tree[] = BLOB("100644", "SKILL.md") BLOB("100644", "x");
    static const char blobs[] = OID " blob 6\nhello\n\n" OID " blob 6\nhello\n\n";
    struct repository_files files = {0};
    struct err err = {0};
    size_t count;
    for (size_t len = 0; len < sizeof tree - 1; len++) {
        autofree char *cut = xmalloc(len + 1);
        memcpy(cut, tree, len);
        int rc = find(cut, len, "", &count);
        cr_expect(rc == -ENOENT || (rc == 0 && count < 2), "%zu", len);
    }
    cr_assert(zero(int, repository_files_find(&files, tree, sizeof tree - 1, "", &err)));
    autofree char *room = dir_make_temporary("repository-test", &err);
    for (size_t len = 0; len <= sizeof blobs - 1; len++) {
        autobuf text = BUF_INIT(4096);
        buf_add(&text, blobs, len);
        int rc = repository_files_write(&files, &text, room, &err);
        cr_expect(eq(int, rc, len == sizeof blobs - 1 ? 0 : -EIO), "%zu", len);
    }
    repository_files_finish(&files);
    dir_remove(room, NULL);
}
