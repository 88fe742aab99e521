/* What teachers and servers answer: drafts with files, tests, pages, redirects; and data
 * between markers. */
#include "base/buf.h"
#include "base/err.h"
#include "base/link.h"
#include "base/mem.h"
#include "skills/generation/draft_files.h"
#include "skills/generation/draft_text.h"
#include "skills/generation/page_text.h"
#include "skills/generation/teacher_prompts.h"
#include "skills/generation/teacher_tests.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good) {
    if (!good) {
        abort();
    }
}

static void read_draft(const char *text, size_t len) {
    struct skill_draft d;
    struct err err = {0};
    if (draft_text_read(&d, text, len, NULL, NULL, &err) < 0) {
        check(err.msg[0] != '\0');
        return;
    }
    struct skill_text t;
    skill_text_read(&t, d.text, strlen(d.text));
    check(t.name && strcmp(t.name, d.name) == 0 && skill_name_is_valid(d.name));
    check(!json_object_get(t.frontmatter, "allowed-tools"));
    skill_text_finish(&t);
    const char *path;
    json_t *file;
    json_object_foreach(d.files, path, file) {
        check(strncmp(path, "references/", 11) == 0 && !strchr(path + 11, '/'));
    }
    check(json_object_size(d.files) <= DRAFT_MAX_FILES);
    free(draft_foreign_host(d.text, "a.org"));
    skill_draft_finish(&d);
}

static void read_page(const char *text, size_t len) {
    autobuf out = BUF_INIT(64u << 10);
    page_text(&out, text, len);
    check(strlen(out.data) == out.len || memchr(out.data, '\0', out.len));
    check(!memchr(out.data, '\0', out.len));
}

static void follow(const char *text) {
    char *url = link_resolve("https://a.org/b/c?d", text, NULL);
    check(!url || link_check(url, NULL) == 0);
    free(url);
    autofree char *name = link_name(text);
    check(strspn(name,
                 "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-") ==
          strlen(name));
}

/* The end stands once, and at the end. */
static void wrap(const char *text, size_t len) {
    autobuf out = BUF_INIT(4u << 20);
    teacher_data(&out, "X", text, text, len);
    char end[30] = {0};
    check(out.len > 24 && memcmp(out.data, "<<<X-DATA-", 10) == 0);
    memcpy(end, out.data + 3, 23);
    strcat(end, ">>>");
    const char *at = strstr(out.data, end);
    check(at && strcmp(at + strlen(end), "\n") == 0);
}

static void read_test(char *text, size_t len) {
    autojson *value = json_parse(text, len, NULL);
    struct err err = {0};
    autojson *test =
        json_is_object(value) && json_is_string(json_object_get(value, "input"))
            ? teacher_test_read(value, &err)
            : NULL;
    autojson *kept = test ? teacher_test_check(test, "t1", &err) : NULL;
    if (kept) {
        autojson *again = teacher_test_check(kept, "t1", &err);
        check(json_equal(again, kept));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    autofree char *text = xmalloc(size + 1);
    memcpy(text, size ? (const char *)data : "", size);
    text[size] = '\0';
    read_draft(text, size);
    read_page(text, size);
    follow(text);
    wrap(text, size);
    read_test(text, size);
    return 0;
}
