#include "gpu/runtime/advice.h"

#include "gpu/runtime/driver_api.h"

enum { PLACE_NONE, PLACE_DEVICE, PLACE_HOST, PLACE_LAST = 4 };

enum advice_kind { READ_MOSTLY, PREFERRED, BY_DEVICE, BY_HOST, FETCHED };

#define SAID_MAX 4096 /* the latest */

static struct {
    pthread_mutex_t lock;
    struct said {
        uint64_t from, to;
        enum advice_kind of;
        struct memory_location place;
    } items[SAID_MAX];
    size_t count;
} said = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- what was said; the lock is held ---- */

static void items_drop(uint64_t from, uint64_t to, const enum advice_kind *of) {
    size_t kept = 0;
    for (size_t k = 0; k < said.count; k++) {
        const struct said *s = &said.items[k];
        if (s->from < from || s->to > to || (of && s->of != *of)) {
            said.items[kept++] = *s;
        }
    }
    said.count = kept;
}

static void item_add(const struct said *s) {
    items_drop(s->from, s->to, &s->of);
    if (said.count == SAID_MAX) {
        said.count--;
        memmove(said.items, said.items + 1, said.count * sizeof *said.items);
    }
    said.items[said.count++] = *s;
}

struct common { /* of all bytes of a range */
    bool known, differs;
    struct memory_location place;
};

static void answer_add(struct common *a, struct memory_location p) {
    a->differs |= a->known && (p.type != a->place.type || p.id != a->place.id);
    a->place = p;
    a->known = true;
}

/* By the first `count` items: the last one that is about a byte counts. */
static void answer_of(struct common *ret, enum advice_kind of, uint64_t from, uint64_t to,
                      size_t count) {
    while (from < to && count > 0) {
        const struct said *s = &said.items[--count];
        if (s->of == of && s->from < to && from < s->to) {
            answer_add(ret, s->place);
            answer_of(ret, of, from, s->from, count);
            from = s->to;
        }
    }
    if (from < to) {
        answer_add(ret, (struct memory_location){PLACE_NONE, 0});
    }
}

static struct memory_location ask(enum advice_kind of, uint64_t from, uint64_t to) {
    struct common a = {0};
    pthread_mutex_lock(&said.lock);
    answer_of(&a, of, from, to, said.count);
    pthread_mutex_unlock(&said.lock);
    return a.differs ? (struct memory_location){PLACE_NONE, 0} : a.place;
}

static void say(enum advice_kind of, uint64_t from, uint64_t to, struct memory_location place) {
    pthread_mutex_lock(&said.lock);
    item_add(&(struct said){from, to, of, place});
    pthread_mutex_unlock(&said.lock);
}

void advice_forget(uint64_t address, uint64_t bytes) {
    pthread_mutex_lock(&said.lock);
    items_drop(address, address + bytes, NULL);
    pthread_mutex_unlock(&said.lock);
}

/* ---- checks ---- */

static cudart_error range_check(const void *address, size_t bytes) {
    pthread_mutex_lock(&runtime.device.memory.lock);
    const struct allocation *a =
        device_memory_at(&runtime.device, (uintptr_t)address, bytes);
    bool managed = a && (a->flags & DEVICE_MANAGED ||
                         (a->kind == MEMORY_VARIABLE && device_is_mapped(&runtime.device, a)));
    pthread_mutex_unlock(&runtime.device.memory.lock);
    return managed && bytes ? CUDART_SUCCESS
                            : explain(CUDART_INVALID_VALUE,
                                      "the range is not inside of managed memory");
}

/* Such a structure is passed in one register. */
static struct memory_location place_of(uint64_t location) {
    struct memory_location p;
    memcpy(&p, &location, sizeof p);
    return p;
}

static cudart_error place_check(struct memory_location p) {
    return p.type == PLACE_DEVICE && p.id != 0
               ? explain(CUDART_INVALID_DEVICE, "there is one device, 0")
           : p.type < PLACE_DEVICE || p.type > PLACE_LAST
               ? explain(CUDART_INVALID_VALUE, "%d is no type of a location", p.type)
               : CUDART_SUCCESS;
}

/* ---- what the program calls ---- */

EXPORT cudart_error cudaMemPrefetchAsync(const void *address, size_t bytes,
                                         uint64_t location, unsigned, struct stream *) {
    const struct memory_location place = place_of(location);
    cudart_error code = range_check(address, bytes);
    code = code ? code : place_check(place);
    if (!code) {
        say(FETCHED, (uintptr_t)address, (uintptr_t)address + bytes, place);
    }
    RETURN(code);
}

/* cudaMemoryAdvise: a setting and its opposite by turns, from 1 on. */
EXPORT cudart_error cudaMemAdvise(const void *address, size_t bytes, int advice,
                                  uint64_t location) {
    static const enum advice_kind subjects[] = {READ_MOSTLY, PREFERRED, BY_DEVICE};
    struct memory_location place = place_of(location);
    cudart_error code = range_check(address, bytes);
    if (!code && (advice < 1 || advice > 6)) {
        code = explain(CUDART_INVALID_VALUE, "%d is no advice", advice);
    }
    bool sets = advice % 2 == 1;
    enum advice_kind of = code ? READ_MOSTLY : subjects[(advice - 1) / 2];
    bool has_place = of == BY_DEVICE || (of == PREFERRED && sets);
    code = code || !has_place ? code : place_check(place);
    if (of == BY_DEVICE && place.type != PLACE_DEVICE) {
        of = BY_HOST;
    }
    place = !sets              ? (struct memory_location){PLACE_NONE, 0}
            : of == READ_MOSTLY ? (struct memory_location){PLACE_DEVICE, 0}
                                : place;
    if (!code) {
        say(of, (uintptr_t)address, (uintptr_t)address + bytes, place);
    }
    RETURN(code);
}

enum { NUMBER_HOST = -1, NUMBER_NONE = -2 }; /* cudaCpuDeviceId, cudaInvalidDeviceId */

static int number_of(struct memory_location p) {
    return p.type == PLACE_NONE ? NUMBER_NONE : p.type == PLACE_DEVICE ? p.id : NUMBER_HOST;
}

/* Devices first; what is left of the room is no device. */
static void accessors_list(int *ret, size_t room, uint64_t from, uint64_t to) {
    size_t count = 0;
    for (enum advice_kind of = BY_DEVICE; of <= BY_HOST && count < room; of++) {
        int number = number_of(ask(of, from, to));
        if (number != NUMBER_NONE) {
            ret[count++] = number;
        }
    }
    while (count < room) {
        ret[count++] = NUMBER_NONE;
    }
}

enum { ATTRIBUTE_ACCESSED_BY = 3, ATTRIBUTES = 8 }; /* cudaMemRangeAttribute… */

static cudart_error attribute_get(int *ret, size_t room, int attribute,
                                  const void *address, size_t bytes) {
    uint64_t from = (uintptr_t)address, to = from + bytes;
    NEED(ret);
    cudart_error code = range_check(address, bytes);
    if (!code && (attribute < 1 || attribute > ATTRIBUTES || room < sizeof *ret ||
                  room % sizeof *ret ||
                  (room > sizeof *ret && attribute != ATTRIBUTE_ACCESSED_BY))) {
        code = explain(CUDART_INVALID_VALUE, "the attribute %d in %zu bytes", attribute, room);
    }
    if (code) {
        return code;
    }
    if (attribute == ATTRIBUTE_ACCESSED_BY) {
        accessors_list(ret, room / sizeof *ret, from, to);
        return CUDART_SUCCESS;
    }
    const struct memory_location mostly = ask(READ_MOSTLY, from, to),
                       preferred = ask(PREFERRED, from, to),
                       fetched = ask(FETCHED, from, to);
    const int values[ATTRIBUTES] = {
        mostly.type != PLACE_NONE, number_of(preferred), 0,            number_of(fetched),
        preferred.type,            preferred.id,         fetched.type, fetched.id};
    *ret = values[attribute - 1];
    return CUDART_SUCCESS;
}

EXPORT cudart_error cudaMemRangeGetAttribute(void *ret, size_t room, int attribute,
                                             const void *address, size_t bytes) {
    RETURN(attribute_get(ret, room, attribute, address, bytes));
}

EXPORT cudart_error cudaMemRangeGetAttributes(void **ret, size_t *rooms,
                                              const int *attributes, size_t count,
                                              const void *address, size_t bytes) {
    NEED(ret && rooms && attributes);
    cudart_error code = CUDART_SUCCESS;
    for (size_t k = 0; k < count && !code; k++) {
        code = attribute_get(ret[k], rooms[k], attributes[k], address, bytes);
    }
    RETURN(code);
}

static uint64_t location_of(int device) {
    struct memory_location p = {device < 0 ? PLACE_HOST : PLACE_DEVICE, device < 0 ? 0 : device};
    uint64_t location;
    memcpy(&location, &p, sizeof location);
    return location;
}

/* As cuda.h of CUDA 12 declares them: with a device's number, or -1 for the host. */
EXPORT int cuMemPrefetchAsync(const void *address, size_t bytes, int device,
                              struct stream *s) {
    return cudaMemPrefetchAsync(address, bytes, location_of(device), 0, s);
}
EXPORT int cuMemAdvise(const void *address, size_t bytes, int advice, int device) {
    return cudaMemAdvise(address, bytes, advice, location_of(device));
}
