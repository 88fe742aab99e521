#include "gpu/draft/draft_sizes.h"
#include "base/find.h"

#include "gpu/spec/integer_expression.h"

#define ELEMENTS_MAX (1 << 16) /* of a buffer */
#define THREADS_MAX (1 << 15)
#define LEAST_ROWS                                                                       \
    16 /* what no size is made smaller than, of those that the grid knows */
#define LEAST_LENGTH 512 /* and of the others, which the kernel loops over */
#define EXPRESSIONS_MAX 256
#define A_BLOCK 256

struct texts {
    const char *list[EXPRESSIONS_MAX];
    bool rounds[EXPRESSIONS_MAX];
    size_t count;
};

static void values_of(const struct host_sizes *sizes, struct size_value *list,
                      struct size_values *ret) {
    *ret = (struct size_values){list, sizes->count};
    for (size_t i = 0; i < sizes->count; i++) {
        list[i] = (struct size_value){sizes->list[i].name, sizes->list[i].value};
    }
}

/* The product of a list of integers and expressions; 0: one is not positive. */
static int64_t product_of(const json_t *list, const struct size_values *values) {
    int64_t product = 1;
    const json_t *item;
    size_t i;
    json_array_foreach(list, i, item) {
        int64_t one = json_integer_value(item);
        const char *text = json_string_value(item);
        if ((text && integer_expression(text, values, &one, NULL) < 0) || one <= 0 ||
            __builtin_mul_overflow(product, one, &product)) {
            return 0;
        }
    }
    return product;
}

static void gather(const json_t *value, struct texts *texts) {
    const json_t *item;
    const char *key;
    size_t i;
    if (json_is_string(value) && texts->count < EXPRESSIONS_MAX) {
        texts->list[texts->count++] = json_string_value(value);
    }
    json_array_foreach(value, i, item) {
        gather(item, texts);
    }
    json_object_foreach((json_t *)(uintptr_t)value, key, item) {
        if (strcmp(key, "name") != 0 && strcmp(key, "type") != 0) {
            gather(item, texts);
        }
    }
}

/* False where an expression has no value any more, or one that is not positive. large: of
 * them the buffers and the launch are larger than they should be. */
static bool measure(const json_t *spec, const struct size_values *values, bool *large,
                    int64_t *ret_blocks) {
    const json_t *launch = json_object_get(spec, "launch"), *arg;
    int64_t blocks = product_of(json_object_get(launch, "grid"), values),
            threads = product_of(json_object_get(launch, "block"), values);
    bool good = blocks > 0 && threads > 0;
    size_t i;
    *ret_blocks = blocks;
    *large = good && blocks > THREADS_MAX / threads;
    json_array_foreach(json_object_get(spec, "args"), i, arg) {
        int64_t elements = product_of(json_object_get(arg, "shape"), values);
        good &= elements > 0;
        *large |= elements > ELEMENTS_MAX;
    }
    return good;
}

static bool keeps_meaning(const struct texts *texts, const struct size_values *values) {
    return !any_of(i, 0, texts->count,
                   !texts->rounds[i] &&
                       integer_expression_rounds(texts->list[i], values));
}

/* What is left over of a block stays: a division without remainder stays one, too. */
static int64_t half_of(int64_t value) {
    int64_t half = value / 2;
    return half < A_BLOCK ? half : half - half % A_BLOCK + value % A_BLOCK;
}

/* About half the blocks, or a quarter where both extents of a grid were halved. */
static bool is_part(int64_t now, int64_t blocks) {
    return llabs(now * 2 - blocks) <= blocks / 16 ||
           llabs(now * 4 - blocks) <= blocks / 16;
}

/* The largest size that can be halved once more: of rows, as long as there are any. */
static struct host_size *largest(struct host_sizes *sizes, const bool *rows,
                                 const bool *done) {
    struct host_size *found = NULL;
    for (size_t i = 0; i < sizes->count; i++) {
        struct host_size *s = &sizes->list[i];
        int64_t half = half_of(s->value);
        bool warps = !rows[i] && s->value % 32 == 0; /* stay multiples of a warp */
        bool first = !found || rows[i] > rows[found - sizes->list];
        if (!done[i] && !s->fixed && half >= (rows[i] ? LEAST_ROWS : LEAST_LENGTH) &&
            !(warps && half % 32) &&
            (first ||
             (rows[i] == rows[found - sizes->list] && s->value > found->value))) {
            found = s;
        }
    }
    return found;
}

static void find_rows(const struct host_sizes *sizes, const struct size_values *values,
                      const json_t *spec, int64_t blocks, bool *ret) {
    struct size_value list[HOST_SIZES_MAX];
    bool large;
    for (size_t i = 0; i < sizes->count; i++) {
        int64_t now;
        memcpy(list, values->list, values->count * sizeof *list);
        list[i].value *= 2;
        measure(spec, &(struct size_values){list, values->count}, &large, &now);
        ret[i] = now != blocks;
    }
}

void draft_sizes_shrink(struct host_sizes *sizes, const json_t *spec) {
    struct size_value list[HOST_SIZES_MAX];
    struct size_values values;
    struct texts texts = {.count = 0};
    struct host_size *size;
    int64_t blocks, now;
    bool large, rows[HOST_SIZES_MAX] = {false}, done[HOST_SIZES_MAX] = {false};
    gather(json_object_get(spec, "launch"), &texts);
    gather(json_object_get(spec, "args"), &texts);
    values_of(sizes, list, &values);
    for (size_t i = 0; i < texts.count; i++) {
        texts.rounds[i] = integer_expression_rounds(texts.list[i], &values);
    }
    if (!measure(spec, &values, &large, &blocks)) {
        return;
    }
    find_rows(sizes, &values, spec, blocks, rows);
    while (large && (size = largest(sizes, rows, done)) != NULL) {
        size_t i = (size_t)(size - sizes->list);
        int64_t before = size->value;
        size->value = half_of(before);
        values_of(sizes, list, &values);
        bool good =
            measure(spec, &values, &large, &now) && keeps_meaning(&texts, &values);
        if (good && (rows[i] ? is_part(now, blocks) : now == blocks)) {
            blocks = now;
            continue;
        }
        size->value = before;
        large = done[i] = true;
    }
}
