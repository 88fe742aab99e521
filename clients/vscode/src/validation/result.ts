// What kernel/validate answers, as far as it is shown. Floats that JSON lacks come as texts.

import type { Finding, Place } from "../findings";

export type Real = number | string;

export interface Sample { index: number[]; expected: Real; actual: Real; actual_bits?: string; expected_bits?: string; state?: string }

export interface Output {
  name: string;
  verdict: string;
  elements: number;
  judged?: number;
  mismatches?: number;
  unwritten?: number;
  nonfinite?: number;
  max_abs_error?: Real;
  max_rel_error?: Real;
  tolerance?: { compare?: string; allowed?: string };
  region?: { low: number[]; high: number[] };
  samples?: Sample[];
  histogram?: { log2_error: Real; count: number }[];
}

export interface Case {
  sizes?: Record<string, number>;
  seed?: string;
  trial?: number;
  verdict: string;
  outputs?: Output[];
}

export interface Counters {
  instructions?: number;
  active_lanes_percent?: number;
  global_requests?: number;
  global_sectors?: number;
  global_sectors_ideal?: number;
  global_sectors_per_request?: number;
  shared_requests?: number;
  shared_bank_conflicts?: number;
  branches?: number;
  divergent_branches?: number;
}

export type LineCounters = Counters & { file: string; line: number };

export interface Timing {
  summary?: string;
  samples?: number;
  cache?: string;
  throttled?: boolean;
  reference_median_us?: number;
  speedup?: number;
  notes?: string[];
}

export interface Roofline { device?: string; bound?: string; limit_us?: number; percent?: number; method?: string }

export interface Validation {
  verdict: string;
  summary: string; // the verdict in the server's words
  warnings?: number;
  strict?: boolean;
  backend?: { kind?: string; device?: string; fallback?: string };
  check?: { diagnostics?: Finding[] } | null;
  error?: { stage?: string; code?: string; message?: string; hint?: string };
  unsupported?: (Place & { opcode?: string })[];
  cases: Case[];
  seed?: string;
  findings: Finding[];
  omitted?: number;
  reference_diagnostics?: Finding[];
  printf?: string;
  added_cases?: { sizes?: Record<string, number>; verdict: string }[];
  phases?: { phase: string; ms: number }[];
  counters?: Counters & { by_line?: LineCounters[] };
  budget?: { skipped_trials?: number };
  timing?: Timing;
  numerics?: string;
  ideal_trial?: { verdict: string; ms?: number };
  roofline?: Roofline;
  repeat_check?: { verdict: string; sizes?: Record<string, number> };
  checks?: string[];
  unchecked?: string[];
  sanitizer?: { version?: string; absent?: string; hint?: string; tools?: { tool: string; outcome: string }[] };
}
