// How hot each line of a kernel is, by one of its counters. Nothing here knows the editor.
import type { LineCounters } from "./result";

export const LEVELS = 5;

export interface Metric {
  id: string;
  label: string; // of the values
  of(line: LineCounters): number; // 0 = the line has none of it
}

// Lanes that were masked off, in the unit of instructions.
function idle(line: LineCounters): number {
  return (line.instructions ?? 0) * (1 - (line.active_lanes_percent ?? 100) / 100);
}

export const metrics: readonly Metric[] = [
  { id: "instructions", label: "warp instructions", of: (line) => line.instructions ?? 0 },
  { id: "sectors", label: "sectors of global memory", of: (line) => line.global_sectors ?? 0 },
  { id: "wasted", label: "sectors moved in vain",
    of: (line) => (line.global_sectors ?? 0) - (line.global_sectors_ideal ?? line.global_sectors ?? 0) },
  { id: "conflicts", label: "bank conflicts", of: (line) => line.shared_bank_conflicts ?? 0 },
  { id: "idle", label: "idle lanes (as warp instructions)", of: idle },
];

export interface HotLine { counters: LineCounters; value: number; share: number; level: number }

// The lines that have any of it, as they stand in the file; share of the sum, level 1 to LEVELS by
// the hottest line.
export function heat(lines: readonly LineCounters[], metric: Metric): HotLine[] {
  const values = lines.map((counters) => ({ counters, value: metric.of(counters) })).filter(({ value }) => value > 0);
  const sum = values.reduce((all, { value }) => all + value, 0);
  const most = Math.max(0, ...values.map(({ value }) => value));
  return values.map(({ counters, value }) => ({
    counters, value, share: value / sum, level: Math.max(1, Math.ceil((value / most) * LEVELS)),
  }));
}

// The metrics that any line has some of.
export function present(lines: readonly LineCounters[]): Metric[] {
  return metrics.filter((metric) => lines.some((line) => metric.of(line) > 0));
}
