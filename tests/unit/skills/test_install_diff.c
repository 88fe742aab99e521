/* What is said of a difference, to somebody who is to decide about it. */
#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "install_room.h"
#include "skills/install/install_diff.h"
#include "skills/install/install_tree.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

TestSuite(install_diff, .init = make_world, .fini = drop_world);

/* --- of texts and folders --- */

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
Test(install_diff, of_many_changes_the_ends_are_none) {
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

Test(install_diff, what_is_no_short_text_is_named_alone) {
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
Test(install_diff, a_hundred_lines_are_shown_and_the_rest_counted) {
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

Test(install_diff, files_that_end_one_side_are_named) {
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
            removed ? "would be removed (-1 +0 line)" : "new (-0 +1 line)";
        autofree char *want = xasprintf("m.txt: %s\nx.txt: %s\ny.txt: %s\nz.txt: %s\n\n",
                                        what, what, what, what);
        cr_expect(strncmp(diff, want, strlen(want)) == 0, "%s", diff);
        dir_remove("now", NULL);
        dir_remove("then", NULL);
    }
}

Test(install_diff, a_difference_of_texts_is_that_of_diff) {
    static const struct {
        const char *was, *now, *diff;
    } cases[] = {
        {"a\n", "a\n", NULL},
        {"a\n", "b\n", "@@ -1,1 +1,1 @@\n-a\n+b\n"},
        {"a\nb\nc\nd\ne\nf\n", "a\nb\nc\nd\nx\nf\n",
         "@@ -2,5 +2,5 @@\n b\n c\n d\n-e\n+x\n f\n"},
        {"", "a\n", "@@ -0,0 +1,1 @@\n+a\n"},
        {"a\nb\n", "", "@@ -1,2 +0,0 @@\n-a\n-b\n"},
        /* One begins and ends as the other does, with no line for both. */
        {"a\n", "a\nb\na\n", "@@ -1,1 +1,3 @@\n a\n+b\n+a\n"},
        {"a\nb\na\n", "a\n", "@@ -1,3 +1,1 @@\n a\n-b\n-a\n"},
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

Test(install_diff, a_difference_of_folders_names_each_file_once) {
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
                 "a.txt: would change\nb.txt: would be removed (-1 +0 line)\n"
                 "c.txt: new (-0 +1 line)\nrun.sh: would change\n\n"
                 "--- installed/a.txt\n+++ new/a.txt\n(binary)\n"
                 "--- installed/b.txt\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-gone\n"
                 "--- /dev/null\n+++ new/c.txt\n@@ -0,0 +1,1 @@\n+came\n"
                 "--- installed/run.sh\n+++ new/run.sh\n(mode 644, new 755)\n"));
}

Test(install_diff, of_many_files_that_differ_twenty_are_named) {
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
        cr_expect(strstr(diff, "\nf19: new (-0 +1 line)\n") &&
                  !strstr(diff, "f20: new"));
    }
}

Test(install_diff, what_was_changed_since_is_said_file_by_file) {
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

/* --- in a refusal --- */

Test(install_diff, a_diff_is_bounded_cleaned_and_cut_at_a_line) {
    autobuf text = BUF_INIT(1u << 20);
    buf_adds(&text, SKILL_MD("big"));
    for (int i = 0; i < 3000; i++) {
        buf_addf(&text, "line %d \033]0;title\007 \xe2\x80\xae\n", i * 7);
    }
    put(TARGET "/demo/SKILL.md", text.data);
    put(TARGET "/demo/scripts/run.sh", "\xff\xfe");
    autojson *results = ask((struct wish){0}, CLAUDE);
    const char *diff = field(results, 0, "diff");
    cr_expect(gt(sz, strlen(diff), (size_t)1000));
    cr_expect(le(sz, strlen(diff), (size_t)8192));
    cr_expect(strchr(diff, '\033') == NULL && strstr(diff, "\xe2\x80\xae") == NULL);
}

/* What a person looks at before they force: which files, how much of each, then the first
 * hundred lines, and how many there are besides. */
Test(install_diff, a_diff_begins_with_its_files_and_ends_with_what_is_not_shown) {
    autobuf text = BUF_INIT(1u << 20);
    buf_adds(&text, SKILL_MD("one"));
    for (int i = 0; i < 250; i++) {
        buf_addf(&text, "mine %d\n", i);
    }
    put(TARGET "/demo/SKILL.md", text.data);
    put(TARGET "/demo/own.txt", "a\nb\n");
    autojson *results = ask((struct wish){0}, CLAUDE);
    const char *diff = field(results, 0, "diff");
    cr_expect(strstr(diff, "SKILL.md: would change (-250 +0 lines)\n") == diff, "%s",
              diff);
    cr_expect(strstr(diff, "\nown.txt: would be removed (-2 +0 lines)\n") != NULL);
    cr_expect(strstr(diff, "\nscripts/run.sh: new (-0 +2 lines)\n") != NULL);
    autofree char *lines = xstrdup(diff);
    size_t count = 0;
    for (char *save, *line = strtok_r(lines, "\n", &save); line;
         line = strtok_r(NULL, "\n", &save)) {
        count++;
    }
    cr_expect(le(sz, count, (size_t)110), "%zu lines", count);
    /* of SKILL.md: two lines of names, one of the hunk, 3 around it, 250; own.txt 5;
     * references/x.md and scripts/run.sh in full */
    const char *more = strstr(diff, " more lines not shown");
    cr_assert(more != NULL, "%s", diff);
    while (more[-1] != '(') {
        more--;
    }
    cr_expect(ge(int, atoi(more), 256 + 5 + 5 - 100), "%s", more);
    cr_expect(le(int, atoi(more), 256 + 5 + 20 - 100), "%s", more);
}

/* patch(1) is the judge. */
Test(install_diff, a_diff_turns_what_is_there_into_what_was_asked_for) {
    unsigned state = 7;
    for (int round = 0; round < 30; round++) {
        autobuf is = BUF_INIT(1u << 16), shall = BUF_INIT(1u << 16);
        buf_adds(&is, SKILL_MD("x"));
        buf_adds(&shall, SKILL_MD("x"));
        for (int i = 0; i < 60; i++) {
            state = state * 1103515245 + 12345;
            unsigned dice = (state >> 16) % 16;
            if (dice != 0) {
                buf_addf(&is, "line %u\n", (state >> 20) % 5);
            }
            if (dice != 1) {
                buf_addf(&shall, dice == 2 ? "new %u\n" : "line %u\n", (state >> 20) % 5);
            }
        }
        buf_adds(&is, round % 3 ? "end\n" : "end");
        buf_adds(&shall, round % 2 ? "end\n" : "end");
        put(TARGET "/demo/SKILL.md", is.data);
        put("source/demo/SKILL.md", shall.data);
        autojson *results = ask((struct wish){0}, CLAUDE);
        put("diff", field(results, 0, "diff"));
        cr_assert(zero(int, system("sed -n '/^--- installed.SKILL.md/,/^--- .dev/p' diff "
                                   "| sed '/^--- .dev/,$d' > patch && cp " TARGET
                                   "/demo/SKILL.md patched && (test -s patch || true) && "
                                   "patch -s patched patch")));
        cr_expect(holds("patched", shall.data), "round %d: %s", round,
                  field(results, 0, "diff"));
    }
}
