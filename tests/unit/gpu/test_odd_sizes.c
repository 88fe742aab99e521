/* Which odd sizes a check spec gets. */
#include "base/err.h"
#include "base/json.h"
#include "gpu/spec/odd_sizes.h"
#include "tests/unit/gpu/spec_text.h"

#define ROWS_COLS(rows, cols)                                                            \
    "'sizes':[{'rows':64,'cols':1024},{'rows':" rows ",'cols':" cols                     \
    "}],'launch':{'block':[1],"                                                          \
    "'grid':['rows'],'block':[256]}"
#define Y(shape) ",'args':[{'name':'y','type':'float32','shape':" shape ",'output':true}]"

Test(odd_sizes, which_are_added) {
    static const struct {
        const char *text;
        size_t added;
        const char *sizes; /* of the first that was */
    } cases[] = {
        {ROWS_COLS("32", "96") Y("['rows','cols']"), 2, "{\"rows\": 31, \"cols\": 96}"},
        {ROWS_COLS("1", "2") Y("['rows','cols']"), 2, "{\"rows\": 3, \"cols\": 2}"},
        {ROWS_COLS("32", "96") Y("['rows * 2']"), 1, "{\"rows\": 31, \"cols\": 96}"},
        {ROWS_COLS("32", "96") Y("['rows','cols / 4']"), 1,
         "{\"rows\": 31, \"cols\": 96}"},
        {ROWS_COLS("32", "100") Y("['rows','cols']"), 0, NULL},
        /* Heads stay a multiple of kv_heads, and those a divisor. */
        {"'sizes':[{'heads':8,'kv_heads':2},{'heads':16,'kv_heads':4}],'launch':{'block':"
         "32}" Y("['heads']"),
         1, "{\"heads\": 6, \"kv_heads\": 2}"},
        {"'sizes':{'heads':4,'kv_heads':4},'launch':{'block':32}" Y("['heads']"), 0,
         NULL},
        {ROWS_COLS("32", "96") Y("['rows','cols']") ",'odd_sizes':false", 0, NULL},
        {ROWS_COLS("32", "96") Y("['rows','cols']") ",'expect':{'values':{'y':[1]}}", 0,
         NULL},
        {"'launch':{'block':32}" Y("[8]"), 0, NULL},
        {"'sizes':{'n':8},'launch':{'block':['n'],'grid':['9 - n']}" Y("['n']"), 1,
         "{\"n\": 7}"},
        /* A quotient that rounds up asks for no multiples, one without a remainder does.
         */
        {"'sizes':{'n':1024},'launch':{'block':256,'grid':['(n + 255) / 256']}" Y(
             "['n']"),
         1, "{\"n\": 1023}"},
        {"'sizes':{'n':96},'launch':{'block':256,'grid':['(n - 1) / 256 + 1']}" Y(
             "['n']"),
         1, "{\"n\": 95}"},
        {"'sizes':{'n':1024},'launch':{'block':256,'grid':['n / 256']}" Y("['n']"), 0,
         NULL},
        {"'sizes':{'n':1024},'launch':{'block':128,'grid':['(n / 4 + 127) / 128']}" Y(
             "['n']"),
         0, NULL},
        /* 'n % 8' says that multiples are meant; seven blocks are no cluster of 8. */
        {"'sizes':{'n':8},'launch':{'block':[1],'grid':['1 + n % 8']}" Y("['n']"), 0,
         NULL},
        {"'sizes':{'n':8},'launch':{'block':[1],'cluster':['n'],'grid':['n']}" Y("['n']"),
         1, "{\"n\": 7}"},
        {"'sizes':{'n':8},'launch':{'block':[1],'cluster':[8],'grid':['n']}" Y("['n']"),
         0, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct kernel_spec spec;
        struct err err = {0};
        cr_assert_eq(read_spec(&spec, cases[i].text, &err), 0, "%s", err.msg);
        size_t given = spec.case_count;
        cr_assert_eq(odd_sizes_add(&spec), cases[i].added, "%s", cases[i].text);
        cr_assert_eq(spec.case_count, given + cases[i].added);
        if (cases[i].added) {
            autojson *want = json_loads(cases[i].sizes, 0, NULL);
            cr_assert(json_equal((json_t *)(uintptr_t)spec.cases[given], want), "%s",
                      cases[i].text);
        }
        kernel_spec_finish(&spec);
    }
}

/* The size that fills half of the last block, where the grid is rounded up for it. */
Test(odd_sizes, a_half_full_last_block) {
    static const struct {
        const char *launch;
        int size, half;
    } cases[] = {
        {"'block':256,'grid':['ceil_div(n, 256)']", 1024, 896},
        {"'block':[16,16],'grid':['(n + 15) / 16', '(n + 15) / 16']", 64, 56},
        {"'block':8,'grid':['(n - 1) / 8 + 1']", 8, 4},
        {"'block':256,'grid':['ceil_div(n, 256)']", 64, 0}, /* it fills no block */
        {"'block':32,'grid':['n']", 64, 0},
        {"'block':32,'grid':['min(n, 32)']", 64, 0},
        {"'block':2,'grid':['ceil_div(n, 2)']", 64, 0},
        {"'block':'n'", 64, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct kernel_spec spec;
        struct err err = {0};
        autofree char *text = xasprintf("'sizes':{'n':%d},'launch':{%s}" Y("['n']"),
                                        cases[i].size, cases[i].launch);
        cr_assert_eq(read_spec(&spec, text, &err), 0, "%s", err.msg);
        cr_assert_eq(odd_sizes_add(&spec), 1, "%s", text);
        cr_assert_eq(odd_sizes_halve(&spec, 1), cases[i].half, "%s", text);
        cr_assert_eq(json_get_integer(spec.cases[1], "n", 0),
                     cases[i].half ? cases[i].half : cases[i].size - 1, "%s", text);
        kernel_spec_finish(&spec);
    }
}
