#include "gpu/source/host_joint.h"

#include "base/buf.h"
#include "base/find.h"
#include "gpu/source/host_behind.h"
#include "gpu/source/host_expansion.h"
#include "gpu/source/host_guesses.h"
#include "gpu/source/source_set.h"

#define LARGE_BYTES (1u << 20) /* of sources: what includes CuTe */

static bool may_launch(const struct source_file *f) {
    return memmem(f->text, f->len, "<<<", 3) || memmem(f->text, f->len, "__global__", 10);
}

/* The headers before the unit, each before what includes it. Returns where the unit
 * begins, 0 when no header is of interest. */
static size_t join(const struct source_set *sources, struct buf *out) {
    size_t unit = source_set_unit(sources), last = 0, bytes = 0;
    for (size_t i = unit + 1; i < sources->count && bytes < HOST_JOINT_BYTES; i++) {
        bytes += may_launch(&sources->files[i]) ? sources->files[i].len : 0;
        last = bytes <= HOST_JOINT_BYTES ? i : last;
    }
    for (size_t i = last; i > unit; i--) {
        const struct source_file *f = &sources->files[i];
        if (may_launch(f)) {
            buf_add(out, f->text, f->len);
            buf_addc(out, '\n');
        }
    }
    size_t base = out->len;
    if (base) {
        buf_add(out, sources->files[unit].text, sources->files[unit].len);
    }
    return out->full ? 0 : base;
}

static bool is_duplicate(const struct host_launches *l, size_t i) {
    return any_of(k, 0, i,
                  l->list[k].borrowed &&
                      strcmp(l->list[k].expression, l->list[i].expression) == 0);
}

/* How many before it ask for the same kernel. */
static unsigned rank_of(const struct host_launches *l, size_t i) {
    size_t name = strcspn(l->list[i].expression, "<") + 1;
    return total_of(unsigned, k, 0, i,
                  l->list[k].borrowed &&strncmp(l->list[k].expression,
                                                l->list[i].expression, name) == 0);
}

/* One of each kernel before others of the same. */
static void write_all(const struct host_blanker *b, const struct host_launches *launches,
                      size_t base, unsigned max, struct buf *out) {
    unsigned written = 0;
    for (unsigned rank = 0; rank < launches->count && written < max; rank++) {
        for (size_t i = 0; i < launches->count && written < max; i++) {
            const struct host_launch *l = &launches->list[i];
            if (l->borrowed && !host_guess_is(l->expression) &&
                rank_of(launches, i) == rank && !is_duplicate(launches, i)) {
                written += host_behind_add(out, b, l, base);
            }
        }
    }
}

static void ask(const struct host_blanker *b, const struct host_macros *macros,
                size_t base, unsigned max, struct buf *out) {
    struct host_launches launches;
    host_launches_collect(&launches, b, macros, base);
    write_all(b, &launches, base, max, out);
    host_launches_finish(&launches);
}

void host_joint_read(const struct source_set *sources, const struct space_macros *spaces,
                     const struct host_macros *macros, struct buf *out) {
    unsigned max = sources->bytes > LARGE_BYTES ? HOST_JOINT_LARGE_MAX : HOST_JOINT_MAX;
    autobuf text = BUF_INIT(HOST_JOINT_BYTES + SOURCE_SET_MAX_BYTES);
    size_t base = join(sources, &text);
    struct host_blanker b;
    if (!base ||
        host_blanker_init(&b, text.data, text.len, HOST_TOKENS_MAX, spaces) < 0) {
        return;
    }
    host_blanker_judge(&b);
    struct host_expansion e;
    if (host_expansion_read(&e, &b, macros, spaces)) {
        ask(&e.b, macros, host_expansion_place(&e, base), max, out);
    } else {
        ask(&b, macros, base, max, out);
    }
    host_expansion_finish(&e);
    host_blanker_finish(&b);
}
