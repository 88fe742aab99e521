#include "gpu/check/check_reader.h"

#include "base/strings.h"
#include "base/work.h"

struct check_reading {
    struct check_reader *reader;
    struct check_reading *next;
    json_t *params; /* a shallow copy */
    json_t *settings;
    const json_t *known_keys; /* the process's */
    struct check_wants wants;
    bool has_wants;
    char **instantiate, **roots, **include_dirs, *default_arch, *compiler;
    int r;
    struct check_input input;
    struct check_refusal refusal;
    check_reading_done *done; /* NULL: cancelled */
    void *data;
};

struct check_reader {
    uv_loop_t *loop;
    struct compile_commands *commands;     /* of the thread while `reading` */
    struct check_reading *waiting, **last; /* the first is read while `reading` */
    bool reading, held, freed;
};

static void reading_free(struct check_reading *reading) {
    json_decref(reading->params);
    json_decref(reading->settings);
    strings_free(reading->instantiate);
    strings_free(reading->roots);
    strings_free(reading->include_dirs);
    free(reading->default_arch);
    free(reading->compiler);
    free(reading);
}

/* --- the queue --- */

static void unlist(struct check_reading *reading) {
    struct check_reader *reader = reading->reader;
    struct check_reading **link = &reader->waiting;
    while (*link != reading) {
        link = &(*link)->next;
    }
    *link = reading->next;
    if (reader->last == &reading->next) {
        reader->last = link;
    }
}

static void on_thread(void *data) {
    struct check_reading *reading = ((struct check_reader *)data)->waiting;
    const struct check_places places = {
        .include_dirs = (const char *const *)reading->include_dirs,
        .default_arch = reading->default_arch,
        .compiler = reading->compiler,
        .commands = reading->reader->commands,
        .settings = reading->settings,
        .known_keys = reading->known_keys,
    };
    reading->r = check_input_read(
        &reading->input, reading->params, reading->has_wants ? &reading->wants : NULL,
        (const char *const *)reading->roots, &places, &reading->refusal);
}

static void go_on(struct check_reader *reader);

static void on_read(void *data) {
    struct check_reader *reader = data;
    struct check_reading *reading = reader->waiting;
    unlist(reading);
    reader->reading = false;
    go_on(reader);
    if (reading->done) {
        reading->done(reading->r, &reading->input, &reading->refusal, reading->data);
    } else if (reading->r == 0) {
        check_input_finish(&reading->input);
    }
    reading_free(reading);
}

static void reader_end(struct check_reader *reader) {
    compile_commands_free(reader->commands);
    free(reader);
}

/* Reads the next one; frees the reader when that is due. */
static void go_on(struct check_reader *reader) {
    if (reader->waiting && !reader->reading && !reader->held) {
        reader->reading = true;
        work_start(reader->loop, on_thread, on_read, reader);
    } else if (reader->freed && !reader->waiting) {
        reader_end(reader);
    }
}

/* --- the interface --- */

struct check_reader *check_reader_new(uv_loop_t *loop) {
    struct check_reader *reader = xcalloc(1, sizeof *reader);
    reader->loop = loop;
    reader->commands = compile_commands_new();
    reader->last = &reader->waiting;
    return reader;
}

void check_reader_free(struct check_reader *reader) {
    if (!reader) {
        return;
    }
    reader->freed = true;
    struct check_reading **rest =
        reader->reading ? &reader->waiting->next : &reader->waiting;
    while (*rest) {
        check_reading_cancel(*rest);
    }
    if (reader->reading) {
        check_reading_cancel(reader->waiting);
    } else {
        reader_end(reader);
    }
}

struct check_reading *check_reader_start(struct check_reader *reader,
                                         const json_t *params,
                                         const struct check_wants *wants,
                                         const char *const *roots,
                                         const struct check_places *places,
                                         check_reading_done *done, void *data) {
    struct check_reading *reading = xcalloc(1, sizeof *reading);
    reading->reader = reader;
    reading->params = json_copy((json_t *)(uintptr_t)params);
    reading->has_wants = wants != NULL;
    reading->wants = wants ? *wants : (struct check_wants){0};
    reading->instantiate = strings_copy(reading->wants.instantiate);
    reading->wants.instantiate = (const char *const *)reading->instantiate;
    reading->roots = strings_copy(roots);
    reading->include_dirs = strings_copy(places->include_dirs);
    reading->settings = json_incref((json_t *)(uintptr_t)places->settings);
    reading->known_keys = places->known_keys;
    reading->default_arch = xstrdup(places->default_arch);
    reading->compiler = xstrdup(places->compiler);
    reading->done = done;
    reading->data = data;
    *reader->last = reading;
    reader->last = &reading->next;
    go_on(reader);
    return reading;
}

void check_reader_hold(struct check_reader *reader, bool held) {
    bool was = reader->held;
    reader->held = held;
    if (was && !held) {
        go_on(reader);
    }
}

void check_reading_cancel(struct check_reading *reading) {
    struct check_reader *reader = reading->reader;
    if (reader->reading && reader->waiting == reading) {
        reading->done = NULL; /* the thread still has it */
        return;
    }
    unlist(reading);
    reading_free(reading);
}
