/* data/addresses.json is made by data/make_addresses.py, from Python's ipaddress. */
#include "base/address.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/json.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/un.h>

static bool is_public(const char *text) {
    struct sockaddr_storage storage = {0};
    struct sockaddr_in *v4 = (struct sockaddr_in *)&storage;
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&storage;
    if (strchr(text, ':')) {
        v6->sin6_family = AF_INET6;
        cr_assert(inet_pton(AF_INET6, text, &v6->sin6_addr) == 1, "%s", text);
    } else {
        v4->sin_family = AF_INET;
        cr_assert(inet_pton(AF_INET, text, &v4->sin_addr) == 1, "%s", text);
    }
    return address_is_public((const struct sockaddr *)&storage);
}

Test(address, is_what_the_registries_say) {
    autobuf text = BUF_INIT(1u << 20);
    cr_assert(file_read(TEST_DATA "/addresses.json", &text, NULL) == 0);
    autojson *rows = json_parse(text.data, text.len, NULL);
    size_t i, yes = 0;
    const json_t *row;
    json_array_foreach(rows, i, row) {
        const char *address = json_string_value(json_array_get(row, 0));
        bool expected = json_is_true(json_array_get(row, 1));
        cr_expect(is_public(address) == expected, "%s", address);
        yes += expected;
    }
    cr_assert(i > 300 && yes > 100 && yes < i);
}

Test(address, other_families_are_not_public) {
    struct sockaddr_un local = {.sun_family = AF_UNIX};
    cr_assert(not(address_is_public((const struct sockaddr *)&local)));
}
