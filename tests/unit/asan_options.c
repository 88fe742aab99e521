/* Criterion runs every test in a process of its own and calls it passed when
 * LeakSanitizer only prints: make a leak abort. What Criterion itself loses in the parent
 * (48 bytes for a test with a time limit) is none of ours. Blocks of thread-local storage
 * that a library's loading made are not followed: clang 14's LeakSanitizer crashes on
 * those of NVRTC. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) {
    return "abort_on_error=1:detect_leaks=1:intercept_tls_get_addr=0";
}

const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) {
    return "leak:libcriterion.so\n";
}
