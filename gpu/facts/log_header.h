#pragma once
/* log_header: the line a message of the compiler begins with.
 *
 *   k.cu(12): warning #68-D: integer conversion resulted in a change of sign
 *   At end of source: error: expected a "}"
 *   nvrtc: error: invalid value for --gpu-architecture (-arch)
 *   Command-line error: invalid macro definition: 1x=3 */
#include "gpu/facts/log_text.h"

enum log_kind { LOG_KIND_ERROR, LOG_KIND_WARNING, LOG_KIND_REMARK, LOG_KIND_NOTE };

struct log_header {
    enum log_kind kind;
    char code[12]; /* digits, or "" */
    struct log_place place;
    struct slice text; /* of the first line */
};

/* False when the line begins no message; ret is then undefined. */
bool log_header_read(struct log_scope *scope, struct slice line, struct log_header *ret);
