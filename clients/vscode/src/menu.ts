// What a click on the status item offers.
import * as vscode from "vscode";
import type { Server } from "./server";

interface Choice extends vscode.QuickPickItem { command: string }

export async function showMenu(server: Server): Promise<void> {
  const choices: Choice[] = [
    { label: "$(debug-restart) Restart", command: "upskilld.restart" },
    { label: "$(output) Show Output", command: "upskilld.showOutput" },
    { label: "$(file-binary) Choose the Program…", command: "upskilld.chooseProgram" },
    { label: "$(mortar-board) Open Walkthrough", command: "upskilld.openWalkthrough" },
  ];
  const { state } = server;
  const title = typeof state === "object" ? state.problem : `upskilld: ${state}`;
  const chosen = await vscode.window.showQuickPick(choices, { title });
  if (chosen) await vscode.commands.executeCommand(chosen.command);
}
