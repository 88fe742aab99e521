/* ptx_takes: which instructions of a list the emulator runs.
 *
 *   ptx_takes < LINES
 *
 * Each line of the input is one instruction of PTX, with the names that
 * tests/kernels/ptx/legality.py declares. Prints it with "+ " when a kernel that holds it
 * can be run, "- " when the reader or the lowering refuses it. */
#include "base/err.h"
#include "base/mem.h"
#include "gpu/ptx/machine/machine.h"

#include <stdio.h>
#include <string.h>

#define HEAD                                                                             \
    ".version 9.0\n.target sm_90a\n.address_size 64\n"                                   \
    ".entry k(.param .align 8 .b8 pp[256]) {\n"                                          \
    ".reg .pred p, q, p2; .reg .b16 h<4>; .reg .b32 r<8>; .reg .u32 u<4>; "              \
    ".reg .s32 s<4>; .reg .b64 rd<8>; .reg .f32 f<8>; .reg .f64 fd<4>; "                 \
    ".reg .b128 x<3>; .reg .f16 hh<4>; .shared .align 16 .b8 sm[256];\n"

static bool takes(const char *line, struct err *err) {
    autofree char *text = xasprintf(HEAD "%s\nret;\n}\n", line);
    struct ptx_module *module = NULL;
    struct machine *machine = NULL;
    struct machine_config config = {.threads = 1};
    bool ok = ptx_module_read(&module, text, strlen(text), err) == 0 &&
              machine_new(&machine, module, NULL, &config, NULL, err) == 0;
    machine_free(machine);
    ptx_module_free(module);
    return ok;
}

int main(void) {
    char line[1024];
    while (fgets(line, sizeof line, stdin)) {
        struct err err = {0};
        line[strcspn(line, "\n")] = '\0';
        bool ok = takes(line, &err);
        printf("%c %s%s%s\n", ok ? '+' : '-', line, ok ? "" : "   // ",
               ok ? "" : err.msg);
    }
    return 0;
}
