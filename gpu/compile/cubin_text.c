#include "gpu/compile/cubin_text.h"

#include <nettle/base64.h>

json_t *cubin_to_text(const void *cubin, size_t len) {
    if (len > CUBIN_TEXT_MAX) {
        return NULL;
    }
    size_t size = BASE64_ENCODE_RAW_LENGTH(len);
    autofree char *text = xmalloc(size + 1);
    base64_encode_raw(text, len, cubin);
    return json_stringn(text, size);
}

void *cubin_from_text(const json_t *text, size_t *ret_len) {
    struct base64_decode_ctx context;
    size_t size = json_string_length(text);
    if (!size || size > BASE64_ENCODE_RAW_LENGTH(CUBIN_TEXT_MAX)) {
        return NULL;
    }
    size_t len = BASE64_DECODE_LENGTH(size);
    unsigned char *bytes = xmalloc(len + 1);
    base64_decode_init(&context);
    if (!base64_decode_update(&context, &len, bytes, size, json_string_value(text)) ||
        !base64_decode_final(&context)) {
        free(bytes);
        return NULL;
    }
    *ret_len = len;
    return bytes;
}
