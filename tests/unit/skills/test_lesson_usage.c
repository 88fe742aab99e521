/* Commands in the place of others that failed, from public sessions, cut short. */
#include "tests/unit/skills/trace_maker.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

struct told {
    const char *failed, *error, *passed, *output; /* two lines of a session */
    const char *from, *to;                        /* the lesson; NULL: none */
};

static void check(const struct told *c, size_t i) {
    struct maker m = {0};
    struct lessons l;
    user(&m, "Check it.");
    run(&m, c->failed, 1, c->error);
    run(&m, c->passed, 0, c->output);
    learn(&l, &m);
    cr_assert(l.fixes.count == (c->to != NULL), "%zu: %zu", i, l.fixes.count);
    if (c->to) {
        const struct lesson_change *change = l.fixes.list[0].changes;
        cr_expect(change->kind == CHANGE_COMMAND, "%zu", i);
        cr_expect(strcmp(change->from, c->from) == 0, "%zu: %s", i, change->from);
        cr_expect(strcmp(change->to, c->to) == 0, "%zu: %s", i, change->to);
        cr_expect(strstr(c->error, l.fixes.list[0].quote) != NULL, "%zu: %s", i, l.fixes.list[0].quote);
        cr_expect(l.commands.count == 0, "%zu: no check", i);
    }
    lessons_finish(&l);
    finish(&m);
}

Test(lesson_usage, what_the_error_names_is_done_otherwise) {
    static const struct told cases[] = {
        {"bun run typecheck 2>&1 | head -50", "error: Script not found \"typecheck\"",
         "bun tsc --noEmit -p apps/web/tsconfig.json", "checked 12 files", "bun run typecheck",
         "bun tsc --noEmit -p apps/web/tsconfig.json"},
        {"pnpm test --filter blog", "CACError: Unknown option `--filter`",
         "pnpm exec vitest run app/blog/list.test.tsx", "12 passed", "pnpm test --filter blog",
         "pnpm exec vitest run app/blog/list.test.tsx"},
        {"docker exec web curl -s http://db:80/x",
         "OCI runtime exec failed: exec failed: exec: \"curl\": executable file not found in $PATH",
         "docker exec web wget -qO- http://db:80/x", "fine",
         "docker exec web curl -s http://db:80/x", "docker exec web wget -qO- http://db:80/x"},
        {"docker exec db pg_ctl reload -D /var/data", "pg_ctl: cannot be run as root",
         "docker exec db su - postgres -c \"pg_ctl reload -D /var/data\"", "server signaled",
         "docker exec db pg_ctl reload -D /var/data",
         "docker exec db su - postgres -c 'pg_ctl reload -D /var/data'"},
        {"apt-get install -y llvm-dev", "E: Unable to locate package llvm-dev",
         "apt-get install -y llvm-14-dev", "Setting up llvm-14-dev",
         "apt-get install -y llvm-dev", "apt-get install -y llvm-14-dev"},
        {"./gradlew build", "error: Unexpected exception thrown.\nStarting a Gradle Daemon, 2 busy",
         "./gradlew --stop; ./gradlew build --no-daemon", "BUILD SUCCESSFUL", "./gradlew build",
         "./gradlew --stop && ./gradlew build --no-daemon"},
        /* nothing that was printed speaks of the option */
        {"./gradlew build", "error: Unexpected exception thrown.", "./gradlew build --no-daemon",
         "BUILD SUCCESSFUL", NULL, NULL},
        /* a container is a thing, not a way to do it */
        {"docker exec pg-test psql -c x.sql", "Error: No such container: pg-test",
         "docker exec pg-host psql -c x.sql", "done", NULL, NULL},
        /* it does nothing: the runner is gone, and nothing came in its place */
        {"python -m pytest lib/tests/test_a.py", "/usr/bin/python: No module named pytest",
         "python lib/tests/test_a.py", "", NULL, NULL},
        /* other ends */
        {"docker exec web sqlite3 /data/a.db .tables",
         "OCI runtime exec failed: exec failed: exec: \"sqlite3\": executable file not found in $PATH",
         "docker exec web curl -s http://db:80/x", "fine", NULL, NULL},
        /* "exec" is who says it */
        {"docker exec db netstat -tln || docker exec db ss -tln",
         "OCI runtime exec failed: exec: \"netstat\": executable file not found in $PATH",
         "docker network create test-net && docker network connect test-net db", "done", NULL, NULL},
        {"go test ./internal/... -v", "bash: line 1: go: command not found",
         "npx vitest run --reporter=verbose", "12 passed", NULL, NULL},
        {"psql -h localhost -p 5433 -U pet -c q.sql",
         "psql: error: connection to server at \"localhost\", port 5433 failed: Connection refused",
         "psql -h localhost -U root -c \"SELECT name FROM pg_user WHERE name = 'pet'\"", "pet", NULL, NULL},
        /* for less of it, and for more */
        {"pytest a/test_a.py b/test_b.py", "bash: line 1: pytest: command not found",
         "python -m unittest a/test_a.py", "OK", NULL, NULL},
        {"npx vitest run --dir src/a --dir src/b", "Error: Expected a single value for option \"--dir <path>\"",
         "npx vitest run", "46 passed", NULL, NULL},
        /* a slip in a path */
        {"../.venv/bin/python -m app", "bash: ../.venv/bin/python: No such file or directory",
         ".venv/bin/python -m app", "up", NULL, NULL},
        /* an install is a step before the next run */
        {"antlr4", "bash: line 1: antlr4: command not found",
         "pip install antlr4-python3-runtime", "Successfully installed", NULL, NULL},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        check(&cases[i], i);
    }
}

/* What was tried in between failed too; a run that finds errors at places did run. */
Test(lesson_usage, dead_ends_are_told_with_what_works) {
    struct maker m = {0};
    struct lessons l;
    user(&m, "Run the tests.");
    run(&m, "python -m pytest tests/test_runner/ -v", 1, "python: No module named pytest");
    run(&m, "python -m django test tests.test_runner", 1,
        "django.core.exceptions.ImproperlyConfigured: settings are not configured");
    run(&m, "python tests/runtests.py test_runner", 1,
        "tests/test_runner/tests.py:31: AssertionError: serialized is not written");
    learn(&l, &m);
    cr_assert(eq(sz, l.fixes.count, 1));
    cr_expect(eq(str, l.fixes.list[0].quote, "python: No module named pytest"));
    cr_expect(eq(str, l.fixes.list[0].changes[0].to, "python tests/runtests.py test_runner"));
    cr_expect(eq(str, l.fixes.list[0].tried, "python -m django test tests.test_runner"));
    lessons_finish(&l);
    finish(&m);
}

/* The same thing under another name, and a program that a runner did not find. */
Test(lesson_usage, a_name_that_is_part_of_the_other_is_told) {
    static const char missing[] = "no container found for service \"repo-api-1\"";
    static const char tsc[] = "npm warn exec This is not the tsc command you are looking for";
    static const struct told cases[] = {
        {"docker compose cp ./src repo-api-1:/app/src && docker compose cp ./t repo-api-1:/app/t", missing,
         "docker compose cp src/ api:/app/src && docker compose cp t/ api:/app/t", "Copied",
         "docker compose cp ./src repo-api-1:/app/src", "docker compose cp src/ api:/app/src"},
        /* another thing */
        {"docker compose cp ./src repo-api-1:/app/src", missing, "docker compose cp ./src web:/app/src", "Copied",
         NULL, NULL},
        /* to another place */
        {"docker compose cp ./src repo-api-1:/app/src", missing, "docker compose cp ./src api:/tmp/src", "Copied",
         NULL, NULL},
        /* a word that begins with the joint */
        {"docker compose cp ./src :/app/src", missing, "docker compose cp ./src api:/app/src", "Copied", NULL, NULL},
        {"npx tsc --noEmit", tsc, "./node_modules/.bin/tsc --noEmit", "", "npx tsc --noEmit",
         "./node_modules/.bin/tsc --noEmit"},
        /* it does something else */
        {"npx tsc --noEmit", tsc, "./node_modules/.bin/tsc --init", "", NULL, NULL},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        check(&cases[i], i);
    }
}

/* The shell's complaint is all that a search prints, and its pipe ends well. */
Test(lesson_usage, an_option_that_the_shell_took_for_a_pattern) {
    static const struct {
        const char *failed, *error, *passed;
        bool told;
    } cases[] = {
        {"grep -rn done --include=*.py . | head", "(eval):1: no matches found: --include=*.py", "grep -rn done src | head", true},
        /* it may have been meant: there is no such file */
        {"grep -n done *.py | head", "zsh: no matches found: *.py", "grep -n done a.c | head", false},
        /* it is still there */
        {"grep -rn done --include=*.py . | head", "(eval):1: no matches found: --include=*.py",
         "grep -rn done --include=*.py src | head", false},
        /* it was in quotes: something else says so */
        {"grep -rn done '--include=*.py' . | head", "(eval):1: no matches found: --include=*.py", "grep -rn done src | head", false},
        /* another program */
        {"grep -rn done --include=*.py . | head", "(eval):1: no matches found: --include=*.py", "rg done src | head", false},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct maker m = {0};
        struct lessons l;
        user(&m, "Look for it.");
        run(&m, cases[i].failed, 0, cases[i].error);
        run(&m, cases[i].passed, 0, "src/a.py:3: done");
        learn(&l, &m);
        cr_assert(l.fixes.count == cases[i].told, "%zu: %zu", i, l.fixes.count);
        if (cases[i].told) {
            cr_expect(eq(str, l.fixes.list[0].quote, (char *)(uintptr_t)cases[i].error));
            cr_expect(strstr(l.fixes.list[0].cause, "`--include=*.py`") != NULL);
            cr_expect(eq(str, l.fixes.list[0].changes->to, (char *)(uintptr_t)cases[i].passed));
        }
        lessons_finish(&l);
        finish(&m);
    }
}

/* An id that only a listing knows: the listing is the lesson. */
Test(lesson_usage, what_lists_the_id_is_told) {
    static const struct {
        const char *failed, *list, *output, *passed;
        bool told;
    } cases[] = {
        {"oc export session", "oc session list", "ID      Title\nses_1c585eb98ffe  Rust", "oc export ses_1c585eb98ffe", true},
        /* it was printed by another program, or by none */
        {"oc export session", "sqlite3 db .dump", "ses_1c585eb98ffe", "oc export ses_1c585eb98ffe", false},
        {"oc export session", "oc session list", "ses_99f85eb98ffe", "oc export ses_1c585eb98ffe", false},
        /* the error names another word */
        {"oc export chat", "oc session list", "ses_1c585eb98ffe", "oc export ses_1c585eb98ffe", false},
        /* it does something else */
        {"oc export session", "oc session list", "ses_1c585eb98ffe", "oc import ses_1c585eb98ffe", false},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct maker m = {0};
        struct lessons l;
        user(&m, "Export it.");
        run(&m, cases[i].failed, 1, "Error: Session not found: session");
        run(&m, cases[i].list, 0, cases[i].output);
        run(&m, cases[i].passed, 0, "done");
        learn(&l, &m);
        cr_assert(l.fixes.count == cases[i].told, "%zu: %zu", i, l.fixes.count);
        if (cases[i].told) {
            const struct lesson *fix = l.fixes.list;
            cr_expect(fix->changes->kind == CHANGE_RUN);
            cr_expect(eq(str, fix->changes->to, "oc session list"));
            cr_expect(eq(str, fix->context, "oc export session"));
            cr_expect(eq(str, fix->verified_by, "oc export ses_1c585eb98ffe"));
            cr_expect(eq(sz, fix->evidence.list[1].event, 4));
        }
        lessons_finish(&l);
        finish(&m);
    }
}

/* What the line runs first is a lesson where the agent names in code what the error says, and that. */
Test(lesson_usage, a_step_that_the_agent_names_with_the_error) {
    static const char *const turns[] = {"仅剩对已删除的 `GridMap.gd` 的缓存。清理 `.godot`，再导入。",
                                        "I clear `.godot` and import again."};
    for (size_t i = 0; i < ARRAY_LEN(turns); i++) {
        struct maker m = {0};
        struct lessons l;
        user(&m, "Import it.");
        run(&m, "$exe = \"C:\\bin\\gd.exe\"; & $exe --headless --import 2>&1 | Select-String -Pattern \"ERROR\"", 0,
            "ERROR: Attempt to open script 'GridMap.gd' resulted in error 'File not found'.");
        say(&m, turns[i]);
        run(&m, "Remove-Item .godot -Recurse; $exe = \"C:\\bin\\gd.exe\"; & $exe --headless --import 2>&1 | "
                "Select-String -Pattern \"ERROR|Failed\"", 0, "");
        learn(&l, &m);
        cr_assert(l.fixes.count == (i == 0), "%zu: %zu", i, l.fixes.count);
        if (i == 0) {
            cr_expect(l.fixes.list[0].changes[0].kind == CHANGE_RUN);
            cr_expect(eq(str, l.fixes.list[0].changes[0].to, "Remove-Item .godot -Recurse"));
            cr_expect(eq(str, l.fixes.list[0].context, "gd.exe --headless --import"));
        }
        lessons_finish(&l);
        finish(&m);
    }
}

/* Three runs with other settings, or too few; what failed passes later as it was. */
static size_t told_settings(size_t failures, bool passes_again) {
    static const char *const lines[] = {"mvn compile -q", "MAVEN_OPTS=-Xmx900m mvn compile -q",
                                        "MAVEN_OPTS=-Xmx512m mvn compile -q"};
    struct maker m = {0};
    struct lessons l;
    user(&m, "Build it.");
    for (size_t i = 0; i < failures; i++) {
        run(&m, lines[i], 1, "# error: Native memory allocation (malloc) failed to allocate 2293528 bytes");
    }
    run(&m, "MAVEN_OPTS=-Xmx384m mvn compile -q", 0, "done");
    if (passes_again) {
        run(&m, "mvn compile -q", 0, "done");
    }
    learn(&l, &m);
    size_t count = l.fixes.count;
    lessons_finish(&l);
    finish(&m);
    return count;
}

Test(lesson_usage, settings_count_where_nothing_else_helped) {
    cr_expect(eq(sz, told_settings(3, false), 1));
    cr_expect(eq(sz, told_settings(3, true), 0), "it came and went");
}

/* The same letters: what the shell makes of them, and marks that it does not know. */
Test(lesson_usage, the_same_letters_otherwise) {
    static const struct told cases[] = {
        {"grep -n Chat \"src/$callId.tsx\" | head", "ugrep: warning: src/.tsx: No such file or directory",
         "grep -n Chat \"src/\\$callId.tsx\" | head", "7: Chat", "grep -n Chat \"src/$callId.tsx\" | head",
         "grep -n Chat \"src/\\$callId.tsx\" | head"},
        {"git remote -v && git status",
         "At line:1 char:15\n+ git remote -v && git status\n+               ~~\n"
         "The token '&&' is not a valid statement separator in this version.\n"
         "    + FullyQualifiedErrorId : InvalidEndOfLine",
         "git remote -v; git status", "origin", "git remote -v && git status", "git remote -v; git status"},
        {"git add a && git push", "error: failed to push some refs to 'origin'", "git add a; git push", "done",
         NULL, NULL},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        check(&cases[i], i);
    }
}

/* Two sessions that met the same with two remedies: one lesson. */
Test(lesson_usage, two_remedies_of_one_error_are_one_lesson) {
    static const char *const homes[] = {"Ann", "Bob"}, *const cures[] = {"npm.cmd run build", "cmd /c npm run build"};
    struct maker m[2] = {0};
    struct trace traces[2];
    struct lessons l;
    for (size_t i = 0; i < 2; i++) {
        autofree char *error = xasprintf("npm : File C:\\Users\\%s\\bin\\npm.ps1 cannot be loaded because running "
                                         "scripts is disabled on this system.", homes[i]);
        user(&m[i], "Build it.");
        run(&m[i], "npm run build", 1, error);
        run(&m[i], cures[i], 0, "built");
        traces[i] = m[i].trace;
    }
    lessons_extract(&l, traces, 2, NULL);
    cr_assert(eq(sz, l.fixes.count, 1));
    cr_assert(eq(sz, l.fixes.list[0].change_count, 2));
    cr_expect(eq(str, l.fixes.list[0].changes[0].from, "npm"));
    cr_expect(eq(str, l.fixes.list[0].changes[0].to, "npm.cmd"));
    cr_expect(eq(str, l.fixes.list[0].changes[1].to, "cmd /c npm"));
    lessons_finish(&l);
    for (size_t i = 0; i < 2; i++) {
        finish(&m[i]);
    }
}

/* What needs more rights is told once, with the commands, but for those that keep records. */
Test(lesson_usage, calls_that_ask_for_the_same_are_one_lesson) {
    static const char *const lines[] = {"docker ps", "./smoke.sh", "git add a.c"};
    struct maker m = {0};
    struct lessons l;
    user(&m, "Check it.");
    for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
        autofree char *error = xasprintf("error: cannot open socket%zu of %s: Operation not permitted", i, lines[i]);
        run(&m, lines[i], 1, error);
        run(&m, lines[i], 0, "fine");
        set_text(&m.trace.events[m.trace.count - 2], "sandbox_permissions=require_escalated");
    }
    learn(&l, &m);
    cr_assert(eq(sz, l.fixes.count, 1));
    cr_assert(eq(sz, l.fixes.list[0].change_count, 2));
    cr_expect(eq(str, l.fixes.list[0].changes[1].to, "./smoke.sh  # sandbox_permissions=require_escalated"));
    cr_expect(eq(str, l.fixes.list[0].cause,
                 "The harness runs it where the call asks for `sandbox_permissions=require_escalated`."));
    lessons_finish(&l);
    finish(&m);
}

/* A run that makes the same complaint about its next word did not work, whatever its stack says. */
Test(lesson_usage, the_same_complaint_again_is_no_end) {
    struct maker m = {0};
    struct lessons l;
    user(&m, "Test it.");
    run(&m, "npm test -- --runInBand", 1, "CACError: Unknown option `--runInBand`\n    at f (a/cac.js:404:13)");
    run(&m, "npm test -- --filter", 1, "CACError: Unknown option `--filter`\na/cac.js:404:13");
    learn(&l, &m);
    cr_expect(eq(sz, l.fixes.count, 0));
    lessons_finish(&l);
    finish(&m);
}
