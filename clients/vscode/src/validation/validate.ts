// "Validate Kernel": for a kernel or its check spec, as an editor's lens does it.
import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import * as vscode from "vscode";
import { orTell } from "../errors";
import type { Server } from "../server";
import type { Judged, ValidationPanel } from "./panel";
import type { Validation } from "./result";

const OPERATION = "kernel/validate";
const SPEC = /\.check\.json$/, KERNEL = /\.cu$/;

export function specOf(kernel: vscode.Uri): vscode.Uri {
  return kernel.with({ path: kernel.path.replace(KERNEL, ".check.json") });
}

// The kernel of a check spec: what it names as path, else the file beside it.
export function kernelOf(spec: vscode.Uri): vscode.Uri {
  let named: unknown;
  try {
    named = (JSON.parse(readFileSync(spec.fsPath, "utf8")) as { path?: unknown }).path;
  } catch {
    named = undefined; // the server says what is wrong with it
  }
  return typeof named === "string" ? vscode.Uri.file(join(dirname(spec.fsPath), named))
    : spec.with({ path: spec.path.replace(SPEC, ".cu") });
}

async function offerSpec(kernel: vscode.Uri): Promise<void> {
  const create = "New Check Spec…";
  const answer = await vscode.window.showInformationMessage(
    `${basename(specOf(kernel).fsPath)} is missing: it says how ${basename(kernel.fsPath)} is launched, and what is expected.`, create);
  if (answer === create) await vscode.commands.executeCommand("upskilld.newCheckSpec", kernel);
}

// parameters: beside the path, as a lens or the panel says them.
export async function validate(server: Server, panel: ValidationPanel, document: vscode.Uri, parameters: object = {}): Promise<void> {
  const isSpec = SPEC.test(document.path);
  if (document.scheme !== "file" || (!isSpec && !KERNEL.test(document.path))) {
    void vscode.window.showInformationMessage("Open a .cu file, or its .check.json, that is saved on disk.");
    return;
  }
  if (!isSpec && !existsSync(specOf(document).fsPath)) {
    await offerSpec(document);
    return;
  }
  await vscode.workspace.openTextDocument(document); // the server has its text
  const params = { ...parameters, path: document.fsPath };
  const result = await orTell(() => server.callFor<Validation>(`Validating ${basename(document.fsPath)}`, document, OPERATION, params));
  if (!result) return;
  const judged: Judged = { document, source: isSpec ? kernelOf(document) : document, result };
  panel.show(judged);
}

// A click on the lens comes this way too.
export function asValidation(command: string, args: unknown[]): { document: vscode.Uri; parameters: object } | undefined {
  const [operation, parameters, uri] = args;
  return command === "upskilld.run" && operation === OPERATION && typeof uri === "string"
    ? { document: vscode.Uri.parse(uri), parameters: typeof parameters === "object" && parameters ? parameters : {} }
    : undefined;
}
