/* The tables follow kernel-builder's own definitions of editions 4 and 5. */
#include "skills/kernel_project/build_toml_keys.h"

#include "base/mem.h"

#include <string.h>

#define BOTH (BUILD_TOML_4 | BUILD_TOML_5)
#define NEW BUILD_TOML_5

#include "skills/build_toml_keys_table.h"
const size_t build_toml_key_count = ARRAY_LEN(build_toml_keys) - 1;

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
