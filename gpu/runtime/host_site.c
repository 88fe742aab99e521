#include "gpu/runtime/host_site.h"

#include <dlfcn.h>
#include <link.h>
#include <unwind.h>

/* The linker's names for where the library begins and ends. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

bool is_of_library(const void *code) {
    return (const char *)code >= __ehdr_start && (const char *)code < _end;
}

static _Unwind_Reason_Code frame_take(struct _Unwind_Context *context, void *to) {
    struct host_site *s = to;
    uintptr_t address = _Unwind_GetIP(context);
    if (!address) {
        return _URC_END_OF_STACK;
    }
    if (!is_of_library((void *)address)) {
        s->frames[s->count++] = (void *)address;
    }
    return s->count == ARRAY_LEN(s->frames) ? _URC_END_OF_STACK : _URC_NO_REASON;
}

void host_site_take(struct host_site *ret) {
    ret->count = 0;
    (void)_Unwind_Backtrace(frame_take, ret);
}

struct host_site host_site_of(void *return_address) {
    return (struct host_site){1, {return_address}};
}

bool host_site_same(const struct host_site *a, const struct host_site *b) {
    return a->count == b->count &&
           memcmp(a->frames, b->frames, a->count * sizeof *a->frames) == 0;
}

json_t *host_site_json(const struct host_site *s) {
    json_t *list = json_array();
    for (unsigned k = 0; k < s->count; k++) {
        Dl_info info;
        struct link_map *map = NULL;
        uintptr_t at = (uintptr_t)s->frames[k] - 1;
        if (!dladdr1((void *)at, &info, (void **)&map, RTLD_DL_LINKMAP)) {
            continue;
        }
        json_t *frame = json_object();
        json_object_set_new(frame, "object", json_clean_z(info.dli_fname));
        json_object_set_new(frame, "offset",
                            json_integer((json_int_t)(at - (map ? map->l_addr : 0))));
        json_array_append_new(list, frame);
    }
    return list;
}
