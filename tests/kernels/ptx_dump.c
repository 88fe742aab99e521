/* Prints what the PTX reader makes of files, one JSON line each: functions, registers,
 * instructions by spelling; or how long it takes.
 *
 * usage: ptx_dump [--time N] FILE… */
#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/json.h"
#include "gpu/ptx/read/module.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static void count(json_t *counts, const char *name, size_t len) {
    json_t *old = json_object_getn(counts, name, len);
    json_object_setn_new(counts, name, len, json_integer(json_integer_value(old) + 1));
}

static json_t *function_json(const struct ptx_module *m, const struct ptx_function *f) {
    json_t *spellings = json_object(), *registers = json_object(), *lines = json_object();
    uint32_t written = 0, placed = 0;
    for (uint32_t i = 0; i < f->code_count; i++) {
        const struct ptx_instruction *in = &f->code[i];
        if (in->spelling_len > 0) { /* the ret that closes a body has none */
            count(spellings, m->text + in->spelling, in->spelling_len);
            written++;
        }
        if (in->place) {
            char line[32];
            int len = snprintf(line, sizeof line, "%u:%u", m->places[in->place].file,
                               m->places[in->place].line);
            count(lines, line, (size_t)len);
            placed++;
        }
    }
    for (uint32_t i = 0; i < f->register_count; i++) {
        const char *type = ptx_type_name(f->registers[i].type);
        count(registers, type, strlen(type));
    }
    return json_pack("{ss sb sb sI sI sI sI sI so so so}", "name", f->name, "entry",
                     f->is_entry, "used", f->used, "instructions", (json_int_t)written,
                     "placed", (json_int_t)placed, "params", (json_int_t)f->param_count,
                     "param_bytes", (json_int_t)f->param_bytes, "local_bytes",
                     (json_int_t)f->local_bytes, "registers", registers, "spellings",
                     spellings, "lines", lines);
}

static json_t *module_json(const struct ptx_module *m) {
    json_t *functions = json_array(), *variables = json_object();
    json_int_t used = 0, globals = 0;
    for (uint32_t i = 0; i < m->function_count; i++) {
        if (!m->functions[i].is_declaration) {
            json_array_append_new(functions, function_json(m, &m->functions[i]));
        }
    }
    for (uint32_t i = 0; i < m->variable_count; i++) {
        const struct ptx_variable *v = &m->variables[i];
        if (v->function < 0) {
            globals++;
            used += v->used;
        }
        if (v->used && v->space != PTX_PARAM) {
            json_object_set_new(variables, v->name, json_integer((json_int_t)v->size));
        }
    }
    return json_pack("{ss so so sI sI}", "target", m->target, "functions", functions,
                     "variables", variables, "globals", globals, "used_globals", used);
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int time_file(const char *path, const char *text, size_t len, int rounds) {
    double best = 1e9;
    struct ptx_module *m;
    for (int i = 0; i < rounds; i++) {
        double start = now();
        if (ptx_module_read(&m, text, len, NULL) < 0) {
            return 1;
        }
        best = now() - start < best ? now() - start : best;
        ptx_module_free(m);
    }
    printf("%s: %zu bytes in %.3f ms, %.0f MB/s\n", path, len, best * 1e3,
           (double)len / best * 1e-6);
    return 0;
}

static int dump_file(const char *path, int rounds) {
    struct err err = {0};
    autobuf text = BUF_INIT(PTX_MAX_TEXT);
    struct ptx_module *m;
    if (file_read(path, &text, &err) < 0) {
        fprintf(stderr, "%s\n", err.msg);
        return 1;
    }
    if (rounds > 0) {
        return time_file(path, text.data, text.len, rounds);
    }
    if (ptx_module_read(&m, text.data, text.len, &err) < 0) {
        fprintf(stderr, "%s: %s\n", path, err.msg);
        return 1;
    }
    json_t *json = module_json(m);
    json_object_set_new(json, "path", json_string(path));
    json_dumpf(json, stdout, JSON_COMPACT | JSON_SORT_KEYS);
    putchar('\n');
    json_decref(json);
    ptx_module_free(m);
    return 0;
}

int main(int argc, char **argv) {
    int first = 1, rounds = 0, failures = 0;
    if (argc > 2 && strcmp(argv[1], "--time") == 0) {
        rounds = atoi(argv[2]);
        first = 3;
    }
    for (int i = first; i < argc; i++) {
        failures += dump_file(argv[i], rounds);
    }
    return failures > 0;
}
