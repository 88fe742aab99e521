#include "gpu/runtime/api.h"
#include "gpu/runtime/user_objects.h"

struct user_object {
    struct op op; /* which destroys it */
    struct user_object *next;
    void (*destroy)(void *);
    void *of;
    unsigned uses;
};

static struct user_object *objects;

static int destroy_run(struct op *op) {
    const struct user_object *o = container_of(op, struct user_object, op);
    o->destroy(o->of);
    return CUDART_SUCCESS;
}

static void destroy_free(struct op *op) {
    free(container_of(op, struct user_object, op));
}

static struct user_object **place_of(const struct user_object *o) {
    struct user_object **at = &objects;
    while (*at && *at != o) {
        at = &(*at)->next;
    }
    return at;
}

bool user_object_is_known(const struct user_object *o) {
    return *place_of(o) != NULL;
}

void user_object_retain(struct user_object *o, unsigned count) {
    pthread_mutex_lock(&runtime.lock);
    o->uses += count;
    pthread_mutex_unlock(&runtime.lock);
}

void user_object_release(struct user_object *o, unsigned count) {
    pthread_mutex_lock(&runtime.lock);
    o->uses -= count < o->uses ? count : o->uses;
    if (!o->uses) {
        *place_of(o) = o->next;
        o->op = (struct op){.run = destroy_run, .free = destroy_free};
        (void)queue_add(&runtime.device.queue, &o->op);
    }
    pthread_mutex_unlock(&runtime.lock);
}

static cudart_error change(struct user_object *o, unsigned count,
                           void (*how)(struct user_object *, unsigned)) {
    pthread_mutex_lock(&runtime.lock);
    bool known = count && user_object_is_known(o);
    if (known) {
        how(o, count);
    }
    pthread_mutex_unlock(&runtime.lock);
    return known ? CUDART_SUCCESS
                 : explain(CUDART_INVALID_VALUE,
                           "the object does not exist (any more), or the count is 0");
}

#define NOT_SYNCHRONISED 1 /* cudaUserObjectNoDestructorSync, which must be given */

EXPORT cudart_error cudaUserObjectCreate(struct user_object **ret, void *of,
                                         void (*destroy)(void *), unsigned count,
                                         unsigned flags) {
    NEED(ret && destroy && count && flags == NOT_SYNCHRONISED);
    struct user_object *o = xcalloc(1, sizeof *o);
    *o = (struct user_object){.destroy = destroy, .of = of, .uses = count};
    pthread_mutex_lock(&runtime.lock);
    o->next = objects;
    objects = o;
    pthread_mutex_unlock(&runtime.lock);
    *ret = o;
    RETURN(CUDART_SUCCESS);
}
EXPORT cudart_error cudaUserObjectRetain(struct user_object *o, unsigned count) {
    RETURN(change(o, count, user_object_retain));
}
EXPORT cudart_error cudaUserObjectRelease(struct user_object *o, unsigned count) {
    RETURN(change(o, count, user_object_release));
}
