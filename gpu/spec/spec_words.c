#include "gpu/spec/spec_words.h"

#include "base/edit_distance.h"
#include "base/mem.h"
#include "gpu/reference/operator.h"
#include "gpu/spec/value_functions.h"
#include "gpu/tensor/tensor_type.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

struct word {
    const char *said, *meant;
};

static const char *meant_by(const struct word *words, size_t count, const char *said) {
    for (size_t i = 0; i < count; i++) {
        if (strcasecmp(words[i].said, said) == 0) {
            return words[i].meant;
        }
    }
    return NULL;
}

/* Edits that still make the same word. */
static unsigned edits_allowed(size_t len) {
    return len < 4 ? 0 : len < 8 ? 1 : len < 12 ? 2 : 3;
}

/* --- members --- */

static const struct word members[] = {
    {"dtype", "type"},
    {"data", "init"},
    {"input", "init"},
    {"in", "init"},
    {"random", "init"},
    {"value", "init"},
    {"out", "output"},
    {"is_output", "output"},
    {"size", "shape"},
    {"dims", "shape"},
    {"extents", "shape"},
    {"params", "args"},
    {"parameters", "args"},
    {"arguments", "args"},
    {"inputs", "args"},
    {"outputs", "args"},
    {"reference", "expect"},
    {"expected", "expect"},
    {"cases", "sizes"},
    {"shapes", "sizes"},
    {"kernel_name", "kernel"},
    {"entry", "kernel"},
    {"threads", "block"},
    {"block_size", "block"},
    {"block_dim", "block"},
    {"blocks", "grid"},
    {"grid_size", "grid"},
    {"grid_dim", "grid"},
    {"shared", "shared_bytes"},
    {"smem", "shared_bytes"},
    {"shared_mem", "shared_bytes"},
    {"shared_memory", "shared_bytes"},
    {"dynamic_shared_bytes", "shared_bytes"},
};

/* Members that stand one level too high. */
static const struct word inner[] = {
    {"grid", "launch"},    {"block", "launch"},        {"cluster", "launch"},
    {"threads", "launch"}, {"shared_bytes", "launch"}, {"cooperative", "launch"},
    {"smem", "launch"},    {"rtol", "tolerance"},      {"atol", "tolerance"},
    {"op", "expect"},      {"expression", "expect"},   {"normal", "init"},
    {"uniform", "init"},   {"integers", "init"},       {"fill", "init"},
    {"arange", "init"},    {"values", "init"},         {"file", "init"},
};

static bool is_one_of(const char *known, const char *name) {
    size_t len = strlen(name);
    for (const char *at = known; len && (at = strstr(at, name)); at += len) {
        if ((at == known || at[-1] == ' ') && (at[len] == ' ' || !at[len])) {
            return true;
        }
    }
    return false;
}

static size_t nearest_of(const char *known, const char *name, const char **ret) {
    size_t len = strlen(name), found = 0;
    unsigned best = edits_allowed(len) + 1;
    for (const char *at = known; *at; at += strspn(at, " ")) {
        size_t size = strcspn(at, " ");
        unsigned distance = edit_distance(name, len, at, size, best);
        if (distance < best) {
            best = distance;
            found = size;
            *ret = at;
        }
        at += size;
    }
    return found;
}

const char *spec_words_member(const char *name, const char *known, char *ret,
                              size_t size) {
    const char *meant = meant_by(members, ARRAY_LEN(members), name);
    const char *holder = meant_by(inner, ARRAY_LEN(inner), name);
    const char *near = NULL;
    size_t len = nearest_of(known, name, &near);
    if (meant && is_one_of(known, meant)) {
        snprintf(ret, size, "; did you mean \"%s\"?", meant);
    } else if (holder && is_one_of(known, holder)) {
        snprintf(ret, size, "; it belongs into \"%s\"", holder);
    } else if (len) {
        snprintf(ret, size, "; did you mean \"%.*s\"?", (int)len, near);
    } else {
        snprintf(ret, size, "; it may have %s", known);
    }
    return ret;
}

/* --- types --- */

static const struct word types[] = {
    {"float", "float32"},
    {"fp32", "float32"},
    {"f32", "float32"},
    {"double", "float64"},
    {"fp64", "float64"},
    {"f64", "float64"},
    {"half", "float16"},
    {"half2", "float16"},
    {"__half", "float16"},
    {"__half2", "float16"},
    {"fp16", "float16"},
    {"f16", "float16"},
    {"bf16", "bfloat16"},
    {"__nv_bfloat16", "bfloat16"},
    {"__nv_bfloat162", "bfloat16"},
    {"nv_bfloat16", "bfloat16"},
    {"fp8", "float8_e4m3"},
    {"e4m3", "float8_e4m3"},
    {"fp8_e4m3", "float8_e4m3"},
    {"float8_e4m3fn", "float8_e4m3"},
    {"__nv_fp8_e4m3", "float8_e4m3"},
    {"e5m2", "float8_e5m2"},
    {"fp8_e5m2", "float8_e5m2"},
    {"__nv_fp8_e5m2", "float8_e5m2"},
    {"float2", "float32"},
    {"float4", "float32"},
    {"char", "int8"},
    {"int8_t", "int8"},
    {"i8", "int8"},
    {"uchar", "uint8"},
    {"byte", "uint8"},
    {"unsigned char", "uint8"},
    {"uint8_t", "uint8"},
    {"u8", "uint8"},
    {"short", "int16"},
    {"int16_t", "int16"},
    {"unsigned short", "uint16"},
    {"uint16_t", "uint16"},
    {"int", "int32"},
    {"int32_t", "int32"},
    {"i32", "int32"},
    {"unsigned", "uint32"},
    {"unsigned int", "uint32"},
    {"uint", "uint32"},
    {"uint32_t", "uint32"},
    {"u32", "uint32"},
    {"long", "int64"},
    {"long long", "int64"},
    {"int64_t", "int64"},
    {"ptrdiff_t", "int64"},
    {"i64", "int64"},
    {"size_t", "uint64"},
    {"unsigned long", "uint64"},
    {"unsigned long long", "uint64"},
    {"uint64_t", "uint64"},
    {"u64", "uint64"},
};

/* "const float* __restrict__" is a float. */
const char *spec_words_type(const char *name, char *ret, size_t size) {
    char bare[32];
    name += strncmp(name, "const ", 6) ? 0 : 6;
    name += strncmp(name, "torch.", 6) ? 0 : 6;
    size_t len = strcspn(name, "*");
    while (len && name[len - 1] == ' ') {
        len--;
    }
    snprintf(bare, sizeof bare, "%.*s", len < sizeof bare ? (int)len : 0, name);
    const char *meant = meant_by(types, ARRAY_LEN(types), bare);
    if (!meant && tensor_type_find(bare) != TENSOR_TYPES) {
        meant = bare;
    }
    ret[0] = '\0';
    if (meant) {
        snprintf(ret, size, "; did you mean \"%s\"?", meant);
    }
    return ret;
}

/* --- first contents --- */

static const struct word inits[] = {
    {"randn", "{\"normal\": [0, 1]}"},
    {"normal", "{\"normal\": [0, 1]}"},
    {"gaussian", "{\"normal\": [0, 1]}"},
    {"random", "{\"uniform\": [0, 1]}"},
    {"rand", "{\"uniform\": [0, 1]}"},
    {"uniform", "{\"uniform\": [0, 1]}"},
    {"randint", "{\"integers\": [0, 10]}"},
    {"integers", "{\"integers\": [0, 10]}"},
    {"int", "{\"integers\": [0, 10]}"},
    {"zeros", "{\"fill\": 0}"},
    {"zero", "{\"fill\": 0}"},
    {"ones", "{\"fill\": 1}"},
    {"one", "{\"fill\": 1}"},
    {"constant", "{\"fill\": 1}"},
    {"const", "{\"fill\": 1}"},
    {"full", "{\"fill\": 1}"},
    {"value", "{\"fill\": 1}"},
    {"iota", "{\"arange\": true}"},
    {"arange", "{\"arange\": true}"},
    {"range", "{\"arange\": true}"},
    {"sequence", "{\"arange\": true}"},
    {"data", "{\"values\": [1, 2, 3]}"},
    {"list", "{\"values\": [1, 2, 3]}"},
    {"npy", "{\"file\": \"x.npy\"}"},
};

const char *spec_words_init(const json_t *init, char *ret, size_t size) {
    const char *said = json_string_value(init);
    if (json_object_size(init) == 1) {
        said = json_object_iter_key(json_object_iter((json_t *)(uintptr_t)init));
    }
    const char *meant = said                   ? meant_by(inits, ARRAY_LEN(inits), said)
                        : json_is_array(init)  ? "{\"values\": [1, 2, 3]}"
                        : json_is_number(init) ? "{\"fill\": 0}"
                                               : NULL;
    ret[0] = '\0';
    if (meant) {
        snprintf(ret, size, "; did you mean %s?", meant);
    } else if (json_object_size(init) > 1) {
        snprintf(ret, size, "; only one member is expected");
    }
    return ret;
}

/* --- operators --- */

static const struct word operators[] = {
    {"attention", "scaled_dot_product_attention"},
    {"self_attention", "scaled_dot_product_attention"},
    {"multi_head_attention", "scaled_dot_product_attention"},
    {"mha", "scaled_dot_product_attention"},
    {"gqa", "scaled_dot_product_attention"},
    {"sdpa", "scaled_dot_product_attention"},
    {"gemm", "matmul"},
    {"sgemm", "matmul"},
    {"hgemm", "matmul"},
    {"dot_product", "dot"},
    {"gemv", "mv"},
    {"batched_gemm", "bmm"},
    {"batched_matmul", "bmm"},
    {"batch_matmul", "bmm"},
    {"fc", "linear"},
    {"dense", "linear"},
    {"rotary", "rope"},
    {"rotary_embedding", "rope"},
    {"apply_rotary_pos_emb", "rope"},
    {"swish", "silu"},
    {"silu_and_mul", "swiglu"},
    {"silu_mul", "swiglu"},
    {"gelu_and_mul", "geglu"},
    {"gelu_tanh", "gelu"},
    {"scan", "cumsum"},
    {"prefix_sum", "cumsum"},
    {"inclusive_scan", "cumsum"},
    {"reduce_sum", "sum"},
    {"reduce_max", "amax"},
    {"reduce_min", "amin"},
    {"histogram", "histc"},
    {"conv", "conv2d"},
    {"convolution", "conv2d"},
    {"depthwise_conv2d", "conv2d"},
    {"multiply", "mul"},
    {"subtract", "sub"},
    {"divide", "div"},
    {"true_divide", "div"},
    {"copy", "identity"},
    {"clone", "identity"},
    {"concat", "cat"},
    {"concatenate", "cat"},
    {"cast", "to"},
    {"clip", "clamp"},
    {"fp8_quant", "to"},
    {"bce_loss", "binary_cross_entropy"},
    {"upsample", "interpolate"},
    {"variance", "var"},
    {"l2_norm", "norm"},
    {"argtopk", "topk"},
};

/* "nn.functional.LayerNorm" is "layernorm". */
static void plain_name(const char *name, char ret[64]) {
    const char *dot = strrchr(name, '.');
    size_t len = 0;
    for (const char *c = dot ? dot + 1 : name; *c && len < 63; c++) {
        if (*c != '_' && *c != '-' && *c != ' ') {
            ret[len++] = (char)tolower((unsigned char)*c);
        }
    }
    ret[len] = '\0';
}

/* How well `op` stands for what was said: 0 the same but for case and underscores, then
 * misspellings, then the longest name within it, then one that it is within. */
static unsigned remoteness(const char *said, const char *op) {
    enum { FAR = 1000 };
    char name[64];
    plain_name(op, name);
    size_t said_len = strlen(said), len = strlen(name);
    unsigned allowed = edits_allowed(said_len);
    unsigned distance = edit_distance(said, said_len, name, len, allowed);
    if (distance <= allowed) {
        return distance;
    }
    if (len > 3 && strstr(said, name)) {
        return 100 - (unsigned)len;
    }
    return said_len > 3 && strstr(name, said) ? 100 + (unsigned)len : FAR;
}

const char *spec_words_operator(const char *name, char *ret, size_t size) {
    const char *meant = meant_by(operators, ARRAY_LEN(operators), name);
    char said[64];
    plain_name(name, said);
    unsigned best = 200;
    const struct operator* op;
    for (size_t i = 0; !meant && (op = operator_at(i)); i++) {
        best = remoteness(said, op->name) < best ? remoteness(said, op->name) : best;
    }
    for (size_t i = 0; !meant && best < 200 && (op = operator_at(i)); i++) {
        meant = remoteness(said, op->name) == best ? op->name : NULL;
    }
    if (meant) {
        snprintf(ret, size, "; did you mean \"%s\"?", meant);
    } else {
        snprintf(
            ret, size,
            "; the guide to operators lists all, and an expression or a plain kernel "
            "can say the rest");
    }
    return ret;
}

/* --- expressions --- */

static const struct word functions[] = {
    {"fabs", "abs"},   {"fmax", "max"},     {"fmin", "min"},     {"powf", "pow"},
    {"__expf", "exp"}, {"__logf", "log"},   {"fabsf", "abs"},    {"fmaxf", "max"},
    {"fminf", "min"},  {"rsqrtf", "rsqrt"}, {"roundf", "round"}, {"rintf", "round"},
    {"int", "trunc"},
};

static const char *function_meant(const char *name) {
    size_t len = strlen(name);
    const char *meant = meant_by(functions, ARRAY_LEN(functions), name);
    if (meant || len < 2 || name[len - 1] != 'f') {
        return meant;
    }
    const struct value_function *f = value_function_find(name, len - 1); /* expf */
    return f ? f->name : NULL;
}

const char *spec_words_expression(const char *name, char *ret, size_t size) {
    const char *meant = function_meant(name);
    ret[0] = '\0';
    if (meant) {
        snprintf(ret, size, "; did you mean \"%s\"?", meant);
    } else if (operator_find(name)) {
        snprintf(ret, size,
                 "; it is a built-in operator of whole tensors: \"expect\": "
                 "{\"op\": \"%s\"}",
                 name);
    }
    return ret;
}

static const struct word size_functions[] = {
    {"cdiv", "ceil_div"},        {"ceildiv", "ceil_div"},
    {"div_up", "ceil_div"},      {"divup", "ceil_div"},
    {"ceil", "ceil_div"},        {"div_ceil", "ceil_div"},
    {"idivup", "ceil_div"},      {"divide_round_up", "ceil_div"},
    {"ceiling_div", "ceil_div"}, {"maximum", "max"},
    {"minimum", "min"},
};

const char *spec_words_size_function(const char *name, char *ret, size_t size) {
    const char *meant = meant_by(size_functions, ARRAY_LEN(size_functions), name);
    ret[0] = '\0';
    if (meant) {
        snprintf(ret, size, "; did you mean \"%s\"?", meant);
    }
    return ret;
}
