/* Any log, about any source, with any PTX beside it: the three are parted by NUL bytes.
 */
#include "gpu/facts/compiler_log.h"
#include "gpu/facts/ptx_lines.h"

#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Bytes up to the next NUL, as long as they are and no longer. */
static char *take_part(const uint8_t **data, size_t *size, size_t *ret_len) {
    const uint8_t *nul = *size ? memchr(*data, 0, *size) : NULL;
    size_t len = nul ? (size_t)(nul - *data) : *size;
    char *part = xmalloc(len + 1);
    if (len > 0) {
        memcpy(part, *data, len);
    }
    *data += len + (nul != NULL);
    *size -= len + (nul != NULL);
    *ret_len = len;
    return part;
}

static void check_places(const json_t *findings) {
    const json_t *finding;
    size_t i;
    json_array_foreach(findings, i, finding) {
        json_int_t line = json_get_integer(finding, "line", 0);
        json_int_t column = json_get_integer(finding, "column", 0);
        const char *message = json_get_string(finding, "message", NULL);
        if (!message || strlen(message) > 2048 || line < 0 || column < 0 ||
            (column > 0 && line == 0)) {
            abort();
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const cuda_dirs[] = {"/cuda/include", "/cuda/include/cccl", NULL};
    size_t log_len, source_len, ptx_len;
    autofree char *log_text = take_part(&data, &size, &log_len);
    autofree char *source = take_part(&data, &size, &source_len);
    autofree char *ptx_text = take_part(&data, &size, &ptx_len);
    struct source_set sources = {0};
    if (source_set_add(&sources, "r0/src/k.cu", "src/k.cu", source, source_len, NULL) <
        0) {
        return 0;
    }
    struct ptx_lines *ptx = ptx_len ? ptx_lines_new(ptx_text, ptx_len) : NULL;
    struct compiler_log log;
    compiler_log_read(&log, log_text, log_len, &sources, cuda_dirs, ptx);
    if (json_array_size(log.findings) > COMPILER_LOG_MAX_FINDINGS) {
        abort();
    }
    check_places(log.findings);
    compiler_log_finish(&log);
    ptx_lines_free(ptx);
    source_set_finish(&sources);
    return 0;
}
