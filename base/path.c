/* Paths as text, and where things of this user and this program are. */
#include "base/buf.h"
#include "base/file.h"

#include <limits.h>
#include <unistd.h>

char *path_join(const char *dir, const char *name) {
    size_t len = strlen(dir);
    if (name[0] == '/' || !len) {
        return xstrdup(name);
    }
    return xasprintf("%s%s%s", dir, dir[len - 1] == '/' ? "" : "/", name);
}

/* Removes the last component, unless there is none or it is "..", which stays. */
static bool drop_last(struct buf *out, bool absolute) {
    size_t at = out->len;
    while (at && out->data[at - 1] != '/') {
        at--;
    }
    if (at == out->len || strcmp(out->data + at, "..") == 0) {
        return absolute; /* "/.." is "/" */
    }
    out->len = at > 1 || (at == 1 && !absolute) ? at - 1 : at;
    out->data[out->len] = '\0';
    return true;
}

static void add_component(struct buf *out, const char *s, size_t len) {
    if (out->len && out->data[out->len - 1] != '/') {
        buf_addc(out, '/');
    }
    buf_add(out, s, len);
}

char *path_normalize(const char *path) {
    bool absolute = path[0] == '/';
    autobuf out = BUF_INIT(SIZE_MAX / 4);
    if (absolute) {
        buf_addc(&out, '/');
    }
    for (const char *s = path + strspn(path, "/"); *s;) {
        size_t len = strcspn(s, "/");
        bool up = len == 2 && s[0] == '.' && s[1] == '.';
        bool here = len == 1 && s[0] == '.';
        if (!here && !(up && drop_last(&out, absolute))) {
            add_component(&out, s, len);
        }
        s += len;
        s += strspn(s, "/");
    }
    if (!out.len) {
        buf_addc(&out, '.');
    }
    return buf_detach(&out);
}

bool path_is_beneath(const char *path, const char *dir) {
    size_t len = strlen(dir);
    while (len && dir[len - 1] == '/') {
        len--;
    }
    return strncmp(path, dir, len) == 0 && (path[len] == '/' || path[len] == '\0');
}

char *path_relative(const char *path, const char *dir) {
    autobuf out = BUF_INIT(SIZE_MAX / 4);
    autofree char *up = xstrdup(dir);
    while (up[0] && !path_is_beneath(path, up)) {
        *strrchr(up, '/') = '\0';
        buf_adds(&out, out.len ? "/.." : "..");
    }
    const char *rest = path + strlen(up) + (path[strlen(up)] == '/');
    if (!up[0]) {
        return xstrdup(path);
    }
    buf_addf(&out, "%s%s", out.len && *rest ? "/" : "", *rest || out.len ? rest : ".");
    return buf_detach(&out);
}

bool path_leads_out(const char *path) {
    autofree char *normal = path_normalize(path);
    return *normal == '/' || strcmp(normal, "..") == 0 || strncmp(normal, "../", 3) == 0;
}

const char *path_basename(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

char *path_folder(const char *path) {
    size_t len = (size_t)(path_basename(path) - path);
    return xstrndup(path, len > 1 ? len - 1 : len);
}

/* The specification has relative values ignored. */
char *path_resolve(const char *dir, const char *name) {
    autofree char *joined = path_join(dir, name);
    return path_normalize(joined);
}

static char *xdg_dir(const char *variable, const char *fallback) {
    const char *value = getenv(variable);
    if (value && value[0] == '/') {
        return path_join(value, "upskilld");
    }
    const char *home = getenv("HOME");
    if (!home || home[0] != '/') {
        return NULL;
    }
    return xasprintf("%s/%s/upskilld", home[1] ? home : "", fallback);
}

char *xdg_config_dir(void) {
    return xdg_dir("XDG_CONFIG_HOME", ".config");
}

char *xdg_state_dir(void) {
    return xdg_dir("XDG_STATE_HOME", ".local/state");
}

char *xdg_data_dir(void) {
    return xdg_dir("XDG_DATA_HOME", ".local/share");
}

char *xdg_cache_dir(void) {
    return xdg_dir("XDG_CACHE_HOME", ".cache");
}

char *program_folder(void) {
    char path[PATH_MAX];
    ssize_t len = readlink("/proc/self/exe", path, sizeof path);
    const char *slash = len > 0 ? memrchr(path, '/', (size_t)len) : NULL;
    return slash ? xstrndup(path, (size_t)(slash - path)) : NULL;
}

char *beside_program(const char *const *places, size_t count, int mode) {
    autofree char *folder = program_folder();
    for (size_t i = 0; folder && i < count; i++) {
        autofree char *path = path_resolve(folder, places[i]);
        if (access(path, mode) == 0) {
            return take(path);
        }
    }
    return NULL;
}
