#pragma once
/* alu_vectors: the files of tests/kernels/make_alu_vectors.py, run on every vector
 * extension this CPU has, with all lanes and with some. */

/* Checks each row of TEST_DATA/<name> with cr_expect; at most a few failures per spelling
 * are told. Returns the number of rows checked, all extensions together. */
unsigned long alu_vectors_check(const char *name);
