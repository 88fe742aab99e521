#include "gpu/run/sanitizer_merge.h"

#include "base/find.h"
#include "gpu/run/run_report.h"
#include "protocol/finding.h"

static const struct {
    const char *check, *tool;
} tools[] = {{"memory", "memcheck"},
             {"initialized", "initcheck"},
             {"race", "racecheck"},
             {"barrier", "synccheck"}};

const char *sanitizer_check_of(const char *tool) {
    size_t at = first_of(i, 0, ARRAY_LEN(tools), !strcmp(tools[i].tool, tool));
    return at < ARRAY_LEN(tools) ? tools[at].check : NULL;
}

static const char *text_of(const json_t *object, const char *member) {
    return json_get_string(object, member, "");
}

/* Its index, or -1. */
static int name_find(const json_t *names, const char *name) {
    json_each(names, i, item) {
        if (json_is_string(item) && !strcmp(json_string_value(item), name)) {
            return (int)i;
        }
    }
    return -1;
}

json_t *sanitizer_wanted(const json_t *answer) {
    json_t *wanted = json_array();
    const char *verdict = text_of(answer, "verdict");
    bool ran = !strcmp(verdict, "pass") || !strcmp(verdict, "fail") ||
               !strcmp(verdict, "unjudged");
    if (!ran ||
        strcmp(text_of(json_object_get(answer, "backend"), "kind"), "cuda") != 0) {
        return wanted;
    }
    for (size_t i = 0; i < ARRAY_LEN(tools); i++) {
        if (name_find(json_object_get(answer, "checks"), tools[i].check) >= 0 ||
            name_find(json_object_get(answer, "unchecked"), tools[i].check) >= 0) {
            json_array_append_new(wanted, json_string(tools[i].tool));
        }
    }
    return wanted;
}

/* --- findings --- */

/* "ns::k<float>(int)" and "k<float>" are the same kernel to those who compare a report
 * with a spec: without arguments, without namespaces. */
static void kernel_base(const char *name, char *ret, size_t size) {
    size_t depth = 0, begin = 0, end = 0;
    for (; name[end] && !(name[end] == '(' && !depth); end++) {
        depth += name[end] == '<';
        depth -= name[end] == '>' && depth;
        if (!depth && name[end] == ':' && name[end + 1] == ':') {
            begin = end + 2;
        }
    }
    snprintf(ret, size, "%.*s", (int)(end > begin ? end - begin : 0), name + begin);
}

static bool same_kernel(const json_t *a, const json_t *b) {
    char left[256], right[256];
    kernel_base(text_of(a, "kernel"), left, sizeof left);
    kernel_base(text_of(b, "kernel"), right, sizeof right);
    return !*left || !*right || !strcmp(left, right);
}

static bool same_code(const json_t *a, const json_t *b) {
    return !strcmp(text_of(a, "code"), text_of(b, "code"));
}

static bool has_line(const json_t *f) {
    return json_get_integer(f, "line", 0) > 0;
}

/* The number of findings in the list with this one's code and kernel, and a line; and the
 * last of them. */
static size_t places_of(const json_t *list, const json_t *f, json_t **ret) {
    size_t count = 0;
    json_each(list, i, other) {
        if (same_code(other, f) && same_kernel(other, f) && has_line(other)) {
            *ret = other;
            count++;
        }
    }
    return count;
}

static void place_copy(json_t *to, const json_t *from) {
    static const char *const members[] = {"file", "line", "block", "thread", "related"};
    for (size_t i = 0; i < ARRAY_LEN(members); i++) {
        json_t *value = json_object_get(from, members[i]);
        if (value && !json_object_get(to, members[i])) {
            json_object_set(to, members[i], value);
        }
    }
}

/* The answer's findings that say less than the tool's go, or learn their place. found:
 * those of the tools, of which what is used up is taken. */
static void join_places(json_t *own, json_t *found) {
    for (size_t i = json_array_size(own); i-- > 0;) {
        json_t *f = json_array_get(own, i), *place = NULL;
        size_t count = has_line(f) ? 0 : places_of(found, f, &place);
        if (!count) {
            continue;
        }
        if (!*text_of(f, "buffer")) {
            json_array_remove(own, i);
        } else if (count == 1 && !json_object_get(place, "joined")) {
            place_copy(f, place);
            json_object_set_new(place, "joined", json_true());
        }
    }
}

static bool is_told(const json_t *own, const json_t *f) {
    return json_any(
        own, other,
        same_code(other, f) && same_kernel(other, f) &&
            json_equal(json_object_get(other, "file"), json_object_get(f, "file")) &&
            json_get_integer(other, "line", 0) == json_get_integer(f, "line", 0));
}

/* Returns whether an error was among them. */
static bool add_findings(json_t *own, const json_t *found, json_int_t *omitted) {
    bool error = false;
    json_each(found, i, f) {
        error |= !strcmp(text_of(f, "severity"), "error");
        if (json_object_get(f, "joined") || is_told(own, f)) {
            continue;
        }
        *omitted += !run_report_keep(own, f);
    }
    return error;
}

/* --- tools --- */

static void check_made(json_t *answer, const char *check) {
    json_t *unchecked = json_object_get(answer, "unchecked");
    json_t *checks = json_object_get(answer, "checks");
    int at = name_find(unchecked, check);
    if (at >= 0) {
        json_array_remove(unchecked, (size_t)at);
        json_array_append_new(checks, json_string(check));
    }
    if (unchecked && !json_array_size(unchecked)) {
        json_object_del(answer, "unchecked");
    }
}

static void warn(json_t *own, const json_t *tool) {
    const struct finding_span nowhere = {0};
    autofree char *message =
        xasprintf("%.20s of compute-sanitizer did not finish, so its findings are "
                  "missing or incomplete: %.400s",
                  text_of(tool, "tool"), text_of(tool, "reason"));
    json_array_append_new(own, finding_new("run", "not_sanitized", FINDING_WARNING,
                                           message, NULL, &nowhere));
}

/* All findings of all tools, as copies. */
static json_t *collect(const json_t *list) {
    json_t *all = json_array();
    json_each(list, i, tool) {
        json_each(json_object_get(tool, "findings"), k, f) {
            if (json_is_object(f) && strcmp(text_of(f, "code"), "assert") != 0) {
                json_array_append_new(all, json_deep_copy(f));
            }
        }
    }
    return all;
}

static json_t *told_report(const json_t *report) {
    json_t *told = json_deep_copy(report);
    json_each(json_object_get(told, "tools"), i, tool) {
        json_object_del(tool, "findings");
        json_object_del(tool, "omitted");
    }
    return told;
}

void sanitizer_merge(json_t *answer, const json_t *report) {
    const json_t *list = json_object_get(report, "tools");
    json_t *own = json_object_get(answer, "findings");
    json_int_t omitted = json_get_integer(answer, "omitted", 0);
    autojson *found = collect(list);
    json_object_set_new(answer, "sanitizer", told_report(report));
    join_places(own, found);
    bool error = add_findings(own, found, &omitted);
    json_each(list, i, tool) {
        const char *outcome = text_of(tool, "outcome");
        const char *check = sanitizer_check_of(text_of(tool, "tool"));
        omitted += json_get_integer(tool, "omitted", 0);
        if (!strcmp(outcome, "clean") || !strcmp(outcome, "findings")) {
            check_made(answer, check ? check : "");
        } else {
            warn(own, tool);
        }
    }
    json_object_set_new(answer, "omitted", json_integer(omitted));
    const char *verdict = text_of(answer, "verdict");
    if (error && (!strcmp(verdict, "pass") || !strcmp(verdict, "unjudged"))) {
        json_object_del(answer, "error"); /* it would say why nothing was judged */
        json_object_set_new(answer, "verdict", json_string("fail"));
    }
}
