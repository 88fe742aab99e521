#include "skills/install/zip.h"

#include <sys/stat.h>

#define FILE_HEADER 0x04034b50u
#define DIRECTORY_HEADER 0x02014b50u
#define DIRECTORY_END 0x06054b50u
#define VERSION 20     /* 2.0 */
#define UNIX (3u << 8) /* whose permissions these are */
#define UTF8 0x0800u
#define NO_DATE 0x0021u /* 1 January 1980, the first there is */

static void add_number(struct buf *out, uint32_t value, int bytes) {
    for (int i = 0; i < bytes; i++) {
        buf_addc(out, (char)(value >> (8 * i)));
    }
}

/* ISO 3309, as ZIP, gzip and PNG have it. */
static uint32_t crc32_of(const unsigned char *bytes, size_t len) {
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < len; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++) {
            crc = crc >> 1 ^ (0xedb88320u & -(crc & 1));
        }
    }
    return ~crc;
}

/* The fields that both headers of a file have in common. */
static void add_common(struct buf *out, const char *name, uint32_t crc, size_t len) {
    add_number(out, UTF8, 2);
    add_number(out, 0, 2); /* stored */
    add_number(out, 0, 2); /* midnight */
    add_number(out, NO_DATE, 2);
    add_number(out, crc, 4);
    add_number(out, (uint32_t)len, 4);
    add_number(out, (uint32_t)len, 4);
    add_number(out, (uint32_t)strlen(name), 2);
    add_number(out, 0, 2); /* no extra field */
}

int zip_add(struct zip *z, const char *name, mode_t mode, const void *bytes, size_t len) {
    uint32_t at = (uint32_t)z->out->len, crc = crc32_of(bytes, len);
    if (strlen(name) > UINT16_MAX || len >= UINT32_MAX || z->out->len >= UINT32_MAX ||
        z->count == UINT16_MAX) {
        return -EMSGSIZE;
    }
    add_number(z->out, FILE_HEADER, 4);
    add_number(z->out, VERSION, 2);
    add_common(z->out, name, crc, len);
    buf_adds(z->out, name);
    buf_add(z->out, bytes, len);
    add_number(&z->directory, DIRECTORY_HEADER, 4);
    add_number(&z->directory, UNIX | VERSION, 2);
    add_number(&z->directory, VERSION, 2);
    add_common(&z->directory, name, crc, len);
    add_number(&z->directory, 0, 2); /* no comment */
    add_number(&z->directory, 0, 2); /* on the first disk */
    add_number(&z->directory, 0, 2); /* no internal attributes */
    add_number(&z->directory, (uint32_t)(S_IFREG | (mode & 07777)) << 16, 4);
    add_number(&z->directory, at, 4);
    buf_adds(&z->directory, name);
    z->count++;
    return z->out->full || z->directory.full ? -EMSGSIZE : 0;
}

int zip_end(struct zip *z) {
    uint32_t at = (uint32_t)z->out->len, len = (uint32_t)z->directory.len;
    buf_add(z->out, z->directory.data, z->directory.len);
    add_number(z->out, DIRECTORY_END, 4);
    add_number(z->out, 0, 4); /* one disk */
    add_number(z->out, z->count, 2);
    add_number(z->out, z->count, 2);
    add_number(z->out, len, 4);
    add_number(z->out, at, 4);
    add_number(z->out, 0, 2); /* no comment */
    buf_finish(&z->directory);
    return z->out->full ? -EMSGSIZE : 0;
}
