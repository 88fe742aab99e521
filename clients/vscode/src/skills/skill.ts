// What the server says of skills, as far as it is shown, and how the view groups it.
import type { Finding } from "../findings";

export interface Danger { rule: string; file?: string; line?: number; message: string }

export interface Skill {
  name: string;
  description: string;
  uri: string;
  path: string;
  source: "project" | "user" | "agent" | "bundled";
  agent?: string;
  trusted: boolean;
  misnamed?: string;
  danger: Danger[];
  shadowed_by?: string;
  installed_for: string[];
}

export interface Match extends Skill { score: number; why: string; lift?: number | null }
export interface Matches { matches: Match[]; nearest: Match[] }

export interface CheckResult {
  ok: boolean;
  path?: string;
  findings: Finding[];
  omitted?: number;
  tokens?: { body?: number; catalogue?: number };
}

export interface InstallResult {
  results: { agent: string; path?: string; outcome: string; reason?: string }[];
  findings?: Finding[];
}

export interface Run {
  run: string;
  state: string;
  skill: string;
  model: string;
  verdict: string | null;
  lift?: { mean?: number; [name: string]: unknown } | null;
  tests?: number | null;
  ended?: string;
}

export interface Evaluation { verdict: string; sentence: string; run: string | null; ended_by: string }

export const groups = [
  { source: "project", label: "Project" }, { source: "user", label: "User" },
  { source: "agent", label: "Agents" }, { source: "bundled", label: "Bundled with upskilld" },
] as const;

// Groups that have any, in this order; the skills by name.
export function grouped(skills: readonly Skill[]): { label: string; skills: Skill[] }[] {
  return groups.map(({ source, label }) => ({
    label, skills: skills.filter((skill) => skill.source === source).sort((a, b) => a.name.localeCompare(b.name)),
  })).filter((group) => group.skills.length > 0);
}

// What a person must know before using it.
export function warnings(skill: Skill): string[] {
  return [
    ...skill.danger.map(({ rule, line, message }) => `${rule}${line ? `, line ${line}` : ""}: ${message}`),
    ...(skill.misnamed ? [skill.misnamed] : []),
    ...(skill.shadowed_by ? [`hidden by ${skill.shadowed_by}`] : []),
  ];
}

export function about(skill: Skill): string {
  const installed = skill.installed_for.length > 0 ? [`installed for ${skill.installed_for.join(", ")}`] : [];
  return [...(skill.agent ? [skill.agent] : []), ...installed].join(" · ");
}

// Models or agents, as a person lists them: by commas or blanks.
export function names(text: string): string[] {
  return text.split(/[\s,]+/).filter((name) => name !== "");
}
