#include "clients/ctl/fetch_nvcc.h"

#include "base/err.h"
#include "base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern const char wheels_cuda_wheels[], wheels_nvcc_wheels[];

#define FETCHED "195 MB to download, 490 MB on disk"

static bool agreed(const struct terminal *terminal, const char *folder) {
    if (!terminal->tty || !isatty(STDIN_FILENO)) {
        terminal_hint(terminal, "nothing was downloaded: give --yes");
        return false;
    }
    printf("Download nvcc and what it needs (NVIDIA's wheels, " FETCHED ") into %s? [y/N] ",
           folder);
    fflush(stdout);
    char answer[16] = "";
    return fgets(answer, sizeof answer, stdin) && (*answer == 'y' || *answer == 'Y');
}

static int text_write(const char *folder, const char *name, const char *text) {
    autofree char *path = path_join(folder, name);
    autofd int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    return fd < 0 ? -errno : file_write_all(fd, text, strlen(text));
}

/* pip shows its own progress. */
static int pip_run(const char *folder) {
    autofree char *cuda = path_join(folder, ".cuda-wheels.txt");
    autofree char *nvcc = path_join(folder, ".nvcc-wheels.txt");
    const char *const argv[] = {"python3",
                                "-m",
                                "pip",
                                "install",
                                "--no-deps",
                                "--disable-pip-version-check",
                                "--require-hashes",
                                "--only-binary=:all:",
                                "--target",
                                folder,
                                "-r",
                                cuda,
                                "-r",
                                nvcc,
                                NULL};
    int status = -1, pid = fork();
    if (pid == 0) {
        (void)setenv("PIP_ROOT_USER_ACTION", "ignore", 1);
        (void)execvp(argv[0], (char *const *)(uintptr_t)argv);
        _exit(127);
    }
    return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status)
               ? WEXITSTATUS(status)
               : -1;
}

/* A folder that is whole or not there: the old one goes when the new one is filled. */
static int folder_replace(const char *fresh, const char *folder) {
    autofree char *old = xasprintf("%s.old", folder);
    (void)dir_remove(old, NULL);
    if (rename(folder, old) < 0 && errno != ENOENT) {
        return -errno;
    }
    int rc = chmod(fresh, 0755) < 0 || rename(fresh, folder) < 0 ? -errno : 0;
    (void)dir_remove(old, NULL);
    return rc;
}

static int fill(const struct terminal *terminal, const char *fresh, const char *folder) {
    if (text_write(fresh, ".cuda-wheels.txt", wheels_cuda_wheels) < 0 ||
        text_write(fresh, ".nvcc-wheels.txt", wheels_nvcc_wheels) < 0) {
        terminal_error(terminal, "%s cannot be written", fresh);
        return 1;
    }
    puts("Downloading NVIDIA's compiler wheels (" FETCHED ") …");
    fflush(stdout);
    int status = pip_run(fresh);
    if (status != 0) {
        terminal_error(terminal, "python3 -m pip ended with %d", status);
        terminal_hint(terminal,
                      "this needs Python 3 with pip, and a network; or set CUDA_HOME to a "
                      "CUDA toolkit (12 or 13)");
        return 1;
    }
    int rc = folder_replace(fresh, folder);
    if (rc < 0) {
        terminal_error(terminal, "%s: %s", folder, strerror(-rc));
        return 1;
    }
    printf("nvcc is in %s.\n", folder);
    return 0;
}

int fetch_nvcc(const struct terminal *terminal, bool ask) {
    struct err err = {0};
    autofree char *data = xdg_data_dir();
    if (!data || dir_make(data, 0755, &err) < 0) {
        terminal_error(terminal, "%s", data ? err.msg : "HOME is not set");
        return 1;
    }
    autofree char *folder = path_join(data, "cuda");
    if (ask && !agreed(terminal, folder)) {
        return 1;
    }
    autofree char *fresh = xasprintf("%s.XXXXXX", folder);
    if (!mkdtemp(fresh)) {
        terminal_error(terminal, "%s: %s", fresh, strerror(errno));
        return 1;
    }
    int status = fill(terminal, fresh, folder);
    (void)dir_remove(fresh, NULL);
    return status;
}
