// Pages about skills: what a check found, and the report of an evaluation.
import { basename } from "node:path";
import * as vscode from "vscode";
import { findingsSection } from "../findings";
import { html, type Html } from "../html";
import { openPlace, type NamedPlace } from "../open";
import { fill, webviewOptions } from "../webview";
import type { Server } from "../server";
import type { CheckResult } from "./skill";

export function checkBody(name: string, result: CheckResult): Html {
  const { tokens } = result;
  const size = tokens?.body === undefined ? "" : `tokens: ${tokens.body} of its body, ${tokens.catalogue ?? 0} of its entry in the catalogue`;
  return html`<header class="${result.ok ? "good" : "bad"}"><p class="file">skill check</p>
<h1 role="status">${name}: ${result.ok ? "ok" : "not ok"}</h1><p class="facts">${size}</p></header>
<main>${result.findings.length === 0 && html`<p>Nothing was found.</p>`}
${findingsSection("Findings", result.findings, result.path ?? "", result.omitted)}</main>`;
}

export function showCheck(extension: vscode.Uri, name: string, result: CheckResult): void {
  const panel = vscode.window.createWebviewPanel("upskilld.skillCheck", `Check of ${name}`,
    vscode.ViewColumn.Active, webviewOptions(extension));
  fill(panel.webview, extension, { name: "skillCheck", title: name, body: checkBody(name, result) });
  const skill = vscode.Uri.joinPath(vscode.Uri.file(result.path ?? ""), "SKILL.md");
  panel.webview.onDidReceiveMessage(({ file, line, column }: { file: string; line: string; column: string }) =>
    void openPlace({ file, line: Number(line), column: Number(column) } satisfies NamedPlace, skill));
}

// The server's report is one page without scripts that loads nothing; so nothing is allowed. Its colours
// follow the editor's theme, not the system's.
export function reportPage(text: string, dark: boolean): string {
  const policy = `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">`;
  return text.replace(/<head>/i, (head) => head + policy)
    .replaceAll(/@media\s*\(prefers-color-scheme:\s*dark\)/g, dark ? "@media all" : "@media not all");
}

function isDark({ kind }: vscode.ColorTheme): boolean {
  return kind === vscode.ColorThemeKind.Dark || kind === vscode.ColorThemeKind.HighContrast;
}

export async function showReport(server: Server, run: string): Promise<void> {
  const { text } = await server.call<{ text: string }>("run/show", { run, format: "html" });
  const panel = vscode.window.createWebviewPanel("upskilld.report", `Evaluation ${basename(run)}`,
    vscode.ViewColumn.Active, { enableScripts: false, localResourceRoots: [], enableFindWidget: true });
  const draw = (theme: vscode.ColorTheme): void => { panel.webview.html = reportPage(text, isDark(theme)); };
  const listener = vscode.window.onDidChangeActiveColorTheme(draw);
  panel.onDidDispose(() => listener.dispose());
  draw(vscode.window.activeColorTheme);
}
