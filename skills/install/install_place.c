/* From an agent's name to a folder that may be written in. */
#include "skills/install/install_place.h"

#include "base/err.h"
#include "base/file.h"
#include "base/find.h"
#include "skills/install/agents.h"
#include "skills/install/install.h"
#include "skills/install/install_tree.h"

#include <fcntl.h>
#include <sys/stat.h>

/* In the project nothing may lead out of it; what the user has linked at home is the
 * user's. create: make what is missing. Returns a descriptor. */
static int open_folder(const struct agent *agent, const struct install_request *request,
                       const char *path, bool create, struct err *err) {
    struct root root;
    if (strcmp(request->scope, "user") == 0) {
        int rc = create ? dir_make(path, 0755, err) : 0;
        int fd = rc < 0 ? rc : open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        return fd >= 0 ? fd : install_failed(err, rc < 0 ? rc : -errno, path);
    }
    int rc = root_open(&root, request->root, err);
    if (rc < 0) {
        return err_set(err, rc, "no_project_folder: %s: %s", request->root,
                       strerror(-rc));
    }
    rc = create ? root_mkdir(&root, agent->project, 0755, err) : 0;
    int fd = rc < 0 ? rc : root_open_folder(&root, agent->project, err);
    root_close(&root);
    return fd >= 0 ? fd : install_failed(err, fd, path);
}

/* The agent, or NULL with the refusal in err. */
static const struct agent *find_agent(const struct agents *agents,
                                      const struct install_request *request,
                                      const char *name, struct err *err) {
    bool project = strcmp(request->scope, "project") == 0;
    const struct agent *agent = agents_find(agents, name);
    if (!agent) {
        err_set(err, -ENOENT, "unknown_agent: no agent is called %s", name);
    } else if (!project && strcmp(request->scope, "user") != 0) {
        err_set(err, -EINVAL, "scope_invalid: expected project or user");
    } else if (project && (!request->root || request->root[0] != '/')) {
        err_set(err, -EINVAL, "no_project_folder: there is no project");
    } else if (!(project ? agent->project : agent->user)) {
        err_set(err, -ENOENT, "no_%s_folder: %s has no folder for the %s", request->scope,
                name, request->scope);
    } else {
        return agent;
    }
    return NULL;
}

int install_place_open(struct install_place *place, const struct agents *agents,
                       const struct install_request *request, const char *name,
                       bool create, struct err *err) {
    const struct agent *agent = find_agent(agents, request, name, err);
    place->fd = -1;
    if (!agent) {
        return -EINVAL;
    }
    place->path = agent_folder(agent, request->scope, request->root);
    place->fd = open_folder(agent, request, place->path, create, err);
    if (place->fd == -ENOENT && !create) {
        return err_set(err, -ENOENT, "not_installed: there is no %s", place->path);
    }
    return place->fd < 0 ? place->fd : 0;
}

size_t install_place_leader(const struct install_place *places, size_t i) {
    struct stat mine, other;
    if (places[i].fd < 0 || fstat(places[i].fd, &mine) < 0) {
        return i;
    }
    return first_of(k, 0, i,
                    places[k].leader == k && places[k].fd >= 0 &&
                        fstat(places[k].fd, &other) == 0 && mine.st_dev == other.st_dev &&
                        mine.st_ino == other.st_ino);
}
