/* Kernels made of changed PTX, run with small budgets: whatever they do, the machine
 * stays within its own memory and comes to an end, and code for the host does what the
 * interpreter does: memory, findings, counters. */
#include "base/err.h"
#include "gpu/ptx/alu/bind.h"
#include "gpu/ptx/emit/emit.h"
#include "gpu/ptx/machine/machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_TEXT = 24576, BUFFER = 4096, BUFFERS = 3 };

/* The pointers and numbers of the sample kernels: most take pointers first. */
static void launch(struct machine *m, const struct ptx_function *f,
                   const uint64_t *addresses, unsigned shape) {
    static unsigned char params[32768];
    unsigned cluster = f->reqnctapercluster[0] % 16; /* a grid of whole ones */
    const struct machine_launch l = {
        .entry = f->name,
        .label = f->name,
        .grid = {(1 + shape % 3) * (cluster ? cluster : 1), 1, 1},
        .block = {32 + 17 * (shape % 5), 1 + shape % 2, 1},
        .dynamic_shared = 1024,
        .cooperative = shape % 7 == 0,
        .params = params,
        .param_bytes = f->param_bytes,
    };
    struct err err;
    memset(params, 0, sizeof params);
    for (uint64_t at = 0, i = 0; at + 4 <= f->param_bytes && at < 64; at += 8, i++) {
        uint64_t value = i < BUFFERS ? addresses[i] : 33;
        memcpy(params + at, &value, at + 8 <= f->param_bytes ? 8 : 4);
    }
    (void)machine_launch(m, &l, &err);
}

/* What a run of all kernels left. */
struct outcome {
    char *findings, *counters;
    uint8_t memory[BUFFERS][BUFFER];
    uint64_t spent, native; /* native: blocks that ran as code for the host */
};

static void launch_all(struct machine *m, const struct ptx_module *module,
                       const uint64_t *addresses, unsigned shape) {
    for (uint32_t i = 0; i < module->function_count; i++) {
        const struct ptx_function *f = &module->functions[i];
        if (f->is_entry && !f->is_declaration && f->param_bytes <= 32764) {
            launch(m, f, addresses, shape);
        }
    }
}

static char *text_of(json_t *value) {
    char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_SORT_KEYS);
    json_decref(value);
    return text;
}

/* false: the machine does not take this module. */
static bool run(const struct ptx_module *module, unsigned shape, uint32_t emit_after,
                struct outcome *ret) {
    const struct machine_config config = {
        .checks = MACHINE_CHECK_DEFAULT | (shape % 4 == 1 ? MACHINE_CHECK_RACE : 0u),
        .threads = 1,
        .instructions = 60000,
        .memory = 4u << 20,
        .seed = shape,
        .emit_after = emit_after,
        .one_lane = shape % 11 == 0,
        .max_findings = 16,
        .max_printf = 4096,
    };
    struct machine *m;
    struct err err;
    json_t *unsupported = NULL;
    if (machine_new(&m, module, NULL, &config, &unsupported, &err) < 0) {
        json_decref(unsupported);
        return false;
    }
    uint64_t addresses[BUFFERS], omitted;
    void *host[BUFFERS];
    for (unsigned i = 0; i < BUFFERS; i++) {
        unsigned flags = i == 1 ? MACHINE_READ_ONLY : MACHINE_OUTPUT;
        if (machine_alloc(m, "b", BUFFER, flags, &addresses[i], &host[i], &err) < 0) {
            abort();
        }
    }
    launch_all(m, module, addresses, shape);
    for (unsigned i = 0; i < BUFFERS; i++) {
        memcpy(ret->memory[i], host[i], BUFFER);
    }
    ret->spent = machine_spent(m);
    ret->native = machine_native_runs(m);
    ret->findings = text_of(machine_findings(m, &omitted));
    ret->counters = text_of(machine_counters(m));
    machine_free(m);
    return true;
}

static void expect(bool same, const char *what) {
    if (!same) {
        fprintf(stderr, "code for the host and the interpreter differ: %s\n", what);
        abort();
    }
}

static void compare(const struct outcome *a, const struct outcome *b) {
    expect(strcmp(a->findings, b->findings) == 0, "findings");
    expect(strcmp(a->counters, b->counters) == 0, "counters");
    expect(a->spent == b->spent, "instructions");
    expect(memcmp(a->memory, b->memory, sizeof a->memory) == 0, "memory");
}

static void outcome_finish(struct outcome *o) {
    free(o->findings);
    free(o->counters);
}

/* What the run spent with code for the host; the same is done without. */
static uint64_t both_ways(const struct ptx_module *module, unsigned shape) {
    struct outcome code, steps;
    if (!run(module, shape, 1, &code)) {
        return 0;
    }
    if (code.native) {
        run(module, shape, EMIT_NEVER, &steps);
        compare(&code, &steps);
        outcome_finish(&steps);
    }
    outcome_finish(&code);
    return code.native;
}

static uint64_t inputs, modules, compiled; /* modules: inputs that are PTX */

/* So that a long run says how much of it met the code that it is about. */
static void tell_counts(void) {
    fprintf(stderr, "inputs: %llu, PTX: %llu, run as code for the host: %llu\n",
            (unsigned long long)inputs, (unsigned long long)modules,
            (unsigned long long)compiled);
}

int LLVMFuzzerInitialize(int *argc, char ***argv);
/* A target that never reaches the code would find nothing in it. */
int LLVMFuzzerInitialize(int *argc, char ***argv) {
    static const char loop[] =
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n"
        ".reg .b32 %r<3>;\n.reg .pred %p;\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, 0;\n"
        "L:\nadd.u32 %r1, %r1, %r2;\nxor.b32 %r1, %r1, 7;\nadd.u32 %r2, %r2, 1;\n"
        "setp.lt.u32 %p, %r2, 9;\n@%p bra L;\nret;\n}\n";
    struct ptx_module *module;
    (void)argc;
    (void)argv;
    if (strcmp(bind_extension(), "avx512") == 0) {
        bool read = ptx_module_read(&module, loop, sizeof loop - 1, NULL) == 0;
        expect(read && both_ways(module, 2) > 0, "nothing became code");
        ptx_module_free(module);
    }
    atexit(tell_counts);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct ptx_module *module;
    inputs++;
    if (size < 1 || size > MAX_TEXT ||
        ptx_module_read(&module, (const char *)data, size, NULL) < 0) {
        return 0;
    }
    modules++;
    compiled += both_ways(module, data[size - 1] * 31u + (unsigned)size) > 0;
    ptx_module_free(module);
    return 0;
}

/* --- changes that mostly leave PTX behind: words for words, lines for lines --- */

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);

struct text {
    char *at;
    size_t len, max;
};

static unsigned draw(unsigned *state) {
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* Some line that is an instruction, as [start, end). */
static bool pick_line(const struct text *t, unsigned *state, size_t *start, size_t *end) {
    size_t from = t->len ? draw(state) % t->len : 0;
    const char *line = memchr(t->at + from, '\n', t->len - from);
    if (!line || (size_t)(line + 2 - t->at) >= t->len || line[1] != '\t') {
        return false;
    }
    const char *stop = memchr(line + 1, '\n', t->len - (size_t)(line + 1 - t->at));
    *start = (size_t)(line + 1 - t->at);
    *end = stop ? (size_t)(stop + 1 - t->at) : t->len;
    return true;
}

static bool is_word(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           c == '_' || c == '%' || c == '.' || c == '$';
}

static bool pick_word(const struct text *t, unsigned *state, size_t *start, size_t *end) {
    size_t at = t->len ? draw(state) % t->len : 0;
    if (!t->len || !is_word(t->at[at])) {
        return false;
    }
    for (*start = at; *start && is_word(t->at[*start - 1]);) {
        --*start;
    }
    for (*end = at; *end < t->len && is_word(t->at[*end]);) {
        ++*end;
    }
    return true;
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* Two registers of a bank, two numbers, or two names. */
static bool same_kind(const char *a, const char *a_end, const char *b, const char *b_end) {
    if (*a != '%') {
        return *b != '%' && is_digit(*a) == is_digit(*b);
    }
    while (a < a_end && b < b_end && *a == *b && !is_digit(*a)) {
        a++;
        b++;
    }
    return a < a_end && b < b_end && is_digit(*a) && is_digit(*b);
}

/* Another word that can stand where [from, to) does, if a few draws find one. */
static bool pick_like(const struct text *t, unsigned *state, size_t from, size_t to,
                      size_t *start, size_t *end) {
    bool found = false;
    for (unsigned tries = 16; tries; tries--) {
        if (pick_word(t, state, start, end)) {
            found = true;
            if (same_kind(t->at + from, t->at + to, t->at + *start, t->at + *end)) {
                break;
            }
        }
    }
    return found;
}

static void replace(struct text *t, size_t start, size_t end, const char *with,
                    size_t len) {
    if (t->len - (end - start) + len <= t->max) {
        memmove(t->at + start + len, t->at + end, t->len - end);
        memcpy(t->at + start, with, len);
        t->len += len - (end - start);
    }
}

static void change(struct text *t, unsigned *state) {
    static const char *const numbers[] = {
        "0",     "1",    "-1", "31",         "32",         "255",       "4095",
        "65536", "1024", "-8", "2147483647", "0xFFFFFFFF", "0f7FC00000"};
    char copy[512];
    size_t a, b, c, d;
    unsigned what = draw(state) % 4;
    bool lines = what == 0;
    bool ok = lines ? pick_line(t, state, &a, &b) && pick_line(t, state, &c, &d)
                    : pick_word(t, state, &a, &b) && pick_like(t, state, a, b, &c, &d);
    if (!ok || b - a >= sizeof copy || d - c >= sizeof copy) {
        return;
    }
    if (what == 1) {
        const char *n = numbers[draw(state) % (sizeof numbers / sizeof *numbers)];
        replace(t, a, b, n, strlen(n));
    } else if (lines && draw(state) % 2) {
        replace(t, a, b, "", 0);
    } else {
        memcpy(copy, t->at + a, b - a);
        replace(t, c, lines ? c : d, copy, b - a);
    }
}

static bool readable(const struct text *t) {
    struct ptx_module *module;
    if (ptx_module_read(&module, t->at, t->len, NULL) < 0) {
        return false;
    }
    ptx_module_free(module);
    return true;
}

/* What is no PTX teaches nothing about the machine (fuzz_ptx has the reader): a change
 * that leaves none is taken back. */
static void change_readable(struct text *t, unsigned *state) {
    static char before[MAX_TEXT];
    size_t len = t->len;
    memcpy(before, t->at, len);
    for (unsigned tries = 8; tries; tries--) {
        change(t, state);
        if (readable(t)) {
            return;
        }
        memcpy(t->at, before, len);
        t->len = len;
    }
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed) {
    struct text t = {(char *)data, size, max < MAX_TEXT ? max : MAX_TEXT};
    unsigned state = seed;
    if (size > t.max || seed % 16 == 0) {
        return LLVMFuzzerMutate(data, size, max);
    }
    for (unsigned n = 1 + draw(&state) % 6; n; n--) {
        change_readable(&t, &state);
    }
    return t.len;
}
