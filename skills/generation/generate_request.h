#pragma once
/* generate_request: the params of skill/generate, resolved, and the files and links that
 * they name, read. */
#include "protocol/call.h"
#include "skills/generation/builtin_skill.h"
#include "skills/models/model.h"

#include <stdatomic.h>

struct skills;

#define GENERATE_TESTS 24u
#define GENERATE_MAX_TRACES 64u
#define GENERATE_MAX_DOCUMENTS 32u

enum teacher { TEACHER_BUILTIN, TEACHER_HOST, TEACHER_MODEL };
const char *teacher_kind(enum teacher teacher); /* "builtin", "host", "model" */

/* Which links are fetched: `links` of the configuration. */
enum links { LINKS_PUBLIC, LINKS_NONE, LINKS_ANY };

/* A file by its path, a text, or a link. */
struct given {
    char *path;         /* absolute, or NULL */
    const char *name;   /* borrowed from the params */
    const json_t *text; /* or NULL */
    const char *url;    /* likewise; when it was fetched: */
    char *bytes;
    size_t len;
    bool html, latin1;
};

struct generate_request {
    enum teacher teacher;
    struct model model; /* of TEACHER_MODEL */
    enum links links;
    const char *task, *name;  /* borrowed from the params, like the next two; or NULL */
    const char *students_url; /* their endpoint, or NULL */
    const json_t *examples, *install, *students, *budget, *refine;
    struct given traces[GENERATE_MAX_TRACES], documents[GENERATE_MAX_DOCUMENTS];
    size_t trace_count, document_count, link_count;
    const char **hidden; /* values of key variables, for the redaction; NULL-terminated */
    char *improved;      /* folder of the skill to improve, or NULL */
    char *parent;        /* folder that holds the skill's folder */
    char *folder_name;   /* name of the skill's folder if output gave it, else NULL */
    unsigned tests;
};
/* Fails the call and returns -1 for invalid params. The catalog must be current. */
int generate_request_read(struct generate_request *ret, struct skills *skills,
                          struct call *call, const json_t *params);
void generate_request_finish(struct generate_request *r);
/* Checks the part about students, editor, prices and agents (generate_measure.c); if
 * refinement is requested without students, the configured ones are used. */
int generate_measure_check(struct generate_request *r, struct call *call);
/* Chooses the teacher (generate_teacher.c): `teacher` is "builtin", "host", "model" (the
 * configured one), or a model by name, alias or object (model.h). Without it: `teacher`
 * of the configuration; else the first of its `models`; else host if the caller is a
 * model that reads work orders; else builtin. A key in the environment alone chooses no
 * model, because the user decides which model is paid. */
int generate_teacher_read(struct generate_request *ret, struct call *call,
                          const json_t *params);
void generate_teacher_finish(struct generate_request *r);
/* The values of all variables with keys of models: NULL-terminated; free the list, the
 * texts are the environment's. */
struct evaluation_room;
/* The name of a provider's key variable that is set, or NULL. */
const char *generate_key_there(void);
const char **generate_teacher_keys(const struct evaluation_room *room);
unsigned generate_refine_rounds(const struct generate_request *r); /* 0: none */

/* What the request names, read and distilled (on a thread). */
struct material {
    struct redaction *redaction; /* knows every secret found so far; set by reading */
    struct lessons lessons;
    json_t *documents;  /* {name: text}, redacted */
    char *task, *name;  /* redacted, or NULL */
    json_t *examples;   /* redacted, or NULL */
    json_t *provenance; /* {"traces": [{"name", "format", "digest", "events", …}],
                           "documents": [{"name", "digest", "url"?}]} */
    struct skill base;  /* of the improved skill */
    bool has_base;
    char *base_text;     /* its SKILL.md, redacted, for a teacher; or NULL */
    json_t *base_files;  /* names of its other files, redacted; or NULL */
    json_t *base_tests;  /* its tests as they are, an array */
    json_t *asked_tests; /* the same, redacted */
};
/* -ECANCELED, or the error of reading a file. */
int material_read(struct material *ret, const struct generate_request *r,
                  struct err *err);
/* from the request, or from the traces; or NULL */
const char *material_task(const struct material *m);
void material_finish(struct material *m);
