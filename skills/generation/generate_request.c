/* skill/generate's params: what they name must be there, and be the caller's. */
#include "skills/generation/generate_request.h"

#include "base/err.h"
#include "base/file.h"
#include "base/find.h"
#include "base/link.h"
#include "skills/evaluation/evaluation_room.h"
#include "skills/format/skill_name.h"
#include "skills/models/model_names.h"
#include "skills/skill_operations.h"

#include <stdio.h>
#include <sys/stat.h>

/* --- files --- */

static char *find_given(struct call *call, const char *path, bool trace,
                        struct err *err) {
    char *found = skills_resolve(call_origin(call), path, err);
    if (!found && trace && *path == '/') {
        autofree char *real = realpath(path, NULL);
        found = real && trace_is_session_folder(real) ? take(real) : NULL;
    }
    return found;
}

static int read_given(struct call *call, const json_t *params, const char *key,
                      struct given *list, size_t *count, size_t *links) {
    json_each(json_object_get(params, key), i, one) {
        struct given *g = &list[(*count)++];
        const char *path = json_string_value(one);
        struct err err = {0};
        *g = (struct given){.text = json_object_get(one, "text")};
        g->name = path ? path_basename(path) : json_get_string(one, "name", key);
        if (path && strcmp(key, "documents") == 0 && link_is(path)) {
            g->url = g->name = path;
            path = NULL;
            (*links)++;
        }
        g->path = path ? find_given(call, path, strcmp(key, "traces") == 0, &err) : NULL;
        if (path && !g->path) {
            autofree char *pointer = xasprintf("/%s/%zu", key, i);
            return skills_fail_path(call, pointer, &err);
        }
    }
    return 0;
}

/* --- where it goes --- */

static bool has_skill(const char *folder) {
    autofree char *path = path_join(folder, "SKILL.md");
    struct stat st;
    return stat(path, &st) == 0;
}

/* path is cut at its last part, which is returned (malloc'ed). */
static char *split_last(char *path) {
    char *base = (char *)(uintptr_t)path_basename(path);
    char *name = xstrdup(base);
    base[base > path + 1 ? -1 : 0] = '\0';
    return name;
}

/* The nearest part of the path that exists must be the caller's; the rest is made. A
 * relative one is meant from the first root. */
static char *resolve_new(struct call *call, const char *path, struct err *err) {
    autofree char *here = skills_resolve(call_origin(call), ".", err);
    autofree char *normal = path_resolve(here ? here : "", path);
    autofree char *rest = xstrdup("");
    for (;;) {
        autofree char *found = skills_resolve(call_origin(call), normal, err);
        if (found) {
            return *rest ? path_join(found, rest) : take(found);
        }
        if (err->code != -ENOENT || strchr(normal, '/') == NULL) {
            return NULL;
        }
        autofree char *name = split_last(normal);
        char *longer = *rest ? path_join(name, rest) : xstrdup(name);
        free(rest);
        rest = longer;
    }
}

static int find_output(struct generate_request *r, struct call *call,
                       const json_t *params) {
    const char *output = json_get_string(params, "output", NULL);
    struct err err = {0};
    if (!output && r->improved) {
        autofree char *own = skills_resolve(call_origin(call), r->improved, NULL);
        if (own) {
            r->parent = xstrdup(r->improved);
            r->folder_name = split_last(r->parent);
            return 0;
        }
    }
    char *path = resolve_new(call, output ? output : "skills", &err);
    if (!path) {
        return skills_fail_path(call, "/output", &err);
    }
    r->parent = path;
    struct stat st;
    bool is_there = stat(path, &st) == 0;
    const char *last = path_basename(path);
    bool for_many = strcmp(last, "skills") == 0 || !skill_name_is_valid(last);
    if (output && (is_there ? has_skill(path) : !for_many)) { /* the skill's own folder */
        r->folder_name = split_last(path);
    }
    return 0;
}

static int check_name(struct generate_request *r, struct call *call) {
    const char *name = r->name ? r->name : r->folder_name;
    if (name && !skill_name_is_valid(name)) {
        call_fail_param(
            call, r->name ? "/name" : "/output",
            "%.80s is not a name for a skill: lower-case letters, digits and single "
            "hyphens, at most 64",
            name);
        return -1;
    }
    if (r->name && r->folder_name && strcmp(r->name, r->folder_name) != 0 &&
        !r->improved) {
        call_fail_param(call, "/output",
                        "the skill's folder must be called %.64s, as its name", r->name);
        return -1;
    }
    return 0;
}

/* --- the rest --- */

static int check_links(struct generate_request *r, struct call *call) {
    const struct evaluation_room *room = evaluation_room_of(call_origin(call));
    const json_t *said = evaluation_room_setting(room, "links");
    const char *links = !room ? "none" : said ? json_string_value(said) : "public";
    r->links = strcmp(links, "any") == 0    ? LINKS_ANY
               : strcmp(links, "none") == 0 ? LINKS_NONE
                                            : LINKS_PUBLIC;
    for (size_t i = 0; i < r->document_count; i++) {
        const char *url = r->documents[i].url;
        struct err err = {0};
        autofree char *pointer = xasprintf("/documents/%zu", i);
        if (url && r->links == LINKS_NONE) {
            call_fail(call, CALL_REFUSED, "no_links",
                      "give the document as a file, or as {name, text}",
                      "the configuration says that no links are fetched (links: none)");
            return -1;
        }
        if (url && link_check(url, &err) < 0) {
            call_fail_param(call, pointer, "%s", err.msg);
            return -1;
        }
    }
    return 0;
}

static int check_matter(const struct generate_request *r, struct call *call) {
    if (r->trace_count || r->document_count || r->task || r->improved ||
        json_array_size(r->examples)) {
        return 0;
    }
    call_fail_param(call, "/traces",
                    "say what to teach: traces, a task, documents, examples "
                    "or a skill");
    return -1;
}

/* generic.NAME, or a bare name that no endpoint's list has made an alias. */
static bool is_teachers(const json_t *student, const json_t *aliases, const char *url) {
    const char *name = json_string_value(student);
    return model_shared_url(student, url) || (name && model_name_is_bare(name, aliases));
}

/* Students that only the teacher's address can be meant for are there, too. */
static const char *students_url_of(const json_t *params, const struct evaluation_room *room) {
    const json_t *students = json_object_get(params, "students");
    const json_t *aliases = room ? evaluation_room_models(room) : NULL;
    const char *url = json_get_string(params, "base_url", NULL);
    bool other = json_any(students, one, !is_teachers(one, aliases, url));
    return json_get_string(params, "students_url", other ? NULL : url);
}

int generate_request_read(struct generate_request *ret, struct skills *skills,
                          struct call *call, const json_t *params) {
    const char *skill = json_get_string(params, "skill", NULL);
    *ret = (struct generate_request){
        .task = json_get_string(params, "task", NULL),
        .name = json_get_string(params, "name", NULL),
        .examples = json_object_get(params, "examples"),
        .install = json_object_get(params, "install"),
        .students = json_object_get(params, "students"),
        .students_url = students_url_of(params, evaluation_room_of(call_origin(call))),
        .budget = json_object_get(params, "budget"),
        .refine = json_object_get(params, "refine"),
        .tests = (unsigned)json_get_integer(params, "tests", GENERATE_TESTS),
        .hidden = generate_teacher_keys(evaluation_room_of(call_origin(call))),
    };
    struct err err = {0};
    size_t links = 0;
    int rc = generate_teacher_read(ret, call, params);
    if (rc == 0 && skill) {
        ret->improved = skills_find_folder(skills, call_origin(call), skill, &err);
        if (!ret->improved) {
            skills_fail(call, &err);
            return -1;
        }
    }
    rc = rc < 0
             ? rc
             : read_given(call, params, "traces", ret->traces, &ret->trace_count, &links);
    rc = rc < 0 ? rc
                : read_given(call, params, "documents", ret->documents,
                             &ret->document_count, &ret->link_count);
    rc = rc < 0 ? rc : check_links(ret, call);
    rc = rc < 0 ? rc : check_matter(ret, call);
    rc = rc < 0 ? rc : find_output(ret, call, params);
    rc = rc < 0 ? rc : check_name(ret, call);
    return rc < 0 ? rc : generate_measure_check(ret, call);
}

void generate_request_finish(struct generate_request *r) {
    for (size_t i = 0; i < r->trace_count; i++) {
        free(r->traces[i].path);
    }
    for (size_t i = 0; i < r->document_count; i++) {
        free(r->documents[i].path);
        free(r->documents[i].bytes);
    }
    generate_teacher_finish(r);
    free(r->improved);
    free(r->parent);
    free(r->folder_name);
    *r = (struct generate_request){0};
}
