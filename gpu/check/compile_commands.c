#include "gpu/check/compile_commands.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/find.h"
#include "base/shell_words.h"

#include <sys/stat.h>

#define MOST_ENTRIES 200000
#define MOST_SOURCES 200 /* that are looked into for who includes a header */

struct entry {
    char *file; /* absolute and normalised */
    size_t at;  /* in the text: the entry's { */
};

struct compile_commands {
    char *path; /* absolute; NULL: nothing was read */
    struct stat stat;
    struct buf text;
    struct entry *entries;
    size_t count, capacity;
    struct err fault; /* code 0: the text is a list */
    size_t place;     /* of the entry that is read, from 1 */
    struct compile_commands_left left;
    struct err left_why;
};

struct compile_commands *compile_commands_new(void) {
    struct compile_commands *c = xcalloc(1, sizeof *c);
    c->text = BUF_INIT(COMPILE_COMMANDS_MAX);
    return c;
}

static void forget(struct compile_commands *c) {
    for (size_t i = 0; i < c->count; i++) {
        free(c->entries[i].file);
    }
    free(c->entries);
    free(c->path);
    buf_finish(&c->text);
    *c = (struct compile_commands){.text = BUF_INIT(COMPILE_COMMANDS_MAX)};
}

void compile_commands_free(struct compile_commands *c) {
    if (c) {
        forget(c);
        free(c);
    }
}

/* --- reading --- */

static size_t skip_blanks(const struct buf *text, size_t at) {
    return at + strspn(text->data + at, " \t\r\n");
}

/* The entry at *at, which is advanced past it. New reference; NULL with err. */
static json_t *entry_parse(const struct compile_commands *c, size_t *at,
                           struct err *err) {
    json_error_t error;
    json_t *entry =
        json_loadb(c->text.data + *at, c->text.len - *at, JSON_DISABLE_EOF_CHECK, &error);
    if (!entry) {
        err_set(err, -EBADMSG, "byte %zu: %s", *at + (size_t)error.position, error.text);
        return NULL;
    }
    *at += (size_t)error.position;
    return entry;
}

static char *folder_of_entry(const struct compile_commands *c, const json_t *entry) {
    autofree char *own = xstrndup(c->path, (size_t)(path_basename(c->path) - c->path));
    return path_resolve(own, json_get_string(entry, "directory", ""));
}

/* The rest works. */
static void leave_out(struct compile_commands *c, const char *why) {
    if (!c->left.count++) {
        c->left.first = c->place;
        err_set(&c->left_why, -EBADMSG, "%s", why);
    }
}

static void entry_add(struct compile_commands *c, size_t at, const json_t *entry) {
    const char *file = json_get_string(entry, "file", NULL);
    bool says_how = json_is_array(json_object_get(entry, "arguments")) ||
                    json_is_string(json_object_get(entry, "command"));
    file = says_how ? file : NULL;
    if (!file || c->count == MOST_ENTRIES) {
        leave_out(c, file ? "there are too many"
                          : "it is not {\"directory\", \"file\", \"command\"}");
        return;
    }
    list_room(c->entries, c->count, c->capacity, 64);
    autofree char *folder = folder_of_entry(c, entry);
    c->entries[c->count++] = (struct entry){path_resolve(folder, file), at};
}

/* The offset after the { … } at a place, or the text's end. */
static size_t behind_braces(const char *text, size_t at) {
    int depth = 0;
    for (bool quoted = false; text[at]; at++) {
        if (quoted && text[at] == '\\' && text[at + 1]) {
            at++;
        } else if (text[at] == '"') {
            quoted = !quoted;
        } else if (!quoted) {
            depth += (text[at] == '{') - (text[at] == '}');
            if (text[at] == '}' && depth <= 0) {
                return at + 1;
            }
        }
    }
    return at;
}

/* The places of all entries. */
static void index_read(struct compile_commands *c) {
    const char *text = c->text.data;
    size_t at = skip_blanks(&c->text, 0);
    if (text[at] != '[') {
        err_set(&c->fault, -EBADMSG, "it is not a list");
        return;
    }
    at = skip_blanks(&c->text, at + 1);
    for (c->place = 1; text[at] && text[at] != ']'; c->place++) {
        struct err why = {0};
        size_t start = at;
        autojson *entry = entry_parse(c, &at, &why);
        if (entry) {
            entry_add(c, start, entry);
        } else {
            leave_out(c, why.msg);
            at = behind_braces(text, start);
        }
        at = skip_blanks(&c->text, at);
        if (entry && text[at] && text[at] != ',' && text[at] != ']') {
            leave_out(c, "a comma or ] is expected after it");
        }
        at = skip_blanks(&c->text, at + (text[at] == ','));
    }
    if (text[at] != ']') {
        leave_out(c, "the list does not end");
    }
}

static bool is_same(const struct compile_commands *c, const char *path,
                    const struct stat *now) {
    const struct stat *then = &c->stat;
    return c->path && strcmp(c->path, path) == 0 && then->st_ino == now->st_ino &&
           then->st_dev == now->st_dev && then->st_size == now->st_size &&
           then->st_mtim.tv_sec == now->st_mtim.tv_sec &&
           then->st_mtim.tv_nsec == now->st_mtim.tv_nsec;
}

int compile_commands_load(struct compile_commands *c, const struct root *root,
                          const char *rel, struct err *err) {
    autofree char *path = path_join(root->path, rel);
    struct stat now = {0};
    if (stat(path, &now) < 0) {
        return err_set(err, -errno, "%s", strerror(errno));
    }
    if (!is_same(c, path, &now)) {
        forget(c);
        int rc = root_read(root, rel, &c->text, err);
        if (rc < 0) {
            forget(c);
            return rc;
        }
        c->path = xstrdup(path);
        c->stat = now;
        index_read(c);
    }
    return c->fault.code ? err_set(err, c->fault.code, "%s", c->fault.msg) : 0;
}

const struct compile_commands_left *
compile_commands_left_out(struct compile_commands *c) {
    c->left.why = c->left_why.msg;
    return &c->left;
}

/* --- finding --- */

void compile_command_finish(struct compile_command *command) {
    free(command->file);
    free(command->folder);
    json_decref(command->words);
}

static bool is_cuda(const char *path) {
    size_t len = strlen(path);
    return len > 3 && strcmp(path + len - 3, ".cu") == 0;
}

static const struct entry *entry_of(const struct compile_commands *c, const char *file) {
    return list_find(one, c->entries, c->count, strcmp(one->file, file) == 0);
}

static const struct entry *includer_of(const struct compile_commands *c,
                                       const char *header,
                                       compile_commands_includes *includes, void *data) {
    size_t looked = 0;
    for (size_t i = 0; i < c->count && looked < MOST_SOURCES; i++) {
        const char *file = c->entries[i].file;
        if (is_cuda(file)) {
            looked++;
            if (includes(file, header, data)) {
                return &c->entries[i];
            }
        }
    }
    return NULL;
}

/* How many folders two paths begin with together. */
static size_t shared_folders(const char *a, const char *b) {
    size_t count = 0;
    for (; *a && *a == *b; a++, b++) {
        count += *a == '/';
    }
    return count;
}

static const struct entry *nearest_to(const struct compile_commands *c,
                                      const char *file) {
    const struct entry *best = NULL;
    size_t most = 0;
    for (size_t i = 0; i < c->count; i++) {
        size_t shared = shared_folders(c->entries[i].file, file);
        if (is_cuda(c->entries[i].file) && shared > most) {
            most = shared;
            best = &c->entries[i];
        }
    }
    return best;
}

static json_t *words_of(const json_t *entry) {
    json_t *arguments = json_object_get(entry, "arguments");
    const char *command = json_get_string(entry, "command", NULL);
    json_t *words = json_is_array(arguments) ? json_copy(arguments)
                    : command                ? shell_words(command)
                                             : json_array();
    json_array_remove(words, 0); /* NULL: nothing happens */
    return words;
}

bool compile_commands_find(const struct compile_commands *c, const char *file,
                           compile_commands_includes *includes, void *data,
                           struct compile_command *ret) {
    const struct entry *found = entry_of(c, file);
    found = found || is_cuda(file) ? found : includer_of(c, file, includes, data);
    found = found ? found : nearest_to(c, file);
    size_t at = found ? found->at : 0;
    autojson *entry = found ? entry_parse(c, &at, NULL) : NULL;
    if (!entry) {
        return false;
    }
    *ret = (struct compile_command){.file = xstrdup(found->file),
                                    .folder = folder_of_entry(c, entry),
                                    .words = words_of(entry)};
    return true;
}
