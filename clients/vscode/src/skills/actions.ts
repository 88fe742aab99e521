// What can be done with skills: find, check, install, take out, evaluate.
import { join } from "node:path";
import * as vscode from "vscode";
import type { Server } from "../server";
import { showCheck, showReport } from "./report";
import { about, names, warnings, type CheckResult, type Evaluation, type InstallResult, type Match, type Matches, type Skill } from "./skill";

interface Agent { name: string; title: string; project?: string; user?: string }
interface Choice<Value> extends vscode.QuickPickItem { value: Value }

export function read(skill: Skill): Thenable<unknown> {
  return vscode.commands.executeCommand("vscode.open", vscode.Uri.file(join(skill.path, "SKILL.md")));
}

function matchItem(match: Match): Choice<Skill> {
  return { label: match.name, description: `${match.source} · ${match.why}`, detail: [match.description, ...warnings(match)].join(" "), value: match };
}

export async function find(server: Server): Promise<void> {
  const task = await vscode.window.showInputBox({ title: "Find a Skill", prompt: "What is to be done? Other names for it after a colon find more.", placeHolder: "make this softmax kernel faster on an H100" });
  if (!task) return;
  const { matches, nearest } = await server.call<Matches>("skill/find", { task });
  const title = matches.length > 0 ? `Skills for: ${task}` : "No skill fits; these are nearest";
  const chosen = await vscode.window.showQuickPick([...matches, ...nearest].map(matchItem), { title, matchOnDetail: true });
  if (chosen) await read(chosen.value);
}

export async function check(server: Server, extension: vscode.Uri, skill: Skill): Promise<void> {
  const result = await server.call<CheckResult>("skill/check", { path: skill.path, strict: true });
  showCheck(extension, skill.name, result);
}

async function chooseAgents(server: Server): Promise<string[] | undefined> {
  const status = await server.call<{ skills?: { agents?: Agent[] } }>("daemon/status", {});
  const other: Choice<string> = { label: "Another agent…", value: "" };
  const found = (status.skills?.agents ?? []).map((agent): Choice<string> =>
    ({ label: agent.title, description: agent.name, detail: [agent.project, agent.user].filter(Boolean).join(" · "), value: agent.name }));
  const chosen = await vscode.window.showQuickPick([...found, other], { title: "Install for which agents?", canPickMany: true });
  if (!chosen?.length) return undefined;
  const more = chosen.includes(other)
    ? await vscode.window.showInputBox({ title: "Other agents", placeHolder: "codex, cursor, gemini-cli, universal" }) : "";
  return more === undefined ? undefined : [...chosen.map(({ value }) => value).filter(Boolean), ...names(more)];
}

async function chooseScope(): Promise<string | undefined> {
  const scopes: Choice<string>[] = [
    { label: "Project", detail: "the agents' folders in this workspace", value: "project" },
    { label: "User", detail: "your own folders, for all projects", value: "user" },
  ];
  return (await vscode.window.showQuickPick(scopes, { title: "Where?" }))?.value;
}

function tell(skill: Skill, { results }: InstallResult): void {
  const lines = results.map(({ agent, outcome, path, reason }) => `${agent}: ${outcome}${reason ? `: ${reason}` : path ? ` (${path})` : ""}`);
  const words = `${skill.name}: ${lines.join("; ")}`;
  if (results.some(({ outcome }) => outcome === "refused")) void vscode.window.showWarningMessage(words);
  else void vscode.window.showInformationMessage(words);
}

export async function install(server: Server, skill: Skill): Promise<void> {
  const agents = await chooseAgents(server);
  const scope = agents?.length ? await chooseScope() : undefined;
  if (!scope) return;
  tell(skill, await server.call<InstallResult>("skill/install", { uri: skill.uri, agents, scope }));
}

export async function uninstall(server: Server, skill: Skill): Promise<void> {
  const chosen = await vscode.window.showQuickPick(skill.installed_for, { title: `Take ${skill.name} out of which agents?`, canPickMany: true });
  const scope = chosen?.length ? await chooseScope() : undefined;
  if (!scope) return;
  tell(skill, await server.call<InstallResult>("skill/uninstall", { name: skill.name, agents: chosen, scope }));
}

// Empty: the models that the configuration names.
async function chooseStudents(memento: vscode.Memento): Promise<{ students?: string[]; base_url?: string } | undefined> {
  const students = await vscode.window.showInputBox({
    title: "Evaluate: which models?", value: memento.get("students", ""), placeHolder: "generic.qwen3-4b, anthropic.MODEL",
    prompt: "Empty: default_students of upskilld's configuration",
  });
  if (students === undefined) return undefined;
  const address = students.includes("generic.") ? await vscode.window.showInputBox({
    title: "Evaluate: address of the models", value: memento.get("baseUrl", ""), placeHolder: "http://127.0.0.1:8080/v1",
    prompt: "Empty: the one that upskilld's configuration or environment names",
  }) : "";
  if (address === undefined) return undefined;
  await memento.update("students", students);
  await memento.update("baseUrl", address);
  return { ...(students ? { students: names(students) } : {}), ...(address ? { base_url: address } : {}) };
}

export async function evaluate(server: Server, memento: vscode.Memento, skill: Skill): Promise<void> {
  const students = await chooseStudents(memento);
  if (!students) return;
  const result = await server.callLong<Evaluation>(`Evaluating ${skill.name}`, "skill/evaluate", { skill: skill.uri, ...students });
  void vscode.window.showInformationMessage(`${skill.name}: ${result.sentence}`);
  if (result.run) await showReport(server, result.run);
}

export async function chooseSkill(server: Server): Promise<Skill | undefined> {
  const { skills } = await server.call<{ skills: Skill[] }>("skill/list", {});
  const chosen = await vscode.window.showQuickPick(skills.map((skill): Choice<Skill> =>
    ({ label: skill.name, description: [skill.source, about(skill)].filter(Boolean).join(" · "), detail: skill.description, value: skill })), { title: "Which skill?" });
  return chosen?.value;
}
