/* The tables' form, and what is led to from a word or a phrase. Stems here are the words
 * themselves, without a plural's s. */
#include "skills/catalog/thesaurus.h"
#include "skills/thesaurus_rows.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>

static void stem(void *data, const char *word, char ret[static STEM_SIZE]) {
    (void)data;
    size_t len = strlen(word);
    snprintf(ret, STEM_SIZE, "%.*s", (int)(len - (len > 3 && word[len - 1] == 's')),
             word);
}

static const struct other_name *find(const struct other_name *names, size_t count,
                                     const char *word) {
    for (size_t i = 0; i < count; i++) {
        if (strcmp(names[i].word, word) == 0) {
            return &names[i];
        }
    }
    return NULL;
}

static bool leads(const struct thesaurus *t, const char *from, const char *to) {
    struct other_name names[24];
    return find(names, thesaurus_names(t, from, names, 24), to) != NULL;
}

Test(thesaurus, names_lead_to_each_other_and_to_what_is_wider) {
    struct thesaurus *t = thesaurus_new(stem, NULL);
    cr_expect(leads(t, "xlsx", "excel") && leads(t, "excel", "xlsx"));
    cr_expect(leads(t, "k8s", "kubernetes") && leads(t, "kubernete", "cluster"));
    cr_expect(leads(t, "tweet", "social") && leads(t, "social", "tweet") == false);
    cr_expect(leads(t, "zebra", "animal") == false);
    thesaurus_free(t);
}

Test(thesaurus, phrases_lead_and_are_not_led_to) {
    struct thesaurus *t = thesaurus_new(stem, NULL);
    struct other_name names[24];
    cr_expect(leads(t, "single_sign_on", "oauth"));
    cr_expect(leads(t, "pull_request", "review"));
    size_t count = thesaurus_names(t, "oauth", names, 24);
    cr_expect(count > 0);
    for (size_t i = 0; i < count; i++) {
        cr_expect(strchr(names[i].word, '_') == NULL);
        cr_expect(strcmp(names[i].word, "oauth") != 0);
    }
    thesaurus_free(t);
}

Test(thesaurus, closest_names_come_first_within_the_limit) {
    struct thesaurus *t = thesaurus_new(stem, NULL);
    struct other_name names[24];
    size_t count = thesaurus_names(t, "slow", names, 24);
    cr_assert(count > 3);
    for (size_t i = 1; i < count; i++) {
        cr_expect(names[i].quality <= names[i - 1].quality);
        cr_expect(names[i].quality > 0 && names[i].quality < 1);
        cr_expect(names[i].wider || !names[i - 1].wider);
        cr_expect(find(names, i, names[i].word) == NULL, "%s twice", names[i].word);
    }
    cr_expect(eq(sz, thesaurus_names(t, "slow", names, 2), 2));
    cr_expect(eq(sz, thesaurus_names(t, "slow", names, 0), 0));
    cr_expect(eq(sz, thesaurus_names(t, "", names, 24), 0));
    thesaurus_free(t);
    thesaurus_free(NULL);
}

static void check_row(const char *row) {
    size_t words = 0, marks = 0;
    for (const char *at = row; *at;) {
        size_t n = strcspn(at, " ");
        cr_assert(n > 0, "two blanks in a row: %s", row);
        marks += *at == '>';
        words += *at != '>';
        cr_expect(strspn(at, "abcdefghijklmnopqrstuvwxyz0123456789_>") >= n, "%s", row);
        bool phrase_behind = marks && *at != '>' && memchr(at, '_', n);
        cr_expect(phrase_behind == false, "%s", row);
        at += n + (at[n] == ' ');
    }
    cr_expect(words >= 2 && marks <= 1 && row[0] != '>', "%s", row);
}

Test(thesaurus, every_row_has_the_form) {
    for (const char *const *row = thesaurus_rows; *row; row++) {
        check_row(*row);
    }
}
