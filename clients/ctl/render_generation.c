/* skill/generate's answer: where the skill is, what it tells, its tests, what to do next.
 */
#include "base/buf.h"
#include "base/mem.h"
#include "clients/ctl/render.h"

#include <stdint.h>
#include <string.h>

static json_int_t number(const json_t *object, const char *key) {
    return json_get_integer(object, key, 0);
}

/* "2 fixes, 1 correction": what there is of each kind. */
static void print_counts(const json_t *counts) {
    static const struct {
        const char *key, *one, *many;
    } kinds[] = {
        {"fixes", "fix", "fixes"},
        {"corrections", "correction", "corrections"},
        {"commands", "command", "commands"},
        {"files", "file", "files"},
        {"limits", "version or limit", "versions and limits"},
        {"dead_ends", "dead end", "dead ends"},
        {"links", "link", "links"},
        {"dropped", "piece left out as unsafe", "pieces left out as unsafe"},
    };
    const char *lead = "tells     ";
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        json_int_t n = number(counts, kinds[i].key);
        if (n) {
            printf("%s%" JSON_INTEGER_FORMAT " %s", lead, n,
                   n == 1 ? kinds[i].one : kinds[i].many);
            lead = ", ";
        }
    }
    if (*lead == ',') {
        fputs("\n", stdout);
    }
}

/* The headings of the saved SKILL.md, when it can be read here. */
static void print_sections(const char *folder) {
    autofree char *path = xasprintf("%s/SKILL.md", folder);
    FILE *f = fopen(path, "re");
    const char *lead = "sections  ";
    char line[512];
    bool fenced = false;
    while (f && fgets(line, sizeof line, f)) {
        fenced ^= strncmp(line, "```", 3) == 0;
        if (!fenced && strncmp(line, "## ", 3) == 0) {
            line[strcspn(line, "\n")] = '\0';
            autojson *clean = json_clean_z(line + 3);
            printf("%s%s", lead, json_string_value(clean));
            lead = ", ";
        }
    }
    if (f) {
        fclose(f);
    }
    if (*lead == ',') {
        fputs("\n", stdout);
    }
}

/* "contains 24, regex 20": how many of each. */
static void print_each(const char *lead, const json_t *counts) {
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)counts, key, value) {
        printf("%s%s %" JSON_INTEGER_FORMAT, lead, key, json_integer_value(value));
        lead = ", ";
    }
}

static void print_tests(const json_t *tests) {
    json_int_t count = number(tests, "count"), wanted = number(tests, "wanted");
    printf("tests     %" JSON_INTEGER_FORMAT, count);
    if (count) {
        print_each(": ", json_object_get(tests, "splits"));
        print_each("; ", json_object_get(tests, "kinds"));
    }
    fputs("\n", stdout);
    if (number(tests, "kept")) {
        printf("          %" JSON_INTEGER_FORMAT " of them were there before\n",
               number(tests, "kept"));
    }
    if (count < wanted) {
        printf("          %" JSON_INTEGER_FORMAT " were wanted: %s\n", wanted,
               json_get_string(tests, "reason", "there was no more matter"));
    }
    if (number(tests, "marked")) {
        printf("          %" JSON_INTEGER_FORMAT " left out as too easy\n",
               number(tests, "marked"));
    }
}

static void print_teacher(const json_t *teacher) {
    const json_t *model = json_object_get(teacher, "model");
    json_int_t drafts = number(teacher, "drafts");
    if (!teacher) {
        return;
    }
    printf("teacher   %s", json_get_string(teacher, "kind", ""));
    if (model) {
        printf(" %s", json_get_string(model, "name", ""));
    }
    if (drafts > 1) {
        printf(", %" JSON_INTEGER_FORMAT " drafts", drafts);
    }
    if (model) {
        printf("; %" JSON_INTEGER_FORMAT " requests, %" JSON_INTEGER_FORMAT
               " answers from the cache, %" JSON_INTEGER_FORMAT " tokens",
               number(teacher, "requests"), number(teacher, "cached"),
               number(teacher, "tokens"));
        const json_t *cost = json_object_get(teacher, "cost");
        if (json_is_number(cost)) {
            printf(", cost %.4f", json_number_value(cost));
        }
    }
    fputs("\n", stdout);
}

static void print_check(const struct terminal *t, const json_t *check) {
    bool ok = json_get_bool(check, "ok", 0);
    const json_t *tokens = json_object_get(check, "tokens");
    fputs("check     ", stdout);
    terminal_put(t, ok ? STYLE_GREEN : STYLE_RED, ok ? "passed" : "failed");
    printf(", %zu findings; ≈ %" JSON_INTEGER_FORMAT " tokens, %" JSON_INTEGER_FORMAT
           " in every session\n",
           json_array_size(json_object_get(check, "findings")), number(tokens, "body"),
           number(tokens, "catalogue"));
}

static void print_install(const json_t *install) {
    size_t i;
    const json_t *one;
    json_array_foreach(install, i, one) {
        const char *reason = json_get_string(one, "reason", NULL);
        printf("%-9s %s: %s%s%s\n", i ? "" : "install", json_get_string(one, "agent", ""),
               json_get_string(one, "outcome", ""), reason ? ": " : "",
               reason ? reason : "");
    }
    if (json_is_object(install)) {
        printf("install   failed: %s\n", json_get_string(install, "error", ""));
    }
}

static void print_next(const char *path, bool installed) {
    printf("\nnext      upskillctl skill check %s --strict\n", path);
    if (!installed) {
        printf("          upskillctl skill install %s --agents claude-code\n", path);
    }
    printf("          upskillctl skill evaluate %s --students MODEL\n", path);
}

/* The daemon of a command line ends with it, so nobody can give the draft back here. */
static int render_order(const json_t *result) {
    const json_t *order = json_object_get(result, "work_order");
    printf("%s\n\nformat    %s\nreply     from the program that keeps its daemon running "
           "(MCP: "
           "skill_generate {job, draft, tests}), or in `upskillctl shell`\n",
           json_get_string(order, "instructions", ""),
           json_get_string(order, "format", ""));
    return 1;
}

int render_generation(const struct terminal *t, const json_t *result) {
    const json_t *skill = json_object_get(result, "skill");
    const json_t *install = json_object_get(result, "install");
    const json_t *evaluation = json_object_get(result, "evaluation");
    const char *path = json_get_string(skill, "path", "");
    if (json_object_get(result, "work_order")) {
        return render_order(result);
    }
    if (!skill) {
        terminal_put(t, STYLE_YELLOW, "nothing to teach");
        printf(": %s\n", json_get_string(result, "reason", ""));
        return 1;
    }
    terminal_put(t, STYLE_BOLD, json_get_string(skill, "name", ""));
    printf("\nsaved     %s\n", path);
    print_teacher(json_object_get(result, "teacher"));
    print_sections(path);
    print_counts(json_object_get(result, "lessons"));
    print_tests(json_object_get(result, "tests"));
    print_check(t, json_object_get(result, "check"));
    render_refinement(t, json_object_get(result, "refinement"));
    print_install(install);
    if (json_object_get(evaluation, "students")) {
        fputs("\n", stdout);
        (void)render_evaluation(t, evaluation);
    } else if (evaluation) {
        printf("measured  not: %s\n", json_get_string(evaluation, "error", ""));
    }
    print_next(path, json_array_size(install) > 0);
    return 0;
}
