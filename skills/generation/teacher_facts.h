#pragma once
/* teacher_facts: checked facts for a teacher's prompt: numbers of the
 * GPUs that the material names, and what build.toml may say. Pure. */

struct buf;

/* material: what the teacher is shown, as text. Nothing is added where it is not about
 * CUDA, and the H100's numbers where it names no GPU. */
void teacher_tell_facts(struct buf *out, const char *material);
