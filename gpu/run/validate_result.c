#include "gpu/run/validate_result.h"

void validate_set_error(json_t *result, const char *verdict, const char *stage,
                        const char *code, const char *message, const char *hint) {
    json_t *error = json_object();
    json_object_set_new(error, "stage", json_string(stage));
    json_object_set_new(error, "code", json_string(code));
    json_object_set_new(error, "message", json_clean_z(message));
    if (hint) {
        json_object_set_new(error, "hint", json_clean_z(hint));
    }
    json_object_set_new(result, "verdict", json_string(verdict));
    json_object_set_new(result, "error", error);
}
