/* patch: edits of a SKILL.md, all or none. What must come out is written here by hand. */
#include "base/err.h"
#include "base/mem.h"
#include "skills/refinement/patch.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#define HEAD "---\nname: zip\ndescription: Builds zip. Use for zip.\nlicense: MIT\n---\n"
#define BODY                                                                             \
    "\n# Zip\n\nRun `make`.\n\n## Steps\n\n1. Build it.\n2. Test it.\n\n```sh\n# "       \
    "Notes\n"                                                                            \
    "make test\n```\n\n## Notes\n\nOld note.\n\n### Deep\n\nDeeper.\n\n## "              \
    "Last\n\nEnd.\n"

static char *apply(const char *edits, const char *text, json_t **problems) {
    char *result = NULL;
    json_error_t error;
    json_t *none = NULL;
    autojson *list = json_loads(edits, 0, &error);
    cr_assert(list, "%s: %s", edits, error.text);
    problems = problems ? problems : &none;
    int rc = patch_apply(list, text, strlen(text), &result, problems);
    cr_assert((rc == 0) == (result != NULL));
    cr_assert(rc == 0 || rc == -EINVAL);
    json_decref(none);
    return result;
}

struct good {
    const char *edits, *text, *result;
};

static const struct good goods[] = {
    {"[{\"find\":\"Run `make`.\",\"replace\":\"Run `make -j4`.\"}]", HEAD BODY,
     HEAD
     "\n# Zip\n\nRun `make -j4`.\n\n## Steps\n\n1. Build it.\n2. Test it.\n\n```sh\n# "
     "Notes\nmake test\n```\n\n## Notes\n\nOld note.\n\n### Deep\n\nDeeper.\n\n## "
     "Last\n\nEnd.\n"},
    /* A heading within a code block is none; the section holds its subsections. */
    {"[{\"section\":\"Notes\",\"replace\":\"New.\"}]", HEAD BODY,
     HEAD "\n# Zip\n\nRun `make`.\n\n## Steps\n\n1. Build it.\n2. Test it.\n\n```sh\n# "
          "Notes\nmake test\n```\n\n## Notes\n\nNew.\n\n## Last\n\nEnd.\n"},
    {"[{\"section\":\"## Deep\",\"append\":\"More.\\n\"}]", HEAD BODY,
     HEAD
     "\n# Zip\n\nRun `make`.\n\n## Steps\n\n1. Build it.\n2. Test it.\n\n```sh\n# "
     "Notes\nmake test\n```\n\n## Notes\n\nOld note.\n\n### Deep\n\nDeeper.\n\nMore.\n\n"
     "## Last\n\nEnd.\n"},
    /* The heading said again, and the end of the file. */
    {"[{\"section\":\"last\",\"append\":\"## Last\\n\\nReally.\"},"
     "{\"section\":\"\",\"append\":\"## New\\n\\nWord.\"}]",
     HEAD "\n# A\n\n## Last\n\nEnd.\n",
     HEAD "\n# A\n\n## Last\n\nEnd.\n\nReally.\n\n## New\n\nWord.\n"},
    /* An item joins its list; edits refer to the old text, whatever their order. */
    {"[{\"section\":\"Steps\",\"append\":\"3. Ship it.\"},{\"find\":\"Build "
     "it\",\"replace\":\"Test it\"}]",
     HEAD "\n# A\n\n## Steps\n\n1. Build it.\n2. Test it.\n",
     HEAD "\n# A\n\n## Steps\n\n1. Test it.\n2. Test it.\n3. Ship it.\n"},
    {"[{\"find\":\"Builds zip.\",\"replace\":\"Builds and tests zip.\"}]", HEAD "\n# A\n",
     "---\nname: zip\ndescription: Builds and tests zip. Use for zip.\nlicense: "
     "MIT\n---\n\n# A\n"},
    /* Members that an endpoint filled because the schema names them. */
    {"[{\"find\":\"old\",\"section\":\"\",\"replace\":\"new\",\"append\":\"\"}]",
     HEAD "\n# A\n\nold\n", HEAD "\n# A\n\nnew\n"},
    /* What deceives a reader is taken out of what is added. */
    {"[{\"find\":\"old\",\"replace\":\"n\\u200bew\\u202e\"}]", HEAD "\n# A\n\nold\n",
     HEAD "\n# A\n\nnew\n"},
    {"[{\"find\":\"a\\r\\nb\",\"replace\":\"c\"}]", HEAD "\n# A\r\n\r\na\r\nb\r\n",
     HEAD "\n# A\r\n\r\nc\r\n"},
};

Test(patch, edits_are_exact) {
    for (size_t i = 0; i < ARRAY_LEN(goods); i++) {
        autojson *problems = NULL;
        autofree char *result = apply(goods[i].edits, goods[i].text, &problems);
        autofree char *why = problems ? json_dumps(problems, 0) : NULL;
        cr_assert(result, "%zu: %s", i, why);
        cr_assert_str_eq(result, goods[i].result, "%zu: %s", i, result);
    }
}

static const struct {
    const char *edits, *reason, *text; /* of BODY unless it is said */
} bads[] = {
    {"[]", "there are 0 edits"},
    {"[{\"find\":\"nowhere\",\"replace\":\"x\"}]", "is not in the file"},
    {"[{\"find\":\"\",\"replace\":\"x\"}]", "is not in the file"},
    {"[{\"find\":\"make\",\"replace\":\"x\"}]", "appears 2 times"},
    {"[{\"find\":\"Run\"}]", "no replace"},
    {"[{\"replace\":\"x\"}]", "say either find or section"},
    {"[\"Run\"]", "say either find or section"},
    {"[{\"find\":\"Run\",\"section\":\"Steps\",\"replace\":\"x\"}]", "say either"},
    {"[{\"section\":\"Missing\",\"append\":\"x\"}]", "there are 0 headings"},
    {"[{\"section\":\"Same\",\"append\":\"x\"}]", "there are 2 headings",
     HEAD "\n# A\n\n## Same\n\nOne.\n\n## Same\n\nTwo.\n"},
    {"[{\"section\":\"Steps\"}]", "either replace or append"},
    {"[{\"section\":\"\",\"replace\":\"x\"}]", "0 headings"},
    {"[{\"find\":\"name: zip\",\"replace\":\"name: zap\"}]", "only the description"},
    {"[{\"find\":\"license: MIT\",\"replace\":\"hooks: x\"}]", "only the description"},
    {"[{\"find\":\"license: MIT\\n---\",\"replace\":\"license: MIT\"}]", "frontmatter"},
    {"[{\"find\":\"Build it.\",\"replace\":\"x\"},{\"find\":\"1. "
     "Build\",\"replace\":\"y\"}]",
     "overlaps"},
    {"[{\"find\":\"Old "
     "note\",\"replace\":\"x\"},{\"section\":\"Notes\",\"replace\":\"y\"}]",
     "overlaps"},
    {"[{\"find\":\"Run\",\"replace\":\"Run\"}]", "change nothing"},
    {"[{\"find\":\"Run\",\"replace\":\"Walk\"},{\"find\":\"nowhere\",\"replace\":\"x\"}]",
     "edit 2: the text to find"},
};

Test(patch, what_cannot_be_applied_changes_nothing_and_says_why) {
    for (size_t i = 0; i < ARRAY_LEN(bads); i++) {
        autojson *problems = NULL;
        char *result =
            apply(bads[i].edits, bads[i].text ? bads[i].text : HEAD BODY, &problems);
        cr_assert_null(result, "%zu: %s", i, bads[i].edits);
        cr_assert(json_array_size(problems) >= 1);
        autofree char *words = json_dumps(problems, JSON_ENCODE_ANY);
        cr_assert(strstr(words, bads[i].reason), "%zu: %s", i, words);
    }
}

Test(patch, edits_are_few_and_small) {
    autojson *many = json_array(), *problems = NULL, *big_problems = NULL;
    char *result = NULL;
    for (int i = 0; i < 9; i++) {
        json_array_append_new(many, json_pack("{s:s,s:s}", "section", "", "append", "x"));
    }
    cr_assert(patch_apply(many, HEAD BODY, strlen(HEAD BODY), &result, &problems) ==
              -EINVAL);
    char text[PATCH_MAX_BYTES + 2];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    autojson *big = json_pack("[{s:s,s:s}]", "find", "Run", "replace", text);
    cr_assert(patch_apply(big, HEAD BODY, strlen(HEAD BODY), &result, &big_problems) ==
              -EINVAL);
    cr_assert(strstr(json_string_value(json_array_get(big_problems, 0)), "too much"));
    text[PATCH_MAX_BYTES - 10] = '\0';
    autojson *fits = json_pack("[{s:s,s:s}]", "find", "Run", "replace", text);
    autojson *none = NULL;
    cr_assert(patch_apply(fits, HEAD BODY, strlen(HEAD BODY), &result, &none) == 0);
    autofree char *whole = xasprintf("%s%s%s", HEAD "\n# A\n\n", text, text);
    free(result);
    result = NULL;
    autojson *gone = json_pack("[{s:s,s:s}]", "section", "A", "replace", "x");
    autojson *gone_problems = NULL;
    cr_assert(patch_apply(gone, whole, strlen(whole), &result, &gone_problems) == -EINVAL,
              "a section of 12 KB is not replaced at once");
}

/* Hostile edits and files: any outcome, but one of the two, and the name stays. */
Test(patch, random_edits_of_random_files_are_all_or_nothing) {
    static const char *const words[] = {
        "# A\n", "## B\n", "---\n", "name: zip\n", "x",  "\n",  "```\n", "> # A",
        "\r\n",  "- a\n",  "\xff",  "B\n===\n",    "  ", "zip", "#"};
    unsigned long state = 42, applied = 0;
#define NEXT(n)                                                                          \
    ((state = state * 6364136223846793005ul + 1442695040888963407ul) >> 33) % (n)
    for (int round = 0; round < 3000; round++) {
        char text[512] = "---\nname: zip\ndescription: d\n---\n";
        for (int i = 0; i < 12; i++) {
            strcat(text, words[NEXT(ARRAY_LEN(words))]);
        }
        autojson *edits = json_array();
        for (unsigned long i = 0, n = NEXT(4); i < n; i++) {
            static const char *const keys[] = {"find", "section", "replace", "append"};
            json_t *edit = json_object();
            int shape = (int)NEXT(2), use = shape ? (int)NEXT(2) : 0;
            for (int k = 0; k < 4; k++) {
                /* Mostly edits that make sense. */
                if (NEXT(8) == 0 || k == shape || k == 2 + use) {
                    const char *word = words[NEXT(ARRAY_LEN(words))];
                    json_object_set_new(edit, keys[k], json_text(word, strlen(word)));
                }
            }
            json_array_append_new(edits, edit);
        }
        autojson *problems = NULL;
        char *result = NULL;
        int rc = patch_apply(edits, text, strlen(text), &result, &problems);
        cr_assert(rc == 0 ? result && !problems : !result && json_array_size(problems));
        cr_assert(rc < 0 ||
                  (strcmp(result, text) != 0 && strstr(result, "\nname: zip\n")));
        applied += rc == 0;
        free(result);
    }
    cr_assert(applied > 50, "%lu", applied);
}

Test(patch, the_schema_is_an_object_of_edits) {
    autojson *schema = patch_schema();
    cr_assert_str_eq(json_get_string(schema, "type", ""), "object");
    cr_assert(json_object_get(json_object_get(schema, "properties"), "edits"));
}
