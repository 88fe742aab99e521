#pragma once
/* array_load: opens the .npy files of a check spec for the worker. Files are opened and
 * their headers checked on libuv's threads; the loop is only called at the end. Elements
 * are not read here. */
#include "gpu/spec/kernel_spec.h"

#include <uv.h>

struct open_files;
struct array_load;

/* Exactly once, from the loop: the files, and {"x.npy": [its index, its identity and
 * version]}, both passed on, or NULL with err: -EACCES for a file outside the roots,
 * -ENOENT, -EINVAL, each with its field; -ECANCELED. */
typedef void array_load_done(json_t *places, struct open_files *files,
                             const struct err *err, void *data);
/* spec is borrowed until then. folder: relative names are looked up beneath it (it is
 * absolute, or relative to a root); NULL: beneath each root in turn. Only files beneath
 * roots (absolute, NULL-terminated; copied) are read. */
struct array_load *array_load_start(uv_loop_t *loop, const struct kernel_spec *spec,
                                    const char *folder, const char *const *roots,
                                    array_load_done *done, void *data);
void array_load_cancel(struct array_load *load); /* done follows */
