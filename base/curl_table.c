#include "base/curl_table.h"

#include "base/err.h"
#include "base/mem.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

static const struct symbol {
    const char *name;
    size_t offset; /* in struct curl_table */
} symbols[] = {
#define SYMBOL(name)                                                                     \
    { "curl_" #name, offsetof(struct curl_table, name) }
    SYMBOL(global_init),         SYMBOL(easy_init),        SYMBOL(easy_setopt),
    SYMBOL(easy_getinfo),        SYMBOL(easy_strerror),    SYMBOL(easy_cleanup),
    SYMBOL(slist_append),        SYMBOL(slist_free_all),   SYMBOL(multi_init),
    SYMBOL(multi_setopt),        SYMBOL(multi_add_handle), SYMBOL(multi_remove_handle),
    SYMBOL(multi_socket_action), SYMBOL(multi_assign),     SYMBOL(multi_info_read),
    SYMBOL(multi_strerror),      SYMBOL(multi_cleanup),    SYMBOL(easy_pause),
#undef SYMBOL
};

/* Returns the name of a missing function, or NULL. */
static const char *find_symbols(void *library, struct curl_table *table) {
    for (size_t i = 0; i < ARRAY_LEN(symbols); i++) {
        void *function = dlsym(library, symbols[i].name);
        if (!function) {
            return symbols[i].name;
        }
        memcpy((char *)table + symbols[i].offset, &function, sizeof function);
    }
    return NULL;
}

const struct curl_table *curl_table_load(struct err *err) {
    static struct curl_table table;
    static bool loaded; /* stays so; a failure is tried again, since it can be cured */
    if (loaded) {
        return &table;
    }
    void *library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        library = dlopen("libcurl-gnutls.so.4", RTLD_NOW | RTLD_LOCAL);
    }
    if (!library) {
        err_set(err, -ENOSYS,
                "libcurl cannot be loaded: install libcurl.so.4 (Debian: libcurl4)");
        return NULL;
    }
    const char *missing = find_symbols(library, &table);
    if (missing || table.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        err_set(err, -ENOSYS, "libcurl cannot be used: %s",
                missing ? missing : "its start failed");
        dlclose(library);
        return NULL;
    }
    loaded = true;
    return &table;
}
