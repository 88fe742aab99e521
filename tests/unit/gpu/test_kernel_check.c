#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "check_answers.h"
#include "check_room.h"
#include "gpu/check/check_verdict.h"
#include "gpu/compile/toolkit.h"
#include "protocol/schema/schema.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* --- without a compiler --- */

/* The table is sound: schemas compile, the example passes its own, help is short enough.
 */
Test(kernel_check, table) {
    struct err err = {0};
    struct operation_table *table = operation_table_new();
    int r = operation_table_add(table, gpu_operations, gpu_operation_count, &err);
    cr_assert_eq(r, 0, "%s", err.msg);
    const struct operation *op = operation_find(table, "kernel/check");
    cr_assert_eq(op, operation_find_tool(table, "kernel_check"));
    autofree char *text = xstrdup(op->example);
    autojson *example = json_parse(text, strlen(text), &err);
    cr_assert_eq(schema_check(operation_params(table, op), example, NULL, &err), 0, "%s",
                 err.msg);
    cr_assert_lt(strlen(op->tool_help), 1536);
    const char *const texts[] = {op->tool_schema, op->result_schema};
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct schema *schema;
        cr_assert_eq(schema_new(texts[i], &schema, &err), 0, "%s", err.msg);
        if (i == 0) {
            cr_assert_eq(schema_check(schema, example, NULL, &err), 0, "%s", err.msg);
            char *compact = json_dumps(schema_json(schema), JSON_COMPACT);
            cr_assert_lt(strlen(compact), 1800);
            free(compact);
        }
        schema_free(schema);
    }
    static const char *const wrong[] = {
        "{}",
        "{\"sourc\": \"x\"}",
        "{\"source\": 1}",
        "{\"source\": \"\", \"launch\": {}}",
        "{\"source\": \"\", \"launch\": {\"block\": 0}}",
        "{\"source\": \"\", \"name\": \"../x\"}",
    };
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        json_t *params = json_loads(wrong[i], 0, NULL);
        cr_assert_lt(schema_check(operation_params(table, op), params, NULL, NULL), 0,
                     "%s", wrong[i]);
        json_decref(params);
    }
    operation_table_free(table);
}

static void expect_failure(struct check_room *room, json_t *params, enum call_fault fault,
                           const char *reason) {
    autojson *got = check_room_check(room, params);
    cr_assert_eq(json_get_integer(got, "fault", -1), (int)fault, "%s: %s", reason,
                 json_get_string(got, "message", "a result"));
    cr_assert_str_eq(json_get_string(got, "reason", ""), reason);
}

/* What cannot be asked is refused with a reason, before any worker starts. */
Test(kernel_check, refuses) {
    struct check_room room;
    check_room_open(&room, "/nonexistent/worker");
    check_room_write(&room, "k.cu", AXPY);
    expect_failure(&room, json_pack("{s:s}", "path", "/etc/passwd"), CALL_REFUSED,
                   "outside_roots");
    expect_failure(&room, json_pack("{s:s}", "path", "../../etc/passwd"), CALL_REFUSED,
                   "outside_roots");
    expect_failure(&room, json_pack("{s:s}", "path", "absent.cu"), CALL_NOT_FOUND,
                   "no_file");
    expect_failure(&room, json_pack("{s:s, s:s}", "source", AXPY, "arch", "sm_1"),
                   CALL_BAD_PARAMS, "bad_option");
    expect_failure(
        &room, json_pack("{s:s, s:[s]}", "source", AXPY, "options", "-include=/etc/x"),
        CALL_BAD_PARAMS, "bad_option");
    expect_failure(&room,
                   json_pack("{s:s, s:[s]}", "source", AXPY, "include_roots", "/etc"),
                   CALL_REFUSED, "outside_roots");
    expect_failure(&room, json_pack("{s:s}", "path", "k.cu"), CALL_UNAVAILABLE,
                   "no_worker");
    check_room_close(&room);
}

/* A machine without a compiler says how to get one; nothing else is harmed. */
Test(kernel_check, says_how_to_get_a_compiler) {
    static const char *const names[] = {"UPSKILLD_CUDA", "CUDA_HOME", "CUDA_PATH",
                                        "LD_LIBRARY_PATH"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        unsetenv(names[i]);
    }
    setenv("HOME", "/nonexistent", 1);
    setenv("XDG_DATA_HOME", "/nonexistent", 1);
    if (check_room_has_compiler()) {
        cr_skip_test("this machine has a compiler for all");
    }
    struct check_room room;
    check_room_open(&room, NULL);
    autojson *got = check_room_check(&room, json_pack("{s:s}", "source", AXPY));
    cr_assert_str_eq(json_get_string(got, "reason", ""), "no_compiler");
    cr_assert_str_eq(json_get_string(got, "hint", ""), TOOLKIT_HINT);
    cr_assert_eq(json_get_integer(got, "fault", -1), CALL_UNAVAILABLE);
    autojson *status = gpu_status(room.gpu);
    cr_assert_eq(json_array_size(json_object_get(status, "missing")), 1);
    check_room_close(&room);
}

/* The report says the verdict first, quotes no more than it may, and counts the rest. */
Test(kernel_check, report) {
    json_t *many = json_array();
    for (int i = 0; i < 100; i++) {
        json_array_append_new(many,
                              json_pack("{s:s, s:s, s:s, s:s, s:s, s:i, s:i}", "source",
                                        "nvrtc", "code", "20", "severity", "error",
                                        "message", "identifier is undefined", "file",
                                        "k.cu", "line", i + 1, "column", 5));
    }
    autojson *result = json_pack(
        "{s:b, s:s, s:s, s:{s:s, s:s}, s:b, s:f, s:o, s:i, s:[]}", "ok", 0, "arch",
        "sm_90a", "mode", "device", "compiler", "name", "nvrtc", "version", "13.0.88",
        "cached", 0, "compile_ms", 61.4, "diagnostics", many, "omitted", 7, "kernels");
    check_verdict_set(result, false, false);
    autofree char *text = report_of(result);
    static const char first[] =
        "not ok: 100 errors, 7 more not shown (sm_90a, nvrtc 13.0.88, 61 ms)\n";
    cr_assert_eq(strncmp(text, first, strlen(first)), 0, "%s", text);
    cr_assert_not_null(
        strstr(text, "k.cu:1:5: error: identifier is undefined [nvrtc 20]\n"));
    cr_assert_not_null(strstr(text, "… and 67 more diagnostics\n"), "%s", text);
    cr_assert_lt(strlen(text), 36000);
}

/* A good kernel gives exactly the shape that was promised. */
Test(kernel_check, good_kernel, .timeout = 60) {
    NEED_COMPILER();
    struct check_room room;
    check_room_open(&room, NULL);
    autojson *result = check_room_check(&room, json_pack("{s:s}", "source", AXPY));
    autofree char *report = report_of(result);
    cr_assert(is_ok(result), "%s", report);
    static const char *const keys[] = {
        "ok",      "summary",     "arch",        "mode",       "compiler",
        "cached",  "omitted",     "diagnostics", "compile_ms", "confinement",
        "kernels", "precompiled", "worker"};
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        cr_assert_not_null(json_object_get(result, keys[i]), "%s", keys[i]);
    }
    cr_assert_eq(json_object_size(result), ARRAY_LEN(keys));
    cr_assert_str_eq(json_get_string(result, "arch", ""), "sm_90a");
    cr_assert_str_eq(json_get_string(result, "mode", ""), "device");
    const json_t *kernel = json_array_get(json_object_get(result, "kernels"), 0);
    cr_assert_str_eq(json_get_string(kernel, "name", ""), "axpy");
    cr_assert_eq(json_get_integer(kernel, "line", 0), 1);
    cr_assert_eq(json_get_integer(kernel, "param_bytes", 0), 24);
    cr_assert_gt(json_get_integer(kernel, "registers", 0), 4);
    cr_assert_gt(json_array_size(json_object_get(kernel, "occupancy")), 1);
    cr_assert_eq(strncmp(report, "ok: 1 kernel (sm_90a, nvrtc ", 28), 0, "%s", report);

    /* The same again comes from the cache, with the occupancy that was asked for. */
    autojson *again = check_room_check(
        &room, json_pack("{s:s, s:{s:i}}", "source", AXPY, "launch", "block", 96));
    cr_assert(json_is_true(json_object_get(again, "cached")));
    cr_assert(json_is_false(json_object_get(result, "cached")));
    const json_t *occupancy = json_object_get(
        json_array_get(json_object_get(again, "kernels"), 0), "occupancy");
    cr_assert_eq(json_array_size(occupancy), 1);
    cr_assert_eq(json_get_integer(json_array_get(occupancy, 0), "block_threads", 0), 96);
    check_room_close(&room);
}

/* Errors are answers, with their place; the file's name is the client's. */
Test(kernel_check, broken_kernel, .timeout = 60) {
    NEED_COMPILER();
    struct check_room room;
    check_room_open(&room, NULL);
    autojson *result = check_room_check(
        &room,
        json_pack("{s:s, s:s}", "source",
                  "__global__ void k(float *x) {\n  y[0] = 1;\n}\n", "name", "mine.cu"));
    cr_assert(!is_ok(result));
    const json_t *finding = diagnostic(result, 0);
    cr_assert_str_eq(json_get_string(finding, "file", ""), "mine.cu");
    cr_assert_str_eq(json_get_string(finding, "severity", ""), "error");
    cr_assert_eq(json_get_integer(finding, "line", 0), 2);
    cr_assert_eq(json_get_integer(finding, "column", 0), 3);
    cr_assert_null(json_object_get(result, "outcome"));
    check_room_close(&room);
}

/* A whole .cu file is checked by its device part, and lines stay true. */
Test(kernel_check, host_code, .timeout = 60) {
    NEED_COMPILER();
    struct check_room room;
    check_room_open(&room, NULL);
    check_room_write(&room, "src/full.cu",
                     "#include <cstdio>\n#include <vector>\n#include \"half.cuh\"\n" AXPY
                     "int main() {\n  std::vector<float> v(9);\n"
                     "  axpy<<<1, 9>>>(9, 1.f, v.data(), v.data());\n"
                     "  printf(\"%d\\n\", HALF);\n  return 0;\n}\n");
    check_room_write(&room, "src/half.cuh", "#pragma once\n#define HALF 2\n");
    autojson *result = check_room_check(&room, json_pack("{s:s}", "path", "src/full.cu"));
    autofree char *report = report_of(result);
    cr_assert(is_ok(result), "%s", report);
    cr_assert_str_eq(json_get_string(result, "mode", ""), "host-stripped");
    const json_t *kernel = json_array_get(json_object_get(result, "kernels"), 0);
    cr_assert_eq(json_get_integer(kernel, "line", 0), 4);
    cr_assert_str_eq(json_get_string(kernel, "file", ""), "src/full.cu");
    check_room_close(&room);
}

/* Include folders are found by nvcc's spelling too, and a toolkit's are not needed. */
Test(kernel_check, include_folders, .timeout = 60) {
    NEED_COMPILER();
    struct check_room room;
    check_room_open(&room, NULL);
    check_room_write(&room, "lib/include/one.cuh", "#define ONE 1\n");
    check_room_write(&room, "cuda/include/cuda_runtime.h", "#error not this one\n");
    autofree char *cuda = path_join(room.dir, "cuda/include");
    static const char *const spellings[][2] = {{"-Ilib/include", NULL},
                                               {"-I", "lib/include"},
                                               {"-isystem=lib/include", NULL},
                                               {NULL, NULL}};
    for (size_t i = 0; i < ARRAY_LEN(spellings); i++) {
        json_t *params = json_pack("{s:s, s:[]}", "source",
                                   "#include <cuda_runtime.h>\n#include <one.cuh>\n"
                                   "__global__ void k(float *x) { x[0] = ONE; }\n",
                                   "options");
        json_t *options = json_object_get(params, "options");
        json_array_append_new(options, json_string("-I"));
        json_array_append_new(options, json_string(cuda));
        for (size_t k = 0; k < 2 && spellings[i][k]; k++) {
            json_array_append_new(options, json_string(spellings[i][k]));
        }
        autojson *result = check_room_check(&room, params);
        autofree char *report = report_of(result);
        cr_assert_eq(is_ok(result), spellings[i][0] != NULL, "%s", report);
    }
    expect_failure(&room, json_pack("{s:s, s:[s]}", "source", AXPY, "options", "-I/etc"),
                   CALL_REFUSED, "outside_roots");
    check_room_close(&room);
}

/* No text of a foreign file comes back, whatever the source includes. */
Test(kernel_check, foreign_files, .timeout = 60) {
    NEED_COMPILER();
    static const char *const targets[] = {"\"/etc/passwd\"", "</etc/passwd>",
                                          "\"../../../../../../etc/passwd\"",
                                          "\"link.h\""};
    struct check_room room;
    check_room_open(&room, NULL);
    autofree char *link = path_join(room.dir, "link.h");
    cr_assert_eq(symlink("/etc/passwd", link), 0);
    for (size_t i = 0; i < ARRAY_LEN(targets); i++) {
        autofree char *source = xasprintf("#include %s\n" AXPY, targets[i]);
        autojson *result = check_room_check(&room, json_pack("{s:s}", "source", source));
        char *text = json_dumps(result, 0);
        cr_assert(!is_ok(result), "%s", text);
        cr_assert_null(strstr(text, "root:"), "%s", text);
        cr_assert_eq(json_get_integer(diagnostic(result, 0), "line", 0), 1, "%s", text);
        cr_assert_eq(json_array_size(json_object_get(result, "diagnostics")), 1, "%s",
                     text);
        free(text);
    }
    check_room_close(&room);
}

/* The advice that saves days. */
Test(kernel_check, advice, .timeout = 60) {
    NEED_COMPILER();
    struct check_room room;
    check_room_open(&room, NULL);
    autojson *template =
        check_room_check(&room, json_pack("{s:s}", "source",
                                          "template <class T> __global__ void t(T *x) {\n"
                                          "  x[0] = T(1);\n}\n"));
    const json_t *finding = find_code(template, "not_compiled");
    cr_assert(!is_ok(template));
    cr_assert_not_null(
        strstr(json_get_string(finding, "message", ""), "template __global__"));
    cr_assert_eq(json_get_integer(finding, "line", 0), 1);
    cr_assert_eq(json_get_integer(finding, "column", 0), 36);

    autojson *some = check_room_check(
        &room, json_pack("{s:s}", "source",
                         "__global__ void one(int *x) { *x = 1; }\n"
                         "template <class T> __global__ void used(T *x) { *x = 1; }\n"
                         "template __global__ void used<int>(int *);\n"
                         "enum Mode { A, B };\n"
                         "template <Mode M> __global__ void left(int *x) { *x = M; }\n"
                         "template <int N> __global__ void too(int *x) { *x = N; }\n"));
    finding = find_code(some, "not_compiled");
    cr_assert_eq(json_array_size(json_object_get(some, "kernels")), 2);
    cr_assert_eq(json_get_integer(finding, "line", 0), 5);
    cr_assert_not_null(strstr(json_get_string(finding, "message", ""), "left<Mode(0)>"));
    cr_assert_not_null(strstr(json_get_string(finding, "message", ""), "1 more: too"));

    autojson *wgmma = check_room_check(
        &room, json_pack("{s:s, s:s}", "source",
                         "__global__ void w() {\n"
                         "  asm volatile(\"wgmma.fence.sync.aligned;\");\n}\n",
                         "arch", "sm_90"));
    cr_assert(!is_ok(wgmma));
    finding = diagnostic(wgmma, 0);
    cr_assert_not_null(
        strstr(json_get_string(finding, "message", ""), "arch \"sm_90a\""));
    cr_assert_eq(json_get_integer(finding, "line", 0), 2);

    autojson *shared = check_room_check(
        &room,
        json_pack("{s:s}", "source",
                  "__global__ void s(float *x) {\n  __shared__ float a[75000];\n"
                  "  for (int i = threadIdx.x; i < 75000; i += 32) a[i] = x[i];\n"
                  "  __syncthreads();\n  x[threadIdx.x] = a[74999 - threadIdx.x];\n}\n"));
    autojson *half = check_room_check(
        &room,
        json_pack("{s:s}", "source",
                  "__global__ void s(float *x) {\n  __shared__ float a[20000];\n"
                  "  for (int i = threadIdx.x; i < 20000; i += 32) a[i] = x[i];\n"
                  "  __syncthreads();\n  x[threadIdx.x] = a[19999 - threadIdx.x];\n}\n"));
    cr_assert(is_ok(half));
    finding = find_code(half, "static_shared_too_large");
    cr_assert_eq(json_get_integer(finding, "line", 0), 1);
    cr_assert_eq(json_array_size(json_object_get(finding, "fixes")), 1);

    autofree char *report = report_of(shared);
    cr_assert(!is_ok(shared), "%s", report);
    cr_assert_not_null(strstr(report, "300000"), "%s", report);
    check_room_close(&room);
}

/* The same under the names of PyTorch's stable interface, with what its numbers' headers
 * add to CUDA's own functions. */
Test(kernel_check, pytorch_s_stable_interface, .timeout = 60) {
    NEED_COMPILER();
    struct check_room room;
    check_room_open(&room, NULL);
    static const char source[] =
        "#include <torch/csrc/stable/tensor.h>\n"
        "#include <torch/headeronly/core/TensorAccessor.h>\n"
        "template <typename T> using Acc = torch::headeronly::\n"
        "    HeaderOnlyGenericPackedTensorAccessor<T, 2, "
        "torch::headeronly::RestrictPtrTraits, int32_t>;\n"
        "static_assert(sizeof(Acc<float>) == 8 + 4 * 4);\n"
        "static_assert(at::numeric_limits<float>::lowest() < 0);\n"
        "static_assert(sizeof(torch::headeronly::Float8_e4m3fnuz) == 1);\n"
        "template <typename T> __global__ void k(Acc<T> a, c10::complex<double> *z,\n"
        "                                        int64_t *n, const c10::Half *h) {\n"
        "  a[0][1] = T(float(__ldg(h)) + a.size(1));\n"
        "  gpuAtomicAdd(z, z[1]);\n  atomicAdd(z, z[1]);\n  atomicAdd(n, n[1]);\n"
        "}\n"
        "void run(torch::stable::Tensor t) {\n"
        "  if (t.scalar_type() == torch::headeronly::ScalarType::Half)\n"
        "    k<torch::headeronly::Half><<<1, 1>>>(packed(t), 0, 0, 0);\n"
        "  else k<torch::headeronly::BFloat16><<<1, 1>>>(packed(t), 0, 0, 0);\n"
        "}\n";
    autojson *result = check_room_check(&room, json_pack("{s:s}", "source", source));
    autofree char *report = report_of(result);
    cr_assert(is_ok(result), "%s", report);
    cr_assert_eq(json_array_size(json_object_get(result, "kernels")), 2, "%s", report);
    check_room_close(&room);
}

/* What kernels use of PyTorch's headers beside numbers: layouts as its own headers have
 * them, arithmetic as anyone's. */
Test(kernel_check, pytorch_s_device_types, .timeout = 60) {
    NEED_COMPILER();
    struct check_room room;
    check_room_open(&room, NULL);
    static const char source[] =
        "#include <THC/THCAtomics.cuh>\n"
        "#include <torch/extension.h>\n"
        "using complex_t = c10::complex<float>;\n"
        "static_assert(sizeof(complex_t) == 8 && alignof(complex_t) == 8);\n"
        "static_assert(complex_t(1, 2) * complex_t(3, 4) == complex_t(-5, 10));\n"
        "static_assert(complex_t(-5, 10) / complex_t(3, 4) == complex_t(1, 2));\n"
        "static_assert(2 * complex_t(1, 2) - 1 == complex_t(1, 4));\n"
        "using Info = at::cuda::detail::TensorInfo<int64_t, int>;\n"
        "static_assert(sizeof(Info) == 8 + 2 * 25 * 4 + 8);\n"
        "struct Params { float *x; at::PhiloxCudaState philox; at::ScalarType type; };\n"
        "static_assert(int(at::ScalarType::BFloat16) == 15 &&\n"
        "              int(torch::headeronly::ScalarType::Float8_e4m3fn) == 24);\n"
        "namespace nn = torch::nn;\n"
        "struct Id { static constexpr int of(int n) { TORCH_CHECK(n > 0, \"n\"); "
        "return n; } };\n"
        "template <typename scalar_t> __global__ void k(scalar_t *x, Info info, Params "
        "p) "
        "{\n"
        "  int i = at::cuda::detail::IndexToOffset<int64_t, int, -1>::get(Id::of(3), "
        "info);\n"
        "  auto seed = at::cuda::philox::unpack(p.philox);\n"
        "  complex_t z = std::conj(complex_t(p.x[0], p.x[1]));\n"
        "  gpuAtomicAdd(x + i, scalar_t(std::get<0>(seed) + z.imag_));\n"
        "}\n"
        "void run(at::Tensor t, Info info, Params p) {\n"
        "  AT_DISPATCH_FLOATING_TYPES(t.scalar_type(), \"k\", [&] {\n"
        "    k<scalar_t><<<1, 1>>>(t.data_ptr<scalar_t>(), info, p); });\n"
        "}\n"
        "STABLE_TORCH_LIBRARY_IMPL(own, CUDA, m) { m.impl(\"run\", TORCH_BOX(run)); }\n";
    autojson *result = check_room_check(&room, json_pack("{s:s}", "source", source));
    autofree char *report = report_of(result);
    cr_assert(is_ok(result), "%s", report);
    cr_assert_eq(json_array_size(json_object_get(result, "kernels")), 1, "%s", report);
    check_room_close(&room);
}

/* What nvcc takes with g++ beside it, and NVRTC alone does not; each without its cure is
 * an error. The last of each pair is what nvcc refuses as well. */
Test(kernel_check, what_only_g__s_side_of_nvcc_takes, .timeout = 60) {
    NEED_COMPILER();
    struct check_room room;
    check_room_open(&room, NULL);
    static const struct {
        const char *source;
        bool ok;
    } cases[] = {
        {"__global__ void k(int *p) { __const__ int n = 1; __signed__ int s = n;\n"
         "  __asm__ __volatile__(\"\" ::: \"memory\"); __asm(\"\");\n"
         "  *(__volatile int *)p = s; }\n",
         true},
        {"__global__ void k(int *p) { __asm___(\"\"); *p = 1; }\n", false},
        {"#include <cublas_v2.h>\n#include <nccl.h>\n#include <cusparse.h>\n"
         "cublasHandle_t handle;\n"
         "__global__ void k(__nv_bfloat16 *p, half *h, cuComplex *c) {\n"
         "  p[0] = __float2bfloat16(__half2float(h[0]) + cuCrealf(c[0])); }\n",
         true},
        {"#include <cufft.h>\nstruct Wave { cufftComplex *x; cufftReal scale; };\n"
         "#ifndef __linux__\n#error no system\n#endif\nstruct Process { pid_t id; };\n"
         "__global__ void k(Wave w) { w.x[0].x *= w.scale; }\n",
         true},
        {"#include <cudnn.h>\n__global__ void k(__nv_bfloat16 *p) { p[0] = p[1]; }\n",
         false},
        {"template <int A> struct S { int n;\n"
         "  template <int B = A> __device__ __host__ static constexpr\n"
         "  std::enable_if_t<(B > 0), int> get() { return B; }\n"
         "  template <int B = A> __device__ __host__\n"
         "  std::enable_if_t<(B == -1), int> get() const { return n; } };\n"
         "__global__ void k(int *p, const S<3> a, const S<-1> b) {\n"
         "  *p = a.get() + b.get() + S<3>::get(); }\n",
         true},
        {"template <typename C> __host__ consteval int blocks() { return C::n; }\n"
         "struct C { static constexpr int n = 2; };\n"
         "__device__ __host__ constexpr int size = 4;\n"
         "__launch_bounds__(128, blocks<C>()) __global__ void k(int *p) { *p = size; }\n",
         true},
        {"template <int NUM_DEVICES> struct S { int n;\n"
         "  static constexpr int __b__ = 1;\n"
         "  __host__ inline S(S<S<1>::__b__> *p) : S(Of<NUM_DEVICES>{}, p) {}\n"
         "  __device__ S(int i) : n(i) {} };\n"
         "__global__ void k(int *p) { *p = S<2>(1).n; }\n",
         true},
        {"__devcie__ int f() { return 1; }\n__global__ void k(int *p) { *p = 1; }\n",
         false},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        autojson *result = check_room_check(
            &room, json_pack("{s:s, s:s}", "source", cases[i].source, "std", "c++20"));
        autofree char *report = report_of(result);
        cr_expect_eq(is_ok(result), cases[i].ok, "%s: %s", cases[i].source, report);
    }
    check_room_close(&room);
}
