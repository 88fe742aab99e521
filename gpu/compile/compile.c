#include "gpu/compile/compile.h"

#include "base/err.h"
#include "base/file.h"
#include "base/strings.h"

enum { MAX_INCLUDE_DIRS = 256, MAX_DIR_BYTES = 4096 };
#define MAX_PREFIX (64u << 10)

static const struct compile_limits default_limits = {
    .wall_ms = 120000,
    .cpu_s = 130,
    .memory_bytes = (size_t)6 << 30,
};

/* "." or a plain path beneath the job's folder: it becomes an -I argument. */
static bool is_job_dir(const json_t *value) {
    const char *dir = json_string_value(value);
    if (!dir || !*dir || strlen(dir) != json_string_length(value) ||
        strlen(dir) > MAX_DIR_BYTES || dir[0] == '/') {
        return false;
    }
    autofree char *normal = path_normalize(dir);
    return !strcmp(normal, dir) && strncmp(dir, "..", 2) != 0 && !strpbrk(dir, "\n\r");
}

static int include_dirs_read(struct compile_job *job, const json_t *dirs,
                             struct err *err) {
    size_t count = json_array_size(dirs);
    if (count > MAX_INCLUDE_DIRS) {
        return err_set(err, -E2BIG, "more than %d include folders", MAX_INCLUDE_DIRS);
    }
    job->include_dirs = xcalloc(count + 1, sizeof *job->include_dirs);
    for (size_t i = 0; i < count; i++) {
        const json_t *dir = json_array_get(dirs, i);
        if (!is_job_dir(dir)) {
            return err_set(err, -EINVAL, "an include folder leads out of the job");
        }
        job->include_dirs[i] = xstrdup(json_string_value(dir));
    }
    return 0;
}

static int prefix_read(struct compile_job *job, const json_t *prefix, struct err *err) {
    if (!prefix || json_is_null(prefix)) {
        return 0;
    }
    const char *text = json_string_value(prefix);
    size_t len = json_string_length(prefix);
    if (!text || len > MAX_PREFIX || strlen(text) != len) {
        return err_set(err, -EINVAL, "prefix must be a text of at most %u KiB",
                       MAX_PREFIX >> 10);
    }
    job->prefix = xstrdup(text);
    return 0;
}

static json_int_t clamp(json_int_t value, json_int_t low, json_int_t high) {
    return value < low ? low : value > high ? high : value;
}

/* Nobody may ask for more than an hour or 64 GiB. */
static struct compile_limits limits_read(const json_t *json) {
    struct compile_limits l = default_limits;
    l.wall_ms = (unsigned)clamp(json_get_integer(json, "wall_ms", l.wall_ms), 1, 3600000);
    l.cpu_s = (unsigned)clamp(json_get_integer(json, "cpu_s", l.cpu_s), 1, 3600);
    l.memory_bytes =
        (size_t)clamp(json_get_integer(json, "memory_bytes", (json_int_t)l.memory_bytes),
                      (json_int_t)256 << 20, (json_int_t)64 << 30);
    return l;
}

static int job_read(struct compile_job *job, const json_t *json, struct err *err) {
    if (!json_is_object(json)) {
        return err_set(err, -EINVAL, "a compile job must be an object");
    }
    int r = include_dirs_read(job, json_object_get(json, "include_dirs"), err);
    if (!r) {
        r = compile_options_from_json(&job->options, json_object_get(json, "options"),
                                      err);
    }
    if (!r) {
        r = prefix_read(job, json_object_get(json, "prefix"), err);
    }
    job->limits = limits_read(json_object_get(json, "limits"));
    return r;
}

int compile_job_from_json(struct compile_job *ret, const json_t *json, struct err *err) {
    struct compile_job job = {0};
    int r = job_read(&job, json, err);
    if (r < 0) {
        compile_job_finish(&job);
        return r;
    }
    *ret = job;
    return 0;
}

json_t *compile_job_to_json(const struct compile_job *job) {
    json_t *dirs = json_array();
    for (char **dir = job->include_dirs; dir && *dir; dir++) {
        json_array_append_new(dirs, json_text(*dir, strlen(*dir)));
    }
    return json_pack("{s:o, s:o, s:o?, s:{s:I, s:I, s:I}}", "include_dirs", dirs,
                     "options", compile_options_to_json(&job->options), "prefix",
                     job->prefix ? json_text(job->prefix, strlen(job->prefix)) : NULL,
                     "limits", "wall_ms", (json_int_t)job->limits.wall_ms, "cpu_s",
                     (json_int_t)job->limits.cpu_s, "memory_bytes",
                     (json_int_t)job->limits.memory_bytes);
}

void compile_job_finish(struct compile_job *job) {
    source_set_finish(&job->sources);
    strings_free(job->include_dirs);
    if (job->options.defines) {
        compile_options_finish(&job->options);
    }
    free(job->prefix);
    *job = (struct compile_job){0};
}
