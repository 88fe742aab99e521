#include "base/buf.h"
#include "base/mem.h"
#include "gpu/validate/kernel_validate.h"

/* The spec's members are checked in depth by check_spec_read, whose errors name the
 * field; the schema says what there is. */
#define EXTENTS                                                                          \
    "{\"type\": [\"integer\", \"string\", \"array\"], \"description\": \"Up to three "   \
    "integers or expressions over the sizes.\"}"

#define LAUNCH                                                                           \
    "{\"type\": \"object\", \"description\": \"How the kernel is launched; block at "    \
    "the "                                                                               \
    "least.\", \"properties\": {\"grid\": " EXTENTS ", \"block\": " EXTENTS              \
    ", \"shared_bytes\": {\"type\": [\"integer\", \"string\"],"                          \
    " \"description\": \"Dynamic shared memory of a block; an integer or an "            \
    "expression.\"},"                                                                    \
    " \"cluster\": " EXTENTS ", \"cooperative\": {\"type\": \"boolean\","                \
    " \"description\": \"A cooperative launch: grid.sync() works.\"}},"                  \
    " \"additionalProperties\": false}"

#define ARGS                                                                             \
    "{\"type\": \"array\", \"maxItems\": 128, \"description\": \"In the kernel's "       \
    "order: "                                                                            \
    "{name, type, shape, init | output: true | scratch: true} for a buffer (an output "  \
    "may have judge: false, or an expression that is not 0 for the elements to judge), " \
    "{name, type, value} for a scalar, {struct: [{type, value}]}, {pointers: [names]}, " \
    "or the name of a buffer "                                                           \
    "that stands before.\", \"items\": {\"type\": [\"object\", \"string\"]}}"

static const char params_schema[] =
    "{\"type\": \"object\", \"properties\": {"
    "\"source\": {\"type\": \"string\", \"description\": \"CUDA C++ text.\"},"
    "\"path\": {\"type\": \"string\", \"minLength\": 1, \"maxLength\": 4096,"
    " \"description\": \"A .cu file beneath the workspace.\"},"
    "\"name\": {\"type\": \"string\", \"minLength\": 1, \"maxLength\": 255,"
    " \"pattern\": \"^[^/\\\\x00-\\\\x1f]+$\", \"description\": \"What findings call a "
    "source without a path.\","
    " \"default\": \"kernel.cu\"},"
    "\"arch\": {\"type\": \"string\", \"description\": \"Target. sm_90a is the H100 with "
    "wgmma, setmaxnreg and TMA.\", \"default\": \"sm_90a\"},"
    "\"std\": {\"type\": \"string\", \"description\": \"Language standard.\", "
    "\"default\": \"c++17\"},"
    "\"defines\": {\"type\": \"object\", \"description\": \"Macros: name to value.\", "
    "\"additionalProperties\": {\"type\": "
    "[\"string\", \"integer\"]}, \"maxProperties\": 256},"
    "\"include_roots\": {\"type\": \"array\", \"items\": {\"type\": \"string\","
    " \"minLength\": 1, \"maxLength\": 4096}, \"maxItems\": 64,"
    " \"description\": \"Folders for #include, beneath the workspace.\"},"
    "\"headers\": {\"type\": \"object\", \"description\": \"Files that the source may "
    "include: path to text.\", \"additionalProperties\": {\"type\": "
    "\"string\"}, \"maxProperties\": 256},"
    "\"fast_math\": {\"type\": \"boolean\", \"description\": \"Faster and less exact, as "
    "nvcc's -use_fast_math.\", \"default\": false},"
    "\"options\": {\"type\": \"array\", \"items\": {\"type\": \"string\","
    " \"maxLength\": 1024}, \"maxItems\": 64, \"description\": \"More compiler options, "
    "spelled as for nvcc; those that are not allowed are named.\"},"
    "\"kernel\": {\"type\": \"string\", \"minLength\": 1, \"maxLength\": 1024,"
    " \"description\": \"Name or template-id: \\\"k<float, 256>\\\". May be left out "
    "when "
    "there is one kernel.\"},"
    "\"sizes\": {\"type\": [\"object\", \"array\"], \"description\": \"Names to "
    "integers; "
    "a list of such objects makes a case of each. Odd sizes find the most.\"},"
    "\"launch\": " LAUNCH ","
    "\"args\": " ARGS ","
    "\"launches\": {\"type\": \"array\", \"maxItems\": 32, \"description\": \"Instead of "
    "kernel, launch and args: several launches over shared buffers.\", \"items\": "
    "{\"type\": \"object\", \"properties\": {\"kernel\": {\"type\": \"string\"}, "
    "\"launch\": " LAUNCH ", \"args\": " ARGS "}, \"additionalProperties\": false}},"
    "\"buffers\": {\"type\": \"array\", \"maxItems\": 128, \"description\": \"Buffers of "
    "tensor maps, structs and pointer arrays, which no parameter points to by itself: "
    "{name, type, shape, init | output}.\", \"items\": {\"type\": \"object\"}},"
    "\"globals\": {\"type\": \"object\", \"description\": \"__device__ and __constant__ "
    "variables: name to {type, shape, init, output}.\"},"
    "\"expect\": {\"type\": [\"object\", \"null\"], \"description\": \"{kernel: {source, "
    "kernel, launch}} a plain reference kernel with the same arguments; or {expression: "
    "{output: \\\"x[i] * 0.5\\\"}}, with sum(k, from, to, term) for k from `from` to "
    "`to` "
    "- 1; or {values: {output: [numbers]}}; or {op: \\\"softmax\\\", dim: 1}, an "
    "operator "
    "by PyTorch's name. Outputs of which nothing is expected make the verdict "
    "unjudged.\"},"
    "\"tolerance\": {\"type\": \"object\", \"description\": \"An output may differ by "
    "atol + rtol * |expected|; what is left out is 0. Without it both follow the "
    "type.\", "
    "\"properties\": {\"rtol\": {\"type\": \"number\", \"minimum\": 0, \"description\": "
    "\"Relative.\"}, \"atol\": {\"type\": \"number\", \"minimum\": 0, \"description\": "
    "\"Absolute.\"}}, "
    "\"additionalProperties\": false},"
    "\"compare\": {\"enum\": [\"elementwise\", \"exact\", \"multiset\"], "
    "\"description\": \"elementwise within the tolerance, exact bit for bit, multiset in "
    "any order.\"},"
    "\"trials\": {\"type\": \"integer\", \"minimum\": 1, \"maximum\": 16,"
    " \"description\": \"Runs of each case, each with new inputs.\", \"default\": 3},"
    "\"seed\": {\"type\": [\"string\", \"integer\"], \"description\": \"To repeat a run; "
    "secret and fresh otherwise.\"},"
    "\"benchmark\": {\"type\": [\"object\", \"boolean\"], \"properties\": "
    "{\"samples\": {\"type\": \"integer\", \"minimum\": 1, \"maximum\": 10000, "
    "\"default\": 50}, \"cache\": {\"enum\": [\"cold\", \"warm\"], \"default\": "
    "\"cold\"}}, \"additionalProperties\": false, \"description\": \"Time the launches "
    "(GPU only).\"},"
    "\"roofline\": {\"type\": \"object\", \"properties\": {\"flops\": {\"type\": "
    "[\"integer\", \"string\"]}, \"bytes\": {\"type\": [\"integer\", \"string\"]}, "
    "\"type\": {\"type\": \"string\"}}, \"additionalProperties\": false, "
    "\"description\": \"What one case must do at the least; integers or expressions "
    "over the sizes.\"},"
    "\"strict\": {\"type\": \"boolean\", \"default\": false, \"description\": "
    "\"Warnings make it fail.\"},"
    "\"device\": {\"type\": \"string\", \"minLength\": 1, \"maxLength\": 96, "
    "\"description\": \"A GPU's UUID or number.\"},"
    "\"odd_sizes\": {\"type\": \"boolean\", \"default\": true, \"description\": \"Add "
    "cases with odd sizes where all are round; a failure there is a warning.\"},"
    "\"backend\": {\"enum\": [\"auto\", \"cuda\", \"emulator\"],"
    " \"description\": \"Where it runs: cuda a GPU, emulator its PTX on the CPU, auto a "
    "GPU where there is one.\", \"default\": \"auto\"},"
    "\"checks\": {\"type\": \"array\", \"items\": {\"enum\": [\"memory\", "
    "\"initialized\", \"race\", \"barrier\"]}, \"description\": \"What is "
    "looked for. Left out: all, races in one trial of one case.\"},"
    "\"instructions\": {\"type\": \"integer\", \"minimum\": 0, \"description\": \"Budget "
    "of the emulator in instructions of single threads.\"},"
    "\"timeout_s\": {\"type\": \"integer\", \"minimum\": 1, \"maximum\": 3600,"
    " \"description\": \"Seconds that the run may take.\", \"default\": 30},"
    "\"save\": {\"type\": [\"string\", \"object\"], \"properties\": {"
    "\"dir\": {\"type\": \"string\"}, \"what\": {\"type\": \"array\", \"items\": "
    "{\"enum\": [\"outputs\", \"expected\", \"inputs\"]}}, \"cases\": {\"enum\": "
    "[\"first\", \"failed\", \"all\"], \"default\": \"first\"}}, "
    "\"additionalProperties\": false, \"required\": [\"dir\"], \"description\": \"A "
    "folder beneath the workspace for arrays as .npy files: all of \\\"what\\\", of "
    "each case the first trial and the first that failed, or what \\\"cases\\\" says; "
    "256 MiB at most.\"}},"
    "\"anyOf\": [{\"required\": [\"source\"]}, {\"required\": [\"path\"]}],"
    "\"additionalProperties\": false}";

static const char tool_schema[] =
    "{\"type\": \"object\", \"properties\": {"
    "\"source\": {\"type\": \"string\"}, \"path\": {\"type\": \"string\"},"
    "\"kernel\": {\"type\": \"string\", \"description\": \"Name or k<float>.\"},"
    "\"sizes\": {\"type\": \"array\", \"items\": {\"type\": \"object\"}},"
    "\"launch\": {\"type\": \"object\"},"
    "\"args\": {\"type\": \"array\", \"items\": {}},"
    "\"expect\": {\"type\": \"object\"},"
    "\"tolerance\": {\"type\": \"object\"},"
    "\"seed\": {\"type\": \"string\"}},"
    "\"additionalProperties\": true, \"examples\": [{\"source\": \"…\", \"sizes\": [{"
    "\"n\": 1000}], \"launch\": {\"grid\": [\"ceil_div(n, 256)\"], \"block\": [256]},"
    " \"args\": [{\"name\": \"y\", \"type\": \"float32\", \"shape\": [\"n\"], "
    "\"output\": "
    "true}, {\"name\": \"x\", \"type\": \"float32\", \"shape\": [\"n\"], \"init\": {"
    "\"normal\": [0, 1]}}, {\"name\": \"n\", \"type\": \"int32\", \"value\": \"n\"}],"
    " \"expect\": {\"expression\": {\"y\": \"max(x[i], 0)\"}}}]}";

static const char result_schema[] =
    "{\"type\": \"object\", \"properties\": {"
    "\"verdict\": {\"enum\": [\"pass\", \"fail\", \"unjudged\", \"error\", \"timeout\", "
    "\"unsupported\"], \"description\": \"unjudged: it ran, and nothing says what an "
    "output "
    "should hold; error.hint says how to\"},"
    "\"warnings\": {\"type\": \"integer\", \"description\": \"the compiler's and the "
    "run's\"},"
    "\"strict\": {\"type\": \"boolean\", \"description\": \"true: warnings alone made it "
    "fail, as strict asked\"},"
    "\"backend\": {\"type\": \"object\"}, \"check\": {\"type\": [\"object\", \"null\"]},"
    "\"error\": {\"type\": \"object\", \"properties\": {\"stage\": {\"enum\": [\"spec\", "
    "\"compile\", \"reference\", \"launch\", \"run\", \"compare\"]}}},"
    "\"unsupported\": {\"type\": \"array\"}, \"cases\": {\"type\": \"array\"},"
    "\"seed\": {\"type\": \"string\"}, \"generator\": {\"type\": \"integer\", "
    "\"description\": \"a seed means the same inputs as long as this is the same\"}, "
    "\"reference_check\": {\"type\": \"object\"}, "
    "\"findings\": {\"type\": \"array\"},"
    "\"omitted\": {\"type\": \"integer\"}, \"printf\": {\"type\": \"string\"},"
    "\"added_cases\": {\"type\": \"array\", \"description\": \"Odd sizes that were "
    "tried besides: [{sizes, verdict: pass|fail|skipped}].\"},"
    "\"counters\": {\"type\": \"object\"}, \"budget\": {\"type\": \"object\"},"
    "\"timing\": {\"type\": \"object\", \"description\": \"of the largest case: "
    "{median_us, min_us, p90_us, std_us, samples, cache, method, sm_clock_mhz, "
    "mem_clock_mhz, throttled, reference_median_us, speedup, notes}\"},"
    "\"roofline\": {\"type\": \"object\", \"description\": \"{device, bound: "
    "memory|compute, limit_us, percent, method: measured|bound}\"},"
    "\"repeat_check\": {\"type\": \"object\", \"description\": \"one trial launched "
    "again on other inputs: {verdict: pass|fail|skipped, sizes, seed}\"},"
    "\"saved\": {\"type\": \"object\", \"description\": \"{dir, files, bytes, "
    "omitted?, error?}; each of cases[].files is {name, what: output|expected|input, "
    "path, bytes, sha256, dtype, shape, note?}\"},"
    "\"checks\": {\"type\": \"array\", \"description\": \"what was looked for\"},"
    "\"unchecked\": {\"type\": \"array\", \"description\": \"checks that were asked for, "
    "or are made by default, and were not made\"},"
    "\"sanitizer\": {\"type\": \"object\", \"description\": \"compute-sanitizer on a "
    "CUDA "
    "device: {version, confinement, tools: [{tool, check, outcome: "
    "clean|findings|failed|timeout, reason, cases, ms}], remembered?: true (of an "
    "earlier "
    "run of the same kernel and spec)}, or {absent: why not, hint}\"},"
    "\"confinement\": {\"type\": \"array\"},"
    "\"worker\": {\"type\": \"object\", \"description\": \"the worker that ran it\"}},"
    "\"required\": [\"verdict\", \"cases\", "
    "\"findings\"]}";

static const char tool_help[] =
    "Compile a CUDA kernel and RUN it against a reference, on a GPU where there is one, "
    "else its PTX on the CPU. Finds wrong results, out-of-bounds and misaligned "
    "accesses, uninitialised reads, divergent barriers, deadlocks, unwritten outputs, "
    "each with its source line, block and thread. Use it before you call a kernel "
    "right.\n"
    "`args` in the kernel's order: buffer {name, type: float32|float16|bfloat16|int32…, "
    "shape: [\"rows\", \"cols\"], init: {normal: [0, 1]} or output: true}, scalar {name, "
    "type, value: 2 or \"cols\"}. `launch` {grid, block, shared_bytes}. Extents are "
    "numbers or expressions over `sizes` (ceil_div, min, max). Give small and odd "
    "sizes.\n"
    "`expect` {expression: {y: \"x[i] * 0.5\"}}, {values: {y: [1, 2]}}, {op: "
    "\"softmax\", dim: 1} (PyTorch's names) or {kernel: "
    "{source, kernel, launch}}: a plain kernel with the same arguments. Without it the "
    "verdict is unjudged, never pass.\n"
    "Also: launches, globals, compare, trials, checks, strict, timeout_s; save: a folder "
    "for the "
    "arrays as .npy.";

static const char example[] =
    "{\"source\": \"__global__ void relu(float *y, const float *x, int n) {\\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\\n"
    "    if (i < n) y[i] = fmaxf(x[i], 0.f);\\n}\\n\", \"sizes\": [{\"n\": 1000}], "
    "\"launch\": {\"grid\": [\"ceil_div(n, 256)\"], \"block\": [256]}, \"args\": [{"
    "\"name\": \"y\", \"type\": \"float32\", \"shape\": [\"n\"], \"output\": true}, {"
    "\"name\": \"x\", \"type\": \"float32\", \"shape\": [\"n\"], \"init\": {\"normal\": "
    "[0, 1]}}, {\"name\": \"n\", \"type\": \"int32\", \"value\": \"n\"}], \"expect\": {"
    "\"expression\": {\"y\": \"max(x[i], 0)\"}}}";

/* --- the operation --- */

static void operation_done(struct kernel_validate *v, json_t *result,
                           const struct kernel_check_failure *failure, void *data) {
    (void)v;
    autoptr(call_unref) struct call *call = data;
    gpu_call_end(call, result, failure);
}

static void operation_stage(struct kernel_validate *v, double done, double total,
                            const char *words, void *data) {
    (void)v;
    call_report(data, done, total, "%s", words);
}

static void operation_cancelled(struct call *call, void *data) {
    (void)call;
    kernel_validate_cancel(data);
}

static void validate_operation(struct call *call, const json_t *params) {
    const struct call_origin *origin = call_origin(call);
    struct gpu *gpu = gpu_of(origin);
    if (!gpu) {
        call_fail(call, CALL_UNAVAILABLE, "no_gpu_domain", NULL,
                  "this process validates no kernels");
        return;
    }
    struct kernel_validate *v = kernel_validate_start(
        gpu, params, origin, operation_stage, operation_done, call_ref(call));
    call_on_cancel(call, operation_cancelled, v);
}

const struct operation validate_operations[] = {
    {
        .name = "kernel/validate",
        .tool = "kernel_validate",
        .title = "Run a CUDA kernel against a reference",
        .summary =
            "Compile a CUDA kernel, run it on a GPU or else on the CPU, compare it with "
            "a reference: results, memory, race and barrier findings, counters.",
        .tool_help = tool_help,
        .params_schema = params_schema,
        .tool_schema = tool_schema,
        .result_schema = result_schema,
        .example = example,
        .start = validate_operation,
        .describe = validate_result_describe,
    },
};
const size_t validate_operation_count = ARRAY_LEN(validate_operations);
