#include "gpu/runtime/api_errors.h"

#include "base/find.h"
#include "gpu/runtime/api.h"
#include "gpu/runtime/report.h"

struct runtime_error {
    const char *name, *words;
    cudart_error code;
};
#include "gpu/runtime/errors_table.h"

#define KEPT_MAX 200
#define LATER_MAX 4 /* calls that failed for the reason that lasts, kept by their place */

static struct {
    pthread_mutex_t lock;
    struct api_failure {
        const char *function;
        cudart_error code;
        struct host_site site;
        uint64_t count, later; /* later: calls that failed for the same reason */
        bool looked_at;
        char why[256];
    } items[KEPT_MAX];
    unsigned count;
} failures = {.lock = PTHREAD_MUTEX_INITIALIZER};

static __thread struct api_failure *latest;
static __thread struct host_site place; /* of the next failure; count 0: none */
static struct api_failure *lasting;     /* the first one of the queue's error */
static struct later {
    const char *function;
    struct host_site site;
} laters[LATER_MAX]; /* that failed because of it */
static unsigned later_count;

/* ---- words ---- */

static const struct runtime_error *error_find(cudart_error code) {
    const struct runtime_error *e = runtime_errors;
    while (e->name && e->code != code) {
        e++;
    }
    return e->name ? e : NULL;
}

const char *api_error_name(cudart_error code) {
    const struct runtime_error *e = error_find(code);
    return e ? e->name : "cudaErrorUnknown";
}

static const char *api_error_words(cudart_error code) {
    const struct runtime_error *e = error_find(code);
    return e && *e->words ? e->words : e ? e->name : "unrecognized error code";
}

/* Whoever has an error put into words has looked at it. */
static void asked_of(cudart_error code) {
    if (code != CUDART_SUCCESS) {
        api_error_looked_at();
    }
}

EXPORT const char *cudaGetErrorName(cudart_error code) {
    asked_of(code);
    const struct runtime_error *e = error_find(code);
    return e ? e->name : "unrecognized error code";
}

EXPORT const char *cudaGetErrorString(cudart_error code) {
    asked_of(code);
    return api_error_words(code);
}

/* ---- what failed ---- */

static json_t *laters_json(void) {
    return json_list(k, 0, later_count,
                     json_pack("{s:s, s:o}", "function", laters[k].function, "host",
                               host_site_json(&laters[k].site)));
}

static void failure_tell(const struct api_failure *f, uint64_t id) {
    json_t *event = report_event("api_error", id, &f->site);
    json_object_set_new(event, "function", json_string(f->function));
    json_object_set_new(event, "error", json_string(api_error_name(f->code)));
    json_object_set_new(event, "code", json_integer(f->code));
    json_object_set_new(event, "count", json_integer((json_int_t)f->count));
    json_object_set_new(event, "looked_at", json_boolean(f->looked_at));
    if (f->later) {
        json_object_set_new(event, "later", json_integer((json_int_t)f->later));
        json_object_set_new(event, "later_calls", laters_json());
    }
    if (f->why[0]) {
        json_object_set_new(event, "message", json_clean_z(f->why));
    }
    report_line(event);
}

void api_error_place(const struct host_site *site) {
    place = *site;
}

static void later_keep(const char *function, const struct host_site *site) {
    if (later_count < LATER_MAX &&
        !list_any(l, laters, later_count, host_site_same(&l->site, site))) {
        laters[later_count++] = (struct later){function, *site};
    }
}

/* After a kernel's fault every call fails: that is one failure. */
static bool is_consequence(const char *function, cudart_error code,
                           const struct host_site *site) {
    if (lasting && lasting->code == code) {
        lasting->later++;
        later_keep(function, site);
        latest = lasting;
        return true;
    }
    return false;
}

void api_error_note(const char *function, cudart_error code, const char *why,
                    bool lasts) {
    struct host_site site = place;
    place.count = 0;
    if (!site.count) {
        host_site_take(&site);
    }
    pthread_mutex_lock(&failures.lock);
    if (lasts && is_consequence(function, code, &site)) {
        pthread_mutex_unlock(&failures.lock);
        return;
    }
    struct api_failure *f = failures.items, *end = f + failures.count;
    while (f < end && (f->function != function || f->code != code ||
                       !host_site_same(&f->site, &site))) {
        f++;
    }
    if (f < end) {
        f->count++;
        latest = f;
    } else if (failures.count < KEPT_MAX) {
        *f = (struct api_failure){function, code, site, 1, 0, false, ""};
        if (lasts) {
            lasting = f;
        }
        (void)snprintf(f->why, sizeof f->why, "%s", why);
        latest = f;
        failure_tell(f, ++failures.count);
    }
    pthread_mutex_unlock(&failures.lock);
}

void api_error_looked_at(void) {
    pthread_mutex_lock(&failures.lock);
    if (latest) {
        latest->looked_at = true;
    }
    pthread_mutex_unlock(&failures.lock);
}

void api_errors_tell(void) {
    pthread_mutex_lock(&failures.lock);
    list_each(k, f, failures.items, failures.count) {
        failure_tell(f, k + 1u);
        if (!report_has_reader()) {
            (void)fprintf(stderr, "libcudart: %s failed %llu times: %s%s%s\n",
                          f->function, (unsigned long long)f->count,
                          api_error_name(f->code), f->why[0] ? ": " : "", f->why);
        }
    }
    pthread_mutex_unlock(&failures.lock);
}
