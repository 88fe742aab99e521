#include "gpu/ptx/image/images.h"

int images_add(struct images *t, const struct image *image, uint64_t *ret_handle) {
    if (t->count == IMAGES_MAX) {
        return -ENOMEM;
    }
    if ((t->count & (t->count - 1)) == 0) {
        t->list = xreallocarray(t->list, t->count ? t->count * 2u : 1u, sizeof *t->list);
    }
    struct image *own = xmalloc(sizeof *own);
    *own = *image;
    t->list[t->count++] = own;
    *ret_handle = IMAGE_HANDLE + (uint64_t)t->count * IMAGE_STEP;
    return 0;
}

const struct image *images_find(const struct images *t, uint64_t handle) {
    uint64_t number = (handle - IMAGE_HANDLE) / IMAGE_STEP;
    bool is_one = handle % IMAGE_STEP == 0 && number > 0 && number <= t->count;
    return is_one ? t->list[number - 1] : NULL;
}

void images_remove(struct images *t, uint64_t handle) {
    const struct image *im = images_find(t, handle);
    if (im) {
        uint64_t number = (handle - IMAGE_HANDLE) / IMAGE_STEP;
        free(t->list[number - 1]);
        t->list[number - 1] = NULL;
    }
}

void images_finish(struct images *t) {
    for (uint32_t k = 0; k < t->count; k++) {
        free(t->list[k]);
    }
    free(t->list);
    *t = (struct images){0};
}
