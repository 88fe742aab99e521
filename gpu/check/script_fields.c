#include "gpu/check/script_fields.h"

#include "gpu/source/python_fields.h"
#include "protocol/finding.h"

#define FIELD_MAX 64 /* bytes of it that are told */

/* Drops the errors; the first goes to *ret_first. */
static void drop_errors(json_t *findings, json_t **ret_first) {
    size_t kept = 0;
    while (kept < json_array_size(findings)) {
        json_t *finding = json_array_get(findings, kept);
        if (!json_says(finding, "severity", "error")) {
            kept++;
            continue;
        }
        *ret_first = *ret_first ? *ret_first : json_incref(finding);
        json_array_remove(findings, kept);
    }
}

static json_t *note_new(const struct source_file *file, const struct python_field *field,
                        const json_t *error) {
    const struct finding_span span =
        finding_span_in(file->original, file->len, field->start, field->end);
    size_t len = field->end - field->start;
    autofree char *message = xasprintf(
        "The script fills in %.*s when it runs. As it stands, this text does not compile "
        "(%.200s), which need not be wrong. Check the text that the script generates.",
        (int)(len < FIELD_MAX ? len : FIELD_MAX), file->original + field->start,
        json_get_string(error, "message", "the compiler gave no reason"));
    return finding_new("upskilld", "script_field", FINDING_INFO, message, file->display,
                       &span);
}

json_t *script_fields_settle(const struct check_input *input, const json_t *answer,
                             json_t **ret_note) {
    const struct source_file *file = &input->closure.sources.files[0];
    struct python_field field;
    if (!json_says(answer, "outcome", "rejected") || !input->closure.script_units ||
        !file->original ||
        !python_field_find(file->original, file->text, file->len, &field)) {
        return NULL;
    }
    json_t *ret = json_deep_copy(answer);
    json_t *first = NULL;
    drop_errors(json_object_get(ret, "diagnostics"), &first);
    json_decref(*ret_note);
    *ret_note = note_new(file, &field, first);
    json_decref(first);
    return ret;
}
