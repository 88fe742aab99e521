/* .file lines of PTX under people's names. */
#include "base/err.h"
#include "base/mem.h"
#include "gpu/facts/ptx_files.h"

#include <criterion/criterion.h>

Test(ptx_files, names) {
    struct source_set set = {0};
    struct err err;
    cr_assert_eq(source_set_add(&set, "k.cu", "src/k\".cu", "x", 1, &err), 0);
    cr_assert_eq(source_set_add(&set, "r0/a/h.cuh", "a/h.cuh", "x", 1, &err), 0);
    char *dirs[] = {(char[]){"/opt/cuda/include"}, NULL};
    autofree char *out =
        ptx_files_rename("one\n"
                         "\t.file\t1 \"/tmp/job-1/k.cu\"\n"
                         "\t.file\t2 \"/tmp/job-1/./r0/x/../a/h.cuh\", 1, 2\n"
                         "\t.file\t3 \"/opt/cuda/include/cuda/barrier\"\n"
                         "\t.file\t4 \"/tmp/job-12/k.cu\"\n"
                         "\t.file\t5 unquoted\n"
                         "\t.file\t6 \"r0/a/h.cuh\"\n"
                         "\t.file\t7 \"torch/extension.h\"",
                         "/tmp/job-1", &set, dirs);
    cr_assert_str_eq(out, "one\n"
                          "\t.file\t1 \"src/k?.cu\"\n"
                          "\t.file\t2 \"a/h.cuh\", 1, 2\n"
                          "\t.file\t3 \"<cuda/barrier>\"\n"
                          "\t.file\t4 \"k.cu\"\n"
                          "\t.file\t5 unquoted\n"
                          "\t.file\t6 \"a/h.cuh\"\n"
                          "\t.file\t7 \"<torch/extension.h>\"");
    source_set_finish(&set);
}

/* Of PTX that somebody else made only packages are renamed. */
Test(ptx_files, elsewhere) {
    autofree char *out = ptx_files_rename(
        "\t.file\t0 \"k.ptx\"\n"
        "\t.file\t1 \"/home/you/soft.py\"\n"
        "\t.file\t2 \"/v/lib/python3/site-packages/triton/language/standard.py\"\n"
        "\t.file\t3 \"/usr/lib/python3/dist-packages/tile.py\"\n",
        NULL, NULL, NULL);
    cr_assert_str_eq(out, "\t.file\t0 \"k.ptx\"\n"
                          "\t.file\t1 \"/home/you/soft.py\"\n"
                          "\t.file\t2 \"<triton/language/standard.py>\"\n"
                          "\t.file\t3 \"<tile.py>\"\n");
}
