#pragma once
/* ptx_text: recognises PTX and reads its first directives.
 *
 * PTX begins with `.version`, which no CUDA source can, so the text alone decides. A
 * byte order mark, blanks and comments before it are skipped. */
#include "base/mem.h"

struct ptx_head { /* .version 9.0  .target sm_90a  .address_size 64 */
    unsigned major, minor;
    bool has_version; /* false: what stands there is no version */
    char target[24];              /* the first word of .target; "" if there is none */
    size_t target_at, target_end; /* bytes of that word */
    size_t size_at, size_end;     /* of what follows .address_size; equal if nothing does */
    size_t start, end; /* from `.version` to behind the last of these directives */
};

/* False: it is not PTX. */
bool ptx_head_read(struct ptx_head *ret, const char *text, size_t len);
bool ptx_text_is(const char *text, size_t len);
/* "src/k.ptx" */
bool ptx_path_is(const char *path);

/* Whether PTX for `target` can be compiled for `arch` ("sm_90a"). PTX for an older target
 * can; architecture-specific PTX ("sm_100a") only for that architecture, and
 * family-specific PTX ("sm_100f") only within its family. */
bool ptx_target_suits(const char *target, const char *arch);
