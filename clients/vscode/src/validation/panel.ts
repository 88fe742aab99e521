// The panel with the last validation's result.
import { basename, dirname } from "node:path";
import * as vscode from "vscode";
import { openPlace } from "../open";
import { fill, refill, webviewOptions } from "../webview";
import { HeatDecorations } from "./decorations";
import { metrics, present, type Metric } from "./heat";
import { validationBody } from "./page";
import type { Validation } from "./result";

export interface Judged {
  document: vscode.Uri; // the kernel or its check spec
  source: vscode.Uri; // the kernel
  result: Validation;
}

type Message =
  | { action: "open"; file: string; line: string; column: string }
  | { action: "again" | "sameSeed" }
  | { action: "heat"; metric: string };

export class ValidationPanel implements vscode.Disposable {
  private panel: vscode.WebviewPanel | undefined;
  private judged: Judged | undefined;
  private metric: Metric | undefined;
  private current = true;
  private readonly heat = new HeatDecorations();
  private readonly listener = vscode.workspace.onDidChangeTextDocument((event) => this.edited(event));

  constructor(private readonly extension: vscode.Uri,
              private readonly again: (document: vscode.Uri, seed: string | undefined) => void) {}

  show(judged: Judged): void {
    this.judged = judged;
    this.current = true;
    const choices = present(judged.result.counters?.by_line ?? []);
    this.metric = choices.find(({ id }) => id === this.metric?.id) ?? choices[0];
    this.draw(true);
  }

  dispose(): void {
    this.listener.dispose();
    this.heat.dispose();
    this.panel?.dispose();
  }

  private draw(reveal = false): void {
    const { judged } = this;
    if (!judged) return;
    const body = validationBody({
      ...judged, title: judged.result.summary, file: basename(judged.document.fsPath), folder: dirname(judged.source.fsPath),
      metric: this.metric, current: this.current,
    });
    const lines = judged.result.counters?.by_line ?? [];
    if (this.metric && this.current) this.heat.show(lines, this.metric, judged.source);
    else this.heat.clear();
    if (this.panel) {
      refill(this.panel.webview, body);
      if (reveal) this.panel.reveal(this.column(), true);
      return;
    }
    this.panel = this.create();
    fill(this.panel.webview, this.extension, { name: "validation", title: "Kernel validation", body });
  }

  private create(): vscode.WebviewPanel {
    const panel = vscode.window.createWebviewPanel("upskilld.validation", "Kernel Validation",
      { viewColumn: this.column(), preserveFocus: true },
      { ...webviewOptions(this.extension), retainContextWhenHidden: true, enableFindWidget: true });
    panel.iconPath = vscode.Uri.joinPath(this.extension, "media/upskilld.svg");
    panel.webview.onDidReceiveMessage((message: Message) => this.received(message));
    panel.onDidDispose(() => {
      this.panel = undefined;
      this.heat.clear();
    });
    return panel;
  }

  // Not over the kernel; else where it is.
  private column(): vscode.ViewColumn {
    const kernel = vscode.window.visibleTextEditors.find(({ document }) =>
      document.uri.toString() === this.judged?.source.toString())?.viewColumn;
    const now = this.panel?.viewColumn ?? vscode.ViewColumn.Two;
    return now !== kernel ? now : kernel === vscode.ViewColumn.Two ? vscode.ViewColumn.One : vscode.ViewColumn.Two;
  }

  private received(message: Message): void {
    const { judged } = this;
    if (!judged) return;
    if (message.action === "open") {
      const { file, line, column } = message;
      void openPlace({ file, line: Number(line), column: Number(column) }, judged.source);
    } else if (message.action === "heat") {
      this.metric = metrics.find(({ id }) => id === message.metric);
      this.draw();
    } else {
      this.again(judged.document, message.action === "sameSeed" ? judged.result.seed : undefined);
    }
  }

  // The figures are those of the text that ran.
  private edited({ document, contentChanges }: vscode.TextDocumentChangeEvent): void {
    const { judged } = this;
    const isOurs = [judged?.document, judged?.source].some((uri) => uri?.toString() === document.uri.toString());
    if (!isOurs || contentChanges.length === 0 || !this.current) return;
    this.current = false;
    if (this.panel) this.draw();
  }
}
