/* Any text as a check spec in an editor: its diagnostics, its places, completion and
 * hover anywhere in it. The first byte says where the cursor stands. */
#include "base/mem.h"
#include "gpu/editor/json_places.h"
#include "gpu/editor/spec_completion.h"
#include "gpu/editor/spec_document.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_places(const char *text, size_t len, size_t offset) {
    struct json_places p;
    struct json_spot spot;
    json_places_read(&p, text, len);
    for (size_t i = 0; i < p.count; i++) {
        const struct json_place *at = &p.list[i];
        if (at->parent > i || at->key > at->key_end || at->start > at->end ||
            at->end > len || at->key_end > len) {
            abort();
        }
    }
    json_places_at(&p, offset, &spot);
    if (spot.start > spot.end || spot.end > len) {
        abort();
    }
    json_places_finish(&p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 1 || size > 4096) {
        return 0;
    }
    size_t len = size - 1, offset = len * data[0] / 255, start, end;
    autofree char *text = xmalloc(size);
    memcpy(text, data + 1, len);
    text[len] = '\0';
    const struct document d = {.text = text, .len = len};
    autojson *findings = json_array();
    spec_document_judge(text, len, NULL, "k.check.json", findings);
    check_places(text, len, offset);
    autojson *items = spec_completions(&d, offset);
    autofree char *hover = check_hover(&d, NULL, offset, &start, &end);
    if (!json_is_array(items) || (hover && (start > end || end > len))) {
        abort();
    }
    return 0;
}
