/* What keeps a lesson from being told, from public sessions, cut short. */
#include "tests/unit/skills/trace_maker.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

static const char failing[] = "Traceback (most recent call last):\n"
                              "TypeError: boolean negative is not supported by dtype";

/* The session writes the script, which ends with status 0 each time, and mends a file that it
 * wrote, or that was there. */
static size_t told_with(const char *script, bool wrote, const char *diff) {
    struct maker m = {0};
    struct lessons l;
    user(&m, "Booleans fail.");
    edit(&m, script, "import traceback\ntry:\n    fit()\nexcept Exception:\n    traceback.print_exc()\n", false);
    if (wrote) {
        edit(&m, "src/huber.py", "def fit(X):\n    X = check(X)\n", false);
    }
    run(&m, "python3 repro.py", 0, failing);
    edit(&m, "src/huber.py", diff, true);
    run(&m, "python3 repro.py", 0, "Success!");
    run(&m, "pytest tests/test_huber.py", 0, "12 passed");
    learn(&l, &m);
    size_t told = l.fixes.count;
    lessons_finish(&l);
    finish(&m);
    return told;
}

Test(lesson_guards, what_the_session_wrote_may_print_its_error_and_end_well) {
    static const char diff[] = "-    X = check(X)\n+    X = check(X, dtype=float)\n";
    cr_expect(eq(sz, told_with("repro.py", true, diff), 1));
    cr_expect(eq(sz, told_with("repro.py", false, diff), 0), "the project's own mend");
    cr_expect(eq(sz, told_with("other.py", true, diff), 0), "its status tells");
    cr_expect(eq(sz, told_with("repro.py", true, "+    # dtype is not checked\n"), 0),
              "a remark explains nothing");
}

/* A traceback's line of source is no error, but the line behind a frame without source is. */
Test(lesson_guards, source_in_a_traceback_is_not_quoted) {
    struct maker m = {0};
    struct lessons l;
    user(&m, "Get it to run.");
    run(&m, "python3 x.py", 1,
        "  File \"x.py\", line 3, in main\n    self.error(_('arguments are required: %s') %\n"
        "  File \"<frozen runpy>\", line 9, in run\nFieldError: no field named 'slug'");
    edit(&m, "x.py", "-  get('slug')\n+  get('name')\n", true);
    run(&m, "python3 x.py", 0, "ok");
    learn(&l, &m);
    cr_assert(eq(sz, l.fixes.count, 1));
    cr_expect(eq(str, l.fixes.list[0].quote, "FieldError: no field named 'slug'"));
    lessons_finish(&l);
    finish(&m);
}

/* A script of the session's own, mended while another file is. traced: where it was raised. */
static size_t told_of_script(const char *traced, const char *diff) {
    struct maker m = {0};
    struct lessons l;
    autofree char *output =
        xasprintf("Traceback (most recent call last):\n  File \"repro.py\", line 9, in <module>\n    make()\n"
                  "  File \"%s\", line 328, in execute\n    return run(query)\n"
                  "sqlite3.OperationalError: no such table: app_book", traced);
    user(&m, "Mend it.");
    edit(&m, "src/query.py", "-    return 1\n+    return 2\n", true);
    edit(&m, "repro.py", "call_command('migrate')\nmake()\n", false);
    run(&m, "python3 repro.py", 1, output);
    edit(&m, "repro.py", diff, true);
    run(&m, "python3 repro.py", 0, "made");
    learn(&l, &m);
    size_t told = l.fixes.count;
    lessons_finish(&l);
    finish(&m);
    return told;
}

/* Even if a library raised the error: what it was tried out with is not what the session is about. */
Test(lesson_guards, a_script_that_tries_out_teaches_nothing) {
    static const char diff[] = "-call_command('migrate')\n+schema_editor.create_table('app_book')\n";
    cr_expect(eq(sz, told_of_script("/usr/lib/django/db/utils.py", diff), 0));
    cr_expect(eq(sz, told_of_script("repro.py", diff), 0), "raised in the script itself");
}

/* Behind a pipe the output decides: a run that sums up a failure is no proof of another's end. */
Test(lesson_guards, a_line_that_sums_up_a_failure_is_no_success) {
    static const char *const ends[] = {"Container app Started",
                                       "failed to solve: process \"/bin/sh -c npm run build\" did not "
                                       "complete successfully: exit code: 1"};
    for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
        struct maker m = {0};
        struct lessons l;
        user(&m, "Get it up.");
        run(&m, "docker compose up --build -d 2>&1 | tail -20", 0, "error TS2322: Type 'TableRow' is not assignable");
        edit(&m, "src/table.tsx", "-  render(row as TableRow)\n+  render(row)\n", true);
        run(&m, "docker compose up --build -d 2>&1 | tail -20", 0, ends[i]);
        learn(&l, &m);
        cr_expect(eq(sz, l.fixes.count, i == 0), "%zu", i);
        lessons_finish(&l);
        finish(&m);
    }
}

/* A run fails, one edit, and it passes; said: the agent's words before the edit, or NULL. */
static size_t told_edit(const char *output, const char *said, const char *diff) {
    struct maker m = {0};
    struct lessons l;
    user(&m, "Check it.");
    run(&m, "cargo check", 1, output);
    if (said) {
        say(&m, said);
    }
    edit(&m, "src/group.rs", diff, true);
    run(&m, "cargo check", 0, "Finished");
    learn(&l, &m);
    size_t told = l.fixes.count;
    lessons_finish(&l);
    finish(&m);
    return told;
}

Test(lesson_guards, what_the_program_advised_is_read_there) {
    static const char diff[] = "@@\n+#[derive(Clone)]\n pub struct Config {\n";
    cr_expect(eq(sz, told_edit("error: the method `clone` is not there for `Config` of src/group.rs\n", NULL, diff), 1));
    cr_expect(eq(sz, told_edit("error: the method `clone` is not there for `Config` of src/group.rs\n"
                               "help: consider this\n   |\n 7 + #[derive(Clone)]\n   |\n", NULL, diff), 0));
}

/* Nothing but its place ties the change to an error that quotes nothing. */
Test(lesson_guards, an_error_that_names_nothing_needs_a_reason) {
    static const char diff[] = "@@\n-        break;\n+        return Ok(());\n";
    cr_expect(eq(sz, told_edit("error[E0308]: mismatched types --> src/group.rs:4:9", NULL, diff), 0));
    cr_expect(eq(sz, told_edit("error[E0308]: mismatched types of `u8` --> src/group.rs:4:9", NULL, diff), 1));
    cr_expect(eq(sz, told_edit("error[E0308]: mismatched types --> src/group.rs:4:9",
                               "The types are wrong because a `break` has no value.", diff), 1));
}

/* A field of some struct, and an import, which goes to the head of its file. */
Test(lesson_guards, nobody_sees_where_a_line_goes_that_only_comes) {
    static const char error[] = "error: no field named organization_id in src/group.rs";
    static const char field[] = "@@\n struct Group {\n+    organization_id: u64,\n";
    cr_expect(eq(sz, told_edit(error, NULL, field), 0));
    cr_expect(eq(sz, told_edit(error, "The row needs an `organization_id` because events have one.", field), 1));
    cr_expect(eq(sz, told_edit(error, NULL, "@@\n use std::io;\n+use group::organization_id;\n"), 1));
}

/* What a secret was masked with cannot be written; that it goes is seen. */
Test(lesson_guards, a_masked_line_is_no_remedy) {
    static const char error[] = "error: no session is set in `group` of src/group.rs";
    cr_expect(eq(sz, told_edit(error, NULL, "@@\n-  <secret>>session();\n+  if (<secret>>has_session()) {\n"), 0));
    cr_expect(eq(sz, told_edit(error, NULL, "@@\n-  token = \"<secret>\";\n+  token = session(group);\n"), 1));
}

Test(lesson_guards, what_a_linter_has_against_a_name_is_no_lesson) {
    cr_expect(eq(sz, told_edit("src/group.rs:7: \"fmt\" imported and not used", NULL, "@@\n-import \"fmt\"\n import \"io\"\n"), 0));
    cr_expect(eq(sz, told_edit("src/group.rs:7: error: \"fmt\" is not imported", NULL, "@@\n-import \"fmd\"\n+import \"fmt\"\n"), 1));
}

/* Two commands, of which the second passes: what is told of them, or "nothing". */
static char *told_command(const char *failed, const char *output, const char *now, const char *options) {
    struct maker m = {0};
    struct lessons l;
    user(&m, "Get it to work.");
    run(&m, failed, 1, output);
    run(&m, now, 0, "fine");
    set_text(&m.trace.events[m.trace.count - 2], options);
    learn(&l, &m);
    cr_assert(l.fixes.count <= 1);
    char *told = l.fixes.count ? xasprintf("%s: %s", l.fixes.list[0].quote, l.fixes.list[0].changes[0].to) : xstrdup("nothing");
    lessons_finish(&l);
    finish(&m);
    return told;
}

Test(lesson_guards, another_command_does_what_the_failed_one_was_to_do) {
    static const struct {
        const char *failed, *output, *now, *told;
    } cases[] = {
        {"docker exec plex scanner --scan --refresh --section 1", "Error: Section doesn't exist.",
         "docker exec plex scanner --list", "nothing"},
        {"npx vitest run --dir src/a", "Error: Expected a single value for option \"--dir <path>\"", "npx vitest run",
         "nothing"},
        {"npx vitest run --level=many", "Error: level 'many' is not known", "npx vitest run --level=four",
         "Error: level 'many' is not known: npx vitest run --level=four"},
        /* others do not have the file */
        {"npx tsc --project /dev/stdin", "error TS18003: No inputs were found in '/dev/stdin'.",
         "cat > a.json <<'E'\n{}\nE\nnpx tsc --project a.json", "nothing"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        autofree char *told = told_command(cases[i].failed, cases[i].output, cases[i].now, "");
        cr_expect(eq(str, told, (char *)(uintptr_t)cases[i].told), "%zu", i);
    }
}

/* The sandbox is why, if a line says so: the last one, as others only tell what failed then. */
Test(lesson_guards, a_call_that_asks_for_more_is_told_with_what_was_forbidden) {
    static const char ask[] = "sandbox_permissions=require_escalated";
    static const struct {
        const char *output, *told;
    } cases[] = {
        {"ps: Operation not permitted\nfailed to load config from vite.config.ts\nError: spawn EPERM\n    at f (a.js:1)\n"
         "npm error Lifecycle script `build` failed",
         "Error: spawn EPERM: npm run build  # sandbox_permissions=require_escalated"},
        {"Error: fetch failed", "nothing"},
        {"fatal: Unable to create '.git/refs/heads/x.lock': Operation not permitted", "nothing"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        autofree char *told = told_command("npm run build", cases[i].output, "npm run build", ask);
        cr_expect(eq(str, told, (char *)(uintptr_t)cases[i].told), "%zu", i);
    }
}

/* A name that begins with "@" or "(" beneath the working folder. */
Test(lesson_guards, a_name_beneath_the_folder_is_not_garbled) {
    struct maker m = {0};
    struct lessons l;
    m.trace.cwd = xstrdup("/w/site");
    user(&m, "Read it.");
    run(&m, "cat /w/site/@bmad/pm.md", 1, "cat: /w/site/@bmad/pm.md: No such file or directory");
    run(&m, "cat /w/site/_bmad/pm.md", 0, "# PM");
    learn(&l, &m);
    cr_assert(eq(sz, l.fixes.count, 1));
    cr_expect(eq(str, l.fixes.list[0].changes[0].from, "cat @bmad/pm.md"));
    cr_expect(eq(str, l.fixes.list[0].changes[0].to, "cat _bmad/pm.md"));
    lessons_finish(&l);
    finish(&m);
}

/* A Go test's verdict names the test alone; what it says stands below it. */
Test(lesson_guards, what_a_test_says_is_quoted_and_not_its_verdict) {
    struct maker m = {0};
    struct lessons l;
    user(&m, "Get the tests green.");
    run(&m, "make itest", 2,
        "go test ./integration/...\n--- FAIL: TestReopen\n    store_test.go:41: lock port 9417 is in use (set "
        "QUILL_LOCK_PORT)\nFAIL\nmake: *** [Makefile:12: itest] Error 1");
    run(&m, "QUILL_LOCK_PORT=9500 make itest", 0, "go test ./integration/...\nok  quill/integration 3.2s");
    learn(&l, &m);
    cr_assert(eq(sz, l.fixes.count, 1));
    cr_expect(eq(str, l.fixes.list[0].quote, "store_test.go:41: lock port 9417 is in use (set QUILL_LOCK_PORT)"));
    cr_expect(eq(str, l.fixes.list[0].changes[0].to, "QUILL_LOCK_PORT=9500 make itest"));
    lessons_finish(&l);
    finish(&m);
}
