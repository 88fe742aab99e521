#pragma once
/* text_span: bytes [start, end) of a text as the place of a finding. */
#include "base/lines.h"
#include "protocol/finding.h"

struct finding_span text_span(const struct lines *lines, size_t start, size_t end);
/* The same of a text whose lines are not needed again. */
struct finding_span text_span_once(const char *text, size_t len, size_t start,
                                   size_t end);
