/* The launches of the file that is checked whose block is a constant. */
#include "gpu/lint/source_launches.h"

#include "base/buf.h"
#include "base/lines.h"
#include "gpu/host/kernel_launch.h"
#include "gpu/source/kernel_name.h"
#include "protocol/finding.h"

#define LAUNCHES_MAX 64 /* of a file */

/* As written, with its namespaces, without blanks. */
static json_t *kernel_text(const struct code_tokens *t, size_t name, size_t end) {
    autobuf text = BUF_INIT(4096);
    while (name >= 2 && code_word(t, name - 1) == WORD_SCOPE &&
           code_word(t, name - 2) == WORD_NAME) {
        name -= 2;
    }
    for (; name < end; name++) {
        buf_add(&text, t->text + t->list[name].start,
                t->list[name].end - t->list[name].start);
    }
    return json_text(text.data, text.len);
}

/* [x, y, z]; NULL: no launch has such. */
static json_t *extents_json(const struct amount extents[3]) {
    return extents[0].value > INT32_MAX || extents[1].value > INT32_MAX ||
                   extents[2].value > INT32_MAX
               ? NULL
               : json_pack("[I,I,I]", extents[0].value, extents[1].value,
                           extents[2].value);
}

/* NULL: its block is no constant, or it stands in no function. */
static json_t *launch_json(const struct kernel_launch *l, const struct lines *lines,
                           const char *file) {
    json_t *block = l->has_block ? extents_json(l->block) : NULL;
    if (!block || !l->name.frame || !l->name.frame->in) {
        json_decref(block);
        return NULL;
    }
    size_t start = l->name.t->list[l->name.from].start;
    const struct finding_span at = finding_span_of(lines, start, start);
    json_t *launch = json_pack("{s:o, s:o, s:o*, s:s, s:i, s:i}", "kernel",
                               kernel_text(l->name.t, l->name.from, l->open), "block",
                               block, "grid", l->has_grid ? extents_json(l->grid) : NULL,
                               "file", file, "line", at.line, "column", at.column);
    if (l->has_shared && l->shared.value >= 0 && l->shared.value <= INT32_MAX) {
        json_object_set_new(launch, "dynamic_shared_bytes",
                            json_integer(l->shared.value));
    }
    return launch;
}

json_t *source_launches_read(const struct source_file *file) {
    const char *text = file->original ? file->original : file->text;
    struct host_program p;
    struct lines lines;
    json_t *ret = json_array();
    if (!strstr(text, "<<<") || !host_program_init(&p, &text, &file->len, 1, true)) {
        return ret;
    }
    lines_init(&lines, text, file->len);
    for (size_t i = 1, n = 0; i < p.b.tokens.count && n < LAUNCHES_MAX; i++) {
        struct host_sizes sizes = {.fixes = true};
        struct kernel_launch launch;
        if (kernel_launch_at(&p, i, &launch)) {
            n++;
            kernel_launch_read(&p, &sizes, &launch);
            json_array_append_new(ret, launch_json(&launch, &lines, file->display));
        }
    }
    lines_finish(&lines);
    host_program_finish(&p);
    return ret;
}

/* ---- whose they are ---- */

/* How well a launch's "k<float>" fits a kernel's "ns::k<float, 4>": by name alone 1, with
 * the arguments 2. */
static int fit_of(const char *written, const char *name) {
    size_t len = strcspn(written, "<"), have = strcspn(name, "<");
    return !kernel_name_ends_with(name, written)            ? 0
           : kernel_spelt_alike(written + len, name + have) ? 2
                                                            : 1;
}

/* The only kernel that fits, or fits best. */
static json_t *kernel_of(const json_t *kernels, const char *written) {
    json_t *found[3] = {0};
    size_t count[3] = {0};
    json_each(kernels, i, json) {
        int fit = fit_of(written, json_get_string(json, "name", ""));
        found[fit] = json;
        count[fit]++;
    }
    return count[2] == 1 ? found[2] : count[2] == 0 && count[1] == 1 ? found[1] : NULL;
}

void source_launches_add(json_t *kernels, const struct source_set *sources) {
    autojson *launches = source_launches_read(&sources->files[source_set_unit(sources)]);
    json_each(launches, i, launch) {
        json_t *kernel = kernel_of(kernels, json_get_string(launch, "kernel", ""));
        json_t *list = kernel ? json_object_get(kernel, "source_launches") : NULL;
        if (kernel && !list) {
            list = json_array();
            json_object_set_new(kernel, "source_launches", list);
        }
        json_array_append(list, launch);
    }
}
