/* Finding the tool and running a program under it, with scripts in the tool's place. */
#include "gpu/driver/sanitizer.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SHEBANG "#!/bin/sh\n"
#define VERSION "NVIDIA (R) Compute Sanitizer\nCopyright\nVersion 2025.3.0.0 (build 1)"
#define ANSWER "if [ \"$1\" = --version ]; then echo '" VERSION "'; exit 0; fi\n"
/* As the tool is called: options with a value each, then the program. */
#define PARTS                                                                            \
    "while [ \"${1#--}\" != \"$1\" ]; do case $1 in --tool) tool=$2;; --log-file) "      \
    "log=$2;; "                                                                          \
    "esac; shift 2; done\n"

static char folder[] = "/tmp/sanitizer-XXXXXX";
static char *tool;
static char *const no_environment[] = {NULL};

static void put_tool(const char *script) {
    FILE *f = fopen(tool, "w");
    cr_assert(f);
    fputs(script, f);
    fclose(f);
    cr_assert_eq(chmod(tool, 0700), 0);
}

static void enter(void) {
    cr_assert(mkdtemp(folder));
    autofree char *bin = xasprintf("%s/bin", folder);
    cr_assert_eq(mkdir(bin, 0700), 0);
    tool = xasprintf("%s/compute-sanitizer", bin);
}

static void leave(void) {
    autofree char *bin = xasprintf("%s/bin", folder);
    unlink(tool);
    free(tool);
    cr_expect_eq(rmdir(bin), 0);
    cr_expect_eq(rmdir(folder), 0, "a log was left behind");
}

static int find(struct sanitizer *ret, struct err *err) {
    const char *const folders[] = {"/nowhere", folder, NULL};
    int r = sanitizer_locate(ret, folders, false);
    return r ? r : sanitizer_try(ret, err);
}

Test(sanitizer, it_is_found_and_tried, .init = enter, .fini = leave) {
    struct sanitizer s;
    struct err err = {0};
    cr_expect_eq(find(&s, &err), -ENOENT);
    put_tool(SHEBANG ANSWER);
    cr_assert_eq(find(&s, &err), 0, "%s", err.msg);
    cr_expect_str_eq(s.version, "2025.3.0.0");
    cr_expect_str_eq(s.path, tool);
    /* By PATH too, whose relative folders do not count. */
    const char *const none[] = {NULL};
    autofree char *path = xasprintf(".:bin:%s/bin", folder);
    setenv("PATH", path, 1);
    cr_expect_eq(sanitizer_locate(&s, none, true), 0);
    cr_expect_str_eq(s.path, tool);
    cr_expect_eq(sanitizer_locate(&s, none, false), -ENOENT);
    cr_expect_str_eq(s.path, "");
}

Test(sanitizer, one_that_does_not_run, .init = enter, .fini = leave) {
    struct sanitizer s;
    struct err err = {0};
    put_tool(SHEBANG "echo 'cannot load libInterceptorInjection' >&2; exit 1\n");
    cr_expect_eq(find(&s, &err), -ENOEXEC);
    cr_expect(strstr(err.msg, "cannot load libInterceptorInjection"), "%s", err.msg);
    put_tool(SHEBANG "echo something else\n");
    cr_expect_eq(find(&s, &err), -ENOEXEC);
    put_tool("#!/nowhere/interpreter\n");
    cr_expect_eq(find(&s, &err), -ENOEXEC);
}

static int run(const char *script, const char *program, const char *which,
               struct sanitizer_log *ret, int *ret_status, struct err *err,
               unsigned timeout_ms) {
    struct sanitizer s;
    char *argv[] = {(char[]){"/bin/sh"}, (char[]){"-c"}, (char *)(uintptr_t)program,
                    NULL};
    const struct sanitizer_job job = {.tool = which,
                                      .program = argv,
                                      .environment = no_environment,
                                      .folder = folder,
                                      .timeout_ms = timeout_ms};
    put_tool(script);
    cr_assert_eq(find(&s, err), 0, "%s", err->msg);
    return sanitizer_run(&s, &job, ret, ret_status, err);
}

Test(sanitizer, what_it_finds, .init = enter, .fini = leave) {
    struct sanitizer_log log;
    struct err err = {0};
    int status = -1;
    int r = run(SHEBANG ANSWER PARTS
                "\"$@\"; status=$?\n"
                "{ echo '========= COMPUTE-SANITIZER'\n"
                "echo \"========= Invalid __global__ write of size 4 bytes\"\n"
                "echo \"=========     at $tool(int)+0x10 in k.cu:3\"\n"
                "echo '========= '\n"
                "echo '========= ERROR SUMMARY: 1 error'; } > \"$log\"\n"
                "exit $status\n",
                "echo out; echo err >&2; exit 7", "synccheck", &log, &status,
                &err, 300000);
    cr_assert_eq(r, 0, "%s", err.msg);
    cr_expect_eq(status, 7);
    cr_assert_eq(json_array_size(log.findings), 1);
    cr_expect_str_eq(json_get_string(json_array_get(log.findings, 0), "kernel", ""),
                     "synccheck(int)");
    sanitizer_log_finish(&log);
}

Test(sanitizer, without_a_summary_nothing_is_clean, .init = enter, .fini = leave) {
    static const struct {
        const char *script, *says;
    } all[] = {
        {"echo '========= Error: No attachable process found' > $log; exit 1\n",
         "No attachable process"},
        {"exit 0\n", "no summary"},
        {"echo 'TreeLauncherSubreaper is missing'; exit 3\n", "TreeLauncherSubreaper"},
        {"echo '========= COMPUTE-SANITIZER' > $log; kill -9 $$\n", "status 137"},
    };
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        autofree char *script = xasprintf("%s%s", SHEBANG ANSWER PARTS, all[i].script);
        struct sanitizer_log log;
        struct err err = {0};
        int status = 0;
        cr_expect_eq(run(script, "true", "memcheck", &log, &status, &err, 300000),
                     -ENOEXEC, "case %zu", i);
        cr_expect(strstr(err.msg, all[i].says), "%s", err.msg);
        sanitizer_log_finish(&log);
    }
}

/* What it started is ended with it, also when that does not listen. */
Test(sanitizer, time, .init = enter, .fini = leave) {
    struct sanitizer_log log;
    struct err err = {0};
    int status = 0;
    autofree char *pids = xasprintf("%s/pid", folder);
    autofree char *program = xasprintf("trap '' TERM; echo $$ > %s; sleep 600", pids);
    cr_expect_eq(run(SHEBANG ANSWER PARTS "\"$@\"\n", program, "memcheck", &log, &status,
                     &err, 1500),
                 -ETIMEDOUT);
    cr_expect_eq(status, 128 + SIGKILL);
    sanitizer_log_finish(&log);
    FILE *f = fopen(pids, "r");
    int pid = 0;
    if (f) { /* it came so far */
        cr_assert_eq(fscanf(f, "%d", &pid), 1);
        fclose(f);
        unlink(pids);
        /* Killed; reaped by whoever inherits it, which may take a while. */
        bool gone = false;
        for (int i = 0; i < 6000 && !gone; i++) {
            autofree char *path = xasprintf("/proc/%d/stat", pid);
            FILE *stat = fopen(path, "r");
            char state = 'Z';
            if (stat) {
                (void)!fscanf(stat, "%*d %*s %c", &state);
                fclose(stat);
            }
            gone = kill(pid, 0) < 0 || state == 'Z';
            usleep(gone ? 0 : 10000);
        }
        cr_expect(gone);
    }
}
