/* argument_order: when do names show that arguments stand in the wrong order? And
 * kernel_parameters: what are the parameters called? */
#include "base/err.h"
#include "base/mem.h"
#include "gpu/source/kernel_parameters.h"
#include "gpu/validate/argument_order.h"

#include <criterion/criterion.h>
#include <string.h>

Test(kernel_parameters, names) {
    static const struct {
        const char *list, *names; /* NULL: not known */
    } rows[] = {
        {"(float *y, const float *__restrict__ x, int n)", "y x n"},
        {"(int rows, int cols = (1 << 4) * sizeof(int), T t)", "rows cols t"},
        {"(cuda::std::array<float, 4> a, float (*f)(int k), unsigned b)", "a float b"},
        {"(const float x[], float (&tile)[4], int /* n */ n)", "x float n"},
        {"()", ""},
        {"(float *x", NULL},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        autojson *names = kernel_parameter_names(rows[i].list, strlen(rows[i].list));
        char text[200] = "";
        for (size_t k = 0; k < json_array_size(names); k++) {
            strcat(text, k ? " " : "");
            strcat(text, json_string_value(json_array_get(names, k)));
        }
        cr_expect_eq(names != NULL, rows[i].names != NULL, "%s", rows[i].list);
        cr_expect_str_eq(text, rows[i].names ? rows[i].names : "", "%s", rows[i].list);
    }
}

/* The sentence about the first launch, in a spec whose launches take these names. */
static char *words_of(const char *launches, const char *parameters) {
    autofree char *text =
        xasprintf("{'buffers':[{'name':'a','type':'int32','shape':[4],'output':true},"
                  "{'name':'b','type':'int32','shape':[4],'output':true},{'name':'c','"
                  "type':'int32',"
                  "'shape':[4],'output':true}],'launches':[%s],'parameters':%s}",
                  launches, parameters);
    for (char *c = text; *c; c++) {
        *c = *c == '\'' ? '"' : *c;
    }
    autojson *json = json_loads(text, 0, NULL);
    cr_assert(json != NULL, "%s", text);
    autojson *names = json_incref(json_object_get(json, "parameters"));
    json_object_del(json, "parameters");
    struct kernel_spec spec;
    struct err err = {0};
    cr_assert_eq(kernel_spec_read(&spec, json, &err), 0, "%s", err.msg);
    char *words = argument_order_words(&spec, 0, names);
    kernel_spec_finish(&spec);
    return words;
}

#define LAUNCH(args) "{'launch':{'block':1},'args':[" args "]}"

Test(argument_order, names_in_another_order_are_told) {
    static const struct {
        const char *launches, *parameters;
        bool told;
    } rows[] = {
        {LAUNCH("'a','b','c'"), "['a','b','c']", false},
        {LAUNCH("'a','c','b'"), "['a','b','c']", true},
        {LAUNCH("'b','c','a'"), "['a','b','c']", true},
        {LAUNCH("'a','c','b'"), "['out','b','c']", true},   /* two of three are theirs */
        {LAUNCH("'a','b','c'"), "['out','in','n']", false}, /* none is */
        {LAUNCH("'b','a'"), "['a','x']", false},            /* one says nothing */
        {LAUNCH("'b','a'"), "['a','b','c']", false},        /* that is another fault */
        {LAUNCH("'b','a'"), "[1, null]", false},            /* of a worker gone wild */
        {LAUNCH("'b','a'"), "null", false},
        /* Buffers that change places from launch to launch. */
        {LAUNCH("'b','a'") "," LAUNCH("'a','b'"), "['a','b']", false},
        {LAUNCH("'b','a'") "," LAUNCH("'b','a'"), "['a','b']", true},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        autofree char *words = words_of(rows[i].launches, rows[i].parameters);
        cr_expect_eq(words != NULL, rows[i].told, "%zu: %s", i,
                     words ? words : "nothing");
    }
    autofree char *words = words_of(LAUNCH("'a','c','b'"), "['a','b','c']");
    cr_expect(strstr(words, "(a, c, b)") && strstr(words, "(a, b, c)"), "%s", words);
}
