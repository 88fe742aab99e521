// Heat beside the lines of an editor.
import * as vscode from "vscode";
import { fileOf } from "../open";
import { heat, LEVELS, type HotLine, type Metric } from "./heat";
import { short } from "./numbers";
import type { LineCounters } from "./result";

const dark = ["#3d4f66", "#4f6f8f", "#b08a2e", "#d9822b", "#f14c4c"];
const light = ["#b9cfe6", "#7fa8d1", "#d9a520", "#d9701a", "#c72e2e"];

// A bar as high as the level, so that colour is not all that tells it.
function icon(level: number, colour: string): vscode.Uri {
  const height = (16 * level) / LEVELS;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="16" height="16"><rect x="6" y="${16 - height}" width="5" height="${height}" rx="1" fill="${colour}"/></svg>`;
  return vscode.Uri.parse(`data:image/svg+xml;base64,${Buffer.from(svg).toString("base64")}`);
}

function decoration(level: number): vscode.TextEditorDecorationType {
  const look = (colours: string[]): vscode.ThemableDecorationRenderOptions => {
    const colour = colours[level - 1] ?? "";
    return { gutterIconPath: icon(level, colour), overviewRulerColor: level >= LEVELS - 1 ? colour : undefined };
  };
  return vscode.window.createTextEditorDecorationType({
    gutterIconSize: "contain", overviewRulerLane: vscode.OverviewRulerLane.Left, dark: look(dark), light: look(light),
  });
}

function hover({ counters: c, value, share }: HotLine, metric: Metric): vscode.MarkdownString {
  const rows = [
    `**${short(100 * share)} %** of all ${metric.label} (${short(value)})`,
    c.instructions !== undefined && `${c.instructions} warp instructions, ${short(c.active_lanes_percent)} % of lanes active`,
    c.global_requests !== undefined && `${c.global_requests} requests to global memory, ${short(c.global_sectors_per_request)} sectors each, ${c.global_sectors_ideal} of ${c.global_sectors} needed`,
    c.shared_requests !== undefined && `${c.shared_requests} requests to shared memory, ${c.shared_bank_conflicts ?? 0} bank conflicts`,
  ].filter((row): row is string => typeof row === "string");
  return new vscode.MarkdownString(rows.join("  \n"));
}

export class HeatDecorations implements vscode.Disposable {
  private readonly types = Array.from({ length: LEVELS }, (_, i) => decoration(i + 1));
  private readonly listener = vscode.window.onDidChangeVisibleTextEditors(() => this.draw());
  private shown: { lines: HotLine[]; metric: Metric; source: vscode.Uri } | undefined;

  show(lines: readonly LineCounters[], metric: Metric, source: vscode.Uri): void {
    this.shown = { lines: heat(lines, metric), metric, source };
    this.draw();
  }

  clear(): void {
    this.shown = undefined;
    this.draw();
  }

  dispose(): void {
    this.listener.dispose();
    this.types.forEach((type) => type.dispose());
  }

  private draw(): void {
    for (const editor of vscode.window.visibleTextEditors) this.drawIn(editor);
  }

  private drawIn(editor: vscode.TextEditor): void {
    const { shown } = this;
    const here = (shown?.lines ?? []).filter(({ counters }) => this.isIn(editor.document, counters));
    this.types.forEach((type, i) => editor.setDecorations(type, here
      .filter(({ level }) => level === i + 1)
      .map((line): vscode.DecorationOptions => ({
        range: editor.document.lineAt(line.counters.line - 1).range,
        hoverMessage: shown && hover(line, shown.metric),
      }))));
  }

  private isIn(document: vscode.TextDocument, { file, line }: LineCounters): boolean {
    return this.shown !== undefined && line >= 1 && line <= document.lineCount &&
      fileOf(file, this.shown.source)?.fsPath === document.uri.fsPath;
  }
}
