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
        {"go build ./cmd/api/", "/bin/bash: line 1: go: command not found", "docker compose build api", "built",
         "go build ./cmd/api/", "docker compose build api"},
        {"python3 tests/runtests.py messages_tests -q", "runtests.py: error: unrecognized arguments: -q",
         "python3 tests/runtests.py messages_tests", "OK", "python3 tests/runtests.py messages_tests -q",
         "python3 tests/runtests.py messages_tests"},
        {"bin/vitest run", "bash: line 1: bin/vitest: No such file or directory", "node lib/vitest/vitest.mjs run",
         "12 passed", "bin/vitest run", "node lib/vitest/vitest.mjs run"},
        /* nothing that was printed speaks of the option */
        {"./gradlew build", "error: Unexpected exception thrown.", "./gradlew build --no-daemon",
         "BUILD SUCCESSFUL", NULL, NULL},
        /* a container is a thing, not a way to do it */
        {"docker exec pg-test psql -c x.sql", "Error: No such container: pg-test",
         "docker exec pg-host psql -c x.sql", "done", NULL, NULL},
        /* it does nothing: the runner is gone, and nothing came in its place */
        {"python -m pytest lib/tests/test_a.py", "/usr/bin/python: No module named pytest",
         "python lib/tests/test_a.py", "", NULL, NULL},
        {"pytest a/test_a.py", "bash: pytest: command not found", "unittest a/test_a.py", "", NULL, NULL},
        {"pytest a/test_a.py", "bash: pytest: command not found", "unittest a/test_a.py", "OK", "pytest a/test_a.py",
         "unittest a/test_a.py"},
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
