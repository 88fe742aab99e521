#include "base/address.h"

#include "base/mem.h"

#include <netinet/in.h>

static const struct {
    uint32_t network;
    unsigned bits;
} special_v4[] = {
    {0x00000000, 8},  /* this network */
    {0x0a000000, 8},  /* private */
    {0x64400000, 10}, /* shared by carriers */
    {0x7f000000, 8},  /* loopback */
    {0xa9fe0000, 16}, /* link-local */
    {0xac100000, 12}, /* private */
    {0xc0000000, 24}, /* protocol assignments */
    {0xc0000200, 24}, /* documentation */
    {0xc0586300, 24}, /* 6to4 relays */
    {0xc0a80000, 16}, /* private */
    {0xc6120000, 15}, /* benchmarks */
    {0xc6336400, 24}, /* documentation */
    {0xcb007100, 24}, /* documentation */
    {0xe0000000, 4},  /* multicast */
    {0xf0000000, 4},  /* reserved, broadcast */
};

static bool is_public_v4(uint32_t address) {
    for (size_t i = 0; i < ARRAY_LEN(special_v4); i++) {
        uint32_t mask = ~(uint32_t)0 << (32 - special_v4[i].bits);
        if ((address & mask) == special_v4[i].network) {
            return false;
        }
    }
    return true;
}

static uint32_t v4_at(const uint8_t *bytes) {
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 |
           bytes[3];
}

static const struct {
    uint8_t prefix[12];
    size_t len; /* bytes of it */
    int at;     /* where the IPv4 address stands that decides; negative: never public */
} special_v6[] = {
    {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff}, 12, 12},    /* ::ffff:0:0/96, mapped */
    {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 12, -1},          /* ::/96, ::1 */
    {{0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0}, 12, 12}, /* 64:ff9b::/96, NAT64 */
    {{0, 0x64, 0xff, 0x9b, 0, 1}, 6, -1},                    /* 64:ff9b:1::/48 */
    {{0x20, 0x01, 0, 0}, 4, -1},                             /* 2001::/32, Teredo */
    {{0x20, 0x01, 0x0d, 0xb8}, 4, -1},                       /* documentation */
    {{0x20, 0x02}, 2, 2},                                    /* 2002::/16, 6to4 */
};

static bool is_public_v6(const uint8_t *bytes) {
    if ((bytes[0] & 0xe0) != 0x20 && bytes[0] != 0) { /* only 2000::/3 is global */
        return false;
    }
    for (size_t i = 0; i < ARRAY_LEN(special_v6); i++) {
        if (memcmp(bytes, special_v6[i].prefix, special_v6[i].len) == 0) {
            return special_v6[i].at >= 0 && is_public_v4(v4_at(bytes + special_v6[i].at));
        }
    }
    return bytes[0] != 0;
}

bool address_is_public(const struct sockaddr *address) {
    if (address->sa_family == AF_INET) {
        struct sockaddr_in v4;
        memcpy(&v4, address, sizeof v4);
        return is_public_v4(ntohl(v4.sin_addr.s_addr));
    }
    if (address->sa_family == AF_INET6) {
        struct sockaddr_in6 v6;
        memcpy(&v6, address, sizeof v6);
        return is_public_v6(v6.sin6_addr.s6_addr);
    }
    return false;
}
