/* Hostile bytes through everything that makes text of them: the results are UTF-8,
 * cleaning twice is cleaning once, positions stay within the text, and JSON that was read
 * is read again as the same value. */
#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "base/lines.h"
#include "base/text.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good) {
    if (!good) {
        abort();
    }
}

static void check_cleaning(const char *s, size_t len) {
    autobuf good = BUF_INIT(1u << 26), clean = BUF_INIT(1u << 26),
            again = BUF_INIT(1u << 26);
    check(text_repair(&good, s, len) == 0 && text_is_utf8(good.data, good.len));
    check(!text_is_utf8(s, len) || (good.len == len && !memcmp(good.data, s, len)));
    check(text_clean(&clean, s, len) == 0 && text_is_utf8(clean.data, clean.len));
    check(!memchr(clean.data, 0x1b, clean.len) && !memchr(clean.data, '\r', clean.len));
    check(text_clean(&again, clean.data, clean.len) == 0);
    check(again.len == clean.len && !memcmp(again.data, clean.data, clean.len));
}

static void check_positions(const char *s, size_t len) {
    size_t units = text_utf16_units(s, len);
    check(text_utf16_offset(s, len, units) == len);
    for (size_t i = 0; i <= len && i < 64; i++) {
        size_t offset = text_utf16_offset(s, len, i);
        check(offset <= len && text_utf16_units(s, offset) <= i);
        check(text_cut(s, len, i) <= i);
    }
    struct lines lines;
    lines_init(&lines, s, len);
    for (size_t i = 0; i < lines.count; i++) {
        size_t end = lines_end(&lines, s, i);
        check(end >= lines.starts[i] && end <= len && lines_at(&lines, end) == i);
    }
    lines_finish(&lines);
    (void)text_width(s, len);
}

static void check_json(char *s, size_t len) {
    struct err err = {0};
    autojson *value = json_parse(s, len, &err);
    check((value != NULL) != (err.code < 0) && text_is_utf8(err.msg, strlen(err.msg)));
    if (value) {
        autobuf out = BUF_INIT(1u << 26);
        check(json_write(&out, value) == 0);
        autojson *back = json_parse(out.data, out.len, &err);
        check(back && json_equal(value, back));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *copy = malloc(size ? size : 1);
    if (size) {
        memcpy(copy, data, size);
    }
    check_cleaning(copy, size);
    check_positions(copy, size);
    check_json(copy, size);
    free(copy);
    return 0;
}
