// Figures as people read them.
import type { Real } from "./result";

export function real(value: Real | undefined): number {
  return value === undefined ? NaN : Number(value); // "NaN", "Infinity" and "-Infinity" too
}

export function short(value: Real | undefined, digits = 3): string {
  const number = real(value);
  return Number.isInteger(number) && Math.abs(number) < 1e9 ? String(number) : String(Number(number.toPrecision(digits)));
}

export function count(value: number, noun: string): string {
  return `${value} ${noun}${value === 1 ? "" : "s"}`;
}

export function sizes(of: Record<string, number> | undefined): string {
  const text = Object.entries(of ?? {}).map(([name, value]) => `${name}=${value}`).join(" ");
  return text || "–";
}

export function duration(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${short(ms / 1000)} s`;
}
