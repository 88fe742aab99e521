/* strip_host FILE.cu [options…]: blank the file's host code and compile the rest with
 * NVRTC; prints the compiler's log. With -E first: print the blanked text instead. A test
 * tool, for check_stripping.py and for looking at what goes. */
#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "gpu/source/include_directives.h"
#include "gpu/source/shims.h"
#include "tests/unit/gpu/host_code_blank.h"
#include "tests/unit/gpu/nvrtc_probe.h"

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
    bool print = argc > 2 && strcmp(argv[1], "-E") == 0;
    if (argc < 2) {
        fprintf(stderr, "usage: strip_host [-E] FILE.cu [nvrtc options]\n");
        return 2;
    }
    struct err err = {0};
    autobuf text = BUF_INIT(16u << 20);
    if (file_read(argv[1 + print], &text, &err) < 0) {
        fprintf(stderr, "%s\n", err.msg);
        return 2;
    }
    source_text_settle(text.data, text.len);
    struct host_code host;
    host_code_blank(text.data, text.len, &host);
    bool default_device = host.needs_default_device;
    host_code_finish(&host);
    if (print) {
        fwrite(text.data, 1, text.len, stdout);
        return 0;
    }
    if (nvrtc_probe_missing()) {
        return 77;
    }
    const char *options[32] = {default_device ? "-default-device" : "--dopt=on"};
    for (int i = 2, n = 1; i < argc && n < 30; i++) {
        options[n++] = argv[i];
    }
    struct nvrtc_probe_result r;
    nvrtc_probe_compile(argv[1], text.data, shims, shim_count, options, &r);
    fputs(r.log, stdout);
    bool ok = r.ok;
    nvrtc_probe_finish(&r);
    return ok ? 0 : 1;
}
