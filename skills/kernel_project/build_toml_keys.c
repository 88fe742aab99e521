/* The tables follow kernel-builder's own definitions of editions 4 and 5. */
#include "skills/kernel_project/build_toml_keys.h"

#include "base/mem.h"

#include <string.h>

#define BOTH (BUILD_TOML_4 | BUILD_TOML_5)
#define NEW BUILD_TOML_5

const struct build_toml_key build_toml_keys[] = {
    {"", "general", KEY_TABLE, BOTH, 0, true, "name, version, license, backends"},
    /* Some releases that read edition 4 took these three. */
    {"general", "rocm", KEY_TABLE, BUILD_TOML_4, 0, false, "ROCm architectures"},
    {"general.rocm", "archs", KEY_TEXTS, BUILD_TOML_4, 0, false, "ROCm architectures"},
    {"general.cuda", "capabilities", KEY_CAPABILITIES, BUILD_TOML_4, 0, false,
     "compute capabilities; edition 5 has cuda-capabilities in each kernel"},
    {"", "torch", KEY_TABLE, BOTH, 0, false, "a Torch extension with compiled operators"},
    {"", "torch-noarch", KEY_TABLE, BOTH, 0, false,
     "a Torch extension in Python alone (Triton and the like), nothing to compile"},
    {"", "tvm-ffi", KEY_TABLE, BOTH, 0, false, "an extension bound through TVM FFI"},
    {"", "kernel", KEY_KERNELS, BOTH, 0, false, "kernels: one [kernel.<name>] each"},

    {"general", "name", KEY_NAME, BOTH, 0, true,
     "the kernel's name: lowercase letters, digits and dashes; dashes become underscores "
     "in Python"},
    {"general", "version", KEY_NUMBER, BOTH, 0, true,
     "whole number, raised when the kernel's interface changes"},
    {"general", "edition", KEY_EDITION, NEW, 0, true, "format of this file: 5"},
    {"general", "license", KEY_TEXT, BOTH, 0, true,
     "license identifier, such as \"Apache-2.0\""},
    {"general", "backends", KEY_BACKENDS, BOTH, 0, true,
     "what to build for: cann cpu cuda metal neuron rocm tpu xpu"},
    {"general", "upstream", KEY_TEXT, BOTH, 0, false,
     "URL of the repository that the kernel comes from"},
    {"general", "source", KEY_TEXT, NEW, 0, false, "URL of this kernel's own repository"},
    {"general", "minver", KEY_RELEASE, NEW, 0, false,
     "oldest release of kernels that loads this kernel, such as \"0.17.0\""},
    {"general", "kernel-depends", KEY_KERNEL_DEPENDS, NEW, 0, false,
     "other kernels: { repo-id = \"org/name\", version = 1 } or revision = \"…\""},
    {"general", "python-depends", KEY_PYTHON_DEPENDS, BOTH, 0, false,
     "Python packages for all backends: einops helion tvm-ffi"},
    {"general", "cuda", KEY_TABLE, BOTH, 0, false, "limits and dependencies for CUDA"},
    {"general", "hub", KEY_TABLE, BOTH, 0, false, "where builds are uploaded"},
    {"general", "neuron", KEY_TABLE, BOTH, 0, false, "dependencies for Neuron"},
    {"general", "tpu", KEY_TABLE, NEW, 0, false, "dependencies for TPU"},
    {"general", "xpu", KEY_TABLE, BOTH, 0, false, "dependencies for XPU"},

    {"general.cuda", "minver", KEY_VERSION, BOTH, 0, false,
     "oldest CUDA version to build with, such as \"12.8\""},
    {"general.cuda", "maxver", KEY_VERSION, BOTH, 0, false,
     "newest CUDA version to build with"},
    {"general.cuda", "kernel-depends", KEY_KERNEL_DEPENDS, NEW, 0, false,
     "other kernels, for CUDA only"},
    {"general.cuda", "python-depends", KEY_PYTHON_DEPENDS, BOTH, 0, false,
     "Python packages for CUDA only: nvidia-cutlass-dsl too"},
    {"general.hub", "repo-id", KEY_TEXT, BOTH, 0, false, "repository: \"org/name\""},
    {"general.hub", "branch", KEY_TEXT, BOTH, 0, false, "branch to upload to"},
    {"general.neuron", "kernel-depends", KEY_KERNEL_DEPENDS, NEW, 0, false,
     "other kernels, for Neuron only"},
    {"general.neuron", "python-depends", KEY_PYTHON_DEPENDS, BOTH, 0, false,
     "Python packages for Neuron only"},
    {"general.tpu", "python-depends", KEY_PYTHON_DEPENDS, NEW, 0, false,
     "Python packages for TPU only"},
    {"general.xpu", "kernel-depends", KEY_KERNEL_DEPENDS, NEW, 0, false,
     "other kernels, for XPU only"},
    {"general.xpu", "python-depends", KEY_PYTHON_DEPENDS, BOTH, 0, false,
     "Python packages for XPU only"},

    {"torch", "src", KEY_PATHS, BOTH, 0, false,
     "binding sources: torch-ext/torch_binding.cpp and .h"},
    {"torch", "include", KEY_PATHS, BOTH, 0, false, "include folders for the binding"},
    {"torch", "minver", KEY_VERSION, BOTH, 0, false, "oldest Torch version, \"2.8\""},
    {"torch", "maxver", KEY_VERSION, BOTH, 0, false, "newest Torch version"},
    {"torch", "pyext", KEY_TEXTS, BOTH, 0, false,
     "file name endings copied from torch-ext: [\"py\", \"pyi\"] and data"},
    {"torch", "stable-abi", KEY_STABLE_ABI, BOTH, 0, false,
     "oldest Torch whose stable ABI is used: a version, or one per backend"},
    {"torch", "cxx-flags", KEY_TEXTS, BOTH, 0, false, "flags for the binding's compiler"},
    {"torch.stable-abi", "cpu", KEY_VERSION, BOTH, 0, false, "stable ABI for the CPU"},
    {"torch.stable-abi", "cuda", KEY_VERSION, BOTH, 0, false, "stable ABI for CUDA"},
    {"torch.stable-abi", "metal", KEY_VERSION, BOTH, 0, false, "stable ABI for Metal"},
    {"torch.stable-abi", "rocm", KEY_VERSION, BOTH, 0, false, "stable ABI for ROCm"},
    {"torch.stable-abi", "xpu", KEY_VERSION, BOTH, 0, false, "stable ABI for XPU"},

    {"torch-noarch", "pyext", KEY_TEXTS, NEW, 0, false,
     "file name endings copied from torch-ext"},
    {"torch-noarch", "cuda_capabilities", KEY_CAPABILITIES, NEW, 0, false,
     "compute capabilities that the kernel supports (with an underscore, here alone)"},
    {"torch-noarch", "rocm_archs", KEY_TEXTS, NEW, 0, false,
     "ROCm architectures (with an underscore, here alone)"},

    {"tvm-ffi", "src", KEY_PATHS, BOTH, 0, true, "binding sources"},
    {"tvm-ffi", "include", KEY_PATHS, BOTH, 0, false, "include folders for the binding"},
    {"tvm-ffi", "pyext", KEY_TEXTS, BOTH, 0, false,
     "file name endings copied from tvm-ffi-ext"},
    {"tvm-ffi", "cxx-flags", KEY_TEXTS, BOTH, 0, false,
     "flags for the binding's compiler"},

    {"kernel.*", "backend", KEY_BACKEND, BOTH, 0, true,
     "what it is for: cpu cuda metal rocm xpu"},
    {"kernel.*", "depends", KEY_DEPENDS, BOTH, 0, true,
     "C++ dependencies: torch, cutlass_3_6, … ([] for none)"},
    {"kernel.*", "src", KEY_PATHS, BOTH, 0, true,
     "sources and headers, from the project's folder"},
    {"kernel.*", "include", KEY_PATHS, BOTH, 0, false, "include folders"},
    {"kernel.*", "cxx-flags", KEY_TEXTS, BOTH, 0, false, "flags for the C++ compiler"},
    {"kernel.*", "cuda-capabilities", KEY_CAPABILITIES, BOTH, BACKEND_CUDA, false,
     "compute capabilities to build for, such as [\"9.0a\"]; all supported ones without"},
    {"kernel.*", "cuda-flags", KEY_TEXTS, BOTH, BACKEND_CUDA, false, "flags for nvcc"},
    {"kernel.*", "cuda-minver", KEY_VERSION, BOTH, BACKEND_CUDA, false,
     "oldest CUDA version that this kernel is built with"},
    {"kernel.*", "rocm-archs", KEY_TEXTS, BOTH, BACKEND_ROCM, false,
     "ROCm architectures to build for, such as [\"gfx942\"]"},
    {"kernel.*", "hip-flags", KEY_TEXTS, BOTH, BACKEND_ROCM, false, "flags for hipcc"},
    {"kernel.*", "sycl-flags", KEY_TEXTS, BOTH, BACKEND_XPU, false, "flags for SYCL"},
};
const size_t build_toml_key_count = ARRAY_LEN(build_toml_keys);

const char *const build_toml_depends[] = {
    "torch",       "cutlass_2_10", "cutlass_3_5", "cutlass_3_6",
    "cutlass_3_8", "cutlass_3_9",  "cutlass_4_0", "cutlass_4_4",
    "cutlass_4_5", "sycl_tla",     "metal-cpp",   NULL,
};
const char *const build_toml_capabilities[] = {
    "7.0",  "7.2",   "7.5",  "8.0",   "8.6",  "8.7",   "8.9",  "9.0",   "9.0a",
    "10.0", "10.0a", "10.1", "10.1a", "11.0", "11.0a", "12.0", "12.0a", NULL,
};
const char *const build_toml_python_depends[] = {"einops", "helion", "tvm-ffi", NULL};
const char *const build_toml_cuda_python_depends[] = {"nvidia-cutlass-dsl", NULL};

static const struct {
    const char *section, *meaning;
} sections[] = {
    {"general", "What the kernel is: name, version, license, backends."},
    {"general.cuda", "CUDA versions and dependencies; capabilities belong to kernels."},
    {"general.hub", "Where builds are uploaded."},
    {"general.neuron", "Dependencies for Neuron."},
    {"general.tpu", "Dependencies for TPU."},
    {"general.xpu", "Dependencies for XPU."},
    {"torch", "A Torch extension: the binding's sources. Exactly one of torch, "
              "torch-noarch and tvm-ffi is there."},
    {"torch.stable-abi", "The oldest Torch whose stable ABI is used, by backend."},
    {"torch-noarch", "A Torch extension in Python alone, nothing to compile."},
    {"tvm-ffi", "An extension bound through TVM FFI."},
    {"kernel", "Kernels: one [kernel.<name>] each."},
    {"kernel.*", "One kernel: backend, dependencies, sources."},
};

static const struct {
    unsigned bit;
    const char *name;
} backends[] = {
    {BACKEND_CANN, "cann"},   {BACKEND_CPU, "cpu"},       {BACKEND_CUDA, "cuda"},
    {BACKEND_METAL, "metal"}, {BACKEND_NEURON, "neuron"}, {BACKEND_ROCM, "rocm"},
    {BACKEND_TPU, "tpu"},     {BACKEND_XPU, "xpu"},
};

unsigned build_toml_backend(const char *word) {
    for (size_t i = 0; i < ARRAY_LEN(backends); i++) {
        if (strcmp(backends[i].name, word) == 0) {
            return backends[i].bit;
        }
    }
    return 0;
}

const char *build_toml_backend_name(unsigned bit) {
    for (size_t i = 0; i < ARRAY_LEN(backends); i++) {
        if (backends[i].bit == bit) {
            return backends[i].name;
        }
    }
    return NULL;
}

const char *build_toml_section_key(const char *section) {
    bool kernel = strncmp(section, "kernel.", 7) == 0 && !strchr(section + 7, '.');
    return kernel ? "kernel.*" : section;
}

const char *build_toml_section_meaning(const char *section) {
    const char *key = build_toml_section_key(section);
    for (size_t i = 0; i < ARRAY_LEN(sections); i++) {
        if (strcmp(sections[i].section, key) == 0) {
            return sections[i].meaning;
        }
    }
    return NULL;
}

const struct build_toml_key *build_toml_key_find(const char *section, const char *name,
                                                 unsigned editions) {
    section = build_toml_section_key(section);
    for (size_t i = 0; i < build_toml_key_count; i++) {
        const struct build_toml_key *key = &build_toml_keys[i];
        if ((key->editions & editions) && strcmp(key->section, section) == 0 &&
            strcmp(key->name, name) == 0) {
            return key;
        }
    }
    return NULL;
}

const char *build_toml_type_name(enum build_toml_type type) {
    switch (type) {
    case KEY_TEXT:
    case KEY_NAME:
    case KEY_BACKEND:
        return "a string";
    case KEY_NUMBER:
    case KEY_EDITION:
        return "a whole number";
    case KEY_RELEASE:
        return "a string such as \"0.17.0\"";
    case KEY_VERSION:
        return "a string such as \"12.8\"";
    case KEY_KERNEL_DEPENDS:
        return "an array of tables";
    case KEY_STABLE_ABI:
        return "a version such as \"2.11\" or a table of them by backend";
    case KEY_TABLE:
    case KEY_KERNELS:
        return "a table";
    default:
        return "an array of strings";
    }
}
