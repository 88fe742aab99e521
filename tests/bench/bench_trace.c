/* How fast traces are read and redacted, and in how much memory:
 *     bench_trace [MEGABYTES] [FOLDER]
 * Writes a session of Claude Code, a rollout of Codex, one whole-document trajectory, a
 * plain log and a file of a few giant lines into FOLDER (or /tmp), reads each in a
 * process of its own and removes it. */
#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "skills/traces/redaction.h"
#include "skills/traces/trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LINE_TEXT 3000 /* bytes of a command's output */

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static const char *output_of(size_t i) {
    static char text[LINE_TEXT + 64];
    size_t len = 0;
    while (len < LINE_TEXT) {
        len += (size_t)snprintf(text + len, sizeof text - len,
                                "src/kernel_%zu.cu(%zu): warning #177-D\\n", i, len);
    }
    return text;
}

static void write_claude(FILE *f, size_t i) {
    fprintf(
        f,
        "{\"parentUuid\":\"u%zu\",\"uuid\":\"c%zu\",\"sessionId\":\"s\",\"type\":"
        "\"assistant\",\"message\":{\"id\":\"m%zu\",\"content\":[{\"type\":\"tool_use\","
        "\"id\":\"t%zu\",\"name\":\"Bash\",\"input\":{\"command\":\"make -j8 "
        "k%zu\"}}]}}\n",
        i, i, i, i, i);
    fprintf(
        f,
        "{\"parentUuid\":\"c%zu\",\"uuid\":\"u%zu\",\"sessionId\":\"s\",\"type\":"
        "\"user\","
        "\"message\":{\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"t%zu\","
        "\"content\":\"%s\"}]},\"toolUseResult\":{\"stdout\":\"%s\"}}\n",
        i, i + 1, i, output_of(i), output_of(i));
}

static void write_codex(FILE *f, size_t i) {
    fprintf(
        f,
        "{\"type\":\"response_item\",\"payload\":{\"type\":\"function_call\",\"name\":"
        "\"shell\",\"call_id\":\"t%zu\",\"arguments\":\"{\\\"command\\\":[\\\"bash\\\","
        "\\\"-lc\\\",\\\"make k%zu\\\"]}\"}}\n",
        i, i);
    fprintf(
        f,
        "{\"type\":\"event_msg\",\"payload\":{\"type\":\"exec_command_end\",\"call_id\":"
        "\"t%zu\",\"aggregated_output\":\"%s\",\"exit_code\":0}}\n",
        i, output_of(i));
}

static void write_atif(FILE *f, size_t i) {
    fprintf(
        f,
        "%s{\"step_id\":%zu,\"source\":\"agent\",\"message\":\"\",\"tool_calls\":[{"
        "\"tool_call_id\":\"t%zu\",\"function_name\":\"bash\",\"arguments\":{\"command\":"
        "\"make\"}}],\"observation\":{\"results\":[{\"content\":\"%s\"}]}}",
        i ? ",\n" : "{\"schema_version\":\"ATIF-v1.7\",\"steps\":[", i + 1, i,
        output_of(i));
}

static void write_log(FILE *f, size_t i) {
    fprintf(f, "step %zu of the nightly build\nsrc/k%zu.cu: compiled\n\n", i, i);
}

static void write_giant(FILE *f, size_t i) { /* a picture of 40 MB in one line */
    fprintf(
        f,
        "{\"parentUuid\":null,\"uuid\":\"u%zu\",\"sessionId\":\"s\",\"type\":\"user\","
        "\"message\":{\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"t\","
        "\"content\":\"",
        i);
    for (size_t n = 0; n < (40u << 20); n += LINE_TEXT) {
        fputs(output_of(n), f);
    }
    fputs("\"}]}}\n", f);
}

static const struct {
    const char *name;
    void (*write)(FILE *f, size_t i);
    const char *end;
} cases[] = {
    {"claude-code", write_claude, ""},
    {"codex-rollout", write_codex, ""},
    {"atif", write_atif, "],\"agent\":{\"name\":\"x\"}}"},
    {"text", write_log, ""},
    {"giant lines", write_giant, ""},
};

static size_t redact(const struct trace *t, double *ret_seconds) {
    struct redaction *r = redaction_new(NULL);
    autobuf out = BUF_INIT(TRACE_MAX_KEPT);
    size_t bytes = 0;
    double begin = now();
    for (size_t i = 0; i < t->count; i++) {
        const struct trace_event *e = &t->events[i];
        buf_reset(&out);
        redaction_apply(r, &out, e->text ? e->text : "", e->text_len);
        bytes += e->text_len;
    }
    *ret_seconds = now() - begin;
    redaction_free(r);
    return bytes;
}

/* In a process of its own, so that its peak is its own. */
static void measure(const char *name, const char *path) {
    struct trace t;
    struct err err = {0};
    double begin = now(), seconds;
    int rc = trace_read(&t, path, &err);
    double read = now() - begin;
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    if (rc < 0) {
        printf("%-14s %s\n", name, err.msg);
        return;
    }
    size_t bytes = redact(&t, &seconds);
    printf("%-14s %8.1f MB %7.1f MB/s %7.1f MiB peak %8zu events %6" PRIu64
           " dropped %7.1f MB kept, redacted at %.1f MB/s\n",
           name, (double)t.bytes / 1e6, (double)t.bytes / 1e6 / read,
           (double)usage.ru_maxrss / 1024, t.count, t.dropped, (double)bytes / 1e6,
           (double)bytes / 1e6 / (seconds + 1e-9));
    trace_finish(&t);
}

static void run(size_t which, size_t megabytes, const char *folder) {
    autofree char *path = xasprintf("%s/bench_trace.%d", folder, (int)getpid());
    FILE *f = fopen(path, "w");
    if (!f) {
        perror(path);
        return;
    }
    for (size_t i = 0; (size_t)ftell(f) < megabytes * 1000000; i++) {
        cases[which].write(f, i);
    }
    fputs(cases[which].end, f);
    fclose(f);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        measure(cases[which].name, path);
        fflush(stdout);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    unlink(path);
}

int main(int argc, char **argv) {
    size_t megabytes = argc > 1 ? strtoul(argv[1], NULL, 10) : 500;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        run(i, megabytes ? megabytes : 1, argc > 2 ? argv[2] : "/tmp");
    }
    return 0;
}
