#include "gpu/source/host_names.h"

#include "base/find.h"
#include "gpu/host_names_table.h"

#include <ctype.h>

static int compare(const void *name, const void *word) {
    return strcmp(name, *(const char *const *)word);
}

/* The tables are sorted. */
static bool listed(const char *const *list, size_t count, const char *name) {
    return bsearch(name, list, count, sizeof *list, compare) != NULL;
}

static bool begins(const char *const *list, size_t count, const char *name) {
    return any_of(i, 0, count, strncmp(list[i], name, strlen(list[i])) == 0);
}

bool host_names_header(const char *target) {
    return listed(headers, ARRAY_LEN(headers), target) ||
           begins(header_folders, ARRAY_LEN(header_folders), target);
}

bool host_names_torch_header(const char *target) {
    return begins(torch_folders, ARRAY_LEN(torch_folders), target);
}

bool host_names_library_header(const char *target) {
    return begins(library_headers, ARRAY_LEN(library_headers), target);
}

bool host_names_torch_device(const char *name) {
    return listed(torch_device, ARRAY_LEN(torch_device), name);
}

bool host_names_costly_header(const char *target) {
    return listed(costly_headers, ARRAY_LEN(costly_headers), target);
}

bool host_names_std(const char *name) {
    return listed(std_host, ARRAY_LEN(std_host), name);
}

bool host_names_namespace(const char *name) {
    return listed(namespaces, ARRAY_LEN(namespaces), name);
}

bool host_names_plain(const char *name) {
    /* what a library computes with, as in cufftComplex, is the device's too */
    bool number = strstr(name, "Complex") || strstr(name, "Real");
    return listed(plain, ARRAY_LEN(plain), name) ||
           (begins(plain_starts, ARRAY_LEN(plain_starts), name) && !number) ||
           (strncmp(name, "cuda", 4) == 0 && isupper((unsigned char)name[4]) &&
            !strstr(name, "_t") && strcmp(name, "cudaDeviceProp") != 0 &&
            strncmp(name, "cudaSuccess", 11) != 0);
}

bool host_names_macro(const char *name) {
    return begins(macro_starts, ARRAY_LEN(macro_starts), name);
}
