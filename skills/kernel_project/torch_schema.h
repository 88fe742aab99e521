#pragma once
/* torch_schema: operator schemas as Torch writes them,
 * `name(Tensor! out, Tensor input, float eps=1e-5) -> ()`. */
#include <stdbool.h>
#include <stddef.h>

struct torch_schema {
    char name[128]; /* without namespace and overload */
    size_t arguments, returns;
};
struct torch_schema_error {
    char msg[200];
    size_t start, end;   /* of what is wrong, in bytes of the text */
    const char *instead; /* static: what to write there, or NULL */
};

/* text is NUL-terminated. */
bool torch_schema_parse(const char *text, struct torch_schema *ret,
                        struct torch_schema_error *error);
