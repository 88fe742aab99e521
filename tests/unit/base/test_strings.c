#include "base/mem.h"
#include "base/strings.h"

#include <criterion/criterion.h>

static const char *const words[] = {"cpu", "cuda", ".md", NULL};
static const char *const none[] = {NULL};

/* The whole word, as it is written. */
Test(strings, a_list_has_its_words_and_no_others) {
    cr_assert(strings_have(words, "cpu") && strings_have(words, ".md"));
    cr_assert(!strings_have(words, "cud") && !strings_have(words, "CPU"));
    cr_assert(!strings_have(words, "") && !strings_have(none, "cpu"));
}

Test(strings, a_text_ends_in_one_of_a_list) {
    cr_assert(strings_end(words, "a.md") && strings_end(words, "README.MD"));
    cr_assert(strings_end(words, ".md"));
    cr_assert(!strings_end(words, "md") && !strings_end(words, "a.mdx"));
    cr_assert(!strings_end(none, "a.md"));
}
