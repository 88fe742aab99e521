#pragma once
/* grader: CUDA blocks of skills are compiled by kernel/check. */

/* Hands skills/ a grader that compiles through gpu/. Once, before the first check. */
void grader_set(void);
