/* Bounds and statistics against data/make_timing.py: exact arithmetic on printed figures,
 * and Python's statistics. */
#include "gpu/run/roofline.h"

#include "base/err.h"
#include "gpu/driver/sample_statistics.h"
#include "tests/unit/gpu/test_data.h"

#include <errno.h>
#include <math.h>
#include <string.h>

static json_t *data(const char *member) {
    size_t len;
    struct err err;
    autofree char *text = test_data_read("timing.json", &len);
    json_t *json = json_parse(text, len, &err);
    cr_assert(json != NULL);
    json_t *list = json_incref(json_object_get(json, member));
    json_decref(json);
    return list;
}

static double number(const json_t *json, const char *name) {
    const json_t *value = json_object_get(json, name);
    cr_assert(json_is_number(value), "%s", name);
    return json_number_value(value);
}

static bool near(double a, double b) {
    return fabs(a - b) <= 1e-12 * fmax(fabs(a), fabs(b));
}

Test(roofline, statistics_of_samples) {
    autojson *list = data("samples");
    size_t i, k;
    json_t *item, *value;
    json_array_foreach(list, i, item) {
        double values[1100];
        json_array_foreach(json_object_get(item, "values"), k, value) {
            values[k] = json_number_value(value);
        }
        autojson *s = sample_statistics(values, k);
        cr_expect_eq(json_get_integer(s, "samples", -1), (json_int_t)k);
        cr_expect(near(number(s, "median_us"), number(item, "median")), "median of %zu", i);
        cr_expect(near(number(s, "min_us"), number(item, "min")), "min of %zu", i);
        cr_expect(near(number(s, "p90_us"), number(item, "p90")), "p90 of %zu", i);
        cr_expect(near(number(s, "std_us"), number(item, "std")), "std of %zu", i);
    }
    double three[] = {12, 11, 16};
    autojson *s = sample_statistics(three, 3), *none = sample_statistics(three, 0);
    cr_expect_str_eq(json_get_string(s, "summary", ""),
                     "median 12 us, p90 15.2, least 11, deviation 2.65"); /* numpy's */
    cr_expect_eq(json_get_integer(none, "samples", -1), 0);
    cr_expect_eq(number(none, "median_us"), 0);
}

/* --- rooflines --- */

struct made {
    struct kernel_spec spec;
    struct spec_case c;
};

static void make(struct made *ret, const char *format_quotes) {
    autofree char *text = xstrdup(format_quotes);
    struct err err = {0};
    for (char *c = text; *c; c++) {
        *c = *c == '\'' ? '"' : *c;
    }
    autojson *json = json_loads(text, 0, NULL);
    cr_assert(json != NULL, "%s", text);
    cr_assert_eq(kernel_spec_read(&ret->spec, json, &err), 0, "%s", err.msg);
    cr_assert_eq(spec_case_resolve(&ret->c, &ret->spec, 0, &err), 0, "%s", err.msg);
}

static void unmake(struct made *m) {
    spec_case_finish(&m->c);
    kernel_spec_finish(&m->spec);
}

static void one_product(const json_t *item) {
    const char *type = json_get_string(item, "type", "");
    struct roofline_work work;
    struct roofline_device device;
    struct made m;
    autofree char *spec =
        xasprintf("{'sizes':{'m':%d,'n':%d,'k':%d},'launch':{'block':[256]},'args':["
                  "{'name':'c','type':'%s','shape':['m','n'],'output':true},"
                  "{'name':'a','type':'%s','shape':['m','k'],'init':{'normal':[0,1]}},"
                  "{'name':'b','type':'%s','shape':['k','n'],'init':{'normal':[0,1]}}]}",
                  (int)number(item, "m"), (int)number(item, "n"), (int)number(item, "k"),
                  type, type, type);
    make(&m, spec);
    cr_assert_eq(roofline_work_of(&work, &m.c, number(item, "flops"), NULL), 0);
    autojson *facts = json_pack("{s:s}", "name", json_get_string(item, "device", ""));
    roofline_device_of(&device, facts);
    autojson *bound = roofline_to_json(&work, &device, 0);
    cr_expect_str_eq(json_get_string(bound, "device", ""),
                     json_get_string(item, "name", ""));
    cr_expect_str_eq(json_get_string(bound, "bound", ""),
                     json_get_string(item, "bound", ""));
    cr_expect_str_eq(json_get_string(bound, "method", ""), "bound");
    cr_expect(!json_object_get(bound, "percent"));
    cr_expect_eq(number(bound, "bytes"), number(item, "bytes"));
    cr_expect(near(number(bound, "limit_us"), number(item, "limit_us")), "%s %.17g",
              json_get_string(item, "device", ""), number(bound, "limit_us"));
    double limit_s = number(item, "limit_us") / 1e6;
    autojson *measured = roofline_to_json(&work, &device, 4 * limit_s);
    cr_expect(near(number(measured, "percent"), 25.0));
    cr_expect_str_eq(json_get_string(measured, "method", ""), "measured");
    unmake(&m);
}

Test(roofline, products_on_known_devices) {
    autojson *list = data("products");
    size_t i;
    json_t *item;
    cr_assert_gt(json_array_size(list), 90);
    json_array_foreach(list, i, item) {
        one_product(item);
    }
}

#define ARGS                                                                             \
    "'launch':{'block':[256]},'args':["                                                  \
    "{'name':'y','type':'float32','shape':['n'],'output':true},"                         \
    "{'name':'h','type':'int32','shape':[256],'init':{'fill':0},'output':true},"         \
    "{'name':'x','type':'float16','shape':['n'],'init':{'normal':[0,1]}},"               \
    "{'name':'w','type':'int8','shape':['n'],'init':{'fill':1}},"                        \
    "{'name':'n','type':'int32','value':'n'}]"

Test(roofline, what_must_move) {
    struct roofline_work work;
    struct made m;
    make(&m, "{'sizes':{'n':1000}," ARGS "}");
    cr_assert_eq(roofline_work_of(&work, &m.c, 12, NULL), 0);
    cr_expect_eq(work.read_bytes, 1024 + 2000 + 1000);
    cr_expect_eq(work.written_bytes, 4000 + 1024);
    cr_expect_eq(work.forced_bytes, 4000);
    cr_expect_eq(work.bytes, 9048);
    cr_expect_eq(work.type, TENSOR_FLOAT16);
    cr_expect_eq(work.flops, 12);
    unmake(&m);
    /* What the spec says goes first. */
    make(&m, "{'sizes':{'n':1000},'roofline':{'bytes':'2 * n','flops':'n * n',"
             "'type':'float64'}," ARGS "}");
    cr_assert_eq(roofline_work_of(&work, &m.c, 12, NULL), 0);
    cr_expect_eq(work.bytes, 2000);
    cr_expect_eq(work.flops, 1e6);
    cr_expect_eq(work.type, TENSOR_FLOAT64);
    unmake(&m);
    struct err err = {0};
    make(&m, "{'sizes':{'n':1000},'roofline':{'bytes':'n - 2000'}," ARGS "}");
    cr_expect_eq(roofline_work_of(&work, &m.c, 0, &err), -EINVAL);
    cr_expect(strstr(err.msg, "roofline.bytes"), "%s", err.msg);
    unmake(&m);
}

Test(roofline, devices_that_no_table_has) {
    struct roofline_device d;
    autojson *facts = json_pack("{s:s, s:i, s:i, s:f, s:I}", "name", "NVIDIA GH200 480GB",
                                "sms", 100, "sm_clock_mhz", 1000, "memory_bytes_per_s",
                                4e12, "l2_bytes", (json_int_t)1 << 20);
    roofline_device_of(&d, facts);
    cr_expect_str_eq(d.name, "NVIDIA GH200 480GB");
    cr_expect_eq(d.bytes_per_s, 4e12);
    cr_expect_eq(d.store_bytes_per_s, 100 * 64 * 1e9);
    cr_expect_eq(d.l2_bytes, 1 << 20);
    cr_expect_eq(d.flops_per_s[TENSOR_FLOAT16], 0);
    cr_expect(strstr(d.source, "attributes"));
    autojson *nothing = json_pack("{s:s, s:n}", "name", "a GPU", "memory_bytes_per_s");
    roofline_device_of(&d, nothing);
    struct roofline_work work = {.bytes = 1000, .flops = 1e9};
    cr_expect(roofline_to_json(&work, &d, 1) == NULL);
    roofline_device_of(&d, NULL); /* no device at all */
    cr_expect_str_eq(d.name, "H100 SXM");
}

/* On an H100 SXM: 132 multiprocessors, 64 bytes a clock, 1.98 GHz: 16.7 TB/s. */
Test(roofline, what_is_too_fast) {
    struct roofline_device d;
    const uint64_t mib = 1 << 20;
    static const struct {
        uint64_t read, written, forced;
        double us;
        bool cold;
        enum roofline_speed speed;
    } cases[] = {
        {0, 4, 4, 0.4, true, ROOFLINE_IMPOSSIBLE}, /* shorter than any kernel */
        {0, 4, 4, 0.6, true, ROOFLINE_POSSIBLE},
        {0, 1024, 1024, 60, true, ROOFLINE_IMPOSSIBLE}, /* 64.2 us of stores */
        {0, 1024, 1024, 65, false, ROOFLINE_POSSIBLE},
        {0, 1024, 0, 60, false,
         ROOFLINE_POSSIBLE}, /* an in-and-out: perhaps few stores */
        {335, 0, 0, 104, true, ROOFLINE_SUSPICIOUS}, /* 104.86 us of DRAM */
        {335, 0, 0, 106, true, ROOFLINE_POSSIBLE},
        {335, 0, 0, 50, false, ROOFLINE_POSSIBLE},  /* warm: L2 may hold it */
        {335, 50, 0, 106, true, ROOFLINE_POSSIBLE}, /* L2 holds the outputs */
        {335, 100, 0, 106, true, ROOFLINE_SUSPICIOUS},
    };
    roofline_device_of(&d, NULL);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        uint64_t unit = cases[i].written == 4 ? 1 : mib;
        const struct roofline_work work = {
            .read_bytes = cases[i].read * unit,
            .written_bytes = cases[i].written * unit,
            .forced_bytes = cases[i].forced * unit,
            .bytes = (cases[i].read + cases[i].written) * unit,
        };
        cr_expect_eq(roofline_judge(&work, &d, cases[i].us / 1e6, cases[i].cold),
                     cases[i].speed, "case %zu", i);
    }
    /* A kernel that needs only some of its inputs, and says so. */
    const struct roofline_work some = {.read_bytes = 335 * mib, .bytes = 3 * mib};
    cr_expect_eq(roofline_judge(&some, &d, 2e-6, true), ROOFLINE_POSSIBLE);
}
