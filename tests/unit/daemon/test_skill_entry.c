/* What Skills over MCP show of a folder is the skill, and nothing besides. */
#include "base/file.h"
#include "daemon/skill_entry.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64], skill[96];

static void put(const char *rel, const char *text) {
    struct root root;
    cr_assert(zero(int, root_open(&root, folder, NULL)));
    cr_assert(zero(int, root_write(&root, rel, text, strlen(text), 0644, NULL)));
    root_close(&root);
}

static void make_skill(void) {
    char path[160];
    strcpy(folder, "/tmp/test-entry-XXXXXX");
    cr_assert(mkdtemp(folder) != NULL);
    snprintf(skill, sizeof skill, "%s/s", folder);
    put("secret", "secret");
    put("other/file", "elsewhere");
    put("s/SKILL.md", "---\nname: s\ndescription: A skill.\n---\n");
    put("s/a/b c.md", "text");
    snprintf(path, sizeof path, "%s/link", skill);
    cr_assert(zero(int, symlink("../secret", path)));
    snprintf(path, sizeof path, "%s/folder", skill);
    cr_assert(zero(int, symlink("../other", path)));
    snprintf(path, sizeof path, "%s/pipe", skill);
    cr_assert(zero(int, mkfifo(path, 0644)));
}

static void drop_skill(void) {
    dir_remove(folder, NULL);
}

TestSuite(skill_entry, .init = make_skill, .fini = drop_skill);

Test(skill_entry, no_path_leads_out_of_the_skill) {
    static const char *const paths[] = {"..",
                                        "../secret",
                                        "a/../../secret",
                                        "/etc/passwd",
                                        "//etc/passwd",
                                        "link",
                                        "folder/file",
                                        "pipe",
                                        "a",
                                        "",
                                        "a//b c.md",
                                        "./SKILL.md",
                                        "a/b c.md/",
                                        "SKILL.md/../a",
                                        "no"};
    for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
        json_t *result = NULL;
        autofree char *stamp = skill_entry_stamp(skill, paths[i]);
        cr_expect(stamp == NULL, "stamp of %s", paths[i]);
        cr_expect(lt(int, skill_entry_file("u", skill, paths[i], &result, NULL), 0), "%s",
                  paths[i]);
    }
    static const char *const files[] = {"SKILL.md", "a/b c.md"};
    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        autojson *result = NULL;
        autofree char *stamp = skill_entry_stamp(skill, files[i]);
        cr_expect(stamp != NULL, "stamp of %s", files[i]);
        cr_expect(zero(int, skill_entry_file("u", skill, files[i], &result, NULL)));
    }
}

Test(skill_entry, uris_hide_no_slash_and_no_end) {
    static const char *const uris[] = {
        "skill://",       "skill://x",         "skill:///x/y",
        "skill://x//y",   "skill://x/y/a%2fb", "skill://x/y/%00",
        "skill://x/y/%4", "skill://x/y/%zz",   "http://x/y/z"};
    for (size_t i = 0; i < ARRAY_LEN(uris); i++) {
        struct skill_uri u;
        cr_expect(lt(int, skill_uri_split(&u, uris[i], NULL), 0), "%s", uris[i]);
    }
    struct skill_uri u;
    char base[] = "skill://x/y", rest[] = "a/b c.md";
    cr_assert(zero(int, skill_uri_split(&u, "skill://x/y/a/b%20c.md", NULL)));
    cr_expect(eq(str, u.base, base));
    cr_expect(eq(str, u.rest, rest));
    skill_uri_finish(&u);
}
