#pragma once
/* host_code: blanks the parts of a .cu file that NVRTC cannot compile.
 *
 * A file for nvcc contains host functions, kernel launches, host headers and main(), but
 * NVRTC compiles device code only. host_code_blank_sources overwrites the host parts with
 * spaces (newlines and lengths stay, so lines and columns remain valid) and keeps
 * everything a kernel may need: device, global and constant entities, templates of them,
 * types, aliases, namespaces, macros, constexpr functions and data. */
#include "base/json.h"

struct source_set;
struct host_guesses;

struct kernel_place {
    char *name;         /* qualified as written: "ns::axpy"; no template arguments */
    size_t offset, end; /* of the name */
    size_t signature, signature_end; /* from __global__ (or template) to the ')' */
    size_t body_end;                 /* after the '}' */
    int launch_bounds[3]; /* as written when they are integer literals, else 0 */
};

struct host_code {
    bool has_host_code;   /* something was blanked */
    bool leaves_code_out; /* and not only includes: code that is not checked */
    bool has_device_code; /* it defines a kernel, a device function or a device lambda */
    /* Blanked code may contain a kernel: macros may paste __global__ together. */
    bool may_hide_device_code;
    /* The text contains constexpr functions without an execution space, or generic
     * lambdas, which NVRTC compiles only with -default-device. */
    bool needs_default_device;
    struct kernel_place *kernels;
    size_t kernel_count;
};

/* Blanks all files of a compilation, which share macros. Never fails; code that it does
 * not understand stays. The old text of a changed file is kept in `original`. ret
 * describes files[0], except that its booleans cover all files; has_device_code: in the
 * file that is checked, or a kernel in any file. guesses: instantiations whose types
 * were guessed; the sources contain their first choice.
 *
 * A template kernel exists only if something names it with its arguments, and that is
 * host code. So for every kernel<arguments> in blanked code,
 * static_assert(&kernel<arguments>) takes its place, on the same line if there is room.
 */
void host_code_blank_sources(struct source_set *sources, struct host_code *ret,
                             struct host_guesses *guesses);
/* Changes nothing; finds the kernels' places and whether there is host code. */
void host_code_scan(const char *text, size_t len, struct host_code *ret);
void host_code_finish(struct host_code *h);
