#include "gpu/run/validate_result.h"

void validate_set_error(json_t *result, const char *verdict, const char *stage,
                        const char *code, const char *message, const char *hint) {
    json_object_set_new(result, "verdict", json_string(verdict));
    json_object_set_new(result, "error",
                        json_pack("{s:s, s:s, s:o, s:o*}", "stage", stage, "code", code,
                                  "message", json_clean_z(message), "hint",
                                  hint ? json_clean_z(hint) : NULL));
}

json_t *validate_not_run(const char *verdict, const char *stage, const char *code,
                         const char *message, const char *hint) {
    json_t *result = json_object();
    validate_set_error(result, verdict, stage, code, message, hint);
    json_object_set_new(result, "cases", json_array());
    json_object_set_new(result, "findings", json_array());
    json_object_set_new(result, "omitted", json_integer(0));
    return result;
}
