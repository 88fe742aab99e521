#include "clients/ctl/hook.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/json.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#define EVENT_MAX (64u << 20) /* it may hold the file before and after the edit */
#define KEPT_MAX (64u << 20)
#define ANSWER_MAX (16u << 10) /* of whole lines: more errors help no model */

static bool is_cuda(const char *path) {
    const char *end = path ? strrchr(path, '.') : NULL;
    return end && (strcmp(end, ".cu") == 0 || strcmp(end, ".cuh") == 0);
}

static int go_to(const char *folder, struct err *err) {
    return chdir(folder) ? err_set(err, -errno, "%s: %s", folder, strerror(errno)) : 0;
}

int hook_read(char **ret, struct err *err) {
    json_error_t error = {0};
    autobuf text = BUF_INIT(EVENT_MAX);
    int rc = file_read_stream(STDIN_FILENO, "standard input", &text, err);
    if (rc < 0) {
        return rc;
    }
    autojson *event = json_loadb(text.data, text.len, JSON_REJECT_DUPLICATES, &error);
    if (!event) {
        return err_set(err, -EBADMSG, "an event is expected on standard input: %s",
                       error.text);
    }
    const char *path = json_get_string(json_object_get(event, "toolArgs"), "path", NULL);
    rc = is_cuda(path) ? go_to(json_get_string(event, "cwd", "."), err) : 0;
    *ret = rc == 0 && is_cuda(path) ? xstrdup(path) : NULL;
    return rc;
}

int hook_keep_output(int *ret, struct err *err) {
    int kept = memfd_create("upskillctl", MFD_CLOEXEC);
    *ret = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    if (kept < 0 || *ret < 0 || dup2(kept, STDOUT_FILENO) < 0) {
        return err_set(err, -errno, "standard output: %s", strerror(errno));
    }
    close(kept);
    return 0;
}

static json_t *first_lines(const struct buf *text) {
    size_t len = text->len;
    if (len > ANSWER_MAX) {
        const char *end = memrchr(text->data, '\n', ANSWER_MAX);
        len = end ? (size_t)(end - text->data) : ANSWER_MAX;
    }
    return json_text(text->data, len);
}

int hook_answer(int output, bool tell, struct err *err) {
    autobuf text = BUF_INIT(KEPT_MAX);
    fflush(stdout);
    lseek(STDOUT_FILENO, 0, SEEK_SET);
    int rc = file_read_stream(STDOUT_FILENO, "the answer", &text, err);
    dup2(output, STDOUT_FILENO);
    close(output);
    if (rc == 0 && tell && strstr(text.data, ": error: ")) {
        json_t *answer = json_pack("{s:o}", "additionalContext", first_lines(&text));
        json_dumpf(answer, stdout, JSON_COMPACT);
        putchar('\n');
        json_decref(answer);
    }
    return rc;
}
