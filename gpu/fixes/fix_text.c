#include "gpu/fixes/fix_text.h"

void fix_text_init(struct fix_text *t, const struct source_file *file) {
    *t = (struct fix_text){
        .display = file->display,
        .text = file->original ? file->original : file->text,
        .len = file->len,
    };
    lines_init(&t->lines, t->text, t->len);
    struct cuda_lexer lexer;
    size_t room = 0;
    cuda_lexer_init(&lexer, t->text, t->len);
    for (;;) {
        struct cuda_token token = cuda_lexer_next(&lexer);
        if (token.kind == CUDA_END || t->count == FIX_TEXT_MAX_TOKENS) {
            return;
        }
        list_room(t->tokens, t->count, room, 256);
        t->tokens[t->count++] = token;
    }
}

void fix_text_finish(struct fix_text *t) {
    lines_finish(&t->lines);
    free(t->tokens);
}

size_t fix_text_offset(const struct fix_text *t, int line, int column) {
    if (line < 1 || (size_t)line > t->lines.count) {
        return t->len;
    }
    size_t at = t->lines.starts[line - 1] + (size_t)(column > 0 ? column - 1 : 0);
    size_t end = lines_end(&t->lines, t->text, (size_t)line - 1);
    return at < end ? at : end;
}

size_t fix_text_token(const struct fix_text *t, size_t offset) {
    size_t low = 0, high = t->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (t->tokens[middle].end > offset) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

bool fix_text_is_any(const struct fix_text *t, size_t i, const char *const *words) {
    while (*words && !fix_text_is(t, i, *words)) {
        words++;
    }
    return *words != NULL;
}

bool fix_text_has(const struct fix_text *t, size_t i, const char *word, size_t len) {
    return i < t->count && t->tokens[i].end - t->tokens[i].start == len &&
           memcmp(t->text + t->tokens[i].start, word, len) == 0;
}

bool fix_text_is(const struct fix_text *t, size_t i, const char *word) {
    return fix_text_has(t, i, word, strlen(word));
}

bool fix_text_says(const struct fix_text *t, const char *const *words) {
    for (size_t i = 0; i < t->count; i++) {
        size_t k = 0;
        while (words[k] && fix_text_is(t, i + k, words[k])) {
            k++;
        }
        if (!words[k]) {
            return true;
        }
    }
    return false;
}

static struct cuda_directive directive_at(const struct fix_text *t, size_t i) {
    struct cuda_lexer lexer;
    struct cuda_directive d;
    cuda_lexer_init(&lexer, t->text, t->len);
    cuda_directive_read(&lexer, &t->tokens[i], &d);
    return d;
}

size_t fix_text_include_place(const struct fix_text *t) {
    size_t place = 0;
    int depth = 0; /* of conditionals: what stands in one may be left out */
    for (size_t i = 0; i < t->count && t->tokens[i].kind == CUDA_DIRECTIVE; i++) {
        struct cuda_directive d = directive_at(t, i);
        bool counts = strcmp(d.name, "include") == 0 || strcmp(d.name, "pragma") == 0;
        depth += cuda_directive_nests(&d);
        cuda_directive_finish(&d);
        if (counts && depth == 0) {
            size_t line = lines_at(&t->lines, t->tokens[i].end);
            place = line + 1 < t->lines.count ? t->lines.starts[line + 1] : t->len;
        }
    }
    return place;
}

bool fix_text_includes(const struct fix_text *t, const char *header) {
    size_t len = strlen(header);
    for (size_t i = 0; i < t->count; i++) {
        if (t->tokens[i].kind != CUDA_DIRECTIVE) {
            continue;
        }
        struct cuda_directive d = directive_at(t, i);
        bool same = strcmp(d.name, "include") == 0 && d.target &&
                    strlen(d.target) == len - 2 &&
                    memcmp(d.target, header + 1, len - 2) == 0;
        cuda_directive_finish(&d);
        if (same) {
            return true;
        }
    }
    return false;
}
