/* What a GPU's clocks are, by the stand-in of libnvidia-ml. */
#include "gpu/driver/nvml.h"

#include "base/err.h"
#include "base/mem.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static unsigned char uuid[16];

static int open_with(struct nvml **ret, const char *conf, struct err *err) {
    char folder[] = "/tmp/nvml-XXXXXX";
    memset(uuid, 0x5d, sizeof uuid);
    uuid[15] = 1;
    cr_assert(mkdtemp(folder));
    autofree char *path = xasprintf("%s/library.so.1", folder);
    autofree char *words = xasprintf("%s.conf", path);
    cr_assert_eq(symlink(getenv("NVML_STANDIN"), path), 0);
    FILE *f = fopen(words, "w");
    fputs(conf, f);
    fclose(f);
    int r = nvml_open(ret, path, uuid, err);
    unlink(words);
    unlink(path);
    rmdir(folder);
    return r;
}

static struct nvml_state state_with(const char *conf) {
    struct nvml *nvml = NULL;
    struct nvml_state state;
    struct err err = {0};
    int r = open_with(&nvml, conf, &err);
    cr_assert_eq(r, 0, "%s", err.msg);
    nvml_read(nvml, &state);
    nvml_close(nvml);
    return state;
}

Test(nvml, everything_is_read) {
    struct nvml_state s = state_with("sm_clock 1755\nmemory_clock 1593\ntemperature 66\n"
                                     "power_limit 350000\nothers 3\nreasons 0x1\n");
    cr_expect_eq(s.known, 127);
    cr_expect_eq(s.sm_clock_mhz, 1755);
    cr_expect_eq(s.memory_clock_mhz, 1593);
    cr_expect_eq(s.temperature_c, 66);
    cr_expect_float_eq(s.power_limit_w, 350, 1e-9);
    cr_expect(s.persistence);
    cr_expect_eq(s.other_processes, 3);
    cr_expect_eq(s.reasons, 1);
}

/* Code 3 is NVML_ERROR_NOT_SUPPORTED. */
Test(nvml, what_is_not_told_is_not_known) {
    struct nvml_state s = state_with("fail nvmlDeviceGetClockInfo 3\n");
    cr_expect_eq(s.known & (NVML_KNOWS_SM_CLOCK | NVML_KNOWS_MEMORY_CLOCK), 0);
    cr_expect(s.known & NVML_KNOWS_REASONS);
}

/* In a container the process's own id is another. */
Test(nvml, others_are_counted_only_beside_oneself) {
    struct nvml_state s = state_with("others 2\nhidden\n");
    cr_expect_eq(s.known & NVML_KNOWS_OTHERS, 0);
}

Test(nvml, what_does_not_open) {
    struct nvml *nvml = NULL;
    struct err err = {0};
    cr_expect_eq(nvml_open(&nvml, "/nowhere/libnvidia-ml.so.1", uuid, &err), -ENOENT);
    cr_expect(strstr(err.msg, "/nowhere/libnvidia-ml.so.1"));
    cr_expect_eq(nvml_open(&nvml, "libm.so.6", uuid, &err), -ENOSYS);
    cr_expect(nvml == NULL);
    nvml_close(nvml);
}

Test(nvml, one_that_does_not_start) {
    struct nvml *nvml = NULL;
    struct err err = {0};
    /* 9: NVML_ERROR_DRIVER_NOT_LOADED */
    cr_expect_eq(open_with(&nvml, "fail nvmlInit_v2 9\n", &err), -EIO);
    cr_expect(strstr(err.msg, "9"), "%s", err.msg);
}

Test(nvml, a_device_it_does_not_know) {
    struct nvml *nvml = NULL;
    struct err err = {0};
    memset(uuid, 0x11, sizeof uuid);
    cr_expect_eq(nvml_open(&nvml, getenv("NVML_STANDIN"), uuid, &err), -ENODEV);
}

/* nvml.h, nvmlClocksEventReason…: bits 2, 3, 5, 6 and 7 take speed away. */
Test(nvml, reasons) {
    for (unsigned bit = 0; bit < 12; bit++) {
        bool slows = bit == 2 || bit == 3 || bit == 5 || bit == 6 || bit == 7;
        cr_expect_eq(nvml_reasons_throttle(1ull << bit), slows, "bit %u", bit);
    }
    autojson *list = nvml_reasons_to_json(0x8 | 0x40 | 0x100000);
    cr_expect_eq(json_array_size(list), 3);
    cr_expect_str_eq(json_string_value(json_array_get(list, 0)), "hw_slowdown");
    cr_expect_str_eq(json_string_value(json_array_get(list, 1)), "hw_thermal_slowdown");
    cr_expect_str_eq(json_string_value(json_array_get(list, 2)), "0x100000");
}
