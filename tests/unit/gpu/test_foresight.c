/* How much memory a run may take: what control groups say, in both their versions. */
#include "base/file.h"
#include "base/mem.h"
#include "gpu/run/foresight.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char root[64];

static void put(const char *name, const char *text) {
    autofree char *path = path_join(root, name);
    autofree char *folder = xstrndup(path, (size_t)(strrchr(path, '/') - path));
    cr_assert_eq(dir_make(folder, 0700, NULL), 0);
    FILE *f = fopen(path, "we");
    cr_assert_not_null(f);
    fputs(text, f);
    fclose(f);
}

static uint64_t limit(const char *groups) {
    put("cgroup", groups);
    autofree char *path = path_join(root, "cgroup");
    return memory_limit(path, root);
}

static void start(void) {
    strcpy(root, "/tmp/foresight.XXXXXX");
    cr_assert_not_null(mkdtemp(root));
}

static void end(void) {
    (void)dir_remove(root, NULL);
}

TestSuite(foresight, .init = start, .fini = end);

Test(foresight, the_least_limit_on_the_way_up_counts) {
    put("a/b/memory.max", "max\n");
    put("a/memory.max", "3000000000\n");
    put("memory.max", "5000000000\n");
    cr_expect_eq(limit("0::/a/b\n"), 3000000000);
    cr_expect_eq(limit("0::/a\n"), 3000000000);
    cr_expect_eq(limit("0::/\n"), 5000000000, "as a container sees itself");
    cr_expect_eq(limit("0::/../elsewhere\n"), 5000000000);
    put("a/b/memory.max", "7\n");
    cr_expect_eq(limit("0::/a/b\n"), 7);
}

Test(foresight, version_1_has_its_own_folder) {
    put("memory/job/memory.limit_in_bytes", "1000\n");
    put("memory/memory.limit_in_bytes", "9223372036854771712\n"); /* none */
    put("memory.max", "10\n");                                    /* another's */
    cr_expect_eq(limit("5:cpu,memory:/job\n3:cpu:/x\n"), 1000);
    cr_expect_eq(limit("5:memory:/gone\n"), 9223372036854771712u);
    cr_expect_eq(limit("5:memory:/job\n0::/\n"), 10, "both at once");
}

Test(foresight, without_groups_there_is_no_limit) {
    cr_expect_eq(limit(""), UINT64_MAX);
    cr_expect_eq(limit("nonsense\n0:\n7:memorys:/a\n"), UINT64_MAX);
    cr_expect_eq(memory_limit("/nowhere", root), UINT64_MAX);
    put("memory.max", "");
    cr_expect_eq(limit("0::/\n"), UINT64_MAX);
}

Test(foresight, a_run_may_take_less_than_the_machine_has) {
    cr_expect_gt(memory_here(), 0);
    cr_expect_lt(memory_here(), UINT64_MAX / 4 * 3);
    cr_expect_eq(memory_here(), memory_here());
}
