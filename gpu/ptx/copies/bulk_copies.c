#include "gpu/ptx/copies/bulk_copies.h"

#include "base/find.h"
#include "gpu/ptx/access/access.h"
#include "gpu/ptx/copies/async_copies.h"
#include "gpu/ptx/copies/bulk_bytes.h"
#include "gpu/ptx/copies/mbarrier.h"
#include "gpu/ptx/copies/tensor_copies.h"
#include "gpu/ptx/race/cluster_life.h"
#include "gpu/ptx/race/race.h"

#define MAX_PENDING 65536 /* of a block; then the oldest arrive early */

/* ---- arriving ---- */

/* An engine's writes are not those of threads: no fence is owed for them. */
static void shared_written(const struct bulk_copy *c) {
    if (c->block->shared_shadow) {
        memset(c->block->shared_shadow + c->shared / 4, 0x0f, (c->bytes + 3) / 4);
    }
    c->block->changes++;
}

static void load_arrive(const struct bulk_copy *c) {
    const struct allocation *in = run_find(c->warp->processor->run, c->from);
    if (in && !in->freed) {
        bulk_combine(c, c->block->shared + c->shared, in->host + (c->from - in->address),
                     c->bytes);
    }
    shared_written(c);
}

static void store_arrive(const struct bulk_copy *c) {
    struct allocation *in = run_find(c->warp->processor->run, c->from);
    if (!in || in->freed) {
        return;
    }
    uint64_t offset = c->from - in->address;
    bulk_combine(c, in->host + offset, c->block->shared + c->shared, c->bytes);
    if (in->shadow) {
        access_shadow_set(in->shadow, offset, c->bytes);
    }
    c->block->changes++;
}

static void copy_arrive(struct bulk_copy *c, struct block *owner) {
    switch ((enum bulk_kind)c->kind) {
    case BULK_LOAD:
        load_arrive(c);
        break;
    case BULK_STORE:
        store_arrive(c);
        break;
    case BULK_SHARED:
        bulk_combine(c, c->block->shared + c->shared, c->source->shared + c->from,
                     c->bytes);
        shared_written(c);
        break;
    case BULK_VALUE:
        bulk_combine(c, c->block->shared + c->shared, c->value, c->bytes);
        shared_written(c);
        break;
    case BULK_TENSOR_LOAD:
        tensor_copy_load(c);
        shared_written(c);
        break;
    case BULK_TENSOR_STORE:
        tensor_copy_store(c);
        c->block->changes++;
        break;
    case BULK_ARRIVE:
        warp_copies_arrive(c->warp, c->lane, c->order, owner, c->mbarrier);
        break;
    case BULK_NOTHING:
        break;
    }
    free(c->tensor);
    c->tensor = NULL;
}

/* b: that owns the mbarrier. */
static void arrive_at(struct block *b, struct bulk_copy *c) {
    struct mbarrier *m = mbarrier_find(b, c->mbarrier);
    copy_arrive(c, b);
    if (m) {
        life_complete_at(c->warp, c->time, m);
    }
    race_copy_done_at(b, c->mbarrier, c->race);
    if (c->kind == BULK_ARRIVE) {
        mbarrier_arrive_async(b, c->mbarrier);
    } else {
        mbarrier_complete_bytes(b, c->mbarrier, c->bytes);
    }
}

/* ---- what is on its way ---- */

void bulk_add(struct block *b, struct bulk_list *list, const struct bulk_copy *c) {
    if (list->count == MAX_PENDING) {
        struct bulk_copy oldest = list->items[0];
        memmove(list->items, list->items + 1, --list->count * sizeof oldest);
        if (list == &b->arrivals) {
            arrive_at(b, &oldest);
        } else {
            copy_arrive(&oldest, b);
        }
    }
    list_room(list->items, list->count, list->room, 16);
    list->items[list->count++] = *c;
}

void bulk_begin(const struct bulk_copy *c) {
    if (c->block->shared_shadow && c->operation == BULK_NO_OPERATION) {
        memset(c->block->shared_shadow + c->shared / 4, 0, (c->bytes + 3) / 4);
    }
}

bool bulk_deliver(struct block *b, uint32_t mbarrier) {
    uint32_t kept = 0, count = b->arrivals.count;
    const struct mbarrier *m = mbarrier_find(b, mbarrier);
    uint32_t phase = m->phase;
    list_each(k, c, b->arrivals.items, count) {
        if (c->mbarrier == mbarrier && m->phase == phase) {
            arrive_at(b, c);
        } else {
            b->arrivals.items[kept++] = *c;
        }
    }
    b->arrivals.count = kept;
    return kept < count;
}

void bulk_deliver_groups(struct warp *w, uint32_t lanes, const uint32_t *limit) {
    struct bulk_list *list = &w->block->stores;
    uint32_t kept = 0;
    list_each(k, c, list->items, list->count) {
        if (c->warp == w && (lanes >> c->lane & 1) && c->group < limit[c->lane]) {
            copy_arrive(c, w->block);
            race_copy_seen(w, c->race);
        } else {
            list->items[kept++] = *c;
        }
    }
    list->count = kept;
}

/* ---- the end of a block ---- */

static void tell_unwaited(const struct bulk_copy *c, bool warning, const char *words) {
    struct warp *w = c->warp;
    struct frame *running = w->frame, place = {.code = c->code};
    w->frame = &place;
    finding_add(
        &(struct finding_place){
            .warp = w, .step = c->step, .lane = c->lane, .warning = warning},
        FINDING_UNWAITED_COPY, "%s", words);
    w->frame = running;
}

static void end_arrivals(struct block *b) {
    struct bulk_list *list = &b->arrivals;
    list_each(k, c, list->items, list->count) {
        if (c->kind != BULK_ARRIVE && c->kind != BULK_NOTHING) {
            const struct mbarrier *m = mbarrier_find(b, c->mbarrier);
            tell_unwaited(c, false,
                          m && m->valid && m->bytes < (int64_t)c->bytes
                              ? "This copy may arrive after the phase of its mbarrier has "
                                "ended, because expect_tx announced fewer bytes than are "
                                "copied"
                              : "The block exited before this copy arrived: nobody "
                                "waited for the phase of its mbarrier");
        }
        copy_arrive(c, b);
        life_told(b, c->warp, c->time);
    }
    list->count = 0;
}

void bulk_end(struct block *b) {
    end_arrivals(b);
    struct bulk_list *list = &b->stores;
    list_each(k, c, list->items, list->count) {
        bool committed = c->group < c->warp->bulk_groups[c->lane];
        tell_unwaited(
            c, committed,
            committed ? "The block exited before this copy had read its shared memory: "
                        "its group was committed, but there is no "
                        "cp.async.bulk.wait_group before the exit. Kernels in use on "
                        "H100s do this, but NVIDIA's documents do not say that it is "
                        "right"
                      : "The block exited before this copy had read its shared memory: "
                        "cp.async.bulk.commit_group and wait_group are missing");
        copy_arrive(&list->items[k], b);
    }
    list->count = 0;
}
