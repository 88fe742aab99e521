#include "skills/runs/html.h"

#include "base/buf.h"
#include "base/strings.h"
#include "base/text.h"
#include "skills/statistics/statistics.h"

void html_escape(struct buf *out, size_t from) {
    autobuf clean = BUF_INIT(4 * (out->len - from) + 16);
    text_clean(&clean, out->data + from, out->len - from);
    out->len = from;
    out->data[from] = '\0';
    for (size_t i = 0; i < clean.len; i++) {
        char c = clean.data[i];
        const char *entity = c == '&'    ? "&amp;"
                             : c == '<'  ? "&lt;"
                             : c == '>'  ? "&gt;"
                             : c == '"'  ? "&quot;"
                             : c == '\'' ? "&#39;"
                                         : NULL;
        if (entity) {
            buf_adds(out, entity);
        } else {
            buf_addc(out, c);
        }
    }
}

void html_text(struct buf *out, const char *s, size_t max) {
    size_t len = strlen(s), kept = text_cut(s, len, max), from = out->len;
    buf_add(out, s, kept);
    buf_adds(out, kept < len ? "…" : "");
    html_escape(out, from);
}

const char *html_tone(const char *verdict) {
    static const char *const good[] = {"helps", "pass", NULL};
    static const char *const bad[] = {"hurts", "fail", NULL};
    return strings_have(good, verdict)  ? "good"
           : strings_have(bad, verdict) ? "bad"
                                        : "even";
}

const char *html_verdict(const char *verdict) {
    return strcmp(verdict, "no_evidence") == 0      ? "no evidence"
           : strcmp(verdict, "not_measurable") == 0 ? "not measurable"
           : strings_have(verdict_names, verdict)   ? verdict
                                                    : "not judged";
}
