/* The lexer covers every byte in order; blanking keeps the length and every newline,
 * changes nothing where there is no host code, and names places within the text. */
#include "base/mem.h"
#include "gpu/source/cuda_lexer.h"
#include "gpu/source/host_code.h"
#include "gpu/source/host_guesses.h"
#include "gpu/source/include_directives.h"
#include "gpu/source/python_fields.h"
#include "gpu/source/python_strings.h"
#include "gpu/source/source_set.h"
#include "tests/unit/gpu/host_code_blank.h"

#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds) {
    if (!holds) {
        abort();
    }
}

static void check_tokens(const char *text, size_t len) {
    struct cuda_lexer l;
    size_t end = 0;
    cuda_lexer_init(&l, text, len);
    for (;;) {
        struct cuda_token t = cuda_lexer_next(&l);
        require(t.start >= end && t.end <= len);
        if (t.kind == CUDA_END) {
            return;
        }
        require(t.end > t.start);
        end = t.end;
        if (t.kind == CUDA_DIRECTIVE) {
            struct cuda_directive d;
            cuda_directive_read(&l, &t, &d);
            require(d.argument >= t.start && d.argument <= d.argument_end &&
                    d.argument_end <= t.end);
            cuda_directive_finish(&d);
        }
    }
}

static void ignore_reference(const struct file_reference *r, void *data) {
    size_t len = *(size_t *)data;
    require(r->start < r->end && r->end <= len);
}

/* The first half as a unit, the second as a header that it includes: what the unit asks
 * of the header's kernels stands behind its last line. */
static void check_header(const char *text, size_t size) {
    struct source_set s = {0};
    struct host_code told;
    struct host_guesses guesses = {0};
    size_t half = size / 2;
    source_set_add(&s, "k.cu", "k.cu", text, half, NULL);
    source_set_add(&s, "k.cuh", "k.cuh", text + half, size - half, NULL);
    host_code_blank_sources(&s, &told, &guesses);
    require(s.files[0].len >= half && s.files[1].len == size - half);
    require(s.files[0].len == half || s.files[0].text[half] == '\n');
    for (size_t i = 0; i < half; i++) {
        require((text[i] == '\n') == (s.files[0].text[i] == '\n'));
    }
    host_guesses_finish(&guesses);
    host_code_finish(&told);
    source_set_finish(&s);
}

/* As a Python script: what is kept of it is its own, and fields lie within it. */
static void check_script(const char *text, size_t size) {
    autofree char *kept = xmalloc(size + 1);
    for (size_t unit = PYTHON_ALL_UNITS; unit < 3; unit++) {
        memcpy(kept, text, size + 1);
        require(python_strings_keep_cuda(kept, size, unit) > 0);
        for (size_t i = 0; i < size; i++) {
            require((text[i] == '\n') == (kept[i] == '\n'));
        }
        struct python_field field;
        if (python_field_find(text, kept, size, &field)) {
            require(field.start < field.end && field.end <= size);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    autofree char *text = xmalloc(size + 1), *before = xmalloc(size + 1);
    memcpy(text, data, size);
    text[size] = '\0';
    check_tokens(text, size);
    require(cuda_token_end(text, size, size / 2) <= size);
    source_text_settle(text, size);
    memcpy(before, text, size + 1);
    require(!source_text_settle(text, size));
    include_directives_read(text, size, ignore_reference, &size);

    check_header(text, size);
    check_script(text, size);
    struct host_code first, second;
    host_code_blank(text, size, &first);
    for (size_t i = 0; i < size; i++) {
        require((text[i] == '\n') == (before[i] == '\n'));
    }
    require(first.has_host_code || memcmp(text, before, size) == 0);
    for (size_t i = 0; i < first.kernel_count; i++) {
        require(first.kernels[i].end <= size && first.kernels[i].signature_end <= size);
    }
    host_code_blank(text, size, &second);
    host_code_finish(&first);
    host_code_finish(&second);
    return 0;
}
