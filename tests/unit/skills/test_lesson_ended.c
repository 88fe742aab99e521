/* Errors that several edits ended: which hunk is told, and when none is. */
#include "tests/unit/skills/trace_maker.h"

#include "base/buf.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

/* More edits of something else than the search by one edit allows. */
static void edit_others(struct maker *m) {
    for (int i = 0; i < 7; i++) {
        autofree char *path = xasprintf("other%d.c", i), *diff = xasprintf("-one(%d)\n+two(%d)\n", i, i);
        edit(m, path, diff, true);
    }
}

struct change {
    const char *path, *diff; /* path NULL: no more */
};

/* The hunk that is told of what ended the error, with its file; "nothing" if none is. */
static char *told_of(const char *command, const char *error, const struct change changes[4]) {
    struct maker m = {0};
    struct lessons l;
    user(&m, "Get it to work.");
    run(&m, command, 1, error);
    edit_others(&m);
    for (size_t i = 0; i < 4 && changes[i].path; i++) {
        edit(&m, changes[i].path, changes[i].diff, true);
    }
    run(&m, command, 0, "done");
    learn(&l, &m);
    const struct lesson_change *c = l.fixes.count ? l.fixes.list[0].changes : NULL;
    char *told = c ? xasprintf("%s %s", c->path, c->to) : xstrdup("nothing");
    lessons_finish(&l);
    finish(&m);
    return told;
}

Test(lesson_ended, the_hunk_that_says_what_the_error_says_is_told) {
    static const struct {
        const char *command, *error;
        struct change changes[4];
        const char *told;
    } cases[] = {
        /* the words of a name, in one of two hunks of a file */
        {"npx hardhat compile",
         "Error HH8: There's one or more errors in your config file:\n\n"
         "  * Invalid account: #0 - private key too short, expected 32 bytes",
         {{"hardhat.config.js", "@@ -3,1 +3,1 @@\n-  solidity: one,\n+  solidity: two,\n@@ -9,1 +9,1 @@\n"
                                "-  accounts: [env.PRIVATE_KEY],\n"
                                "+  accounts: env.PRIVATE_KEY && env.PRIVATE_KEY.length === 66 ? [env.PRIVATE_KEY] : [],\n"},
          {"README.md", "-old\n+new\n"}},
         "hardhat.config.js -  accounts: [env.PRIVATE_KEY],\n"
         "+  accounts: env.PRIVATE_KEY && env.PRIVATE_KEY.length === 66 ? [env.PRIVATE_KEY] : [],\n"},
        /* a name with joints */
        {"mvn package", "[ERROR] Could not find artifact org.flywaydb:flyway-database-postgresql:jar:9.22.3 in central",
         {{"pom.xml", "@@ -3,1 +3,1 @@\n-  <a>1</a>\n+  <a>2</a>\n"},
          {"app.yml", "@@ -3,1 +3,1 @@\n-port: 1\n+port: 2\n"},
          {"deps.xml", "@@ -3,1 +3,1 @@\n-  <artifactId>flyway-database-postgresql</artifactId>\n"
                      "+  <artifactId>flyway-core</artifactId>\n"}},
         "deps.xml -  <artifactId>flyway-database-postgresql</artifactId>\n"
         "+  <artifactId>flyway-core</artifactId>\n"},
        /* two names, each in a hunk: nobody knows which */
        {"make", "error: `fooBar` is no `barFoo`", {{"a.c", "-fooBar\n+two\n"}, {"b.c", "-barFoo\n+four\n"}}, "nothing"},
        /* two hunks that change the same name */
        {"tsc", "a.ts(3,4): error TS2583: Cannot find name 'useMemoCache'.",
         {{"a.ts", "@@ -40,1 +40,1 @@\n-one(useMemoCache);\n+two(1);\n"},
          {"b.ts", "@@ -40,1 +40,1 @@\n-three(useMemoCache, useFrame);\n+four(2);\n"},
          {"c.ts", "@@ -1,1 +1,1 @@\n-x\n+y\n"}},
         "a.ts -one(useMemoCache);\n+two(1);\n"},
        /* nothing says it */
        {"make", "error: bad weather in `fooBar`", {{"a.c", "-one\n+two\n"}, {"b.c", "-three\n+four\n"}}, "nothing"},
        /* a compiler's sentence at the very line, beside other edits */
        {"tsc", "a.ts(41,4): error TS2790: The operand of an operator must be optional.",
         {{"b.ts", "@@ -7,1 +7,1 @@\n-one(1);\n+one(2);\n"},
          {"a.ts", "@@ -41,1 +41,1 @@\n-  delete ret.word;\n+  const { word, ...rest } = ret;\n"}},
         "a.ts -  delete ret.word;\n+  const { word, ...rest } = ret;\n"},
        {"tsc", "c.ts(41,4): error TS2790: The operand of an operator must be optional.",
         {{"b.ts", "@@ -7,1 +7,1 @@\n-one(1);\n+one(2);\n"},
          {"a.ts", "@@ -41,1 +41,1 @@\n-  delete ret.word;\n+  const { word, ...rest } = ret;\n"}},
         "nothing"},
        /* a test demands something else */
        {"npx vitest", "Error: expect(element).toHaveClass(\"transition-none\")",
         {{"list.test.tsx", "@@ -41,1 +41,1 @@\n-  expect(a).toHaveClass('x');\n+  expect(a).toBe(b);\n"},
          {"b.ts", "@@ -7,1 +7,1 @@\n-one(1);\n+one(2);\n"}},
         "nothing"},
        /* it needs what stands elsewhere */
        {"npx jest", "TypeError: file.arrayBuffer is not a function",
         {{"a.ts", "@@ -2,1 +2,1 @@\n-x\n+const readAsText = () => {\n"},
          {"a.ts", "@@ -41,1 +41,1 @@\n-  const bytes = await file.arrayBuffer();\n+  const bytes = await readAsText();\n"}},
         "nothing"},
        /* one step of two */
        {"tsc", "error TS2339: Property 'fooBar' does not exist on type 'Window'.",
         {{"a.ts", "@@ -41,1 +41,1 @@\n-  window.fooBar;\n+  (window as Odd).fooBaz;\n"},
          {"a.ts", "@@ -41,1 +41,1 @@\n-  (window as Odd).fooBaz;\n+  window.open();\n"}},
         "nothing"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        autofree char *told = told_of(cases[i].command, cases[i].error, cases[i].changes);
        cr_expect(eq(str, told, (char *)(uintptr_t)cases[i].told), "case %zu", i);
    }
}

/* With own: the session showed that the project declares the type. */
static size_t told_about(bool own) {
    struct maker m = {0};
    struct lessons l;
    user(&m, "Get it to work.");
    run(&m, "cat src/models.ts", 0, own ? "export interface BookingRow {\n  id: string;\n}" : "nothing");
    run(&m, "tsc", 1, "error TS2339: Property 'rowName' does not exist on type 'BookingRow'.");
    edit_others(&m);
    edit(&m, "a.ts", "-show(row.rowName);\n+show(row.id);\n", true);
    run(&m, "tsc", 0, "");
    learn(&l, &m);
    size_t count = l.fixes.count;
    lessons_finish(&l);
    finish(&m);
    return count;
}

Test(lesson_ended, what_the_project_declares_is_its_own_matter) {
    cr_expect(eq(sz, told_about(false), 1));
    cr_expect(eq(sz, told_about(true), 0));
}

/* The error comes back later, with another command. */
static size_t told_if_back(bool back) {
    struct maker m = {0};
    struct lessons l;
    static const char error[] = "error: Cannot find member \"FILL_VERTICAL\" in base \"GradientTexture2D\".";
    user(&m, "Get it to work.");
    run(&m, "godot --headless", 1, error);
    edit_others(&m);
    edit(&m, "main.gd", "-g.fill = GradientTexture2D.FILL_VERTICAL\n+g.fill = 1\n", true);
    run(&m, "godot --headless", 0, "");
    run(&m, "godot --import", back, back ? error : "");
    learn(&l, &m);
    size_t count = l.fixes.count;
    lessons_finish(&l);
    finish(&m);
    return count;
}

Test(lesson_ended, an_error_that_comes_back_has_not_ended) {
    cr_expect(eq(sz, told_if_back(false), 1));
    cr_expect(eq(sz, told_if_back(true), 0));
}

/* A script that is typed anew: raised within a library that its line calls, or by the line itself. */
static char *told_of_script(const char *deepest) {
    struct maker m = {0};
    struct lessons l;
    static const char script[] = "python3 - <<'PY'\nfrom pathlib import Path\n%sp = Path('a.py')\n%s\nprint(len(s))\nPY";
    autofree char *first = xasprintf(script, "", "s = p.read_text()");
    autofree char *again = xasprintf(script, "print(1)\n", "s = p.read_text(encoding='utf-8')");
    autofree char *error = xasprintf("Traceback (most recent call last):\n  File \"<stdin>\", line 3, in <module>\n"
                                     "    s = p.read_text()\n%sUnicodeDecodeError: codec cannot decode byte 0xe2",
                                     deepest);
    user(&m, "Read it.");
    run(&m, first, 1, error);
    run(&m, again, 0, "7");
    learn(&l, &m);
    char *told = xstrdup(l.fixes.count ? l.fixes.list[0].changes[0].to : "nothing");
    lessons_finish(&l);
    finish(&m);
    return told;
}

Test(lesson_ended, what_a_library_refused_is_told_of_the_line_that_asked) {
    autofree char *library = told_of_script("  File \"/usr/lib/python3.6/pathlib.py\", line 9, in read_text\n    return f.read()\n");
    cr_expect(eq(str, library, "-s = p.read_text()\n+s = p.read_text(encoding='utf-8')\n"));
    autofree char *itself = told_of_script("");
    cr_expect(eq(str, itself, "nothing"));
}

/* PowerShell names the program once, and searches the output for lines that the error has. */
static char *run_of(const char *pattern) {
    struct maker m = {0};
    struct lessons l;
    autofree char *command = xasprintf("$exe = \"C:\\bin\\godot.exe\"; & $exe --headless 2>&1 | Select-String -Pattern \"%s\"; "
                                       "Write-Output \"exit: $LASTEXITCODE\"", pattern);
    user(&m, "Get it to work.");
    run(&m, command, 0, "SCRIPT ERROR: Cannot find member \"FILL_VERTICAL\" in base \"GradientTexture2D\".\nexit: 0");
    edit(&m, "main.gd", "-g.fill = GradientTexture2D.FILL_VERTICAL\n+g.fill = 1\n", true);
    edit(&m, "hud.gd", "-one\n+two\n", true);
    autofree char *later = xasprintf("%s; Write-Output done", command);
    run(&m, later, 0, "exit: 0\ndone");
    learn(&l, &m);
    char *told = xstrdup(l.fixes.count ? l.fixes.list[0].context : "nothing");
    lessons_finish(&l);
    finish(&m);
    return told;
}

Test(lesson_ended, powershell_names_its_program_and_shows_what_it_looks_for) {
    autofree char *shown = run_of("error|Failed"), *hidden = run_of("Registered");
    cr_expect(eq(str, shown, "godot.exe --headless"));
    cr_expect(eq(str, hidden, "nothing"));
}

/* The reader tells the file that a command writes beside the command: what it then runs may fail. */
Test(lesson_ended, a_command_that_writes_its_script_fails_as_what_it_runs) {
    struct maker m = {0};
    struct lessons l;
    user(&m, "Read it.");
    run(&m, "cat > fit.py <<'EOF'\nimport scales\nEOF\npython3 fit.py", 1, "ModuleNotFoundError: No module named 'scales'");
    struct trace_event result = m.trace.events[--m.trace.count];
    edit(&m, "fit.py", "import scales\n", false);
    m.trace.events[m.trace.count - 1].call = xstrdup(result.call);
    *add(&m, EVENT_RESULT) = result;
    m.trace.events[m.trace.count - 1].number = (uint32_t)m.trace.count;
    edit(&m, "fit.py", "-import scales\n+import scale\n", true);
    run(&m, "python3 fit.py", 0, "3");
    learn(&l, &m);
    cr_assert(eq(sz, l.fixes.count, 1));
    cr_expect(eq(str, l.fixes.list[0].changes[0].to, "-import scales\n+import scale\n"));
    lessons_finish(&l);
    finish(&m);
}

/* The agent says what the error and the change have to do with each other, in whatever language; a
 * terminal broke the error's line. */
Test(lesson_ended, names_say_the_reason_and_broken_lines_are_joined) {
    struct maker m = {0};
    struct lessons l;
    static const char line[] = "SCRIPT ERROR: Invalid assignment of property or key 'texture' with value of type 'GradientTexture2D' on a base object o";
    autofree char *error = xasprintf("%s\nf type 'ColorRect'.", line);
    user(&m, "Get it to work.");
    run(&m, "godot --headless", 1, error);
    say(&m, "看一下。`ColorRect` 没有 `texture` 属性（要用 `TextureRect`）。继续。");
    edit_others(&m);
    edit(&m, "main.gd", "-var bg := ColorRect.new()\n+var bg := TextureRect.new()\n", true);
    run(&m, "godot --headless", 0, "");
    learn(&l, &m);
    cr_assert(eq(sz, l.fixes.count, 1));
    const struct lesson *f = &l.fixes.list[0];
    cr_expect(strstr(f->quote, "on a base object of type 'ColorRect'.") != NULL);
    cr_assert(f->cause != NULL);
    cr_expect(eq(str, f->cause, "`ColorRect` 没有 `texture` 属性（要用 `TextureRect`）。"));
    lessons_finish(&l);
    finish(&m);
}

/* Which line is told of an output: what npm found is no conflict, nor is an overload the call. */
Test(lesson_ended, the_line_that_is_wrong_is_told) {
    static const char *const outputs[][2] = {
        {"npm error code ERESOLVE\nnpm error ERESOLVE could not resolve\nnpm error\nnpm error Found: @a/common@19.2.20\n"
         "npm error   peer @a/common@\"19.2.20\" from @a/forms@19.2.20\nnpm error\n"
         "npm error Could not resolve dependency:\nnpm error peer @a/common@\"^21.0.0\" from @a/cdk@21.2.4",
         "npm error Could not resolve dependency: npm error peer @a/common@\"^21.0.0\" from @a/cdk@21.2.4"},
        {"src/peer.ts(30,27): error TS2769: No overload matches this call of peer.\n"
         "  Overload 1 of 5, '(peer: null): string', gave the following error.\n"
         "    Type 'string' is not assignable to type 'number'.",
         "src/peer.ts(30,27): error TS2769: No overload matches this call of peer."},
    };
    for (size_t i = 0; i < ARRAY_LEN(outputs); i++) {
        struct maker m = {0};
        struct lessons l;
        user(&m, "Build it.");
        run(&m, "make it", 1, outputs[i][0]);
        edit(&m, "Dockerfile", "-RUN npm ci\n+RUN npm ci --legacy-peer-deps\n", true);
        run(&m, "make it", 0, "done");
        learn(&l, &m);
        cr_assert(eq(sz, l.fixes.count, 1));
        cr_expect(eq(str, l.fixes.list[0].quote, (char *)(uintptr_t)outputs[i][1]));
        lessons_finish(&l);
        finish(&m);
    }
}

/* A script for trying out is refused by what it tries: of three lines the one that the traceback shows. */
Test(lesson_ended, of_a_hunk_the_line_that_the_traceback_shows_is_told) {
    struct maker m = {0};
    struct lessons l;
    user(&m, "Mend the detector.");
    edit(&m, "debug.py", "print(1)\nchanges = detector.changes(graph=None)\nprint(2)\n", false);
    run(&m, "python3 debug.py", 1,
        "Traceback (most recent call last):\n  File \"debug.py\", line 2, in <module>\n    changes = detector.changes(graph=None)\n"
        "  File \"/w/detector/core.py\", line 7, in changes\n    return graph.leaf_nodes()\n"
        "AttributeError: 'NoneType' object has no attribute 'leaf_nodes'");
    edit_others(&m);
    edit(&m, "debug.py", "-print(1)\n-changes = detector.changes(graph=None)\n-print(2)\n"
                         "+print(3)\n+changes = detector.detect_changes()\n+print(4)\n", true);
    run(&m, "python3 debug.py", 0, "ok");
    learn(&l, &m);
    cr_assert(eq(sz, l.fixes.count, 1));
    cr_expect(eq(str, l.fixes.list[0].changes[0].to, "-changes = detector.changes(graph=None)\n+changes = detector.detect_changes()\n"));
    lessons_finish(&l);
    finish(&m);
}
