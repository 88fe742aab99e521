#include "base/buf.h"
#include "skills/catalog/key_phrases.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

static void expect_index(const char *text, const char *words) {
    autobuf out = BUF_INIT(4096);
    words_index(&out, text, strlen(text));
    cr_expect(eq(str, out.data, (char *)words), "of \"%s\"", text);
}

Test(key_phrases, compounds_are_indexed_in_parts_and_whole) {
    static const char *const cases[][2] = {
        {"Hello, World", "hello world "},
        {"cp.async", "cp async cpasync "},
        {"sm_90a and bf16", "sm 90a sm90a and bf16 "},
        {"useEffect", "use effect useeffect "},
        {"HTTPServerError", "http server error httpservererror "},
        {"GitHub", "github "},
        {"SELinux-aware", "se linux selinux aware selinuxaware "},
        {"Oracle-to-PostgreSQL", "oracle to postgre sql postgresql oracletopostgresql "},
        {"ClinicalTrials.gov", "clinical trials clinicaltrials gov clinicaltrialsgov "},
        {"a.useEffect", "a use effect useeffect auseeffect "},
        {"pre-commit", "pre commit precommit "},
        {"C++ is not C# nor c", "cplusplus is not csharp nor c "},
        {".NET 8", "dotnet 8 "},
        {"snake_case_name.", "snake case name snakecasename "},
        {"user's", "user "},
        {"em\xe2\x80\x94"
         "dash",
         "em dash "},
        {"na\xc3\xafve", "na\xc3\xafve "},
        {"--flag", "flag "},
        {"a..b", "a b "},
        {"", ""},
        {"...", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        expect_index(cases[i][0], cases[i][1]);
    }
}

static const struct key_term *term(const struct key_terms *t, const char *word) {
    for (size_t i = 0; i < t->count; i++) {
        if (strcmp(t->list[i].word, word) == 0) {
            return &t->list[i];
        }
    }
    return NULL;
}

/* What a clause says behind "for", "about" or "of" weighs less, in that clause only; a
 * word that is wanted somewhere is no topic. */
Test(key_phrases, what_a_thing_is_for_weighs_less_than_the_thing) {
    struct key_terms t;
    key_terms_read(&t, "changelog for parser: tokenizer, grammar of tokenizer");
    cr_expect(lt(dbl, term(&t, "parser")->weight, term(&t, "changelog")->weight));
    cr_expect(eq(dbl, term(&t, "grammar")->weight, term(&t, "changelog")->weight));
    cr_expect(ge(dbl, term(&t, "tokenizer")->weight, term(&t, "changelog")->weight));
    key_terms_finish(&t);
}

Test(key_phrases, names_of_files_name_their_language) {
    static const char *const cases[][2] = {{"harden deploy.sh", "bash"},
                                           {"types in main.ts.", "typescript"},
                                           {"plot.ipynb is slow", "jupyter"}};
    struct key_terms t;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        key_terms_read(&t, cases[i][0]);
        cr_expect(ne(ptr, (void *)term(&t, cases[i][1]), NULL), "%s", cases[i][0]);
        key_terms_finish(&t);
    }
    key_terms_read(&t, "tf-idf with three.js and llama.cpp");
    cr_expect(eq(ptr, (void *)term(&t, "javascript"), NULL));
    cr_expect(eq(ptr, (void *)term(&t, "cplusplus"), NULL));
    key_terms_finish(&t);
}

/* Where a skill holds it, a standard's number is a name; a count or a year is none. */
Test(key_phrases, numbers_of_standards_say_something) {
    struct key_terms t;
    key_terms_read(&t, "ISO 14971 and IEEE 1588 for 2500 users in 2024, 12 of 365 days, "
                       "not 123456");
    cr_assert(ne(ptr, (void *)term(&t, "14971"), NULL));
    cr_expect(term(&t, "14971")->optional);
    cr_expect(term(&t, "1588") != NULL);
    cr_expect(term(&t, "2500") == NULL && term(&t, "2024") == NULL);
    cr_expect(term(&t, "12") == NULL && term(&t, "365") == NULL);
    cr_expect(term(&t, "123456") == NULL);
    key_terms_finish(&t);
}

Test(key_phrases, a_task_keeps_what_says_something) {
    struct key_terms t;
    key_terms_read(&t, "Please help me to write a fast kernel with cp.async for sm_90a, "
                       "end-to-end, and test the kernel");
    cr_expect(term(&t, "please") == NULL && term(&t, "with") == NULL);
    cr_assert(ne(ptr, (void *)term(&t, "kernel"), NULL));
    cr_expect(eq(uint, term(&t, "kernel")->count, 2));
    cr_expect(term(&t, "cpasync") != NULL && term(&t, "cpasync")->optional);
    cr_expect(term(&t, "sm90a") != NULL && term(&t, "async") != NULL);
    cr_expect(term(&t, "sm") == NULL && term(&t, "cp") == NULL);
    cr_assert(ne(ptr, (void *)term(&t, "fast"), NULL));
    cr_expect(term(&t, "fast")->weight < term(&t, "kernel")->weight);
    key_terms_finish(&t);
}

Test(key_phrases, everyday_words_say_little_and_function_words_nothing) {
    cr_expect(epsilon_eq(dbl, word_weight("kernel"), 1, 1e-9));
    cr_expect(word_weight("create") < 0.5 && word_weight("create") > 0);
    cr_expect(word_weight("yesterday") < 1e-9);
    cr_expect(word_weight("promised") < 0.5 && word_weight("promised") > 0);
    cr_expect(epsilon_eq(dbl, word_weight("quality"), 1, 1e-9)); /* a subject too */
    cr_expect(word_is_product("terraform") && word_is_product("yolo"));
    cr_expect(word_is_product("kernel") == false && word_is_product("") == false);
    cr_expect(words_are_rivals("aws", "azure") && words_are_rivals("azure", "aws"));
    cr_expect(words_are_rivals("aws", "aws") == false);
    cr_expect(words_are_rivals("aws", "pnpm") == false);
    cr_expect(words_are_aliases("k8s", "kubernetes") &&
              words_are_aliases("mongo", "mongodb"));
    cr_expect(words_are_aliases("jenkins", "pipeline") == false);
}

Test(key_phrases, long_and_hostile_texts_are_bounded) {
    autobuf text = BUF_INIT(8u << 20), out = BUF_INIT(1000);
    struct key_terms t;
    for (int i = 0; i < 300000; i++) {
        buf_addf(&text, "w%d_", i);
    }
    key_terms_read(&t, text.data);
    cr_expect(t.count <= 512);
    key_terms_finish(&t);
    words_index(&out, text.data, text.len);
    cr_expect(out.len <= 1000);
}
