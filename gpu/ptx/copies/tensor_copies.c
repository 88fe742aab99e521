#include "gpu/ptx/copies/tensor_copies.h"

#include "gpu/ptx/access/access.h"
#include "gpu/ptx/copies/bulk_bytes.h"
#include "gpu/ptx/copies/im2col.h"
#include "gpu/ptx/race/race.h"

#define MAX_ROW (256 * 8)

/* A row of the box: its number, and which of its bytes are elements of the tensor. */
struct row {
    uint64_t number;
    uint64_t offset; /* of byte `low`, from the tensor's first element */
    uint32_t low, high;
};
typedef bool row_visit(const struct bulk_copy *c, const struct row *row, void *data);

static uint32_t row_count(const struct tensor_blob *map) {
    return tensor_blob_box_bytes(map) / tensor_blob_row_bytes(map);
}

/* Bytes [low, high) of a row whose other coordinates are inside. */
static void row_clip(const struct tensor_copy *t, struct row *row) {
    int64_t size = tensor_blob_element_bytes(t->map.type);
    int64_t first = t->at[0], extent = (int64_t)t->map.last[0] + 1;
    int64_t low = first < 0 ? -first : 0;
    int64_t high = extent - first < t->map.box[0] ? extent - first : t->map.box[0];
    if (low >= high) {
        row->low = row->high = 0;
        return;
    }
    row->low = (uint32_t)(low * size);
    row->high = (uint32_t)(high * size);
    row->offset += (uint64_t)((first + low) * size);
}

static void row_find(const struct tensor_copy *t, uint32_t number, struct row *row) {
    const struct tensor_blob *map = &t->map;
    *row = (struct row){.number = number};
    for (unsigned d = 1; d < map->rank; d++) {
        uint32_t step = map->element_strides[d], count = (map->box[d] + step - 1) / step;
        int64_t at = t->at[d] + (int64_t)(number % count) * step;
        number /= count;
        if (at < 0 || at > (int64_t)map->last[d]) {
            return; /* nothing of it is inside */
        }
        row->offset += (uint64_t)at * map->strides[d - 1];
    }
    row_clip(t, row);
}

static bool each_pixel(const struct bulk_copy *c, row_visit *visit, void *data) {
    const struct tensor_copy *t = c->tensor;
    struct im2col_walk walk = im2col_begin(t);
    for (uint32_t k = 0; k < t->map.pixels; k++, im2col_next(t, &walk)) {
        struct row row = {.number = k};
        if (im2col_pixel(t, &walk, &row.offset)) {
            row_clip(t, &row);
        }
        if (!visit(c, &row, data)) {
            return false;
        }
    }
    return true;
}

static bool each_row(const struct bulk_copy *c, row_visit *visit, void *data) {
    if (c->tensor->map.im2col) {
        return each_pixel(c, visit, data);
    }
    uint32_t rows = row_count(&c->tensor->map);
    for (uint32_t k = 0; k < rows; k++) {
        struct row row;
        row_find(c->tensor, k, &row);
        if (!visit(c, &row, data)) {
            return false;
        }
    }
    return true;
}

/* The position in shared memory of the 16-byte piece at this offset of the box. */
static uint32_t piece_place(const struct bulk_copy *c, uint64_t offset) {
    static const uint8_t masks[] = {0, 1, 3, 7};
    uint32_t at = c->shared + (uint32_t)offset;
    return at ^ ((at >> 7) & masks[c->tensor->map.swizzle]) << 4;
}

/* Copies the row's bytes between shared memory and a separate buffer. */
static void row_move(const struct bulk_copy *c, uint64_t number, uint8_t *bytes,
                     bool to_shared) {
    uint32_t size = tensor_blob_row_bytes(&c->tensor->map);
    for (uint32_t k = 0; k < size; k += 16) {
        uint8_t *at = c->block->shared + piece_place(c, number * size + k);
        if (to_shared) {
            memcpy(at, bytes + k, 16);
        } else {
            memcpy(bytes + k, at, 16);
        }
    }
}

/* Zeros, or NaN in each element. */
static void row_fill(const struct tensor_blob *map, uint8_t *bytes) {
    uint32_t size = tensor_blob_row_bytes(map);
    memset(bytes, 0, size);
    for (uint32_t k = 0; map->fill_nan && k < size; k += 2) {
        bytes[k] = TENSOR_NAN & 0xff;
        bytes[k + 1] = TENSOR_NAN >> 8;
    }
}

static bool row_inside(const struct allocation *in, uint64_t begin,
                       const struct row *row) {
    uint64_t bytes = row->high - row->low;
    return in && !in->freed && row->offset <= in->bytes - begin &&
           bytes <= in->bytes - begin - row->offset;
}

struct tensor_place {
    struct allocation *in;
    uint64_t begin; /* of the tensor, in it */
};

static struct tensor_place tensor_place(const struct bulk_copy *c) {
    uint64_t address = c->tensor->map.address;
    struct allocation *in = run_find(c->warp->processor->run, address);
    return (struct tensor_place){in, in ? address - in->address : 0};
}

static bool row_load(const struct bulk_copy *c, const struct row *row, void *data) {
    const struct tensor_place *place = data;
    uint8_t bytes[MAX_ROW];
    row_fill(&c->tensor->map, bytes);
    if (row->high > row->low && row_inside(place->in, place->begin, row)) {
        memcpy(bytes + row->low, place->in->host + place->begin + row->offset,
               row->high - row->low);
    }
    row_move(c, row->number, bytes, true);
    return true;
}

static bool row_store(const struct bulk_copy *c, const struct row *row, void *data) {
    const struct tensor_place *place = data;
    uint8_t bytes[MAX_ROW];
    if (row->high == row->low || !row_inside(place->in, place->begin, row)) {
        return true;
    }
    uint64_t offset = place->begin + row->offset;
    row_move(c, row->number, bytes, false);
    bulk_combine(c, place->in->host + offset, bytes + row->low, row->high - row->low);
    if (place->in->shadow) {
        access_shadow_set(place->in->shadow, offset, row->high - row->low);
    }
    return true;
}

void tensor_copy_load(const struct bulk_copy *c) {
    struct tensor_place place = tensor_place(c);
    each_row(c, row_load, &place);
}

void tensor_copy_store(const struct bulk_copy *c) {
    struct tensor_place place = tensor_place(c);
    each_row(c, row_store, &place);
}

static bool row_check(const struct bulk_copy *c, const struct row *row, void *data) {
    const bool *writes = data;
    uint64_t offset;
    struct access_range r = {.warp = c->warp,
                             .step = c->step,
                             .lane = c->lane,
                             .align = 1,
                             .address = c->tensor->map.address + row->offset,
                             .bytes = row->high - row->low,
                             .reads = !*writes || c->operation != BULK_NO_OPERATION,
                             .writes = *writes};
    if (row->high == row->low) {
        return true;
    }
    race_copy_touch(c->warp, c->step, c->lane, NULL, r.address, (unsigned)r.bytes,
                    *writes ? bulk_race_kind(c) : RACE_READ, c->race);
    return access_global_range(&r, &offset);
}

bool tensor_copy_check(const struct bulk_copy *c, bool writes) {
    return each_row(c, row_check, &writes);
}
