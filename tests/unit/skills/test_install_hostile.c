/* Installing where links, records, names, disks and kernels are not as one wishes. */
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
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

TestSuite(install_hostile, .init = make_world, .fini = drop_world);

Test(install_hostile, no_link_leads_out_of_the_project) {
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

Test(install_hostile, a_home_folder_that_is_a_link_is_the_users_choice) {
    mkdir("home/dotfiles", 0755);
    cr_assert(zero(int, symlink("dotfiles", "home/.claude")));
    cr_expect(eq(str, (char *)ask_one((struct wish){.scope = "user"}), "installed"));
    cr_expect(there("home/dotfiles/skills/demo/SKILL.md"));
}

Test(install_hostile, links_at_the_names_we_write_are_never_followed) {
    put("home/precious/SKILL.md", "precious");
    cr_assert(zero(int, mkdir("project/.claude", 0755)));
    cr_assert(zero(int, mkdir(TARGET, 0755)));
    cr_assert(zero(int, symlink("../../../home/precious", TARGET "/demo")));
    autojson *results = ask((struct wish){0}, CLAUDE);
    cr_expect(eq(str, (char *)field(results, 0, "reason"),
                 "conflict: demo exists and is a link; `force` replaces it"));
    autojson *removal = ask((struct wish){.remove = true}, CLAUDE);
    cr_expect(eq(str, (char *)field(removal, 0, "reason"),
                 "conflict: demo exists and is a link; `force` removes it"));
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

Test(install_hostile, a_link_inside_the_installed_skill_is_a_change_and_is_not_followed) {
    put("home/precious.txt", "precious");
    ask_one((struct wish){0});
    cr_assert(zero(int, symlink("../../../../home", TARGET "/demo/scripts/out")));
    autojson *results = ask((struct wish){.remove = true}, CLAUDE);
    cr_expect(eq(str, (char *)field(results, 0, "outcome"), "refused"));
    const char *reason = field(results, 0, "reason");
    cr_expect(
        strstr(reason, "conflict: demo exists and contains what no skill may contain: ") ==
                reason &&
            strstr(reason, "scripts/out"),
        "%s", reason);
    cr_expect(eq(str, (char *)ask_one((struct wish){.remove = true, .force = true}),
                 "removed"));
    cr_expect(holds("home/precious.txt", "precious"));
}

Test(install_hostile, force_removes_nothing_that_is_no_skill) {
    put(TARGET "/demo/thesis.tex", "three years\n");
    cr_expect(eq(str, (char *)ask_one((struct wish){.remove = true, .force = true}),
                 "refused conflict"));
    cr_expect(holds(TARGET "/demo/thesis.tex", "three years\n"));
}

Test(install_hostile, names_that_are_no_names_are_refused_and_nothing_is_written) {
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

Test(install_hostile, folders_that_do_not_exist_have_a_reason) {
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

Test(install_hostile, a_skill_with_refused_files_is_not_installed_in_part) {
    cr_assert(zero(int, symlink("/etc/passwd", "source/demo/references/users.md")));
    cr_expect(eq(str, (char *)ask_one((struct wish){0}), "refused unsafe_path"));
    cr_expect(not(there(TARGET "/demo")));
}

Test(install_hostile, a_source_that_changes_after_it_was_read_is_refused) {
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

Test(install_hostile, a_full_disk_leaves_the_old_skill_and_no_leftovers) {
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

Test(install_hostile, a_read_only_folder_is_said_to_be_one) {
    if (geteuid() == 0) {
        cr_assert(zero(int, chmod(top, 0755)));
        cr_assert(zero(int, chmod("source/demo/scripts/run.sh", 0755)));
        cr_assert(zero(int, seteuid(65534)));
        cr_expect(eq(str, (char *)ask_one((struct wish){0}), "refused not_writable"));
        cr_expect(eq(str, (char *)ask_one((struct wish){.scope = "user"}),
                     "refused not_writable"));
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

Test(install_hostile,
     file_systems_without_exchange_and_kernels_without_openat2_do_as_well) {
    forbid(SYS_renameat2, EINVAL);
    forbid(SYS_openat2, ENOSYS);
    cr_expect(eq(str, (char *)ask_one((struct wish){0}), "installed"));
    make_version_two();
    cr_expect(eq(str, (char *)ask_one((struct wish){0}), "updated"));
    expect_one_installed("two");
    cr_expect(eq(str, (char *)ask_one((struct wish){.remove = true}), "removed"));
}

Test(install_hostile, a_damaged_record_is_kept_aside_and_its_sound_entries_live_on) {
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

/* Whatever somebody put there: bounded, a conflict, and force replaces it. */
Test(install_hostile, monstrous_targets_are_conflicts) {
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
