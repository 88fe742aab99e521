/* The files of a batch, 0xff between them: meta.json, evaluation.json, cells.jsonl,
 * run_1/run_result.json. The batch is read, listed, and written in every format. */
#include "base/buf.h"
#include "base/file.h"
#include "skills/runs/run_html.h"
#include "skills/runs/run_list.h"
#include "skills/runs/run_read.h"
#include "skills/runs/run_report.h"
#include "skills/runs/run_table.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const files[] = {"b/meta.json", "b/evaluation.json", "b/cells.jsonl",
                                    "b/run_1/run_result.json"};

static void check(bool good) {
    if (!good) {
        abort();
    }
}

static void remove_folder(void);
static struct root folder;

static const struct root *make_folder(void) {
    static char path[] = "/tmp/fuzz-run-XXXXXX";
    if (!folder.path) {
        check(mkdtemp(path) != NULL && root_open(&folder, path, NULL) == 0);
        check(mkdirat(folder.fd, "b", 0700) == 0);
        check(mkdirat(folder.fd, "b/run_1", 0700) == 0);
        atexit(remove_folder);
    }
    return &folder;
}

static void remove_folder(void) {
    dir_remove(folder.path, NULL);
    root_close(&folder);
}

/* An empty part is no file. */
static void put(const struct root *root, const char *name, const void *bytes,
                size_t len) {
    unlinkat(root->fd, name, 0);
    if (len) {
        int fd = openat(root->fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        check(fd >= 0 && file_write_all(fd, bytes, len) == 0);
        close(fd);
    }
}

/* No texts of the batch become markup. */
static void check_html(const char *html) {
    static const char *const never[] = {"<script", "<img",  "<a ",
                                        "<iframe", "<link", "\x1b"};
    for (size_t i = 0; i < ARRAY_LEN(never); i++) {
        check(strstr(html, never[i]) == NULL);
    }
}

static void write_all(json_t *batch) {
    autobuf html = BUF_INIT(1u << 24), csv = BUF_INIT(1u << 24),
            words = BUF_INIT(1u << 24);
    json_object_set_new(batch, "rows", run_rows(batch));
    if (run_html_write(&html, batch) == 0) {
        check_html(html.data);
    }
    run_table_write(&csv, batch);
    run_show_describe(batch, &words);
    check(strchr(words.data, 0x1b) == NULL && strchr(csv.data, 0x1b) == NULL);
    autofree char *json = json_dumps(batch, 0);
    check(json != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const struct root *root = make_folder();
    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        const uint8_t *cut = size ? memchr(data, 0xff, size) : NULL;
        size_t len = cut ? (size_t)(cut - data) : size;
        put(root, files[i], data, len);
        data = cut ? cut + 1 : data + len;
        size -= len + (cut != NULL);
    }
    autojson *batch = run_read(root, "b", 1u << 20, NULL);
    if (batch) {
        write_all(batch);
    }
    autojson *list = run_list(root, NULL, NULL, 50);
    autobuf words = BUF_INIT(1u << 24);
    run_list_describe(list, &words);
    check(strchr(words.data, 0x1b) == NULL);
    return 0;
}
