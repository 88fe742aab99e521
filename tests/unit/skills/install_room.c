#include "install_room.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "skills/format/skill.h"
#include "skills/install/agents.h"
#include "skills/install/install.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char top[64];
char root[80];

void put(const char *path, const char *text) {
    autofree char *folder = xstrdup(path);
    char *slash = strrchr(folder, '/');
    struct err err = {0};
    if (slash) {
        *slash = '\0';
        cr_assert(zero(int, dir_make(folder, 0755, &err)), "%s", err.msg);
    }
    FILE *f = fopen(path, "w");
    cr_assert(f != NULL, "%s", path);
    fputs(text, f);
    fclose(f);
}

bool holds(const char *path, const char *text) {
    autobuf got = BUF_INIT(1u << 20);
    return file_read(path, &got, NULL) == 0 && strcmp(got.data, text) == 0;
}

bool there(const char *path) {
    struct stat st;
    return lstat(path, &st) == 0;
}

size_t count_entries(const char *path) {
    DIR *dir = opendir(path);
    size_t n = 0;
    while (dir && readdir(dir)) {
        n++;
    }
    closedir(dir);
    return n - 2;
}

void make_world(void) {
    strcpy(top, "/tmp/test-install-XXXXXX");
    cr_assert(mkdtemp(top) != NULL);
    cr_assert(zero(int, chdir(top)));
    snprintf(root, sizeof root, "%s/project", top);
    cr_assert(zero(int, mkdir(root, 0755)));
    autofree char *home = path_join(top, "home");
    cr_assert(zero(int, mkdir(home, 0755)));
    setenv("HOME", home, 1);
    unsetenv("XDG_CONFIG_HOME");
    unsetenv("XDG_STATE_HOME");
    unsetenv("CLAUDE_CONFIG_DIR");
    unsetenv("CODEX_HOME");
    put("source/demo/SKILL.md", SKILL_MD("one"));
    put("source/demo/references/deep/notes.md", "notes one\n");
    put("source/demo/scripts/run.sh", "#!/bin/sh\necho one\n");
    cr_assert(zero(int, chmod("source/demo/scripts/run.sh", 0700)));
}

void drop_world(void) {
    struct err err = {0};
    cr_assert(zero(int, chdir("/")));
    cr_assert(zero(int, dir_remove(top, &err)), "%s", err.msg);
}

json_t *ask(struct wish wish, const char *const *names) {
    struct agents agents = {0};
    struct skill skill = {0};
    struct err err = {0};
    autofree char *source = path_join(top, wish.source ? wish.source : "source/demo");
    cr_assert(zero(int, agents_load(&agents, &err)), "%s", err.msg);
    if (!wish.remove) {
        cr_assert(zero(int, skill_open(&skill, source, true, &err)), "%s", err.msg);
    }
    struct install_request request = {.skill = wish.remove ? NULL : &skill,
                                      .name = wish.name ? wish.name : "demo",
                                      .agents = names,
                                      .scope = wish.scope ? wish.scope : "project",
                                      .root = wish.root ? wish.root : root,
                                      .source = "test",
                                      .force = wish.force};
    size_t descriptors = count_entries("/proc/self/fd");
    json_t *results = wish.remove ? uninstall_skill(&agents, &request)
                                  : install_skill(&agents, &request);
    cr_expect(eq(sz, count_entries("/proc/self/fd"), descriptors));
    if (!wish.remove) {
        skill_finish(&skill);
    }
    agents_finish(&agents);
    return results;
}

const char *field(const json_t *results, size_t i, const char *key) {
    return json_get_string(json_array_get(results, i), key, "");
}

const char *ask_one(struct wish wish) {
    static char text[128];
    autojson *results = ask(wish, CLAUDE);
    cr_assert(eq(sz, json_array_size(results), (size_t)1));
    const char *reason = field(results, 0, "reason");
    snprintf(text, sizeof text, "%s%s%.*s", field(results, 0, "outcome"),
             reason[0] ? " " : "", (int)strcspn(reason, ":"), reason);
    return text;
}

void expect_one_installed(const char *word) {
    autofree char *skill_md =
        xasprintf("---\nname: demo\ndescription: A demo %s.\n---\n\n# Demo\n", word);
    autofree char *notes = xasprintf("notes %s\n", word);
    struct stat st;
    cr_expect(holds(TARGET "/demo/SKILL.md", skill_md));
    cr_expect(holds(TARGET "/demo/references/deep/notes.md", notes));
    cr_expect(zero(int, stat(TARGET "/demo/scripts/run.sh", &st)));
    cr_expect(eq(u32, st.st_mode & 07777, 0755));
    cr_expect(zero(int, stat(TARGET "/demo/SKILL.md", &st)));
    cr_expect(eq(u32, st.st_mode & 07777, 0644));
    cr_expect(zero(int, stat(TARGET "/demo/references", &st)));
    cr_expect(eq(u32, st.st_mode & 07777, 0755));
    /* The skill, the lock and the record; no leftovers. */
    cr_expect(eq(sz, count_entries(TARGET), (size_t)3));
}

void make_version_two(void) {
    put("source/demo/SKILL.md", SKILL_MD("two"));
    put("source/demo/references/deep/notes.md", "notes two\n");
}
