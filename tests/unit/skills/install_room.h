#pragma once
/* A home, a project and a source folder of skills, all in one temporary folder that is
 * the working directory; and installs asked for there as the operation asks. */
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

extern char top[64];  /* the temporary folder */
extern char root[80]; /* the project */

void make_world(void);
void drop_world(void);

#define SKILL_MD(word) "---\nname: demo\ndescription: A demo " word ".\n---\n\n# Demo\n"
#define TARGET "project/.claude/skills"
#define CLAUDE ((const char *const[]){"claude-code", NULL})

/* --- files --- */

void put(const char *path, const char *text);
bool holds(const char *path, const char *text);
bool there(const char *path);
size_t count_entries(const char *path);

/* --- installs --- */

struct wish {
    const char *source, *scope, *root, *name;
    bool force, remove;
};

/* One result per agent, as the operation would give them. */
json_t *ask(struct wish wish, const char *const *names);
const char *field(const json_t *results, size_t i, const char *key);
/* "outcome" or "outcome reason" of the first result; the reason's first word. */
const char *ask_one(struct wish wish);
void expect_one_installed(const char *word);
void make_version_two(void); /* of the source */
