/* skill/pack: a skill as one archive, read and written on another thread. */
#include "base/err.h"
#include "base/file.h"
#include "base/find.h"
#include "base/strings.h"
#include "base/work.h"
#include "protocol/finding.h"
#include "skills/check/skill_check.h"
#include "skills/install/zip.h"
#include "skills/skill_operations.h"

#define HEADERS_MAX (2u << 20) /* bytes of all headers; a file's name occurs in two */

struct packing {
    struct call *call; /* a reference */
    char *folder, *out_path;
    struct root out;
    json_t *result, *unsound;
    struct err err;
};

/* --- on the other thread --- */

/* The first error of the rules for a skill that is given to others. */
static json_t *first_error(const struct skill *skill) {
    autojson *findings = json_array();
    spec_rules_check(skill, SKILL_CHECK_STRICT, findings);
    safety_rules_check(skill, findings);
    return json_incref((json_t *)(uintptr_t)findings_first_error(findings));
}

/* Each file beneath a folder of the skill's name. */
static int add_files(const struct skill *skill, struct zip *zip, struct err *err) {
    for (size_t i = 0; i < skill->file_count; i++) {
        const struct skill_file *file = &skill->files[i];
        autobuf text = BUF_INIT(SKILL_MAX_BYTES);
        autofree char *name = path_join(skill->text.name, file->path);
        int rc = skill_read_file(skill->folder, file->path, &text, err);
        if (rc < 0) {
            return rc;
        }
        rc = zip_add(zip, name, file->mode & 0111 ? 0755 : 0644, text.data, text.len);
        if (rc < 0) {
            return err_set(err, rc, "the skill is too large for an archive");
        }
    }
    return 0;
}

static json_t *result_of(const struct packing *p, const struct skill *skill,
                         size_t bytes) {
    char digest[72];
    json_t *files =
        json_list(i, 0, skill->file_count, json_clean_z(skill->files[i].path));
    skill_digest(skill, digest);
    autofree char *path = path_join(p->out.path, p->out_path);
    return json_pack("{s:o,s:I,s:o,s:s}", "path", json_clean_z(path), "bytes",
                     (json_int_t)bytes, "files", files, "digest", digest);
}

static void pack(struct packing *p, struct skill *skill) {
    autobuf archive = BUF_INIT(SKILL_MAX_BYTES + HEADERS_MAX);
    struct zip zip = {.out = &archive, .directory = BUF_INIT(HEADERS_MAX)};
    p->unsound = first_error(skill);
    if (p->unsound) {
        return;
    }
    skill_hide_tests(skill);
    if (!p->out_path) {
        p->out_path = xasprintf("%s.skill", skill->text.name);
    }
    int rc = add_files(skill, &zip, &p->err), ended = zip_end(&zip);
    rc = rc < 0 ? rc : ended;
    if (rc == 0 &&
        root_write(&p->out, p->out_path, archive.data, archive.len, 0644, &p->err) == 0) {
        p->result = result_of(p, skill, archive.len);
    }
}

static void pack_work(void *data) {
    struct packing *p = data;
    struct skill skill;
    if (skill_open(&skill, p->folder, true, &p->err) == 0) {
        pack(p, &skill);
        skill_finish(&skill);
    }
}

/* --- on the loop --- */

static void packing_free(struct packing *p) {
    call_unref(p->call);
    root_close(&p->out);
    json_decref(p->unsound);
    free(p->folder);
    free(p->out_path);
    free(p);
}

static void pack_done(void *data) {
    struct packing *p = data;
    if (p->result) {
        call_reply(p->call, p->result);
    } else if (p->unsound) {
        call_fail(p->call, CALL_REFUSED, "unsound_skill",
                  "skill/check shows all findings", "%s (%s, line %d of %s)",
                  json_get_string(p->unsound, "message", ""),
                  json_get_string(p->unsound, "code", ""),
                  (int)json_get_integer(p->unsound, "line", 0),
                  json_get_string(p->unsound, "file", "SKILL.md"));
    } else {
        skills_fail(p->call, &p->err);
    }
    packing_free(p);
}

static void pack_go(struct skills *s, struct call *call, const json_t *params) {
    struct err err = {0};
    struct packing *p = xcalloc(1, sizeof *p);
    const char *out = json_get_string(params, "out", NULL);
    p->call = call_ref(call);
    p->folder = skills_find_folder(s, call_origin(call),
                                   json_get_string(params, "path", ""), &err);
    if (!p->folder) {
        skills_fail(call, &err);
    } else if (skills_out(call_origin(call), out, &p->out, &p->out_path, &err) < 0) {
        call_fail_param(call, "/out", "%s", err.msg);
    } else {
        work_start(call_origin(call)->loop, pack_work, pack_done, p);
        return;
    }
    packing_free(p);
}

void skill_pack_operation(struct call *call, const json_t *params) {
    static const char *const endings[] = {".skill", ".zip", NULL};
    const char *out = json_get_string(params, "out", NULL);
    if (out && !strings_end(endings, out)) {
        call_fail_param(call, "/out", "the file's name must end in .skill or .zip");
        return;
    }
    skills_when_current(call, pack_go);
}
