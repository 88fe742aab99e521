/* Changes that end an error, each told by what happened and by nothing else. */
#include "tests/unit/skills/trace_maker.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

/* What the one lesson's change brings, or NULL. */
static const char *only_change(const struct lessons *l) {
    return l->fixes.count == 1 && l->fixes.list[0].change_count == 1
               ? l->fixes.list[0].changes[0].to
               : NULL;
}

static void expect_change(struct maker *m, const char *to) {
    struct lessons l = {0};
    learn(&l, m);
    const char *got = only_change(&l);
    cr_expect(to ? got && strcmp(got, to) == 0 : l.fixes.count == 0, "%s instead of %s",
              got ? got : "(none)", to ? to : "(none)");
    lessons_finish(&l);
    finish(m);
}

Test(lessons_changes, a_setting_before_the_command_is_the_fix) {
    struct maker m = {0};
    run(&m, "pytest -q", 2, "E   ModuleNotFoundError: No module named 'opk'\n");
    run(&m, "PYTHONPATH=. pytest -q", 0, "3 passed\n");
    expect_change(&m, "PYTHONPATH=. pytest -q");
    m = (struct maker){0}; /* not where something else was done */
    run(&m, "pytest -q", 2, "E   ModuleNotFoundError: No module named 'opk'\n");
    run(&m, "pip install -e .", 0, "Successfully installed opk-1.0\n");
    run(&m, "CI=1 pytest -q", 0, "3 passed\n");
    expect_change(&m, NULL);
}

Test(lessons_changes, a_command_over_several_lines_is_one) {
    struct maker m = {0};
    run(&m, "docker run \\\n  --network app_default \\\n  img make", 125,
        "docker: Error response from daemon: network app_default not found\n");
    run(&m, "docker network ls", 0, "cba4ed7cb954   repo_app-net   bridge   local\n");
    run(&m, "docker run \\\n  --network repo_app-net \\\n  img make", 0, "ok\n");
    expect_change(&m, "docker run --network repo_app-net img make");
}

Test(lessons_changes, a_program_that_cannot_be_loaded_runs_under_another_name) {
    struct maker m = {0};
    run(&m, "npm run build", 1,
        "npm : File C:\\nvm\\npm.ps1 cannot be loaded because running scripts is disabled\n");
    run(&m, "npm.cmd run build", 0, "built\n");
    expect_change(&m, "npm.cmd");
    m = (struct maker){0}; /* more rights and other options are no name */
    run(&m, "rm x.py", 1, "rm: cannot remove 'x.py': No such file or directory\n");
    run(&m, "rm -f x.py", 0, "");
    expect_change(&m, NULL);
    m = (struct maker){0};
    run(&m, "npm install -g x", 243, "npm error EACCES: permission denied, mkdir '/usr/x'\n");
    run(&m, "sudo npm install -g x", 0, "added 1 package\n");
    expect_change(&m, NULL);
}

Test(lessons_changes, a_changed_test_leaves_its_success_unexplained) {
    struct maker m = {0};
    edit(&m, "app/service.py", "@@\n-old = 1\n+old = 2\n", true);
    run(&m, "pytest -q", 1, "FAILED tests/test_service.py::test_reject - assert 400 == 200\n");
    edit(&m, "app/service.py", "@@\n-service = {}\n+service = {1: 2}\n", true);
    edit(&m, "tests/test_service.py", "@@\n-decide(\"dismissed\")\n+decide(\"rejected\")\n", true);
    run(&m, "pytest -q", 0, "1 passed\n");
    expect_change(&m, NULL);
}
