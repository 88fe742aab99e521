#include "clients/ctl/explain.h"

#include "base/edit_distance.h"

#include <ctype.h>

extern const char page_kernels[], page_skills[]; /* made from docs/codes by the build */
static const char *const pages[] = {page_kernels, page_skills};

#define HEADING "\n## "
#define CODE_MAX 64
enum { MEANING = 30, INDENT = 4, NARROW = 70 }; /* columns */

/* The next heading: where its codes begin; NULL: there is none. */
static const char *next_heading(const char *text) {
    const char *heading = strstr(text, HEADING);
    return heading ? heading + strlen(HEADING) : NULL;
}

/* The next code of a heading, "a, b, c"; false at its end. */
static bool next_code(const char **at, char ret[CODE_MAX]) {
    const char *s = *at + strspn(*at, ", ");
    size_t len = strcspn(s, ",\n");
    if (!len || len >= CODE_MAX) {
        return false;
    }
    memcpy(ret, s, len);
    ret[len] = '\0';
    *at = s + len;
    return true;
}

static void try_codes(const char *page, struct nearest_name *near, json_t *list) {
    char code[CODE_MAX];
    for (const char *h = next_heading(page); h; h = next_heading(h)) {
        for (const char *at = h; next_code(&at, code);) {
            json_t *known = json_string(code);
            json_array_append_new(list, known);
            if (near) {
                nearest_name_try(near, json_string_value(known));
            }
        }
    }
}

/* The section of a code, from its first line on; NULL: it has none. */
static const char *find(const char *page, const char *wanted) {
    char code[CODE_MAX];
    for (const char *h = next_heading(page); h; h = next_heading(h)) {
        for (const char *at = h; next_code(&at, code);) {
            if (strcasecmp(code, wanted) == 0) {
                return h + strcspn(h, "\n") + 1;
            }
        }
    }
    return NULL;
}

static const char *section(const char *code, size_t *len) {
    const char *wanted = isdigit((unsigned char)*code) ? "numbers" : code, *found = NULL;
    for (size_t i = 0; i < ARRAY_LEN(pages) && !found; i++) {
        found = find(pages[i], wanted);
    }
    const char *end = found ? strstr(found, HEADING) : NULL;
    *len = end ? (size_t)(end - found) : found ? strlen(found) : 0;
    while (*len && found[*len - 1] == '\n') {
        (*len)--;
    }
    return found;
}

/* Each paragraph as wide as the terminal; their lines are joined. */
static void print_section(const struct terminal *t, const char *text, size_t len) {
    autofree char *own = xstrndup(text, len);
    for (char *paragraph = own, *end; paragraph; paragraph = end) {
        end = strstr(paragraph, "\n\n");
        if (end) {
            *end = '\0';
            end += 2;
        }
        for (char *c = paragraph; *c; c++) {
            *c = *c == '\n' ? ' ' : *c;
        }
        terminal_put_wrapped(t, STYLE_PLAIN, paragraph, 0, 0);
        fputs(end ? "\n" : "", stdout);
    }
}

static json_t *codes(struct nearest_name *near) {
    json_t *list = json_array();
    for (size_t i = 0; i < ARRAY_LEN(pages); i++) {
        try_codes(pages[i], near, list);
    }
    return list;
}

json_t *explain_codes(void) {
    return codes(NULL);
}

static void print_json(json_t *answer) {
    autofree char *text = json_dumps(answer, JSON_COMPACT);
    puts(text);
    json_decref(answer);
}

/* Where the first sentence of a section ends: "SKILL.md is …" goes on. */
static size_t sentence_length(const char *text) {
    size_t len = 0;
    while (text[len] && strncmp(text + len, "\n\n", 2) != 0) {
        if (text[len++] == '.' && (text[len] == ' ' || text[len] == '\n')) {
            break;
        }
    }
    return len;
}

/* The codes of a heading, and what they mean in a sentence, beside or beneath them. */
static void print_heading(const struct terminal *t, const char *heading) {
    const int column = t->width < NARROW ? INDENT : MEANING;
    size_t end = strcspn(heading, "\n");
    const char *text = heading + end + 1;
    autofree char *named = xstrndup(heading, end);
    autofree char *meaning = xstrndup(text, sentence_length(text));
    if ((int)end + 2 > column) {
        terminal_put_wrapped(t, STYLE_BOLD, named, 0, 0);
        printf("%*s", column, "");
    } else {
        terminal_putf(t, STYLE_BOLD, "%-*s", column, named);
    }
    terminal_put_wrapped(t, STYLE_PLAIN, meaning, column, column);
}

static int print_list(const struct terminal *t, bool json) {
    if (json) {
        print_json(json_pack("{s:o}", "codes", explain_codes()));
        return 0;
    }
    for (size_t i = 0; i < ARRAY_LEN(pages); i++) {
        const char *h = pages[i];
        while ((h = next_heading(h))) {
            print_heading(t, h);
        }
    }
    return 0;
}

static int no_page(const struct terminal *t, const char *code) {
    struct nearest_name near = {.said = code, .limit = 3};
    autojson *list = codes(&near);
    if (near.best) {
        terminal_error(t, "no finding has the code %.64s; did you mean %s?", code,
                       near.best);
    } else {
        terminal_error(t, "no finding has the code %.64s", code);
    }
    terminal_hint(t, "upskillctl explain lists all codes");
    return 2;
}

int explain_run(const struct terminal *t, const char *code, bool json) {
    size_t len;
    if (!code) {
        return print_list(t, json);
    }
    const char *text = section(code, &len);
    if (!text) {
        return no_page(t, code);
    }
    if (json) {
        print_json(json_pack("{s:s, s:s%}", "code", code, "text", text, len));
    } else {
        print_section(t, text, len);
    }
    return 0;
}
