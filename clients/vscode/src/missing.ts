// The program is missing: say so once, with the ways that work.
import { execFile } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import * as vscode from "vscode";
import { orTell } from "./errors";
import { type Server, type ServerState } from "./server";

const HOW = "How to Get It";
const CHOOSE = "Choose the Program…";
const INSTALL = "Install a Wheel…";
const run = promisify(execFile);

export async function chooseProgram(): Promise<void> {
  const [file] = await vscode.window.showOpenDialog({
    title: "The program upskilld", openLabel: "Use This Program", canSelectMany: false,
  }) ?? [];
  if (file) await choosePath(file.fsPath);
}

async function choosePath(path: string): Promise<void> {
  await vscode.workspace.getConfiguration("upskilld").update("path", path, vscode.ConfigurationTarget.Global);
}

// Into an environment of the extension's own, with the machine's Python.
export async function installWheel(storage: vscode.Uri, wheel?: vscode.Uri): Promise<void> {
  const [chosen] = wheel ? [wheel] : await vscode.window.showOpenDialog({
    title: "A wheel of upskilld", openLabel: "Install This Wheel", canSelectMany: false, filters: { Wheels: ["whl"] },
  }) ?? [];
  if (!chosen) return;
  const environment = join(storage.fsPath, "program");
  const options = { location: vscode.ProgressLocation.Notification, title: "Installing upskilld" };
  await vscode.window.withProgress(options, () => orTell(async () => {
    mkdirSync(storage.fsPath, { recursive: true });
    await run("python3", ["-m", "venv", environment]);
    await run(join(environment, "bin/python"), ["-m", "pip", "install", "--quiet", "--force-reinstall", chosen.fsPath]);
    await choosePath(join(environment, "bin/upskilld"));
  }));
}

export function openWalkthrough(): Thenable<unknown> {
  return vscode.commands.executeCommand("workbench.action.openWalkthrough", "upskilld.upskilld#start", false);
}

async function offer(problem: string): Promise<void> {
  const answer = await vscode.window.showWarningMessage(problem, INSTALL, HOW, CHOOSE);
  if (answer === INSTALL) await vscode.commands.executeCommand("upskilld.installWheel");
  if (answer === HOW) await openWalkthrough();
  if (answer === CHOOSE) await chooseProgram();
}

export function tellWhatIsMissing(server: Server): vscode.Disposable {
  let told = "";
  return server.onDidChange((state: ServerState) => {
    if (typeof state !== "object" || state.problem === told) return;
    told = state.problem;
    void offer(state.problem);
  });
}
