/* Installing, updating and removing skills. */
#include "install_clean.h"
#include "install_room.h"

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/work.h"
#include "skills/format/skill.h"
#include "skills/install/agents.h"
#include "skills/install/install.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

TestSuite(install, .init = make_world, .fini = drop_world);

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
    cr_expect(eq(str, (char *)field(kept, 0, "reason"),
                 "shared: demo is installed here for cursor, opencode too, in the same folder; name them as well"));
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
           "conflict: demo exists and was not installed by upskilld; `force` replaces "
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
    autojson *forced = ask((struct wish){.force = true}, CLAUDE);
    cr_expect(eq(str, (char *)field(forced, 0, "outcome"), "updated"));
    expect_one_installed("one");
    cr_expect(not(there(TARGET "/demo/own.txt")));
    const json_t *was = json_object_get(json_array_get(forced, 0), "was");
    autofree char *kept = path_join(json_get_string(was, "kept", ""), "own.txt");
    cr_expect(holds(kept, "mine\n"), "%s", kept);
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

/* A thousand or so at a time: the rest the next time. */
Test(install, cleaning_takes_so_long_and_no_longer) {
    for (int i = 0; i < 1024 + 5; i++) {
        autofree char *path = xasprintf(TARGET "/.upskilld-stage-%032x/SKILL.md", i);
        put(path, "half");
    }
    install_clean(TARGET);
    cr_expect(eq(sz, count_entries(TARGET), (size_t)5));
    install_clean(TARGET);
    cr_expect(zero(sz, count_entries(TARGET)));
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
