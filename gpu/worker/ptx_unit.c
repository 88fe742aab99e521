#include "gpu/worker/ptx_unit.h"

#include "base/buf.h"
#include "base/text.h"
#include "gpu/facts/ptx_files.h"
#include "gpu/source/ptx_text.h"
#include "protocol/finding.h"

#define OWN "upskilld_ptx_"

/* As a string literal holds it. A carriage return is a blank at a line's end. */
static void add_literal(struct buf *out, const char *text, size_t len) {
    for (const char *at = text; at < text + len; at++) {
        switch (*at) {
        case '\n':
            buf_adds(out, "\\n");
            break;
        case '\r':
            break;
        case '"':
        case '\\':
            buf_addc(out, '\\');
            buf_addc(out, *at);
            break;
        default:
            buf_addc(out, *at);
        }
    }
}

static void add_head(struct buf *out, const char *text, size_t len) {
    for (size_t lines = text_count(text, len, '\n'); lines; lines--) {
        buf_adds(out, "\\n");
    }
}

char *ptx_unit_new(const struct source_file *ptx) {
    struct buf out = BUF_INIT(2 * ptx->len + 1024);
    struct ptx_head head;
    (void)ptx_head_read(&head, ptx->text, ptx->len);
    buf_adds(&out, "extern \"C\" __global__ void " OWN "head() { asm volatile(\"}\\n");
    add_head(&out, ptx->text, head.end);
    add_literal(&out, ptx->text + head.end, ptx->len - head.end);
    buf_adds(&out, "\\n.visible .entry " OWN "tail() {\"); }\n");
    return buf_detach(&out);
}

int ptx_unit_lines_before(const char *compiled) {
    const char *at = compiled ? strstr(compiled, "// begin inline asm\n") : NULL;
    /* Of that comment and of our brace are the next two line ends. */
    return at ? (int)text_count(compiled, (size_t)(at - compiled), '\n') + 2 : 0;
}

void ptx_unit_drop_own(json_t *kernels) {
    for (size_t i = json_array_size(kernels); i-- > 0;) {
        const char *symbol = json_get_string(json_array_get(kernels, i), "symbol", "");
        if (!strcmp(symbol, OWN "head") || !strcmp(symbol, OWN "tail")) {
            json_array_remove(kernels, i);
        }
    }
}

char *ptx_unit_text(const struct source_file *ptx) {
    struct buf out = BUF_INIT(ptx->len + 8192);
    struct ptx_head head;
    (void)ptx_head_read(&head, ptx->text, ptx->len);
    for (size_t lines = text_count(ptx->text, head.start, '\n'); lines; lines--) {
        buf_addc(&out, '\n');
    }
    buf_add(&out, ptx->text + head.start, head.end - head.start);
    buf_adds(&out, "\t.file\t0 ");
    ptx_files_add_name(&out, ptx->display);
    buf_add(&out, ptx->text + head.end, ptx->len - head.end);
    autofree char *text = buf_detach(&out);
    return ptx_files_rename(text, NULL, NULL, NULL);
}

json_t *ptx_unit_version_note(const struct source_file *ptx, const char *compiled) {
    struct ptx_head said, known;
    if (!compiled || !ptx_head_read(&said, ptx->text, ptx->len) ||
        !ptx_head_read(&known, compiled, strlen(compiled)) || said.major < known.major ||
        (said.major == known.major && said.minor <= known.minor)) {
        return NULL;
    }
    autofree char *message =
        xasprintf("this PTX is of version %u.%u, and the compiler here knows %u.%u: it "
                  "refuses what came later",
                  said.major, said.minor, known.major, known.minor);
    const struct finding_span span =
        finding_span_in(ptx->text, ptx->len, said.start, said.start + strlen(".version"));
    return finding_new("upskilld", "ptx_version", FINDING_INFO, message, ptx->display,
                       &span);
}
