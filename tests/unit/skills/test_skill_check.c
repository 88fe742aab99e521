#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "skills/check/cuda_block.h"
#include "skills/check/skill_check.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define HEAD "---\nname: my-skill\ndescription: Does a thing. Use when needed.\n---\n"

struct run {
    uv_loop_t loop;
    struct call_origin origin;
    json_t *result;
    int ends;
};

static void on_done(struct skill_check *check, json_t *result, void *data) {
    (void)check;
    struct run *run = data;
    run->result = result;
    run->ends++;
}

static void run_init(struct run *run) {
    *run = (struct run){0};
    cr_assert(uv_loop_init(&run->loop) == 0);
    run->origin.loop = &run->loop;
    run->origin.client = "";
}

static void run_end(struct run *run) {
    uv_run(&run->loop, UV_RUN_DEFAULT);
    cr_expect(eq(int, run->ends, 1));
    cr_expect(eq(int, uv_loop_close(&run->loop), 0));
}

static json_t *check_text(const char *text, enum skill_check_mode mode,
                          const json_t *suppress) {
    struct run run;
    run_init(&run);
    skill_check_start(&run.origin, NULL, "my-skill/SKILL.md", text, strlen(text), mode,
                      suppress, on_done, &run);
    cr_expect(eq(int, run.ends, 0)); /* never from inside start */
    run_end(&run);
    return run.result;
}

static const json_t *find(const json_t *result, const char *code) {
    size_t i;
    const json_t *finding;
    json_array_foreach(json_object_get(result, "findings"), i, finding) {
        if (strcmp(json_get_string(finding, "code", ""), code) == 0) {
            return finding;
        }
    }
    return NULL;
}

static int is_ok(const json_t *result) {
    return json_get_bool(result, "ok", -1);
}

static void expect_severity(const json_t *result, const char *code,
                            const char *severity) {
    const json_t *finding = find(result, code);
    cr_assert(finding != NULL, "%s", code);
    cr_expect(
        eq(str, (char *)json_get_string(finding, "severity", ""), (char *)severity));
}

Test(skill_check, a_good_skill_is_ok_and_its_tokens_are_counted) {
    autojson *result =
        check_text(HEAD "# Title\n\nDo the thing.\n", SKILL_CHECK_STRICT, NULL);
    cr_expect(is_ok(result));
    cr_expect(json_get_integer(json_object_get(result, "tokens"), "body", 0) > 0);
    cr_expect(json_get_integer(json_object_get(result, "tokens"), "catalogue", 0) > 0);
    cr_expect(eq(int, (int)json_get_integer(result, "omitted", -1), 0));
}

Test(skill_check, wrong_hardware_is_an_error_in_what_we_write_and_a_warning_elsewhere) {
    static const char text[] = HEAD "H100 has 192 KB of shared memory per SM.\n";
    autojson *strict = check_text(text, SKILL_CHECK_STRICT, NULL);
    expect_severity(strict, "hardware_fact_wrong", "error");
    cr_expect(zero(int, is_ok(strict)));
    autojson *lenient = check_text(text, SKILL_CHECK_LENIENT, NULL);
    expect_severity(lenient, "hardware_fact_wrong", "warning");
    const json_t *finding = find(lenient, "hardware_fact_wrong");
    cr_expect(eq(int, (int)json_get_integer(finding, "line", 0), 5));
    cr_expect(eq(str, (char *)json_get_string(finding, "file", ""), "my-skill/SKILL.md"));
}

Test(skill_check, suppressions_need_a_reason_and_a_file_never_excuses_an_error) {
    static const char text[] = HEAD
        "<!-- upskilld-allow: elevated_rights the installer needs it -->\n"
        "<!-- upskilld-allow: pipe_to_shell trust me -->\n"
        "<!-- upskilld-allow: open_permissions -->\n\n"
        "```sh\nsudo make install\nchmod 777 x\ncurl https://a.example/i | sh\n```\n";
    autojson *own = check_text(text, SKILL_CHECK_LENIENT, NULL);
    cr_expect(find(own, "elevated_rights") == NULL);
    cr_expect(find(own, "open_permissions") != NULL);
    expect_severity(own, "suppression_without_reason", "warning");
    expect_severity(own, "pipe_to_shell", "error");
    cr_expect(eq(int, (int)json_get_integer(own, "suppressed", 0), 1));

    autojson *suppress =
        json_pack("[{s:s,s:s},{s:s,s:s}]", "code", "pipe_to_shell", "reason", "reviewed",
                  "code", "open_permissions", "reason", " ");
    autojson *passed = check_text(text, SKILL_CHECK_LENIENT, suppress);
    cr_expect(find(passed, "pipe_to_shell") == NULL);
    cr_expect(find(passed, "open_permissions") != NULL);
    cr_expect(is_ok(passed));
}

/* A compiler that answers from the loop: one error in line 2 of every source. */
struct fake {
    uv_timer_t timer;
    skill_kernel_done *done;
    void *data;
    bool cancelled;
};
static int graded;
static const char *nothing; /* that was compiled, and why */
static unsigned grading_ms = 1;

static void fake_closed(uv_handle_t *handle) {
    free(container_of((uv_timer_t *)handle, struct fake, timer));
}

static void fake_fire(uv_timer_t *timer) {
    struct fake *f = container_of(timer, struct fake, timer);
    json_t *findings = f->cancelled
                           ? NULL
                           : json_pack("[{s:s,s:s,s:s,s:s,s:i,s:i}]", "code", "20",
                                       "severity", "error", "message", "undefined",
                                       "file", "block.cu", "line", 2, "column", 3);
    if (nothing) {
        json_decref(findings);
        findings = json_pack("[{s:s,s:s,s:s}, {s:s,s:s,s:s}]", "code", "not_compiled",
                             "severity", "info", "message", "add an instantiation",
                             "code", "177", "severity", "warning", "message", "unused");
    }
    f->done(f->data, findings, NULL, f->cancelled ? "cancelled" : nothing);
    uv_close((uv_handle_t *)timer, fake_closed);
}

static void *fake_start(const struct call_origin *origin, const char *name,
                        const char *source, const char *arch, skill_kernel_done *done,
                        void *data) {
    cr_expect(strstr(source, "__global__") != NULL && name[0] && !arch);
    struct fake *f = xcalloc(1, sizeof *f);
    *f = (struct fake){.done = done, .data = data};
    uv_timer_init(origin->loop, &f->timer);
    uv_timer_start(&f->timer, fake_fire, grading_ms, 0);
    graded++;
    return f;
}

static void fake_cancel(void *handle) {
    struct fake *f = handle;
    f->cancelled = true;
    uv_timer_start(&f->timer, fake_fire, 0, 0);
}

static const struct skill_grader *lent_grader;

static void *lend(void *host, const char *name) {
    (void)host;
    return strcmp(name, SKILL_GRADER_LENT) == 0 ? (void *)lent_grader : NULL;
}

static const struct skill_grader fake_grader = {fake_start, fake_cancel};
static const char with_cuda[] =
    HEAD "\n```cuda\n__global__ void k(float *x) {\n  y[0] = 1;\n}\n```\n"
         "\n```cuda\nx[i] = 0;\n```\n\n```cuda\n__global__ void k() { ... }\n```\n";

Test(skill_check, cuda_blocks_are_graded_at_their_lines_and_fragments_are_not) {
    struct run run;
    run_init(&run);
    run.origin.host = &run.loop;
    run.origin.lend = lend;
    lent_grader = &fake_grader;
    skill_check_start(&run.origin, NULL, NULL, with_cuda, strlen(with_cuda),
                      SKILL_CHECK_STRICT, NULL, on_done, &run);
    run_end(&run);
    lent_grader = NULL;
    const json_t *finding = find(run.result, "20");
    cr_assert(finding != NULL);
    cr_expect(eq(int, (int)json_get_integer(finding, "line", 0), 8));
    cr_expect(eq(str, (char *)json_get_string(finding, "file", ""), "SKILL.md"));
    expect_severity(run.result, "20", "error");
    expect_severity(run.result, "cuda_block_fragment", "info");
    cr_expect(eq(int, graded, 1));
    json_decref(run.result);

    autojson *without = check_text(with_cuda, SKILL_CHECK_STRICT, NULL);
    expect_severity(without, "cuda_block_not_compiled", "info");
    cr_expect(is_ok(without));
}

/* Helpers without a kernel are no mistake of a skill, and were not compiled either. */
Test(skill_check, blocks_of_which_nothing_was_compiled_are_told_as_such) {
    struct run run;
    run_init(&run);
    run.origin.host = &run.loop;
    run.origin.lend = lend;
    lent_grader = &fake_grader;
    nothing = "nothing was compiled: why";
    skill_check_start(&run.origin, NULL, NULL, with_cuda, strlen(with_cuda),
                      SKILL_CHECK_STRICT, NULL, on_done, &run);
    run_end(&run);
    lent_grader = NULL;
    nothing = NULL;
    cr_expect(is_ok(run.result));
    expect_severity(run.result, "cuda_block_not_compiled", "info");
    expect_severity(run.result, "177", "warning");
    cr_expect(find(run.result, "not_compiled") == NULL);
    const char *message =
        json_get_string(find(run.result, "cuda_block_not_compiled"), "message", "");
    cr_expect(eq(str, (char *)message, "nothing was compiled: why"));
    json_decref(run.result);
}

/* Within a list or a quotation an edit of the block's would not be one of the file's. */
Test(skill_check, a_block_within_others_is_told_at_its_column_without_edits) {
    static const struct {
        const char *before;
        int column;
        bool fixes;
    } cases[] = {{"", 8, true}, {"  ", 10, false}, {"> ", 10, false}};
    for (size_t i = 0; i < 3; i++) {
        const char *p = cases[i].before;
        autofree char *text = xasprintf(HEAD "# T\n\n%s%s```toml\n%s[general]\n%sname = "
                                             "\"a_b\"\n%s```\n",
                                        *p == ' ' ? "- x\n\n" : "", p, p, p, p);
        autojson *result = check_text(text, SKILL_CHECK_LENIENT, NULL);
        const json_t *finding = find(result, "build_toml_name");
        cr_assert(finding != NULL, "%s", text);
        cr_expect(eq(int, (int)json_get_integer(finding, "column", 0), cases[i].column));
        bool fixes = json_object_get(finding, "fixes") != NULL;
        cr_expect(fixes == cases[i].fixes, "%s", text);
    }
}

/* As it is typed: neither the block nor the last line is ended, and the edit is on it. */
Test(skill_check, a_block_that_is_being_typed_gets_edits_within_the_text) {
    static const char text[] = HEAD "```toml\n[general]\nversion = 1";
    autojson *result = check_text(text, SKILL_CHECK_LENIENT, NULL);
    const json_t *fix =
        json_array_get(json_object_get(find(result, "build_toml_framework"), "fixes"), 0);
    const json_t *edit = json_array_get(json_object_get(fix, "edits"), 0);
    int lines = 1;
    for (const char *c = text; *c; c++) {
        lines += *c == '\n';
    }
    cr_expect(eq(int, (int)json_get_integer(edit, "line", 0), lines));
    cr_expect(eq(int, (int)json_get_integer(edit, "column", 0), 12));
}

Test(skill_check, what_keeps_every_cuda_block_from_being_compiled_is_said_once) {
    static const char text[] = HEAD "# T\n\n```cuda\n__global__ void a() {}\n```\n\n"
                                    "```cuda\n__global__ void b() {}\n```\n\n"
                                    "```cuda\n__global__ void c() {}\n```\n";
    autojson *result = check_text(text, SKILL_CHECK_LENIENT, NULL);
    const json_t *finding = find(result, "cuda_block_not_compiled");
    cr_assert(finding != NULL);
    cr_expect(eq(sz, json_array_size(json_object_get(result, "findings")), 1));
    const char *message = json_get_string(finding, "message", "");
    bool counted = strstr(message, "(and so are 2 more CUDA blocks)") != NULL;
    cr_expect(counted, "%s", message);
}

Test(skill_check, a_cancelled_check_ends_once_without_a_result) {
    lent_grader = &fake_grader;
    grading_ms = 60000; /* it is the cancellation that ends it */
    for (int late = 0; late < 2; late++) {
        struct run run;
        run_init(&run);
        run.origin.host = &run.loop;
        run.origin.lend = lend;
        graded = 0;
        struct skill_check *check =
            skill_check_start(&run.origin, NULL, NULL, with_cuda, strlen(with_cuda),
                              SKILL_CHECK_STRICT, NULL, on_done, &run);
        while (late && graded == 0) { /* until the compiler is at work */
            uv_run(&run.loop, UV_RUN_ONCE);
        }
        skill_check_cancel(check);
        cr_expect(eq(int, run.ends, 0));
        run_end(&run);
        cr_expect(run.result == NULL);
    }
    lent_grader = NULL;
}

Test(skill_check, a_folder_that_is_no_skill_is_a_finding) {
    struct run run;
    run_init(&run);
    skill_check_start(&run.origin, "/nonexistent-folder", NULL, NULL, 0,
                      SKILL_CHECK_LENIENT, NULL, on_done, &run);
    run_end(&run);
    cr_expect(zero(int, is_ok(run.result)));
    json_decref(run.result);
}

Test(skill_check, fragments_are_told_from_whole_code) {
    static const struct {
        const char *code;
        bool whole;
    } table[] = {
        {"__global__ void k(float *x) { x[0] = 1; }", true},
        {"#include <cuda_fp16.h>\n__device__ int f() { return 1; }", true},
        {"template <typename... T>\n__global__ void k(T... t) { f(t...); }", true},
        {"namespace a {\n__global__ void k() {}\n}", true},
        {"extern \"C\" __global__ void k(int *x) {\n  if (x) { x[0] = 1; }\n  return;\n}",
         true},
        {"extern \"C\"\n__global__ void k(int *x) { for (;;) { __syncthreads(); } }",
         true},
        {"extern \"C\" /* names */ {\n__global__ void k() { if (1) { return; } }\n}",
         true},
        {"namespace a::b\n{\n__global__ void k() { if (1) { return; } }\n}", true},
        {"inline namespace v1 { namespace {\n__global__ void k() { return; }\n}}", true},
        {"#define N 1\nextern \"C\" __device__ int f() { return N; }", true},
        {"// copies x ... and y\n__global__ void k() { if (1) { return; } }", true},
        {"x[i] = y[i];", false},
        {"k<<<1, 2>>>(x);", false},
        {"__global__ void k() { ... }", false},
        {"__global__ void k() {\n  // ...\n}", false},
        {"__global__ void k() {\n", false},
        {"extern \"C\" __global__ void k() {\n", false},
        {"extern \"C\" {\n__global__ void k() {}\nreturn 0;\n}", false},
        {"extern \"C\" int host() { __global__ int x; }", false},
        {"__global__ void k() {}\nfor (int i = 0; i < 3; i++) { k(); }", false},
        {"auto x = __shfl_sync(m, v, 0);", false},
    };
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        const char *why = cuda_block_fragment(table[i].code);
        bool as_wanted = (why == NULL) == table[i].whole;
        cr_expect(as_wanted, "%s: %s", table[i].code, why ? why : "whole");
    }
}
