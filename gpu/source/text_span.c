#include "gpu/source/text_span.h"

struct finding_span text_span(const struct lines *lines, size_t start, size_t end) {
    size_t first = lines_at(lines, start), last = lines_at(lines, end);
    return (struct finding_span){
        .line = (int)first + 1,
        .column = (int)(start - lines->starts[first]) + 1,
        .end_line = (int)last + 1,
        .end_column = (int)(end - lines->starts[last]) + 1,
    };
}

struct finding_span text_span_once(const char *text, size_t len, size_t start,
                                   size_t end) {
    struct lines lines;
    lines_init(&lines, text, len);
    struct finding_span span = text_span(&lines, start, end);
    lines_finish(&lines);
    return span;
}
