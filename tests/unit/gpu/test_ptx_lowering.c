/* What the emulator runs of what ptxas takes: tests/kernels/ptx/lowering.txt.
 *
 * Each line is an instruction that ptxas 13.0 takes for sm_90a inside the names that
 * legality.py declares, "+ " in front when the emulator runs it, "- " when it is refused;
 * ptx_takes writes the signs. What is refused is what docs/architecture/emulator.md says.
 */
#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "gpu/ptx/machine/machine.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#define HEAD                                                                             \
    ".version 9.0\n.target sm_90a\n.address_size 64\n"                                   \
    ".entry k(.param .align 8 .b8 pp[256]) {\n"                                          \
    ".reg .pred p, q, p2; .reg .b16 h<4>; .reg .b32 r<8>; .reg .u32 u<4>; "              \
    ".reg .s32 s<4>; .reg .b64 rd<8>; .reg .f32 f<8>; .reg .f64 fd<4>; "                 \
    ".reg .b128 x<3>; .reg .f16 hh<4>; .shared .align 16 .b8 sm[256];\n"

static bool runs(const char *line, size_t len) {
    struct err err = {0};
    struct ptx_module *module = NULL;
    struct machine *machine = NULL;
    struct machine_config config = {.threads = 1};
    autofree char *text = xasprintf(HEAD "%.*s\nret;\n}\n", (int)len, line);
    bool ok = ptx_module_read(&module, text, strlen(text), &err) == 0 &&
              machine_new(&machine, module, NULL, &config, NULL, &err) == 0;
    machine_free(machine);
    ptx_module_free(module);
    return ok;
}

Test(ptx_lowering, what_is_refused_is_known) {
    autobuf text = BUF_INIT(1 << 20);
    unsigned lines = 0, refused = 0, wrong = 0;
    cr_assert_eq(file_read(TEST_PTX "/lowering.txt", &text, NULL), 0);
    for (char *at = text.data; *at;) {
        size_t len = strcspn(at, "\n");
        bool ok = runs(at + 2, len - 2);
        if (ok != (*at == '+')) {
            fprintf(stderr, "%s: %.*s\n", ok ? "runs now" : "refused", (int)len - 2,
                    at + 2);
            wrong++;
        }
        lines++;
        refused += !ok;
        at += len + (at[len] == '\n');
    }
    cr_assert(lines > 800);
    cr_assert(refused > 50);
    cr_assert_eq(wrong, 0u);
}
