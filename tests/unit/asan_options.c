/* Criterion runs every test in a process of its own and calls it passed when LeakSanitizer
 * only prints: make a leak abort. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) {
    return "abort_on_error=1:detect_leaks=1";
}
