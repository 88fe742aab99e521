// The program is missing: say so once, with the ways that work.
import * as vscode from "vscode";
import { type Server, type ServerState } from "./server";

const HOW = "How to Get It";
const CHOOSE = "Choose the Program…";

export async function chooseProgram(): Promise<void> {
  const [file] = await vscode.window.showOpenDialog({
    title: "The program upskilld", openLabel: "Use This Program", canSelectMany: false,
  }) ?? [];
  if (file) {
    await vscode.workspace.getConfiguration("upskilld")
      .update("path", file.fsPath, vscode.ConfigurationTarget.Global);
  }
}

export function openWalkthrough(): Thenable<unknown> {
  return vscode.commands.executeCommand("workbench.action.openWalkthrough", "upskilld.upskilld#start", false);
}

async function offer(problem: string): Promise<void> {
  const answer = await vscode.window.showWarningMessage(problem, HOW, CHOOSE);
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
