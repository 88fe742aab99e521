#include "gpu/host/kernel_launch.h"

#define NAME_TOKENS_MAX 256    /* of a kernel's name, before the <<< */
#define CONFIG_TOKENS_MAX 1024 /* between <<< and >>> */

/* The kernel's name before the <<< at token i; 0: there is none. */
static size_t name_before(const struct code_tokens *t, size_t i) {
    size_t least = i > NAME_TOKENS_MAX ? i - NAME_TOKENS_MAX : 1;
    int depth = 0;
    do {
        enum code_word w = code_word(t, --i);
        depth += w == WORD_GREATER        ? 1
                 : w == WORD_SHIFT_RIGHT  ? 2
                 : w == WORD_LAUNCH_CLOSE ? 3
                                          : -(w == WORD_LESS);
    } while (depth > 0 && i > least);
    i -= code_word(t, i) == WORD_LESS && i > 0;
    return depth == 0 && code_word(t, i) == WORD_NAME ? i : 0;
}

/* The >>> of the launch whose first token behind <<< is i; 0: there is none. */
static size_t launch_close(const struct code_tokens *t, size_t i) {
    int depth = 0;
    size_t end = i + CONFIG_TOKENS_MAX < t->count ? i + CONFIG_TOKENS_MAX : t->count;
    for (; i < end && code_word(t, i) != WORD_SEMICOLON; i++) {
        depth += code_word(t, i) == WORD_PAREN_OPEN;
        depth -= code_word(t, i) == WORD_PAREN_CLOSE;
        if (depth == 0 && code_word(t, i) == WORD_LAUNCH_CLOSE) {
            return i;
        }
    }
    return 0;
}

bool kernel_launch_at(struct host_program *p, size_t i, struct kernel_launch *ret) {
    const struct code_tokens *t = &p->b.tokens;
    if (!i || code_word(t, i) != WORD_LAUNCH_OPEN || !p->active[i]) {
        return false;
    }
    size_t name = name_before(t, i), close = launch_close(t, i + 1);
    if (!name || !close || code_word(t, close + 1) != WORD_PAREN_OPEN) {
        return false;
    }
    const struct place at = {host_frame_at(p, i), t, name, i, name};
    *ret = (struct kernel_launch){.found = true, .open = i, .name = at, .config = at};
    ret->config.from = i + 1;
    ret->config.to = close;
    ret->args = host_inside(&at, close + 1);
    return true;
}

void kernel_launch_read(struct host_program *p, struct host_sizes *sizes,
                        struct kernel_launch *launch) {
    struct place part;
    bool fixes = sizes->fixes;
    sizes->fixes = true;
    launch->has_block = host_part(&launch->config, 1, &part) &&
                        host_extents(p, sizes, &part, launch->block);
    sizes->fixes = fixes;
    launch->has_grid = host_part(&launch->config, 0, &part) &&
                       host_extents(p, sizes, &part, launch->grid);
    launch->has_shared = !host_part(&launch->config, 2, &part);
    if (!launch->has_shared) {
        launch->has_shared = host_amount(p, sizes, &part, &launch->shared);
    }
    for (int i = 0; i < 3; i++) {
        launch->has_grid = launch->has_grid && launch->grid[i].value > 0;
        launch->has_block = launch->has_block && launch->block[i].value > 0;
    }
}
