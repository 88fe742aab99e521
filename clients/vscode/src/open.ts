// Shows a place that the server named.
import { existsSync } from "node:fs";
import * as vscode from "vscode";
import { characterOf, resolveFile } from "./places";

export interface NamedPlace { file: string; line: number; column: number }

function folders(): string[] {
  return (vscode.workspace.workspaceFolders ?? []).map(({ uri }) => uri.fsPath);
}

export function fileOf(name: string, source: vscode.Uri): vscode.Uri | undefined {
  const file = resolveFile(name, source.fsPath, folders(), existsSync);
  return file === undefined ? undefined : vscode.Uri.file(file);
}

export async function openPlace(place: NamedPlace, source: vscode.Uri): Promise<void> {
  const uri = fileOf(place.file, source);
  if (!uri) {
    void vscode.window.showWarningMessage(`The file ${place.file} is not in this workspace.`);
    return;
  }
  const document = await vscode.workspace.openTextDocument(uri);
  const line = Math.min(Math.max(place.line, 1), document.lineCount) - 1;
  const at = new vscode.Position(line, characterOf(document.lineAt(line).text, place.column));
  const open = vscode.window.visibleTextEditors.find((editor) => editor.document === document);
  await vscode.window.showTextDocument(document, {
    selection: new vscode.Range(at, at), viewColumn: open?.viewColumn ?? vscode.ViewColumn.One,
  });
}
