/* A program's device code as nvcc puts it into the program: the entries of fat binaries.
 */
#include "base/err.h"
#include "gpu/runtime/fatbin.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct fat {
    uint32_t magic;
    uint16_t version, header_bytes;
    uint64_t bytes;
    uint8_t entries[];
};

/* The first byte says where a second fat binary begins, and whether they are linked. */
static struct fat *fat_new(const uint8_t *data, size_t size) {
    struct fat *f = malloc(sizeof *f + size + 1);
    *f = (struct fat){
        .magic = 0xba55ed50, .version = 1, .header_bytes = 16, .bytes = size};
    memcpy(f->entries, data, size);
    return f;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct {
        uint32_t magic, version;
        void *data;
        void *const *parts;
    } wrapper = {.magic = 0x466243b1, .version = size && data[0] & 1 ? 2 : 1};
    size_t first = size ? 1 + (size - 1) * (data[0] >> 1) / 127 : 0;
    struct fat *one = fat_new(data + (size > 0), first - (size > 0));
    struct fat *two = fat_new(data + first, size - first);
    void *const parts[] = {one, two, NULL};
    struct err err = {0};
    struct buf text = BUF_INIT(1u << 20);
    wrapper.data = one;
    wrapper.parts = parts;
    int rc = fatbin_ptx(&wrapper, &text, &err);
    if (rc < 0 ? !err.msg[0] : !text.len) {
        abort();
    }
    buf_finish(&text);
    free(one);
    free(two);
    return 0;
}
