/* The launches of a check spec. */
#include "base/err.h"
#include "gpu/spec/spec_internal.h"

static int check_extent(struct spec_reader *r, const json_t *launch, const char *member,
                        const char *at, const json_t **ret) {
    const json_t *value = json_object_get(launch, member);
    char path[160];
    *ret = value;
    if (!value) {
        return 0;
    }
    snprintf(path, sizeof path, "%slaunch.%s", at, member);
    if (!json_is_array(value)) {
        return spec_check_size(r, value, path);
    }
    if (json_array_size(value) < 1 || json_array_size(value) > 3) {
        return err_set(r->err, -EINVAL, "%s: one to three extents", path);
    }
    for (size_t i = 0; i < json_array_size(value); i++) {
        snprintf(path, sizeof path, "%slaunch.%s[%zu]", at, member, i);
        int n = spec_check_size(r, json_array_get(value, i), path);
        if (n < 0) {
            return n;
        }
    }
    return 0;
}

/* {"kernel"?, "launch", "args"}; errors begin with the path `at`. */
static int spec_read_launch(struct spec_reader *r, struct spec_launch *ret,
                            const json_t *json, const char *at) {
    if (!json_is_object(json)) {
        return err_set(r->err, -EINVAL, "%slaunch: an object is expected", at);
    }
    const json_t *launch = json_object_get(json, "launch");
    snprintf(ret->at, sizeof ret->at, "%s", at);
    ret->kernel = json_get_string(json, "kernel", NULL);
    if (launch && !json_is_object(launch)) {
        return err_set(r->err, -EINVAL, "%slaunch: {\"grid\", \"block\", …}", at);
    }
    char path[64];
    snprintf(path, sizeof path, "%slaunch", at);
    if (spec_check_members(r, launch, KERNEL_SPEC_LAUNCH_MEMBERS, path) < 0) {
        return -EINVAL;
    }
    if (json_is_array(json_object_get(launch, "shared_bytes"))) {
        return err_set(r->err, -EINVAL,
                       "%slaunch.shared_bytes: an integer or an expression is expected",
                       at);
    }
    ret->cooperative = json_get_bool(launch, "cooperative", 0);
    int n = check_extent(r, launch, "grid", at, &ret->grid);
    n = n < 0 ? n : check_extent(r, launch, "block", at, &ret->block);
    n = n < 0 ? n : check_extent(r, launch, "cluster", at, &ret->cluster);
    n = n < 0 ? n : check_extent(r, launch, "shared_bytes", at, &ret->shared_bytes);
    if (n == 0 && launch && !ret->block) {
        return err_set(r->err, -EINVAL,
                       "%slaunch.block: say how many threads a block has", at);
    }
    return n < 0 ? n : spec_read_args(r, ret, json_object_get(json, "args"), at);
}

void spec_launch_finish(struct spec_launch *launch) {
    free(launch->args);
}

int spec_need_launch(struct spec_reader *r, const json_t *json, const char *at) {
    return json_object_get(json, "launch")
               ? 0
               : err_set(r->err, -EINVAL,
                         "%slaunch: say how the kernel is launched: {\"grid\": …, "
                         "\"block\": …}",
                         at);
}

static int read_list(struct spec_reader *r, const json_t *list, const char *at,
                     struct spec_launch **ret, size_t *ret_count) {
    size_t count = json_array_size(list);
    if (!count || count > SPEC_MAX_LAUNCHES) {
        return err_set(r->err, -EINVAL, "%s: a list of 1 to %d launches is expected", at,
                       SPEC_MAX_LAUNCHES);
    }
    *ret = xcalloc(count, sizeof **ret);
    for (*ret_count = 0; *ret_count < count; ++*ret_count) {
        char path[96];
        snprintf(path, sizeof path, "%s[%zu].", at, *ret_count);
        const json_t *json = json_array_get(list, *ret_count);
        char holder[96];
        snprintf(holder, sizeof holder, "%s[%zu]", at, *ret_count);
        int n = spec_check_members(r, json, KERNEL_SPEC_LAUNCH_STEP_MEMBERS, holder);
        n = n < 0 ? n : spec_read_launch(r, *ret + *ret_count, json, path);
        n = n < 0 ? n : spec_need_launch(r, json, path);
        if (n < 0) {
            ++*ret_count; /* what it holds is freed */
            return n;
        }
    }
    return 0;
}

/* Used if a list of launches replaces the members of one. */
static int refuse_launch(struct spec_reader *r, const json_t *json, const char *at) {
    static const char *const members[] = {"kernel", "launch", "args"};
    for (size_t i = 0; i < ARRAY_LEN(members); i++) {
        if (json_object_get(json, members[i])) {
            return err_set(r->err, -EINVAL,
                           "%s%s: \"launches\" replaces it; each of them has its own", at,
                           members[i]);
        }
    }
    return 0;
}

int spec_read_launches(struct spec_reader *r, const json_t *json, const char *at,
                       struct spec_launch **ret, size_t *ret_count) {
    const json_t *list = json_object_get(json, "launches");
    if (!list) {
        *ret = xcalloc(1, sizeof **ret);
        *ret_count = 1;
        return spec_read_launch(r, *ret, json, at);
    }
    char path[64];
    snprintf(path, sizeof path, "%slaunches", at);
    int n = refuse_launch(r, json, at);
    return n < 0 ? n : read_list(r, list, path, ret, ret_count);
}
