/* Parts of a unit that its steps request while their code is made: data, and exits. */
#include "base/mem.h"
#include "gpu/ptx/emit/unit.h"

#include <string.h>

int32_t unit_data_add(struct emit_unit *u, uint32_t bytes) {
    uint32_t at = (u->data_size + 63) & ~63u;
    uint32_t size = at + ((bytes + 63) & ~63u);
    u->data = xreallocarray(u->data, size, 1);
    memset(u->data + u->data_size, 0, size - u->data_size);
    u->data_size = size;
    return (int32_t)at;
}

void unit_exit_if(struct emit_unit *u, enum condition condition) {
    u->exits = xreallocarray(u->exits, u->exit_count + 1, sizeof *u->exits);
    struct unit_exit *e = &u->exits[u->exit_count++];
    u->segment++;
    *e = (struct unit_exit){.jump = asm_jump(&u->out, condition), .step = u->at};
    e->dirty = xreallocarray(NULL, VECTOR_POOL + 1, sizeof *e->dirty);
    for (uint32_t k = 0; k < u->values.count; k++) {
        const struct value *x = &u->values.items[k];
        if (!x->is_stored && x->count) {
            e->dirty[e->dirty_count++] = *x;
        }
    }
}
