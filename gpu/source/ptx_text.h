#pragma once
/* ptx_text: is a source PTX, and what its head says.
 *
 * PTX begins with `.version`, which no CUDA source can: the text alone decides, and a
 * byte order mark, blanks and comments before it do not matter. */
#include <stdbool.h>
#include <stddef.h>

struct ptx_head { /* .version 9.0  .target sm_90a  .address_size 64 */
    unsigned major, minor;
    char target[24];              /* the first word of .target; "" when there is none */
    size_t target_at, target_end; /* bytes of that word */
    size_t start, end; /* from `.version` to behind the last of these directives */
};

/* False: it is no PTX. */
bool ptx_head_read(struct ptx_head *ret, const char *text, size_t len);
bool ptx_text_is(const char *text, size_t len);
/* "src/k.ptx" */
bool ptx_path_is(const char *path);

/* May PTX for `target` be compiled for `arch` ("sm_90a")? An older one may, one with the
 * features of one architecture ("sm_100a") for that alone, "sm_100f" in its family. */
bool ptx_target_suits(const char *target, const char *arch);
