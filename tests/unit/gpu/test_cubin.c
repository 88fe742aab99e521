#include "base/err.h"
#include "gpu/facts/cubin.h"
#include "test_data.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <string.h>

TestSuite(cubin);

static const struct cubin_kernel *find(const struct cubin *c, const char *symbol) {
    for (size_t i = 0; i < c->count; i++) {
        if (strcmp(c->kernels[i].symbol, symbol) == 0) {
            return &c->kernels[i];
        }
    }
    return NULL;
}

static void read_file(struct cubin *c, const char *name) {
    size_t len = 0;
    autofree char *path = xasprintf("cubins/%s.cubin", name);
    autofree char *bytes = test_data_read(path, &len);
    struct err err = {0};
    cr_assert(zero(int, cubin_read(c, bytes, len, &err)), "%s", err.msg);
}

/* What `ptxas -v` says of the same PTX. */
Test(cubin, agrees_with_ptxas) {
    static const struct {
        const char *file, *symbol;
        int sm, registers, stack, shared, barriers;
    } cases[] = {
        {"functions_sm_90a", "_Z2k2Pi", 90, 24, 0, 0, 0},
        {"functions_sm_90a", "_Z6framedPii", 90, 32, 400, 0, 0},
        {"functions_sm_90a", "_Z8bigparam3BigPic", 90, 12, 0, 40, 1},
        {"functions_sm_80", "_Z2k2Pi", 80, 24, 0, 0, 0},
        {"functions_sm_80", "_Z6framedPii", 80, 32, 400, 0, 0},
        {"functions_sm_80", "_Z8bigparam3BigPic", 80, 12, 0, 40, 1},
        {"older_sm_90a", "_Z1kPfi", 90, 10, 0, 256, 1}, /* CUDA 12.8 */
        {"older_sm_90a", "bars", 90, 4, 0, 0, 8},
        {"attributes_sm_90a", "_Z4dynkPf", 90, 10, 0, 0, 1},
        {"attributes_sm_90a", "_Z7noparamv", 90, 6, 0, 32, 1},
        {"attributes_sm_90a", "plainc", 90, 4, 0, 0, 8},
        {"attributes_sm_90a", "_ZN2ns2vkIJiPfPKcEEEvDpT_", 90, 4, 0, 0, 0},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct cubin c;
        read_file(&c, cases[i].file);
        const struct cubin_kernel *k = find(&c, cases[i].symbol);
        cr_assert(k != NULL, "%s", cases[i].symbol);
        cr_expect(eq(int, c.sm, cases[i].sm), "%s", cases[i].file);
        cr_expect(eq(int, k->registers, cases[i].registers), "%s", cases[i].symbol);
        cr_expect(eq(int, k->stack_bytes, cases[i].stack), "%s", cases[i].symbol);
        cr_expect(eq(int, k->static_shared_bytes, cases[i].shared), "%s",
                  cases[i].symbol);
        cr_expect(eq(int, k->barriers, cases[i].barriers), "%s", cases[i].symbol);
        cr_expect(gt(u64, k->code_bytes, 0), "%s", cases[i].symbol);
        cubin_finish(&c);
    }
}

/* What the source says: parameters, launch bounds, block and cluster sizes. */
Test(cubin, agrees_with_the_source) {
    static const struct {
        const char *symbol;
        int param_bytes, param_count, max_threads, required[3], cluster[3];
    } cases[] = {
        {"plainc", 32, 4, 1024, {0}, {0}}, /* int, char, double, int4 */
        {"_Z7noparamv", 0, 0, 1024, {0}, {0}},
        {"_Z8bigparam3BigPi", 5008, 2, 1024, {0}, {0}},
        {"_ZN2ns2vkIJiPfPKcEEEvDpT_", 24, 3, 1024, {0}, {0}},
        {"_ZN2ns2pkINS_3Tag2InEEEvPT_S2_", 9, 2, 1024, {0}, {0}},
        {"_Z3lb1Pi", 8, 1, 256, {0}, {0}},
        {"_Z3lb2Pi", 8, 1, 256, {0}, {0}},
        {"_Z3lb3Pi", 8, 1, 128, {0}, {0}},
        {"_Z2clPi", 8, 1, 1024, {0}, {2, 1, 1}},
        {"_Z3cl2Pi", 8, 1, 64, {0}, {2, 2, 1}},
        {"_Z2bsPi", 8, 1, 256, {32, 4, 2}, {0}},
        {"_Z3bscPi", 8, 1, 128, {32, 4, 1}, {4, 1, 1}},
        {"_Z2mrPi", 8, 1, 1024, {0}, {0}},
    };
    struct cubin c;
    read_file(&c, "attributes_sm_90a");
    cr_expect(eq(u64, c.count, 18));
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct cubin_kernel *k = find(&c, cases[i].symbol);
        cr_assert(k != NULL, "%s", cases[i].symbol);
        cr_expect(eq(int, k->param_bytes, cases[i].param_bytes), "%s", cases[i].symbol);
        cr_expect(eq(int, k->param_count, cases[i].param_count), "%s", cases[i].symbol);
        cr_expect(eq(int, k->max_threads, cases[i].max_threads), "%s", cases[i].symbol);
        for (size_t d = 0; d < 3; d++) {
            cr_expect(eq(int, k->required_threads[d], cases[i].required[d]), "%s",
                      cases[i].symbol);
            cr_expect(eq(int, k->cluster[d], cases[i].cluster[d]), "%s", cases[i].symbol);
        }
    }
    cubin_finish(&c);
}

/* Functions that kernels call are none themselves. */
Test(cubin, lists_kernels_only) {
    struct cubin c;
    read_file(&c, "functions_sm_90a");
    cr_expect(eq(u64, c.count, 3));
    cubin_finish(&c);
}

Test(cubin, refuses_what_is_no_cubin) {
    static const char *const texts[] = {
        "", "\x7f",
        "\x7f"
        "ELF",
        "MZ not an ELF file at all, "
        "but long enough to be one: 0123456789012345678901"};
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct cubin c;
        struct err err = {0};
        cr_expect(eq(int, cubin_read(&c, texts[i], strlen(texts[i]), &err), -EBADMSG));
        cr_expect(err.msg[0] != '\0');
        cr_expect(eq(u64, c.count, 0));
    }
}

/* Cut off anywhere, or with any byte changed, reading ends inside the bytes given. */
Test(cubin, bears_damage) {
    size_t len = 0;
    autofree char *bytes = test_data_read("cubins/functions_sm_90a.cubin", &len);
    struct cubin c;
    for (size_t cut = 0; cut < len; cut += cut < 600 ? 1 : 37) {
        char *part = xmalloc(cut + 1);
        memcpy(part, bytes, cut);
        (void)cubin_read(&c, part, cut, NULL);
        cubin_finish(&c);
        free(part);
    }
    static const unsigned char values[] = {0, 1, 0x7f, 0x80, 0xff};
    char *exact = xmalloc(len);
    for (size_t at = 0; at < len; at += at < 64 ? 1 : 3) {
        memcpy(exact, bytes, len);
        exact[at] = (char)values[at % sizeof values];
        (void)cubin_read(&c, exact, len, NULL);
        for (size_t i = 0; i < c.count; i++) {
            cr_assert(ge(int, c.kernels[i].static_shared_bytes, -1));
        }
        cubin_finish(&c);
    }
    free(exact);
}
