// "New Check Spec": what kernel/init writes, opened as a form.
import { existsSync } from "node:fs";
import * as vscode from "vscode";
import { isCancelled, orTell } from "../errors";
import type { Server } from "../server";
import { specOf } from "../validation/validate";
import { FORM, type Notes } from "./editor";
import type { Note } from "./form";

interface Draft { path?: string; unknown: Note[] }

// The server names the kernels where there are several: "the file has 2 kernels: a, b".
async function chooseKernel(error: unknown): Promise<string | undefined> {
  const failure = error as { message?: string; data?: { reason?: string } };
  if (failure.data?.reason !== "which_kernel") throw error;
  const names = (failure.message ?? "").split(": ")[1]?.split(", ") ?? [];
  return vscode.window.showQuickPick(names, { title: "Which kernel is the check spec for?" });
}

async function draft(server: Server, kernel: vscode.TextDocument): Promise<Draft | undefined> {
  const params = { path: kernel.uri.fsPath, source: kernel.getText() };
  try {
    return await server.callLong<Draft>("New check spec", "kernel/init", params);
  } catch (error) {
    if (isCancelled(error)) return undefined;
    const name = await chooseKernel(error);
    return name === undefined ? undefined : server.callLong<Draft>("New check spec", "kernel/init", { ...params, kernel: name });
  }
}

export function openForm(spec: vscode.Uri): Thenable<unknown> {
  return vscode.commands.executeCommand("vscode.openWith", spec, FORM, vscode.ViewColumn.Beside);
}

export async function newCheckSpec(server: Server, notes: Notes, kernel: vscode.Uri | undefined): Promise<void> {
  if (!kernel || kernel.scheme !== "file" || !kernel.path.endsWith(".cu")) {
    void vscode.window.showInformationMessage("Open the .cu file that the check spec is for.");
    return;
  }
  const spec = specOf(kernel);
  if (!existsSync(spec.fsPath)) {
    const document = await vscode.workspace.openTextDocument(kernel);
    const made = await orTell(() => draft(server, document));
    if (!made) return;
    notes.set(spec, made.unknown);
  }
  await openForm(spec);
}
