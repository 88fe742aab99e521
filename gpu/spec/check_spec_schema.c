#include "gpu/spec/check_spec_schema.h"

/* clang-format off */
#define TEXT(words) "\"description\": \"" words "\""
#define INTEGER "{\"type\": \"integer\"}"
#define SIZE(words) "{\"type\": [\"integer\", \"string\"], " TEXT(words) "}"
#define NUMBERS "{\"type\": \"array\", \"items\": {\"type\": [\"number\", \"string\", \"boolean\"]}}"
#define PAIR(words) "{\"type\": \"array\", \"items\": {\"type\": \"number\"}, " \
    "\"minItems\": 2, \"maxItems\": 2, " TEXT(words) "}"
#define OBJECT(words, members, more) "{\"type\": \"object\", " TEXT(words) ", \"properties\": {" \
    members "}, \"additionalProperties\": false" more "}"

#define TYPE "{\"enum\": [\"float32\", \"float16\", \"bfloat16\", \"float8_e4m3\", \"float8_e5m2\", " \
    "\"float64\", \"int8\", \"int16\", \"int32\", \"int64\", \"uint8\", \"uint16\", \"uint32\", " \
    "\"uint64\", \"bool\"], " TEXT("The element's type, by its numpy and PyTorch name.") "}"
#define SHAPE "{\"type\": \"array\", \"maxItems\": 8, \"items\": {\"type\": [\"integer\", " \
    "\"string\"]}, " TEXT("Extents, row-major: integers or expressions over the sizes, like " \
    "[\\\"rows\\\", \\\"cols * 2\\\"]. + - * / % ( ), ceil_div(a, b), min, max.") "}"
#define INIT OBJECT("What it holds before the launch; one of these.", \
    "\"normal\": " PAIR("[mean, standard deviation]") \
    ", \"uniform\": " PAIR("[low, high]") \
    ", \"integers\": {\"type\": \"array\", \"items\": {\"type\": [\"integer\", \"string\"]}, " \
    "\"minItems\": 2, \"maxItems\": 2, " TEXT("[low, high), expressions too.") "}" \
    ", \"fill\": {\"type\": [\"number\", \"string\", \"boolean\"], " TEXT("The same everywhere; " \
    "\\\"NaN\\\", \\\"Infinity\\\", \\\"-Infinity\\\" too.") "}" \
    ", \"arange\": {\"type\": [\"array\", \"boolean\"], " TEXT("[start, step]; true is [0, 1].") "}" \
    ", \"values\": " NUMBERS \
    ", \"file\": {\"type\": \"string\", \"pattern\": \"\\\\.npy$\", " TEXT("A .npy file beneath " \
    "the workspace, of this type and shape.") "}", \
    ", \"minProperties\": 1, \"maxProperties\": 1")
#define TOLERANCE OBJECT("|actual - expected| <= atol + rtol * |expected|", \
    "\"rtol\": {\"type\": \"number\", \"minimum\": 0}, \"atol\": {\"type\": \"number\", \"minimum\": 0}", "")
#define COMPARE "{\"enum\": [\"elementwise\", \"exact\", \"multiset\"], " TEXT("exact: bit for bit; " \
    "multiset: in any order.") "}"
#define NAME "\"name\": {\"type\": \"string\", \"minLength\": 1, \"maxLength\": 64}"
#define CONTENTS "\"type\": " TYPE ", \"shape\": " SHAPE ", \"init\": " INIT \
    ", \"output\": {\"type\": \"boolean\", " TEXT("Compared afterwards; without init it is poisoned first.") \
    "}, \"scratch\": {\"type\": \"boolean\", " TEXT("Workspace: written, and never compared.") \
    "}, \"judge\": {\"type\": [\"boolean\", \"string\"], " TEXT("Of an output: false, it is written and " \
    "nobody says what to; or an expression as in expect, i the flat index: only elements where it is not 0 are " \
    "compared and must be written, like \\\"i % cols < n\\\".") \
    "}, \"tolerance\": " TOLERANCE ", \"compare\": " COMPARE

/* --- arguments --- */
#define VALUE "{\"type\": [\"number\", \"string\", \"boolean\"], " TEXT("A number, \\\"NaN\\\", or an " \
    "expression over the sizes; a float's may be \\\"1.0 / d\\\" or \\\"rsqrt(d)\\\".") "}"
#define BUFFER_ARG OBJECT("A pointer to a buffer.", NAME ", " CONTENTS, \
    ", \"required\": [\"name\", \"type\", \"shape\"]")
#define SCALAR_ARG OBJECT("A scalar.", NAME ", \"type\": " TYPE ", \"value\": " VALUE, \
    ", \"required\": [\"type\", \"value\"]")
#define LAYOUT ", \"bytes\": {\"type\": \"integer\", " TEXT("Its sizeof, checked.") "}, \"align\": {\"enum\": " \
    "[1, 2, 4, 8, 16, 32, 64, 128], " TEXT("What alignas says.") "}"
#define MEMBER(nested) "{\"type\": \"object\", \"properties\": {" NAME ", \"type\": " TYPE ", \"value\": " VALUE \
    ", \"values\": " NUMBERS ", \"count\": {\"type\": \"integer\", \"minimum\": 1, " \
    TEXT("An array of so many.") "}, \"of\": {\"type\": \"string\", " TEXT("A pointer to this buffer.") \
    "}, \"offset\": {\"type\": \"integer\", " TEXT("Its offsetof, checked.") "}, \"struct\": " nested LAYOUT \
    "}, \"additionalProperties\": false}"
#define MEMBERS(nested) "{\"type\": \"array\", \"minItems\": 1, \"maxItems\": 256, \"items\": " nested "}"
#define STRUCT_ARG OBJECT("A structure by value, with natural alignment.", NAME ", \"struct\": " \
    MEMBERS(MEMBER(MEMBERS(MEMBER(MEMBERS("{\"type\": \"object\"}"))))) LAYOUT, ", \"required\": [\"struct\"]")
#define POINTERS_ARG OBJECT("An array of pointers to buffers that stand before.", NAME \
    ", \"pointers\": {\"type\": \"array\", \"minItems\": 1, \"maxItems\": 128, \"items\": {\"type\": \"string\"}}", \
    ", \"required\": [\"pointers\"]")
#define CONTENTS_ARG OBJECT("A structure by value: the first bytes of a buffer, as an earlier launch left them.", \
    NAME ", \"contents_of\": {\"type\": \"string\", " TEXT("A buffer that stands before.") "}", \
    ", \"required\": [\"contents_of\"]")
#define SIZES(words) "{\"type\": \"array\", \"maxItems\": 5, \"items\": {\"type\": [\"integer\", \"string\"]}, " \
    TEXT(words) "}"
#define MAP_ARG OBJECT("A CUtensorMap by value (const __grid_constant__), 128 bytes.", NAME \
    ", \"tensor_map\": " OBJECT("Lists go from the outermost dimension to the innermost.", \
    "\"of\": {\"type\": \"string\", " TEXT("A buffer that stands before.") "}" \
    ", \"box\": " SIZES("Elements of a box, 1 to 256 each; the innermost's bytes a multiple of 16.") \
    ", \"im2col\": " OBJECT("Instead of box: for copies in im2col mode, of [images, depth?, height?, width, " \
    "channels].", "\"lower\": " SIZES("Where filters may stand, from the first pixel on: [depth?, height?, " \
    "width]; -padding.") ", \"upper\": " SIZES("Likewise, from the last pixel.") \
    ", \"channels\": {\"type\": [\"integer\", \"string\"], " TEXT("Of a copy, 1 to 256.") "}" \
    ", \"pixels\": {\"type\": [\"integer\", \"string\"], " TEXT("Of a copy, 1 to 1024.") "}", \
    ", \"required\": [\"lower\", \"upper\", \"channels\", \"pixels\"]") \
    ", \"shape\": " SIZES("Instead of the buffer's own.") \
    ", \"strides\": " SIZES("Bytes, of all dimensions but the last: multiples of 16.") \
    ", \"element_strides\": " SIZES("1 to 8 each.") \
    ", \"swizzle\": {\"enum\": [\"none\", \"32B\", \"64B\", \"128B\"]}" \
    ", \"interleave\": {\"enum\": [\"none\", \"16B\", \"32B\"]}" \
    ", \"l2_promotion\": {\"enum\": [\"none\", \"64B\", \"128B\", \"256B\"]}" \
    ", \"fill\": {\"enum\": [\"zeros\", \"nan\"], " TEXT("Outside the tensor.") "}", \
    ", \"required\": [\"of\"]"), ", \"required\": [\"tensor_map\"]")
#define SHOWN "\"of\": {\"type\": \"string\", " TEXT("A buffer that stands before; its shape gives the dimensions.") "}" \
    ", \"channels\": {\"enum\": [1, 2, 4], " TEXT("The last dimension, when it is not 1.") "}" \
    ", \"layered\": {\"type\": \"boolean\", " TEXT("The first dimension counts layers.") "}"
#define MODE "{\"enum\": [\"clamp\", \"border\", \"wrap\", \"mirror\"]}"
#define TEXTURE_ARG OBJECT("A cudaTextureObject_t.", NAME ", \"texture\": " OBJECT("", SHOWN \
    ", \"cube\": {\"type\": \"boolean\", " TEXT("A cubemap of [6, n, n]; with layered of [cubes, 6, n, n].") "}" \
    ", \"seamless\": {\"type\": \"boolean\", " TEXT("A cube's linear filter goes beyond the edges.") "}" \
    ", \"memory\": {\"enum\": [\"array\", \"linear\"], " TEXT("linear: for tex1Dfetch.") "}" \
    ", \"address\": {\"anyOf\": [" MODE ", {\"type\": \"array\", \"maxItems\": 3, \"items\": " MODE "}], " \
    TEXT("Outside; wrap and mirror with normalized coordinates.") "}" \
    ", \"filter\": {\"enum\": [\"point\", \"linear\"]}" \
    ", \"normalized\": {\"type\": \"boolean\", " TEXT("Coordinates from 0 to 1.") "}" \
    ", \"read\": {\"enum\": [\"element\", \"normalized_float\"]}", ", \"required\": [\"of\"]"), \
    ", \"required\": [\"texture\"]")
#define SURFACE_ARG OBJECT("A cudaSurfaceObject_t.", NAME ", \"surface\": " OBJECT("", SHOWN, \
    ", \"required\": [\"of\"]"), ", \"required\": [\"surface\"]")
#define ARGS "{\"type\": \"array\", \"maxItems\": 128, " TEXT("The kernel's parameters in order.") \
    ", \"items\": {\"anyOf\": [" BUFFER_ARG ", " SCALAR_ARG ", " STRUCT_ARG ", " POINTERS_ARG ", " CONTENTS_ARG ", " MAP_ARG \
    ", " TEXTURE_ARG ", " SURFACE_ARG \
    ", {\"type\": \"string\", " TEXT("A buffer or an argument that an earlier launch or globals described.") "}]}}"

/* --- launches --- */
#define EXTENTS(words) "{\"anyOf\": [{\"type\": [\"integer\", \"string\"]}, {\"type\": \"array\", " \
    "\"minItems\": 1, \"maxItems\": 3, \"items\": {\"type\": [\"integer\", \"string\"]}}], " TEXT(words) "}"
#define LAUNCH OBJECT("How the kernel is launched.", \
    "\"grid\": " EXTENTS("Blocks in x, y, z; expressions over the sizes: [\\\"ceil_div(n, 256)\\\"].") \
    ", \"block\": " EXTENTS("Threads in x, y, z; at most 1024 in all.") \
    ", \"cluster\": " EXTENTS("Blocks of a cluster.") \
    ", \"shared_bytes\": " SIZE("Dynamic shared memory, at most 232448 on sm_90.") \
    ", \"cooperative\": {\"type\": \"boolean\", " TEXT("For grid.sync().") "}", ", \"required\": [\"block\"]")
#define KERNEL "\"kernel\": {\"type\": \"string\", \"minLength\": 1, \"maxLength\": 1024, " \
    TEXT("Name or template-id: k<float, 256>.") "}"
#define ONE_LAUNCH KERNEL ", \"launch\": " LAUNCH ", \"args\": " ARGS
#define LAUNCHES(words) "{\"type\": \"array\", \"minItems\": 1, \"maxItems\": 32, " TEXT(words) \
    ", \"items\": {\"type\": \"object\", \"properties\": {" ONE_LAUNCH "}, \"required\": [\"launch\"], " \
    "\"additionalProperties\": false}}"

/* --- the rest --- */
#define BY_OUTPUT(items, words) "{\"type\": \"object\", \"minProperties\": 1, \"additionalProperties\": " \
    items ", " TEXT(words) "}"
#define EXPECT "{\"anyOf\": [{\"type\": \"null\"}, " \
    OBJECT("A plain reference kernel; without args or launch it takes the kernel's own.", "\"kernel\": " \
        OBJECT("", "\"source\": {\"type\": \"string\"}, \"launches\": " LAUNCHES("Several of them.") ", " \
        ONE_LAUNCH, ""), ", \"required\": [\"kernel\"]") ", " \
    OBJECT("Arithmetic by output.", "\"expression\": " BY_OUTPUT("{\"type\": \"string\"}", \
        "i is the flat index, x[i] a buffer's first contents, sum(k, 0, n, x[k]) the sum for k from 0 to n - 1 " \
        "(`to` is exclusive): " \
        "{\\\"y\\\": \\\"max(x[i], 0)\\\"}."), ", \"required\": [\"expression\"]") ", " \
    OBJECT("Numbers by output.", "\"values\": " BY_OUTPUT(NUMBERS, "Flat, row by row."), \
        ", \"required\": [\"values\"]") ", " \
    OBJECT("Files by output.", "\"files\": " BY_OUTPUT("{\"type\": \"string\", \"pattern\": \"\\\\.npy$\"}", \
        ".npy files beneath the workspace."), ", \"required\": [\"files\"]") ", " \
    "{\"type\": \"object\", \"properties\": {\"op\": {\"type\": \"string\", " \
        TEXT("A built-in operator: softmax, matmul, layer_norm … with its attributes beside it.") \
        "}}, \"required\": [\"op\"]}]}"
#define ONE_CASE "{\"type\": \"object\", \"maxProperties\": 32, \"propertyNames\": {\"pattern\": " \
    "\"^[A-Za-z_][A-Za-z0-9_]{0,63}$\"}, \"additionalProperties\": " INTEGER "}"

static const char schema[] =
    "{\"title\": \"Check spec\", \"type\": \"object\", " TEXT("How kernel/validate runs a kernel and what "
        "its outputs should be. NAME.check.json beside NAME.cu.") ", \"properties\": {"
    "\"$schema\": {\"type\": \"string\"}, "
    "\"path\": {\"type\": \"string\", " TEXT("The .cu file; in NAME.check.json relative to it.") "}, "
    "\"source\": {\"type\": \"string\", " TEXT("CUDA C++ text instead of a file.") "}, "
    "\"name\": {\"type\": \"string\"}, \"arch\": {\"type\": \"string\"}, \"std\": {\"type\": \"string\"}, "
    "\"defines\": {\"type\": \"object\"}, \"include_roots\": {\"type\": \"array\"}, "
    "\"headers\": {\"type\": \"object\"}, \"fast_math\": {\"type\": \"boolean\"}, \"options\": {\"type\": \"array\"}, "
    ONE_LAUNCH ", "
    "\"sizes\": {\"anyOf\": [" ONE_CASE ", {\"type\": \"array\", \"minItems\": 1, \"maxItems\": 64, \"items\": "
        ONE_CASE "}], " TEXT("Names to integers; a list of such objects makes a case of each. Odd sizes find "
        "the most.") "}, "
    "\"launches\": " LAUNCHES("Instead of kernel, launch and args: several over shared buffers.") ", "
    "\"buffers\": {\"type\": \"array\", \"maxItems\": 128, " TEXT("Buffers that no parameter points to by "
        "itself: those of tensor maps, structures and arrays of pointers.") ", \"items\": " BUFFER_ARG "}, "
    "\"globals\": {\"type\": \"object\", " TEXT("__device__ and __constant__ variables by name.")
        ", \"additionalProperties\": {\"type\": \"object\", \"properties\": {" NAME ", " CONTENTS
        "}, \"additionalProperties\": false, \"required\": [\"type\", \"shape\"]}}, "
    "\"expect\": " EXPECT ", "
    "\"tolerance\": " TOLERANCE ", \"compare\": " COMPARE ", "
    "\"trials\": {\"type\": \"integer\", \"minimum\": 1, \"maximum\": 16, \"default\": 3}, "
    "\"seed\": {\"type\": [\"string\", \"integer\"], " TEXT("Repeats a run: \\\"0x…\\\".") "}, "
    "\"backend\": {\"enum\": [\"auto\", \"cuda\", \"emulator\"], \"default\": \"auto\"}, "
    "\"device\": {\"type\": \"string\", " TEXT("A GPU's UUID, or its number.") "}, "
    "\"checks\": {\"type\": \"array\", \"items\": {\"enum\": [\"memory\", \"initialized\", \"race\", \"barrier\"]}, "
    TEXT("Left out: all, races in one trial of one case.") "}, "
    "\"strict\": {\"type\": \"boolean\", \"default\": false, " TEXT("Warnings make it fail.") "}, "
    "\"odd_sizes\": {\"type\": \"boolean\", \"default\": true, " TEXT("Try odd sizes too where all are round.") "}, "
    "\"benchmark\": {\"anyOf\": [{\"type\": \"boolean\"}, " OBJECT("Time the launches (GPU only).",
        "\"samples\": {\"type\": \"integer\", \"minimum\": 1, \"maximum\": 10000, \"default\": 50}, "
        "\"cache\": {\"enum\": [\"cold\", \"warm\"], \"default\": \"cold\"}", "") ", {\"type\": \"null\"}]}, "
    "\"roofline\": " OBJECT("What one case must do at the least.", "\"flops\": " SIZE("Operations.")
        ", \"bytes\": " SIZE("Of memory.") ", \"type\": " TYPE, "") ", "
    "\"instructions\": {\"type\": \"integer\", \"minimum\": 0, " TEXT("Budget of the CPU backend, in instructions "
        "of single threads.") "}, "
    "\"timeout_s\": {\"type\": \"integer\", \"minimum\": 1, \"maximum\": 3600, \"default\": 30}"
    "}, \"additionalProperties\": false}";
/* clang-format on */

const char *check_spec_schema(void) {
    return schema;
}
