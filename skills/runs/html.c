#include "skills/runs/html.h"

#include "base/buf.h"
#include "base/strings.h"
#include "base/text.h"
#include "skills/report_texts.h"
#include "skills/statistics/statistics.h"

#define TITLE 300 /* bytes */

extern const char style_report[]; /* report.css */

void html_text(struct buf *out, const char *s, size_t max) {
    size_t len = strlen(s), kept = text_cut(s, len, max);
    autobuf clean = BUF_INIT(4 * max + 16);
    text_clean(&clean, s, kept);
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
    buf_adds(out, kept < len ? "…" : "");
}

const char *html_tone(const char *verdict) {
    static const char *const good[] = {"helps", "pass", NULL};
    static const char *const bad[] = {"hurts", "fail", NULL};
    return strings_have(good, verdict)  ? "good"
           : strings_have(bad, verdict) ? "bad"
                                        : "even";
}

void html_badge(struct buf *out, const char *verdict) {
    autofree char *word =
        xstrdup(strings_have(verdict_names, verdict) ? verdict : "not judged");
    for (char *c = word; (c = strchr(c, '_'));) {
        *c = ' ';
    }
    buf_addf(out, "<span class=\"badge %s\">%s</span>", html_tone(verdict), word);
}

void html_page_begin(struct buf *out, const char *title) {
    html_page_begin_with_script(out, title, NULL);
}

void html_page_begin_with_script(struct buf *out, const char *title, const char *digest) {
    buf_adds(out, page_head);
    buf_adds(out, digest ? "; script-src '" : "");
    buf_adds(out, digest ? digest : "");
    buf_adds(out, digest ? "'\"><title>" : "\"><title>");
    html_text(out, title, TITLE);
    buf_addf(out, "</title><style>%s</style></head><body>\n", style_report);
}
