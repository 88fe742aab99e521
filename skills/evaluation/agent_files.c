#include "skills/evaluation/agent_files.h"

#include "base/buf.h"
#include "base/file.h"
#include "base/find.h"
#include "base/strings.h"
#include "base/text.h"
#include "skills/format/skill_files.h"

#include <fcntl.h>

#define SHOWN 64

/* The text of a file, or null; left: bytes that may still be read. */
static json_t *text_of(int folder, const struct skill_file *file, size_t *left) {
    size_t most = *left < AGENT_FILE_MAX ? *left : AGENT_FILE_MAX;
    autobuf text = BUF_INIT(most + 1);
    if (file->size > most || skill_read_beneath(folder, file->path, &text) < 0 ||
        text.len > most || !text_is_utf8(text.data, text.len) ||
        memchr(text.data, 0, text.len)) {
        return json_null();
    }
    *left -= text.len;
    return json_stringn(text.data, text.len);
}

/* Ours: the skill and the record of its installation beside it. */
static bool is_ours(const char *work, const char *skill, const char *path) {
    autofree char *whole = path_join(work, path);
    autofree char *around = skill ? path_join(skill, "..") : NULL;
    autofree char *parent = around ? path_normalize(around) : NULL;
    return skill && (path_is_beneath(whole, skill) ||
                     (path_is_beneath(whole, parent) &&
                      strncmp(path_basename(path), ".upskilld-", 10) == 0));
}

/* Files beyond a limit were not read. */
static bool is_cut(const json_t *problems) {
    static const char *const bounds[] = {"too_many_files", "too_many_bytes",
                                         "folder_too_deep", "file_unreadable", NULL};
    bool cut =
        json_any(problems, one, strings_have(bounds, json_get_string(one, "code", "")));
    return cut;
}

json_t *agent_files_read(const char *work, const char *skill) {
    autofd int fd = open(work, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    size_t left = AGENT_FILES_MAX;
    struct skill found = {0};
    autobuf unused = BUF_INIT(SKILL_MAX_TEXT);
    if (fd < 0) {
        return NULL;
    }
    json_t *files = json_object();
    found.problems = json_array();
    skill_files_read(&found, fd, false, &unused);
    list_each(i, file, found.files, found.file_count) {
        if (!is_ours(work, skill, file->path)) {
            json_object_set_new(files, file->path, text_of(fd, file, &left));
        }
    }
    if (is_cut(found.problems)) {
        json_object_set_new(files, "", json_null());
    }
    skill_finish(&found);
    return files;
}

json_t *agent_files_sizes(const json_t *files) {
    json_t *sizes = files ? json_object() : NULL;
    json_each_member(files, path, text) {
        if (*path && json_object_size(sizes) < SHOWN) {
            json_object_set_new(sizes, path,
                                json_is_string(text)
                                    ? json_integer((json_int_t)json_string_length(text))
                                    : json_null());
        }
    }
    return sizes;
}
