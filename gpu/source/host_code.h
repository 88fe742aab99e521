#pragma once
/* host_code: blank what NVRTC cannot compile out of a full .cu file.
 *
 * A file made for nvcc holds host functions, kernel launches, host headers and main().
 * NVRTC compiles device code only. host_code_blank_sources overwrites the host parts with
 * spaces (newlines and lengths stay, so every line and column is still true) and keeps
 * everything a kernel may need: device, global and constant entities, templates of them,
 * types, aliases, namespaces, macros, constexpr functions and data. */
#include "base/json.h"

#include <stdbool.h>
#include <stddef.h>

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
    bool has_host_code;   /* something had to go */
    bool leaves_code_out; /* and not only includes: code that nobody looks at */
    bool has_device_code; /* it defines a kernel, a device function or a device lambda */
    /* What went may be a kernel all the same: macros may paste such a word. */
    bool may_hide_device_code;
    /* constexpr functions without an execution space stay, and generic lambdas: NVRTC
     * compiles them only with -default-device */
    bool needs_default_device;
    struct kernel_place *kernels;
    size_t kernel_count;
};

/* Every file of a compilation, which know each other's macros. Never fails; what it does
 * not understand it leaves alone. The text of each file that changes is kept in
 * `original`. ret tells of files[0], its booleans of all; has_device_code: of the file
 * that is checked, or of a kernel in any. guesses: the instantiations whose types were
 * guessed; their first choice is written.
 *
 * Template kernels exist only where something names them with their arguments, and that
 * is host code: for every kernel<arguments> in what goes,
 * static_assert(&kernel<arguments>) takes its place, on its line where that has room. */
void host_code_blank_sources(struct source_set *sources, struct host_code *ret,
                             struct host_guesses *guesses);
/* Only look: the kernels' places and whether there is host code. */
void host_code_scan(const char *text, size_t len, struct host_code *ret);
void host_code_finish(struct host_code *h);
