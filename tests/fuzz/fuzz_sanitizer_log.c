/* Any log of compute-sanitizer. */
#include "gpu/driver/sanitizer_log.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_finding(const json_t *finding) {
    json_int_t line = json_get_integer(finding, "line", 0);
    const char *message = json_get_string(finding, "message", NULL);
    const char *code = json_get_string(finding, "code", NULL);
    if (!message || !code || !*code || strlen(message) > 2048 || line < 0 ||
        json_get_integer(finding, "count", 1) < 1) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct sanitizer_log log;
    const json_t *finding;
    size_t i;
    sanitizer_log_read(&log, (const char *)data, size);
    if (json_array_size(log.findings) > SANITIZER_LOG_MAX_FINDINGS) {
        abort();
    }
    json_array_foreach(log.findings, i, finding) {
        check_finding(finding);
    }
    sanitizer_log_finish(&log);
    return 0;
}
