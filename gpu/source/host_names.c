#include "gpu/source/host_names.h"

#include "base/mem.h"

#include <ctype.h>
#include <string.h>

static bool listed(const char *const *list, size_t count, const char *name) {
    for (size_t i = 0; i < count; i++) {
        if (strcmp(list[i], name) == 0) {
            return true;
        }
    }
    return false;
}

static bool begins(const char *const *list, size_t count, const char *name) {
    for (size_t i = 0; i < count; i++) {
        if (strncmp(list[i], name, strlen(list[i])) == 0) {
            return true;
        }
    }
    return false;
}

static const char *const host_headers[] = {
    "any",
    "atomic",
    "barrier",
    "byteswap.h",
    "bitset",
    "charconv",
    "chrono",
    "codecvt",
    "condition_variable",
    "coroutine",
    "deque",
    "exception",
    "execution",
    "filesystem",
    "format",
    "forward_list",
    "fstream",
    "future",
    "iomanip",
    "ios",
    "iosfwd",
    "iostream",
    "istream",
    "latch",
    "list",
    "locale",
    "map",
    "memory",
    "memory_resource",
    "mutex",
    "new",
    "ostream",
    "queue",
    "random",
    "regex",
    "scoped_allocator",
    "semaphore",
    "set",
    "shared_mutex",
    "source_location",
    "sstream",
    "stack",
    "stdexcept",
    "stop_token",
    "streambuf",
    "string",
    "string_view",
    "strstream",
    "syncstream",
    "system_error",
    "thread",
    "typeindex",
    "typeinfo",
    "unordered_map",
    "unordered_set",
    "valarray",

    "vector",
    "version",
    "complex.h",
    "csetjmp",
    "cctype",
    "ctype.h",
    "cfenv",
    "fenv.h",
    "cstdalign",
    "stdalign.h",
    "cstdbool",
    "cuchar",
    "uchar.h",
    "cwctype",
    "wctype.h",
    "cxxabi.h",
    "csignal",
    "ctime",
    "clocale",
    "cwchar",
    "dirent.h",
    "dlfcn.h",
    "elf.h",
    "endian.h",
    "execinfo.h",
    "errno.h",
    "cerrno",
    "fcntl.h",
    "getopt.h",
    "glob.h",
    "libgen.h",
    "link.h",
    "locale.h",
    "malloc.h",
    "netdb.h",
    "omp.h",
    "poll.h",
    "pthread.h",
    "pwd.h",
    "ranges",
    "sched.h",
    "signal.h",
    "setjmp.h",
    "stdatomic.h",
    "strings.h",
    "threads.h",
    "time.h",
    "unistd.h",
    "wchar.h",
    "x86intrin.h",
    "emmintrin.h",
    "xmmintrin.h",
    "immintrin.h",
    "Python.h",
    "mpi.h",
    "nccl.h",
    "cudnn.h",
    "cuda_profiler_api.h",
    "curand.h",
    "cufft.h",
    "cufftXt.h",
    "cublas.h",
    "cublas_api.h",
    "cublas_v2.h",
    "cublasLt.h",
    "cublasXt.h",
    "cusparse.h",
    "cusparse_v2.h",
    "npp.h",
    "nvToolsExt.h",
    "cusolverDn.h",
    "cusolverSp.h",
    "nvml.h",
    "nvrtc.h",
    "cuda_gl_interop.h",
    "fatbinary.h",
    "benchmark/benchmark.h",
    "doctest.h",
    "cxxopts.hpp",
    "helper_cuda.h",
    "helper_functions.h",
    "helper_string.h",
    "helper_timer.h",
    "thrust/device_vector.h",
    "thrust/host_vector.h",
    "thrust/universal_vector.h",
    "thrust/sort.h",
    "thrust/reduce.h",
    "thrust/scan.h",
    "thrust/copy.h",
    "thrust/fill.h",
    "thrust/sequence.h",
    "thrust/transform.h",
    "thrust/transform_reduce.h",
    "thrust/inner_product.h",
    "thrust/execution_policy.h",
    "thrust/device_ptr.h",
    "thrust/device_malloc.h",
    "thrust/device_free.h",
    "thrust/generate.h",
    "thrust/random.h",
    "thrust/extrema.h",
    "thrust/for_each.h",
    "thrust/adjacent_difference.h",
    "thrust/binary_search.h",
    "thrust/count.h",
    "thrust/device_allocator.h",
    "thrust/equal.h",
    "thrust/find.h",
    "thrust/gather.h",
    "thrust/logical.h",
    "thrust/memory.h",
    "thrust/merge.h",
    "thrust/mismatch.h",
    "thrust/partition.h",
    "thrust/remove.h",
    "thrust/replace.h",
    "thrust/reverse.h",
    "thrust/scatter.h",
    "thrust/set_operations.h",
    "thrust/shuffle.h",
    "thrust/system/cuda/execution_policy.h",
    "thrust/system/cuda/vector.h",
    "thrust/tabulate.h",
    "thrust/transform_scan.h",
    "thrust/uninitialized_copy.h",
    "thrust/uninitialized_fill.h",
    "thrust/unique.h",
};

bool host_names_header(const char *target) {
    static const char *const folders[] = {
        "torch/",      "ATen/",   "c10/",      "THC/",        "pybind11/",     "caffe2/",
        "boost/",      "gtest/",  "gmock/",    "sys/",        "arpa/",         "netinet/",
        "opencv2/",    "fmt/",    "spdlog/",   "nvtx3/",      "nlohmann/",     "catch2/",
        "glog/",       "gflags/", "absl/",     "Eigen/",      "experimental/", "bits/",
        "tensorflow/", "xla/",    "nanobind/", "cub/device/", "thrust/async/",
    };
    return listed(host_headers, ARRAY_LEN(host_headers), target) ||
           begins(folders, ARRAY_LEN(folders), target);
}

bool host_names_torch_header(const char *target) {
    static const char *const folders[] = {"torch/", "ATen/", "c10/", "THC/"};
    return begins(folders, ARRAY_LEN(folders), target);
}

bool host_names_library_header(const char *target) {
    static const char *const libraries[] = {"cublas",   "cudnn.h",  "cufft", "curand.h",
                                            "cusolver", "cusparse", "nccl.h"};
    return begins(libraries, ARRAY_LEN(libraries), target);
}

bool host_names_torch_device(const char *name) {
    static const char *const names[] = {
        "AccumulateType",
        "BFloat16",
        "DefaultPtrTraits",
        "Float8_e4m3fn",
        "Float8_e5m2",
        "GenericPackedTensorAccessor",
        "HeaderOnlyGenericPackedTensorAccessor",
        "HeaderOnlyTensorAccessor",
        "IndexToOffset",
        "PhiloxCudaState",
        "TensorInfo",
        "complex",
        "Half",
        "OpMathType",
        "PackedTensorAccessor",
        "PackedTensorAccessor32",
        "PackedTensorAccessor64",
        "RestrictPtrTraits",
        "ScalarType",
        "TensorAccessor",
        "_isnan",
        "acc_type",
        "ceil_div",
        "opmath_type",
        "round_up",
        "unpack",
    };
    return listed(names, ARRAY_LEN(names), name);
}

bool host_names_costly_header(const char *target) {
    static const char *const names[] = {
        "algorithm", "array",  "bit",         "complex", "concepts", "functional",
        "iterator",  "limits", "numbers",     "numeric", "optional", "ratio",
        "span",      "tuple",  "type_traits", "utility", "variant"};
    return listed(names, ARRAY_LEN(names), target);
}

static const char *const host_std_names[] = {
    "any",
    "async",
    "atomic",
    "atomic_bool",
    "atomic_int",
    "bad_alloc",
    "basic_string",
    "bitset",
    "boolalpha",
    "cerr",
    "chrono",
    "cin",
    "clog",
    "condition_variable",
    "cout",
    "current_exception",
    "default_random_engine",
    "defaultfloat",
    "deque",
    "endl",
    "ends",
    "exception",
    "exception_ptr",
    "exit",
    "abort",
    "filesystem",
    "fixed",
    "flush",
    "fopen",
    "fprintf",
    "forward_list",
    "fstream",
    "function",
    "future",
    "generate",
    "getenv",
    "getline",
    "hash",
    "hex",
    "ifstream",
    "invalid_argument",
    "ios",
    "ios_base",
    "iota",
    "istream",
    "istringstream",
    "launch",
    "left",
    "list",
    "lock_guard",
    "logic_error",
    "make_shared",
    "make_unique",
    "map",
    "mem_fn",
    "memory_order",
    "mersenne_twister_engine",
    "mt19937",
    "mt19937_64",
    "multimap",
    "multiset",
    "mutex",
    "normal_distribution",
    "ofstream",
    "once_flag",
    "ostream",
    "ostringstream",
    "out_of_range",
    "packaged_task",
    "promise",
    "queue",
    "priority_queue",
    "rand",
    "random_device",
    "recursive_mutex",
    "regex",
    "right",
    "runtime_error",
    "scientific",
    "scoped_lock",
    "set",
    "setfill",
    "setprecision",
    "setw",
    "shared_mutex",
    "shared_ptr",
    "shuffle",
    "sort",
    "srand",
    "stable_sort",
    "stack",
    "stod",
    "stof",
    "stoi",
    "stoll",
    "stoul",
    "streambuf",
    "string",
    "string_view",
    "stringstream",
    "system_error",
    "thread",
    "this_thread",
    "time",
    "to_string",
    "type_index",
    "uniform_int_distribution",
    "uniform_real_distribution",
    "unique_lock",
    "unique_ptr",
    "unordered_map",
    "unordered_multimap",
    "unordered_multiset",
    "unordered_set",
    "valarray",
    "vector",
    "weak_ptr",
    "wstring",
};

bool host_names_std(const char *name) {
    return listed(host_std_names, ARRAY_LEN(host_std_names), name);
}

bool host_names_namespace(const char *name) {
    static const char *const names[] = {
        "torch",   "at",        "c10",        "py",  "pybind11", "caffe2", "boost",
        "testing", "benchmark", "cv",         "fmt", "spdlog",   "nvtx3",  "nlohmann",
        "absl",    "Eigen",     "tensorflow", "xla", "nanobind", "nb",     "chrono",
    };
    return listed(names, ARRAY_LEN(names), name);
}

bool host_names_plain(const char *name) {
    static const char *const names[] = {
        "FILE",     "PyObject", "pthread_t", "pthread_mutex_t", "getenv",
        "atoi",     "atof",     "rand",      "srand",           "fopen",
        "fprintf",  "stderr",   "stdout",    "gettimeofday",    "clock_gettime",
        "timespec", "timeval",  "time_t",    "sysconf",         "nvtxRangePushA",
    };
    static const char *const prefixes[] = {
        "cublas",          "cudnn", "ncclComm", "cufft",     "cusparse", "cusolver",
        "curandGenerator", "MPI_",  "CUmodule", "CUcontext", "nvml",
    };
    /* what a library computes with, as in cufftComplex, is the device's too */
    bool number = strstr(name, "Complex") || strstr(name, "Real");
    return listed(names, ARRAY_LEN(names), name) ||
           (begins(prefixes, ARRAY_LEN(prefixes), name) && !number) ||
           (strncmp(name, "cuda", 4) == 0 && isupper((unsigned char)name[4]) &&
            !strstr(name, "_t") && strcmp(name, "cudaDeviceProp") != 0 &&
            strncmp(name, "cudaSuccess", 11) != 0);
}

bool host_names_macro(const char *name) {
    static const char *const prefixes[] = {
        "PYBIND11_",
        "TORCH_LIBRARY",
        "REGISTER_EXTENSION",
        "TEST",
        "TYPED_TEST",
        "BENCHMARK",
        "INSTANTIATE_TEST",
        "INSTANTIATE_TYPED_TEST",
        "NB_MODULE",
        "TVM_FFI_DLL_EXPORT",
        "SCENARIO",
        "BOOST_",
        "XLA_FFI_",
        "XLA_REGISTER",
        "REGISTER_KERNEL_BUILDER",
        "REGISTER_OP",
        "STD_TORCH_LIBRARY",
        "STABLE_TORCH_LIBRARY",
        "TORCH_SELECTIVE",
    };
    return begins(prefixes, ARRAY_LEN(prefixes), name);
}
