#include "gpu/editor/spec_draft.h"

#include "base/buf.h"
#include "base/mem.h"
#include "gpu/reference/operator.h"
#include "gpu/source/cuda_lexer.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { MAX_TOKENS = 64, MAX_SIZES = 4, DEFAULT_BLOCK = 256 };

/* --- types --- */

static const struct {
    const char *word;
    enum tensor_type type;
} types[] = {
    {"float", TENSOR_FLOAT32},
    {"double", TENSOR_FLOAT64},
    {"half", TENSOR_FLOAT16},
    {"__half", TENSOR_FLOAT16},
    {"nv_half", TENSOR_FLOAT16},
    {"nv_bfloat16", TENSOR_BFLOAT16},
    {"__nv_bfloat16", TENSOR_BFLOAT16},
    {"__nv_fp8_e4m3", TENSOR_FLOAT8_E4M3},
    {"__nv_fp8_e5m2", TENSOR_FLOAT8_E5M2},
    {"bool", TENSOR_BOOL},
    {"int8_t", TENSOR_INT8},
    {"int16_t", TENSOR_INT16},
    {"int32_t", TENSOR_INT32},
    {"int64_t", TENSOR_INT64},
    {"uint8_t", TENSOR_UINT8},
    {"uint16_t", TENSOR_UINT16},
    {"uint32_t", TENSOR_UINT32},
    {"uint64_t", TENSOR_UINT64},
    {"size_t", TENSOR_UINT64},
    {"ptrdiff_t", TENSOR_INT64},
    {"__half2", TENSOR_FLOAT16},
    {"half2", TENSOR_FLOAT16},
    {"__nv_bfloat162", TENSOR_BFLOAT16},
    {"nv_bfloat162", TENSOR_BFLOAT16},
    {"uint", TENSOR_UINT32},
    {"uchar", TENSOR_UINT8},
    {"ushort", TENSOR_UINT16},
    {"ulong", TENSOR_UINT64},
    {"ulonglong", TENSOR_UINT64},
    {"longlong", TENSOR_INT64},
};

/* The words of C's own integers, which come in any order. */
struct integer_words {
    bool seen, is_unsigned, is_char, is_short, is_int;
    int longs;
};

static bool take_integer_word(struct integer_words *w, const char *word) {
    bool known = true;
    if (!strcmp(word, "unsigned")) {
        w->is_unsigned = true;
    } else if (!strcmp(word, "char")) {
        w->is_char = true;
    } else if (!strcmp(word, "short")) {
        w->is_short = true;
    } else if (!strcmp(word, "long")) {
        w->longs++;
    } else if (!strcmp(word, "int")) {
        w->is_int = true;
    } else {
        known = !strcmp(word, "signed");
    }
    w->seen |= known;
    return known;
}

static enum tensor_type integer_type(const struct integer_words *w) {
    int size = w->is_char ? 0 : w->is_short ? 1 : w->longs ? 3 : 2;
    static const enum tensor_type with_sign[] = {TENSOR_INT8, TENSOR_INT16, TENSOR_INT32,
                                                 TENSOR_INT64};
    static const enum tensor_type without[] = {TENSOR_UINT8, TENSOR_UINT16, TENSOR_UINT32,
                                               TENSOR_UINT64};
    return w->is_unsigned ? without[size] : with_sign[size];
}

static enum tensor_type type_find(const char *word) {
    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        if (!strcmp(types[i].word, word)) {
            return types[i].type;
        }
    }
    struct integer_words w = {0};
    return take_integer_word(&w, word) ? integer_type(&w) : TENSOR_TYPES;
}

/* "float4" is float with four lanes. */
static bool read_type(struct draft_param *p, const char *word) {
    size_t len = strlen(word);
    p->type = type_find(word);
    p->lanes = p->type != TENSOR_TYPES && len > 2 &&
                       (!strcmp(word + len - 2, "f2") ||
                        !strcmp(word, "__nv_bfloat162") || !strcmp(word, "nv_bfloat162"))
                   ? 2
                   : 1;
    if (p->type == TENSOR_TYPES && len > 1 && len < 16 && strchr("1234", word[len - 1])) {
        char base[16];
        snprintf(base, sizeof base, "%.*s", (int)len - 1, word);
        p->type = type_find(base);
        p->lanes = (unsigned)(word[len - 1] - '0');
    }
    return p->type != TENSOR_TYPES;
}

/* --- parameters --- */

struct words {
    char list[MAX_TOKENS][DRAFT_MAX_NAME];
    size_t count;
};

static bool is_qualifier(const char *word) {
    static const char *const known[] = {"const",    "volatile",   "__restrict__",
                                        "restrict", "__restrict", "__grid_constant__",
                                        "struct",   "typename",   "std",
                                        "::",       "enum"};
    for (size_t i = 0; i < ARRAY_LEN(known); i++) {
        if (!strcmp(known[i], word)) {
            return true;
        }
    }
    return false;
}

static bool is_identifier(const char *word) {
    return isalpha((unsigned char)*word) || *word == '_';
}

/* The words of one parameter, its default value left out. */
static void read_param(const struct words *w, struct draft_param *p) {
    struct integer_words integer = {0};
    bool typed = false;
    *p = (struct draft_param){.type = TENSOR_TYPES, .lanes = 1};
    for (size_t i = 0; i < w->count && strcmp(w->list[i], "=") != 0; i++) {
        const char *word = w->list[i];
        if (!strcmp(word, "*") || !strcmp(word, "[")) {
            p->kind = p->kind == DRAFT_POINTER ? DRAFT_UNKNOWN : DRAFT_POINTER;
        } else if (!strcmp(word, "const")) {
            p->is_const |= p->kind != DRAFT_POINTER;
        } else if (is_qualifier(word) || !is_identifier(word)) {
            continue;
        } else if (!typed && take_integer_word(&integer, word)) {
            p->type = integer_type(&integer);
        } else if (!typed && !integer.seen) {
            typed = true;
            if (!strcmp(word, "CUtensorMap")) {
                p->kind = DRAFT_TENSOR_MAP;
            } else if (!read_type(p, word)) {
                p->type = TENSOR_TYPES;
            }
        } else {
            snprintf(p->name, sizeof p->name, "%s", word);
        }
    }
    if (p->type == TENSOR_TYPES && p->kind == DRAFT_SCALAR) {
        p->kind = DRAFT_UNKNOWN;
    }
}

static void take_word(struct words *w, const char *text, const struct cuda_token *t) {
    if (w->count < MAX_TOKENS) {
        snprintf(w->list[w->count++], DRAFT_MAX_NAME, "%.*s",
                 (int)(t->end - t->start < DRAFT_MAX_NAME ? t->end - t->start
                                                          : DRAFT_MAX_NAME - 1),
                 text + t->start);
    }
}

struct params {
    struct draft_param *ret;
    int max, count;
    struct words words;
};

static void end_param(struct params *p) {
    bool none = !p->words.count ||
                (p->words.count == 1 && !p->count && !strcmp(p->words.list[0], "void"));
    if (!none && p->count++ < p->max) {
        read_param(&p->words, &p->ret[p->count - 1]);
    }
    p->words.count = 0;
}

int draft_params(const char *text, const struct kernel_place *kernel,
                 struct draft_param *ret, int max) {
    struct cuda_lexer lexer;
    struct cuda_token t;
    struct params p = {.ret = ret, .max = max};
    int depth = 0;
    size_t len =
        kernel->signature_end > kernel->end ? kernel->signature_end - kernel->end : 0;
    const char *list = text + kernel->end;
    cuda_lexer_init(&lexer, list, len);
    while ((t = cuda_lexer_next(&lexer)).kind != CUDA_END) {
        bool opens = strchr("([{<", list[t.start]) && t.end - t.start == 1;
        bool closes = strchr(")]}>", list[t.start]) && t.end - t.start == 1;
        depth -= closes;
        if (closes && depth == 0) {
            end_param(&p);
            return p.count;
        }
        if (depth == 1 && list[t.start] == ',') {
            end_param(&p);
        } else if (depth >= 1) {
            take_word(&p.words, list, &t);
        }
        depth += opens;
    }
    return -1;
}

/* --- the draft --- */

struct sizes {
    const char *names[MAX_SIZES];
    size_t count;
};

static bool is_size(const struct draft_param *p) {
    return p->kind == DRAFT_SCALAR && !tensor_type_float(p->type) &&
           p->type != TENSOR_BOOL && *p->name;
}

static json_t *shape_of(const struct sizes *sizes, unsigned lanes) {
    json_t *shape = json_array();
    for (size_t i = 0; i < sizes->count; i++) {
        json_array_append_new(shape, json_string(sizes->names[i]));
    }
    if (!sizes->count) {
        json_array_append_new(shape, json_integer(1000));
    }
    if (lanes > 1) {
        json_array_append_new(shape, json_integer(lanes));
    }
    return shape;
}

static json_t *buffer_of(const struct draft_param *p, const struct sizes *sizes) {
    json_t *arg =
        json_pack("{s:s, s:s, s:o}", "name", p->name, "type", tensor_type_name(p->type),
                  "shape", shape_of(sizes, p->lanes));
    if (!p->is_const) {
        json_object_set_new(arg, "output", json_true());
    } else if (tensor_type_float(p->type)) {
        json_object_set_new(arg, "init", json_pack("{s:[i,i]}", "normal", 0, 1));
    } else {
        json_object_set_new(
            arg, "init",
            json_pack("{s:[i,i]}", "integers", 0, p->type == TENSOR_BOOL ? 2 : 100));
    }
    return arg;
}

static json_t *arg_of(const struct draft_param *p, const struct sizes *sizes) {
    if (p->kind == DRAFT_POINTER) {
        struct draft_param known = *p;
        if (p->type == TENSOR_TYPES) {
            known.type = TENSOR_FLOAT32; /* T of a template, most often */
        }
        return buffer_of(&known, sizes);
    }
    if (p->kind == DRAFT_SCALAR && is_size(p)) {
        return json_pack("{s:s, s:s, s:s}", "name", p->name, "type",
                         tensor_type_name(p->type), "value", p->name);
    }
    if (p->kind == DRAFT_SCALAR) {
        json_t *arg =
            json_pack("{s:s, s:i}", "type", tensor_type_name(p->type), "value", 1);
        if (*p->name) {
            json_object_set_new(arg, "name", json_string(p->name));
        }
        return arg;
    }
    if (p->kind == DRAFT_TENSOR_MAP) {
        return json_pack("{s:s, s:{s:s, s:[i,i]}}", "name", p->name, "tensor_map", "of",
                         "", "box", 64, 64);
    }
    /* A structure: its members are the user's to say. */
    return json_pack("{s:s, s:[]}", "name", p->name, "struct");
}

static json_t *cases_of(const struct sizes *sizes) {
    static const int many[MAX_SIZES] = {1000, 37, 19, 5};
    json_t *first = json_object(), *second = json_object();
    for (size_t i = 0; i < sizes->count; i++) {
        json_object_set_new(first, sizes->names[i], json_integer(many[i]));
        json_object_set_new(second, sizes->names[i], json_integer(1));
    }
    return json_pack("[o,o]", first, second);
}

static json_t *launch_of(const struct kernel_place *kernel, const struct sizes *sizes) {
    int block = kernel->launch_bounds[0] > 0 && kernel->launch_bounds[0] < DEFAULT_BLOCK
                    ? kernel->launch_bounds[0]
                    : DEFAULT_BLOCK;
    autobuf count = BUF_INIT(4096);
    for (size_t i = 0; i < sizes->count; i++) {
        buf_addf(&count, "%s%s", i ? " * " : "", sizes->names[i]);
    }
    buf_adds(&count, sizes->count ? "" : "1000");
    return json_pack("{s:[o], s:[i]}", "grid",
                     json_sprintf("ceil_div(%s, %d)", count.data, block), "block", block);
}

/* A built-in operator that has the kernel's name and takes as many inputs. */
static json_t *expect_of(const char *kernel, const struct draft_param *params,
                         int count) {
    const char *colon = strrchr(kernel, ':');
    const struct operator* op = operator_find(colon ? colon + 1 : kernel);
    int inputs = 0, wanted = 0;
    for (int i = 0; i < count; i++) {
        inputs += params[i].kind == DRAFT_POINTER && params[i].is_const;
    }
    while (op && wanted < OPERATOR_MAX_INPUTS && op->inputs[wanted].name) {
        wanted++;
    }
    return op && inputs == wanted ? json_pack("{s:s}", "op", op->name) : json_null();
}

json_t *spec_draft(const char *text, const struct kernel_place *kernel, bool named) {
    struct draft_param params[DRAFT_MAX_PARAMS];
    struct sizes sizes = {0};
    int count = draft_params(text, kernel, params, DRAFT_MAX_PARAMS);
    if (count < 0 || count > DRAFT_MAX_PARAMS) {
        return NULL;
    }
    json_t *draft = json_object(), *args = json_array();
    for (int i = 0; i < count; i++) {
        if (!*params[i].name) {
            snprintf(params[i].name, DRAFT_MAX_NAME, "arg%d", i);
        }
        if (is_size(&params[i]) && sizes.count < MAX_SIZES) {
            sizes.names[sizes.count++] = params[i].name;
        } else if (is_size(&params[i])) {
            params[i].name[0] = '\0'; /* a plain number */
        }
    }
    for (int i = 0; i < count; i++) {
        json_array_append_new(args, arg_of(&params[i], &sizes));
    }
    if (named) {
        json_object_set_new(draft, "kernel", json_string(kernel->name));
    }
    if (sizes.count) {
        json_object_set_new(draft, "sizes", cases_of(&sizes));
    }
    json_object_set_new(draft, "launch", launch_of(kernel, &sizes));
    json_object_set_new(draft, "args", args);
    json_object_set_new(draft, "expect", expect_of(kernel->name, params, count));
    return draft;
}

/* --- as text --- */

static void write_list(struct buf *out, const json_t *list) {
    size_t i;
    const json_t *item;
    json_array_foreach(list, i, item) {
        autofree char *text = json_dumps(item, JSON_ENCODE_ANY);
        buf_addf(out, "%s\n    %s", i ? "," : "", text);
    }
}

char *spec_draft_text(const json_t *draft) {
    autobuf out = BUF_INIT(64u << 10);
    const char *name, *separator = "{";
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)draft, name, value) {
        buf_addf(&out, "%s\n  \"%s\": ", separator, name);
        if (json_is_array(value) && json_array_size(value)) {
            buf_addc(&out, '[');
            write_list(&out, value);
            buf_adds(&out, "\n  ]");
        } else {
            autofree char *text = json_dumps(value, JSON_ENCODE_ANY);
            buf_adds(&out, text);
        }
        separator = ",";
    }
    buf_adds(&out, "\n}\n");
    return buf_detach(&out);
}
