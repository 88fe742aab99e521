/* An evaluation noted in the skill's own skill_meta.json. */
#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "skills/format/skill.h"
#include "skills/runs/run_record.h"

#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#define META_FILE "skill_meta.json"
#define META_MAX (8u << 20)
#define LOCK_TRIES 40
#define LOCK_PAUSE_NS 50000000

/* --- what is noted --- */

static json_t *rates_of(const json_t *arms) {
    json_t *rates = json_object();
    json_each(arms, i, arm) {
        const char *name = json_get_string(arm, "name", NULL);
        json_t *rate = json_object_get(arm, "pass_rate");
        if (name && json_is_number(rate)) {
            json_object_set(rates, name, rate);
        }
    }
    return rates;
}

static json_t *entry_of(const json_t *evaluation, const json_t *student,
                        const char *batch) {
    const json_t *from = json_object_get(evaluation, "provenance");
    const json_t *lift = json_object_get(student, "lift");
    return json_pack(
        "{s:O?,s:O?,s:{s:O?,s:O?,s:O?,s:O?,s:O?},s:o,s:O?,s:O?,s:O?,s:s}", "model",
        json_object_get(student, "model"), "verdict", json_object_get(student, "verdict"),
        "lift", "estimate", json_object_get(lift, "estimate"), "low",
        json_object_get(lift, "low"), "high", json_object_get(lift, "high"), "p",
        json_object_get(lift, "p"), "n_tests", json_object_get(lift, "n_tests"), "arms",
        rates_of(json_object_get(student, "arms")), "skill_digest",
        json_object_get(from, "skill_digest"), "tests_digest",
        json_object_get(from, "tests_digest"), "ended", json_object_get(from, "ended"),
        "run", batch);
}

/* Mean rate of the skill arm over the students, or null. */
static json_t *pass_rate_of(const json_t *evaluation) {
    double sum = 0;
    size_t count = 0;
    json_each(json_object_get(evaluation, "students"), i, student) {
        autojson *rates = rates_of(json_object_get(student, "arms"));
        json_t *rate = json_object_get(rates, "skill");
        if (rate) {
            sum += json_number_value(rate);
            count++;
        }
    }
    return count ? json_real(sum / (double)count) : json_null();
}

/* --- the file --- */

static json_t *new_metadata(void) {
    return json_pack("{s:s,s:n,s:n,s:n,s:n,s:n,s:n}", "version", "1.0", "generated_by",
                     "generated_at", "source_task", "test_pass_rate", "license",
                     "compatibility");
}

/* The file's object; a fresh one where there is no file; NULL with err. */
static json_t *read_meta(const char *folder, struct err *err) {
    autobuf text = BUF_INIT(META_MAX);
    struct err why = {0};
    int rc = skill_read_file(folder, META_FILE, &text, &why);
    if (rc == -ENOENT) {
        return json_pack("{s:o,s:[]}", "metadata", new_metadata(), "tests");
    }
    json_t *meta = rc < 0 ? NULL : json_parse(text.data, text.len, &why);
    if (json_is_object(meta)) {
        return meta;
    }
    json_decref(meta);
    err_set(err, rc < 0 ? rc : -EBADMSG, "%s/" META_FILE ": %s", folder,
            *why.msg ? why.msg : "not a JSON object");
    return NULL;
}

static void note(json_t *meta, const json_t *evaluation, const char *batch) {
    json_t *list = json_object_get(meta, "evaluations");
    json_t *metadata = json_object_get(meta, "metadata");
    if (!json_is_array(list)) {
        list = json_array();
        json_object_set_new(meta, "evaluations", list);
    }
    if (!json_is_object(metadata)) {
        metadata = new_metadata();
        json_object_set_new(meta, "metadata", metadata);
    }
    json_each(json_object_get(evaluation, "students"), i, student) {
        json_array_append_new(list, entry_of(evaluation, student, batch));
    }
    while (json_array_size(list) > RUN_MAX_EVALUATIONS) {
        json_array_remove(list, 0);
    }
    autojson *rate = pass_rate_of(evaluation);
    if (json_is_number(rate)) {
        json_object_set(metadata, "test_pass_rate", rate);
    }
}

/* Two daemons may end an evaluation of one skill at the same time. */
static int lock_folder(const struct root *root, struct err *err) {
    const struct timespec pause = {.tv_nsec = LOCK_PAUSE_NS};
    for (int i = 0; i < LOCK_TRIES; i++) {
        if (flock(root->fd, LOCK_EX | LOCK_NB) == 0) {
            return 0;
        }
        if (errno != EWOULDBLOCK && errno != EINTR) {
            return 0; /* a file system without locks */
        }
        nanosleep(&pause, NULL);
    }
    return err_set(err, -EBUSY, "%s: another process holds it", root->path);
}

static int note_in_folder(const struct root *root, const json_t *evaluation,
                          const char *batch, struct err *err) {
    int rc = lock_folder(root, err);
    autojson *meta = rc < 0 ? NULL : read_meta(root->path, err);
    if (!meta) {
        return rc < 0 ? rc : err && err->code ? err->code : -EBADMSG;
    }
    note(meta, evaluation, batch);
    autofree char *text = json_shown(meta, JSON_INDENT(2));
    if (!text) {
        return err_set(err, -EINVAL, "%s/" META_FILE ": cannot be written", root->path);
    }
    return root_write(root, META_FILE, text, strlen(text), 0644, err);
}

int run_record_in_skill(const char *folder, const json_t *evaluation, const char *batch,
                        struct err *err) {
    struct root root;
    struct err own = {0};
    if (access(folder, W_OK) < 0) {
        int code = -errno;
        return err_set(err, code, "%s: %s", folder, strerror(-code));
    }
    int rc = root_open(&root, folder, err);
    if (rc < 0) {
        return rc;
    }
    rc = note_in_folder(&root, evaluation, batch, err ? err : &own);
    root_close(&root);
    return rc;
}
