/* What follows the trials of a kernel that was right: it is launched again, timed, held
 * against the roofline; and checks that prove nothing. On a backend whose kernels do as
 * their names say. */
#include "base/clock.h"
#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "gpu/run/validate_run.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>
#include <string.h>

/* --- the backend: kernels (float *y, const float *x, int n) --- */

struct backend {
    struct {
        char *host;
        uint64_t bytes;
        bool written;
    } areas[8];
    size_t count;
    unsigned launches; /* since the module was loaded */
};

static struct {
    double kernel_us, reference_us;
    int result; /* of the time function */
    unsigned timed, opened, repeats_at_time;
    unsigned samples;
    bool warm;
    uint64_t until_ms;
} script;

static int fake_open(struct backend **ret, const struct backend_options *o,
                     json_t **ret_unsupported, struct err *err) {
    (void)o, (void)ret_unsupported, (void)err;
    script.opened++;
    *ret = xcalloc(1, sizeof **ret);
    return 0;
}
static void fake_close(struct backend *b) {
    for (size_t i = 0; i < b->count; i++) {
        free(b->areas[i].host);
    }
    free(b);
}
static const char *fake_device(const struct backend *b) {
    (void)b;
    return "NVIDIA H200";
}
static int fake_alloc(struct backend *b, const char *name, uint64_t bytes, unsigned flags,
                      uint64_t *ret, struct err *err) {
    (void)name, (void)flags, (void)err;
    b->areas[b->count].host = xcalloc(bytes + 1, 1);
    b->areas[b->count].bytes = bytes;
    *ret = ++b->count;
    return 0;
}
static int fake_write(struct backend *b, uint64_t address, const void *bytes,
                      uint64_t len, struct err *err) {
    (void)err;
    memcpy(b->areas[address - 1].host, bytes, len);
    return 0;
}
static int fake_read(struct backend *b, uint64_t address, void *bytes, uint64_t len,
                     struct err *err) {
    (void)err;
    memcpy(bytes, b->areas[address - 1].host, len);
    return 0;
}
static uint64_t fake_unwritten(struct backend *b, uint64_t address, uint64_t *ret_first) {
    *ret_first = 0;
    return b->areas[address - 1].written ? 0 : b->areas[address - 1].bytes;
}
static int fake_params(struct backend *b, const char *entry, struct kernel_param *ret,
                       size_t max, size_t *ret_block) {
    (void)b, (void)entry, (void)max;
    ret[0] = (struct kernel_param){0, 8};
    ret[1] = (struct kernel_param){8, 8};
    ret[2] = (struct kernel_param){16, 4};
    *ret_block = 20;
    return 3;
}

static bool is(const struct backend_launch *l, const char *name) {
    return !strcmp(l->entry, name);
}

static enum backend_end fake_launch(struct backend *b, const struct backend_launch *l,
                                    struct err *err) {
    uint64_t at[2];
    int n;
    memcpy(at, l->params, sizeof at);
    memcpy(&n, (const char *)l->params + 16, sizeof n);
    float *to = (float *)(void *)b->areas[at[0] - 1].host;
    float *from = (float *)(void *)b->areas[at[1] - 1].host;
    unsigned before = b->launches++;
    /* "once" keeps its first answer; "worn" is wrong from its tenth launch on. */
    bool keeps = (is(l, "once") && before) || (is(l, "worn") && before >= 10);
    b->areas[at[0] - 1].written = !is(l, "idle");
    if (is(l, "breaks") && before) {
        return BACKEND_FAULT;
    }
    if (is(l, "refused") && before) {
        err_set(err, -EIO, "the launch: CUDA_ERROR_INVALID_HANDLE");
        return BACKEND_REFUSED;
    }
    for (int i = 0; i < n && !is(l, "idle"); i++) {
        to[i] = keeps ? 1 : 2 * from[i];
        from[i] += is(l, "eats") && i == 3;
    }
    return BACKEND_DONE;
}

static int fake_time(struct backend *b, const struct backend_timing *what, json_t **ret,
                     struct err *err) {
    bool reference = !strcmp(what->launches[0].entry, "ref");
    script.timed++;
    script.samples = what->how->samples;
    script.warm = !strcmp(what->how->cache, "warm");
    script.until_ms = what->until_ms;
    for (unsigned i = 0; i < 20; i++) {
        (void)fake_launch(b, &what->launches[0], err);
    }
    if (script.result < 0) {
        return err_set(err, script.result, "as the script says");
    }
    *ret = json_pack("{s:f, s:i, s:s}", "median_us",
                     reference ? script.reference_us : script.kernel_us, "samples",
                     (int)what->how->samples, "cache", what->how->cache);
    return 0;
}
static json_t *fake_facts(const struct backend *b) {
    (void)b;
    return json_pack("{s:s}", "name", "NVIDIA H200");
}
static void fake_stop(struct backend *b) {
    (void)b;
}
static json_t *fake_findings(const struct backend *b, uint64_t *ret_omitted) {
    (void)b;
    *ret_omitted = 0;
    return json_array();
}
static json_t *fake_counters(const struct backend *b) {
    (void)b;
    return NULL;
}
static const char *fake_printed(const struct backend *b) {
    (void)b;
    return "";
}
static uint64_t fake_spent(const struct backend *b) {
    return b->launches;
}

static const struct backend_class fake = {
    .kind = "fake",
    .open = fake_open,
    .close = fake_close,
    .device = fake_device,
    .alloc = fake_alloc,
    .write = fake_write,
    .read = fake_read,
    .unwritten = fake_unwritten,
    .params = fake_params,
    .launch = fake_launch,
    .time = fake_time,
    .device_facts = fake_facts,
    .stop = fake_stop,
    .findings = fake_findings,
    .counters = fake_counters,
    .printed = fake_printed,
    .spent = fake_spent,
};

/* --- requests --- */

#define TWICE ",'expect':{'expression':{'y':'x[i] * 2'}}"
#define KERNEL ",'expect':{'kernel':{'kernel':'ref'}}"
#define TIMED ",'benchmark':{'samples':7}"

static json_t *run_on(const struct backend_class *class, const char *kernel,
                      const char *init, const char *spec) {
    autofree char *text = xasprintf(
        "{'spec':{'sizes':[{'n':5},{'n':65537},{'n':33}],'launch':{'grid':['ceil_div(n, "
        "32)'],'block':[32]},'args':[{'name':'y','type':'float32','shape':['n'],"
        "'output':true},{'name':'x','type':'float32','shape':['n'],'init':%s},{'name':"
        "'n','type':'int32','value':'n'}]%s},'ptx':'.entry %s(){ret;}','entries':{'':{"
        "'symbol':'%s','name':'%s'}},'reference_ptx':'.entry ref(){ret;} .entry "
        "good(){ret;}','reference_entries':{'ref':{'symbol':'ref','name':'ref'},'own':{"
        "'symbol':'good','name':'own'}},'seed':'0x1','limits':{'wall_ms':600000}}",
        init, spec, kernel, kernel, kernel);
    for (char *c = text; *c; c++) {
        *c = *c == '\'' ? '"' : *c;
    }
    autojson *request = json_loads(text, 0, NULL);
    cr_assert(request != NULL, "%s", text);
    return validate_run(request, NULL, class, NULL);
}
static json_t *run(const char *kernel, const char *spec) {
    return run_on(&fake, kernel, "{'normal':[0,1]}", spec);
}

static const char *verdict(const json_t *r) {
    return json_get_string(r, "verdict", "");
}
static const char *error_of(const json_t *r, const char *member) {
    return json_get_string(json_object_get(r, "error"), member, "");
}
/* "warning" for a finding of this code; "" for none. */
static const char *found(const json_t *r, const char *code) {
    size_t i;
    const json_t *f;
    json_array_foreach(json_object_get(r, "findings"), i, f) {
        if (!strcmp(json_get_string(f, "code", ""), code)) {
            return json_get_string(f, "severity", "");
        }
    }
    return "";
}
static double number(const json_t *r, const char *member, const char *name) {
    const json_t *value = json_object_get(json_object_get(r, member), name);
    cr_assert(json_is_number(value), "%s.%s", member, name);
    return json_number_value(value);
}
#define REPEAT(r) json_get_string(json_object_get(r, "repeat_check"), "verdict", "")

/* --- launched again --- */

Test(validate_timing, a_right_kernel_is_right_again) {
    autojson *r = run("good", TWICE);
    cr_expect_str_eq(verdict(r), "pass");
    cr_expect_str_eq(REPEAT(r), "pass");
    /* The smallest case with more than one block. */
    const json_t *sizes = json_object_get(json_object_get(r, "repeat_check"), "sizes");
    cr_expect_eq(json_get_integer(sizes, "n", 0), 33);
    /* The same module: nine trials and no more were opened. */
    cr_expect_eq(script.opened, 9);
    cr_expect(!json_object_get(r, "timing"));
}

Test(validate_timing, what_keeps_its_first_answer_fails) {
    static const char *const expect[] = {TWICE, KERNEL};
    for (size_t i = 0; i < ARRAY_LEN(expect); i++) {
        autojson *r = run("once", expect[i]);
        cr_expect_str_eq(verdict(r), "fail");
        cr_expect_str_eq(found(r, "changes_after_repeats"), "error");
        cr_expect_str_eq(REPEAT(r), "fail");
    }
    autojson *r = run("breaks", TWICE);
    cr_expect_str_eq(verdict(r), "fail");
    cr_expect_str_eq(found(r, "changes_after_repeats"), "error");
    /* With nothing expected nobody knows which launch is right. */
    autojson *unknown = run("once", "");
    cr_expect_str_eq(found(unknown, "changes_after_repeats"), "warning");
    autofree char *text = json_dumps(unknown, 0);
    cr_expect(strstr(text, "not what they were for the same inputs"), "%s", text);
    cr_expect(!strstr(text, "right at first"), "%s", text);
    cr_expect_str_eq(verdict(unknown), "unjudged");
}

/* The driver's no is not the kernel's fault. */
Test(validate_timing, a_launch_that_is_refused_later_is_an_error) {
    autojson *r = run("refused", TWICE TIMED);
    cr_expect_str_eq(verdict(r), "error");
    cr_expect_str_eq(found(r, "changes_after_repeats"), "");
    cr_expect_str_eq(error_of(r, "stage"), "launch");
    cr_expect_str_eq(error_of(r, "code"), "launch_refused");
    cr_expect(strstr(error_of(r, "message"), "launched again"));
    cr_expect(strstr(error_of(r, "message"), "CUDA_ERROR_INVALID_HANDLE"));
    cr_expect_str_eq(REPEAT(r), "skipped");
    cr_expect_eq(script.timed, 0);
}

Test(validate_timing, without_budget_it_is_skipped) {
    autojson *r = run("good", TWICE ",'instructions':3,'trials':1");
    cr_expect_str_eq(verdict(r), "pass");
    cr_expect_str_eq(REPEAT(r), "skipped");
}

/* --- timed --- */

Test(validate_timing, a_right_kernel_is_timed_and_checked_again) {
    script.kernel_us = 10;
    script.reference_us = 25;
    uint64_t now = clock_ms();
    autojson *r = run("good", KERNEL TIMED);
    cr_expect_str_eq(verdict(r), "pass");
    cr_expect_eq(script.timed, 2);
    cr_expect_eq(script.samples, 7);
    cr_expect(!script.warm);
    cr_expect_gt(script.until_ms, now);
    cr_expect_lt(script.until_ms, now + 600000);
    cr_expect_eq(number(r, "timing", "median_us"), 10);
    cr_expect_eq(number(r, "timing", "reference_median_us"), 25);
    cr_expect_eq(number(r, "timing", "speedup"), 2.5);
    const json_t *sizes = json_object_get(json_object_get(r, "timing"), "sizes");
    cr_expect_eq(json_get_integer(sizes, "n", 0), 65537); /* the largest */
    /* 8 * 65537 bytes at 4.8 TB/s */
    cr_expect_float_eq(number(r, "roofline", "limit_us"), 8 * 65537 / 4.8e6, 1e-9);
    cr_expect_float_eq(number(r, "roofline", "percent"), 80 * 65537 / 4.8e6, 1e-9);
    cr_expect_str_eq(json_get_string(json_object_get(r, "roofline"), "device", ""),
                     "H200 SXM");
}

Test(validate_timing, wrong_after_the_timed_launches) {
    script.kernel_us = 10;
    autojson *r = run("worn", TWICE TIMED);
    cr_expect_str_eq(REPEAT(r), "pass"); /* the second launch is right */
    cr_expect_str_eq(verdict(r), "fail");
    cr_expect_str_eq(found(r, "changes_after_repeats"), "error");
    cr_expect_eq(script.timed, 1);
}

Test(validate_timing, a_wrong_kernel_is_not_timed) {
    autojson *r = run("idle", TWICE TIMED);
    cr_expect_str_eq(verdict(r), "fail");
    cr_expect_eq(script.timed, 0);
    cr_expect(!json_object_get(r, "timing"));
}

Test(validate_timing, what_hinders_the_timing_is_told) {
    script.result = -ETIMEDOUT;
    autojson *late = run("good", TWICE TIMED);
    cr_expect_str_eq(verdict(late), "pass");
    cr_expect_str_eq(found(late, "not_timed"), "warning");
    cr_expect(!json_object_get(late, "timing"));
    static const int later[] = {-EIO, -EDEADLK}; /* it went well before */
    for (size_t i = 0; i < ARRAY_LEN(later); i++) {
        script.result = later[i];
        autojson *broken = run("good", TWICE TIMED);
        cr_expect_str_eq(verdict(broken), "fail");
        cr_expect_str_eq(found(broken, "changes_after_repeats"), "error");
    }
}

Test(validate_timing, too_fast) {
    script.kernel_us = 0.3; /* no kernel takes so little */
    autojson *impossible = run("good", TWICE TIMED);
    cr_expect_str_eq(verdict(impossible), "fail");
    cr_expect_str_eq(found(impossible, "too_fast"), "error");
    script.kernel_us = 0.6;
    autojson *fast = run("good", TWICE TIMED);
    cr_expect_str_eq(verdict(fast), "pass");
    cr_expect_str_eq(found(fast, "too_fast"), "");
    /* 262 KB of inputs take 0.0546 us of DRAM: said to be 4.8 MB they take 1 us, */
    autojson *cold = run("good", TWICE TIMED ",'roofline':{'bytes':4800000}");
    cr_expect_str_eq(found(cold, "too_fast"), "");
    cr_expect_float_eq(number(cold, "roofline", "percent"), 100 / 0.6, 1e-6);
}

Test(validate_timing, warm) {
    script.kernel_us = 5;
    autojson *r = run("good", TWICE ",'benchmark':{'cache':'warm'}");
    cr_expect(script.warm);
    cr_expect_eq(script.samples, 50);
    cr_expect_str_eq(verdict(r), "pass");
}

Test(validate_timing, a_backend_without_time_says_so) {
    struct backend_class cpu = fake;
    cpu.time = NULL;
    cpu.device_facts = NULL;
    autojson *r = run_on(&cpu, "good", "{'normal':[0,1]}", TWICE TIMED);
    cr_expect_str_eq(verdict(r), "pass");
    cr_expect_str_eq(found(r, "no_timing"), "info");
    cr_expect(!json_object_get(r, "timing"));
    const json_t *roofline = json_object_get(r, "roofline");
    cr_expect_str_eq(json_get_string(roofline, "device", ""), "H100 SXM");
    cr_expect_str_eq(json_get_string(roofline, "method", ""), "bound");
    cr_expect_float_eq(number(r, "roofline", "limit_us"), 8 * 65537 / 3.35e6, 1e-9);
    /* Where there is a device the bound is its own. */
    autojson *bound = run("good", TWICE ",'roofline':{'bytes':4800}");
    cr_expect_str_eq(json_get_string(json_object_get(bound, "roofline"), "device", ""),
                     "H200 SXM");
    cr_expect_float_eq(number(bound, "roofline", "limit_us"), 0.001, 1e-12);
    cr_expect_eq(script.timed, 0);
    autojson *asked = run_on(&cpu, "good", "{'normal':[0,1]}",
                             TWICE ",'roofline':{'flops':'1000000000 * n'}");
    cr_expect_str_eq(found(asked, "no_timing"), "");
    cr_expect_str_eq(json_get_string(json_object_get(asked, "roofline"), "bound", ""),
                     "compute");
}

/* --- checks that prove nothing, and kernels that reach beyond --- */

Test(validate_timing, a_kernel_is_not_its_own_reference) {
    autojson *own = run("good", ",'expect':{'kernel':{'kernel':'own'}}");
    cr_expect_str_eq(verdict(own), "error");
    cr_expect_str_eq(error_of(own, "code"), "self_reference");
    cr_expect_eq(script.opened, 0);
    autojson *other = run("good", KERNEL);
    cr_expect_str_eq(verdict(other), "pass");
}

Test(validate_timing, only_nan_and_infinity_prove_nothing) {
    static const char *const inits[] = {"{'fill':'NaN'}", "{'fill':'Infinity'}",
                                        "{'values':['NaN','-Infinity']}"};
    for (size_t i = 0; i < ARRAY_LEN(inits); i++) {
        autojson *r = run_on(&fake, "good", inits[i], TWICE);
        cr_expect_str_eq(verdict(r), "error", "%s", inits[i]);
        cr_expect_str_eq(error_of(r, "code"), "trivial_check");
        cr_expect(strstr(error_of(r, "message"), "NaN"));
    }
    autojson *some = run_on(&fake, "good", "{'values':[1,'NaN',3,'Infinity',-2]}", TWICE);
    cr_expect_str_eq(verdict(some), "pass");
    /* Poison is NaN: what writes nothing is not right for that. */
    autojson *idle = run_on(&fake, "idle", "{'fill':'NaN'}", TWICE);
    cr_expect_str_eq(verdict(idle), "fail");
    cr_expect_str_eq(found(idle, "unwritten_output"), "error");
}

Test(validate_timing, inputs_are_what_they_were) {
    autojson *r = run("eats", TWICE);
    cr_expect_str_eq(verdict(r), "fail");
    cr_expect_str_eq(found(r, "input_modified"), "error");
}
