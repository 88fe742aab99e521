#include "gpu/facts/log_reader.h"

/* Enough that tidying can choose; what a hostile log brings beyond is only counted. */
#define MAX_KEPT 1000

static enum finding_severity severity_of(enum log_kind kind) {
    return kind == LOG_KIND_ERROR     ? FINDING_ERROR
           : kind == LOG_KIND_WARNING ? FINDING_WARNING
                                      : FINDING_INFO;
}

/* The same message comes once per instantiation of a template. */
static bool is_repeat(struct log_reader *r, const char *source, const char *code,
                      enum log_kind kind, const char *message,
                      const struct log_place *place) {
    const char *file = place ? log_place_file(place) : NULL;
    struct finding_span span = place ? place->span : (struct finding_span){0};
    autofree char *key = xasprintf("%s|%s|%d|%s|%d|%d|%s", source, code, (int)kind,
                                   file ? file : "", span.line, span.column, message);
    autojson *text = json_text(key, strlen(key));
    if (json_object_get(r->seen, json_string_value(text))) {
        return true;
    }
    json_object_set_new(r->seen, json_string_value(text), json_true());
    return false;
}

json_t *log_reader_emit(struct log_reader *r, const char *source, const char *code,
                        enum log_kind kind, const char *message,
                        const struct log_place *place) {
    enum finding_severity severity = severity_of(kind);
    r->ret->errors += kind == LOG_KIND_ERROR;
    if (r->kept[severity] >= MAX_KEPT) {
        r->dropped++;
        return NULL;
    }
    if (is_repeat(r, source, code, kind, message, place)) {
        return NULL;
    }
    r->kept[severity]++;
    json_t *finding =
        finding_new(source, code, severity, message, place ? log_place_file(place) : NULL,
                    place ? &place->span : NULL);
    json_array_append_new(r->ret->findings, finding);
    return finding;
}
