#include "base/json.h"
#include "base/mem.h"
#include "base/yaml.h"
#include "skills/format/frontmatter_editor.h"
#include "skills/format/skill.h"

#include <criterion/criterion.h>
#include <string.h>

/* The labels offered at '^', joined by spaces. */
static char *offered(const char *marked, json_t **ret_items) {
    const char *mark = strchr(marked, '^');
    size_t at = (size_t)(mark - marked), i;
    autofree char *text = xasprintf("%.*s%s", (int)at, marked, mark + 1);
    json_t *items = frontmatter_completions(text, strlen(text), at, "my-skill");
    char *labels = xstrdup("");
    const json_t *item;
    json_array_foreach(items, i, item) {
        char *more =
            xasprintf("%s%s%s", labels, i ? " " : "", json_get_string(item, "label", ""));
        free(labels);
        labels = more;
    }
    if (ret_items) {
        *ret_items = items;
    } else {
        json_decref(items);
    }
    return labels;
}

Test(frontmatter_editor, offers_what_fits_the_place) {
    static const struct {
        const char *text, *labels;
    } cases[] = {
        {"---\nname: ^\n---\n", "my-skill"},
        {"---\nname:^\n---\n", "my-skill"},
        {"---\nname: my-^\n", "my-skill"},
        {"---\nname: x\nlicense: A^\n---\n",
         "Apache-2.0 MIT BSD-3-Clause CC-BY-4.0 Proprietary. LICENSE.txt has complete "
         "terms"},
        {"---\ndescription: ^\n---\n", "Use when "},
        {"---\ndescription: Does.^\n---\n", ""},
        {"---\nallowed-tools: Read ^\n---\n",
         "Bash(git:*) Read Write Edit Glob Grep WebFetch WebSearch"},
        {"---\nname: \"^\"\n---\n", ""},
        {"---\nname: x\n---\nlicense: ^\n", ""},
        {"# name: ^\n", ""},
        {"---\nname: x\ndescription: y\nlicense: z\ncompat^\n---\n",
         "compatibility metadata allowed-tools"},
        {"---\nna^me: x\n---\n", "description license compatibility metadata "
                                 "allowed-tools"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        autofree char *labels = offered(cases[i].text, NULL);
        cr_expect_str_eq(labels, cases[i].labels, "%s", cases[i].text);
    }
}

/* Taken anywhere, an offer leaves a frontmatter that says what was offered. */
Test(frontmatter_editor, an_offer_that_is_taken_is_good_yaml) {
    static const struct {
        const char *text, *key, *value;
    } cases[] = {
        {"---\nname:^\n---\n", "name", "my-skill"},
        {"---\nname: other^ # why\n---\n", "name", "my-skill"},
        {"---\nname: ^other\n---\n", "name", "my-skill"},
        {"---\nlicense:  ^\r\n---\n", "license", "Apache-2.0"},
        {"---\nallowed-tools: Read Ba^\n---\n", "allowed-tools", "Read Bash(git:*)"},
        {"---\nallowed-tools: ^\n---\n", "allowed-tools", "Bash(git:*)"},
        {"---\nallowed-tools: Ba^ Read\n---\n", "allowed-tools", "Bash(git:*) Read"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        json_t *items;
        free(offered(cases[i].text, &items));
        const json_t *first = json_array_get(items, 0);
        cr_assert_not_null(first, "%s", cases[i].text);
        const char *mark = strchr(cases[i].text, '^');
        autofree char *text =
            xasprintf("%.*s%s", (int)(mark - cases[i].text), cases[i].text, mark + 1);
        autofree char *after = xasprintf(
            "%.*s%s%s", (int)json_get_integer(first, "start", 0), text,
            json_get_string(first, "text", ""), text + json_get_integer(first, "end", 0));
        struct skill_text t;
        skill_text_read(&t, after, strlen(after));
        cr_expect_str_eq(json_get_string(t.frontmatter, cases[i].key, "nothing"),
                         cases[i].value, "%s", after);
        skill_text_finish(&t);
        json_decref(items);
    }
}

Test(frontmatter_editor, hover_says_what_a_key_means_on_its_value_too) {
    static const struct {
        const char *text, *says, *about;
    } cases[] = {
        {"---\nna^me: x\n---\n", "**name**", "name"},
        {"---\nname: my-sk^ill # c\n---\n", "**name**", "my-skill"},
        {"---\nlicense: [^\n---\n", "**license**", "["}, /* no YAML yet */
        {"---\nfoo^: x\n---\n", NULL, NULL},
        {"---\nname: x\n---\nlicense^: y\n", NULL, NULL},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *mark = strchr(cases[i].text, '^');
        size_t at = (size_t)(mark - cases[i].text), start = 0, end = 0;
        autofree char *text = xasprintf("%.*s%s", (int)at, cases[i].text, mark + 1);
        autofree char *says = frontmatter_hover(text, strlen(text), at, &start, &end);
        cr_expect_eq(!!says, !!cases[i].says, "%s", text);
        if (says) {
            cr_expect_not_null(strstr(says, cases[i].says), "%s", says);
            cr_expect_eq(end - start, strlen(cases[i].about), "%s", text);
            cr_expect_eq(strncmp(text + start, cases[i].about, end - start), 0);
        }
    }
}

/* However the text is cut, the helpers stay within it. */
Test(frontmatter_editor, cut_texts_are_fine) {
    static const char whole[] = "\xEF\xBB\xBF---\r\nname: x # c\r\nallowed-tools: Read "
                                "Bash(a b)\ndescription: |\n  x\n---\nlicense: y\n";
    for (size_t len = 0; len < sizeof whole; len++) {
        autofree char *text = xstrndup(whole, len);
        for (size_t at = 0; at <= len; at++) {
            size_t start, end;
            json_decref(frontmatter_completions(text, len, at, NULL));
            free(frontmatter_hover(text, len, at, &start, &end));
        }
    }
}
