#pragma once
/* teacher_facts: checked facts for a teacher's prompt: numbers of the GPUs that the
 * material names, and the keys of build.toml. Pure. */

struct buf;

/* material: the teacher's material, as text. Adds nothing if it is not about CUDA, and
 * the H100's numbers if it names no GPU. */
void teacher_tell_facts(struct buf *out, const char *material);
