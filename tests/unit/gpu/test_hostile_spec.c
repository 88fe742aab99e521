/* Check specs that mean ill or are merely wrong: each is an error that names the field.
 */
#include "base/err.h"
#include "base/json.h"
#include "gpu/spec/spec_case.h"
#include "gpu/spec/spec_schema.h"
#include "protocol/schema/schema.h"

#include <criterion/criterion.h>
#include <string.h>

#define L "'launch':{'grid':[1],'block':[32]}"
#define N "'sizes':{'n':4,'m':0}," L
#define Y(more) "{'name':'y','type':'float32','shape':[4],'output':true" more "}"
#define ARG(text) L ",'args':[" text "]"
#define NARG(text) N ",'args':[" text "]"
#define SHAPE(text) NARG("{'name':'y','type':'float32','output':true,'shape':" text "}")
#define INIT(text) NARG("{'name':'x','type':'float32','shape':[4],'init':" text "}")
#define INT8(text) NARG("{'name':'x','type':'int8','shape':[4],'init':" text "}")
#define WITH(text) L ",'args':[" Y("") "]," text
#define LAUNCH(text) "'sizes':{'n':4,'m':0},'launch':{" text "}"
#define MAP(shape, more)                                                                 \
    ARG("{'name':'x','type':'float32','shape':" shape                                    \
        ",'init':{'fill':1}},{'tensor_map':{'of':'x'," more "}}")
#define IM2COL(shape, members) MAP(shape, "'im2col':{" members "}")
#define TEX(type, shape, more)                                                           \
    ARG("{'name':'x','type':'" type "','shape':" shape                                   \
        ",'init':{'fill':1}},{'texture':{'of':'x'" more "}}")
#define SURF(shape, more)                                                                \
    ARG("{'name':'x','type':'float32','shape':" shape                                    \
        ",'output':true},{'surface':{'of':'x'" more "}}")
#define STRUCT(members) ARG("{'name':'s','struct':" members "}")
#define DEEP(text) "{'struct':[" text "]}"

struct hostile {
    const char *text, *words;
};

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
    {SHAPE("[-1]"), "y.shape[0] is -1"},
    {SHAPE("['0 - n']"), "y.shape[0] is -4"},
    {SHAPE("['n - 5', 1000000000000]"), "y.shape[0] is -1"},
    {SHAPE("['n / m']"), "division by zero"},
    {SHAPE("['n % m']"), "division by zero"},
    {SHAPE("['ceil_div(n, m)']"), "division by zero"},
    {SHAPE("[1000000000000]"), "y: the buffers of a case"},
    {SHAPE("[4294967296, 4294967296]"), "y: the buffers"},
    {SHAPE("[9223372036854775807, 9223372036854775807]"), "y: the buffers"},
    {SHAPE("[1073741825]"), "y: the buffers"},
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

static const struct hostile buffers[] = {
    {ARG("{'name':'y','type':'float','shape':[4],'output':true}"), "args[0].type"},
    {ARG("{'name':'y','type':'','shape':[4],'output':true}"), "args[0].type"},
    {ARG("{'name':'y','type':7,'shape':[4],'output':true}"), "args[0].type"},
    {ARG("{'name':'y','shape':[4],'output':true}"), "args[0].type"},
    {ARG("{'name':'','type':'int8','shape':[4],'output':true}"), "args[0].name"},
    {ARG("{'name':5,'type':'int8','shape':[4],'output':true}"), "args[0].name"},
    {ARG("{'type':'int8','shape':[4],'output':true}"), "args[0].name"},
    {ARG("{'name':"
         "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa','type':"
         "'int8','shape':[4],'output':true}"),
     "args[0].name"},
    {ARG("{'name':'x','type':'int8','shape':[4]}"), "args[0]: say what it holds"},
    {ARG(Y("") "," Y("")), "args[1].name: there are two buffers 'y'"},
    {ARG(Y(",'ouput':true")), "args[0].ouput: unknown; did you mean \"output\"?"},
    {ARG(Y(",'tolerence':{'rtol':1}")), "args[0].tolerence: unknown"},
    {ARG(Y(",'tolerance':{'rtol':1,'btol':2}")), "args[0].tolerance"},
    {"'buffers':5," L, "buffers: a list"},
    {"'buffers':[5]," L, "buffers[0]: {name, type, shape"},
    {"'buffers':[{'name':'x'}]," L, "buffers[0]: {name, type, shape"},
    {"'buffers':[{'name':'x','type':'int8','shape':[1]}]," L, "buffers[0]: say what"},
    {"'buffers':[" Y("") "]," ARG(Y("")), "args[0].name: there are two buffers 'y'"},
    {ARG("5"), "args[0]: an object"},
    {ARG("null"), "args[0]: an object"},
    {ARG("'z'"),
     "args[0]: no buffer and no argument of a launch before it is called 'z'"},
    {ARG("{'contents_of':'y'}"), "args[0].contents_of: expected the name of a buffer"},
    {ARG("{'contents_of':5}"), "args[0].contents_of: expected the name of a buffer"},
    {ARG(Y("") ",{'contents_of':'y','offset':4}"), "args[1].offset: unknown"},
    {ARG("[]"), "args[0]: an object"},
    {ARG("{}"), "args[0].name"},
    {L ",'args':{}", "args: a list"},
    {L ",'args':'x'", "args: a list"},
    {INIT("5"), "args[0].init"},
    {INIT("{}"), "args[0].init"},
    {INIT("{'normal':[0,1],'fill':2}"), "args[0].init"},
    {INIT("{'zeros':1}"), "did you mean {\"fill\": 0}?"},
    {INIT("'randn'"), "did you mean {\"normal\": [0, 1]}?"},
    {INIT("[1]"), "did you mean {\"values\": [1, 2, 3]}?"},
    {INIT("{'values':['k']}"), "args[0].init.values[0]: cannot evaluate 'k'"},
    {INIT("{'fill':'n / m'}"), "division by zero"},
    {ARG(Y(",'tolerance':0.001")), "did you mean {\"rtol\": 0.001}?"},
    {ARG(Y(",'scratch':1")), "args[0].scratch: true or false"},
    {WITH("'expect':'relu'"), "did you mean {\"op\": \"relu\"}?"},
    {ARG("{'name':'y','type':'int8','shape':[4],'scratch':true}") ",'expect':{'"
                                                                  "expression':{'y':'0'}"
                                                                  "}",
     "no output of that name"},
    {INIT("{'normal':[0]}"), "args[0].init.normal"},
    {INIT("{'normal':[0,1,2]}"), "args[0].init.normal"},
    {INIT("{'normal':['0','1']}"), "args[0].init.normal"},
    {INIT("{'normal':0}"), "args[0].init.normal"},
    {INIT("{'normal':null}"), "args[0].init.normal"},
    {INIT("{'uniform':{}}"), "args[0].init.uniform"},
    {INIT("{'uniform':[0,null]}"), "args[0].init.uniform"},
    {INIT("{'integers':[0]}"), "args[0].init.integers"},
    {INIT("{'integers':[0,'q']}"), "args[0].init.integers"},
    {INIT("{'integers':[0,1.5]}"), "args[0].init.integers"},
    {INIT("{'fill':'x'}"), "args[0].init.fill"},
    {INIT("{'fill':[1]}"), "args[0].init.fill"},
    {INIT("{'fill':null}"), "args[0].init.fill"},
    {INIT("{'arange':[0]}"), "args[0].init.arange"},
    {INIT("{'values':[]}"), "args[0].init.values"},
    {INIT("{'values':[1,'x']}"), "args[0].init.values[1]"},
    {INIT("{'values':{}}"), "args[0].init.values"},
    {INIT("{'file':5}"), "args[0].init.file"},
    {INIT("{'file':''}"), "args[0].init.file"},
    {INIT("{'file':'.npy'}"), "args[0].init.file"},
    {INIT("{'file':'x.npz'}"), "args[0].init.file"},
    {INIT("{'file':'x.npy/'}"), "args[0].init.file"},
    {INIT("{'file':'x\\u0000.npy'}"), "args[0].init.file"},
};

/* What was once taken silently for something else. */
static const struct hostile lenient[] = {
    {LAUNCH("'grid':[1]"), "launch.block: say how many"},
    {LAUNCH(""), "launch.block"},
    {LAUNCH("'block':[32],'shared_bytes':[1,2]"), "launch.shared_bytes: an integer"},
    {LAUNCH("'block':[32],'cooperative':1"), "launch.cooperative: true or false"},
    {LAUNCH("'block':[32],'cooperative':'yes'"), "launch.cooperative: true or false"},
    {INIT("{'uniform':[5,-5]}"), "args[0].init.uniform: [low, high): 5 lies above -5"},
    {INIT("{'normal':[0,-1]}"), "args[0].init.normal: a deviation"},
    {INIT("{'integers':[5,5]}"), "args[0].init.integers: no number lies in [5, 5)"},
    {INIT("{'integers':[7,-7]}"), "args[0].init.integers: no number"},
    {INIT("{'arange':5}"), "args[0].init.arange: two numbers"},
    {INIT("{'arange':'n'}"), "args[0].init.arange: two numbers"},
    {INIT("{'arange':false}"), "args[0].init.arange: two numbers"},
    {INIT("{'arange':{}}"), "args[0].init.arange: two numbers"},
    {INIT("null"), "args[0].init: an object with one of"},
    {INT8("{'integers':[0,1000]}"), "args[0].init.integers: 999 is no int8"},
    {INT8("{'integers':[-200,3]}"), "args[0].init.integers: -200 is no int8"},
    {INT8("{'values':[1,2.5]}"), "args[0].init.values[1]: 2.5 is no int8"},
    {INT8("{'values':['NaN']}"), "args[0].init.values[0]: \"NaN\" is no int8"},
    {INT8("{'fill':0.5}"), "args[0].init.fill[0]: 0.5 is no int8"},
    {INT8("{'fill':1e30}"), "args[0].init.fill[0]: 1e30 is no int8"},
    {INT8("{'fill':'Infinity'}"), "args[0].init.fill[0]"},
    {INT8("{'fill':300.0}"), "args[0].init.fill[0]: 300.0 is no int8"},
    {WITH("'expect':{'values':{'y':[1,2,3,4]}},'trials':'3'"), "trials: an integer"},
    {WITH("'trials':2.0"), "trials: an integer"},
    {WITH("'trials':null"), "trials: an integer"},
    {WITH("'timeout_s':'30'"), "timeout_s: an integer"},
    {WITH("'instructions':1e9"), "instructions: an integer"},
    {WITH("'odd_sizes':'no'"), "odd_sizes: true or false"},
    {WITH("'odd_sizes':0"), "odd_sizes: true or false"},
    {WITH("'arch':90"), "arch: a text"},
    {WITH("'backend':0"), "backend: a text"},
    {WITH("'numerics':0"), "numerics: a text"},
    {WITH("'compare':5"), "compare: a text"},
    {WITH("'seed':-1"), "seed: a number"},
    {WITH("'trails':3"), "trails: unknown"},
    {WITH("'Sizes':{'n':1}"), "Sizes: unknown"},
    {WITH("'benchmark':{'sample':5}"), "benchmark.sample: unknown"},
    {WITH("'benchmark':{'cache':1}"), "benchmark.cache: a text"},
    {WITH("'roofline':{'flop':5}"), "roofline.flop: unknown"},
    {WITH("'save':5"), "save: a folder's name"},
    {WITH("'save':''"), "save: the name of a folder"},
    {WITH("'save':{}"), "save.dir: the name of a folder"},
    {WITH("'save':{'dir':'a\\u0000b'}"), "save.dir: a text"},
    {WITH("'save':{'dir':'a','what':[]}"), "save.what: a list"},
    {WITH("'save':{'dir':'a','what':'inputs'}"), "save.what: a list"},
    {WITH("'save':{'dir':'a','what':['input']}"), "save.what[0]"},
    {WITH("'save':{'dir':'a','cases':'last'}"), "save.cases"},
    {WITH("'save':{'dir':'a','cases':0}"), "save.cases"},
    {WITH("'save':{'folder':'a'}"), "save.folder: unknown"},
    {ARG("{'name':'y','type':'float32','shape':[4],'output':1}"),
     "args[0].output: true or false"},
    {ARG("{'name':'y','type':'float32','shape':[4],'output':'yes'}"),
     "args[0].output: true or false"},
    {ARG(Y(",'compare':5")), "args[0].compare: a text"},
    {ARG("{'name':5,'type':'int32','value':1}"), "args[0].name: a text"},
    {ARG(Y("") ",{'pointers':['y'],'type':'float32'}"), "args[1].type: unknown"},
    {ARG(Y("") ",{'tensor_map':{'of':'y','box':[4]},'swizzle':'128B'}"),
     "args[1].swizzle: unknown"},
    {"'kernel':5," ARG(Y("")), "kernel: a text"},
    {"'launches':[{" ARG(Y("")) ",'kernal':'k'}]", "launches[0].kernal: unknown"},
    {"'launches':[{" ARG(Y("")) ",'kernel':5}]", "launches[0].kernel: a text"},
    {"'launches':[{" ARG(Y("")) "}],'kernel':'k'", "kernel: \"launches\" stands instead"},
    {"'launches':[{" ARG(Y("")) "}],'args':[]", "args: \"launches\" stands instead"},
    {"'launches':[{" ARG(Y("")) "}]," L, "launch: \"launches\" stands instead"},
    {WITH("'expect':{'kernel':{'sources':'x'}}"), "expect.kernel.sources: unknown"},
    {WITH("'expect':{'kernel':{'source':5}}"), "expect.kernel.source: a text"},
    {WITH("'expect':{'kernel':{'kernel':5}}"), "expect.kernel.kernel: a text"},
    {WITH("'expect':{'kernel':{'kernel':'r','launches':[{" L "}]}}"),
     "expect.kernel.kernel: \"launches\""},
    {WITH("'expect':{'kernel':{'launches':[{" L ",'grid':1}]}}"),
     "expect.kernel.launches[0].grid: unknown"},
    {STRUCT("[{'type':'int32','value':1,'values':[1]}]"),
     "args[0].struct[0]: it has \"value\" and \"values\""},
    {STRUCT("[{'type':'int32','value':1,'struct':[]}]"), "args[0].struct[0]: it has"},
    {STRUCT("[{'type':'int32','value':1,'align':16}]"), "args[0].struct[0].align: only"},
    {STRUCT("[{'type':'int32','value':1,'bytes':64}]"), "args[0].struct[0].bytes: only"},
    {STRUCT("[{'type':'int32','struct':[{'type':'int8','value':1}]}]"),
     "args[0].struct[0].type: \"struct\" has none"},
    {ARG(Y("") ",{'struct':[{'of':'y','type':'float32'}]}"),
     "args[1].struct[0].type: \"of\" has none"},
};

static const struct hostile scalars[] = {
    {NARG("{'name':'n','type':'int32','value':1.5}"), "args[0].value"},
    {NARG("{'name':'n','type':'int32','value':'NaN'}"), "args[0].value"},
    {NARG("{'name':'n','type':'int32','value':null}"), "args[0].value"},
    {NARG("{'name':'n','type':'int32','value':[]}"), "args[0].value"},
    {NARG("{'name':'n','type':'int32','value':'q'}"), "unknown size 'q'"},
    {NARG("{'name':'n','type':'float32','value':'not a number'}"), "args[0].value"},
    {NARG("{'name':'n','type':'float32','value':'1.0 / q'}"), "args[0].value"},
    {NARG("{'name':'n','type':'float32','value':'x[0]'}"), "args[0].value"},
    {NARG("{'name':'n','type':'float32','value':'sum(k, 0, 1000000000, k * 0.5)'}"),
     "args[0].value"},
    {NARG("{'name':'n','type':'float32','value':{}}"), "args[0].value"},
    {NARG("{'name':'n','type':'int128','value':1}"), "args[0].type"},
    {NARG("{'name':'n','value':1}"), "args[0].type"},
    {NARG("{'name':'n','type':'int32','value':1,'shape':[1]}"), "args[0].shape: unknown"},
    {STRUCT("[{'type':'int8','value':1}],'size':8"), "args[0].size: unknown"},
    {STRUCT("[{'type':'int8','value':1,'ofset':8}]"), "args[0].struct[0].ofset: unknown"},
    {STRUCT("5"), "args[0].struct: a list"},
    {STRUCT("[]"), "args[0].struct: a list"},
    {STRUCT("[5]"), "args[0].struct[0]: an object"},
    {STRUCT("[{}]"), "args[0].struct[0].type"},
    {STRUCT("[{'type':'int8'}]"), "args[0].struct[0].value"},
    {STRUCT("[{'type':'int8','values':[]}]"), "args[0].struct[0].values"},
    {STRUCT("[{'type':'int8','values':[1,'q']}]"), "args[0].struct[0].values[1]"},
    {STRUCT("[{'type':'int8','values':[1],'count':2}]"), "args[0].struct[0].values"},
    {STRUCT("[{'type':'int8','value':1,'count':0}]"), "args[0].struct[0].count"},
    {STRUCT("[{'type':'int8','value':1,'count':-1}]"), "args[0].struct[0].count"},
    {STRUCT("[{'type':'int8','value':1,'count':'n'}]"), "args[0].struct[0].count"},
    {STRUCT("[{'type':'int8','value':1,'count':9223372036854775807}]"),
     "args[0].struct[0].count"},
    {STRUCT("[{'type':'int64','value':1,'count':32764}]"), "args[0].struct[0]: a kernel"},
    {STRUCT("[{'struct':[{'type':'int64','value':1,'count':4000}],'count':30000}]"),
     "args[0].struct[0]: a kernel"},
    {STRUCT("[{'of':'x'}]"), "args[0].struct[0].of"},
    {STRUCT("[{'of':5}]"), "args[0].struct[0].of"},
    {STRUCT("[{'type':'int8','value':1,'offset':4}]"),
     "args[0].struct[0].offset: 4 is declared, natural alignment gives 0"},
    {STRUCT("[{'type':'int8','value':1},{'type':'int64','value':1,'offset':1}]"),
     "args[0].struct[1].offset: 1 is declared, natural alignment gives 8"},
    {STRUCT("[{'type':'int8','value':1,'offset':'0'}]"), "args[0].struct[0].offset"},
    {STRUCT("[{'type':'int8','value':1}],'bytes':4"),
     "args[0].bytes: 4 is declared, natural alignment gives 1"},
    {STRUCT("[{'type':'int8','value':1}],'align':3"), "args[0].align"},
    {STRUCT("[{'type':'int8','value':1}],'align':0"), "args[0].align"},
    {STRUCT("[{'type':'int8','value':1}],'align':-8"), "args[0].align"},
    {STRUCT("[{'type':'int8','value':1}],'align':256"), "args[0].align"},
    {STRUCT("[" DEEP(
         DEEP(DEEP(DEEP(DEEP(DEEP(DEEP(DEEP("{'type':'int8','value':1}")))))))) "]"),
     "nested at most 8 deep"},
    {ARG("{'pointers':[]}"), "args[0].pointers"},
    {ARG("{'pointers':'x'}"), "args[0].pointers"},
    {ARG("{'pointers':['x']}"), "args[0].pointers[0]"},
    {ARG("{'pointers':[5]}"), "args[0].pointers[0]"},
};

static const struct hostile textures[] = {
    {ARG("{'texture':5}"), "args[0].texture: an object"},
    {ARG("{'surface':{'of':'x'}}"), "args[0].surface.of: expected the name of a buffer"},
    {ARG("{'texture':{'of':'x'},'value':1}"), "args[0].value: unknown"},
    {TEX("float64", "[4]", ""), "args[1].texture.of: x holds float64"},
    {TEX("float32", "[4]", ",'channels':3"), "args[1].texture.channels: 1, 2 or 4"},
    {TEX("float32", "[4,2]", ",'channels':'2'"), "args[1].texture.channels: 1, 2 or 4"},
    {TEX("float32", "[4]", ",'channels':2"), "args[1].texture: channels: the last"},
    {TEX("float32", "[1,1,1,1]", ""), "args[1].texture: of: 'x' leaves 4 dimensions"},
    {TEX("float32", "[2]", ",'layered':true"), "of: 'x' leaves 0 dimensions"},
    {TEX("float32", "[2,2,2,2]", ",'layered':true"), "of: 'x' leaves 3 dimensions"},
    {TEX("float32", "[2]", ",'layered':1"), "args[1].texture.layered: true or false"},
    {TEX("float32", "[2]", ",'normalized':'yes'"), "texture.normalized: true or false"},
    {TEX("float32", "[0]", ""), "of: 'x' has 0 elements in x"},
    {TEX("uint8", "[131073]", ""), "'x' has 131073 elements in x; 1 to 131072"},
    {TEX("uint8", "[65537,1]", ""), "'x' has 65537 elements in y; 1 to 65536"},
    {TEX("uint8", "[1,1,16385]", ""), "'x' has 16385 elements in x; 1 to 16384"},
    {TEX("uint8", "[2049,1]", ",'layered':true"), "'x' has 2049 layers"},
    {TEX("float32", "[4]", ",'address':'mirror'"), "mirror wants normalized"},
    {TEX("float32", "[4]", ",'address':'repeat'"), "args[1].texture.address: clamp"},
    {TEX("float32", "[4]", ",'address':['clamp','clamp']"), "2 words for 1 dimensions"},
    {TEX("float32", "[4]", ",'address':[5]"), "args[1].texture.address: clamp"},
    {TEX("float32", "[4]", ",'filter':'cubic'"), "texture.filter: point or linear"},
    {TEX("uint8", "[4]", ",'filter':'linear'"), "texture.filter: linear is for"},
    {TEX("uint32", "[4]", ",'read':'normalized_float'"),
     "texture.read: normalized_float"},
    {TEX("float32", "[4]", ",'read':'normalized_float'"), "normalized_float is for"},
    {TEX("float32", "[4]", ",'memory':'linear','filter':'linear'"), "texture.memory"},
    {TEX("float32", "[4,4]", ",'memory':'linear'"), "memory: linear memory has one"},
    {TEX("float32", "[4]", ",'adress':'clamp'"), "args[1].texture.adress: unknown"},
    {TEX("float32", "[6,2,2]", ",'cube':1"), "args[1].texture.cube: true or false"},
    {TEX("float32", "[6,2,2]", ",'seamless':true"), "texture.seamless: it is for cubes"},
    {TEX("float32", "[6,2,2]", ",'cube':true,'normalized':false"),
     "texture.cube: a cube"},
    {TEX("float32", "[6,2,2]", ",'cube':true,'memory':'linear'"), "texture.cube: a cube"},
    {TEX("float32", "[5,2,2]", ",'cube':true"), "a cube is shown of [6, n, n]"},
    {TEX("float32", "[6,2,3]", ",'cube':true"), "a cube is shown of [6, n, n]"},
    {TEX("float32", "[6,2]", ",'cube':true"), "a cube is shown of [6, n, n]"},
    {TEX("float32", "[6,2,2]", ",'cube':true,'layered':true"), "[cubes, 6, n, n]"},
    {TEX("float32", "[2,6,2,2]", ",'cube':true"), "a cube is shown of [6, n, n]"},
    {TEX("uint8", "[342,6,1,1]", ",'cube':true,'layered':true"), "341 cubes"},
    {TEX("float32", "[6,0,0]", ",'cube':true"), "a cube is shown of [6, n, n]"},
    {SURF("[4]", ",'filter':'point'"), "args[1].surface.filter: unknown"},
    {SURF("[1,1,1,1]", ""), "args[1].surface: of: 'x' leaves 4 dimensions"},
};

static const struct hostile maps[] = {
    {ARG("{'tensor_map':5}"), "args[0].tensor_map.of"},
    {ARG("{'tensor_map':{'of':'x','box':[8]}}"), "args[0].tensor_map.of"},
    {MAP("[64]", "'swizzle':'none'"), "args[1].tensor_map.box"},
    {MAP("[64]", "'box':8"), "args[1].tensor_map.box"},
    {MAP("[64]", "'box':['q']"), "args[1].tensor_map.box[0]"},
    {MAP("[64]", "'box':[8],'swizle':'32B'"), "args[1].tensor_map.swizle: unknown"},
    {MAP("[64]", "'box':[8],'swizzle':'16B'"),
     "args[1].tensor_map.swizzle: none, 32B, 64B or 128B"},
    {MAP("[64]", "'box':[8],'swizzle':128"), "args[1].tensor_map.swizzle: a text"},
    {MAP("[64]", "'box':[8],'fill':0"),
     "args[1].tensor_map.fill: a text is expected: zeros or nan"},
    {MAP("[64]", "'box':[8],'l2_promotion':'512B'"), "tensor_map.l2_promotion"},
    {MAP("[64]", "'box':[8],'interleave':'64B'"), "tensor_map.interleave"},
    {MAP("[64]", "'box':[8,8]"), "args[1].tensor_map: box has 2 numbers"},
    {MAP("[64]", "'box':[0]"), "args[1].tensor_map: box[0] is 0"},
    {MAP("[64]", "'box':[-8]"), "box[0] is -8"},
    {MAP("[512]", "'box':[260]"), "box[0] is 260"},
    {MAP("[64]", "'box':[6]"), "box[0]: 24 bytes of the innermost dimension"},
    {MAP("[64,64]", "'box':[8,10]"), "box[1]: 40 bytes"},
    {MAP("[64,64]", "'box':[8,32],'swizzle':'64B'"), "box[1]: 128 bytes"},
    {MAP("[64,64]", "'box':[8,16],'swizzle':'32B'"), "box[1]: 64 bytes"},
    {MAP("[64,64]", "'box':[8,64],'swizzle':'128B'"), "box[1]: 256 bytes"},
    {MAP("[64,63]", "'box':[8,8]"), "strides[0] is 252 bytes: a multiple of 16"},
    {MAP("[64,64]", "'box':[8,8],'strides':[8]"), "strides[0] is 8 bytes"},
    {MAP("[64,64]", "'box':[8,8],'strides':[0]"), "strides[0] is 0"},
    {MAP("[64,64]", "'box':[8,8],'strides':[-16]"), "strides[0] is -16"},
    {MAP("[64,64]", "'box':[8,8],'strides':[1099511627776]"), "below 2^40"},
    {MAP("[64,64]", "'box':[8,8],'strides':[256,4]"), "strides has 2 numbers"},
    {MAP("[64,64]", "'box':[8,8],'strides':[272]"), "tensor ends 17392 bytes"},
    {MAP("[64,64]", "'box':[8,8],'element_strides':[9,1]"), "element_strides[0] is 9"},
    {MAP("[64,64]", "'box':[8,8],'element_strides':[0,1]"), "element_strides[0] is 0"},
    {MAP("[64,64]", "'box':[8],'shape':[8192]"), "tensor ends 32768 bytes"},
    {MAP("[64,64]", "'box':[8],'shape':[0]"), "shape[0] is 0"},
    {MAP("[0]", "'box':[8]"), "shape[0] is 0"},
    {MAP("[2,2,2,2,2,2]", "'box':[1,1,1,1,1,4]"), "box: a list of up to 5"},
    {MAP("[2,2,2,2,2,4]", "'box':[1]"), "the tensor has 6 dimensions"},
    {MAP("[]", "'box':[]"), "the tensor has 0 dimensions"},
    {MAP("[64,64]", "'box':[8,8],'interleave':'16B'"), "at least 3 dimensions"},
    {MAP("[4,64,64]", "'box':[1,8,8],'interleave':'32B'"), "swizzle 32B only"},
    {MAP("[2,9,8]", "'box':[1,1,8],'im2col':{}"), "box, or im2col, are expected"},
    {MAP("[2,9,8]", "'im2col':5"), "args[1].tensor_map.im2col: {"},
    {IM2COL("[2,9,8]", "'upper':[0],'channels':8,'pixels':4"), "im2col.lower: a corner"},
    {IM2COL("[2,9,8]", "'lower':[0],'upper':0,'channels':8,'pixels':4"),
     "im2col.upper: a list"},
    {IM2COL("[2,9,8]", "'lower':['q'],'upper':[0],'channels':8,'pixels':4"),
     "im2col.lower[0]"},
    {IM2COL("[2,9,8]", "'lower':[0],'upper':[0],'channels':8"),
     "im2col.pixels: an integer"},
    {IM2COL("[2,9,8]", "'lower':[0],'upper':[0],'channel':8,'pixels':4"),
     "im2col.channel: unknown"},
    {IM2COL("[9,8]", "'lower':[0],'upper':[0],'channels':8,'pixels':4"),
     "im2col: the tensor has 2 dimensions"},
    {IM2COL("[2,9,8]", "'lower':[0,0],'upper':[0],'channels':8,'pixels':4"),
     "lower has 2 numbers"},
    {IM2COL("[2,9,8]", "'lower':[-32769],'upper':[0],'channels':8,'pixels':4"),
     "im2col.lower[0] is -32769"},
    {IM2COL("[2,5,9,8]", "'lower':[0,0],'upper':[128,0],'channels':8,'pixels':4"),
     "im2col.upper[0] is 128: -128 to 127"},
    {IM2COL("[2,5,5,9,8]", "'lower':[0,0,-17],'upper':[0,0,0],'channels':8,'pixels':4"),
     "im2col.lower[2] is -17: -16 to 15"},
    {IM2COL("[2,5,9,8]", "'lower':[0,0],'upper':[-5,0],'channels':8,'pixels':4"),
     "no place for a filter is left between lower[0], 0, and upper[0], -5, of 5"},
    {IM2COL("[2,9,8]", "'lower':[0],'upper':[0],'channels':6,'pixels':4"),
     "im2col.channels: 24 bytes"},
    {IM2COL("[2,9,512]", "'lower':[0],'upper':[0],'channels':260,'pixels':4"),
     "im2col.channels is 260"},
    {IM2COL("[2,9,8]", "'lower':[0],'upper':[0],'channels':8,'pixels':0"),
     "im2col.pixels is 0"},
    {IM2COL("[2,9,8]", "'lower':[0],'upper':[0],'channels':8,'pixels':1025"),
     "im2col.pixels is 1025"},
    {MAP("[2,9,8]",
         "'im2col':{'lower':[0],'upper':[0],'channels':8,'pixels':4},'swizzle':"
         "'128B','shape':[9,16]"),
     "im2col: the tensor has 2 dimensions"},
    {MAP("[2,9,64]", "'im2col':{'lower':[0],'upper':[0],'channels':64,'pixels':4},"
                     "'swizzle':'128B'"),
     "im2col.channels: 256 bytes"},
    {ARG("{'name':'x','type':'int32','shape':[64],'init':{'fill':1}},{'tensor_map':{"
         "'of':'x','box':[8],'fill':'nan'}}"),
     "int32 has no NaN"},
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
    {LAUNCH("'grid':[0],'block':[1]"), "launch.grid[0] is 0"},
    {LAUNCH("'grid':['m'],'block':[1]"), "launch.grid[0] is 0"},
    {LAUNCH("'grid':['n / m'],'block':[1]"), "division by zero"},
    {LAUNCH("'grid':[-1],'block':[1]"), "launch.grid[0] is -1"},
    {LAUNCH("'grid':[2147483648],'block':[1]"), "launch.grid[0] is 2147483648"},
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
    {LAUNCH("'cluster':[2],'grid':[3],'block':[1]"), "launch.grid[0] is 3: no multiple"},
    {LAUNCH("'cluster':[1,2],'grid':[3,3],'block':[1]"),
     "launch.grid[1] is 3: no multiple"},
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

static json_t *params_of(const char *text) {
    char json[2048];
    snprintf(json, sizeof json, "{%s}", text);
    for (char *c = json; *c; c++) {
        *c = *c == '\'' ? '"' : *c;
    }
    json_t *params = json_loads(json, JSON_ALLOW_NUL, NULL);
    cr_assert(params != NULL, "%s", json);
    return params;
}

/* Reading it, or a case of it: 0 when neither complains. */
static int read_whole(const char *text, struct err *err) {
    autojson *params = params_of(text);
    struct kernel_spec spec;
    int n = kernel_spec_read(&spec, params, err);
    if (n < 0) {
        return n;
    }
    for (size_t i = 0; i < spec.case_count && n == 0; i++) {
        struct spec_case c;
        n = spec_case_resolve(&c, &spec, i, err);
        if (n == 0) {
            spec_case_finish(&c);
        }
    }
    kernel_spec_finish(&spec);
    return n;
}

static void refuse_all(const struct hostile *list, size_t count) {
    for (size_t i = 0; i < count; i++) {
        struct err err = {0};
        cr_expect_lt(read_whole(list[i].text, &err), 0, "%s", list[i].text);
        cr_expect(strstr(err.msg, list[i].words) != NULL, "%s: %s", list[i].text,
                  err.msg);
    }
}

#define REFUSE(list) refuse_all(list, sizeof(list) / sizeof *(list))

Test(hostile_spec, sizes) {
    REFUSE(sizes);
}
Test(hostile_spec, shapes) {
    REFUSE(shapes);
}
Test(hostile_spec, buffers) {
    REFUSE(buffers);
}
Test(hostile_spec, scalars) {
    REFUSE(scalars);
}
Test(hostile_spec, lenient) {
    REFUSE(lenient);
}
Test(hostile_spec, tensor_maps) {
    REFUSE(maps);
}
Test(hostile_spec, textures_and_surfaces) {
    REFUSE(textures);
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
