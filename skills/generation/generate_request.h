#pragma once
/* generate_request: the params of skill/generate, resolved; and what they name, read. */
#include "protocol/call.h"
#include "skills/generation/builtin_skill.h"
#include "skills/skill.h"
#include "skills/traces/lessons.h"
#include "skills/traces/trace.h"

#include <stdatomic.h>

struct skills;

#define GENERATE_TESTS 24u
#define GENERATE_MAX_TRACES 64u
#define GENERATE_MAX_DOCUMENTS 32u

enum teacher { TEACHER_BUILTIN, TEACHER_HOST };

/* A file by its path, or a text that was given as it is. */
struct given {
    char *path;         /* absolute, or NULL */
    const char *name;   /* borrowed from the params */
    const json_t *text; /* or NULL */
};

struct generate_request {
    enum teacher teacher;
    const char *task, *name; /* borrowed from the params, like the next two; or NULL */
    const json_t *examples, *install, *students, *budget;
    struct given traces[GENERATE_MAX_TRACES], documents[GENERATE_MAX_DOCUMENTS];
    size_t trace_count, document_count;
    char *improved;    /* folder of the skill that is improved, or NULL */
    char *parent;      /* folder that holds the skill's folder */
    char *folder_name; /* of the skill's folder where output gave it, else NULL */
    unsigned tests;
};
/* Fails the call and returns -1 for what cannot be. The catalog is current. */
int generate_request_read(struct generate_request *ret, struct skills *skills,
                          struct call *call, const json_t *params);
void generate_request_finish(struct generate_request *r);

/* What the request names, read and distilled (on a thread). */
struct material {
    struct lessons lessons;
    json_t *documents;  /* {name: text}, redacted */
    char *task;         /* redacted, or NULL */
    json_t *examples;   /* redacted, or NULL */
    json_t *provenance; /* {"traces": [{"name", "format", "digest", "events", …}],
                           "documents": [{"name", "digest"}]} */
    struct skill base;  /* of the improved skill */
    bool has_base;
};
/* -ECANCELED, or what reading a file said. */
int material_read(struct material *ret, const struct generate_request *r,
                  const volatile bool *cancelled, struct err *err);
void material_finish(struct material *m);
