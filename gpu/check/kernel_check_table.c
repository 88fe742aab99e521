#include "base/buf.h"
#include "base/mem.h"
#include "gpu/check/check_result.h"
#include "gpu/check/kernel_check.h"

#define EXTENT(words)                                                                    \
    "{\"description\": \"" words                                                         \
    "\", \"anyOf\": [{\"type\": \"integer\", \"minimum\": 1, \"maximum\": 2147483647},"  \
    " {\"type\": \"array\", \"items\": {\"type\": \"integer\", \"minimum\": 1,"          \
    " \"maximum\": 2147483647}, \"minItems\": 1, \"maxItems\": 3}]}"

#define LAUNCH                                                                           \
    "{\"type\": \"object\", \"description\": \"The launch to compute occupancy for; "    \
    "without it the usual block sizes are shown.\", \"properties\": {"                   \
    "\"block\": " EXTENT("Threads per block: x, or [x, y, z]") ","                       \
                                                               "\"dynamic_shared_"       \
                                                               "bytes\": {\"type\": "    \
                                                               "\"integer\", "           \
                                                               "\"minimum\": 0,"         \
                                                               " \"maximum\": "          \
                                                               "1073741824},"            \
                                                               "\"cluster\": " EXTENT(   \
                                                                   "Blocks per "         \
                                                                   "cluster: x, or [x, " \
                                                                   "y, z]") "}, "        \
                                                                            "\"required" \
                                                                            "\": "       \
                                                                            "[\"block\"" \
                                                                            "], "        \
                                                                            "\"addition" \
                                                                            "alProperti" \
                                                                            "es\": "     \
                                                                            "false}"

#define PARAMS_COMMON                                                                    \
    "\"source\": {\"type\": \"string\", \"description\": \"CUDA C++ text. With path "    \
    "too: "                                                                              \
    "the text that stands (or will stand) at that path.\"},"                             \
    "\"path\": {\"type\": \"string\", \"minLength\": 1, \"maxLength\": 4096,"            \
    " \"description\": \"A .cu file beneath the workspace; absolute, or relative to "    \
    "its "                                                                               \
    "first folder.\"},"                                                                  \
    "\"arch\": {\"type\": \"string\", \"description\": \"Target. sm_90a is the H100 "    \
    "with "                                                                              \
    "wgmma, setmaxnreg and TMA.\", \"default\": \"sm_90a\"},"                            \
    "\"defines\": {\"type\": \"object\", \"description\": \"Macros: name to value.\","   \
    " \"additionalProperties\": {\"anyOf\": [{\"type\": \"string\"}, "                   \
    "{\"type\": \"integer\"}]}, "                                                        \
    "\"maxProperties\": 256}"

static const char params_schema[] =
    "{\"type\": \"object\", \"properties\": {" PARAMS_COMMON ","
    "\"name\": {\"type\": \"string\", \"minLength\": 1, \"maxLength\": 255,"
    " \"pattern\": \"^[^/\\\\x00-\\\\x1f]+$\", \"description\": \"What findings call a "
    "source without a path.\", \"default\": \"kernel.cu\"},"
    "\"std\": {\"type\": \"string\", \"description\": \"Language standard.\","
    " \"default\": \"c++17\"},"
    "\"include_roots\": {\"type\": \"array\", \"items\": {\"type\": \"string\","
    " \"minLength\": 1, \"maxLength\": 4096}, \"maxItems\": 64, \"description\": "
    "\"Folders "
    "for #include, beneath the workspace.\"},"
    "\"headers\": {\"type\": \"object\", \"description\": \"Files that the source may "
    "include: path to text.\", \"additionalProperties\": {\"type\": \"string\"},"
    " \"maxProperties\": 256},"
    "\"fast_math\": {\"type\": \"boolean\", \"description\": \"Faster and less exact, as "
    "nvcc's -use_fast_math.\", \"default\": false},"
    "\"line_info\": {\"type\": \"boolean\", \"description\": \"Compile with -lineinfo: "
    "the code knows its source lines.\", \"default\": false},"
    "\"quick\": {\"type\": \"boolean\", \"description\": \"Diagnostics only, cheapest "
    "optimisation.\", \"default\": false},"
    "\"options\": {\"type\": \"array\", \"items\": {\"type\": \"string\","
    " \"maxLength\": 1024}, \"maxItems\": 64, \"description\": \"More compiler options, "
    "spelled as for nvcc; those that are not allowed are named.\"},"
    "\"strict\": {\"type\": \"boolean\", \"description\": \"Warnings make it fail.\","
    " \"default\": false},"
    "\"launch\": " LAUNCH "},"
    "\"anyOf\": [{\"required\": [\"source\"]}, {\"required\": [\"path\"]}],"
    "\"additionalProperties\": false}";

static const char tool_schema[] =
    "{\"type\": \"object\", \"properties\": {" PARAMS_COMMON ","
    "\"headers\": {\"type\": \"object\", \"description\": \"Files the source may "
    "include: "
    "path to text.\", \"additionalProperties\": {\"type\": \"string\"}},"
    "\"options\": {\"type\": \"array\", \"items\": {\"type\": \"string\"}, "
    "\"description\": "
    "\"nvcc options, such as -use_fast_math or -maxrregcount=64.\"},"
    "\"launch\": {\"type\": \"object\", \"description\": \"For exact occupancy: "
    "{\\\"block\\\": 256, \\\"dynamic_shared_bytes\\\": 0}\"}},"
    "\"additionalProperties\": false, \"examples\": [{\"source\": \"__global__ void "
    "k(float "
    "*x) { x[threadIdx.x] *= 2.f; }\", \"launch\": {\"block\": 256}}]}";

static const char result_schema[] =
    "{\"type\": \"object\", \"properties\": {"
    "\"ok\": {\"type\": \"boolean\", \"description\": \"No error, and what device code "
    "there is was compiled. Host code is not looked at.\"},"
    "\"summary\": {\"type\": \"string\", \"description\": \"The verdict in words.\"},"
    "\"arch\": {\"type\": \"string\"},"
    "\"mode\": {\"enum\": [\"device\", \"host-stripped\"], \"description\": "
    "\"host-stripped: "
    "host code and host headers were blanked.\"},"
    "\"host_code\": {\"type\": \"string\", \"enum\": [\"not_checked\"], \"description\": "
    "\"Host code was left "
    "out: nothing here is said of it.\"},"
    "\"compiler\": {\"type\": [\"object\", \"null\"], \"properties\": {"
    "\"name\": {\"type\": \"string\"}, \"version\": {\"type\": \"string\"}}},"
    "\"cached\": {\"type\": \"boolean\"}, \"compile_ms\": {\"type\": \"number\"},"
    "\"diagnostics\": {\"type\": \"array\", \"items\": {\"type\": \"object\"}},"
    "\"omitted\": {\"type\": \"integer\", \"description\": \"Diagnostics left out.\"},"
    "\"strict\": {\"type\": \"boolean\", \"description\": \"true: it compiled, and its "
    "warnings alone made ok false, as strict asked.\"},"
    "\"confinement\": {\"type\": \"array\", \"items\": {\"type\": \"string\"}},"
    "\"worker\": {\"type\": \"object\", \"description\": \"the worker that did it: its "
    "name in the configuration and its host\"},"
    "\"precompiled\": {\"enum\": [\"used\", \"made\", \"none\"], \"description\": "
    "\"Whether "
    "the leading includes came precompiled.\"},"
    "\"outcome\": {\"enum\": [\"crashed\", \"timeout\", \"memory\", \"failed\", "
    "\"nothing_compiled\", \"no_kernels\"], \"description\": \"Only when no kernel was "
    "judged. The first four: the compiler came to no verdict. nothing_compiled: there is "
    "device code and none was compiled; ok is false. no_kernels: there is no device "
    "code; "
    "ok is true.\"},"
    "\"functions\": {\"type\": \"integer\", \"description\": \"Compiled device functions "
    "of relocatable code (-rdc=true).\"},"
    "\"kernels\": {\"type\": \"array\", \"items\": {\"type\": \"object\", "
    "\"properties\": {"
    "\"name\": {\"type\": \"string\"}, \"symbol\": {\"type\": \"string\"},"
    "\"file\": {\"type\": \"string\"}, \"line\": {\"type\": \"integer\"},"
    "\"registers\": {\"type\": \"integer\"},"
    "\"spill_store_bytes\": {\"type\": \"integer\"},"
    "\"spill_load_bytes\": {\"type\": \"integer\"},"
    "\"stack_bytes\": {\"type\": \"integer\"},"
    "\"static_shared_bytes\": {\"type\": \"integer\"},"
    "\"barriers\": {\"type\": \"integer\"}, \"param_bytes\": {\"type\": \"integer\"},"
    "\"max_threads\": {\"type\": \"integer\"}, \"code_bytes\": {\"type\": \"integer\"},"
    "\"occupancy\": {\"type\": \"array\", \"items\": {\"type\": \"object\", "
    "\"properties\": {"
    "\"block_threads\": {\"type\": \"integer\"},"
    "\"dynamic_shared_bytes\": {\"type\": \"integer\"},"
    "\"blocks_per_sm\": {\"type\": \"integer\"}, \"percent\": {\"type\": \"number\"},"
    "\"limited_by\": {\"type\": \"array\", \"items\": {\"type\": \"string\"}}}}}}}}},"
    "\"required\": [\"ok\", \"arch\", \"mode\", \"cached\", \"diagnostics\", \"omitted\","
    " \"kernels\"]}";

static const char tool_help[] =
    "Compile a CUDA kernel for the H100 (or another GPU) with NVIDIA's compiler, without "
    "a "
    "GPU, in some 60 ms. Use it after every edit of a .cu file and before proposing a "
    "kernel.\n"
    "Give `source` (the text) or `path` (a .cu file in the workspace).\n"
    "Answers with errors and warnings by line and column, each with fixes (edits that "
    "can be "
    "applied as they are) where one is known; and for each kernel registers, spills, "
    "stack, "
    "shared memory, barriers, and occupancy by block size with what limits it.\n"
    "Host code in the file (main, launches with <<<>>>, host headers) is left out, not "
    "checked: ok speaks of device code alone, and is false when none was compiled. Local "
    "#include \"...\" files are found by themselves. Templates are "
    "compiled "
    "only where they are instantiated: add an explicit instantiation.\n"
    "sm_90a is the default; sm_90 lacks wgmma and setmaxnreg. Use dynamic shared memory "
    "over "
    "48 KB per block.";

static const char example[] =
    "{\"source\": \"__global__ void axpy(int n, float a, const float *x, float *y) {\\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\\n"
    "    if (i < n) y[i] += a * x[i];\\n}\\n\", \"launch\": {\"block\": 256}}";

/* --- the operation --- */

static struct gpu *(*locate_gpu)(void *host);

void gpu_set_locator(struct gpu *(*locate)(void *host)) {
    locate_gpu = locate;
}

struct gpu *gpu_of(const struct call_origin *origin) {
    return locate_gpu && origin ? locate_gpu(origin->host) : NULL;
}

void gpu_call_end(struct call *call, json_t *result,
                  const struct kernel_check_failure *failure) {
    if (result) {
        call_reply(call, result);
    } else if (failure) {
        call_fail(call, failure->fault, failure->reason, failure->hint, "%s",
                  failure->message);
    } else {
        call_stopped(call);
    }
}

static void operation_done(struct kernel_check *check, json_t *result,
                           const struct kernel_check_failure *failure, void *data) {
    (void)check;
    autoptr(call_unref) struct call *call = data;
    gpu_call_end(call, result, failure);
}

static void operation_cancelled(struct call *call, void *data) {
    (void)call;
    kernel_check_cancel(data);
}

static void kernel_check_operation(struct call *call, const json_t *params) {
    const struct call_origin *origin = call_origin(call);
    struct gpu *gpu = gpu_of(origin);
    if (!gpu) {
        call_fail(call, CALL_UNAVAILABLE, "no_gpu_domain", NULL,
                  "this process checks no kernels");
        return;
    }
    struct kernel_check *check =
        kernel_check_start(gpu, params, origin, operation_done, call_ref(call));
    call_on_cancel(call, operation_cancelled, check);
}

const struct operation gpu_operations[] = {
    {
        .name = "kernel/check",
        .tool = "kernel_check",
        .title = "Check a CUDA kernel",
        .summary =
            "Compile a CUDA kernel for the H100: diagnostics with fixes, registers, "
            "spills, shared memory, occupancy.",
        .tool_help = tool_help,
        .params_schema = params_schema,
        .tool_schema = tool_schema,
        .result_schema = result_schema,
        .example = example,
        .flags = OPERATION_READ_ONLY | OPERATION_IDEMPOTENT,
        .start = kernel_check_operation,
        .describe = check_result_describe,
    },
};
const size_t gpu_operation_count = ARRAY_LEN(gpu_operations);
