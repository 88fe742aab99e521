#include "gpu/runtime/report.h"

#include "base/buf.h"
#include "base/file.h"
#include "base/text.h"
#include "gpu/facts/kernel_index.h"
#include "gpu/runtime/run_report.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#define OWN_IDS UINT64_C(1000000) /* findings of kernels have smaller numbers */

static struct {
    pthread_mutex_t lock;
    int fd;
    char *path;
    dev_t device; /* of what fd was opened for */
    ino_t inode;
    size_t bytes;
    unsigned lines;
    uint64_t id;
    pid_t pid; /* a child of fork has no say */
} report = {.lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1, .id = OWN_IDS};

static void file_open(void) {
    report.fd = open(report.path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

/* Whether fd is still the report: programs close descriptors that they did not open, and
 * get the number again for files of their own. */
static bool is_report(void) {
    struct stat now;
    return report.fd >= 0 && !fstat(report.fd, &now) && now.st_dev == report.device &&
           now.st_ino == report.inode;
}

/* For a signal's handler as well. */
static bool report_ready(void) {
    if (report.path && !is_report()) {
        file_open();
        if (report.fd >= 0 && !is_report()) {
            close(report.fd);
            report.fd = -1;
        }
    }
    return report.fd >= 0;
}

void report_open(void) {
    const char *path = getenv(RUN_REPORT_VARIABLE);
    struct stat now;
    report.pid = getpid();
    if (path && *path) {
        report.path = xstrdup(path);
        file_open();
    }
    if (report.fd >= 0 && !fstat(report.fd, &now)) {
        report.device = now.st_dev;
        report.inode = now.st_ino;
    }
    json_t *begin = report_event("begin", 0, NULL);
    json_object_set_new(begin, "pid", json_integer(report.pid));
    json_object_set_new(begin, "version", json_integer(RUN_REPORT_VERSION));
    report_line(begin);
}

bool report_has_reader(void) {
    return report.fd >= 0;
}

/* of findings of the library */
static uint64_t report_next_id(void) {
    return __atomic_add_fetch(&report.id, 1, __ATOMIC_RELAXED);
}

/* As it stands: for a signal's handler. */
static void report_raw(const char *line, size_t len) {
    if (getpid() == report.pid && report_ready()) {
        (void)file_write_all(report.fd, line, len);
    }
}

static void line_write(const char *text, size_t len) {
    static const char full[] =
        "{\"event\": \"limit\", \"which\": \"lines\", \"message\": \"The report is full: "
        "the rest is left out\"}\n";
    pthread_mutex_lock(&report.lock);
    bool over = report.lines >= RUN_REPORT_MAX_LINES ||
                report.bytes + len > RUN_REPORT_MAX_BYTES - sizeof full;
    if (!over) {
        report.lines++;
        report.bytes += len;
        report_raw(text, len);
    } else if (report.lines != UINT32_MAX) {
        report.lines = UINT32_MAX;
        report_raw(full, sizeof full - 1);
    }
    pthread_mutex_unlock(&report.lock);
}

/* The end of a program always has room. */
static bool is_last(const json_t *event) {
    return json_says(event, "event", "end");
}

void report_line(json_t *event) {
    autobuf line = BUF_INIT(1u << 20);
    if (report.fd >= 0 && json_write(&line, event) == 0 && buf_addc(&line, '\n') == 0) {
        if (is_last(event)) {
            report_raw(line.data, line.len);
        } else {
            line_write(line.data, line.len);
        }
    }
    json_decref(event);
}

json_t *report_event(const char *name, uint64_t id, const struct host_site *site) {
    json_t *event = json_object();
    json_object_set_new(event, "event", json_string(name));
    if (id) {
        json_object_set_new(event, "id", json_integer((json_int_t)id));
    }
    if (site) {
        json_object_set_new(event, "host", host_site_json(site));
    }
    return event;
}

static json_t *finding_event(const char *code, const char *severity,
                             const struct host_site *site, const char *text) {
    json_t *finding = json_object();
    json_object_set_new(finding, "source", json_string("run"));
    json_object_set_new(finding, "code", json_string(code));
    json_object_set_new(finding, "severity", json_string(severity));
    json_object_set_new(finding, "message", json_clean_z(text));
    json_t *event = report_event("finding", report_next_id(), site);
    json_object_set_new(event, "finding", finding);
    if (report.fd < 0) {
        (void)fprintf(stderr, "libcudart: %s: %s [%s]\n", severity, text, code);
    }
    return event;
}

static void finding_report(const char *code, const char *severity,
                           const struct host_site *site, const struct report_other *other,
                           const char *text) {
    json_t *event = finding_event(code, severity, site, text);
    if (other) {
        json_object_set_new(event, "other_host", host_site_json(other->site));
        json_object_set_new(event, "other", json_string(other->what));
    }
    if (other && other->more) {
        json_object_set_new(event, "third_host", host_site_json(other->more->site));
        json_object_set_new(event, "third", json_string(other->more->what));
    }
    report_line(event);
}

void report_unset_constant(const char *symbol, const char *kernel,
                           const struct host_site *site) {
    if (!report_has_reader()) {
        return; /* nobody looks at the source */
    }
    autofree char *name = kernel_name_new(symbol), *of = kernel_name_new(kernel);
    const char *last = strrchr(name, ':');
    last = last ? last + 1 : name;
    autofree char *text = xasprintf(
        "%.200s reads the __constant__ variable %.200s, which nothing has set: its "
        "declaration has no initialiser, and no cudaMemcpyToSymbol or "
        "cudaGetSymbolAddress for it stands in front of this launch. It is zero",
        of, last);
    json_t *event = finding_event("unset_constant", "warning", site, text);
    json_object_set_new(event, "constant", json_clean_z(last));
    report_line(event);
}

void report_finding(const char *code, const struct host_site *site, const char *fmt,
                    ...) {
    char text[1024];
    text_format(text, fmt);
    finding_report(code, "error", site, NULL, text);
}

/* Any thread. At most so many are told. */
#define BETWEEN_MAX 64

static bool between_is_told(const struct host_site *site, const struct host_site *other) {
    static struct host_site told[BETWEEN_MAX][2];
    static unsigned count;
    pthread_mutex_lock(&report.lock);
    unsigned k = 0;
    while (k < count &&
           !(host_site_same(&told[k][0], site) && host_site_same(&told[k][1], other))) {
        k++;
    }
    bool is = k < count || count == BETWEEN_MAX;
    if (!is) {
        told[count][0] = *site;
        told[count++][1] = *other;
    }
    pthread_mutex_unlock(&report.lock);
    return is;
}

void report_finding_between(const char *code, const struct host_site *site,
                            const struct report_other *other, const char *fmt, ...) {
    char text[1024];
    if (between_is_told(site, other ? other->site : site)) {
        return;
    }
    text_format(text, fmt);
    finding_report(code, "error", site, other, text);
}

void report_warning_between(const char *code, const struct host_site *site,
                            const struct report_other *other, const char *fmt, ...) {
    char text[1024];
    if (between_is_told(site, other ? other->site : site)) {
        return;
    }
    text_format(text, fmt);
    finding_report(code, "warning", site, other, text);
}
