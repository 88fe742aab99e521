/* Errors that a script prints and ends well, ends behind a search, edits that only a later diff
 * shows, and long changes of which the agent names the lines. */
#include "tests/unit/skills/trace_maker.h"

#include "base/buf.h"

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

Test(lesson_shown, what_the_session_wrote_may_print_its_error_and_end_well) {
    static const char diff[] = "-    X = check(X)\n+    X = check(X, dtype=float)\n";
    cr_expect(eq(sz, told_with("repro.py", true, diff), 1));
    cr_expect(eq(sz, told_with("repro.py", false, diff), 0), "the project's own mend");
    cr_expect(eq(sz, told_with("other.py", true, diff), 0), "its status tells");
    cr_expect(eq(sz, told_with("repro.py", true, "+    # dtype is not checked\n"), 0),
              "a remark explains nothing");
}

/* The edit's command does not say what it changed; a diff comes afterwards. before: the file was
 * edited before the error was seen. */
static char *change_told(bool before, const char *edit, const char *path, const char *shown) {
    struct maker m = {0};
    struct lessons l;
    user(&m, "Booleans fail.");
    if (before) {
        run(&m, "sed -i '3d' src/huber.py", 0, "");
    }
    run(&m, "python3 fit.py", 1, failing);
    run(&m, edit, 0, "");
    run(&m, "python3 fit.py", 0, "Success!");
    autofree char *diff = xasprintf("diff --git a/%s b/%s\nindex 1..2 100644\n--- a/%s\n+++ b/%s\n"
                                    "@@ -10,3 +10,3 @@\n def fit(X):\n%s     return X\n",
                                    path, path, path, path, shown);
    run(&m, "git diff", 0, diff);
    learn(&l, &m);
    char *told = xstrdup(l.fixes.count ? l.fixes.list[0].changes[0].to : "nothing");
    lessons_finish(&l);
    finish(&m);
    return told;
}

Test(lesson_shown, a_later_diff_says_what_an_edit_changed) {
    static const char lines[] = "-    X = check(X)\n+    X = check(X, dtype=float)\n";
    static const char edit[] = "sed -i '12c\\    X = check(X, dtype=float)' src/huber.py";
    autofree char *told = change_told(false, edit, "src/huber.py", lines);
    cr_expect(eq(str, told, lines));
    autofree char *own = change_told(true, edit, "src/huber.py", lines);
    cr_expect(eq(str, own, "nothing"), "the first edit may have brought the error");
    autofree char *other = change_told(false, edit, "src/other_huber.py", lines);
    cr_expect(eq(str, other, "nothing"), "another file");
    autofree char *undone = change_told(false, "sed -i '9s/^.*fmin_l.*$/    return None/' src/huber.py", "src/huber.py", lines);
    cr_expect(eq(str, undone, "nothing"), "the diff has nothing of this edit");
    autofree char *silent = change_told(false, "sed -i '9d' src/huber.py", "src/huber.py", lines);
    cr_expect(eq(str, silent, lines), "the command names nothing");
}

/* sed replaces parts of lines; beside: in the line of the run that then fails. */
static char *told_of_sed(bool shown, bool beside) {
    struct maker m = {0};
    struct lessons l;
    static const char sed[] = "sed -i 's/collections import Mapping,/collections.abc import/' src/maps.py";
    autofree char *line = xasprintf("%s%spython3 fit.py", beside ? sed : "", beside ? " && " : "");
    user(&m, "Get it to run.");
    run(&m, "python3 fit.py", 1, "TypeError: dict is no mapping");
    run(&m, line, 1, "ImportError: cannot import name 'Mapping' from 'collections'");
    run(&m, beside ? "sed -i 9d src/maps.py" : sed, 0, "");
    run(&m, "python3 fit.py", 0, "ok");
    if (shown) {
        run(&m, "git diff", 0, "diff --git a/src/maps.py b/src/maps.py\n--- a/src/maps.py\n+++ b/src/maps.py\n@@ -1 +1 @@\n"
            "-from collections import Mapping, Set\n+from collections.abc import Set\n");
    }
    learn(&l, &m);
    char *told = xstrdup(l.fixes.count ? l.fixes.list[0].changes[0].to : "nothing");
    lessons_finish(&l);
    finish(&m);
    return told;
}

Test(lesson_shown, what_sed_replaces_is_told_in_whole_lines) {
    autofree char *script = told_of_sed(false, false);
    cr_expect(eq(str, script, "nothing"));
    autofree char *whole = told_of_sed(true, false);
    cr_expect(eq(str, whole,
                 "-from collections import Mapping, Set\n+from collections.abc import Set\n"));
    autofree char *before = told_of_sed(true, true);
    cr_expect(eq(str, before, "nothing"), "the error was seen with the change");
}

Test(lesson_shown, a_search_that_finds_nothing_proves_what_it_looks_for) {
    static const struct {
        const char *later;
        size_t told;
    } cases[] = {
        {"docker build . 2>&1 | grep -iE \"(error|DONE )\" | tail -20", 1},
        {"docker build . 2>&1 | grep -E \"(Successfully|DONE )\"", 0},
        {"docker build . 2>&1 | grep -v \"error\"", 0},
        {"docker build . 2>&1 | grep \"err.*r\"", 0}, /* not plain: nobody looks */
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct maker m = {0};
        struct lessons l;
        user(&m, "Get it to build.");
        run(&m, "docker build . 2>&1 | grep \"error TS\"", 0,
            "src/a.ts:6:3 - error TS2724: no exported member named 'TooManyRequestsException'.");
        edit(&m, "src/a.ts", "-  TooManyRequestsException,\n+  HttpException,\n", true);
        run(&m, cases[i].later, 0, "DONE 0.1s");
        learn(&l, &m);
        cr_expect(eq(sz, l.fixes.count, cases[i].told), "%zu", i);
        lessons_finish(&l);
        finish(&m);
    }
}

/* What is told of an edit that the agent's reason names. */
static char *told_of(const char *diff) {
    struct maker m = {0};
    struct lessons l;
    user(&m, "The import fails.");
    run(&m, "npm test", 1, "Error: the transaction was committed too early");
    say(&m, "A transaction does not wait because `encryptAll` is not of the database.");
    edit(&m, "src/import.ts", diff, true);
    run(&m, "npm test", 0, "ok");
    learn(&l, &m);
    char *told = xstrdup(l.fixes.count ? l.fixes.list[0].changes[0].to : "nothing");
    lessons_finish(&l);
    finish(&m);
    return told;
}

/* Applied as it is told, it must be the change that was made. */
Test(lesson_shown, a_change_is_told_with_both_its_sides_or_not_at_all) {
    static const char gone[] = "-  await encryptAll(batch);\n", now[] = "+  prepare(batch);\n";
    static const char lone[] = "+  encryptAll(batch);\n";
    static const char put[] = "+  lock();\n+  lock();\n+  lock();\n";
    struct {
        char *diff;
        bool told;
    } cases[] = {
        {xasprintf("%s%s", gone, now), true},
        {xasprintf("%s%s%s%s%s", gone, now, put, put, "+  lock();\n"), true},
        {xasprintf("%s%s%s%s%s%s", gone, now, put, put, "+  lock();\n+  lock();\n", ""), true},
        {xasprintf("%s%s%s%s%s", gone, now, put, put, put), false}, /* too many lines */
        {xasprintf("%s", lone), false}, /* nobody sees in whose place */
        {xasprintf("   begin();\n%s", lone), true},
        {xasprintf("   begin();\n%s%s", lone, put), false}, /* four lines of one side */
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        autofree char *told = told_of(cases[i].diff);
        const char *whole = cases[i].diff + (*cases[i].diff == ' ' ? strlen("   begin();\n") : 0);
        cr_expect(eq(str, told, (char *)(cases[i].told ? whole : "nothing")), "%zu", i);
        free(cases[i].diff);
    }
}

/* A traceback's line of source is no error, but the line behind a frame without source is. */
Test(lesson_shown, source_in_a_traceback_is_not_quoted) {
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

/* The agent's few words before a change that nothing else ties to the error. */
static char *told_by_words(const char *output, const char *words, const char *diff) {
    struct maker m = {0};
    struct lessons l;
    user(&m, "Get it to pass.");
    run(&m, "npx vitest run", 1, output);
    say(&m, words);
    edit(&m, "src/aggregate.ts", diff, true);
    run(&m, "npx vitest run", 0, "ok");
    learn(&l, &m);
    char *told = xstrdup(l.fixes.count ? l.fixes.list[0].cause : "nothing");
    lessons_finish(&l);
    finish(&m);
    return told;
}

Test(lesson_shown, the_agents_few_words_explain_a_change_that_has_their_names) {
    static const char output[] = "AssertionError: expected 1718398800000 to be 1718409600000";
    static const char words[] = "The day is wrong because `setHours` uses local time, not UTC.";
    static const char diff[] = "-  dayStart.setHours(0, 0, 0, 0);\n+  dayStart.setUTCHours(0, 0, 0, 0);\n";
    autofree char *said = told_by_words(output, words, diff);
    cr_expect(eq(str, said, (char *)words));
    autofree char *unnamed = told_by_words(output, "The day is wrong because of `parse` alone.", diff);
    cr_expect(eq(str, unnamed, "nothing"), "the change has no name of the sentence");
    autofree char *two = xasprintf("%s\nTypeError: rows.at is not a function", output);
    autofree char *beside = told_by_words(two, words, diff);
    cr_expect(eq(str, beside, "nothing"), "which of the two it ended is not said");
    autofree char *guess = told_by_words(output, "Maybe `setHours` is wrong because it uses local time.", diff);
    cr_expect(eq(str, guess, "nothing"));
    static const char *const counts[] = {"1 failed, 3 passed in 0.1s", "Tests: 2 failed", "Errors 3 failed"};
    for (size_t i = 0; i < ARRAY_LEN(counts); i++) {
        autofree char *counted = told_by_words(counts[i], words, diff);
        cr_expect(eq(str, counted, "nothing"), "%s names no error", counts[i]);
    }
    autofree char *long_words = xasprintf("%s %0400d", words, 0);
    autofree char *lost = told_by_words(output, long_words, diff);
    cr_expect(eq(str, lost, "nothing"), "a thought among many");
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
Test(lesson_shown, a_script_that_tries_out_teaches_nothing) {
    static const char diff[] = "-call_command('migrate')\n+schema_editor.create_table('app_book')\n";
    cr_expect(eq(sz, told_of_script("/usr/lib/django/db/utils.py", diff), 0));
    cr_expect(eq(sz, told_of_script("repro.py", diff), 0), "raised in the script itself");
}

/* Behind a pipe the output decides: a run that sums up a failure is no proof of another's end. */
Test(lesson_shown, a_line_that_sums_up_a_failure_is_no_success) {
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
