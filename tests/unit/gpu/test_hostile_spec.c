/* Check specs that mean ill or are merely wrong: each is an error that names the field.
 */
#include "base/err.h"
#include "base/json.h"
#include "gpu/spec/spec_schema.h"
#include "hostile_spec_room.h"
#include "protocol/schema/schema.h"

#include <criterion/criterion.h>

static const struct hostile sizes[] = {
    {"'sizes':[]," L, "sizes: the list is empty"},
    {"'sizes':5," L, "sizes: an object"},
    {"'sizes':'n'," L, "sizes: an object"},
    {"'sizes':[5]," L, "sizes[0]: an object"},
    {"'sizes':[{'n':1},null]," L, "sizes[1]"},
    {"'sizes':{'n':1.5}," L, "sizes.n"},
    {"'sizes':{'n':[4,5]}," L, "cases are a list"},
    {"'sizes':{'n':'4'}," L, "sizes.n"},
    {"'sizes':{'n':true}," L, "sizes.n"},
    {"'sizes':{'':1}," L, "sizes."},
    {"'sizes':{'a b':1}," L, "sizes.a b"},
    {"'sizes':{'1n':1}," L, "sizes.1n"},
    {"'sizes':{'n\\u00e9':1}," L, "sizes.n"},
    {"'sizes':[{'n':1},{'m':1}],'launch':{'grid':['n'],'block':1}", "unknown size 'n'"},
};

static const struct hostile shapes[] = {
    {SHAPE("['k']"), "args[0].shape[0]: cannot evaluate 'k': unknown size 'k'"},
    {SHAPE("['n','k']"), "args[0].shape[1]"},
    {SHAPE("[-1]"), "y.shape[0] is -1: an extent"},
    {SHAPE("['0 - n']"), "y.shape[0] is -4: an extent"},
    {SHAPE("['n - 5', 1000000000000]"), "y.shape[0] is -1: an extent"},
    {SHAPE("['n / m']"), "division by zero"},
    {SHAPE("['n % m']"), "division by zero"},
    {SHAPE("['ceil_div(n, m)']"), "division by zero"},
    {SHAPE("[1000000000000]"), "the buffers of a case"},
    {SHAPE("[4294967296, 4294967296]"), "the buffers of a case"},
    {SHAPE("[9223372036854775807, 9223372036854775807]"), "the buffers of a case"},
    {SHAPE("[68719476737]"), "y takes 275 GB: the buffers of a case may hold 274 GB"},
    {SHAPE("['9223372036854775807 + n']"), "too large"},
    {SHAPE("['9223372036854775807 * n']"), "too large"},
    {SHAPE("['99999999999999999999']"), "too large"},
    {SHAPE("['-9223372036854775807 - n']"), "too large"},
    {SHAPE("['1e3']"), "whole decimal"},
    {SHAPE("['0x10']"), "whole decimal"},
    {SHAPE("['n.x']"), "operator"},
    {SHAPE("['n n']"), "operator"},
    {SHAPE("['n +']"), "ends too early"},
    {SHAPE("['']"), "ends too early"},
    {SHAPE("['(n']"), "parenthesis"},
    {SHAPE("['n)']"), "operator"},
    {SHAPE("['sqrt(n)']"), "functions are"},
    {SHAPE("['min()']"), "a number or a name"},
    {SHAPE("['ceil_div(n)']"), "two arguments"},
    {SHAPE("['n; rm']"), "operator"},
    {SHAPE("[1.5]"), "args[0].shape[0]: an integer"},
    {SHAPE("[null]"), "args[0].shape[0]: an integer"},
    {SHAPE("[true]"), "args[0].shape[0]: an integer"},
    {SHAPE("[[4]]"), "args[0].shape[0]: an integer"},
    {SHAPE("4"), "args[0].shape: a list"},
    {SHAPE("'n'"), "args[0].shape: a list"},
    {SHAPE("[1,1,1,1,1,1,1,1,1]"), "args[0].shape: a list of up to 8"},
    {NARG("{'name':'y','type':'float32','output':true}"), "args[0].shape"},
};

static const struct hostile launches[] = {
    {"'args':[]", "launch: say how"},
    {"'launch':5", "launch"},
    {"'launch':[]", "launch"},
    {LAUNCH("'gird':[1]"), "launch.gird: unknown; did you mean \"grid\"?"},
    {LAUNCH("'grid':[],'block':[1]"), "launch.grid: one to three"},
    {LAUNCH("'grid':[1,1,1,1],'block':[1]"), "launch.grid: one to three"},
    {LAUNCH("'grid':{},'block':[1]"), "launch.grid: an integer"},
    {LAUNCH("'grid':[null],'block':[1]"), "launch.grid[0]: an integer"},
    {LAUNCH("'grid':['q'],'block':[1]"), "launch.grid[0]"},
    {LAUNCH("'grid':[0],'block':[1]"), "launch.grid[0] is 0: at least 1"},
    {LAUNCH("'grid':['m'],'block':[1]"), "launch.grid[0] is 0"},
    {LAUNCH("'grid':['n / m'],'block':[1]"), "division by zero"},
    {LAUNCH("'grid':[-1],'block':[1]"), "launch.grid[0] is -1"},
    {LAUNCH("'grid':[2147483648],'block':[1]"),
     "launch.grid[0] is 2147483648: at most 2147483647"},
    {LAUNCH("'grid':[1000000000000],'block':[1]"), "launch.grid[0] is 1000000000000"},
    {LAUNCH("'grid':[1,65536],'block':[1]"), "launch.grid[1] is 65536"},
    {LAUNCH("'grid':[1,1,65536],'block':[1]"), "launch.grid[2] is 65536"},
    {LAUNCH("'block':[0]"), "launch.block[0] is 0"},
    {LAUNCH("'block':[1025]"), "launch.block[0] is 1025"},
    {LAUNCH("'block':[1,1025]"), "launch.block[1] is 1025"},
    {LAUNCH("'block':[1,1,65]"), "launch.block[2] is 65"},
    {LAUNCH("'block':[32,33]"), "launch.block: 1056 threads"},
    {LAUNCH("'block':[1024,1024,64]"), "launch.block: 67108864 threads"},
    {LAUNCH("'block':[2147483647,2147483647,2147483647]"), "launch.block[0]"},
    {LAUNCH("'shared_bytes':-1,'block':[1]"), "launch.shared_bytes"},
    {LAUNCH("'shared_bytes':232449,'block':[1]"), "launch.shared_bytes is 232449"},
    {LAUNCH("'shared_bytes':'m - 1','block':[1]"), "launch.shared_bytes"},
    {LAUNCH("'shared_bytes':1.5,'block':[1]"), "launch.shared_bytes"},
    {LAUNCH("'shared_bytes':102400,'block':[1]") ",'arch':'sm_89'",
     "a block of sm_89 has at most"},
    {LAUNCH("'cluster':[0],'block':[1]"), "launch.cluster[0] is 0"},
    {LAUNCH("'cluster':[17],'grid':[17],'block':[1]"),
     "launch.cluster: a cluster has at most 16"},
    {LAUNCH("'cluster':[2147483647,2147483647],'block':[1]"), "launch.cluster"},
    {LAUNCH("'cluster':[2],'grid':[3],'block':[1]"), "launch.grid[0] is 3: not a multiple"},
    {LAUNCH("'cluster':[1,2],'grid':[3,3],'block':[1]"),
     "launch.grid[1] is 3: not a multiple"},
    {LAUNCH("'cluster':[2],'grid':[2],'block':[1]") ",'arch':'sm_89'",
     "sm_89 has no clusters"},
    {"'launches':5", "launches: a list"},
    {"'launches':[]", "launches: a list"},
    {"'launches':[5]", "launches[0].launch"},
    {"'launches':[{}]", "launches[0].launch: say how"},
    {"'launches':[{'launch':{'block':2000}}]", "launches[0]: launch.block[0] is 2000"},
    {"'launches':[{" L "},{" L ",'args':['y']}]", "launches[1].args[0]"},
    {"'globals':5," L, "globals: an object"},
    {"'globals':{'g':5}," L, "globals.g: an object"},
    {"'globals':{'g':{}}," L, "globals.g.type"},
    {"'globals':{'g':{'type':'int8','shape':[1],'init':{'ones':1}}}," L,
     "globals.g.init"},
};

static const struct hostile rest[] = {
    {WITH("'expect':5"), "expect"},
    {WITH("'expect':{}"), "expect"},
    {WITH("'expect':{'nothing':1}"), "expect"},
    {WITH("'expect':{'values':{'y':[1]},'expression':{'y':'1'}}"), "expect: one of"},
    {WITH("'expect':{'values':{}}"), "expect.values"},
    {WITH("'expect':{'values':[1]}"), "expect.values"},
    {WITH("'expect':{'values':{'z':[1]}}"), "expect.values.z"},
    {WITH("'expect':{'values':{'y':1}}"), "expect.values.y"},
    {WITH("'expect':{'values':{'y':[1,2,3]}}"), "expect.values.y: it has 3 numbers"},
    {WITH("'expect':{'values':{'y':[1,2,3,{}]}}"), "expect.values.y[3]"},
    {WITH("'expect':{'values':{'y':[1,2,3,'x']}}"), "expect.values.y[3]"},
    {WITH("'expect':{'expression':{'y':1}}"), "expect.expression.y"},
    {WITH("'expect':{'expression':{'q':'1'}}"), "expect.expression.q"},
    {WITH("'expect':{'expression':'y'}"), "expect.expression"},
    {WITH("'expect':{'expression':{'y':'q[i]'}}"), "expect.expression.y: "},
    {WITH("'expect':{'expression':{'y':'rows'}}"), "unknown name rows"},
    {WITH("'expect':{'expression':{'y':'frob(1)'}}"), "unknown function frob"},
    {WITH("'expect':{'expression':{'y':'1 +'}}"), "expect.expression.y: "},
    {WITH("'expect':{'expression':{'y':''}}"), "expect.expression.y: "},
    {WITH("'expect':{'files':{'y':'y.txt'}}"), "expect.files.y"},
    {WITH("'expect':{'files':{'y':5}}"), "expect.files.y"},
    {WITH("'expect':{'files':{'q':'q.npy'}}"), "expect.files.q"},
    {WITH("'expect':{'kernel':5}"), "expect.kernel"},
    {WITH("'expect':{'kernel':{'launch':5}}"), "expect.kernel.launch"},
    {WITH("'expect':{'kernel':{'launch':{'block':4096}}}"),
     "expect.kernel: launch.block[0]"},
    {WITH("'expect':{'kernel':{'args':['q']}}"), "expect.kernel.args[0]"},
    {WITH("'expect':{'kernel':{'launches':[]}}"), "expect.kernel.launches"},
    {WITH("'expect':{'op':5}"), "expect"},
    {WITH("'tolerance':{'rtol':-1}"), "tolerance"},
    {ARG(Y(",'tolerance':{'atol':'x'}")), "args[0].tolerance"},
    {ARG(Y(",'tolerance':5")), "args[0].tolerance"},
    {ARG(Y(",'compare':'equal'")), "args[0].compare"},
    {WITH("'compare':'roughly'"), "compare"},
    {WITH("'trials':0"), "trials"},
    {WITH("'trials':17"), "trials"},
    {WITH("'timeout_s':0"), "timeout_s"},
    {WITH("'timeout_s':86400"), "timeout_s"},
    {WITH("'instructions':-1"), "instructions"},
    {WITH("'seed':'0xzz'"), "seed"},
    {WITH("'seed':'99999999999999999999'"), "seed"},
    {WITH("'seed':'-1'"), "seed"},
    {WITH("'seed':1.5"), "seed"},
    {WITH("'backend':'rocm'"), "backend"},
    {WITH("'numerics':'ieee'"), "numerics"},
    {WITH("'checks':['leaks']"), "checks[0]"},
    {WITH("'checks':[5]"), "checks[0]"},
    {WITH("'checks':'memory'"), "checks"},
    {WITH("'benchmark':5"), "benchmark"},
    {WITH("'benchmark':{'samples':0}"), "benchmark.samples"},
    {WITH("'benchmark':{'samples':1000000}"), "benchmark.samples"},
    {WITH("'benchmark':{'samples':'many'}"), "benchmark.samples"},
    {WITH("'benchmark':{'cache':'hot'}"), "benchmark.cache"},
    {WITH("'roofline':5"), "roofline"},
    {WITH("'roofline':{'flops':'q'}"), "roofline.flops"},
    {WITH("'roofline':{'bytes':1.5}"), "roofline.bytes"},
    {WITH("'roofline':{'type':'float31'}"), "roofline.type"},
    {WITH("'device':0"), "device"},
    {WITH("'device':''"), "device"},
    {WITH("'device':'a;b'"), "device"},
};

Test(hostile_spec, sizes) {
    REFUSE(sizes);
}

Test(hostile_spec, shapes) {
    REFUSE(shapes);
}

Test(hostile_spec, launches) {
    REFUSE(launches);
}

Test(hostile_spec, the_rest) {
    REFUSE(rest);
}

static const char *const good_specs[] = {
    N,
    SHAPE("['n * 2 - 3', 'ceil_div(n, 3)', 'max(m, 1)']"),
    SHAPE("[]"),
    SHAPE("['m']"), /* no elements */
    INIT("{'normal':[0,1]}"),
    INIT("{'uniform':[-1,1.5]}"),
    INIT("{'integers':['0 - n','n']}"),
    INIT("{'fill':'-Infinity'}"),
    INIT("{'arange':true}"),
    INIT("{'arange':[1,0.5]}"),
    INIT("{'values':[1,'NaN',true]}"),
    INT8("{'values':['n + 1',1]}"),
    INT8("{'fill':'n'}"),
    NARG("{'name':'y','type':'float32','shape':[4],'scratch':true}"),
    INIT("{'file':'a/x.npy'}"),
    NARG("{'name':'n','type':'float32','value':'NaN'},{'type':'bool','value':true}"),
    STRUCT("[" DEEP(DEEP("{'type':'int8','value':1,'offset':0}")) "],'bytes':1"),
    STRUCT("[{'type':'int8','value':1}],'align':16,'bytes':16"),
    MAP("[64]", "'box':[8]"),
    "'buffers':[" Y("") "]," ARG("{'tensor_map':{'of':'y','box':[4]}}"),
    "'buffers':[" Y("") "]," ARG("{'pointers':['y']},{'struct':[{'of':'y'}]}"),
    MAP("[64,64]", "'box':[256,4],'swizzle':'none'"),
    MAP("[4,64,64]", "'box':[1,8,8],'interleave':'32B','swizzle':'32B'"),
    MAP("[2,2,2,2,4]", "'box':[1,1,1,1,4],'fill':'nan'"),
    IM2COL("['3 * 2',9,8]",
           "'lower':[-32768],'upper':[32767],'channels':8,'pixels':1024"),
    IM2COL("[2,5,9,8]",
           "'lower':['4 - 8',0],'upper':[127,-8],'channels':'2 * 4','pixels':1"),
    IM2COL("[2,5,9,9,8]",
           "'lower':[-16,15,0],'upper':[-16,15,0],'channels':4,'pixels':9"),
    LAUNCH("'grid':[2147483647,65535,65535],'block':[16,1,64]"),
    TEX("float32", "[4]", ""),
    TEX("uint8", "[3,5,4]",
        ",'channels':4,'filter':'linear','normalized':true,'read':'normalized_float',"
        "'address':['wrap','mirror']"),
    TEX("int32", "[1000,2]", ",'channels':2,'memory':'linear'"),
    TEX("float16", "[7,5,6]", ",'layered':true,'address':'border'"),
    TEX("float16", "[6,5,5]", ",'cube':true,'seamless':true,'filter':'linear'"),
    TEX("uint8", "[341,6,1,1,2]",
        ",'cube':true,'layered':true,'channels':2,'address':['wrap','mirror']"),
    SURF("[2,3,4]", ""),
    SURF("[6,4,2]", ",'layered':true,'channels':2"),
    LAUNCH("'cluster':[16],'grid':[32],'block':[1]"),
    LAUNCH("'shared_bytes':232448,'block':[1]"),
    LAUNCH("'block':'n'"),
    "'launches':[{" ARG(Y("")) "},{" L ",'args':['y']}]",
    WITH("'expect':{'values':{'y':[1,2,3,'NaN']}}"),
    WITH("'expect':{'expression':{'y':'i'}},'seed':'0xffffffffffffffff'"),
    WITH("'expect':{'kernel':{}},'trials':16"),
    WITH("'expect':null,'benchmark':true,'device':'GPU-0-1','roofline':{'flops':1}"),
};

/* The same shapes without the fault: nothing above is refused for another reason. */
Test(hostile_spec, what_is_right_passes) {
    struct schema *schema;
    struct err wrong = {0};
    cr_assert_eq(schema_new(spec_schema(), &schema, &wrong), 0, "%s", wrong.msg);
    for (size_t i = 0; i < sizeof good_specs / sizeof *good_specs; i++) {
        struct err err = {0};
        cr_expect_eq(read_whole(good_specs[i], &err), 0, "%s: %s", good_specs[i],
                     err.msg);
        autojson *params = params_of(good_specs[i]);
        cr_expect_eq(schema_check(schema, params, NULL, &err), 0, "%s: %s", good_specs[i],
                     err.msg);
    }
    static const char *const bad[] = {
        "'sizes':[]",
        "'sizes':{'1n':1}",
        INIT("{'zeros':1}"),
        INIT("{'normal':[0,1],'fill':2}"),
        INIT("{'file':'x.txt'}"),
        SHAPE("[1.5]"),
        SHAPE("[1,1,1,1,1,1,1,1,1]"),
        STRUCT("[]"),
        MAP("[64]", "'box':[8],'swizzle':'16B'"),
        LAUNCH("'grid':[1,1,1,1],'block':[1]"),
        LAUNCH("'gird':1"),
        WITH("'expect':{'nothing':1}"),
        WITH("'trials':0"),
        "'launches':[{'args':[]}]",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        autojson *params = params_of(bad[i]);
        cr_expect_lt(schema_check(schema, params, NULL, NULL), 0, "%s", bad[i]);
    }
    schema_free(schema);
}
