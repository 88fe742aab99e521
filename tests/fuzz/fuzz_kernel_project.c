/* A hostile binding, kernel and Python file, of which the last is read, in a project whose build.toml is right. The
 * input is cut into them at its 0xff bytes. */
#include "base/buf.h"
#include "base/file.h"
#include "skills/kernel_project/build_toml.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char build[] = "[general]\nname = \"ab\"\nversion = 1\nedition = 5\n"
                            "license = \"MIT\"\nbackends = [\"cuda\"]\n"
                            "[torch]\nsrc = [\"torch-ext/b.cpp\"]\n"
                            "[kernel.k]\nbackend = \"cuda\"\ndepends = [\"torch\"]\n"
                            "src = [\"k.cu\"]\n";
static const char *const parts[] = {"torch-ext/b.cpp", "k.cu",
                                    "torch-ext/ab/__init__.py"};

static void check(bool good) {
    if (!good) {
        abort();
    }
}

static char folder[] = "/tmp/fuzz-kernel-project-XXXXXX";

static void remove_folder(void) {
    dir_remove(folder, NULL);
}

static const char *project_folder(struct root *root) {
    static bool made;
    if (!made) {
        made = true;
        check(mkdtemp(folder) != NULL && atexit(remove_folder) == 0);
    }
    check(root_open(root, folder, NULL) == 0);
    return folder;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct root root;
    const char *folder = project_folder(&root);
    const uint8_t *end = data + size;
    check(root_write(&root, "build.toml", build, sizeof build - 1, 0600, NULL) == 0);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const uint8_t *cut = data ? memchr(data, 0xff, (size_t)(end - data)) : NULL;
        const uint8_t *stop = cut ? cut : end;
        check(root_write(&root, parts[i], data, (size_t)(stop - data), 0600, NULL) == 0);
        data = cut ? cut + 1 : end;
    }
    autojson *findings = json_array();
    kernel_project_check(folder, findings);
    check(json_array_size(findings) <= 700);
    root_close(&root);
    return 0;
}
