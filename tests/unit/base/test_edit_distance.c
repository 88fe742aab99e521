#include "base/edit_distance.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

/* The definition (optimal string alignment), as it stands in books: slow and plain. */
static unsigned by_definition(const char *a, size_t i, const char *b, size_t j) {
    if (!i || !j) {
        return (unsigned)(i + j);
    }
    unsigned least = by_definition(a, i - 1, b, j - 1) + (a[i - 1] != b[j - 1]);
    unsigned shorter = by_definition(a, i - 1, b, j) + 1;
    unsigned longer = by_definition(a, i, b, j - 1) + 1;
    least = shorter < least ? shorter : least;
    least = longer < least ? longer : least;
    if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        unsigned swapped = by_definition(a, i - 2, b, j - 2) + 1;
        least = swapped < least ? swapped : least;
    }
    return least;
}

static size_t random_word(unsigned *state, char ret[8]) {
    size_t len = (*state = *state * 1664525u + 1013904223u) >> 29;
    for (size_t i = 0; i < len; i++) {
        ret[i] = (char)('a' + ((*state = *state * 1664525u + 1013904223u) >> 30));
    }
    ret[len] = '\0';
    return len;
}

Test(edit_distance, is_what_the_definition_says) {
    unsigned state = 1;
    for (int round = 0; round < 400; round++) {
        char a[8], b[8];
        size_t n = random_word(&state, a), m = random_word(&state, b);
        unsigned expected = by_definition(a, n, b, m);
        cr_assert_eq(edit_distance(a, n, b, m, 9), expected, "%s %s", a, b);
        for (unsigned limit = 0; limit < 9; limit++) {
            unsigned capped = expected > limit ? limit + 1 : expected;
            cr_assert_eq(edit_distance(a, n, b, m, limit), capped, "%s %s", a, b);
        }
    }
    cr_assert_eq(edit_distance("kitten", 6, "sitting", 7, 9), 3);
}

Test(edit_distance, of_long_names_is_beyond_any_limit) {
    char name[65];
    memset(name, 'x', sizeof name);
    cr_assert_eq(edit_distance(name, 63, name, 63, 2), 0);
    cr_assert_eq(edit_distance(name, 64, name, 64, 2), 3);
}

static const char *meant(const char *said, unsigned limit, const char *const *words) {
    struct nearest_name near = {.said = said, .limit = limit};
    for (size_t i = 0; words[i]; i++) {
        nearest_name_try(&near, words[i]);
    }
    return near.best ? near.best : "";
}

Test(edit_distance, the_nearest_name_is_found) {
    static const char *const words[] = {"launch", "lunch", "source", "path", "a", NULL};
    static const struct {
        const char *said;
        unsigned limit;
        const char *meant;
    } cases[] = {
        {"lauch", 2, "launch"},  /* the first of two that are one edit away */
        {"lnuch", 2, "lunch"},   /* neighbours swapped */
        {"source", 2, "source"}, /* as it is said */
        {"sorce", 0, ""},        {"b", 1, ""}, /* "a" would be another name altogether */
        {"pth", 1, "path"},      {"kernel", 3, ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cr_assert_str_eq(meant(cases[i].said, cases[i].limit, words), cases[i].meant,
                         "%s", cases[i].said);
    }
}
