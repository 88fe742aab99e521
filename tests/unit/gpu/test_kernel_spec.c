/* What a check spec may say, and the words for what it may not. */
#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "gpu/spec/spec_case.h"
#include "gpu/spec/spec_tensor_map.h"
#include "tests/unit/gpu/spec_text.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>
#include <string.h>

/* --- specs --- */

#define GOOD                                                                             \
    "'sizes':[{'rows':2,'cols':3},{'rows':1,'cols':5}],"                                 \
    "'launch':{'grid':['rows'],'block':[32],'shared_bytes':'cols * 4'},"                 \
    "'args':[{'name':'out','type':'float32','shape':['rows','cols'],'output':true},"     \
    "{'name':'x','type':'float16','shape':['rows','cols'],'init':{'normal':[0,1]}},"     \
    "{'name':'cols','type':'int32','value':'cols'}]"

Test(kernel_spec, reads_and_resolves) {
    struct kernel_spec spec;
    struct spec_case c;
    struct err err = {0};
    cr_assert_eq(read_spec(&spec, GOOD ",'expect':{'expression':{'out':'x[i]'}}", &err),
                 0, "%s", err.msg);
    cr_assert_eq(spec.case_count, 2);
    cr_assert_eq(spec.trials, 3);
    cr_assert_eq(spec.buffers[0].tolerance.mode, COMPARE_ELEMENTWISE);
    cr_assert_eq(spec_case_resolve(&c, &spec, 1, &err), 0, "%s", err.msg);
    cr_assert_eq(c.buffers[1].count, 5);
    cr_assert_eq(c.buffers[1].bytes, 10);
    cr_assert_eq(c.launches[0].shared_bytes, 20);
    cr_assert_eq(c.launches[0].grid[0], 1);
    static const struct kernel_param params[] = {{0, 8}, {8, 8}, {16, 4}};
    const uint64_t addresses[] = {0x1000, 0x2000};
    const struct case_places places = {.addresses = addresses};
    unsigned char block[20] = {0};
    cr_assert_eq(spec_case_params(&c, &spec.launches[0], params, 3, &places, block, &err),
                 0, "%s", err.msg);
    cr_assert_eq(block[1], 0x10);
    cr_assert_eq(block[9], 0x20);
    cr_assert_eq(block[16], 5);
    cr_assert_lt(spec_case_params(&c, &spec.launches[0], params, 2, &places, block, &err),
                 0);
    cr_assert_str_eq(err.msg, "args: the kernel takes 2 arguments, the spec gives 3");
    static const struct kernel_param wider[] = {{0, 8}, {8, 8}, {16, 8}};
    cr_assert_lt(spec_case_params(&c, &spec.launches[0], wider, 3, &places, block, &err),
                 0);
    cr_assert_str_eq(err.msg, "args[2] cols has 4 bytes, the kernel's parameter 8");
    spec_case_finish(&c);
    kernel_spec_finish(&spec);
}

/* The value as the kernel gets it: 0.1 of float32 is 13421773 * 2^-27. A name of two values
 * is none. */
Test(kernel_spec, scalars_are_known_by_name) {
    struct kernel_spec spec;
    struct spec_case c;
    struct err err = {0};
    cr_assert_eq(read_spec(&spec,
                           "'sizes':{'n':9},'launches':[{'launch':{'grid':[1],'block':[1]},"
                           "'args':[{'name':'y','type':'float32','shape':[4],'output':true},"
                           "{'name':'s','type':'float32','value':0.1},"
                           "{'name':'half','type':'int32','value':'n / 2'},"
                           "{'name':'step','type':'int32','value':1}]},"
                           "{'launch':{'grid':[1],'block':[1]},'args':['y',"
                           "{'name':'step','type':'int32','value':2}]}]",
                           &err),
                 0, "%s", err.msg);
    cr_assert_eq(spec_case_resolve(&c, &spec, 0, &err), 0, "%s", err.msg);
    cr_assert_eq(c.scalar_count, 2);
    cr_assert_str_eq(c.scalars[0].name, "s");
    cr_assert_eq(c.scalars[0].value, 13421773.0 / 134217728.0);
    cr_assert(!c.scalars[0].whole);
    cr_assert_str_eq(c.scalars[1].name, "half");
    cr_assert_eq(c.scalars[1].value, 4);
    cr_assert(c.scalars[1].whole);
    spec_case_finish(&c);
    kernel_spec_finish(&spec);
}

/* A buffer may be longer than the structure that it holds, never shorter. */
Test(kernel_spec, contents_of_a_buffer) {
    struct kernel_spec spec;
    struct spec_case c;
    struct err err = {0};
    int r = read_spec(&spec,
                      "'launch':{'block':32},'args':[{'name':'p','type':'uint8',"
                      "'shape':[64],'output':true},{'contents_of':'p'}]",
                      &err);
    cr_assert_eq(r, 0, "%s", err.msg);
    cr_assert_eq(spec.launches[0].args[1].kind, ARG_CONTENTS);
    cr_assert_eq(spec.launches[0].args[1].buffer, 0);
    cr_assert_eq(spec_case_resolve(&c, &spec, 0, &err), 0, "%s", err.msg);
    const uint64_t addresses[] = {0x1000};
    const struct case_places places = {.addresses = addresses};
    static const struct kernel_param fits[] = {{0, 8}, {8, 48}},
                                     larger[] = {{0, 8}, {8, 72}};
    unsigned char block[80] = {0};
    cr_assert_eq(spec_case_params(&c, &spec.launches[0], fits, 2, &places, block, &err),
                 0, "%s", err.msg);
    cr_assert_lt(spec_case_params(&c, &spec.launches[0], larger, 2, &places, block, &err),
                 0);
    cr_assert_str_eq(err.msg, "args[1] has 64 bytes, the kernel's parameter 72");
    spec_case_finish(&c);
    kernel_spec_finish(&spec);
}

/* Once described, an argument is its name: a buffer, a scalar, a struct. */
Test(kernel_spec, later_launches_name_arguments) {
    struct kernel_spec spec;
    struct spec_case c;
    struct err err = {0};
    int r = read_spec(
        &spec,
        "'sizes':{'n':5},'launches':[{'launch':{'block':32},'args':["
        "{'name':'x','type':'int32','shape':[3],'init':{'values':['n * 2',1,'n']}},"
        "{'name':'w','type':'float32','shape':['n'],'scratch':true},"
        "{'name':'n','type':'int32','value':'n'}]},"
        "{'launch':{'block':32},'args':['n','x',"
        "{'name':'y','type':'float32','shape':['n'],'output':true}]}],"
        "'expect':{'op':'relu','inputs':{'input':'x'}}",
        &err);
    cr_assert_eq(r, 0, "%s", err.msg);
    const struct spec_arg *n = &spec.launches[1].args[0];
    cr_assert(n->kind == ARG_SCALAR && n->type == TENSOR_INT32);
    cr_assert_eq(spec.launches[1].args[1].buffer, 0);
    cr_assert(spec.buffers[1].output && spec.buffers[1].scratch);
    cr_assert_eq(spec_case_resolve(&c, &spec, 0, &err), 0, "%s", err.msg);
    struct tensor_init init;
    autofree double *values = NULL;
    cr_assert_eq(spec_case_init(&c, 0, &init, &values, &err), 0, "%s", err.msg);
    cr_assert_eq(init.whole[0], 10);
    cr_assert_eq(init.whole[2], 5);
    spec_case_finish(&c);
    kernel_spec_finish(&spec);
}

/* What C would cut in silence. */
Test(kernel_spec, values_that_a_scalar_cannot_hold) {
    static const char *const texts[] = {
        "'sizes':{'n':200},'args':[{'type':'int8','value':'n'}]",
        "'sizes':{'n':200},'args':[{'type':'int8','value':'n + 55'}]",
        "'sizes':{'n':200},'args':[{'type':'int8','value':'n + 56'}]",
        "'sizes':{'n':200},'args':[{'type':'int8','value':'-n'}]",
        "'sizes':{'n':200},'args':[{'type':'bool','value':'n + 56'}]",
    };
    static const char *const words[] = {
        "", "", "args[0]: the value 256 is not a valid int8",
        "args[0]: the value -200 is not a valid int8", ""};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        static const struct kernel_param params[] = {{0, 1}};
        const struct case_places places = {0};
        struct kernel_spec spec;
        struct spec_case c;
        struct err err = {0};
        unsigned char block = 0;
        cr_assert_eq(read_spec(&spec, texts[i], &err), 0, "%s", err.msg);
        cr_assert_eq(spec_case_resolve(&c, &spec, 0, &err), 0, "%s", err.msg);
        int r = spec_case_params(&c, &spec.launches[0], params, 1, &places, &block, &err);
        cr_expect_eq(r, *words[i] ? -EINVAL : 0, "%s", texts[i]);
        cr_expect_str_eq(err.msg, words[i]);
        spec_case_finish(&c);
        kernel_spec_finish(&spec);
    }
}

/* A float's expression is one of numbers, of each case's own sizes; whole numbers alone
 * are divided as in C, as they are in a shape. */
Test(kernel_spec, floats_are_expressions_with_decimals) {
    static const struct {
        const char *value;
        float want[2];
    } cases[] = {{"1.0 / d", {0.25f, 0.0625f}},
                 {"rsqrt(d)", {0.5f, 0.25f}},
                 {"d / 3", {1, 5}},
                 {"-d", {-4, -16}},
                 {"NaN", {NAN, NAN}},
                 {"max(d, 6) * 0.5", {3, 8}}};
    for (size_t i = 0; i < 2 * ARRAY_LEN(cases); i++) {
        static const struct kernel_param params[] = {{0, 4}};
        const struct case_places places = {0};
        autofree char *text = xasprintf(
            "'sizes':[{'d':4},{'d':16}],'args':[{'type':'float32','value':'%s'}]",
            cases[i / 2].value);
        float got = 0, want = cases[i / 2].want[i % 2];
        struct kernel_spec spec;
        struct spec_case c;
        struct err err = {0};
        cr_assert_eq(read_spec(&spec, text, &err), 0, "%s", err.msg);
        cr_assert_eq(spec_case_resolve(&c, &spec, i % 2, &err), 0, "%s", err.msg);
        cr_assert_eq(
            spec_case_params(&c, &spec.launches[0], params, 1, &places, &got, &err), 0,
            "%s", err.msg);
        cr_expect(isnan(want) ? isnan(got) : got == want, "%s: %g", text, (double)got);
        spec_case_finish(&c);
        kernel_spec_finish(&spec);
    }
}

/* The compiler that builds this test is the judge of the layout. */
struct inner {
    int8_t tag;
    double weights[3];
};
struct outer {
    float scale;
    int64_t wide;
    const void *data;
    int8_t flags[5];
    struct inner parts[2];
    uint16_t half;
};

#define STRUCT                                                                           \
    "{'name':'o','struct':[{'type':'float32','value':1.5},{'type':'int64','value':-2},"  \
    "{'of':'a'},{'type':'int8','values':[1,2,3,4,'n']},"                                 \
    "{'struct':[{'type':'int8','value':9},{'type':'float64','value':0.25,'count':3}],"   \
    "'count':2},{'type':'float16','value':1,'offset':96}],'bytes':104}"

Test(kernel_spec, structs_have_the_compilers_layout) {
    struct kernel_spec spec;
    struct spec_case c;
    struct err err = {0};
    cr_assert_eq(read_spec(&spec,
                           "'sizes':{'n':7},'launch':{'grid':1,'block':1},"
                           "'args':[{'name':'a','type':'int8','shape':[4],'init':{'fill':"
                           "1}}," STRUCT ",{'pointers':['a','a']}]",
                           &err),
                 0, "%s", err.msg);
    cr_assert_eq(spec_case_resolve(&c, &spec, 0, &err), 0);
    cr_assert_eq(offsetof(struct outer, half), 96);
    const struct kernel_param params[] = {
        {0, 8}, {8, sizeof(struct outer)}, {8 + sizeof(struct outer), 8}};
    const uint64_t addresses[] = {0x1000}, handles[] = {0, 0, 0x3000};
    const struct case_places places = {.addresses = addresses, .handles = handles};
    struct {
        uint64_t a;
        struct outer o;
        uint64_t list;
    } block;
    memset(&block, 0, sizeof block);
    cr_assert_eq(
        spec_case_params(&c, &spec.launches[0], params, 3, &places, &block, &err), 0,
        "%s", err.msg);
    const struct outer *o = &block.o;
    cr_assert(o->scale == 1.5f && o->wide == -2 && o->data == (void *)0x1000);
    cr_assert(!memcmp(o->flags, "\1\2\3\4\7", 5));
    for (int k = 0; k < 2; k++) {
        const struct inner *part = &o->parts[k];
        cr_assert(part->tag == 9 && part->weights[0] == 0.25 && part->weights[2] == 0.25);
    }
    cr_assert(o->half == 0x3c00 && block.a == 0x1000 && block.list == 0x3000);
    const struct kernel_param smaller[] = {{0, 8}, {8, 96}, {104, 8}};
    cr_assert_lt(
        spec_case_params(&c, &spec.launches[0], smaller, 3, &places, &block, &err), 0);
    cr_assert_str_eq(err.msg, "args[1] o has 104 bytes, the kernel's parameter 96");
    spec_case_finish(&c);
    kernel_spec_finish(&spec);
}

/* A pointer into the middle of a buffer, up to its end and not beyond. */
Test(kernel_spec, pointers_lead_into_buffers) {
    static const struct {
        const char *text, *message;
        uint64_t want;
    } cases[] = {
        {"{'of':'a','at':12}", "", 0x100c},
        {"{'of':'a','at':'4 * n'}", "", 0x101c},
        {"{'of':'a','at':28}", "", 0x101c}, /* one past the end */
        {"{'of':'a','at':'4 * n + 1'}", "args[1]: a has 28 bytes, \"at\" is 29", 0},
        {"{'of':'a','at':-1}", "args[1]: a has 28 bytes, \"at\" is -1", 0},
        {"{'of':'a','at':0.5}", "args[1].struct[0].at: ", 0},
        {"{'type':'int64','value':1,'at':1}",
         "args[1].struct[0].at: only a pointer (\"of\") has it", 0},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        static const struct kernel_param params[] = {{0, 8}, {8, 8}};
        const uint64_t addresses[] = {0x1000};
        const struct case_places places = {.addresses = addresses};
        struct kernel_spec spec;
        struct spec_case c;
        struct err err = {0};
        uint64_t block[2] = {0};
        autofree char *text =
            xasprintf("'sizes':{'n':7},'launch':{'grid':1,'block':1},'args':[{'name':'a',"
                      "'type':'float32','shape':['n'],'init':{'fill':1}},"
                      "{'name':'s','struct':[%s]}]",
                      cases[i].text);
        int r = read_spec(&spec, text, &err);
        if (r == 0) {
            cr_assert_eq(spec_case_resolve(&c, &spec, 0, &err), 0);
            r = spec_case_params(&c, &spec.launches[0], params, 2, &places, block, &err);
            spec_case_finish(&c);
            kernel_spec_finish(&spec);
        }
        const char *said = *cases[i].message ? strstr(err.msg, cases[i].message) : "";
        cr_expect_eq(r, *cases[i].message ? -EINVAL : 0, "%s", text);
        cr_expect(said && block[1] == cases[i].want, "%s: %s", text, err.msg);
    }
}

/* Two nodes that point to one another, the first in 16 bytes and the other in 12. */
#define NODES(more, second)                                                              \
    "'launch':{'grid':1,'block':1},'args':[{'name':'a','type':'uint8','shape':[16],"     \
    "'init':{'struct':[{'type':'int32','value':-3},{'of':'b','at':4}]}" more             \
    "}],'buffers':[{'name':'b','type':'int32','shape':[3],'init':{'struct':[" second     \
    "]}}]"

Test(kernel_spec, buffers_hold_structures) {
    static const struct {
        const char *text, *message;
    } cases[] = {
        {NODES("", "{'of':'a'}"), ""},
        {NODES(",'output':true,'judge':false", "{'of':'a'}"), ""},
        {NODES(",'output':true,'judge':'i < 4'", "{'of':'a'}"), ""},
        {NODES(",'output':true", "{'of':'a'}"), "a.init: addresses differ between runs"},
        {NODES("", "{'of':'c'}"), "b.init.struct[0].of"},
        {NODES("", "{'of':'a'},{'of':'b'}"), "b.init: the structure has 16 bytes"},
        {NODES("", ""), "buffers[0].init.struct: a list of members is expected"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const uint64_t addresses[] = {0x1000, 0x2000}; /* buffers come first: b, a */
        uint64_t a[2] = {1, 1};
        uint32_t b[3] = {1, 1, 1};
        struct kernel_spec spec;
        struct spec_case c;
        struct err err = {0};
        int r = read_spec(&spec, cases[i].text, &err);
        if (r == 0) {
            cr_assert_eq(spec_case_resolve(&c, &spec, 0, &err), 0);
            r = spec_case_struct(&c, 0, addresses, b, &err);
            r = r < 0 ? r : spec_case_struct(&c, 1, addresses, a, &err);
            spec_case_finish(&c);
            kernel_spec_finish(&spec);
        }
        const char *said = *cases[i].message ? strstr(err.msg, cases[i].message) : "";
        cr_expect(said, "%s: %s", cases[i].text, err.msg);
        bool packed = a[0] == UINT32_C(0xfffffffd) && a[1] == 0x1004 && b[0] == 0x2000 &&
                      b[1] == 0 && b[2] == 0;
        cr_expect_eq(packed, r == 0, "%s", cases[i].text);
    }
}

/* --- tensor maps --- */

#define MAP(members)                                                                     \
    "'sizes':{'n':64},'launch':{'grid':1,'block':128},'args':[{'name':'x','type':"       \
    "'float16','shape':['n',3,128],'init':{'fill':1}},{'name':'m','tensor_map':"         \
    "{'of':'x'," members "}}]"

static void resolve_map(const char *text, struct tensor_map *ret) {
    struct kernel_spec spec;
    struct spec_case c;
    struct err err = {0};
    cr_assert_eq(read_spec(&spec, text, &err), 0, "%s", err.msg);
    cr_assert_eq(spec_case_resolve(&c, &spec, 0, &err), 0, "%s", err.msg);
    cr_assert_eq(spec.launches[0].args[1].kind, ARG_TENSOR_MAP);
    cr_assert_eq(spec_tensor_map_resolve(&c, spec.launches[0].args[1].json, ret, &err),
                 0);
    spec_case_finish(&c);
    kernel_spec_finish(&spec);
}

Test(kernel_spec, tensor_maps_are_turned_round) {
    struct tensor_map map;
    resolve_map(MAP("'box':[1,2,64],'swizzle':'128B','l2_promotion':'256B'"), &map);
    cr_assert(map.rank == 3 && map.type == TENSOR_FLOAT16);
    cr_assert(map.extents[0] == 128 && map.extents[1] == 3 && map.extents[2] == 64);
    cr_assert(map.strides[1] == 256 && map.strides[2] == 768);
    cr_assert(map.box[0] == 64 && map.box[1] == 2 && map.box[2] == 1);
    cr_assert(map.element_strides[0] == 1 && map.swizzle == SWIZZLE_128B);
    cr_assert(map.promotion == PROMOTE_256B && map.fill == FILL_ZEROS);
    cr_assert_eq(tensor_map_span(&map), 64 * 768);
    resolve_map(MAP("'shape':['n',128],'strides':[768],'box':[8,32],'element_strides':"
                    "[2,1],'fill':'nan'"),
                &map);
    cr_assert(map.rank == 2 && map.extents[1] == 64 && map.strides[1] == 768);
    cr_assert(map.element_strides[1] == 2 && map.fill == FILL_NAN);
    struct err err = {0};
    cr_assert_eq(tensor_map_check_address(&map, 0x1010, &err), 0);
    cr_assert_lt(tensor_map_check_address(&map, 0x1008, &err), 0);
    map.interleave = INTERLEAVE_32B;
    cr_assert_lt(tensor_map_check_address(&map, 0x1010, &err), 0);
    resolve_map(MAP("'shape':['n',3,4,32],'im2col':{'lower':[-1,-2],'upper':[0,-3],"
                    "'channels':8,'pixels':'n * 2'},'element_strides':[1,2,3,1]"),
                &map);
    cr_assert(map.rank == 4 && map.extents[3] == 64 && map.im2col.pixels == 128);
    cr_assert(map.im2col.lower[0] == -2 && map.im2col.lower[1] == -1);
    cr_assert(map.im2col.upper[0] == -3 && map.im2col.upper[1] == 0);
    cr_assert(map.element_strides[1] == 3 && map.element_strides[2] == 2);
    cr_assert_eq(tensor_map_inner(&map), 8u);
}

/* --- mistakes --- */

static const struct {
    const char *text, *words;
} wrong_fields[] = {
    {"'args':[{'name':'x','type':'float32','shape':['n'],'output':true}]",
     "args[0].shape[0]: cannot evaluate 'n': unknown size 'n'"},
    {"'args':[{'name':'x','type':'float','shape':[1],'output':true}]",
     "bool; did you mean \"float32\"?"},
    {"'args':[{'name':'x','type':'const int *','shape':[1],'output':true}]",
     "bool; did you mean \"int32\"?"},
    {"'args':[{'name':'x','type':'torch.bfloat16','shape':[1],'output':true}]",
     "did you mean \"bfloat16\"?"},
    {"'args':[{'name':'x','dtype':'int32','shape':[1],'output':true}]",
     "args[0].dtype: unknown; did you mean \"type\"?"},
    {"'args':[{'name':'n','type':'int32'}]", "a scalar has a \"value\" instead"},
    {"'grid':[1]", "grid: unknown; it belongs in \"launch\""},
    {"'rtol':0.1", "rtol: unknown; it belongs in \"tolerance\""},
    {"'trails':1", "trails: unknown; did you mean \"trials\"?"},
    {"'launch':{'block':[1],'smem':4}",
     "launch.smem: unknown; did you mean \"shared_bytes\"?"},
    {"'launch':{'block':[1],'colour':4}",
     "launch.colour: unknown; it may have grid block"},
    {"'launches':[{'grid':[1],'block':[32],'args':[]}]",
     "launches[0].grid: unknown; it belongs in \"launch\""},
    {"'args':[{'name':'x','type':'float32','shape':[1]}]", "say what it contains"},
    {"'args':[{'type':'float32','shape':[1],'output':true}]", "args[0].name"},
    {"'args':[{'name':'x','type':'float32','shape':[1],'init':{'ones':1}}]",
     "args[0].init"},
    {"'args':[{'name':'x','type':'float32','shape':[1],'init':{'normal':[1]}}]",
     "args[0].init.normal"},
    {"'args':['x']", "is called 'x'; a scalar is"},
    {"'args':[{'name':'n','type':'int32','value':1.5}]", "args[0].value"},
    {"'args':[{'name':'n','type':'int32','value':4294967296}]",
     "args[0].value: 4294967296 is not a valid int32"},
    {"'args':[{'struct':[{'type':'uint8','values':[255,-1,256]}]}]",
     "values[2]: 256 is not a valid uint8"},
    {"'args':[{'name':'x','type':'int8','shape':[2],'init':{'values':[255,-129]}}]",
     "args[0].init.values[1]: -129 is not a valid int8"},
    {"'args':[{'name':'y','type':'int16','shape':[2],'output':true}],"
     "'expect':{'values':{'y':[1,65536]}}",
     "expect.values.y[1]: 65536 is not a valid int16"},
    {"'args':[{'tensor_map':{}}]", "tensor_map"},
    {"'sizes':[]", "sizes: the list is empty"},
    {"'sizes':{'n':'2'}", "sizes.n"},
    {"'sizes':{'2n':2}", "sizes.2n"},
    {"'launch':{'block':[1],'grid':[1,2,3,4]}", "launch.grid"},
    {"'expect':{'op':'nosuch'}", "expect"},
    {"'expect':{'values':{'y':[1]}}", "no output of that name"},
    {"'trials':0", "trials"},
    {"'seed':'xyz'", "seed"},
    {"'seed':' -5'", "seed"}, /* which strtoull would take */
    {"'checks':['leaks']", "checks[0]"},
    {"'tolerance':{'rtol':-1},'args':[{'name':'x','type':'float32','shape':[1],"
     "'output':true}]",
     "tolerance.rtol: not negative"},
    {"'tolerance':{'atol':'1'},'args':[{'name':'x','type':'float32','shape':[1],"
     "'output':true}]",
     "tolerance.atol: a number is expected"},
    {"'tolerance':0.5,'args':[{'name':'x','type':'float32','shape':[1],'output':true}]",
     "tolerance: an object is expected; did you mean {\"rtol\": 0.5}?"},
    {"'benchmark':'yes'", "benchmark: true, or an object"},
    {"'launches':[]", "launches"},
    {"'launches':[{'launch':{'block':[1]},'args':[{'name':'x','type':'int32','shape'"
     ":[1],'"
     "output':true}]},"
     "{'launch':{'block':[1]},'args':[{'name':'x','type':'int32','shape':[1],'"
     "output':true}]}]",
     "two buffers 'x'"},
};

Test(kernel_spec, errors_name_the_field) {
    for (size_t i = 0; i < sizeof wrong_fields / sizeof *wrong_fields; i++) {
        struct kernel_spec spec;
        struct err err = {0};
        cr_assert_lt(read_spec(&spec, wrong_fields[i].text, &err), 0, "%s",
                     wrong_fields[i].text);
        cr_assert(strstr(err.msg, wrong_fields[i].words) != NULL, "%s: %s",
                  wrong_fields[i].text, err.msg);
    }
}

Test(kernel_spec, impossible_cases) {
    static const struct {
        const char *text, *words;
    } cases[] = {
        {"'sizes':{'n':-1},'args':[{'name':'x','type':'int8','shape':['n'],'output':true}"
         "]",
         "case 0: x.shape[0] is -1"},
        {"'sizes':{'n':4000000000},'args':[{'name':'x','type':'float64','shape':['n','n']"
         ","
         "'output':true}]",
         "x takes 1.28e+11 GB"},
        {"'launch':{'block':[1],'grid':[0]}", "launch.grid[0] is 0"},
        {"'launch':{'block':[1],'shared_bytes':-1}", "shared_bytes"},
        {"'sizes':[{'n':1},{'n':0}],'launch':{'block':[1],'grid':['4 / n']}", "case 1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct kernel_spec spec;
        struct spec_case c;
        struct err err = {0};
        cr_assert_eq(read_spec(&spec, cases[i].text, &err), 0, "%s", err.msg);
        cr_assert_lt(spec_case_resolve(&c, &spec, spec.case_count - 1, &err), 0);
        cr_assert(strstr(err.msg, cases[i].words) != NULL, "%s", err.msg);
        kernel_spec_finish(&spec);
    }
}
