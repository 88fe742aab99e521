/* Rules of the specification on a skill's name. */
#include "skills/check/spec_rules.h"

#include "base/buf.h"
#include "base/text.h"

static bool is_lower_or_digit(char c) {
    return islower((unsigned char)c) || isdigit((unsigned char)c);
}

/* The name without the characters that are not allowed; "" when nothing is left. The same
 * rule for folders: words in lower case, joined by single hyphens. */
static char *good_name(const char *name) {
    char *good = xcalloc(SKILL_MAX_NAME + 1, 1);
    autobuf clean = BUF_INIT(64u << 10); /* without what cannot be seen */
    size_t n = 0;
    (void)text_clean(&clean, name, strlen(name));
    for (const char *c = clean.data; *c && n < SKILL_MAX_NAME; c++) {
        char lower = (char)tolower((unsigned char)*c);
        if (is_lower_or_digit(lower)) {
            good[n++] = lower;
        } else if (n && good[n - 1] != '-') {
            good[n++] = '-';
        }
    }
    while (n && good[n - 1] == '-') {
        good[--n] = '\0';
    }
    return good;
}

static void fix_name(const struct spec *s, json_t *finding, const char *name) {
    const struct yaml_pair *p = skill_text_pair(s->text, "name");
    autofree char *good = good_name(name);
    if (*good && p) {
        autofree char *title = xasprintf("Rename to \"%s\"", good);
        spec_fix_string(s, finding, title, p, good);
    }
}

struct letters {
    bool upper, foreign, wrong;
};

/* U+0061 and so on are what the specification spells out; its reference validator takes
 * lower-case letters of any script. */
static struct letters letters_of(const char *name) {
    struct letters found = {0};
    size_t len = strlen(name);
    for (size_t i = 0; i < len;) {
        uint32_t cp;
        i += text_decode(name + i, len - i, &cp);
        if (cp < 0x80) {
            found.upper |= isupper((int)cp) != 0;
            found.wrong |= !isalnum((int)cp) && cp != '-';
        } else if (cp >= 0xAA && cp != 0xD7 && cp != 0xF7 && cp != 0xFFFD &&
                   !(cp >= 0x2000 && cp < 0x2C00) && !(cp >= 0x3000 && cp < 0x3005) &&
                   cp < 0xE000) {
            found.foreign = true;
        } else {
            found.wrong = true;
        }
    }
    return found;
}

static void check_letters(const struct spec *s, const struct yaml_pair *p,
                          const char *name) {
    struct letters found = letters_of(name);
    if (found.upper && !found.wrong) {
        fix_name(s,
                 spec_add(s, "name_not_lowercase", p->at, p->end,
                          "The name must be in lower case."),
                 name);
    }
    if (found.wrong) {
        fix_name(s,
                 spec_add(s, "name_characters", p->at, p->end,
                          "The name may contain only lower-case letters a to z, digits "
                          "and hyphens."),
                 name);
    } else if (found.foreign) {
        fix_name(s,
                 spec_add(s, "name_not_ascii", p->at, p->end,
                          "Not every agent takes letters outside a to z in a name."),
                 name);
    }
}

static void check_name_form(const struct spec *s, const struct yaml_pair *p,
                            const char *name) {
    size_t points = text_code_points(name, strlen(name)), len = strlen(name);
    if (points > SKILL_MAX_NAME) {
        json_t *f = spec_add(s, "name_too_long", p->at, p->end,
                             "The name has %zu characters; at most %d are allowed.",
                             points, SKILL_MAX_NAME);
        fix_name(s, f, name);
    }
    if (name[0] == '-' || name[len - 1] == '-' || strstr(name, "--")) {
        fix_name(s,
                 spec_add(s, "name_hyphens", p->at, p->end,
                          "Hyphens in the name may only join words: none at either end, "
                          "no two in a row."),
                 name);
    }
}

static void check_name_of_folder(const struct spec *s, const struct yaml_pair *p,
                                 const char *name) {
    autofree char *mended = good_name(name);
    bool mends = strcmp(mended, name) != 0; /* and its fix ends at the folder's name */
    if (!s->folder || strcmp(s->folder, name) == 0 ||
        (mends && strcmp(s->folder, mended) == 0)) {
        return;
    }
    json_t *f =
        spec_add(s, "name_differs_from_folder", p->at, p->end,
                 "The name is \"%.80s\", but the folder is \"%.80s\"; they must be "
                 "equal. Change one of them.",
                 name, s->folder);
    autofree char *good = good_name(s->folder);
    if (strcmp(good, s->folder) == 0 && *good) {
        autofree char *title = xasprintf("Name it \"%s\", as the folder", good);
        spec_fix_string(s, f, title, p, good);
    }
}

static void miss_name(const struct spec *s) {
    const struct yaml_pair *p = skill_text_pair(s->text, "name");
    json_t *f = spec_miss(
        s, "name_missing", "name", p,
        "The skill has no name; add a line \"name: …\" with the name of its folder.");
    autofree char *good = good_name(s->folder ? s->folder : "");
    if (!f) {
        return;
    }
    if (*good && p) {
        spec_fix_string(s, f, "Name it as the folder", p, good);
    } else if (*good) {
        autofree char *line = xasprintf("name: %s\n", good);
        spec_fix_insert(s, f, "Name it as the folder", line);
    }
}

void spec_name_check(const struct spec *s) {
    const json_t *value = spec_value(s, "name");
    const struct yaml_pair *p = skill_text_pair(s->text, "name");
    const char *name = json_string_value(value);
    if (!p || json_is_null(value) || (name && !*name)) {
        miss_name(s);
    } else if (!name) {
        spec_fix_quotes(
            s, spec_add(s, "name_form", p->at, p->end, "The name must be a text."), p,
            value);
    } else {
        check_name_form(s, p, name);
        check_letters(s, p, name);
        check_name_of_folder(s, p, name);
    }
}
