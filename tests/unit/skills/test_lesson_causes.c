/* Which change is the fix of a failure, and which one explains nothing. */
#include "tests/unit/skills/trace_maker.h"

#include "base/buf.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

/* A failing command, an edit of file, and a later run: what is told, as "kind from>to".
 */
static char *told(const char *failing, const char *error, const char *path,
                  const char *diff, const char *later) {
    struct maker m = {0};
    struct lessons l;
    user(&m, "Get it to work.");
    run(&m, failing, 1, error);
    if (path) {
        edit(&m, path, diff, true);
    }
    run(&m, later, 0, "fine");
    learn(&l, &m);
    char *out = xstrdup("nothing");
    for (size_t i = 0; i < l.fixes.count; i++) {
        const struct lesson_change *c = &l.fixes.list[i].changes[0];
        free(out);
        out = xasprintf("%s %s", c->kind == CHANGE_EDIT ? c->path : c->from, c->to);
        cr_expect(eq(sz, l.fixes.list[i].change_count, 1));
    }
    lessons_finish(&l);
    finish(&m);
    return out;
}

Test(lesson_causes, the_change_that_explains_an_end_is_the_fix) {
    static const char broken[] =
        "gemm.cu(7): error: identifier \"blockidx\" is undefined";
    static const char fix[] = "-{\n-  int i = blockidx.x;\n+{\n+  int i = blockIdx.x;\n";
    static const char edited[] =
        "/testbed/gemm.cu -  int i = blockidx.x;\n+  int i = blockIdx.x;\n";
    static const struct {
        const char *failing, *error, *path, *diff, *later, *told;
    } cases[] = {
        /* a run that only looks on is no part of the command */
        {"cmake --build build", broken, "/testbed/gemm.cu", fix,
         "cmake --build build && ./build/gemm_test", edited},
        {"cmake -B build && cmake --build build", broken, "/testbed/gemm.cu", fix,
         "cd build/.. && cmake --build build 2>&1 | tail -3", "nothing"},
        {"cmake --build build 2>&1 | tail -3", broken, "/testbed/gemm.cu", fix,
         "cmake --build build && ls build", edited},
        /* an edit wins over options that the error does not name */
        {"pytest", "E   gemm.cu:7: error: blockidx", "/testbed/gemm.cu", fix,
         "pytest -x -q", edited},
        /* another test passed: that says nothing */
        {"pytest tests/test_a.py", "E   assert 1 == 2", "src/a.py", "-1\n+2\n",
         "pytest tests/test_b.py", "nothing"},
        /* an option that the error names */
        {"nvcc -arch=sm_90 k.cu", "error: not supported on .target 'sm_90'", NULL, NULL,
         "nvcc -arch=sm_90a k.cu", "nvcc -arch=sm_90 k.cu nvcc -arch=sm_90a k.cu"},
        /* one that it does not name, and one that it names beside an edit that it names
         */
        {"pytest", "E   assert 1 == 2", NULL, NULL, "pytest --lf", "nothing"},
        {"nvcc -arch=sm_90 k.cu", "k.cu(3): error: not supported on 'sm_90'", "k.cu",
         "-x\n+y\n", "nvcc -arch=sm_90a k.cu", "nothing"},
        /* the same again: it went away by itself */
        {"make", "error: text file busy", NULL, NULL, "make", "nothing"},
        /* the tracker's word about the error mends nothing */
        {"make", "x.c:1: error: unknown type wint", NULL, NULL,
         "bd create 'mend the unknown type wint' && make", "nothing"},
        /* other targets, and what a search says of itself */
        {"pytest tests", "FAILED tests/test_a.py::x - assert 1", NULL, NULL,
         "pytest tests/test_a.py::x -v", "nothing"},
        {"make html | grep x", "grep: out/x.html: No such file or directory", "x.py",
         "-x\n+out\n", "make html | grep x", "nothing"},
        /* a check that asks for less, and an error that says nothing */
        {"pytest -q", "E   test_a.py:3: assert total == 2", "tests/test_a.py",
         "-2\n+total\n", "pytest -q", "nothing"},
        {"python3 a.py", "AssertionError", "a.py", "-1\n+2\n", "python3 a.py", "nothing"},
        /* an option that skips what fails, tests that were picked while a file changed */
        {"manage build", "manage: error: System check identified some issues", NULL, NULL,
         "manage build --skip-checks", "nothing"},
        {"go test ./a", "--- FAIL: TestSlug (0.01s)", "a/slug_test.go",
         "-want one\n+want two\n", "go test ./a -run TestSlug", "nothing"},
        /* a fragment that might stand anywhere, and a change that nobody saw */
        {"pytest", "E   TypeError: query() misses simple_col", "query.py",
         "-)\n+, simple_col=simple_col)\n", "pytest", "nothing"},
        {"pytest", "E   TypeError: query() misses simple_col", "query.py", "", "pytest",
         "nothing"},
        /* the program by another name or from another place, with the very arguments */
        {"python tools/a.py -n 3", "bash: python: command not found", NULL, NULL,
         "cd . && python3 tools/a.py -n 3",
         "python python3"},
        {"pytest -q tests", "zsh: command not found: pytest", NULL, NULL,
         "python -m pytest -q tests", "pytest python -m pytest"},
        {"docker-compose up -d", "docker-compose: command not found", NULL, NULL,
         "docker compose up -d", "docker-compose docker compose"},
        {"javac A.java", "bash: javac: command not found", NULL, NULL, "rm A.java",
         "nothing"},
        {"./run.sh", "./run.sh: line 4: javac: command not found", NULL, NULL, "rm run.sh",
         "nothing"},
        {"jq", "bash: jq: command not found", NULL, NULL, "apt-get install -y jq",
         "nothing"},
        {"python - <<E\nimport a\nE", "bash: python: command not found", NULL, NULL,
         "source v/bin/activate && sh <<E\nls\nE", "nothing"},
        /* lines whose place nobody sees, where nothing is named */
        {"python3 a.py", "error: no module is called com", "a.py",
         "+a = 1\n+b = 2\n+c = 3\n+d = 4\n+e = 5\n+f = 6\n+g = 7\n", "python3 a.py",
         "nothing"},
        {"python tools/a.py", "ValueError: 3 is too large", NULL, NULL,
         "python3 tools/a.py", "nothing"},
        /* the environment that the line sets first; not the folder that it goes to */
        {"pytest -q", "zsh: command not found: pytest", NULL, NULL,
         "source .venv/bin/activate && pytest -q",
         "pytest -q source .venv/bin/activate && pytest -q"},
        {"make", "error: nvcc: CUDA_HOME is not set", NULL, NULL,
         "cd k && export CUDA_HOME=/usr/local/cuda; make",
         "make export CUDA_HOME=/usr/local/cuda && make"},
        {"make", "make: *** No rule. error: nothing to make", NULL, NULL, "cd k && make",
         "nothing"},
        /* the value of a long option, and another file behind one */
        {"cargo build --features tls", "error: no feature tls; there is rustls", NULL, NULL,
         "cargo build --features rustls",
         "cargo build --features tls cargo build --features rustls"},
        {"pytest --verbose a/test_x.py", "error: a/test_x.py fails, not a/test_y.py", NULL,
         NULL, "pytest --verbose a/test_y.py", "nothing"},
        /* what a test demands is written in files of that name too */
        {"rspec", "error: cart_spec.rb:3: expected 2, got 3", "spec/cart_spec.rb",
         "-  2\n+  3 # expected\n", "rspec", "nothing"},
        {"jest", "cart.spec.ts:3: error: expected 2, got 3", "src/cart.spec.ts",
         "-  2\n+  3 // expected\n", "jest", "nothing"},
        /* that a test fails is not why */
        {"pytest specs/cart.py -v", "specs/cart.py::it_adds FAILED", "cart.py",
         "-  return a\n+  return a + b\n", "pytest specs/cart.py -v", "nothing"},
        /* an error of two words says nothing */
        {"./check", "Test failed!", "gemm.cu", fix, "./check", "nothing"},
        /* what a short output says, and what a program that is only asked says */
        {"pnpm --version", "This project is configured to use yarn, not this one", NULL,
         NULL, "STRICT=0 pnpm --version", "pnpm --version STRICT=0 pnpm --version"},
        {"pytest --pdb a.py", "ValueError: setup of a.py failed", NULL, NULL,
         "pytest tests/b.py", "nothing"},
        {"next build", "Failed to compile.\na.ts:3\nType error: literals need ES2020",
         "tsconfig.json", "-  \"target\": \"ES2017\"\n+  \"target\": \"ES2020\"\n",
         "next build",
         "tsconfig.json -  \"target\": \"ES2017\"\n+  \"target\": \"ES2020\"\n"},
        /* many lines that only go */
        {"next build", "Type error: no name useEffect here", "a.tsx",
         "-useEffect(() => {\n-  one();\n-  two();\n-}, [x]);\n", "next build", "nothing"},
        /* what it says of another package is no advice to install this one */
        {"npx hardhat compile", "Only version 2 of the plugin works.\nInstall it by running:\n"
         "npm install --save-dev \"@nomic/tools@hh2\"", NULL, NULL,
         "npm install --save-dev left-pad && npx hardhat compile", "nothing"},
        /* what stood in front is missing, with its seconds or without */
        {"timeout 8 ./serve --port 80 2>&1 | head", "zsh: command not found: timeout", NULL,
         NULL, "(./serve --port 80 2>&1 | head) & sleep 6; kill $!", "nothing"},
        {"timeout 8 ./serve --port 80 2>&1 | head", "zsh: command not found: timeout", NULL,
         NULL, "./serve --port 80 && ./stop", "nothing"},
        {"nice ./serve --port 80", "nice: cannot set niceness of ./serve", NULL, NULL,
         "nice ./serve --port 80", "nothing"},
        /* the same letters, spelt otherwise: what the error says is quoted or gone */
        {"pip install uvicorn[standard]", "zsh: no matches found: uvicorn[standard]", NULL, NULL,
         "pip install 'uvicorn[standard]'",
         "pip install uvicorn[standard] pip install 'uvicorn[standard]'"},
        {"ls C:\\w\\site\\", "ls: cannot access 'C:wsite': No such file or directory", NULL,
         NULL, "ls /c/w/site/", "ls C:\\w\\site\\ ls /c/w/site/"},
        {"make -j4", "error: text file busy", NULL, NULL, "make -j 4", "nothing"},
        /* which test failed, and that it did, is not why */
        {"pytest tests", "E   assert 201 == 400", "app/roles.py", "-any\n+known\n",
         "pytest tests", "nothing"},
        {"pytest", "FAILED tests/test_a.py::test_role - assert 201 == 400", "app/test.py",
         "-any\n+known\n", "pytest", "nothing"},
        {"./runtests", "ERROR: test_apps (i18n.tests.WatchTests)\n"
         "ModuleNotFoundError: No module named 'i18n'", NULL, NULL,
         "PYTHONPATH=. ./runtests", "./runtests PYTHONPATH=. ./runtests"},
        {"pytest -q tests", "E   ModuleNotFoundError: No module named 'yaml'", NULL, NULL,
         "pip install requests && pytest -q tests", "nothing"},
        {"pytest -q tests", "E   ModuleNotFoundError: No module named 'httpx'", NULL, NULL,
         "python3 -c \"import httpx\nprint(httpx)\" && pytest -q tests", "nothing"},
        {"srun -c 8 python3 a.py", "ValueError: a.py cannot do that", NULL, NULL,
         "python3 a.py", "nothing"},
        /* the line's status is the last command's */
        {"make\necho done", "k.cu(3): error: factor is undefined", "k.cu",
         "-scale(x)\n+scale(x, factor)\n", "make\necho done",
         "k.cu -scale(x)\n+scale(x, factor)\n"},
        /* what a filter leaves out has not gone, unless it left it in before */
        {"npx check 2>&1 | tail -20", "a.svelte:4: error: the const tag is misplaced", "a.svelte",
         "-{@const x = 1}\n+{x}\n", "npx check 2>&1 | grep profile", "nothing"},
        {"npx check 2>&1 | grep svelte", "a.svelte:4: error: the const tag is misplaced", "a.svelte",
         "-{@const x = 1}\n+{x}\n", "npx check 2>&1 | grep svelte",
         "a.svelte -{@const x = 1}\n+{x}\n"},
        /* a name that stands less often on one side */
        {"docker compose up -d", "Error: Bind for 0.0.0.0:5432 failed: it is already allocated",
         "compose.yml", "-  - \"5432:5432\"\n+  - \"5433:5432\"\n", "docker compose up -d",
         "compose.yml -  - \"5432:5432\"\n+  - \"5433:5432\"\n"},
        {"docker build .", "#9 0.4 go: go.mod requires go >= 1.25.0 (running go 1.22.12)",
         "Containerfile", "-FROM alpine:3.19\n+FROM alpine:3.20\n", "docker build .", "nothing"},
        /* neither a test, which says what is demanded, nor what people read */
        {"npx vitest", "Error: [vitest] No \"createRouter\" export is defined on the mock",
         "src/login.spec.js", "-  push\n+  push,\n+  createRouter\n", "npx vitest",
         "nothing"},
        {"npm test", "error: DATABASE_HOST is not set", "README.md", "-x\n+DATABASE_HOST\n",
         "npm test", "nothing"},
        /* a path of Windows */
        {"npm run build", "src/pages/List.vue (79:14): Error parsing the `expression`",
         "C:\\w\\src\\pages\\List.vue", "-@book=\"/* later */\"\n+@book=\"go\"\n", "npm run build",
         "C:/w/src/pages/List.vue -@book=\"/* later */\"\n+@book=\"go\"\n"},
        /* remarks are no part of a command */
        {"# first\npytest -q", "E   TypeError: scale() got factor", "src/scale.py",
         "-def scale(x):\n+def scale(x, factor):\n", "# it's again\npytest -q",
         "src/scale.py -def scale(x):\n+def scale(x, factor):\n"},
        /* git keeps records */
        {"git push origin x", "error: failed to push some refs to origin", NULL, NULL,
         "git push origin x", "nothing"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        autofree char *got = told(cases[i].failing, cases[i].error, cases[i].path,
                                  cases[i].diff, cases[i].later);
        cr_expect(eq(str, got, (char *)(uintptr_t)cases[i].told), "%zu: %s", i, got);
    }
}

/* Of several errors that end together, the one that the change names is told; beside edits of
 * something else only one that is named counts. */
Test(lesson_causes, the_error_that_the_change_names_is_quoted) {
    for (int named = 0; named < 2; named++) {
        struct maker m = {0};
        struct lessons l;
        user(&m, "Get it to build.");
        run(&m, "make site", 2, "error: the step of the pages has failed\nerror: no icon is called InboxOutline\n");
        edit(&m, "src/empty.vue", named ? "-InboxOutline\n+AlbumsOutline\n" : "-one\n+two\n", true);
        edit(&m, "src/other.vue", "-red\n+blue\n", true);
        run(&m, "make site", 0, "done");
        learn(&l, &m);
        cr_assert(eq(sz, l.fixes.count, (size_t)named));
        if (named) {
            cr_expect(eq(str, l.fixes.list[0].quote, "error: no icon is called InboxOutline"));
            cr_assert(eq(sz, l.fixes.list[0].change_count, 1));
            cr_expect(eq(str, l.fixes.list[0].changes[0].path, "src/empty.vue"));
        }
        lessons_finish(&l);
        finish(&m);
    }
}

/* What only asks between two runs is no step, whatever it shares with the error. */
Test(lesson_causes, a_command_in_between_brings_something) {
    static const struct {
        const char *between;
        size_t told;
    } cases[] = {
        {"npm install @types/node-cron", 1},
        {"curl -s http://localhost:8000/node-cron", 0},
        {"docker exec web ping node-cron", 0},
        {"rm -rf src/node-cron", 0},
        {"npx vitest run src/node-cron.test.ts", 0},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct maker m = {0};
        struct lessons l;
        user(&m, "Get it to build.");
        run(&m, "npm run build", 2, "a.ts(1,18): error TS7016: no declaration for 'node-cron'");
        run(&m, cases[i].between, 0, "fine");
        run(&m, "npm run build", 0, "done");
        learn(&l, &m);
        cr_expect(eq(sz, l.fixes.count, cases[i].told), "%s", cases[i].between);
        lessons_finish(&l);
        finish(&m);
    }
}

/* The command never passed; what it said next, and whether the first error's end is told: it may
 * only hide behind the other one. */
static bool gets_past(const char *later, const char *said, bool returns) {
    static const char missing[] = "E   ModuleNotFoundError: No module named 'httpx'";
    struct maker m = {0};
    struct lessons l;
    user(&m, "Get it to work.");
    run(&m, "pytest -q tests", 1, missing);
    run(&m, "pip install httpx", 0, "Successfully installed httpx");
    run(&m, later, 1, said);
    if (returns) {
        run(&m, "pytest -q", 1, missing);
    }
    learn(&l, &m);
    bool told = l.fixes.count == 1 &&
                strcmp(l.fixes.list[0].changes[0].to, "pip install httpx") == 0;
    cr_expect(eq(int, told, l.fixes.count > 0));
    cr_expect(eq(sz, l.commands.count, 0), "a check that never passed");
    lessons_finish(&l);
    finish(&m);
    return told;
}

Test(lesson_causes, an_error_that_another_one_follows_has_not_ended) {
    static const char other[] = "collected 3 items\ntests/a.py ..F\n"
                                "E   ValueError: scale must be positive\n1 failed\n";
    cr_expect(not(gets_past("pytest -q tests", other, false)));
    cr_expect(not(gets_past("pytest -q tests", "pytest: killed by the system", false)),
              "it did none of its work");
    cr_expect(not(gets_past("pytest -q tests", other, true)), "it came back");
    cr_expect(not(gets_past("ruff check tests", other, false)), "another command");
}

Test(lesson_causes, what_the_program_taught_is_no_slip) {
    static const char *const said[] = {
        "a.ts(2,7): error TS2769: salt is not assignable to BufferSource",
        "a.ts(2,7): error TS2769: 'salt' is not assignable to that",
    };
    for (size_t i = 0; i < ARRAY_LEN(said); i++) {
        struct maker m = {0};
        struct lessons l;
        user(&m, "Encrypt it.");
        edit(&m, "old.ts", "-let x = 1\n+let x = 2\n", true);
        edit(&m, "a.ts", "import x\nderive(salt)\n", false);
        run(&m, "npx tsc", 2, said[i]);
        edit(&m, "a.ts", "-derive(salt)\n+derive(salt as BufferSource)\n", true);
        run(&m, "npx tsc", 0, "");
        learn(&l, &m);
        cr_expect(eq(sz, l.fixes.count, i == 0));
        lessons_finish(&l);
        finish(&m);
    }
}

/* A file that was read, then written whole: only what differs is the change. */
Test(lesson_causes, a_file_that_was_read_is_changed_by_a_write) {
    struct maker m = {0};
    struct lessons l;
    user(&m, "Mend it.");
    struct trace_event *e = add(&m, EVENT_CALL);
    e->call = xstrdup("r1");
    e->tool = xstrdup("Read");
    e->path = xstrdup("scale.py");
    e = add(&m, EVENT_RESULT);
    e->call = xstrdup("r1");
    set_text(e, "     1\tdef scale(x):\n     2\t    y = x\n     3\t    return y\n");
    run(&m, "pytest -q", 1, "scale.py:1: TypeError: scale() got an argument factor");
    edit(&m, "scale.py", "def scale(x, factor):\n    y = x\n    return y * factor\n", false);
    run(&m, "pytest -q", 0, "3 passed");
    learn(&l, &m);
    cr_assert(eq(sz, l.fixes.count, 1));
    cr_expect(eq(str, l.fixes.list[0].changes[0].to,
                 "-def scale(x):\n+def scale(x, factor):\n-    return y\n"
                 "+    return y * factor\n"));
    cr_expect(not(l.fixes.list[0].changes[0].created));
    lessons_finish(&l);
    finish(&m);
}

Test(lesson_causes, of_many_edits_those_that_the_error_names_count) {
    struct maker m = {0};
    struct lessons l;
    user(&m, "Mend the scale.");
    run(&m, "pytest -q", 1, "src/scale.py:12: TypeError: scale() missing 'factor'");
    edit(&m, "README.md", "-a\n+b\n", true);
    edit(&m, "src/scale.py", "-    scale(x)\n+    scale(x, factor=2)\n", true);
    run(&m, "pytest -q", 0, "3 passed");
    run(&m, "mypy src", 1, "src/a.py:1: error: Incompatible types in assignment");
    edit(&m, "src/b.py", "-x\n+y\n", true);
    edit(&m, "src/c.py", "-x\n+y\n", true);
    run(&m, "mypy src", 0, "Success");
    learn(&l, &m);
    cr_assert(eq(sz, l.fixes.count, 1));
    cr_assert(eq(sz, l.fixes.list[0].change_count, 1));
    cr_expect(eq(str, l.fixes.list[0].changes[0].path, "src/scale.py"));
    lessons_finish(&l);
    finish(&m);
}

/* One failure, edits around it, and whether it is told. The file was there before. */
enum around {
    ALONE,
    ASKED_ONESELF, /* only the session's script says that it works */
    CHANGED_AGAIN, /* the change did not stay */
    BROUGHT_BACK,  /* what the session had taken away */
    OWN_LINE,      /* the wrong line was the session's */
    OWN_FILE,      /* the command ran before the session changed the file */
    AROUNDS
};

static size_t told_around(enum around how) {
    struct maker m = {0};
    struct lessons l;
    bool oneself = how == ASKED_ONESELF;
    const char *run_it = oneself ? "python3 try.py" : "pytest -q";
    user(&m, "Mend the scale.");
    if (oneself) {
        edit(&m, "try.py", "import scale\nscale.run(b'')\n", false);
    }
    if (how == OWN_FILE) {
        run(&m, run_it, 0, "2 passed");
        edit(&m, "scale.py", "-version = 1\n+version = 2\n", true);
    } else if (how == OWN_LINE) {
        edit(&m, "scale.py", "-pass\n+return decode(out)\n", true);
    } else if (how == BROUGHT_BACK) {
        edit(&m, "scale.py", "-return encode(out)\n+return decode(out, 1)\n", true);
    }
    run(&m, run_it, 1, "UnicodeError: scale.py: cannot be read as 'ascii'");
    edit(&m, "scale.py", "-return decode(out)\n+return encode(out)\n", true);
    run(&m, run_it, 0, "3 passed");
    if (how == CHANGED_AGAIN) {
        edit(&m, "scale.py", "-return encode(out)\n+return str(out)\n", true);
    }
    learn(&l, &m);
    size_t count = l.fixes.count;
    lessons_finish(&l);
    finish(&m);
    return count;
}

Test(lesson_causes, what_did_not_stay_or_was_the_sessions_own_fault_is_not_told) {
    for (int how = ALONE; how < AROUNDS; how++) {
        size_t count = told_around((enum around)how);
        cr_expect(eq(sz, count, how == ALONE ? 1 : 0), "%d", how);
    }
}

/* The tests are run otherwise and pass; then they are run as before. */
Test(lesson_causes, an_option_that_looks_aside_is_no_fix) {
    for (int back = 0; back < 2; back++) {
        struct maker m = {0};
        struct lessons l;
        user(&m, "Watch the files.");
        run(&m, "go test ./watch", 1, "watch_test.go: error: TestEvents timed out");
        run(&m, "go test ./watch -run=TestEvents", 0, "ok");
        if (back) {
            run(&m, "go test ./watch", 1, "watch_test.go: error: TestEvents timed out");
        }
        learn(&l, &m);
        cr_expect(eq(sz, l.fixes.count, back ? 0 : 1));
        lessons_finish(&l);
        finish(&m);
    }
}

Test(lesson_causes, a_sentence_that_explains_nothing_is_no_cause) {
    static const char *const said[] = {"The query test failed as it was meant to do.",
                                       "Line 10 of query: `if not query or not only:`"};
    for (size_t i = 0; i < ARRAY_LEN(said); i++) {
        struct maker m = {0};
        struct lessons l;
        user(&m, "Mend the query.");
        run(&m, "pytest -q", 1, "E   TypeError: query() misses simple_col");
        say(&m, said[i]);
        edit(&m, "query.py", "-query(x)\n+query(x, simple_col=True)\n", true);
        run(&m, "pytest -q", 0, "3 passed");
        learn(&l, &m);
        cr_assert(eq(sz, l.fixes.count, 1));
        cr_expect(l.fixes.list[0].cause == NULL, "%s", l.fixes.list[0].cause);
        lessons_finish(&l);
        finish(&m);
    }
}

/* A script that is taken away at the end was for trying out. */
Test(lesson_causes, slips_in_a_script_that_is_taken_away_are_not_told) {
    struct maker m = {0};
    struct lessons l;
    user(&m, "Mend the scale.");
    edit(&m, "try.py", "import scales\n", false);
    run(&m, "python3 try.py", 1, "ModuleNotFoundError: No module named 'scales'");
    edit(&m, "try.py", "-import scales\n+import scale\n", true);
    run(&m, "python3 try.py", 0, "3");
    run(&m, "rm try.py", 0, "");
    learn(&l, &m);
    cr_expect(eq(sz, l.fixes.count, 0));
    lessons_finish(&l);
    finish(&m);
}

/* A script that was written to try things out, and the file that the session mends. */
Test(lesson_causes, slips_in_a_script_of_its_own_are_not_told) {
    for (int mends = 0; mends < 2; mends++) {
        struct maker m = {0};
        struct lessons l;
        user(&m, "Mend the scale.");
        run(&m, "cat > try.py <<'EOF'\nimport scales\nEOF", 0, "");
        run(&m, "python3 try.py", 1, "ModuleNotFoundError: No module named 'scales'");
        edit(&m, "try.py", "-import scales\n+import scale\n", true);
        run(&m, "python3 try.py", 0, "3");
        if (mends) {
            run(&m, "sed -i '3s/factor/faktor/' scale.py", 0, "");
        }
        learn(&l, &m);
        cr_expect(eq(sz, l.fixes.count, mends ? 0 : 1));
        if (!mends) {
            cr_expect(l.fixes.list[0].changes[0].kind == CHANGE_EDIT);
            cr_expect(eq(str, l.fixes.list[0].changes[0].to,
                         "-import scales\n+import scale\n"));
        }
        lessons_finish(&l);
        finish(&m);
    }
}

/* Between the two runs, one command that has a name in common with the error. */
Test(lesson_causes, what_looks_checks_or_changes_unseen_is_no_fix) {
    static const struct {
        const char *between, *output;
        size_t fixes;
    } cases[] = {
        {"pip install scale-lib", "Successfully installed scale-lib", 1},
        {"python3 -c \"import scale_lib; print(scale_lib)\"", "<module>", 0},
        {"make check-scale_lib", "ok", 0}, /* it ran before as well */
        {"python3 mend_scale_lib.py", "done", 0},
        {"sed -i '3d' use.py", "", 0},
        {"bd close 3 --reason 'the scale_lib error is gone now'", "closed", 0},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct maker m = {0};
        struct lessons l;
        user(&m, "Mend the scale.");
        run(&m, "cat > mend_scale_lib.py <<'EOF'\nprint(1)\nEOF", 0, "");
        run(&m, "make check-scale_lib", 0, "ok");
        run(&m, "pytest -q", 1,
            "use.py:3: ModuleNotFoundError: No module named 'scale_lib'");
        run(&m, cases[i].between, 0, cases[i].output);
        if (i == 4) { /* an edit that could be told, beside one that cannot */
            edit(&m, "use.py", "-import scal\n+import scale_lib\n", true);
        }
        run(&m, "pytest -q", 0, "3 passed");
        learn(&l, &m);
        size_t told = 0;
        for (size_t k = 0; k < l.fixes.count; k++) {
            for (size_t n = 0; n < l.fixes.list[k].change_count; n++) {
                told += l.fixes.list[k].changes[n].kind == CHANGE_RUN || i == 4;
            }
        }
        cr_expect(eq(sz, told, cases[i].fixes), "%s", cases[i].between);
        lessons_finish(&l);
        finish(&m);
    }
}

Test(lesson_causes, what_runs_twice_before_the_end_is_a_check) {
    struct maker m = {0};
    struct lessons l;
    user(&m, "Get the coverage run to work.");
    run(&m, "pnpm run coverage", 1, "error: cannot fetch the rate of ABT (rates.spec.ts)");
    run(&m, "pnpm jest rates.spec.ts", 1, "error: cannot fetch the rate of ABT");
    edit(&m, "tests/rates.spec.ts", "-  USD: 0\n+  USD: 1\n", true);
    run(&m, "pnpm jest rates.spec.ts", 0, "1 passed");
    run(&m, "pnpm run coverage", 0, "all passed");
    learn(&l, &m);
    cr_expect(eq(sz, l.fixes.count, 0));
    lessons_finish(&l);
    finish(&m);
}

Test(lesson_causes, a_reason_in_the_first_person_is_not_told) {
    struct maker m = {0};
    struct lessons l;
    user(&m, "Compile the kernel.");
    run(&m, "nvcc -arch=sm_90 -c k.cu", 1, "error: wgmma is not supported on 'sm_90'");
    say(&m, "I see that we must use sm_90a because wgmma needs it.");
    run(&m, "nvcc -arch=sm_90a -c k.cu", 0, "");
    learn(&l, &m);
    cr_assert(eq(sz, l.fixes.count, 1));
    cr_expect(l.fixes.list[0].cause == NULL, "%s", l.fixes.list[0].cause);
    lessons_finish(&l);
    finish(&m);
}

Test(lesson_causes, a_reason_that_repeats_the_error_is_none) {
    static const char *const said[] = {
        "It fails because: NameError: name 'cotm' is not defined.",
        "The name must be cothm, not cotm.", "It must be Friday, because nothing works."};
    for (size_t i = 0; i < ARRAY_LEN(said); i++) {
        struct maker m = {0};
        struct lessons l;
        user(&m, "Mend it.");
        run(&m, "pytest -q", 1, "E   NameError: name 'cotm' is not defined");
        say(&m, said[i]);
        edit(&m, "a.py", "-cotm\n+cothm\n", true);
        run(&m, "pytest -q", 0, "1 passed");
        learn(&l, &m);
        cr_assert(eq(sz, l.fixes.count, 1));
        cr_expect(eq(int, l.fixes.list[0].cause != NULL, i == 1), "%s", said[i]);
        lessons_finish(&l);
        finish(&m);
    }
}

Test(lesson_causes, what_only_makes_a_missing_thing_is_no_fix) {
    static const char *const makes[] = {"mkdir data && touch data/x.csv",
                                        "cat > data.py <<'EOF'\nx = 1\nEOF"};
    static const char *const missing[] = {"error: No such directory: 'data'",
                                          "python3: can't open file 'data.py'"};
    for (size_t i = 0; i < ARRAY_LEN(makes); i++) {
        struct maker m = {0};
        struct lessons l;
        user(&m, "Run it.");
        run(&m, "python3 data.py", 2, missing[i]);
        run(&m, makes[i], 0, "");
        run(&m, "python3 data.py", 0, "1");
        learn(&l, &m);
        cr_expect(eq(sz, l.fixes.count, 0), "%s", makes[i]);
        lessons_finish(&l);
        finish(&m);
    }
}

Test(lesson_causes, a_rewrite_explains_nothing) {
    struct maker m = {0};
    struct lessons l;
    autobuf diff = BUF_INIT(4096);
    for (int i = 0; i < 30; i++) {
        buf_addf(&diff, "+line %d\n", i);
    }
    user(&m, "Mend it.");
    run(&m, "make", 2, "a.c:3: error: expected ';'");
    edit(&m, "a.c", diff.data, true);
    run(&m, "make", 0, "");
    learn(&l, &m);
    cr_expect(eq(sz, l.fixes.count, 0));
    lessons_finish(&l);
    finish(&m);
}
