#include "gpu/program/program_save.h"

#include "base/err.h"
#include "base/file.h"
#include "gpu/spec/spec_npy.h"

/* The root that the folder is beneath; NULL: none. *ret_folder: normalised. */
static const char *root_of(const char *dir, const char *const *roots, char **ret_folder) {
    *ret_folder = path_resolve(roots && *roots ? *roots : "", dir);
    for (; roots && *roots; roots++) {
        if (path_is_beneath(*ret_folder, *roots)) {
            return *roots;
        }
    }
    return NULL;
}

/* The name is the worker's: no way leads out of the root (root_write), and none out of
 * the folder. */
static int save_one(const struct root *root, const char *folder, json_t *file,
                    struct err *err) {
    size_t len;
    const char *name = json_get_string(file, "name", "");
    autofree char *plain = path_normalize(name);
    if (!*name || plain[0] == '/' || !strncmp(plain, "..", 2)) {
        return err_set(err, -EINVAL, "a file's name leads out of the program's folder");
    }
    autofree char *path = path_join(folder, plain);
    autofree unsigned char *bytes =
        spec_array_decode(json_object_get(file, "data"), &len);
    if (!bytes) {
        return err_set(err, -EFBIG, "%s: more than 8 MiB in all are not saved", plain);
    }
    const char *rel = path + strlen(root->path);
    int r = root_write(root, rel + strspn(rel, "/"), bytes, len, 0644, err);
    if (r == 0) {
        json_object_set_new(file, "path", json_clean_z(path));
    }
    return r;
}

json_t *program_save(json_t *files, const char *dir, const char *const *roots) {
    struct root root;
    struct err err = {0};
    json_int_t count = 0;
    autofree char *folder = NULL;
    const char *beneath = root_of(dir, roots, &folder);
    int r = !beneath ? err_set(&err, -EACCES,
                               "%s is outside the folders this daemon may use", dir)
                     : root_open(&root, beneath, &err);
    bool open = r == 0;
    json_each(files, i, file) {
        int one = open ? save_one(&root, folder, file, r < 0 ? NULL : &err) : r;
        count += one == 0;
        r = r < 0 ? r : one;
        json_object_del(file, "data");
    }
    if (open) {
        root_close(&root);
    }
    json_t *saved = json_pack("{s:o, s:I}", "dir", json_clean_z(folder), "files", count);
    if (r < 0) {
        json_object_set_new(saved, "error", json_clean_z(err.msg));
    }
    return saved;
}
