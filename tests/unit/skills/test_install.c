#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/work_stop.h"
#include "skills/format/skill.h"
#include "skills/install/agents.h"
#include "skills/install/install.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A home, a project and a source folder of skills, all in one temporary folder that is
 * the working directory. */
static char top[64];
static char root[80];

static void put(const char *path, const char *text) {
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

static bool holds(const char *path, const char *text) {
    autobuf got = BUF_INIT(1u << 20);
    return file_read(path, &got, NULL) == 0 && strcmp(got.data, text) == 0;
}

static bool there(const char *path) {
    struct stat st;
    return lstat(path, &st) == 0;
}

static size_t count_entries(const char *path) {
    DIR *dir = opendir(path);
    size_t n = 0;
    while (dir && readdir(dir)) {
        n++;
    }
    closedir(dir);
    return n - 2;
}

#define SKILL_MD(word) "---\nname: demo\ndescription: A demo " word ".\n---\n\n# Demo\n"

static void make_world(void) {
    strcpy(top, "/tmp/test-install-XXXXXX");
    cr_assert(mkdtemp(top) != NULL);
    cr_assert(zero(int, chdir(top)));
    snprintf(root, sizeof root, "%s/project", top);
    cr_assert(zero(int, mkdir(root, 0755)));
    autofree char *home = path_join(top, "home");
    cr_assert(zero(int, mkdir(home, 0755)));
    setenv("HOME", home, 1);
    unsetenv("XDG_CONFIG_HOME");
    unsetenv("CLAUDE_CONFIG_DIR");
    unsetenv("CODEX_HOME");
    put("source/demo/SKILL.md", SKILL_MD("one"));
    put("source/demo/references/deep/notes.md", "notes one\n");
    put("source/demo/scripts/run.sh", "#!/bin/sh\necho one\n");
    cr_assert(zero(int, chmod("source/demo/scripts/run.sh", 0700)));
}

static void drop_world(void) {
    struct err err = {0};
    cr_assert(zero(int, chdir("/")));
    cr_assert(zero(int, dir_remove(top, &err)), "%s", err.msg);
}

TestSuite(install, .init = make_world, .fini = drop_world);

struct wish {
    const char *source, *scope, *root, *name;
    bool force, remove;
};

/* One result per agent, as the operation would give them. */
static json_t *ask(struct wish wish, const char *const *names) {
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

#define CLAUDE ((const char *const[]){"claude-code", NULL})
#define TARGET "project/.claude/skills"

static const char *field(const json_t *results, size_t i, const char *key) {
    return json_get_string(json_array_get(results, i), key, "");
}

/* "outcome" or "outcome reason" of the first result; the reason's first word. */
static const char *ask_one(struct wish wish) {
    static char text[128];
    autojson *results = ask(wish, CLAUDE);
    cr_assert(eq(sz, json_array_size(results), (size_t)1));
    const char *reason = field(results, 0, "reason");
    snprintf(text, sizeof text, "%s%s%.*s", field(results, 0, "outcome"),
             reason[0] ? " " : "", (int)strcspn(reason, ":"), reason);
    return text;
}

static void expect_one_installed(const char *word) {
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

static void make_version_two(void) {
    put("source/demo/SKILL.md", SKILL_MD("two"));
    put("source/demo/references/deep/notes.md", "notes two\n");
}

Test(install, a_skill_is_installed_found_unchanged_updated_and_removed) {
    umask(077);
    cr_expect(eq(str, (char *)ask_one((struct wish){0}), "installed"));
    expect_one_installed("one");
    cr_expect(eq(str, (char *)ask_one((struct wish){0}), "unchanged"));
    make_version_two();
    cr_expect(eq(str, (char *)ask_one((struct wish){0}), "updated"));
    expect_one_installed("two");
    cr_expect(eq(str, (char *)ask_one((struct wish){.remove = true}), "removed"));
    cr_expect(zero(sz, count_entries(TARGET)));
    cr_expect(
        eq(str, (char *)ask_one((struct wish){.remove = true}), "refused not_installed"));
}

/* The digest of SKILL.md is sha256sum's. */
Test(install, the_record_says_what_was_installed) {
    cr_expect(eq(str, (char *)ask_one((struct wish){0}), "installed"));
    autobuf text = BUF_INIT(1u << 16);
    cr_assert(zero(int, file_read(TARGET "/.upskilld-lock.json", &text, NULL)));
    autojson *record = json_loads(text.data, 0, NULL);
    const json_t *entry = json_object_get(json_object_get(record, "skills"), "demo");
    cr_expect(eq(i64, json_get_integer(record, "version", 0), 1));
    cr_expect(eq(sz, json_object_size(json_object_get(entry, "files")), (size_t)3));
    FILE *sum = popen("sha256sum " TARGET "/demo/SKILL.md", "r");
    char hex[65] = "";
    cr_assert(eq(int, fscanf(sum, "%64s", hex), 1));
    pclose(sum);
    autofree char *want = xasprintf("sha256:%s", hex);
    cr_expect(eq(str,
                 (char *)json_get_string(json_object_get(entry, "files"), "SKILL.md", ""),
                 want));
    cr_expect(eq(str, (char *)json_get_string(entry, "source", ""), "test"));
    cr_expect(eq(sz, strlen(json_get_string(entry, "installed_at", "")), (size_t)24));
    cr_expect(json_object_get(entry, "previous") == NULL);
}

Test(install, agents_that_share_a_folder_get_one_copy_and_a_result_each) {
    static const char *const names[] = {"codex",         "claude-code", "cursor",
                                        "no-such-agent", "opencode",    NULL};
    autojson *results = ask((struct wish){0}, names);
    static const char *const outcomes[] = {"installed", "installed", "installed",
                                           "refused", "installed"};
    for (size_t i = 0; i < ARRAY_LEN(outcomes); i++) {
        cr_expect(eq(str, (char *)field(results, i, "agent"), (char *)names[i]));
        cr_expect(eq(str, (char *)field(results, i, "outcome"), (char *)outcomes[i]));
    }
    cr_expect(strstr(field(results, 3, "reason"), "unknown_agent") != NULL);
    cr_expect(
        eq(str, (char *)field(results, 0, "path"), (char *)field(results, 2, "path")));
    cr_expect(there("project/.agents/skills/demo/SKILL.md"));
    /* The folder stays while an agent uses it that was installed for and not named now.
     */
    static const char *const first[] = {"codex", NULL}, *const all[] = {"codex", "cursor",
                                                                        "opencode", NULL};
    autojson *kept = ask((struct wish){.remove = true}, first);
    cr_expect(strstr(field(kept, 0, "reason"), "shared:") != NULL);
    autojson *gone = ask((struct wish){.remove = true}, all);
    for (size_t i = 0; i < 3; i++) {
        cr_expect(eq(str, (char *)field(gone, i, "outcome"), "removed"));
    }
    cr_expect(not(there("project/.agents/skills/demo")));
}

Test(install, what_is_not_ours_is_refused_with_a_diff_unless_forced) {
    put(TARGET "/demo/SKILL.md", SKILL_MD("by hand"));
    put(TARGET "/demo/own.txt", "mine\n");
    autojson *results = ask((struct wish){0}, CLAUDE);
    cr_expect(eq(str, (char *)field(results, 0, "outcome"), "refused"));
    cr_expect(
        eq(str, (char *)field(results, 0, "reason"),
           "conflict: demo exists and was not installed by upskilld; force replaces "
           "it"));
    autofree char *path = path_join(root, ".claude/skills/demo");
    cr_expect(eq(str, (char *)field(results, 0, "path"), path));
    const char *diff = field(results, 0, "diff");
    static const char *const lines[] = {
        "--- installed/SKILL.md\n+++ new/SKILL.md\n@@ -1,6 +1,6 @@\n ---\n name: demo\n"
        "-description: A demo by hand.\n+description: A demo one.\n ---\n \n # Demo\n",
        "--- installed/own.txt\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-mine\n",
        "--- /dev/null\n+++ new/scripts/run.sh\n@@ -0,0 +1,2 @@\n+#!/bin/sh\n+echo "
        "one\n"};
    for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
        cr_expect(strstr(diff, lines[i]) != NULL, "%s", diff);
    }
    cr_expect(holds(TARGET "/demo/own.txt", "mine\n"));
    cr_expect(
        eq(str, (char *)ask_one((struct wish){.remove = true}), "refused conflict"));
    cr_expect(eq(str, (char *)ask_one((struct wish){.force = true}), "updated"));
    expect_one_installed("one");
    cr_expect(not(there(TARGET "/demo/own.txt")));
}

Test(install, what_was_changed_since_is_refused_for_update_and_removal) {
    static const struct {
        const char *path, *text, *says;
    } changes[] = {
        {TARGET "/demo/SKILL.md", SKILL_MD("edited"), "changed: SKILL.md"},
        {TARGET "/demo/new.md", "new\n", "added: new.md"},
        {TARGET "/demo/references/deep/notes.md", NULL,
         "missing: references/deep/notes.md"},
    };
    for (size_t i = 0; i < ARRAY_LEN(changes); i++) {
        cr_expect(strncmp(ask_one((struct wish){.force = true}), "refused", 7) != 0);
        if (changes[i].text) {
            put(changes[i].path, changes[i].text);
        } else {
            unlink(changes[i].path);
        }
        cr_expect(eq(str, (char *)ask_one((struct wish){0}), "refused conflict"));
        autojson *results = ask((struct wish){.remove = true}, CLAUDE);
        cr_expect(strstr(field(results, 0, "reason"), "changed since") != NULL);
        cr_expect(strstr(field(results, 0, "diff"), changes[i].says) != NULL, "%s",
                  field(results, 0, "diff"));
    }
    cr_expect(eq(str, (char *)ask_one((struct wish){.remove = true, .force = true}),
                 "removed"));
    cr_expect(not(there(TARGET "/demo")));
}

Test(install, what_running_a_script_leaves_behind_is_no_change) {
    ask_one((struct wish){0});
    put(TARGET "/demo/scripts/__pycache__/x.pyc", "bytes");
    cr_expect(eq(str, (char *)ask_one((struct wish){0}), "unchanged"));
    make_version_two();
    cr_expect(eq(str, (char *)ask_one((struct wish){0}), "updated"));
}

Test(install, the_same_content_by_hand_is_taken_into_the_record) {
    cr_assert(zero(int, system("mkdir -p " TARGET " && cp -r source/demo " TARGET)));
    cr_expect(eq(str, (char *)ask_one((struct wish){0}), "unchanged"));
    make_version_two();
    cr_expect(eq(str, (char *)ask_one((struct wish){0}), "updated"));
}

/* What is recorded of the skill: a new reference. */
static json_t *record_read(void) {
    autojson *record = json_load_file(TARGET "/.upskilld-lock.json", 0, NULL);
    return json_incref(json_object_get(json_object_get(record, "skills"), "demo"));
}

/* A record that an interrupted update left behind, or that somebody wrote. */
Test(install, what_is_there_as_asked_for_is_recorded_once) {
    static const char *const strange[][2] = {{"previous", "sha256:0"},
                                             {"digest", "sha256:0"}};
    struct stat before, after;
    ask_one((struct wish){0});
    autojson *sound = record_read();
    stat(TARGET "/.upskilld-lock.json", &before);
    cr_expect(eq(str, (char *)ask_one((struct wish){0}), "unchanged"));
    stat(TARGET "/.upskilld-lock.json", &after);
    cr_expect(before.st_ino == after.st_ino, "the record was right and stays");
    for (size_t i = 0; i < ARRAY_LEN(strange); i++) {
        autojson *entry = json_copy(sound);
        json_object_set_new(entry, strange[i][0], json_string(strange[i][1]));
        autojson *whole =
            json_pack("{s:i, s:{s:O}}", "version", 1, "skills", "demo", entry);
        autofree char *text = json_dumps(whole, 0);
        put(TARGET "/.upskilld-lock.json", text);
        cr_expect(eq(str, (char *)ask_one((struct wish){0}), "unchanged"));
        autojson *now = record_read();
        cr_expect(eq(str, (char *)(uintptr_t)json_get_string(now, "digest", ""),
                     (char *)(uintptr_t)json_get_string(sound, "digest", "-")));
        cr_expect(json_object_get(now, "previous") == NULL);
        cr_expect(
            json_equal(json_object_get(now, "files"), json_object_get(sound, "files")));
    }
    json_object_set_new(sound, "agents", json_pack("[s]", "codex"));
    autojson *whole = json_pack("{s:i, s:{s:O}}", "version", 1, "skills", "demo", sound);
    autofree char *text = json_dumps(whole, 0);
    put(TARGET "/.upskilld-lock.json", text);
    cr_expect(eq(str, (char *)ask_one((struct wish){0}), "unchanged"));
    autojson *agents = json_pack("[s, s]", "codex", "claude-code");
    autojson *now = record_read();
    cr_expect(json_equal(json_object_get(now, "agents"), agents));
}

Test(install, folders_are_made_for_everybody_to_read) {
    struct stat st;
    umask(002);
    ask_one((struct wish){0});
    cr_assert(zero(int, stat("project/.claude", &st)));
    cr_expect(eq(u32, st.st_mode & 07777, 0755));
    cr_assert(zero(int, stat(TARGET, &st)));
    cr_expect(eq(u32, st.st_mode & 07777, 0755));
    cr_expect(eq(str, (char *)ask_one((struct wish){.scope = "user"}), "installed"));
    cr_assert(zero(int, stat("home/.claude/skills", &st)));
    cr_expect(eq(u32, st.st_mode & 07777, 0755));
}

Test(install, no_link_leads_out_of_the_project) {
    static const char *const links[] = {"../home", "/tmp", "../../../../../../etc",
                                        "/etc/passwd"};
    for (size_t i = 0; i < ARRAY_LEN(links); i++) {
        cr_assert(zero(int, symlink(links[i], "project/.claude")));
        cr_expect(eq(str, (char *)ask_one((struct wish){0}), "refused unsafe_path"));
        cr_assert(zero(int, unlink("project/.claude")));
    }
    mkdir("project/.claude", 0755);
    cr_assert(zero(int, symlink("../../home", "project/.claude/skills")));
    cr_expect(eq(str, (char *)ask_one((struct wish){0}), "refused unsafe_path"));
    cr_expect(zero(sz, count_entries("home")));
    /* One that stays inside is somebody's way to share a folder. */
    unlink("project/.claude/skills");
    mkdir("project/common", 0755);
    cr_assert(zero(int, symlink("../common", "project/.claude/skills")));
    cr_expect(eq(str, (char *)ask_one((struct wish){0}), "installed"));
    cr_expect(there("project/common/demo/SKILL.md"));
}

Test(install, a_home_folder_that_is_a_link_is_the_users_choice) {
    mkdir("home/dotfiles", 0755);
    cr_assert(zero(int, symlink("dotfiles", "home/.claude")));
    cr_expect(eq(str, (char *)ask_one((struct wish){.scope = "user"}), "installed"));
    cr_expect(there("home/dotfiles/skills/demo/SKILL.md"));
}

Test(install, links_at_the_names_we_write_are_never_followed) {
    put("home/precious/SKILL.md", "precious");
    cr_assert(zero(int, mkdir("project/.claude", 0755)));
    cr_assert(zero(int, mkdir(TARGET, 0755)));
    cr_assert(zero(int, symlink("../../../home/precious", TARGET "/demo")));
    autojson *results = ask((struct wish){0}, CLAUDE);
    cr_expect(eq(str, (char *)field(results, 0, "reason"),
                 "conflict: demo exists and is a link; force replaces it"));
    autojson *removal = ask((struct wish){.remove = true}, CLAUDE);
    cr_expect(eq(str, (char *)field(removal, 0, "reason"),
                 "conflict: demo exists and is a link; force removes it"));
    cr_expect(eq(str, (char *)ask_one((struct wish){.remove = true, .force = true}),
                 "removed"));
    cr_expect(holds("home/precious/SKILL.md", "precious"));
    cr_assert(zero(int, symlink("../../../home/precious", TARGET "/demo")));
    cr_expect(eq(str, (char *)ask_one((struct wish){.force = true}), "updated"));
    expect_one_installed("one");
    cr_expect(holds("home/precious/SKILL.md", "precious"));
    /* The lock and the record. */
    make_version_two();
    unlink(TARGET "/.upskilld-lock");
    cr_assert(
        zero(int, symlink("../../../home/precious/SKILL.md", TARGET "/.upskilld-lock")));
    cr_expect(eq(str, (char *)ask_one((struct wish){0}), "refused unsafe_path"));
    unlink(TARGET "/.upskilld-lock");
    unlink(TARGET "/.upskilld-lock.json");
    cr_assert(zero(
        int, symlink("../../../home/precious/SKILL.md", TARGET "/.upskilld-lock.json")));
    cr_expect(
        eq(str, (char *)ask_one((struct wish){.force = true}), "updated lock_rebuilt"));
    unlink(TARGET "/.upskilld-lock");
    cr_assert(zero(int, mkfifo(TARGET "/.upskilld-lock", 0644)));
    cr_expect(eq(str, (char *)ask_one((struct wish){0}), "refused unsafe_path"));
    cr_expect(holds("home/precious/SKILL.md", "precious"));
    cr_expect(eq(sz, count_entries("home/precious"), (size_t)1));
}

Test(install, a_link_inside_the_installed_skill_is_a_change_and_is_not_followed) {
    put("home/precious.txt", "precious");
    ask_one((struct wish){0});
    cr_assert(zero(int, symlink("../../../../home", TARGET "/demo/scripts/out")));
    cr_expect(
        eq(str, (char *)ask_one((struct wish){.remove = true}), "refused conflict"));
    cr_expect(eq(str, (char *)ask_one((struct wish){.remove = true, .force = true}),
                 "removed"));
    cr_expect(holds("home/precious.txt", "precious"));
}

Test(install, force_removes_nothing_that_is_no_skill) {
    put(TARGET "/demo/thesis.tex", "three years\n");
    cr_expect(eq(str, (char *)ask_one((struct wish){.remove = true, .force = true}),
                 "refused conflict"));
    cr_expect(holds(TARGET "/demo/thesis.tex", "three years\n"));
}

Test(install, names_that_are_no_names_are_refused_and_nothing_is_written) {
    static const char *const names[] = {
        "../x",
        "..",
        ".",
        "",
        "a/b",
        "/etc",
        "-a",
        "a-",
        "a--b",
        "Demo",
        "a b",
        "demo\n",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        cr_expect(eq(str,
                     (char *)ask_one((struct wish){.remove = true, .name = names[i]}),
                     "refused name_invalid"),
                  "%s", names[i]);
    }
    static const char *const bad[] = {"../x", "Demo", "", "a/b", "demo\\n"};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        autofree char *text =
            xasprintf("---\nname: \"%s\"\ndescription: x\n---\n", bad[i]);
        put("source/bad/SKILL.md", text);
        cr_expect(eq(str, (char *)ask_one((struct wish){.source = "source/bad"}),
                     "refused name_invalid"),
                  "%s", bad[i]);
    }
    cr_expect(zero(sz, count_entries("project")));
    cr_expect(zero(sz, count_entries("home")));
}

Test(install, folders_that_do_not_exist_have_a_reason) {
    static const char *const eve[] = {"eve", NULL};
    autojson *results = ask((struct wish){.scope = "user"}, eve);
    cr_expect(strstr(field(results, 0, "reason"), "no_user_folder:") != NULL);
    cr_expect(eq(str, (char *)ask_one((struct wish){.root = "/no/such/folder"}),
                 "refused no_project_folder"));
    cr_expect(eq(str, (char *)ask_one((struct wish){.root = "relative"}),
                 "refused no_project_folder"));
    cr_expect(eq(str, (char *)ask_one((struct wish){.scope = "galaxy"}),
                 "refused scope_invalid"));
    cr_expect(
        eq(str, (char *)ask_one((struct wish){.remove = true}), "refused not_installed"));
    put("project/.claude", "a file in the way");
    cr_expect(eq(str, (char *)ask_one((struct wish){0}), "refused unsafe_path"));
}

Test(install, a_skill_with_refused_files_is_not_installed_in_part) {
    cr_assert(zero(int, symlink("/etc/passwd", "source/demo/references/users.md")));
    cr_expect(eq(str, (char *)ask_one((struct wish){0}), "refused unsafe_path"));
    cr_expect(not(there(TARGET "/demo")));
}

Test(install, a_source_that_changes_after_it_was_read_is_refused) {
    struct agents agents = {0};
    struct skill skill = {0};
    struct err err = {0};
    autofree char *source = path_join(top, "source/demo");
    cr_assert(zero(int, agents_load(&agents, &err)));
    static const char *const after[] = {"notes two\n",
                                        "longer than what was read before\n", NULL};
    for (size_t i = 0; i < 4; i++) {
        cr_assert(zero(int, skill_open(&skill, source, true, &err)), "%s", err.msg);
        unlink("source/demo/references/deep/notes.md");
        if (i == 3) {
            cr_assert(zero(
                int, symlink("/etc/passwd", "source/demo/references/deep/notes.md")));
        } else if (after[i]) {
            put("source/demo/references/deep/notes.md", after[i]);
        }
        struct install_request request = {
            .skill = &skill, .agents = CLAUDE, .scope = "project", .root = root};
        autojson *results = install_skill(&agents, &request);
        cr_expect(strstr(field(results, 0, "reason"), "source_changed:") != NULL, "%s",
                  field(results, 0, "reason"));
        skill_finish(&skill);
        unlink("source/demo/references/deep/notes.md");
        put("source/demo/references/deep/notes.md", "notes one\n");
        cr_expect(zero(sz, count_entries(TARGET)));
    }
    agents_finish(&agents);
}

Test(install, a_full_disk_leaves_the_old_skill_and_no_leftovers) {
    cr_expect(eq(str, (char *)ask_one((struct wish){0}), "installed"));
    autofree char *big = xmalloc(200001);
    memset(big, 'x', 200000);
    big[200000] = '\0';
    put("source/demo/assets/big.txt", big);
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit limit = {100000, RLIM_INFINITY};
    cr_assert(zero(int, setrlimit(RLIMIT_FSIZE, &limit)));
    cr_expect(eq(str, (char *)ask_one((struct wish){0}), "refused no_space"));
    limit.rlim_cur = RLIM_INFINITY;
    cr_assert(zero(int, setrlimit(RLIMIT_FSIZE, &limit)));
    expect_one_installed("one");
    cr_expect(eq(str, (char *)ask_one((struct wish){0}), "updated"));
}

Test(install, a_read_only_folder_is_said_to_be_one) {
    if (geteuid() == 0) {
        cr_assert(zero(int, chmod(top, 0755)));
        cr_assert(zero(int, chmod("source/demo/scripts/run.sh", 0755)));
        cr_assert(zero(int, seteuid(65534)));
        cr_expect(eq(str, (char *)ask_one((struct wish){0}), "refused not_writable"));
        cr_assert(zero(int, seteuid(0)));
    } else {
        cr_assert(zero(int, chmod("project", 0555)));
        cr_expect(eq(str, (char *)ask_one((struct wish){0}), "refused not_writable"));
        cr_assert(zero(int, chmod("project", 0755)));
    }
    cr_expect(zero(sz, count_entries("project")));
}

/* renameat2 answers so on file systems without it, openat2 and it before their kernels.
 */
static void forbid(int number, int code) {
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)code),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {ARRAY_LEN(filter), filter};
    cr_assert(zero(int, prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)));
    cr_assert(zero(int, prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)));
}

Test(install, file_systems_without_exchange_and_kernels_without_openat2_do_as_well) {
    forbid(SYS_renameat2, EINVAL);
    forbid(SYS_openat2, ENOSYS);
    cr_expect(eq(str, (char *)ask_one((struct wish){0}), "installed"));
    make_version_two();
    cr_expect(eq(str, (char *)ask_one((struct wish){0}), "updated"));
    expect_one_installed("two");
    cr_expect(eq(str, (char *)ask_one((struct wish){.remove = true}), "removed"));
}

#define HEX "0123456789abcdef0123456789abcdef"

Test(install, cleaning_removes_what_dead_processes_left_and_nothing_else) {
    ask_one((struct wish){0});
    put(TARGET "/.upskilld-stage-" HEX "/SKILL.md", "half");
    put(TARGET "/.upskilld-stage-" HEX "/deep/er/x.md", "half");
    put(TARGET "/.upskilld-old-" HEX "-demo/SKILL.md", "old");
    put(TARGET "/.upskilld-old-" HEX "-lost/SKILL.md", "lost");
    put(TARGET "/.upskilld-stage-notes/mine.txt", "mine");
    put(TARGET "/.upskilld-old-" HEX "-../mine.txt", "mine");
    put("home/precious.txt", "precious");
    cr_assert(
        zero(int, symlink("../../../../home", TARGET "/.upskilld-stage-" HEX "/link")));
    install_clean(TARGET);
    cr_expect(not(there(TARGET "/.upskilld-stage-" HEX)));
    cr_expect(not(there(TARGET "/.upskilld-old-" HEX "-demo")));
    cr_expect(holds(TARGET "/lost/SKILL.md", "lost"));
    cr_expect(holds(TARGET "/.upskilld-stage-notes/mine.txt", "mine"));
    cr_expect(holds("home/precious.txt", "precious"));
    cr_expect(holds(TARGET "/demo/SKILL.md", SKILL_MD("one")));
    cr_expect(there(TARGET "/.upskilld-lock.json"));
}

Test(install, cleaning_leaves_a_living_process_alone) {
    put(TARGET "/.upskilld-stage-" HEX "/SKILL.md", "half");
    put(TARGET "/.upskilld-lock", "");
    int fd = open(TARGET "/.upskilld-lock", O_RDWR);
    cr_assert(zero(int, flock(fd, LOCK_EX)));
    install_clean(TARGET);
    cr_expect(there(TARGET "/.upskilld-stage-" HEX));
    close(fd);
    install_clean(TARGET);
    cr_expect(zero(sz, count_entries(TARGET)));
    install_clean("no/such/folder");
}

/* Another process holds the lock for longer than this would wait. */
Test(install, waiting_for_another_process_hears_that_nobody_wants_it_any_more) {
    atomic_bool stop = true;
    put(TARGET "/.upskilld-lock", "");
    int fd = open(TARGET "/.upskilld-lock", O_RDWR);
    cr_assert(zero(int, flock(fd, LOCK_EX)));
    work_stop_watch(&stop);
    cr_expect(eq(str, (char *)ask_one((struct wish){0}), "refused stopped"));
    work_stop_watch(NULL);
    cr_expect(there(TARGET "/demo") == false);
    close(fd);
    cr_expect(eq(str, (char *)ask_one((struct wish){0}), "installed"));
}

Test(install, a_damaged_record_is_kept_aside_and_its_sound_entries_live_on) {
    static const char *const damaged[] = {"",
                                          "{",
                                          "[]",
                                          "{\"version\": 1}",
                                          "null",
                                          "{\"version\": 1, \"skills\": []}",
                                          "{\"version\": 0, \"skills\": {}}",
                                          "{\"version\": 1, \"skills\": {\"demo\": 3}}",
                                          "{\"version\": 1, \"skills\": {\"../x\": {}}}"};
    for (size_t i = 0; i < ARRAY_LEN(damaged); i++) {
        ask_one((struct wish){0});
        size_t before = count_entries(TARGET);
        put(TARGET "/.upskilld-lock.json", damaged[i]);
        cr_expect(eq(str, (char *)ask_one((struct wish){0}), "unchanged lock_rebuilt"),
                  "%s", damaged[i]);
        cr_expect(eq(sz, count_entries(TARGET), before + 1));
        cr_expect(eq(str, (char *)ask_one((struct wish){0}), "unchanged"));
    }
    autobuf text = BUF_INIT(1u << 16);
    cr_assert(zero(int, file_read(TARGET "/.upskilld-lock.json", &text, NULL)));
    autojson *record = json_loads(text.data, 0, NULL);
    json_object_set_new(json_object_get(record, "skills"), "other", json_string("?"));
    autofree char *mixed = json_dumps(record, 0);
    put(TARGET "/.upskilld-lock.json", mixed);
    make_version_two();
    cr_expect(eq(str, (char *)ask_one((struct wish){0}), "updated lock_rebuilt"));
    put(TARGET "/.upskilld-lock.json", "{\"version\": 2, \"skills\": {}}");
    cr_expect(eq(str, (char *)ask_one((struct wish){0}), "refused lock_newer"));
    cr_expect(holds(TARGET "/.upskilld-lock.json", "{\"version\": 2, \"skills\": {}}"));
}

Test(install, a_diff_is_bounded_cleaned_and_cut_at_a_line) {
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
Test(install, a_diff_begins_with_its_files_and_ends_with_what_is_not_shown) {
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

/* 512 files and 16 MiB, the most a skill may have. */
Test(install, the_largest_skill_is_installed_and_read_back) {
    autofree char *text = xcalloc(1, 32512 + 1);
    memset(text, 'x', 32512);
    for (int i = 1; i < SKILL_MAX_FILES; i++) {
        autofree char *path = xasprintf("source/demo/assets/%d/%d.txt", i % 7, i);
        put(path, text);
    }
    unlink("source/demo/scripts/run.sh");
    cr_assert(zero(int, system("rm -r source/demo/references source/demo/scripts")));
    cr_expect(eq(str, (char *)ask_one((struct wish){0}), "installed"));
    cr_expect(zero(int, system("diff -r source/demo " TARGET "/demo")));
    cr_expect(eq(str, (char *)ask_one((struct wish){0}), "unchanged"));
    cr_expect(eq(str, (char *)ask_one((struct wish){.remove = true}), "removed"));
}

/* Whatever somebody put there: bounded, a conflict, and force replaces it. */
Test(install, monstrous_targets_are_conflicts) {
    static const char *const monsters[] = {
        "mkdir -p " TARGET "/demo && mkfifo " TARGET "/demo/SKILL.md",
        "mkdir -p " TARGET "/demo && truncate -s 4G " TARGET "/demo/SKILL.md",
        "mkdir -p " TARGET "/demo && cd " TARGET
        "/demo && for i in $(seq 3000); do : > f$i; done",
        "mkdir -p " TARGET "/demo/$(seq -s/ 100)",
        "mkdir -p " TARGET " && echo x > " TARGET "/demo",
        "mkdir -p " TARGET " && mkfifo " TARGET "/demo",
        "mkdir -p " TARGET " && ln -s demo " TARGET "/demo",
        "mkdir -p " TARGET "/demo && ln -s SKILL.md " TARGET "/demo/SKILL.md",
    };
    for (size_t i = 0; i < ARRAY_LEN(monsters); i++) {
        cr_assert(zero(int, system(monsters[i])));
        cr_expect(eq(str, (char *)ask_one((struct wish){0}), "refused conflict"), "%s",
                  monsters[i]);
        cr_expect(eq(str, (char *)ask_one((struct wish){.force = true}), "updated"), "%s",
                  monsters[i]);
        expect_one_installed("one");
        cr_expect(eq(str, (char *)ask_one((struct wish){.remove = true}), "removed"));
    }
}

/* patch(1) is the judge. */
Test(install, a_diff_turns_what_is_there_into_what_was_asked_for) {
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
