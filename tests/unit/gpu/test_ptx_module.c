/* The structure that PTX is read into, and how bad text is refused. */
#include "base/err.h"
#include "base/mem.h"
#include "gpu/ptx/read/module.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#define HEAD ".version 8.7\n.target sm_90a\n.address_size 64\n"

static struct ptx_module *read_text(const char *text) {
    struct ptx_module *m = NULL;
    struct err err = {0};
    int code = ptx_module_read(&m, text, strlen(text), &err);
    cr_assert_eq(code, 0, "%s", err.msg);
    return m;
}

static const struct ptx_variable *variable(const struct ptx_module *m, const char *name) {
    for (uint32_t i = 0; i < m->variable_count; i++) {
        if (strcmp(m->variables[i].name, name) == 0 && !m->variables[i].is_extern) {
            return &m->variables[i];
        }
    }
    return NULL;
}

static bool spelt(const struct ptx_module *m, const struct ptx_instruction *i,
                  const char *text) {
    return i->spelling_len == strlen(text) &&
           memcmp(m->text + i->spelling, text, i->spelling_len) == 0;
}

Test(ptx_module, entry) {
    struct ptx_module *m = read_text(
        HEAD ".visible .entry k(.param .u32 n, .param .u64 .ptr .global .align 16 p,\n"
             ".param .align 64 .b8 t[128], .param .u8 c)\n"
             ".maxntid 128, 2\n.minnctapersm 3\n.reqnctapercluster 2, 1, 1\n{\n"
             ".reg .pred %p<3>;\n.reg .b32 %r<12>, x;\n.local .align 8 .b8 d[20];\n"
             ".local .b64 e;\n"
             "ld.param.u32 %r1, [n];\n@!%p1 bra DONE;\n"
             "mad.lo.s32 x, %r11, %r0, -4;\nDONE: ret;\n}\n");
    const struct ptx_function *f = ptx_find_entry(m, "k");
    cr_assert(f != NULL && f->is_entry && f->used);
    cr_assert(ptx_find_entry(m, "K") == NULL);
    cr_assert_eq(m->version_major, 8u);
    cr_assert_eq(m->version_minor, 7u);
    cr_assert_str_eq(m->target, "sm_90a");
    /* natural alignment: 0, 8, 64, 192 */
    static const uint64_t offsets[] = {0, 8, 64, 192};
    cr_assert_eq(f->param_count, 4u);
    for (uint32_t i = 0; i < 4; i++) {
        const struct ptx_variable *v = &m->variables[f->params[i]];
        cr_assert_eq(v->offset, offsets[i]);
        cr_assert_eq(v->param_block, PTX_BLOCK_PARAMS);
    }
    cr_assert_eq(f->param_bytes, 193u);
    cr_assert_eq(f->maxntid[0], 128u);
    cr_assert_eq(f->maxntid[1], 2u);
    cr_assert_eq(f->maxntid[2], 1u);
    cr_assert_eq(f->minnctapersm, 3u);
    cr_assert_eq(f->reqnctapercluster[0], 2u);
    cr_assert_eq(f->register_count, 16u);
    cr_assert_eq(f->registers[0].type, PTX_PRED);
    cr_assert_eq(f->registers[3 + 7].number, 7u);
    cr_assert_eq(f->registers[15].number, UINT32_MAX);
    cr_assert_eq(f->local_bytes, 32u); /* 20, then 8 aligned to 8 */
    cr_assert_eq(f->local_align, 8u);
    cr_assert_eq(f->code_count, 4u);
    const struct ptx_instruction *bra = &f->code[1], *mad = &f->code[2];
    cr_assert_eq(bra->guard, 1);
    cr_assert(bra->guard_negated);
    cr_assert_eq(f->operands[bra->operands].kind, PTX_OPERAND_LABEL);
    cr_assert_eq(f->operands[bra->operands].index, 3u);
    cr_assert(f->leader[3] && !f->leader[2]);
    cr_assert(spelt(m, mad, "mad.lo.s32"));
    cr_assert_eq(mad->types[0], PTX_S32);
    cr_assert(ptx_has(mad, PTX_M_LO) && !ptx_has(mad, PTX_M_HI));
    cr_assert_eq(f->operands[mad->operands].index, 15u);
    cr_assert_eq(f->operands[mad->operands + 1].index, 3u + 11);
    cr_assert_eq((int64_t)f->operands[mad->operands + 3].bits, -4);
    cr_assert_eq(mad->line, 16u);
    ptx_module_free(m);
}

/* Inner names hide outer ones, ahead of their line too where they are labels. */
Test(ptx_module, scopes) {
    struct ptx_module *m =
        read_text(HEAD ".entry k() {\n.reg .b32 %r<4>;\n"
                       "mov.u32 %r1, 1;\n"                             /* 0 */
                       "{ .reg .b32 %r1; bra L; mov.u32 %r1, 2;\n"     /* 1, 2 */
                       "L: mov.u32 %r2, 3; }\n"                        /* 3 */
                       "{ bra L; { .reg .b32 %r<2>; mov.u32 %r1, 4;\n" /* 4, 5 */
                       "mov.u32 %r3, 5; } }\n"                         /* 6 */
                       "L: mov.u32 %r1, 6; bra L;\n}\n");              /* 7, 8 */
    const struct ptx_function *f = ptx_find_entry(m, "k");
    static const struct {
        uint32_t at, index;
    } want[] = {{0, 1}, {1, 3}, {2, 4}, {3, 2}, {4, 7}, {5, 6}, {6, 3}, {7, 1}, {8, 7}};
    for (size_t i = 0; i < ARRAY_LEN(want); i++) {
        cr_assert_eq(f->operands[f->code[want[i].at].operands].index, want[i].index,
                     "%zu", i);
    }
    cr_assert_eq(f->code_count, 9u);
    ptx_module_free(m);
}

/* A body that may run off its end gets a ret without spelling. */
Test(ptx_module, code_ends) {
    struct ptx_module *m = read_text(HEAD ".entry a() { }\n"
                                          ".entry b() { .reg .pred p; @p ret; }\n"
                                          ".entry c() { bra L; L: }\n"
                                          ".entry d() { exit; }\n");
    static const uint32_t counts[] = {1, 2, 2, 1};
    for (uint32_t i = 0; i < 4; i++) {
        const struct ptx_function *f = &m->functions[i];
        cr_assert_eq(f->code_count, counts[i]);
        cr_assert_eq(f->code[counts[i] - 1].spelling_len == 0, i < 3);
    }
    ptx_module_free(m);
}

Test(ptx_module, initialisers) {
    struct ptx_module *m = read_text(
        HEAD ".func f() { ret; }\n"
             ".const .align 4 .f32 k[2][3] = {{1.0, 0f40000000}, {-0.5}};\n"
             ".global .align 8 .b64 p[3] = {k, generic(k)+8, f};\n"
             ".global .u8 m[] = {0xff(p), 0xFF00(p+4), 7U, 017, 0b11, 300};\n"
             ".global .u32 dead[3] = {1, 2, 3};\n"
             ".global .f64 d = 0f3FC00000;\n.global .v2 .u16 v[2] = {{1, 2}, {3, 4}};\n"
             ".global .b32 zero[4];\n"
             ".entry e() { .reg .b64 r<8>; mov.u64 r0, p; mov.u64 r1, m; mov.u64 r2, d;\n"
             "mov.u64 r3, v; mov.u64 r4, zero; ret; }\n");
    static const float k[6] = {1, 2, 0, -0.5f, 0, 0};
    const struct ptx_variable *p = variable(m, "p"), *bytes = variable(m, "m");
    cr_assert_eq(variable(m, "k")->size, sizeof k);
    cr_assert_arr_eq(variable(m, "k")->initialiser, k, sizeof k);
    cr_assert_eq(p->relocation_count, 3u);
    cr_assert_eq(p->relocations[1].at, 8u);
    cr_assert_eq(p->relocations[1].addend, 8);
    cr_assert(p->relocations[1].generic && !p->relocations[0].generic);
    cr_assert(p->relocations[2].is_function);
    cr_assert(m->functions[0].used); /* through p */
    cr_assert_eq(bytes->size, 6u);
    cr_assert_arr_eq(bytes->initialiser, "\0\0\007\017\003\054", 6);
    cr_assert_eq(bytes->relocations[1].shift, 8);
    cr_assert_eq(bytes->relocations[1].addend, 4);
    double d;
    memcpy(&d, variable(m, "d")->initialiser, sizeof d);
    cr_assert_eq(d, 1.5);
    static const uint16_t v[4] = {1, 2, 3, 4};
    cr_assert_arr_eq(variable(m, "v")->initialiser, v, sizeof v);
    cr_assert(variable(m, "zero")->initialiser == NULL);
    cr_assert(!variable(m, "dead")->used && variable(m, "dead")->initialiser == NULL);
    ptx_module_free(m);
}

/* `.param` variables of calls: blocks that do not nest share the bytes. */
Test(ptx_module, call_bytes) {
    struct ptx_module *m =
        read_text(HEAD ".func f(.param .b32 a, .param .b64 b) { ret; }\n.entry e() {\n"
                       "{ .param .b32 x; .param .b64 y; call f, (x, y); }\n"
                       "{ .param .b32 z; .param .b64 w; call f, (z, w); }\n ret; }\n");
    cr_assert_eq(ptx_find_entry(m, "e")->call_bytes, 16u);
    cr_assert_eq(variable(m, "y")->offset, 8u);
    cr_assert_eq(variable(m, "w")->offset, 8u);
    cr_assert_eq(variable(m, "w")->param_block, PTX_BLOCK_CALL);
    ptx_module_free(m);
}

Test(ptx_module, places) {
    struct ptx_module *m = read_text(
        HEAD
        ".entry e() {\n.loc 1 3 5\n.loc 2 9 1, function_name $L__s, inlined_at 1 3 5\n"
        ".loc 2 7 2, function_name $L__s+4, inlined_at 2 9 1\ntrap;\n"
        ".loc 1 4 0\nret;\n}\n.file 1 \"a.cu\"\n.file 2 \"b.h\"\n");
    const struct ptx_function *f = ptx_find_entry(m, "e");
    const struct ptx_place *at = &m->places[f->code[0].place];
    cr_assert_eq(at->line, 7u);
    cr_assert_str_eq(m->files[at->file], "b.h");
    at = &m->places[at->caller];
    cr_assert_eq(at->line, 9u);
    at = &m->places[at->caller];
    cr_assert_eq(at->line, 3u);
    cr_assert_eq(at->column, 5u);
    cr_assert_str_eq(m->files[at->file], "a.cu");
    cr_assert_eq(at->caller, 0u);
    cr_assert_eq(m->places[f->code[1].place].line, 4u);
    ptx_module_free(m);
}

/* What stands in a header of the toolkit is told where the user's code called it. */
Test(ptx_module, places_that_are_told) {
    struct ptx_module *m = read_text(
        HEAD
        ".entry e() {\n.loc 1 3 5\n.loc 2 9 1, function_name $L__s, inlined_at 1 3 5\n"
        ".loc 3 7 2, function_name $L__s+4, inlined_at 2 9 1\ntrap;\n"
        ".loc 4 6 1, function_name $L__s, inlined_at 1 3 5\ntrap;\n"
        ".loc 3 8 2\ntrap;\n"
        /* The outer .loc is not said again when the same call goes on. */
        ".loc 1 4 5\ntrap;\n.loc 3 6 2, function_name $L__s, inlined_at 2 9 1\ntrap;\n"
        ".loc 1 5 5\n.loc 2 9 1, function_name $L__s, inlined_at 1 5 5\n.loc 1 6 1\n"
        ".loc 3 7 2, function_name $L__s, inlined_at 2 9 1\ntrap;\nret;\n}\n"
        ".entry n() {\n.loc 5 2 1, function_name $L__s, inlined_at 1 3 "
        "5\ntrap;\nret;\n}\n"
        ".entry c() {\n.loc 6 2 1, function_name $L__s, inlined_at 1 3 "
        "5\ntrap;\nret;\n}\n"
        ".entry o() {\n.loc 3 7 2, function_name $L__s, inlined_at 2 9 "
        "1\ntrap;\nret;\n}\n"
        ".file 1 \"a.cu\"\n.file 2 \"<b.h>\"\n.file 3 "
        "\"__nv_nvrtc_builtin_header.h\"\n.file 4 \"own.h\"\n"
        ".file 5 \"/opt/cuda/bin/..//include/atomics.hpp\"\n"
        ".file 6 \"/opt/cuda/include/cccl/cuda/pipeline\"\n");
    static const struct {
        const char *file;
        uint32_t line;
    } want[] = {{"a.cu", 3}, {"own.h", 6}, {"__nv_nvrtc_builtin_header.h", 8},
                {"a.cu", 4}, {"a.cu", 3},  {"a.cu", 5}};
    const struct ptx_function *f = ptx_find_entry(m, "e");
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        const struct ptx_place *at = ptx_place_told(m, f->code[i].place);
        cr_assert_not_null(at);
        cr_assert_str_eq(m->files[at->file], want[i].file);
        cr_assert_eq(at->line, want[i].line);
    }
    const struct ptx_place *nvcc =
        ptx_place_told(m, ptx_find_entry(m, "n")->code[0].place);
    cr_assert_str_eq(m->files[nvcc->file], "a.cu", "nvcc's headers are left, too");
    nvcc = ptx_place_told(m, ptx_find_entry(m, "c")->code[0].place);
    cr_assert_str_eq(m->files[nvcc->file], "a.cu", "and those of thrust and cub");
    const struct ptx_place *other =
        ptx_place_told(m, ptx_find_entry(m, "o")->code[0].place);
    cr_assert_str_eq(m->files[other->file], "__nv_nvrtc_builtin_header.h",
                     "of another function's call");
    cr_assert_null(ptx_place_told(m, 0));
    cr_assert_null(ptx_place_told(m, m->place_count));
    ptx_module_free(m);
}

#define BODY(text) HEAD ".entry k() {\n.reg .pred p; .reg .b32 r<4>; .reg .b64 d;\n" text

Test(ptx_module, bad_text) {
    static const struct {
        const char *text;
        int code;
        const char *message;
    } cases[] = {
        {"", -EINVAL, "line 1: expected '.version', but the text ends"},
        {"int main", -EINVAL, "line 1: expected '.version', got 'int'"},
        {".version 8.0\n.target sm_90\n.address_size 32\n", -ENOTSUP,
         "line 3: addresses of 32 bits"},
        {HEAD ".entry k() {", -EINVAL,
         "line 4: expected an instruction, but the text ends"},
        {HEAD ".entry k() { /* ", -EINVAL, "line 4: this is not PTX"},
        {HEAD ".global .b8 x[3] = {1,2,3,4};", -EINVAL, "line 4: more initial values"},
        {HEAD ".global .b8 x[9999999999999];", -EFBIG, "line 4: 9999999999999 is out of"},
        {HEAD ".global .b8 x[1000000][1000000][1000000];", -EFBIG,
         "line 4: 'x' is bigger than 1 TiB"},
        {HEAD ".global .b8 x[99999999] = {1};", -EFBIG,
         "line 4: more than 64 MiB of initial values"},
        {HEAD ".global .align 3 .b8 x;", -EINVAL, "line 4: an alignment of 3"},
        {HEAD ".global .b32 x = y;", -EINVAL,
         "line 4: 'y' is not a variable or function"},
        {HEAD ".global .b32 x; .global .b32 x;", -EINVAL,
         "line 4: 'x' is declared twice"},
        {HEAD ".frobnicate;", -ENOTSUP,
         "line 4: the directive '.frobnicate' is not known"},
        {HEAD ".func f(.reg .b32 x) {}", -ENOTSUP, "line 4: a parameter in a register"},
        {HEAD ".func f() {}\n.func f() {}", -EINVAL, "line 5: 'f' is defined twice"},
        {HEAD ".func f();\n.func f(.param .b32 a) {}", -EINVAL,
         "line 5: 'f' differs from"},
        {BODY("frob.u32 r0, r1;\n}"), -ENOTSUP, "line 6: the instruction 'frob' is not"},
        {BODY(".loc 1 12 3\nadd.u33 r0, r1;\n}\n.file\t1 \"a.cu\"\n"), -ENOTSUP,
         "line 7: '.u33' of 'add.u33' is not known (from a.cu:12)"},
        {BODY("bra NOWHERE;\n}"), -EINVAL, "line 6: there is no label 'NOWHERE'"},
        {BODY("add.u32 r0, r1, r9;\n}"), -EINVAL, "line 6: 'r9' is not declared"},
        {BODY("add.u32 r0, r1, r;\n}"), -EINVAL, "line 6: 'r' is not declared"},
        {BODY("@r1 ret;\n}"), -EINVAL, "line 6: the guard 'r1' is not a predicate"},
        {BODY("add.u32 r0, r1, p;\n}"), -EINVAL,
         "line 6: operand 3 of 'add.u32' is a reg"},
        {BODY("mov.u32 r0, 1 / 0;\n}"), -EINVAL, "line 6: a constant is divided by 0"},
        {BODY("mov.u32 r0, 0x;\n}"), -EINVAL, "line 6: '0x' is not a number"},
        {BODY("mov.u32 r0, 99999999999999999999;\n}"), -EINVAL, "line 6: '99999"},
        {BODY("mov.u32 r0, 0f3F;\n}"), -EINVAL, "line 6: '0f3F' is not a number"},
        {BODY(".reg .b32 q<2000000>;\n}"), -EFBIG,
         "line 6: no count of registers, or more"},
        {BODY(".local .b8 q[99999999];\n}"), -EFBIG, "line 6: 'q' is bigger than 16 MiB"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct ptx_module *m = NULL;
        struct err err = {0};
        int code = ptx_module_read(&m, cases[i].text, strlen(cases[i].text), &err);
        cr_assert_eq(code, cases[i].code, "%s: %d %s", cases[i].message, code, err.msg);
        cr_assert(m == NULL);
        cr_assert(strncmp(err.msg, cases[i].message, strlen(cases[i].message)) == 0,
                  "wanted %s, got %s", cases[i].message, err.msg);
    }
}

/* Deep nesting and long repetitions end in an error, not in a deep stack. */
Test(ptx_module, limits) {
    static const struct {
        const char *open, *message;
    } cases[] = {
        {"{", "blocks are nested deeper"},
        {"mov.u32 r0, "
         "((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((",
         "an expression is nested deeper"},
        {"mov.u32 r0, - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - "
         "- - - - "
         "- - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - "
         "-",
         "an expression is nested deeper"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char *text = xmalloc(8192);
        strcpy(text, BODY(""));
        size_t times = i == 0 ? 1000 : 1;
        for (size_t k = 0; k < times; k++) {
            strcat(text, cases[i].open);
        }
        struct ptx_module *m = NULL;
        struct err err = {0};
        cr_assert_eq(ptx_module_read(&m, text, strlen(text), &err), -EFBIG, "%s",
                     err.msg);
        cr_assert(strstr(err.msg, cases[i].message) != NULL, "%s", err.msg);
        free(text);
    }
}

/* Every prefix of a text is read or refused, never more. */
Test(ptx_module, prefixes) {
    static const char text[] = HEAD
        ".global .b64 g[2] = {1, generic(g)};\n.entry k(.param .u64 a) .maxntid 1, 2 {\n"
        ".reg .pred %p<2>; .reg .b64 %d<3>;\n.loc 1 2 3\nsetp.ne.and.s64 %p0|%p1, %d0, "
        "0x1, "
        "!%p1;\n@%p1 bra L;\nL: { .param .b64 q; st.param.b64 [q+0], {%d1}; }\n"
        "tex.1d.v4.f32.f32 {_, _, _, _}, [%d1, {0f3F800000}]; ret;\n}\n.file 1 \"x\"\n";
    unsigned taken = 0;
    for (size_t len = 0; len < sizeof text; len++) {
        struct ptx_module *m = NULL;
        autofree char *copy = xmalloc(len + 1);
        memcpy(copy, text, len);
        taken += ptx_module_read(&m, copy, len, NULL) == 0;
        ptx_module_free(m);
    }
    cr_assert(taken > 5 && taken < sizeof text / 2);
}

/* File 0 is the PTX itself: what no .loc places stands there. */
Test(ptx_module, own_lines) {
    struct ptx_module *m =
        read_text(HEAD "\t.file 0 \"k.ptx\"\n.file 1 \"k.py\"\n"
                       ".visible .entry a() {\n.reg .b32 x;\nmov.u32 x, 1;\n"
                       ".loc 1 70 3\nmov.u32 x, 2;\nret;\n}\n"
                       ".visible .entry b() {\nret;\n}\n");
    static const struct ptx_place wanted[] = {{0, 8, 0, 0}, {1, 70, 3, 0}, {0, 14, 0, 0}};
    const struct ptx_function *a = ptx_find_entry(m, "a"), *b = ptx_find_entry(m, "b");
    uint32_t got[] = {a->code[0].place, a->code[1].place, b->code[0].place};
    cr_assert_str_eq(m->files[0], "k.ptx");
    for (size_t i = 0; i < ARRAY_LEN(wanted); i++) {
        const struct ptx_place *place = ptx_place_told(m, got[i]);
        cr_assert(place && !memcmp(place, &wanted[i], sizeof *place), "place %zu", i);
    }
    ptx_module_free(m);
}

/* A linked program's texts, one behind the other. */
Test(ptx_module, parts) {
    struct ptx_module *m = read_text(
        HEAD ".global .u32 own = 1;\n.weak .global .u32 shared = 5;\n"
             ".weak .func f()\n{\n{ ret; }\n}\n"
             ".visible .entry a()\n{\n.reg .b32 %r;\n.loc 1 7 1\n"
             "ld.global.u32 %r, [own];\ncall f, ();\nret;\n}\n.file 1 \"a.cu\"\n" HEAD
             ".global .u32 own = 2;\n.weak .global .u32 shared = 6;\n"
             ".weak .func f()\n{\n{ ret; }\n}\n"
             ".visible .entry b()\n{\n.reg .b32 %r;\n.loc 1 8 1\n"
             "ld.global.u32 %r, [own];\ncall f, ();\nret;\n}\n.file 1 \"b.cu\"\n");
    const struct ptx_function *a = ptx_find_entry(m, "a"), *b = ptx_find_entry(m, "b");
    cr_assert(a && b);
    const struct ptx_operand *of_a = &a->operands[a->code[0].operands + 1];
    const struct ptx_operand *of_b = &b->operands[b->code[0].operands + 1];
    cr_expect_neq(of_a->index, of_b->index, "names without linkage are their text's own");
    cr_expect_eq(a->operands[a->code[1].operands].index,
                 b->operands[b->code[1].operands].index, "a weak function is one");
    const struct ptx_place *at = ptx_place_told(m, b->code[0].place);
    cr_assert(at);
    cr_expect_str_eq(m->files[at->file], "b.cu");
    cr_expect_str_eq(m->files[ptx_place_told(m, a->code[0].place)->file], "a.cu");
    ptx_module_free(m);
}
