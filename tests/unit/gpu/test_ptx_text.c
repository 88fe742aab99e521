/* Which text is PTX, what its head says, and which targets an architecture takes. */
#include "base/mem.h"
#include "gpu/source/ptx_text.h"

#include <criterion/criterion.h>
#include <string.h>

/* From memory that ends where the text does. */
static bool read_head(struct ptx_head *ret, const char *text) {
    size_t len = strlen(text);
    char *exact = xmalloc(len ? len : 1);
    memcpy(exact, text, len);
    bool is = ptx_head_read(ret, exact, len);
    free(exact);
    return is;
}

Test(ptx_text, reads_heads) {
    static const char text[] =
        "\xef\xbb\xbf// .version 1.0\r\n/* .target sm_10\n */ .version "
        "8.7\r\n.target sm_90a, texmode_independent\r\n"
        ".address_size 64\r\n.visible .entry k() { ret; }\r\n";
    struct ptx_head head;
    cr_assert(read_head(&head, text));
    cr_expect_eq(head.major, 8u);
    cr_expect_eq(head.minor, 7u);
    cr_expect_str_eq(head.target, "sm_90a");
    cr_expect_eq(strncmp(text + head.start, ".version", 8), 0);
    cr_expect_eq(strncmp(text + head.target_at, "sm_90a,", 7), 0);
    cr_expect_eq(head.target_end - head.target_at, 6u);
    cr_expect_eq(strncmp(text + head.end, "\r\n.visible", 10), 0);
}

Test(ptx_text, is_decided_by_the_first_word) {
    static const char *const others[] = {
        "",
        "/",
        "/*",
        "//",
        "// .version 9.0",
        ".",
        ".versio",
        ".versions 9",
        "version 9.0",
        "#define V .version\n.version 9.0",
        "__global__ void k() {}\n.version 9.0",
        "/* .version 9.0 */ int i;",
        "\xef\xbb",
        "\xef\xbb\xbf",
    };
    static const char *const ptx[] = {
        ".version 9.0",
        ".version",
        " \t\n.version\n9.0",
        "/**/.version 9.0",
        "\xef\xbb\xbf.version 9.0",
        ".version 99999999999.0",
    };
    struct ptx_head head;
    for (size_t i = 0; i < ARRAY_LEN(others); i++) {
        cr_expect_not(read_head(&head, others[i]), "%s", others[i]);
    }
    for (size_t i = 0; i < ARRAY_LEN(ptx); i++) {
        cr_expect(read_head(&head, ptx[i]), "%s", ptx[i]);
        cr_expect(head.end >= head.start + strlen(".version"));
    }
    cr_expect(ptx_path_is("a/k.ptx") && !ptx_path_is(".ptx") && !ptx_path_is("k.ptx.cu"));
}

/* A target's name may be anything. */
Test(ptx_text, cuts_targets) {
    struct ptx_head head;
    cr_assert(read_head(&head, ".version 9.0 .target sm_123456789012345678901234567890"));
    cr_expect_str_eq(head.target, "sm_12345678901234567890");
    cr_assert(read_head(&head, ".version 9.0 .target"));
    cr_expect_str_eq(head.target, "");
}

/* PTX ISA, .target: what is compiled for one runs on later ones; not with "a", and with
 * "f" in the family alone. */
Test(ptx_text, targets) {
    static const struct {
        const char *target, *arch;
        bool suits;
    } cases[] = {
        {"sm_90a", "sm_90a", true},    {"sm_90", "sm_90a", true},
        {"sm_52", "sm_90a", true},     {"sm_90a", "sm_90", false},
        {"sm_100", "sm_90a", false},   {"sm_100a", "sm_90a", false},
        {"sm_90a", "sm_100a", false},  {"sm_100f", "sm_103a", true},
        {"sm_100f", "sm_100", false},  {"sm_103f", "sm_100f", false},
        {"sm_100f", "sm_120f", false}, {"", "sm_90a", false},
        {"sm_", "sm_90a", false},      {"compute_90", "sm_90a", false},
        {"sm_90b", "sm_90a", false},   {"sm_90aa", "sm_90a", false},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        cr_expect_eq(ptx_target_suits(cases[i].target, cases[i].arch), cases[i].suits,
                     "%s on %s", cases[i].target, cases[i].arch);
    }
}
