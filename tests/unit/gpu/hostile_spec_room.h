#pragma once
/* hostile_spec_room: specs that must be refused, each with a word of why. */
#include "base/err.h"
#include "base/json.h"
#include "gpu/spec/spec_case.h"

#include <criterion/criterion.h>
#include <string.h>

#define L "'launch':{'grid':[1],'block':[32]}"
#define N "'sizes':{'n':4,'m':0}," L
#define Y(more) "{'name':'y','type':'float32','shape':[4],'output':true" more "}"
#define ARG(text) L ",'args':[" text "]"
#define NARG(text) N ",'args':[" text "]"
#define SHAPE(text) NARG("{'name':'y','type':'float32','output':true,'shape':" text "}")
#define INIT(text) NARG("{'name':'x','type':'float32','shape':[4],'init':" text "}")
#define INT8(text) NARG("{'name':'x','type':'int8','shape':[4],'init':" text "}")
#define WITH(text) L ",'args':[" Y("") "]," text
#define LAUNCH(text) "'sizes':{'n':4,'m':0},'launch':{" text "}"
#define MAP(shape, more)                                                                 \
    ARG("{'name':'x','type':'float32','shape':" shape                                    \
        ",'init':{'fill':1}},{'tensor_map':{'of':'x'," more "}}")
#define IM2COL(shape, members) MAP(shape, "'im2col':{" members "}")
#define TEX(type, shape, more)                                                           \
    ARG("{'name':'x','type':'" type "','shape':" shape                                   \
        ",'init':{'fill':1}},{'texture':{'of':'x'" more "}}")
#define SURF(shape, more)                                                                \
    ARG("{'name':'x','type':'float32','shape':" shape                                    \
        ",'output':true},{'surface':{'of':'x'" more "}}")
#define STRUCT(members) ARG("{'name':'s','struct':" members "}")
#define DEEP(text) "{'struct':[" text "]}"

struct hostile {
    const char *text, *words;
};

static inline json_t *params_of(const char *text) {
    char json[2048];
    snprintf(json, sizeof json, "{%s}", text);
    for (char *c = json; *c; c++) {
        *c = *c == '\'' ? '"' : *c;
    }
    json_t *params = json_loads(json, JSON_ALLOW_NUL, NULL);
    cr_assert(params != NULL, "%s", json);
    return params;
}

/* Reading it, or a case of it: 0 when neither complains. */
static inline int read_whole(const char *text, struct err *err) {
    autojson *params = params_of(text);
    struct kernel_spec spec;
    int n = kernel_spec_read(&spec, params, err);
    if (n < 0) {
        return n;
    }
    for (size_t i = 0; i < spec.case_count && n == 0; i++) {
        struct spec_case c;
        n = spec_case_resolve(&c, &spec, i, err);
        if (n == 0) {
            spec_case_finish(&c);
        }
    }
    kernel_spec_finish(&spec);
    return n;
}

static inline void refuse_all(const struct hostile *list, size_t count) {
    for (size_t i = 0; i < count; i++) {
        struct err err = {0};
        cr_expect_lt(read_whole(list[i].text, &err), 0, "%s", list[i].text);
        cr_expect(strstr(err.msg, list[i].words) != NULL, "%s: %s", list[i].text,
                  err.msg);
    }
}

#define REFUSE(list) refuse_all(list, sizeof(list) / sizeof *(list))
