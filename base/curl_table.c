#include "base/curl_table.h"

#include "base/err.h"
#include "base/file.h"
#include "base/find.h"

#include <dlfcn.h>
#include <unistd.h>

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
    SYMBOL(multi_cleanup),       SYMBOL(easy_pause),
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

/* The system's library, which its distribution keeps mended; else the one that came with
 * this program (an installed wheel or archive has it). */
static void *library_open(bool *ret_own) {
    static const char *const own[] = {"../lib/upskilld/libcurl.so.4"};
    void *library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
    library = library ? library : dlopen("libcurl-gnutls.so.4", RTLD_NOW | RTLD_LOCAL);
    if (library) {
        return library;
    }
    autofree char *path = beside_program(own, ARRAY_LEN(own), R_OK);
    *ret_own = path != NULL;
    return path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
}

/* A library that was not built for this system does not know where its certificates are.
 */
static const char *certificates_find(void) {
    const char *const places[] = {getenv("SSL_CERT_FILE"),
                                  "/etc/ssl/certs/ca-certificates.crt",
                                  "/etc/pki/tls/certs/ca-bundle.crt",
                                  "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem"};
    size_t at =
        first_of(i, 0, ARRAY_LEN(places), places[i] && access(places[i], R_OK) == 0);
    return at < ARRAY_LEN(places) ? places[at] : NULL;
}

const struct curl_table *curl_table_load(struct err *err) {
    static struct curl_table table;
    static bool loaded; /* stays so; a failure is tried again, since it can be cured */
    if (loaded) {
        return &table;
    }
    bool own = false;
    void *library = library_open(&own);
    if (!library) {
        err_set(err, -ENOSYS,
                "libcurl cannot be loaded: install libcurl.so.4 (Debian: libcurl4)");
        return NULL;
    }
    const char *missing = find_symbols(library, &table);
    if (missing || table.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        err_set(err, -ENOSYS, "libcurl cannot be used: %s",
                missing ? missing : "curl_global_init failed");
        dlclose(library);
        return NULL;
    }
    table.certificates = own ? certificates_find() : NULL;
    loaded = true;
    return &table;
}
