#include "gpu/draft/recorded_launch.h"

#include "base/text.h"
#include "gpu/spec/spec_npy.h"

bool recorded_param(const json_t *record, size_t i, struct recorded_param *ret) {
    const json_t *item = json_array_get(json_object_get(record, "params"), i);
    const char *text = json_string_value(item);
    size_t len = json_string_length(item) / 2;
    *ret = (struct recorded_param){.len = len};
    for (size_t k = 0; text && k < len && len <= RECORDED_PARAM; k++) {
        int high = text_hex_digit(text[2 * k]), low = text_hex_digit(text[2 * k + 1]);
        if (high < 0 || low < 0) {
            return false;
        }
        ret->data[k] = (uint8_t)(high << 4 | low);
    }
    return text && len && len <= RECORDED_PARAM;
}

const json_t *recorded_memory(const json_t *record, uint64_t address, size_t *ret,
                              uint64_t *offset) {
    const json_t *found = NULL;
    json_each(json_object_get(record, "memory"), i, one) {
        uint64_t first = (uint64_t)json_get_integer(one, "address", 0);
        uint64_t bytes = (uint64_t)json_get_integer(one, "bytes", 0);
        bool inside = address >= first && address - first < bytes;
        if (i < RECORDED_MEMORY && (inside || (!found && address == first + bytes))) {
            *ret = i;
            *offset = address - first;
            found = one;
        }
    }
    return found;
}

uint64_t recorded_word(const uint8_t *bytes) {
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
    return word;
}

bool recorded_pointers(const json_t *record, const json_t *memory) {
    size_t len, at;
    uint64_t offset;
    autofree unsigned char *data =
        spec_array_decode(json_object_get(memory, "data"), &len);
    for (size_t k = 0; data && k + 8 <= len; k += 8) {
        uint64_t word = recorded_word(data + k);
        if (word && recorded_memory(record, word, &at, &offset)) {
            return true;
        }
    }
    return false;
}
