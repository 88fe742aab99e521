/* assembler: every form against the bytes that GNU as makes of its text, with registers
 * at the ends of their ranges and displacements at the ends of theirs. */
#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "gpu/ptx/emit/assembler.h"

#include <criterion/criterion.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *const gprs[] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp",
                                   "rsi", "rdi", "r8",  "r9",  "r10", "r11",
                                   "r12", "r13", "r14", "r15"};
static const char *const gprs_32[] = {"eax",  "ecx",  "edx",  "ebx", "esp",  "ebp",
                                      "esi",  "edi",  "r8d",  "r9d", "r10d", "r11d",
                                      "r12d", "r13d", "r14d", "r15d"};

#define MAX_LINES 60000
static struct assembler code;
static size_t ends[MAX_LINES];
static char *lines[MAX_LINES];
static unsigned count;

/* The text of what was just emitted. */
static void wrote(char *text) {
    cr_assert_lt(count, MAX_LINES);
    lines[count] = text;
    ends[count++] = code.size;
}

static const char *place_text(struct asm_place p, const char *const *names, char *to) {
    if (p.kind == PLACE_REGISTER) {
        return names[p.base];
    }
    sprintf(to, "[%s%+d]", gprs[p.base], p.at);
    return to;
}

static char *lower_name(const char *name) {
    char *r = xstrdup(name);
    for (char *p = r; *p; p++) {
        *p = (char)tolower(*p);
    }
    char *end = strchr(r, '_');
    if (end) {
        *end = '\0';
    }
    return r;
}

/* ---- vectors ---- */

static void vector_rm(const struct vector_form *f, struct asm_place p, char *to) {
    const char *size = f->flags & ASM_HALF ? "ymm" : f->flags & ASM_ONE ? "xmm" : "zmm";
    if (p.kind == PLACE_REGISTER && f->flags & ASM_GPR) {
        strcpy(to, f->w ? gprs[p.base] : gprs_32[p.base]);
    } else if (p.kind == PLACE_ROUNDED) {
        static const char *const directions[] = {"rn", "rd", "ru", "rz"};
        sprintf(to, "%s%u, {%s-sae}", size, p.base, directions[p.index]);
    } else if (p.kind == PLACE_REGISTER) {
        sprintf(to, "%s%u", size, p.base);
    } else if (p.kind == PLACE_INDEXED) {
        sprintf(to, "[%s+%s%u%+d]", gprs[p.base], size, p.index, p.at);
    } else {
        const char *bytes = f->bytes == 2   ? "word ptr "
                            : f->bytes == 4 ? "dword ptr "
                            : f->bytes == 8 ? "qword ptr "
                            : f->bytes == 64 ? "zmmword ptr "
                                             : "";
        sprintf(to, "%s[%s%+d]%s", p.kind == PLACE_BROADCAST ? "" : bytes, gprs[p.base],
                p.at,
                p.kind != PLACE_BROADCAST ? ""
                : f->w                    ? "{1to8}"
                                          : "{1to16}");
    }
}

static void try_vector(enum vector_op op, unsigned reg, unsigned second,
                       struct asm_place rm, unsigned mask) {
    const struct vector_form *f = &vector_forms[op];
    autofree char *name = lower_name(f->name);
    char place[64], out[16], second_text[16] = "", masked[16] = "", byte[16] = "";
    bool two = f->flags & (ASM_TWO | ASM_STORE);
    vector_rm(f, rm, place);
    sprintf(out, "%s%u",
            f->flags & ASM_MASK     ? "k"
            : f->flags & ASM_GPR    ? "xmm"
            : f->flags & ASM_HALVES ? "ymm"
                                    : "zmm",
            reg);
    if (!two) {
        sprintf(second_text, "zmm%u, ", second);
    }
    if (mask) {
        sprintf(masked, "{k%u}", mask);
    }
    if (f->flags & ASM_BYTE) {
        sprintf(byte, ", %u", reg + 1);
    }
    asm_vector_masked(&code, op, reg, two ? 0 : second, rm, mask, (uint8_t)(reg + 1));
    bool store = f->flags & ASM_STORE;
    wrote(xasprintf("%s%s %s%s, %s%s%s", f->flags & ASM_GPR ? "{evex} " : "", name,
                    store ? place : out, masked, second_text, store ? out : place, byte));
}

static const uint8_t ends_of_32[] = {0, 7, 8, 15, 16, 23, 24, 31};
static const int steps[] = {0, 1, -1, 127, 128, -128, -129, 70000};

static void try_vector_memory(enum vector_op op, unsigned reg, uint8_t kind) {
    const struct vector_form *f = &vector_forms[op];
    unsigned unit = kind == PLACE_BROADCAST ? 4u << f->w : f->bytes;
    for (unsigned base = 0; base < 16; base++) {
        for (size_t k = 0; k < ARRAY_LEN(steps); k++) {
            struct asm_place p = {.kind = kind, .base = (uint8_t)base};
            p.index = ends_of_32[(base + k) % 8];
            p.at = steps[k] * (int)unit + (k == 7 ? 1 : 0);
            unsigned other = (p.index + 1u) % 32;
            try_vector(op, f->flags & ASM_VSIB && reg == p.index ? other : reg, 31 - reg,
                       p, f->flags & ASM_VSIB ? 1 : 0);
        }
    }
}

static void try_vector_op(enum vector_op op) {
    const struct vector_form *f = &vector_forms[op];
    bool only_memory =
        f->flags & ASM_VSIB || (f->flags & ASM_STORE && f->flags & ASM_WHOLE);
    for (size_t k = 0; k < 8; k++) {
        unsigned reg = f->flags & ASM_MASK ? (unsigned)k % 7 + 1 : ends_of_32[k];
        for (size_t m = 0; m < 8 && !only_memory; m++) {
            unsigned limit = f->flags & ASM_GPR ? 15 : 31;
            try_vector(op, reg, ends_of_32[(k + m) % 8],
                       in_register(ends_of_32[m] & limit),
                       f->flags & ASM_GPR ? 0 : (unsigned)m);
        }
    }
    for (uint8_t k = 0; k < 32 && f->flags & ASM_ROUND; k++) {
        try_vector(op, k, 31 - k, in_rounded((k + 9u) % 32, (enum asm_rounding)(k % 4)),
                   k % 8);
    }
    unsigned reg = f->flags & ASM_MASK ? 5 : 21;
    try_vector_memory(op, reg, f->flags & ASM_VSIB ? PLACE_INDEXED : PLACE_MEMORY);
    if (f->bytes == 64 && !(f->flags & (ASM_STORE | ASM_WHOLE))) {
        try_vector_memory(op, reg, PLACE_BROADCAST);
    }
}

/* ---- masks and scalars ---- */

static void try_mask(enum mask_op op, unsigned reg, unsigned second,
                     struct asm_place rm) {
    static const char *const names[MASK_OPS] = {"kortestb", "kortestw", "kmovw",
                                                "kmovd",    "kmovq",    "kmovd",
                                                "kunpckwd", "kunpckbw", "kxnorw",
                                                "korw"};
    char place[64], number[8], other[8] = "";
    sprintf(number, "k%u", rm.base);
    const char *text = rm.kind == PLACE_REGISTER ? number : place_text(rm, gprs, place);
    bool three = op >= KUNPCKWD;
    if (three) {
        sprintf(other, "k%u, ", second);
    }
    asm_mask(&code, op, reg, three ? second : 0, rm);
    char out[8];
    sprintf(out, "k%u", reg);
    wrote(xasprintf("%s %s, %s%s", names[op], op == KMOVD_TO ? gprs_32[reg] : out, other,
                    text));
}

static void try_masks(enum mask_op op) {
    for (unsigned k = 0; k < 16; k++) {
        bool load = op == KMOVW_LOAD || op == KMOVD_LOAD || op == KMOVQ_LOAD;
        unsigned reg = op == KMOVD_TO ? k : k & 7;
        if (!load) {
            try_mask(op, reg, (k + 3) & 7, in_register((k + 5) & 7));
        }
        for (size_t s = 0; s < ARRAY_LEN(steps) && load; s++) {
            try_mask(op, reg, 0, in_memory((enum gpr)k, steps[s]));
        }
    }
}

static void try_scalar(enum scalar_op op, unsigned reg, struct asm_place rm) {
    static const struct {
        const char *name;
        bool wide;
    } forms[SCALAR_OPS] = {{"mov", true},  {"mov", true}, {"mov", false}, {"mov", false},
                           {"lea", true},  {"add", true}, {"sub", true},  {"cmp", true},
                           {"cmp", false}, {"and", false}, {"or", false}, {"xor", false},
                           {"inc", true},  {"not", false}, {"call", true}};
    const char *const *names = forms[op].wide ? gprs : gprs_32;
    char place[64];
    const char *text = place_text(rm, names, place);
    const char *size = forms[op].wide ? "qword ptr" : "dword ptr";
    asm_scalar(&code, op, (enum gpr)reg, rm);
    if (op == INC || op == NOT_32 || op == CALL) {
        wrote(xasprintf("%s %s %s", forms[op].name, rm.kind ? size : "", text));
    } else if (op == MOV_STORE || op == MOV_STORE_32) {
        wrote(xasprintf("mov %s, %s", text, names[reg]));
    } else if (rm.kind == PLACE_REGISTER) { /* as has another form for it */
        wrote(xasprintf("{load} %s %s, %s", forms[op].name, names[reg], text));
    } else {
        wrote(xasprintf("%s %s, %s", forms[op].name, names[reg], text));
    }
}

static void try_scalars(enum scalar_op op) {
    for (unsigned base = 0; base < 16; base++) {
        for (size_t s = 0; s < ARRAY_LEN(steps); s++) {
            try_scalar(op, 15 - base, in_memory((enum gpr)base, steps[s]));
        }
        if (op != LEA) {
            try_scalar(op, (base + 7) & 15, in_register(base));
        }
    }
}

static void try_constant(enum constant_op op, struct asm_place rm, int32_t value) {
    static const struct {
        const char *name, *size;
    } forms[] = {{"add", "qword ptr"}, {"and", "qword ptr"}, {"sub", "qword ptr"},
                 {"cmp", "qword ptr"}, {"cmp", "dword ptr"}, {"cmp", "byte ptr"},
                 {"test", "byte ptr"}, {"shr", "qword ptr"}};
    char place[64];
    asm_constant(&code, op, rm, value);
    wrote(xasprintf("%s %s %s, %d", forms[op].name, rm.kind ? forms[op].size : "",
                    place_text(rm, gprs, place), value));
}

static void try_constants(enum constant_op op) {
    static const int32_t values[] = {2, 127, 128, -128, -129, INT32_MAX, INT32_MIN};
    bool bytes = op >= CMP_C_8;
    for (unsigned base = 0; base < 16; base++) {
        for (size_t v = 0; v < (op == SHR_C ? 1 : bytes ? 2 : ARRAY_LEN(values)); v++) {
            try_constant(op, in_memory((enum gpr)base, steps[(base + v) % 8]), values[v]);
            if (base != RAX && op <= CMP_C) { /* of rax as has a shorter form */
                try_constant(op, in_register(base), values[v]);
            }
        }
    }
}

static void try_others(void) {
    for (unsigned r = 0; r < 16; r++) {
        asm_push(&code, (enum gpr)r);
        wrote(xasprintf("push %s", gprs[r]));
        asm_pop(&code, (enum gpr)r);
        wrote(xasprintf("pop %s", gprs[r]));
        asm_load_constant(&code, (enum gpr)r, UINT64_C(0x8123456789abcdef));
        wrote(xasprintf("movabs %s, 0x8123456789abcdef", gprs[r]));
        asm_prefetch(&code, in_memory((enum gpr)r, 0x40));
        wrote(xasprintf("prefetcht0 [%s + 0x40]", gprs[r]));
    }
    asm_return(&code);
    wrote(xstrdup("ret"));
    asm_forget_uppers(&code);
    wrote(xstrdup("vzeroupper"));
    static const enum condition conditions[] = {IF_BELOW,     IF_NOT_CARRY, IF_EQUAL,
                                                IF_NOT_EQUAL, IF_ABOVE,     ALWAYS};
    static const char *const names[] = {"jb", "jnc", "je", "jne", "ja", "jmp"};
    for (size_t k = 0; k < ARRAY_LEN(conditions); k++) {
        size_t jump = asm_jump(&code, conditions[k]);
        asm_land(&code, jump);
        wrote(xasprintf("{disp32} %s 1f; 1:", names[k]));
    }
}

/* ---- comparison ---- */

static bool assemble(const char *folder, struct buf *ret) {
    autofree char *source = xasprintf("%s/a.s", folder);
    FILE *f = fopen(source, "w");
    cr_assert(f != NULL);
    fputs(".intel_syntax noprefix\n", f);
    for (unsigned k = 0; k < count; k++) {
        fprintf(f, "%s\n", lines[k]);
    }
    fclose(f);
    autofree char *command =
        xasprintf("as --64 -o %s/a.o %s && objcopy -O binary -j .text %s/a.o %s/a.bin",
                  folder, source, folder, folder);
    autofree char *binary = xasprintf("%s/a.bin", folder);
    struct err err = {0};
    bool done = system(command) == 0 && file_read(binary, ret, &err) == 0;
    autofree char *clean = xasprintf("rm -r %s", folder);
    cr_expect_eq(system(clean), 0);
    return done;
}

Test(ptx_assembler, every_form_is_what_an_assembler_makes_of_it) {
    if (system("as --version > /dev/null 2>&1 && objcopy --version > /dev/null 2>&1")) {
        cr_skip_test("no assembler here");
    }
    code = (struct assembler){.bytes = xmalloc(1 << 20), .room = 1 << 20};
    for (unsigned op = 0; op < VECTOR_OPS; op++) {
        try_vector_op((enum vector_op)op);
    }
    for (unsigned op = 0; op < MASK_OPS; op++) {
        try_masks((enum mask_op)op);
    }
    for (unsigned op = 0; op < SCALAR_OPS; op++) {
        try_scalars((enum scalar_op)op);
    }
    for (unsigned op = ADD_C; op <= SHR_C; op++) {
        try_constants((enum constant_op)op);
    }
    try_others();
    cr_assert(!code.full);
    char folder[] = "/tmp/assembler-test-XXXXXX";
    cr_assert(mkdtemp(folder) != NULL);
    autobuf want = BUF_INIT(4 << 20);
    cr_assert(assemble(folder, &want), "as refuses the texts");
    size_t at = 0;
    while (at < code.size && at < want.len && code.bytes[at] == (uint8_t)want.data[at]) {
        at++;
    }
    unsigned line = 0;
    while (line < count - 1 && ends[line] <= at) {
        line++;
    }
    cr_expect(at == code.size && at == want.len, "%s: byte %zu of the text", lines[line],
              at);
    for (unsigned k = 0; k < count; k++) {
        free(lines[k]);
    }
    free(code.bytes);
}

Test(ptx_assembler, a_full_buffer_takes_nothing_more) {
    uint8_t bytes[8] = {0};
    struct assembler a = {.bytes = bytes, .room = 4};
    asm_vector(&a, VADDPS, 1, 2, in_register(3));
    cr_expect(a.full && a.size == 4 && bytes[4] == 0);
}
