#pragma once
/* bind: selects the handler that runs an instruction.
 *
 * Each family checks an instruction's opcode, types and modifiers, and that the
 * combination exists in the ISA. It returns its handler after setting the handler's data
 * in step->aux. The lowering (lower.h) fills the other fields; it has also brought
 * operands to the width of the instruction's types: separate steps narrow or widen a
 * register of another width. NULL: not an instruction of this family, or not supported:
 * then the module is refused, with the instruction's name, before anything runs.
 *
 * Operand order in step: dst = first result, dst2 = second; src[0..] = sources as
 * written. Packed types (f16x2 …) are 32-bit registers. f16/bf16 registers are 2 bytes a
 * lane. */
#include "gpu/ptx/state/step.h"

/* Asks the families in turn (alu.h), for the widest vector extension of this CPU:
 * integer  arithmetic, dp4a and dp2a; carry: with .cc; bits: logic, shifts, bit fields,
 *          lop3, prmt
 * float    f32, f64: every rounding, .ftz, .sat; min, max, abs, neg, copysign; div, sqrt,
 *          rcp. half: f16, f16x2, bf16, bf16x2
 * select   setp, set, selp, slct, testp, logic of predicates, mov between registers of
 *          one width
 * convert  cvt, cvt.pack: all types with rounding, .sat, .satfinite, .relu
 * special_function  ex2, lg2, sin, cos, tanh, rsqrt; rcp, sqrt and div approx and full */
step_run *bind_alu(const struct ptx_instruction *i, struct step *step);
/* "avx512", "avx2", "baseline", "neon" … for reports; tests can force one (NULL = best;
 * -ENOTSUP when the CPU lacks it). */
const char *bind_extension(void);
int bind_force_extension(const char *name);
