#include "skills/check/code_block.h"

static const char *line_at(const char *text, size_t len, int line) {
    const char *at = text, *end = text + len;
    while (line-- > 0 && at) {
        const char *feed = memchr(at, '\n', (size_t)(end - at));
        at = feed ? feed + 1 : NULL;
    }
    return at;
}

size_t code_block_inset(const struct markdown_code *code, const char *text, size_t len,
                        int first_line) {
    size_t skipped = strspn(code->text, "\n"); /* blank lines may lack what is before */
    size_t n = strcspn(code->text + skipped, "\n");
    const char *line = line_at(text, len, code->line - first_line + (int)skipped);
    if (!line || n == 0) {
        return 0;
    }
    size_t own = strcspn(line, "\r\n");
    bool ends = own > n && memcmp(line + own - n, code->text + skipped, n) == 0;
    return ends ? own - n : 0;
}

size_t code_block_length(const struct markdown_code *code, const char *text, size_t len) {
    size_t n = strlen(code->text);
    bool last = n && n <= len && text[len - 1] != '\n' && code->text[n - 1] == '\n' &&
                memcmp(text + len - (n - 1), code->text, n - 1) == 0;
    return last ? n - 1 : n;
}

void code_block_move_one(json_t *finding, size_t inset) {
    static const char *const keys[] = {"column", "end_column"};
    for (size_t i = 0; inset && i < ARRAY_LEN(keys); i++) {
        json_int_t column = json_get_integer(finding, keys[i], 0);
        if (column > 0) {
            json_object_set_new(finding, keys[i],
                                json_integer(column + (json_int_t)inset));
        }
    }
    if (inset) {
        json_object_del(finding, "fixes");
    }
}

void code_block_move(json_t *findings, size_t from, size_t inset) {
    for (size_t i = from; i < json_array_size(findings); i++) {
        code_block_move_one(json_array_get(findings, i), inset);
    }
}
