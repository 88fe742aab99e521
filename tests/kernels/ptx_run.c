/* ptx_run: one launch of a kernel from a PTX file on the emulator, for tests and benches.
 *
 *   ptx_run FILE.ptx [OPTION]... [ARGUMENT]...
 *
 *   --entry NAME        mangled; the only one of the file without it
 *   --grid X[,Y[,Z]]    --block X[,Y[,Z]]    --shared BYTES    --cooperative
 *   --threads N         --one-lane           --seed N          --budget LANE_INSTRUCTIONS
 *   --ideal-sums        --extension NAME
 *   --checks all|none|memory,initialized,barrier,race,counters (default: the machine's)
 *   --dump FOLDER       writes every buffer to FOLDER/NAME.bin
 *   --repeat N          launches; the fastest is timed
 *   --counters --findings --printf    print them
 *
 * Arguments in the order of the kernel's parameters:
 *   i32:V u32:V i64:V u64:V f32:V f64:V       a value
 *   NAME:TYPE:COUNT:INIT[:in|:out]            a buffer; TYPE i8 u8 i16 i32 u32 i64 f32
 * f64; INIT zero, poison, arange, random (0 to 1; integers 0 to 99), fill=V params:HEX
 * bytes as they are
 *
 * Prints a line of the launch and for each buffer its hash and first elements. Exit
 * status: enum machine_end, 64 for bad usage, 65 for what cannot be loaded. */
#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/json.h"
#include "gpu/ptx/alu/bind.h"
#include "gpu/ptx/machine/machine.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define MAX_BUFFERS 64
#define MAX_PARAMS 4096

struct buffer {
    char name[64], type[8];
    uint64_t count, bytes, address;
    unsigned element;
    void *host;
};

struct setup {
    const char *entry, *dump;
    uint32_t grid[3], block[3], shared;
    bool cooperative, counters, findings, printed;
    int repeat;
    struct machine_config config;
    uint8_t params[MAX_PARAMS];
    size_t param_bytes;
    struct buffer buffers[MAX_BUFFERS];
    unsigned buffer_count;
    char **args;
    int arg_count;
};

static _Noreturn void die(int status, const char *what, const char *detail) {
    fprintf(stderr, "ptx_run: %s: %s\n", what, detail);
    exit(status);
}

static void read_triple(const char *s, uint32_t to[3]) {
    char *end = NULL;
    to[0] = to[1] = to[2] = 1;
    for (int k = 0; k < 3; k++) {
        to[k] = (uint32_t)strtoul(s, &end, 10);
        if (*end != ',') {
            break;
        }
        s = end + 1;
    }
}

static unsigned read_checks(char *s) {
    unsigned bits = 0;
    for (char *word = strtok(s, ","); word; word = strtok(NULL, ",")) {
        bits |= strcmp(word, "all") == 0           ? MACHINE_CHECK_DEFAULT
                : strcmp(word, "memory") == 0      ? MACHINE_CHECK_MEMORY
                : strcmp(word, "initialized") == 0 ? MACHINE_CHECK_INITIALIZED
                : strcmp(word, "barrier") == 0     ? MACHINE_CHECK_BARRIER
                : strcmp(word, "race") == 0        ? MACHINE_CHECK_RACE
                : strcmp(word, "counters") == 0    ? MACHINE_COUNTERS
                                                   : 0;
    }
    return bits;
}

static void read_options(struct setup *s, int argc, char **argv) {
    int k = 2;
    for (; k < argc && strncmp(argv[k], "--", 2) == 0; k++) {
        const char *o = argv[k] + 2;
        char *value = k + 1 < argc ? argv[k + 1] : argv[k];
        if (strcmp(o, "one-lane") == 0) {
            s->config.one_lane = true;
        } else if (strcmp(o, "ideal-sums") == 0) {
            s->config.ideal_sums = true;
        } else if (strcmp(o, "cooperative") == 0) {
            s->cooperative = true;
        } else if (strcmp(o, "counters") == 0) {
            s->counters = true;
        } else if (strcmp(o, "findings") == 0) {
            s->findings = true;
        } else if (strcmp(o, "printf") == 0) {
            s->printed = true;
        } else {
            k++;
            if (strcmp(o, "entry") == 0) {
                s->entry = value;
            } else if (strcmp(o, "dump") == 0) {
                s->dump = value;
            } else if (strcmp(o, "grid") == 0) {
                read_triple(value, s->grid);
            } else if (strcmp(o, "block") == 0) {
                read_triple(value, s->block);
            } else if (strcmp(o, "shared") == 0) {
                s->shared = (uint32_t)strtoul(value, NULL, 10);
            } else if (strcmp(o, "threads") == 0) {
                s->config.threads = (unsigned)strtoul(value, NULL, 10);
            } else if (strcmp(o, "seed") == 0) {
                s->config.seed = strtoull(value, NULL, 10);
            } else if (strcmp(o, "budget") == 0) {
                s->config.instructions = strtoull(value, NULL, 10);
            } else if (strcmp(o, "repeat") == 0) {
                s->repeat = (int)strtol(value, NULL, 10);
            } else if (strcmp(o, "extension") == 0) {
                if (bind_force_extension(value)) {
                    die(64, "extension", value);
                }
            } else if (strcmp(o, "checks") == 0) {
                s->config.checks = read_checks(value);
            } else {
                die(64, "unknown option", argv[k - 1]);
            }
        }
    }
    s->args = argv + k;
    s->arg_count = argc - k;
}

/* ---- arguments ---- */

static void add_param(struct setup *s, const void *bytes, size_t size) {
    size_t at = (s->param_bytes + size - 1) / size * size;
    if (at + size > sizeof s->params) {
        die(64, "arguments", "too many");
    }
    memcpy(s->params + at, bytes, size);
    s->param_bytes = at + size;
}

static bool add_value(struct setup *s, const char *type, const char *value) {
    if (strcmp(type, "f32") == 0) {
        float f = strtof(value, NULL);
        add_param(s, &f, sizeof f);
    } else if (strcmp(type, "f64") == 0) {
        double d = strtod(value, NULL);
        add_param(s, &d, sizeof d);
    } else if (strcmp(type, "i32") == 0 || strcmp(type, "u32") == 0) {
        uint32_t v = (uint32_t)strtoll(value, NULL, 0);
        add_param(s, &v, sizeof v);
    } else if (strcmp(type, "i64") == 0 || strcmp(type, "u64") == 0) {
        uint64_t v = (uint64_t)strtoll(value, NULL, 0);
        add_param(s, &v, sizeof v);
    } else {
        return false;
    }
    return true;
}

static void set_element(struct buffer *b, uint64_t i, double v) {
    char *at = (char *)b->host + i * b->element;
    if (b->type[0] == 'f' && b->element == 4) {
        float f = (float)v;
        memcpy(at, &f, sizeof f);
    } else if (b->type[0] == 'f') {
        memcpy(at, &v, sizeof v);
    } else {
        int64_t n = (int64_t)v;
        memcpy(at, &n, b->element);
    }
}

static void read_buffer(struct buffer *b, const char *path) {
    FILE *f = fopen(path, "rb");
    if (!f || fread(b->host, 1, b->bytes, f) != b->bytes) {
        die(65, path, "cannot be read, or is too short");
    }
    fclose(f);
}

static void write_buffer(const struct buffer *b, const char *folder) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s.bin", folder, b->name);
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(b->host, 1, b->bytes, f) != b->bytes || fclose(f)) {
        die(65, path, "cannot be written");
    }
}

static void fill_buffer(struct buffer *b, const char *init) {
    if (strncmp(init, "file=", 5) == 0) {
        read_buffer(b, init + 5);
        return;
    }
    uint64_t state = 88172645463325252u;
    for (uint64_t i = 0; i < b->count && strcmp(init, "poison") != 0; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        double random = (double)(state >> 11) / 9007199254740992.0;
        double v = strcmp(init, "arange") == 0 ? (double)i
                   : strcmp(init, "random") == 0
                       ? (b->type[0] == 'f' ? random : (double)(state % 100))
                   : strncmp(init, "fill=", 5) == 0 ? strtod(init + 5, NULL)
                                                    : 0;
        set_element(b, i, v);
    }
}

static void add_buffer(struct setup *s, struct machine *m, char *spec) {
    struct buffer *b = &s->buffers[s->buffer_count++];
    char *part[5] = {0};
    int count = 0;
    for (char *w = strtok(spec, ":"); w && count < 5; w = strtok(NULL, ":")) {
        part[count++] = w;
    }
    if (count < 4 || s->buffer_count == MAX_BUFFERS) {
        die(64, "argument", spec);
    }
    snprintf(b->name, sizeof b->name, "%s", part[0]);
    snprintf(b->type, sizeof b->type, "%s", part[1]);
    b->element = (unsigned)strtoul(part[1] + 1, NULL, 10) / 8;
    b->count = strtoull(part[2], NULL, 10);
    b->bytes = b->count * b->element;
    unsigned flags = strcmp(part[3], "poison") == 0 ? MACHINE_UNINITIALIZED : 0;
    flags |= part[4] && strcmp(part[4], "in") == 0    ? MACHINE_READ_ONLY
             : part[4] && strcmp(part[4], "out") == 0 ? MACHINE_OUTPUT
                                                      : 0;
    struct err err = {0};
    if (machine_alloc(m, b->name, b->bytes, flags, &b->address, &b->host, &err)) {
        die(65, "buffer", err.msg);
    }
    fill_buffer(b, part[3]);
    add_param(s, &b->address, sizeof b->address);
}

static void add_arguments(struct setup *s, struct machine *m) {
    for (int k = 0; k < s->arg_count; k++) {
        char *colon = strchr(s->args[k], ':');
        if (!colon) {
            die(64, "argument", s->args[k]);
        }
        char type[16];
        snprintf(type, sizeof type, "%.*s", (int)(colon - s->args[k]), s->args[k]);
        if (strcmp(type, "params") == 0) {
            unsigned byte;
            for (const char *h = colon + 1; sscanf(h, "%2x", &byte) == 1; h += 2) {
                uint8_t v = (uint8_t)byte;
                add_param(s, &v, 1);
            }
        } else if (!add_value(s, type, colon + 1)) {
            add_buffer(s, m, s->args[k]);
        }
    }
}

/* ---- running ---- */

/* With one thread the processor's time: other processes do not count. */
static double now(const struct setup *s) {
    struct timespec t;
    clock_gettime(s->config.threads == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC,
                  &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void print_json(const char *title, json_t *value) {
    char *text = json_dumps(value, JSON_INDENT(1) | JSON_PRESERVE_ORDER);
    printf("%s %s\n", title, text);
    free(text);
    json_decref(value);
}

static void print_buffer(const struct machine *m, const struct buffer *b) {
    uint64_t hash = 1469598103934665603u, first = 0;
    for (uint64_t k = 0; k < b->bytes; k++) {
        hash = (hash ^ ((uint8_t *)b->host)[k]) * 1099511628211u;
    }
    printf("%s hash=%016llx unwritten=%llu", b->name, (unsigned long long)hash,
           (unsigned long long)machine_unwritten(m, b->address, &first));
    for (uint64_t k = 0; k < b->count && k < 8; k++) {
        const char *at = (const char *)b->host + k * b->element;
        if (b->type[0] == 'f' && b->element == 4) {
            float f;
            memcpy(&f, at, sizeof f);
            printf(" %.9g", (double)f);
        } else if (b->type[0] == 'f') {
            double d;
            memcpy(&d, at, sizeof d);
            printf(" %.17g", d);
        } else {
            int64_t v = 0;
            memcpy(&v, at, b->element);
            printf(" %lld", (long long)(b->element == 4 ? (int32_t)v : v));
        }
    }
    printf("\n");
}

static const char *const end_names[] = {"done",   "fault",   "deadlock",
                                        "budget", "refused", "stopped"};

static enum machine_end launch_all(struct setup *s, struct machine *m) {
    struct machine_launch launch = {.entry = s->entry,
                                    .dynamic_shared = s->shared,
                                    .cooperative = s->cooperative,
                                    .params = s->params,
                                    .param_bytes = s->param_bytes};
    memcpy(launch.grid, s->grid, sizeof launch.grid);
    memcpy(launch.block, s->block, sizeof launch.block);
    enum machine_end end = MACHINE_DONE;
    double best = 1e30;
    uint64_t lanes = 0;
    for (int k = 0; k < s->repeat && end == MACHINE_DONE; k++) {
        struct err err = {0};
        uint64_t before = machine_spent(m);
        double t = now(s);
        end = machine_launch(m, &launch, &err);
        t = now(s) - t;
        lanes = machine_spent(m) - before;
        best = t < best ? t : best;
        if (end == MACHINE_REFUSED) {
            fprintf(stderr, "ptx_run: %s\n", err.msg);
        }
    }
    printf("%s %s %.3f ms %llu lane-instructions %.3f G/s\n", s->entry, end_names[end],
           best * 1e3, (unsigned long long)lanes, (double)lanes / best * 1e-9);
    return end;
}

static const char *only_entry(const struct ptx_module *m) {
    for (uint32_t k = 0; k < m->function_count; k++) {
        if (m->functions[k].is_entry && !m->functions[k].is_declaration) {
            return m->functions[k].name;
        }
    }
    die(65, "module", "no entry");
}

int main(int argc, char **argv) {
    struct setup *s = xcalloc(1, sizeof *s);
    *s = (struct setup){.grid = {1, 1, 1}, .block = {1, 1, 1}, .repeat = 1};
    s->config.checks = MACHINE_CHECK_DEFAULT;
    if (argc < 2) {
        die(64, "usage", "ptx_run FILE.ptx [OPTION]... [ARGUMENT]...");
    }
    read_options(s, argc, argv);
    struct err err = {0};
    autobuf text = BUF_INIT(PTX_MAX_TEXT);
    struct ptx_module *module = NULL;
    if (file_read(argv[1], &text, &err) ||
        ptx_module_read(&module, text.data, text.len, &err)) {
        die(65, argv[1], err.msg);
    }
    s->entry = s->entry ? s->entry : only_entry(module);
    struct machine *m = NULL;
    json_t *unsupported = NULL;
    const char *entries[] = {s->entry, NULL};
    if (machine_new(&m, module, entries, &s->config, &unsupported, &err)) {
        if (unsupported) {
            print_json("unsupported", unsupported);
        }
        die(65, argv[1], err.msg);
    }
    add_arguments(s, m);
    enum machine_end end = launch_all(s, m);
    for (unsigned k = 0; k < s->buffer_count; k++) {
        print_buffer(m, &s->buffers[k]);
        if (s->dump) {
            write_buffer(&s->buffers[k], s->dump);
        }
    }
    if (s->printed) {
        printf("printf %s\n", machine_printf(m));
    }
    if (s->findings || end != MACHINE_DONE) {
        uint64_t omitted = 0;
        print_json("findings", machine_findings(m, &omitted));
    }
    if (s->counters) {
        print_json("counters", machine_counters(m));
    }
    machine_free(m);
    ptx_module_free(module);
    free(s);
    return (int)end;
}
