#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "skills/install/agents.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char home[64];

static void make_home(void) {
    strcpy(home, "/tmp/test-agents-XXXXXX");
    cr_assert(mkdtemp(home) != NULL);
    setenv("HOME", home, 1);
    static const char *const unset[] = {"XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR",
                                        "CODEX_HOME",      "VIBE_HOME",
                                        "HERMES_HOME",     "GROK_HOME"};
    for (size_t i = 0; i < ARRAY_LEN(unset); i++) {
        unsetenv(unset[i]);
    }
}

static void drop_home(void) {
    struct err err = {0};
    cr_assert(zero(int, dir_remove(home, &err)), "%s", err.msg);
}

TestSuite(agents, .init = make_home, .fini = drop_home);

static struct agents load(void) {
    struct agents agents = {0};
    struct err err = {0};
    cr_assert(zero(int, agents_load(&agents, &err)), "%s", err.msg);
    return agents;
}

static void put_user_file(const char *text) {
    struct root root;
    struct err err = {0};
    cr_assert(zero(int, root_open(&root, home, &err)));
    cr_assert(zero(int, root_write(&root, ".config/upskilld/agents.yaml", text,
                                   strlen(text), 0644, &err)));
    root_close(&root);
}

static void expect_folder(const struct agents *agents, const char *name,
                          const char *scope, const char *want) {
    const struct agent *agent = agents_find(agents, name);
    cr_assert(agent != NULL, "%s", name);
    autofree char *got = agent_folder(agent, scope, "/desk/project");
    autofree char *full =
        want && want[0] == '~' ? xasprintf("%s%s", home, want + 1) : NULL;
    if (want) {
        cr_expect(eq(str, got, (char *)(full ? full : want)), "%s in %s", name, scope);
    } else {
        cr_expect(got == NULL, "%s in %s: %s", name, scope, got);
    }
}

static const struct {
    const char *name, *project, *user;
} documented_agents[] = {
    {"claude-code", ".claude/skills", "~/.claude/skills"},
    {"codex", ".agents/skills", "~/.codex/skills"},
    {"cursor", ".agents/skills", "~/.cursor/skills"},
    {"opencode", ".agents/skills", "~/.config/opencode/skills"},
    {"gemini-cli", ".agents/skills", "~/.gemini/skills"},
    {"github-copilot", ".agents/skills", "~/.copilot/skills"},
    {"goose", ".goose/skills", "~/.config/goose/skills"},
    {"amp", ".agents/skills", "~/.config/agents/skills"},
    {"replit", ".agents/skills", "~/.config/agents/skills"},
    {"universal", ".agents/skills", "~/.config/agents/skills"},
    {"windsurf", ".windsurf/skills", "~/.codeium/windsurf/skills"},
    {"cline", ".agents/skills", "~/.agents/skills"},
    {"roo", ".roo/skills", "~/.roo/skills"},
    {"kilo", ".agents/skills", "~/.kilo/skills"},
    {"kiro-cli", ".kiro/skills", "~/.kiro/skills"},
    {"zed", ".agents/skills", "~/.agents/skills"},
    {"warp", ".agents/skills", "~/.agents/skills"},
    {"dexto", ".agents/skills", "~/.agents/skills"},
    {"kimi-code-cli", ".agents/skills", "~/.agents/skills"},
    {"loaf", ".agents/skills", "~/.agents/skills"},
    {"droid", ".agents/skills", "~/.factory/skills"},
    {"antigravity", ".agents/skills", "~/.gemini/antigravity/skills"},
    {"continue", ".continue/skills", "~/.continue/skills"},
    {"crush", ".crush/skills", "~/.config/crush/skills"},
    {"junie", ".junie/skills", "~/.junie/skills"},
    {"qwen-code", ".qwen/skills", "~/.qwen/skills"},
    {"trae", ".trae/skills", "~/.trae/skills"},
    {"augment", ".augment/skills", "~/.augment/skills"},
    {"openhands", ".openhands/skills", "~/.openhands/skills"},
    {"pi", ".pi/skills", "~/.pi/agent/skills"},
    {"qoder", ".qoder/skills", "~/.qoder/skills"},
    {"mux", ".mux/skills", "~/.mux/skills"},
    {"mistral-vibe", ".vibe/skills", "~/.vibe/skills"},
    {"kode", ".kode/skills", "~/.kode/skills"},
    {"openclaw", "skills", "~/.openclaw/skills"},
    {"hermes-agent", ".hermes/skills", "~/.hermes/skills"},
    {"grok", ".grok/skills", "~/.grok/skills"},
    {"devin", ".devin/skills", "~/.config/devin/skills"},
    {"tabnine-cli", ".tabnine/agent/skills", "~/.tabnine/agent/skills"},
    {"rovodev", ".rovodev/skills", "~/.rovodev/skills"},
    {"bob", ".bob/skills", "~/.bob/skills"},
    {"eve", "agent/skills", NULL},
};

/* The folders as the agents' own documentation and the installer people use have them. */
Test(agents, the_documented_agents_have_their_documented_folders) {
    struct agents agents = load();
    for (size_t i = 0; i < ARRAY_LEN(documented_agents); i++) {
        autofree char *project = path_join("/desk/project", documented_agents[i].project);
        expect_folder(&agents, documented_agents[i].name, "project", project);
        expect_folder(&agents, documented_agents[i].name, "user",
                      documented_agents[i].user);
    }
    cr_expect(agents_find(&agents, "no-such-agent") == NULL);
    static const char *const meant[][2] = {
        {"claude", "claude-code"}, {"Gemini CLI", "gemini-cli"}, {"curser", "cursor"},
        {"Kimi", "kimi-code-cli"}, {"no-such-agent", NULL},      {"x", NULL}};
    for (size_t i = 0; i < sizeof meant / sizeof *meant; i++) {
        const struct agent *a = agents_meant(&agents, meant[i][0]);
        cr_expect(a ? meant[i][1] && !strcmp(a->name, meant[i][1]) : !meant[i][1],
                  "%s: %s", meant[i][0], a ? a->name : "-");
    }
    agents_finish(&agents);
}

/* As their makers document it: OpenCode's own folders, and Claude's and the shared ones.
 */
Test(agents, further_folders_are_read_in_their_order) {
    static const char *const documented[] = {".opencode/skills", ".claude/skills",
                                             "~/.claude/skills", "~/.agents/skills"};
    struct agents agents = load();
    char **reads = agents_find(&agents, "opencode")->reads;
    for (size_t i = 0; i < ARRAY_LEN(documented); i++) {
        cr_assert(reads[i] != NULL);
        cr_expect(eq(str, reads[i], (char *)(uintptr_t)documented[i]));
    }
    cr_expect(reads[ARRAY_LEN(documented)] == NULL);
    agents_finish(&agents);
}

Test(agents, names_are_unique_and_folders_stay_inside) {
    struct agents agents = load();
    cr_assert(ge(sz, agents.count, (size_t)75));
    for (size_t i = 0; i < agents.count; i++) {
        const struct agent *a = &agents.list[i];
        cr_expect(agents_find(&agents, a->name) == a, "%s stands twice", a->name);
        cr_expect(strspn(a->name, "abcdefghijklmnopqrstuvwxyz0123456789-") ==
                  strlen(a->name));
        cr_expect(a->project && a->project[0] != '/' && !strstr(a->project, ".."));
        cr_expect(a->user == NULL || path_is_beneath(a->user, home), "%s: %s", a->name,
                  a->user);
        cr_expect(a->title && a->title[0] && a->reads);
    }
    agents_finish(&agents);
}

/* Linux takes paths of 4095 bytes (PATH_MAX with its end). */
Test(agents, a_folder_is_no_longer_than_a_path) {
    for (size_t more = 0; more < 2; more++) {
        char folder[4096 - sizeof "/skills" + 2] = "/";
        memset(folder + 1, 'x', sizeof folder - 3 + more);
        setenv("CLAUDE_CONFIG_DIR", folder, 1);
        struct agents agents = load();
        const char *user = agents_find(&agents, "claude-code")->user;
        cr_expect(eq(int, user != NULL, more == 0));
        cr_expect(user == NULL || strlen(user) == 4095);
        agents_finish(&agents);
    }
}

Test(agents, absolute_variables_move_folders_and_others_are_ignored) {
    setenv("CLAUDE_CONFIG_DIR", "/srv/claude", 1);
    setenv("CODEX_HOME", "relative", 1);
    setenv("XDG_CONFIG_HOME", "/srv/config", 1);
    setenv("VIBE_HOME", "", 1);
    setenv("HERMES_HOME", "~/elsewhere", 1);
    struct agents agents = load();
    expect_folder(&agents, "claude-code", "user", "/srv/claude/skills");
    expect_folder(&agents, "codex", "user", "~/.codex/skills");
    expect_folder(&agents, "opencode", "user", "/srv/config/opencode/skills");
    expect_folder(&agents, "mistral-vibe", "user", "~/.vibe/skills");
    expect_folder(&agents, "hermes-agent", "user", "~/elsewhere/skills");
    agents_finish(&agents);
}

Test(agents, without_a_home_there_is_no_user_folder) {
    unsetenv("HOME");
    struct agents agents = load();
    expect_folder(&agents, "claude-code", "user", NULL);
    expect_folder(&agents, "claude-code", "project", "/desk/project/.claude/skills");
    agents_finish(&agents);
}

Test(agents, one_is_installed_when_its_own_folder_exists) {
    struct err err = {0};
    autofree char *claude = path_join(home, ".claude");
    autofree char *molt = path_join(home, ".moltbot");
    cr_assert(zero(int, dir_make(claude, 0755, &err)));
    cr_assert(zero(int, dir_make(molt, 0755, &err)));
    struct agents agents = load();
    cr_expect(agent_is_installed(agents_find(&agents, "claude-code")));
    cr_expect(not(agent_is_installed(agents_find(&agents, "cursor"))));
    cr_expect(not(agent_is_installed(agents_find(&agents, "universal"))));
    /* An agent that was renamed twice keeps the folder that is there. */
    cr_expect(agent_is_installed(agents_find(&agents, "openclaw")));
    expect_folder(&agents, "openclaw", "user", "~/.moltbot/skills");
    agents_finish(&agents);
}

Test(agents, the_users_file_adds_and_replaces_rows) {
    put_user_file("- name: my-agent\n"
                  "  project: ./.my//skills/\n"
                  "  user: ${MY_HOME:-~/.my}/skills\n"
                  "  detect: ~/.my\n"
                  "  reads: [.agents/skills]\n"
                  "- {name: cursor, user: /opt/cursor/skills}\n");
    struct agents agents = load();
    expect_folder(&agents, "my-agent", "project", "/desk/project/.my/skills");
    expect_folder(&agents, "my-agent", "user", "~/.my/skills");
    expect_folder(&agents, "cursor", "user", "/opt/cursor/skills");
    expect_folder(&agents, "cursor", "project", NULL);
    const struct agent *mine = agents_find(&agents, "my-agent");
    cr_expect(eq(str, mine->title, "my-agent"));
    cr_expect(eq(str, mine->reads[0], ".agents/skills"));
    cr_expect(mine->reads[1] == NULL);
    agents_finish(&agents);
    cr_expect(zero(int, agents_load(&agents, NULL)), "nobody need ask why it fails");
    agents_finish(&agents);
}

/* Every row can be replaced, and stays the one row of its name. */
Test(agents, the_users_file_replaces_any_row) {
    struct agents builtin;
    agents_builtin(&builtin);
    for (size_t i = 0; i < builtin.count; i++) {
        autofree char *text = xasprintf("- {name: %s, title: Mine, project: .mine}\n",
                                        builtin.list[i].name);
        put_user_file(text);
        struct agents agents = load();
        cr_assert(eq(sz, agents.count, builtin.count));
        for (size_t k = 0; k < agents.count; k++) {
            cr_expect(eq(str, agents.list[k].name, builtin.list[k].name));
            cr_expect(eq(str, agents.list[k].title,
                         k == i ? (char[]){"Mine"} : builtin.list[k].title));
        }
        agents_finish(&agents);
    }
    agents_finish(&builtin);
}

Test(agents, an_empty_users_file_changes_nothing) {
    struct agents without = load();
    put_user_file("# nothing yet\n");
    struct agents with = load();
    cr_expect(eq(sz, with.count, without.count));
    agents_finish(&without);
    agents_finish(&with);
}

Test(agents, a_broken_users_file_is_named_with_its_line) {
    static const struct {
        const char *text, *says[3];
    } files[] = {
        {"- name: a\n  project: .a\n- name: B\n  project: .b\n", {"line 3", "[1].name"}},
        {"- name: ../x\n  project: .a\n", {"line 1", "[0].name"}},
        {"- name: a\n  user: ~/.a\n  project: ../../etc\n", {"line 3", "[0].project"}},
        {"- name: a\n  user: ~/.a\n  project: a/../..\n", {"line 3", "[0].project"}},
        {"- name: a\n  project: /etc\n", {"line 2", "[0].project"}},
        {"- name: a\n\n  user: relative/skills\n", {"line 3", "[0].user"}},
        {"- name: a\n  user: ~root/skills\n", {"line 2", "[0].user"}},
        {"- name: a\n  user: ${HOME\n", {"line 2", "[0].user"}},
        {"- name: a\n  project: .a\n  detect: .a\n", {"line 3", "[0].detect"}},
        {"- name: a\n", {"line 1", "[0].name", "folder"}},
        {"- project: .a\n", {"line 1", "name"}},
        {"- name: a\n  project: .a\n  projet: .b\n", {"line", "projet"}},
        {"- name: a\n  project: .a\n  reads: .b\n", {"line 3", "reads"}},
        {"name: a\n", {"line 1", "array"}},
        {"- name: a\n  project: *x\n", {"line 2"}},
        {"- name: a\n  project: [\n", {"line"}},
        {"- {name: a0, project: .a}\n- {name: a1, project: .a}\n"
         "- {name: a2, project: .a}\n- {name: a3, project: .a}\n"
         "- {name: a4, project: .a}\n- {name: a5, project: .a}\n"
         "- {name: a6, project: .a}\n- {name: a7, project: .a}\n"
         "- {name: a8, project: .a}\n- {name: a9, project: .a}\n"
         "- {name: b0, project: .a}\n- {name: b1, project: .a}\n"
         "- name: b2\n  project: /a\n",
         {"line 14", "[12].project"}},
    };
    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        put_user_file(files[i].text);
        struct agents agents = {0};
        struct err err = {0};
        cr_expect(lt(int, agents_load(&agents, &err), 0), "%s", files[i].text);
        cr_expect(strstr(err.msg, "agents.yaml") != NULL, "%s", err.msg);
        for (size_t k = 0; k < 3 && files[i].says[k]; k++) {
            cr_expect(strstr(err.msg, files[i].says[k]) != NULL, "no \"%s\" in \"%s\"",
                      files[i].says[k], err.msg);
        }
        cr_expect(zero(sz, agents.count));
    }
}

/* A slip for each three letters of what was said, two at most; the title or the first
 * part of a name, whatever the case. */
Test(agents, what_was_meant_is_near_what_was_said) {
    static const char *const said[][2] = {{"claude", "claude-code"},
                                          {"Claude Code", "claude-code"},
                                          {"CLAUDE", "claude-code"},
                                          {"gemini", "gemini-cli"},
                                          {"codx", "codex"},
                                          {"kodex", "codex"},
                                          {"cursr", "cursor"},
                                          {"kursur", "cursor"},
                                          {"kurxxr", NULL},
                                          {"koddx", NULL},
                                          {"opncod", "opencode"},
                                          {"opncd", NULL},
                                          {"gemnicli", "gemini-cli"},
                                          {"gmnicli", NULL},
                                          {"xx", NULL},
                                          {"claude-", NULL}};
    struct agents agents = load();
    for (size_t i = 0; i < ARRAY_LEN(said); i++) {
        const struct agent *meant = agents_meant(&agents, said[i][0]);
        cr_expect(said[i][1] ? meant && strcmp(meant->name, said[i][1]) == 0 : !meant,
                  "%s: %s", said[i][0], meant ? meant->name : "none");
    }
    agents_finish(&agents);
}

Test(agents, an_unknown_one_is_told_what_is_known) {
    struct agents agents = load();
    struct err err = {0};
    cr_expect(eq(int, agents_unknown(&agents, "claud-code", &err), -EINVAL));
    cr_expect(eq(str, err.msg,
                 "no agent is named \"claud-code\"; did you mean \"claude-code\"?"));
    cr_expect(eq(int, agents_unknown(&agents, "something else", &err), -EINVAL));
    autofree char *known = xasprintf(
        "no agent is named \"something else\"; known are %s, %s, %s, %s, %s and %zu more",
        agents.list[0].name, agents.list[1].name, agents.list[2].name,
        agents.list[3].name, agents.list[4].name, agents.count - 5);
    cr_expect(eq(str, err.msg, known));
    agents_finish(&agents);
}
