#pragma once
/* build_toml_keys: the sections and keys of kernel-builder's project file, as tables.
 *
 * Sections are named by their dotted path; "kernel.*" is for every kernel, "" for the top
 * level. */
#include "base/mem.h"

enum build_toml_edition {
    BUILD_TOML_4 = 1, /* written without an edition */
    BUILD_TOML_5 = 2,
};

enum build_toml_backend {
    BACKEND_CPU = 1,
    BACKEND_CUDA = 2,
    BACKEND_METAL = 4,
    BACKEND_ROCM = 8,
    BACKEND_XPU = 16,
    BACKEND_CANN = 32,
    BACKEND_NEURON = 64,
    BACKEND_TPU = 128,
};

enum build_toml_type {
    KEY_TEXT,
    KEY_NAME,
    KEY_NUMBER,
    KEY_EDITION,
    KEY_VERSION, /* "12.8" */
    KEY_RELEASE, /* "0.17.0" */
    KEY_TEXTS,
    KEY_PATHS,
    KEY_BACKEND,
    KEY_BACKENDS,
    KEY_DEPENDS,
    KEY_CAPABILITIES,
    KEY_PYTHON_DEPENDS,
    KEY_KERNEL_DEPENDS,
    KEY_STABLE_ABI, /* a version, or a table of them */
    KEY_TABLE,
    KEY_KERNELS,
};

struct build_toml_key {
    const char *name, *section;
    const char *meaning; /* one line */
    enum build_toml_type type;
    unsigned editions;
    unsigned backends; /* in kernel.*: the backends that may have it; 0 = all */
    bool required;
};
extern const struct build_toml_key build_toml_keys[];
extern const size_t build_toml_key_count;

extern const char *const build_toml_depends[]; /* NULL-terminated, and below */
extern const char *const build_toml_capabilities[];
extern const char *const build_toml_python_depends[]; /* of [general] and all backends */
extern const char *const build_toml_cuda_python_depends[];
extern const char *const build_toml_backends[];
extern const char *const build_toml_kernel_backends[];
extern const char *const build_toml_licenses[]; /* for completion */

/* NULL if the section has no such key in these editions. */
const struct build_toml_key *build_toml_key_find(const char *section, const char *name,
                                                 unsigned editions);
/* The purpose of a section, or NULL if there is no such section. "kernel.relu" is found
 * as "kernel.*". */
const char *build_toml_section_meaning(const char *section);
/* The tables' name of a section. */
const char *build_toml_section_key(const char *section);
/* Bit of a backend's word, 0 when unknown; and back. */
unsigned build_toml_backend(const char *word);
const char *build_toml_backend_name(unsigned bit);
/* "integer", "array of strings" … */
const char *build_toml_type_name(enum build_toml_type type);
