#pragma once
/* lint: rules on kernels, beyond what the compiler says.
 *
 * A rule is one file here, NAME.c with the function lint_NAME, and a row of the table in
 * docs/codes/kernels.md, from which the build takes it; its code has a section there.
 * It looks at one kernel, and reports what it finds with lint_report. Rules of a
 * compilation look at what was compiled; they are asked once, and what they say is
 * cached. Rules of a launch look at the launch that a request gives, or a spec. */
#include "gpu/compile/compile_options.h"
#include "gpu/facts/occupancy.h"
#include "gpu/lint_rules.h" /* LINT_RULES */
#include "gpu/source/source_set.h"
#include "protocol/finding.h"

/* A kernel; missing values are 0. `json` has all that is known of it, for lint_figure:
 * what kernel_facts.h lists ("stack_bytes", "param_bytes", "code_bytes", "parameters" …)
 * and "source_launches" (source_launches.h). */
struct lint_kernel {
    const json_t *json;
    /* Only in rules of a compilation; the sources may be NULL there, too. "file" and
     * "line" of `json` are where the kernel's name stands. */
    const struct compile_options *options;
    const struct source_set *sources;
    /* NULL in a rule of a compilation for an architecture without figures */
    const struct device_limits *device;
    const char *name;
    int registers, shared, barriers, max_threads; /* shared: bytes, static */
    int spill_stores, spill_loads;                /* bytes per thread */
    int required[3];                              /* the only block; 0 = any */
    int cluster[3];                               /* 0 = none */
    bool alone;       /* the only kernel: a given launch must be for it */
    const json_t *at; /* the source's launch under examination (source_launches.h) */
    json_t *findings; /* what lint_report appends to */
};

struct lint_launch {
    int block[3], cluster[3];
    int grid[3]; /* 0: not known, as for a launch that a request gives */
    int threads, dynamic_shared; /* of a block; bytes */
};

/* ---- lint_report.c: functions for rules ---- */

/* A value of a kernel or launch, limited to at least 0 and small enough to add and
 * multiply. */
int lint_limit(json_int_t value);
int lint_figure(const json_t *object, const char *key); /* 0: not stated */
/* At the kernel's name, or at the source's launch; the finding has the kernel's name in
 * "kernel". */
void lint_report(const struct lint_kernel *k, const char *code,
                 enum finding_severity severity, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* The severity of a launch that fails: an error if it is the source's or there is only
 * one kernel, a warning if it may be for another kernel. */
enum finding_severity lint_fatal(const struct lint_kernel *k);
/* Blocks of a cluster or threads of a block; a 0 counts as 1. */
int lint_count(const int extents[3]);
void lint_occupancy(const struct lint_kernel *k, int threads, int dynamic_shared,
                    struct occupancy *ret);

/* The rules. */
typedef void lint_compiled_rule(const struct lint_kernel *k);
typedef void lint_launch_rule(const struct lint_kernel *k, const struct lint_launch *l);
#define LINT_COMPILED(name) lint_compiled_rule lint_##name;
#define LINT_LAUNCH(name) lint_launch_rule lint_##name;
LINT_RULES(LINT_COMPILED, LINT_LAUNCH)
#undef LINT_COMPILED
#undef LINT_LAUNCH
lint_launch_rule lint_cluster_size; /* also for what a kernel itself states */

/* Applies all rules of a compilation to all kernels; appends findings, and adds
 * source_launches.h's launches to kernels. sources may be NULL. */
void lint_compiled(json_t *kernels, const struct compile_options *options,
                   const struct source_set *sources, json_t *findings);
/* Adds "occupancy" to each kernel: for the given launch ({"block": [x,y,z],
 * "dynamic_shared_bytes", "cluster"}; NULL = those in "source_launches", which is
 * removed, and the usual block sizes), and appends the findings of the launch rules. */
void lint_launched(json_t *kernels, const char *arch, const json_t *launch,
                   json_t *findings);
