/* Criterion runs every test in a process of its own and calls it passed when
 * LeakSanitizer only prints: make a leak abort. Criterion itself loses 48 bytes for a test
 * with a time limit, in its own process and in a function without a name: leaks are looked
 * for in the tests' processes only, which BoxFort tells by this variable. (To except
 * Criterion's library would except all, for it stands in every test's stack.) Blocks of
 * thread-local storage that a library's loading made are not followed: clang 14's
 * LeakSanitizer crashes on those of NVRTC. */
#include <stdlib.h>

const char *__asan_default_options(void);
const char *__asan_default_options(void) {
    return "abort_on_error=1:detect_leaks=1:intercept_tls_get_addr=0";
}

int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void) {
    return !getenv("BXFI_MAP");
}
