/* Ends that need a proof of their own: logs, rules of a program, calls that
 * asked for more, two errors with one end. */
#include "tests/unit/skills/trace_maker.h"

#include "base/buf.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

/* The status is that of what shows a log: it tells of the line's own failure only if the line
 * wrote the log. */
Test(lesson_proofs, a_log_that_the_line_wrote_is_what_it_says) {
    static const char *const shown[] = {"out.log", "old.log"};
    for (size_t i = 0; i < ARRAY_LEN(shown); i++) {
        struct maker m = {0};
        struct lessons l;
        autofree char *line =
            xasprintf("./fit --rank=many > out.log 2>&1\necho $?\ntail %s", shown[i]);
        user(&m, "Fit it.");
        run(&m, line, 0, "1\nerror: rank 'many' is not known");
        run(&m, "./fit --rank=four > out.log 2>&1", 0, "");
        learn(&l, &m);
        cr_expect(eq(sz, l.fixes.count, i == 0));
        lessons_finish(&l);
        finish(&m);
    }
}

/* The session wrote the line itself, which a program then refuses; an older file is mended
 * too. With again: an attempt to mend it was written in between. */
static size_t told_own(const char *error, const char *line, const char *now, bool again) {
    struct maker m = {0};
    struct lessons l;
    user(&m, "Show the pictures.");
    edit(&m, "old.ts", "-let x = 1\n+let x = 2\n", true);
    autofree char *text = xasprintf("import react\n%s\nexport x\n", line);
    autofree char *first = xasprintf("-%s\n+let useTimer = 1\n", line);
    autofree char *last = xasprintf("-%s\n+%s\n", again ? "let useTimer = 1" : line, now);
    edit(&m, "image.ts", text, false);
    run(&m, "npm run build", 1, error);
    if (again) {
        edit(&m, "image.ts", first, true);
        run(&m, "npm run build", 1, error);
    }
    edit(&m, "image.ts", last, true);
    run(&m, "npm run build", 0, "done");
    learn(&l, &m);
    size_t count = l.fixes.count;
    lessons_finish(&l);
    finish(&m);
    return count;
}

Test(lesson_proofs, a_rule_of_the_program_is_no_slip_of_the_session) {
    static const char line[] = "let timer = useTimer<Wait>()", now[] = "let timer = useTimer<int>()";
    cr_expect(eq(sz, told_own("image.ts:2: error: int is not assignable to type 'Clock'", line,
                              now, false), 1));
    cr_expect(eq(sz, told_own("image.ts:2: error: config too short, expected `32` bytes", line,
                              now, false), 1));
    cr_expect(eq(sz, told_own("image.ts:2: error: cannot find name 'Wait'", line, now, false), 0),
              "the session made the name up");
    cr_expect(eq(sz, told_own("image.ts:2: SyntaxError: unexpected token", line, now, false), 0));
    cr_expect(eq(sz, told_own("image.ts:2: error: int is not assignable to type 'Clock'", line,
                              now, true), 0), "an attempt that failed");
}

/* A command that only reads is refused, and passes when its call asks for more. */
static size_t told_granted(const char *options, bool edits) {
    struct maker m = {0};
    struct lessons l;
    user(&m, "Look at the notes.");
    run(&m, "sed -n 1,9p notes.md", 1, "bwrap: loopback: Operation not permitted");
    if (edits) {
        edit(&m, "notes.md", "-a\n+b\n", true);
    }
    run(&m, "sed -n 1,9p notes.md", 0, "# Notes");
    set_text(&m.trace.events[m.trace.count - 2], options);
    learn(&l, &m);
    size_t count = l.fixes.count;
    if (count) {
        cr_expect(eq(str, l.fixes.list[0].changes[0].to,
                     "sed -n 1,9p notes.md  # sandbox_permissions=require_escalated"));
    }
    lessons_finish(&l);
    finish(&m);
    return count;
}

Test(lesson_proofs, what_a_call_asked_for_besides_its_command_is_told) {
    cr_expect(eq(sz, told_granted("sandbox_permissions=require_escalated", false), 1));
    cr_expect(eq(sz, told_granted("sandbox_permissions=require_escalated", true), 0));
    cr_expect(eq(sz, told_granted("", false), 0));
}

/* Two errors that one run showed end with one change: the one that was seen less is told, as
 * the last run said it. */
Test(lesson_proofs, one_change_is_one_lesson) {
    struct maker m = {0};
    struct lessons l;
    user(&m, "Get it to build.");
    run(&m, "make site", 2, "Failed to build the site.\nerror: a.ts: `target` is too low");
    edit(&m, "a.ts", "-target = 5\n+target = 6\n", true);
    run(&m, "make site", 2, "Failed to build the site.\nerror: b.ts: `odds` has no index 0");
    edit(&m, "b.ts", "-odds = read()\n+odds = read() as list\n", true);
    run(&m, "make site", 0, "done");
    learn(&l, &m);
    cr_expect(eq(sz, l.fixes.count, 2));
    for (size_t i = 0; i < l.fixes.count; i++) {
        const char *quote = l.fixes.list[i].quote;
        cr_expect(strstr(quote, "error: ") != NULL, "%s", quote);
    }
    lessons_finish(&l);
    finish(&m);
}

/* A failing run, an edit of one line with the agent's reason, perhaps another edit, and a run
 * that passes. */
static char *quoted_beside(const char *failing, const char *said, const char *later,
                           bool beside) {
    struct maker m = {0};
    struct lessons l;
    user(&m, "Get it to pass.");
    run(&m, failing, 1, said);
    say(&m, "The limit is wrong because the limits file needs seconds.");
    edit(&m, "limits.ts", "-limit = 5\n+limit = 5000\n", true);
    if (beside) {
        edit(&m, "notes.ts", "-one\n+two\n", true);
    }
    run(&m, later, 0, "done");
    learn(&l, &m);
    char *quote = xstrdup(l.fixes.count ? l.fixes.list[0].quote : "nothing");
    lessons_finish(&l);
    finish(&m);
    return quote;
}

static char *quoted(const char *failing, const char *said, const char *later) {
    return quoted_beside(failing, said, later, true);
}

Test(lesson_proofs, logs_and_tests_that_passed_are_no_errors) {
    static const struct {
        const char *failing, *said, *later, *quote;
    } cases[] = {
        {"npx jest", "  ✓ shows an error message: Login failed (3 ms)\nlimits.ts: error: `limit` is too low",
         "npx jest", "limits.ts: error: `limit` is too low"},
        {"npx jest", "[Nest] 25 04/01/2026, 1:30:27 AM ERROR [Jobs] job failed: transient\n"
         "limits.ts: error: `limit` is too low", "npx jest", "limits.ts: error: `limit` is too low"},
        {"npx jest", "{\"level\":\"error\",\"message\":\"login failed: u1\"}\n"
         "limits.ts: error: `limit` is too low", "npx jest", "limits.ts: error: `limit` is too low"},
        /* who says it is not quoted */
        {"docker compose up", "api-1  | limits.ts: error: `limit` is too low", "docker compose up",
         "limits.ts: error: `limit` is too low"},
        {"docker build .", "#12 3.45 limits.ts: error: `limit` is too low", "docker build .",
         "limits.ts: error: `limit` is too low"},
        /* another test passed */
        {"npm test -- --only=limit", "FAIL src/limits.spec.ts", "npm test -- --only=search",
         "nothing"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        autofree char *got = quoted(cases[i].failing, cases[i].said, cases[i].later);
        cr_expect(eq(str, got, (char *)(uintptr_t)cases[i].quote), "%zu: %s", i, got);
    }
}

/* A harness that says of every end how it was says nothing of what was stopped. */
Test(lesson_proofs, what_was_stopped_has_not_passed) {
    for (int stopped = 0; stopped < 2; stopped++) {
        struct maker m = {0};
        struct lessons l;
        user(&m, "Get it to build.");
        run(&m, "make a", 0, "a");
        run(&m, "make b", 0, "b");
        run(&m, "npm run build", 1, "limits.ts: error: `limit` is too low");
        edit(&m, "limits.ts", "-limit = 5\n+limit = 5000\n", true);
        run(&m, "npm run build", 0, stopped ? "aborted by user" : "done");
        m.trace.events[m.trace.count - 1].has_exit = !stopped;
        learn(&l, &m);
        cr_expect(eq(sz, l.fixes.count, (size_t)!stopped));
        lessons_finish(&l);
        finish(&m);
    }
}

/* The same option with another value runs something else, unless the error speaks of it; a
 * line that prepares something before is no mere change of words. */
Test(lesson_proofs, another_run_proves_nothing) {
    static const struct {
        const char *failing, *said, *later;
        bool edits;
        size_t told;
    } cases[] = {
        {"npx jest --only=search", "limits.ts: error: `limit` is too low", "npx jest --only=limits", true, 0},
        {"npx jest --only=search", "limits.ts: error: `limit` is too low", "npx jest --only=search --bail", true, 1},
        {"cargo test -p oracle", "error: failed to load manifest of a workspace member",
         "rsync -a oracle/ /tmp/o/ && cargo test --manifest=/tmp/o/Cargo.toml", false, 0},
        {"cargo test -p oracle", "error: failed to load manifest of a workspace member",
         "cargo test --manifest=o/Cargo.toml", false, 1},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct maker m = {0};
        struct lessons l;
        user(&m, "Get it to pass.");
        run(&m, cases[i].failing, 1, cases[i].said);
        if (cases[i].edits) {
            edit(&m, "limits.ts", "-limit = 5\n+limit = 5000\n", true);
        }
        run(&m, cases[i].later, 0, "done");
        learn(&l, &m);
        cr_expect(eq(sz, l.fixes.count, cases[i].told), "%zu", i);
        lessons_finish(&l);
        finish(&m);
    }
}

/* One output of two jobs: the file that was mended is named far from the error. */
Test(lesson_proofs, a_file_is_named_near_the_error) {
    autobuf far = BUF_INIT(64u << 10);
    buf_adds(&far, "npm error `lockfile` is out of step\n");
    for (size_t i = 0; i < 200; i++) {
        buf_addf(&far, "step %zu of the other job\n", i);
    }
    buf_adds(&far, "limits.ts holds the numbers\n");
    autofree char *apart = quoted("make all", far.data, "make all");
    cr_expect(eq(str, apart, "nothing"));
    static const char said[] = "npm error `lockfile` is out of step\nlimits.ts holds the numbers\n";
    autofree char *near = quoted_beside("make all", said, "make all", false);
    cr_expect(eq(str, near, "npm error `lockfile` is out of step"));
    autofree char *beside = quoted("make all", said, "make all");
    cr_expect(eq(str, beside, "nothing"), "another edit may be the reason");
}

/* An install, the next run of the check, and what was done until it passed. */
static size_t told_install(const char *next, const char *more, bool edits) {
    struct maker m = {0};
    struct lessons l;
    user(&m, "Get it to compile.");
    run(&m, "npx hardhat compile", 1, "Error: this toolbox does not work with version 2");
    run(&m, "npm install toolbox@hh2", 0, "added 3 packages");
    if (edits) {
        edit(&m, "hardhat.config.js", "-let x = 1\n+let x = 2\n", true);
    }
    run(&m, "npx hardhat compile", *next != '\0', next);
    if (*more) {
        run(&m, more, 0, "added 2 packages");
        run(&m, "npx hardhat compile", 0, "Compiled");
    }
    learn(&l, &m);
    size_t count = l.fixes.count;
    lessons_finish(&l);
    finish(&m);
    return count;
}

Test(lesson_proofs, a_command_in_between_is_told_if_nothing_else_may_be_why) {
    static const char config[] = "Error: invalid package config\n at a\n at b\n at c\n";
    cr_expect(eq(sz, told_install("", "", false), 1));
    cr_expect(eq(sz, told_install("", "", true), 0), "or the edit ended it");
    cr_expect(eq(sz, told_install(config, "", false), 0), "it never passed");
    cr_expect(eq(sz, told_install(config, "npm install other@4", false), 0),
              "what was installed in the end is another thing");
}

static size_t told_unless_back(bool back, bool edits) {
    static const char missing[] = "CMake Error: Could NOT find ZLIB (missing: ZLIB_LIBRARY)";
    struct maker m = {0};
    struct lessons l;
    run(&m, "cmake -B build", 1, missing);
    run(&m, "apt-get install -y zlib1g-dev", 0, "ok");
    run(&m, "cmake -B build", 0, "-- Build files have been written to: build");
    if (edits) {
        edit(&m, "CMakeLists.txt", "-project(x)\n+project(y)\n", true);
    }
    if (back) {
        run(&m, "cmake -B build", 1, missing);
    }
    learn(&l, &m);
    size_t count = l.fixes.count;
    lessons_finish(&l);
    finish(&m);
    return count;
}

Test(lesson_proofs, another_selection_of_tests_mends_none) {
    static const char failed[] = "  FAILED  Tests\\Api\\CatalogTest > it lists   QueryException";
    struct maker m = {0};
    struct lessons l;
    run(&m, "php artisan test --filter=CatalogTest", 1, failed);
    run(&m, "php artisan test --filter=it_needs_a_login", 0, "Tests:  1 passed");
    learn(&l, &m);
    cr_expect(eq(sz, l.fixes.count, 0));
    lessons_finish(&l);
    finish(&m);
}

Test(lesson_proofs, an_error_that_comes_back_by_itself_was_not_ended) {
    cr_expect(eq(sz, told_unless_back(false, false), 1));
    cr_expect(eq(sz, told_unless_back(true, false), 0));
    cr_expect(eq(sz, told_unless_back(true, true), 1), "the edit may have brought it back");
}

/* "python -m pytest" for pytest, which says that it is not there either. */
Test(lesson_proofs, the_same_under_another_name_that_fails_too_is_no_fix) {
    for (int exit = 0; exit < 2; exit++) {
        struct maker m = {0};
        struct lessons l;
        user(&m, "Run the tests.");
        run(&m, "pytest -q tests", 127, "bash: line 1: pytest: command not found");
        run(&m, "python -m pytest -q tests", exit,
            exit ? "a\nb\nc\n/usr/bin/python: No module named pytest\n" : "3 passed\n");
        learn(&l, &m);
        cr_expect(eq(sz, l.fixes.count, exit == 0));
        lessons_finish(&l);
        finish(&m);
    }
}

/* Another address, which is refused too until something is started. */
Test(lesson_proofs, a_changed_command_whose_first_run_fails_is_no_fix) {
    for (int fails = 0; fails < 2; fails++) {
        struct maker m = {0};
        struct lessons l;
        user(&m, "Migrate it.");
        run(&m, "npx migrate --url=db://localhost", 1, "Error: no server at db://localhost");
        if (fails) {
            run(&m, "npx migrate --url=db://127.0.0.1", 1, "Error: no server at db://127.0.0.1");
            run(&m, "docker compose restart", 0, "Started");
        }
        run(&m, "npx migrate --url=db://127.0.0.1", 0, "2 migrations applied");
        learn(&l, &m);
        cr_expect(eq(sz, l.fixes.count, fails ? 0 : 1));
        lessons_finish(&l);
        finish(&m);
    }
}

/* What `tail` leaves of a check may be the end of the same failure. */
Test(lesson_proofs, an_end_like_that_of_the_failure_is_no_proof) {
    static const char *const ends[] = {"Start one, for example:\n  docker run postgres\n", "ready\n"};
    for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
        struct maker m = {0};
        struct lessons l;
        autofree char *failed = xasprintf("Error: connect ECONNREFUSED 127.0.0.1:5433\n%s", ends[0]);
        user(&m, "Run the tests.");
        run(&m, "node check-db.js 2>&1 | tail -30", 0, failed);
        say(&m, "It was refused with ECONNREFUSED because `docker compose` had not started the db.");
        run(&m, "docker compose up -d db", 0, "Container db Started");
        autofree char *now = xasprintf("%s[rerun: b17]\n", ends[i]);
        run(&m, "node check-db.js 2>&1 | tail -2", 0, now);
        learn(&l, &m);
        cr_expect(eq(sz, l.fixes.count, i));
        lessons_finish(&l);
        finish(&m);
    }
}

/* An edit, and what was installed beside it. */
Test(lesson_proofs, an_edit_beside_an_install_is_not_proven) {
    for (int installs = 0; installs < 2; installs++) {
        struct maker m = {0};
        struct lessons l;
        user(&m, "Get it to build.");
        run(&m, "npm run build", 1, "error: failed to load config from vite.config.ts");
        if (installs) {
            run(&m, "npm install -D tailwindcss@3", 0, "added 59 packages");
        }
        edit(&m, "vite.config.ts", "-  plugins: [react(), tailwindcss()],\n+  plugins: [config()],\n", true);
        run(&m, "npm run build", 0, "166 modules transformed");
        learn(&l, &m);
        cr_expect(eq(sz, l.fixes.count, installs ? 0 : 1));
        lessons_finish(&l);
        finish(&m);
    }
}

/* A file and what was run since it was written. */
Test(lesson_proofs, a_file_is_proven_by_a_run_and_not_known_behind_an_install) {
    static const struct {
        const char *first, *then;
        bool proven;
    } cases[] = {
        {"npm test", NULL, true},
        {"npm test", "npm install toolbox@4", false},
        {"npm install toolbox@4", "npm test", false},
        {NULL, NULL, false},
        {"npm test", "sed -i 2d package.json", false},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct maker m = {0};
        struct lessons l;
        user(&m, "Set it up.");
        edit(&m, "package.json", "{\n  \"type\": 1\n}\n", false);
        if (cases[i].first) {
            run(&m, cases[i].first, 0, "ok");
        }
        if (cases[i].then) {
            run(&m, cases[i].then, 0, "ok");
        }
        learn(&l, &m);
        cr_assert(eq(sz, l.files.count, 1));
        cr_expect(eq(int, l.files.list[0].proven, cases[i].proven), "%zu", i);
        lessons_finish(&l);
        finish(&m);
    }
}

/* A version that was printed before something was installed may be another one now. */
Test(lesson_proofs, a_version_is_forgotten_behind_an_install) {
    for (int installs = 0; installs < 2; installs++) {
        struct maker m = {0};
        struct lessons l;
        user(&m, "Set it up.");
        run(&m, "nvcc --version", 0, "Cuda compilation tools, release 12.4, V12.4.131");
        if (installs) {
            run(&m, "conda install cuda-toolkit", 0, "done");
        }
        learn(&l, &m);
        cr_expect(eq(sz, l.limits.count, installs ? 0 : 1));
        lessons_finish(&l);
        finish(&m);
    }
}

/* A failing build, one edit of a file that was there, and the build passes. wrote: what the
 * session wrote before. */
static size_t told_change(const char *asked, const char *wrote, const char *check,
                          const char *diff) {
    struct maker m = {0};
    struct lessons l;
    user(&m, asked);
    if (wrote) {
        edit(&m, wrote, "use limit\n", false);
    }
    run(&m, check, 1, "error: limits.ts: `limit` is too low");
    edit(&m, "limits.ts", diff, true);
    run(&m, check, 0, "done");
    learn(&l, &m);
    size_t count = l.fixes.count;
    lessons_finish(&l);
    finish(&m);
    return count;
}

static const char raised[] = "-limit = 5\n+limit = 5000\n";

Test(lesson_proofs, the_mend_that_the_person_asked_for_is_no_lesson) {
    cr_expect(eq(sz, told_change("Add a page.", NULL, "make site", raised), 1));
    cr_expect(eq(sz, told_change("It says \"error: limits.ts: `limit` is too low\".", NULL, "make site",
                                 raised), 0));
    cr_expect(eq(sz, told_change("Add a page.", "repro.ts", "node repro.ts", raised), 0));
    cr_expect(eq(sz, told_change("Add a page.", "docs/repro/conf.ts", "build docs/repro", raised), 0));
    cr_expect(eq(sz, told_change("Add a page.", "other.ts", "node repro.ts", raised), 1));
}

/* "FAIL file (15.4 s)" says where, and how long it took: no symptom that anybody looks for. */
Test(lesson_proofs, the_heading_of_a_failed_file_is_no_error) {
    static const char *const quotes[] = {"FAIL api tests/trips.spec.ts (15.423 s)",
                                         "src/trip.ts:7: TypeError: `findTrip` is not a function"};
    for (size_t i = 0; i < ARRAY_LEN(quotes); i++) {
        struct maker m = {0};
        struct lessons l;
        user(&m, "Build it.");
        run(&m, "bash run_tests.sh", 1, quotes[i]);
        say(&m, "`findTrip` throws a plain error, but the handler needs an `AppError`.");
        edit(&m, "src/trip.ts", "@@\n-  findTrip(new Error('x'));\n+  findTrip(new AppError('x'));\n", true);
        run(&m, "bash run_tests.sh", 0, "3 passed");
        learn(&l, &m);
        cr_expect(l.fixes.count == i, "%zu: %zu", i, l.fixes.count);
        lessons_finish(&l);
        finish(&m);
    }
}

Test(lesson_proofs, who_silences_or_moves_mends_nothing) {
    static const char *const diffs[] = {
        "-limit = 5\n+try { limit = 5000 } catch (e) {}\n",
        "-limit = 5\n+limit = 5000 as any\n",
        "-limit = 5\n+limit = 5000 as unknown as Limit\n",
        "-limit: Limit = 5\n+limit: any = 5000\n",
        "-limit = 5\n+// @ts-ignore\n+limit = 5000\n",
        "-  limit = 5\n+\n+limit = 5\n",
    };
    for (size_t i = 0; i < ARRAY_LEN(diffs); i++) {
        cr_expect(eq(sz, told_change("Add a page.", NULL, "make site", diffs[i]), 0), "%zu", i);
    }
    cr_expect(eq(sz, told_change("Add a page.", NULL, "make site",
                                 "-try { limit = 5 } catch (e) {}\n+try { limit = 5000 } catch (e) {}\n"), 1));
}

Test(lesson_proofs, a_run_that_was_asked_for_less_is_no_proof) {
    static const char up[] = "docker compose up --build", said[] = "limits.ts: error: `limit` is too low";
    autofree char *less = quoted_beside(up, said, "docker compose up", false);
    cr_expect(eq(str, less, "nothing"));
    autofree char *more = quoted_beside(up, said, "docker compose up -d --build", false);
    cr_expect(eq(str, more, (char *)(uintptr_t)said));
}

/* The same mistake and its mend: what passed is listed only if others can run it too. */
Test(lesson_proofs, what_only_this_session_has_is_no_check) {
    static const struct {
        const char *check;
        size_t listed;
    } cases[] = {
        {"node app.js", 1}, {"node repro.js", 0}, {"python3 - <<'EOF'\nimport app\napp.main()\nEOF", 0}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct maker m = {0};
        struct lessons l;
        user(&m, "Get it to run.");
        edit(&m, "repro.js", "use limits\n", false);
        run(&m, cases[i].check, 1, "Error: Cannot find module 'limits'");
        run(&m, "npm install limits", 0, "added 1 package");
        run(&m, cases[i].check, 0, "done");
        learn(&l, &m);
        cr_expect(eq(sz, l.fixes.count, 1), "%zu", i);
        cr_expect(eq(sz, l.commands.count, cases[i].listed), "%zu", i);
        lessons_finish(&l);
        finish(&m);
    }
}

/* Two starts in one line, of which the second never ran: the line is told, and the second alone, when
 * it passes, proves nothing of the first. */
static char *told_of_line(const char *now) {
    struct maker m = {0};
    struct lessons l;
    user(&m, "Start both.");
    run(&m, "cd /srv && docker compose up -d gluetun && docker compose up -d bazarr", 1,
        "Error response from daemon: Bind for 0.0.0.0:6767 failed: port is already allocated");
    edit(&m, "compose.yml", "-      - 6767:6767\n+      - 6768:6767\n", true);
    run(&m, now, 0, "started");
    learn(&l, &m);
    char *seen = l.fixes.count ? xstrdup(l.fixes.list[0].context) : NULL;
    lessons_finish(&l);
    finish(&m);
    return seen;
}

Test(lesson_proofs, a_line_of_two_commands_is_not_its_last_one) {
    static const char line[] = "cd /srv && docker compose up -d gluetun && docker compose up -d bazarr";
    autofree char *whole = told_of_line(line);
    cr_expect(eq(str, whole, (char *)(uintptr_t)(line + 11)), "from the folder that it went to");
    autofree char *second = told_of_line("docker compose up -d bazarr");
    cr_expect(second == NULL, "%s", second);
}
