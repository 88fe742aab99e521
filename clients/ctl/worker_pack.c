/* upskillctl worker pack: worker and toolkit as one archive for another machine. */
#include "clients/ctl/worker_commands.h"

#include "base/buf.h"
#include "base/child.h"
#include "base/err.h"
#include "base/file.h"
#include "base/strings.h"
#include "clients/ctl/texts.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

/* What Debian 12, Ubuntu 22.04 and RHEL 9 have. */
#define GLIBC_MAJOR 2u
#define GLIBC_MINOR 34u

struct pack {
    const struct worker_command *command;
    char *stage; /* a folder of our own; its one folder is what is packed */
    char *folder, *name, *output;
    char *worker;       /* the program */
    char *root, *nvrtc; /* of the toolkit; NULL = without a compiler */
    struct utsname machine; /* this one's, whose program it is */
    struct strings libraries;
    unsigned glibc_major, glibc_minor; /* the oldest that it runs with */
};

/* --- programs that are run here --- */

struct running {
    struct buf out, error;
    struct child_end end;
};

static void on_out(struct child *, const char *bytes, size_t len, void *data) {
    buf_add(&((struct running *)data)->out, bytes, len);
}

static void on_error(struct child *, const char *bytes, size_t len, void *data) {
    buf_add(&((struct running *)data)->error, bytes, len);
}

static void on_end(struct child *, const struct child_end *end, void *data) {
    ((struct running *)data)->end = *end;
}

/* What it writes, or NULL. */
static char *run(const char *const *argv, const char *const *env, struct err *err) {
    struct running r = {.out = BUF_INIT(64u << 10), .error = BUF_INIT(64u << 10)};
    struct child_options options = {.argv = argv,
                                    .env = env,
                                    .out = on_out,
                                    .error = on_error,
                                    .end = on_end,
                                    .data = &r};
    struct child *child;
    uv_loop_t loop;
    uv_loop_init(&loop);
    int rc = child_start(&loop, &options, &child, err);
    uv_run(&loop, UV_RUN_DEFAULT);
    uv_loop_close(&loop);
    if (rc == 0 && r.end.exit_status != 0) {
        rc = err_set(err, -EIO, "%s failed: %.300s", argv[0], r.error.data);
    }
    char *said = rc < 0 ? NULL : buf_detach(&r.out);
    buf_finish(&r.out);
    buf_finish(&r.error);
    return said;
}

/* --- what goes in --- */

static int write_text(const struct pack *p, const char *name, const char *text,
                      mode_t mode, struct err *err) {
    autofree char *path = path_join(p->folder, name);
    autofd int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    int rc = fd < 0 ? -errno : file_write_all(fd, text, strlen(text));
    return rc < 0 ? err_set(err, rc, "%s: %s", path, strerror(-rc)) : 0;
}

/* Links, which tar follows: nothing is copied twice. */
static int link_file(const struct pack *p, const char *target, const char *name,
                     struct err *err) {
    autofree char *path = path_join(p->folder, name);
    if (access(target, R_OK) < 0 || symlink(target, path) < 0) {
        return err_set(err, -errno, "%s: %s", target, strerror(errno));
    }
    return 0;
}

static int make_folder(const struct pack *p, const char *name, struct err *err) {
    autofree char *path = path_join(p->folder, name);
    return mkdir(path, 0755) < 0 ? err_set(err, -errno, "%s: %s", path, strerror(errno))
                                 : 0;
}

/* "libnvrtc-builtins.so.13.0": the name that NVRTC itself loads. */
static bool is_builtins(const char *name) {
    int major, minor, end = 0;
    (void)!sscanf(name, "libnvrtc-builtins.so.%2d.%2d%n", &major, &minor, &end);
    return end && !name[end];
}

static int link_builtins(const struct pack *p, const char *dir, struct err *err) {
    autodir *entries = opendir(dir);
    int rc = entries ? -ENOENT : -errno;
    for (const struct dirent *e; (e = dir_next(entries));) {
        if (is_builtins(e->d_name)) {
            autofree char *from = path_join(dir, e->d_name);
            autofree char *to = path_join("cuda/lib64", e->d_name);
            rc = link_file(p, from, to, err);
        }
    }
    return rc == -ENOENT ? err_set(err, rc, "%s: no libnvrtc-builtins there", dir) : rc;
}

static int stage_compiler(const struct pack *p, struct err *err) {
    const char *base = path_basename(p->nvrtc);
    autofree char *dir = xstrndup(p->nvrtc, (size_t)(base - p->nvrtc));
    autofree char *library = path_join("cuda/lib64", base);
    autofree char *headers = path_join(p->root, "include");
    int rc = make_folder(p, "cuda", err);
    rc = rc < 0 ? rc : make_folder(p, "cuda/lib64", err);
    rc = rc < 0 ? rc : link_file(p, p->nvrtc, library, err);
    rc = rc < 0 ? rc : link_builtins(p, dir, err);
    return rc < 0 ? rc : link_file(p, headers, "cuda/include", err);
}

static char *readme_text(const struct pack *p) {
    return xasprintf(pack_readme, UPSKILLD_VERSION, p->machine.machine,
                     p->glibc_major, p->glibc_minor, p->name, p->name,
                     p->name, p->root ? pack_with_compiler : pack_without_compiler);
}

static int stage_all(struct pack *p, struct err *err) {
    autofree char *readme = readme_text(p);
    int rc = make_folder(p, "", err);
    rc = rc < 0 ? rc : link_file(p, p->worker, "upskilld-worker", err);
    rc = rc < 0 ? rc : write_text(p, "start", pack_start_script, 0755, err);
    rc = rc < 0 ? rc : write_text(p, "README", readme, 0644, err);
    return rc < 0 || !p->root ? rc : stage_compiler(p, err);
}

/* --- is it fit to travel? --- */

enum needs_part { OF_ALL, OF_PROGRAM, OF_LIBRARIES };

/* A line of what the loader tells: "libc.so.6 => PATH (ADDRESS)" of all libraries, then
 * "libc.so.6 (GLIBC_2.34) => PATH" behind "PROGRAM:" and behind each library. */
static void need_take(struct pack *p, const char *line, enum needs_part *part) {
    char name[256];
    unsigned major, minor;
    size_t len = strlen(p->worker);
    if (*line && line[strlen(line) - 1] == ':') {
        bool own = strncmp(line, p->worker, len) == 0 && strcmp(line + len, ":") == 0;
        *part = own ? OF_PROGRAM : OF_LIBRARIES;
    } else if (*part == OF_PROGRAM &&
               sscanf(line, "%255s (GLIBC_%u.%u", name, &major, &minor) == 3) {
        bool newer = major > p->glibc_major ||
                     (major == p->glibc_major && minor > p->glibc_minor);
        p->glibc_major = newer ? major : p->glibc_major;
        p->glibc_minor = newer ? minor : p->glibc_minor;
    } else if (*part == OF_ALL && sscanf(line, "%255s", name) == 1 &&
               strncmp(name, "linux-vdso", 10) != 0) {
        strings_add(&p->libraries, xstrdup(path_basename(name)));
    }
}

/* The loader reads the program and runs nothing of it; a script has another one. */
static int read_needs(struct pack *p, struct err *err) {
    static const char *const env[] = {"LD_TRACE_LOADED_OBJECTS=1", "LD_VERBOSE=1", NULL};
    const char *argv[] = {p->worker, NULL};
    autofree char *said = run(argv, env, err);
    enum needs_part part = OF_ALL;
    char *rest = NULL;
    for (char *line = said ? strtok_r(said, "\t\n", &rest) : NULL; line;
         line = strtok_r(NULL, "\t\n", &rest)) {
        need_take(p, line, &part);
    }
    return !said            ? err->code
           : p->glibc_major ? 0
                            : err_set(err, -EINVAL, "%s: not a dynamic program", p->worker);
}

static bool is_everywhere(const char *library) {
    static const char *const names[] = {"libc.so.6",       "libm.so.6",  "libdl.so.2",
                                        "libpthread.so.0", "librt.so.1", NULL};
    return strings_have(names, library) || strncmp(library, "ld-linux", 8) == 0;
}

static int check_program(const struct pack *p, struct err *err) {
    for (size_t i = 0; i < p->libraries.count; i++) {
        if (!is_everywhere(p->libraries.list[i])) {
            return err_set(err, -EINVAL,
                           "%s needs %s, which other machines lack: build it without "
                           "sanitizers",
                           p->worker, p->libraries.list[i]);
        }
    }
    if (p->glibc_major > GLIBC_MAJOR ||
        (p->glibc_major == GLIBC_MAJOR && p->glibc_minor > GLIBC_MINOR)) {
        return err_set(err, -EINVAL,
                       "%s needs glibc %u.%u, and %u.%u is the newest that can be "
                       "expected: build it on Debian 12 or Ubuntu 22.04",
                       p->worker, p->glibc_major, p->glibc_minor, GLIBC_MAJOR,
                       GLIBC_MINOR);
    }
    return 0;
}

/* Without a trace of who packed it. */
static int archive(const struct pack *p, struct err *err) {
    const char *argv[] = {"tar",
                          "--create",
                          "--gzip",
                          "--dereference",
                          "--hard-dereference",
                          "--owner=0",
                          "--group=0",
                          "--numeric-owner",
                          "--sort=name",
                          "--mode=u+rw,go+r,go-w",
                          "--file",
                          p->output,
                          "--directory",
                          p->stage,
                          p->name,
                          NULL};
    autofree char *said = run(argv, NULL, err);
    return said ? 0 : err->code;
}

/* --- the command --- */

static int read_words(struct pack *p, const json_t *status, struct err *err) {
    const struct worker_command *c = p->command;
    const json_t *kernels = json_object_get(status, "kernels");
    const json_t *toolkit = json_array_get(json_object_get(kernels, "toolkits"), 0);
    bool with = false;
    const char *output = NULL;
    for (int i = 1; i < c->count; i++) {
        if (strcmp(c->words[i], "--with-compiler") == 0) {
            with = true;
        } else if (strcmp(c->words[i], "--output") == 0 && i + 1 < c->count) {
            output = c->words[++i];
        } else {
            return err_set(err, -EINVAL,
                           "%s: worker pack has --with-compiler and --output FILE",
                           c->words[i]);
        }
    }
    if (with && !toolkit) {
        return err_set(err, -ENOENT, "there is no CUDA compiler here to pack");
    }
    if (with) {
        p->root = xstrdup(json_get_string(toolkit, "root", ""));
        p->nvrtc = xstrdup(json_get_string(toolkit, "nvrtc", ""));
    }
    p->output = output ? xstrdup(output) : NULL;
    return 0;
}

/* The local worker's program, as the daemon starts it. */
static int find_worker(struct pack *p, const json_t *status, struct err *err) {
    const json_t *kernels = json_object_get(status, "kernels");
    json_each(json_object_get(kernels, "workers"), i, worker) {
        const json_t *program = json_array_get(json_object_get(worker, "argv"), 0);
        if (json_get_bool(worker, "local", 0) &&
            strchr(json_string_value(program), '/')) {
            p->worker = realpath(json_string_value(program), NULL);
        }
    }
    (void)uname(&p->machine);
    return p->worker ? read_needs(p, err)
                     : err_set(err, -ENOENT,
                               "upskilld-worker was not found beside upskilld; "
                               "UPSKILLD_WORKER names it elsewhere");
}

static int make_stage(struct pack *p, struct err *err) {
    p->stage = dir_make_temporary("pack", err);
    if (!p->stage) {
        return err->code;
    }
    p->name = xasprintf("upskilld-worker-%s-%s", UPSKILLD_VERSION, p->machine.machine);
    p->folder = path_join(p->stage, p->name);
    p->output = p->output ? p->output : xasprintf("%s.tar.gz", p->name);
    return 0;
}

static int pack_make(struct pack *p, const json_t *status, struct err *err) {
    int rc = read_words(p, status, err);
    rc = rc < 0 ? rc : find_worker(p, status, err);
    rc = rc < 0 ? rc : check_program(p, err);
    rc = rc < 0 ? rc : make_stage(p, err);
    rc = rc < 0 ? rc : stage_all(p, err);
    return rc < 0 ? rc : archive(p, err);
}

static void pack_show(const struct pack *p) {
    struct stat st = {0};
    stat(p->output, &st);
    if (p->command->json) {
        autojson *out =
            json_pack("{s:s, s:I, s:s, s:o, s:b}", "archive", p->output, "bytes",
                      (json_int_t)st.st_size, "machine", p->machine.machine, "glibc",
                      json_sprintf("%u.%u", p->glibc_major, p->glibc_minor), "compiler",
                      p->root != NULL);
        autobuf text = BUF_INIT(64u << 10);
        json_write(&text, out);
        puts(text.data);
        return;
    }
    printf("%s: %.1f MB, for %s with glibc %u.%u or newer, %s\n", p->output,
           (double)st.st_size / 1e6, p->machine.machine, p->glibc_major, p->glibc_minor,
           p->root ? "with a compiler" : "without a compiler");
    fputs("needs of the machine:", stdout);
    for (size_t i = 0; i < p->libraries.count; i++) {
        printf(" %s", p->libraries.list[i]);
    }
    printf("\n\nOn the other machine:  tar xzf %s.tar.gz\n"
           "In your config.yaml:   workers: [{name: HOST, argv: [ssh, -T, HOST, "
           "PATH/%s/start]}]\n"
           "Then:                  upskillctl worker check HOST\n",
           p->name, p->name);
}

static void pack_finish(struct pack *p) {
    if (p->stage) {
        dir_remove(p->stage, NULL);
        free(p->stage);
    }
    strings_finish(&p->libraries);
    free(p->folder);
    free(p->name);
    free(p->output);
    free(p->worker);
    free(p->root);
    free(p->nvrtc);
}

int worker_pack(const struct worker_command *command, const json_t *status) {
    struct pack p = {.command = command};
    struct err err = {0};
    int rc = pack_make(&p, status, &err);
    if (rc < 0) {
        terminal_error(command->terminal, "%s", err.msg);
    } else {
        pack_show(&p);
    }
    pack_finish(&p);
    return rc < 0 ? 2 : 0;
}
