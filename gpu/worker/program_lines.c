#include "gpu/worker/program_lines.h"

#include "base/buf.h"

#define MAX_LINES_TEXT (8u << 20)

/* Where a line begins, from 1; the text's end if it has fewer. */
static const char *line_start(const struct source_file *file, long line) {
    const char *at = file->text, *end = file->text + file->len;
    while (--line > 0 && at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        at = newline ? newline + 1 : end;
    }
    return at;
}

/* nvcc gives a kernel a host function, which launches it, at the head of the kernel: what
 * that does was written where it was called. */
static bool is_head_of_kernel(const struct source_file *file, long line) {
    static const char word[] = "__global__";
    const char *begin = line_start(file, line), *end = line_start(file, line + 1);
    const char *last = NULL;
    for (const char *at = file->text;
         (at = memmem(at, (size_t)(end - at), word, strlen(word))); at++) {
        last = at;
    }
    while (last && last < begin && !strchr("{};", *last)) {
        last++;
    }
    return last && last >= begin;
}

/* "0x11c7" begins an address, "FILE:LINE" and perhaps " (discriminator 2)" follow it, the
 * innermost inlined first. */
static void line_read(const struct build_job *job, json_t *offsets, char *line,
                      char *name, size_t name_size) {
    if (!strncmp(line, "0x", 2)) {
        snprintf(name, name_size, "%llu", strtoull(line, NULL, 16));
        return;
    }
    char *colon = strrchr(line, ':');
    if (!colon || !json_is_null(json_object_get(offsets, name))) {
        return;
    }
    *colon = '\0';
    const struct source_file *file = program_source(line, &job->sources);
    long number = strtol(colon + 1, NULL, 10);
    if (file && number > 0 && !is_head_of_kernel(file, number)) {
        json_object_set_new(offsets, name,
                            json_pack("{s:o, s:I}", "file", json_clean_z(file->display),
                                      "line", (json_int_t)number));
    }
}

static void addresses_write(const json_t *offsets, struct buf *out) {
    size_t count = 0;
    json_each_member(offsets, name, unused) {
        (void)unused;
        if (count++ < PROGRAM_LINES_MAX) {
            buf_addf(out, "0x%llx\n", strtoull(name, NULL, 10));
        }
    }
}

void program_lines_find(const struct build_job *job, json_t *offsets) {
    static const char *const argv[] = {"/usr/bin/addr2line", "-a", "-i", "-e",
                                       "../out/program",     NULL};
    autobuf in = BUF_INIT(MAX_LINES_TEXT), out = BUF_INIT(MAX_LINES_TEXT);
    char name[32] = "";
    addresses_write(offsets, &in);
    if (!in.len || !program_tool_run(job, argv, in.data, &out)) {
        return;
    }
    for (char *at = out.data, *next; at && *at; at = next) {
        next = strchr(at, '\n');
        if (next) {
            *next++ = '\0';
        }
        line_read(job, offsets, at, name, sizeof name);
    }
}
