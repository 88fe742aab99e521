// The form as an editor for NAME.check.json: the text stays the truth, undo and saving are the editor's own.
import { basename } from "node:path";
import { getLocation } from "jsonc-parser";
import * as vscode from "vscode";
import { CompletionRequest, type CompletionItem } from "vscode-languageclient/node";
import { words } from "../errors";
import { html, type Html } from "../html";
import { locateProgram, type Server } from "../server";
import { fill, refill, webviewOptions } from "../webview";
import { changed, type Change } from "./change";
import { formBody, type Note, type Problem } from "./form";
import { member, offsetOf, readPath, readSpec, writePath } from "./member";
import { readSchema, type Schema } from "./schema";

export const FORM = "upskilld.checkSpec";

type Message = Change | { action: "validate" } | { action: "text" } | { action: "goto"; path: string };

const severities = ["error", "warning", "info", "info"] as const;

function problemsOf(document: vscode.TextDocument): Problem[] {
  const text = document.getText();
  return vscode.languages.getDiagnostics(document.uri).map(({ message, severity, range }) => ({
    message, severity: severities[severity] ?? "error",
    path: writePath(getLocation(text, document.offsetAt(range.start) + 1).path),
  }));
}

function replaceAll(document: vscode.TextDocument, text: string): Thenable<boolean> {
  const edit = new vscode.WorkspaceEdit();
  edit.replace(document.uri, new vscode.Range(0, 0, document.lineCount, 0), text);
  return vscode.workspace.applyEdit(edit);
}

// What kernel/init did not know of a spec, until the member is filled in.
export class Notes {
  private readonly all = new Map<string, Note[]>();

  set(document: vscode.Uri, notes: Note[]): void {
    this.all.set(document.toString(), notes);
  }

  of(document: vscode.Uri): Note[] {
    return this.all.get(document.toString()) ?? [];
  }

  filled(document: vscode.Uri, path: string): void {
    this.set(document, this.of(document).filter(({ member: noted }) => noted !== path && !path.startsWith(`${noted}.`)));
  }
}

// One open form.
class Form {
  private turn: Promise<unknown> = Promise.resolve();
  private operators: string[] = [];
  private shown = false;

  constructor(private readonly editor: SpecEditor, readonly document: vscode.TextDocument,
              private readonly webview: vscode.Webview) {
    webview.onDidReceiveMessage((message: Message) => {
      this.turn = this.turn.then(() => this.received(message));
    });
  }

  async draw(): Promise<void> {
    this.show(await this.body());
    const spec = readSpec(this.document.getText());
    if (this.operators.length === 0 && member(spec, ["expect", "op"]) !== undefined) await this.learnOperators();
  }

  private show(body: Html): void {
    if (this.shown) refill(this.webview, body);
    else fill(this.webview, this.editor.extension, { name: "spec", title: "Check spec", body });
    this.shown = true;
  }

  private async body(): Promise<Html> {
    try {
      return formBody({
        file: basename(this.document.fileName), text: this.document.getText(), schema: await this.editor.schema(),
        problems: problemsOf(this.document), notes: this.editor.notes.of(this.document.uri), operators: this.operators,
      });
    } catch (error) {
      return html`<p class="bad">The form cannot be shown: ${words(error)}</p><p><button data-action="text">Edit as Text</button></p>`;
    }
  }

  // The server completes the operator's name, so it knows them all.
  private async learnOperators(): Promise<void> {
    const at = this.document.positionAt(offsetOf(this.document.getText(), ["expect", "op"]) + 1);
    const items = await this.editor.server.request<CompletionItem[] | null>(CompletionRequest.method, {
      textDocument: { uri: this.document.uri.toString() }, position: { line: at.line, character: at.character },
    }).catch(() => null);
    this.operators = (items ?? []).map(({ label }) => label);
    if (this.operators.length > 0) this.show(await this.body());
  }

  private async received(message: Message): Promise<void> {
    const { uri } = this.document;
    if (message.action === "text") {
      await vscode.commands.executeCommand("vscode.openWith", uri, "default", vscode.ViewColumn.Active);
    } else if (message.action === "goto") {
      const at = this.document.positionAt(offsetOf(this.document.getText(), readPath(message.path)));
      await vscode.window.showTextDocument(this.document, { selection: new vscode.Range(at, at), viewColumn: vscode.ViewColumn.Beside });
    } else if (message.action === "validate") {
      await this.document.save();
      await vscode.commands.executeCommand("upskilld.validateKernel", uri);
    } else {
      if ("path" in message) this.editor.notes.filled(uri, message.path);
      if (message.action === "expect") this.editor.notes.filled(uri, "expect");
      const text = changed(this.document.getText(), message);
      if (text === this.document.getText()) await this.draw();
      else await replaceAll(this.document, text);
    }
  }
}

export class SpecEditor implements vscode.CustomTextEditorProvider, vscode.Disposable {
  readonly notes = new Notes();
  private readonly forms = new Set<Form>();
  private known: Promise<Schema> | undefined;
  private readonly listeners = vscode.Disposable.from(
    vscode.workspace.onDidChangeTextDocument(({ document }) => this.redraw([document.uri])),
    vscode.languages.onDidChangeDiagnostics(({ uris }) => this.redraw(uris)));

  constructor(readonly server: Server, readonly extension: vscode.Uri) {}

  async resolveCustomTextEditor(document: vscode.TextDocument, panel: vscode.WebviewPanel): Promise<void> {
    panel.webview.options = webviewOptions(this.extension);
    const form = new Form(this, document, panel.webview);
    this.forms.add(form);
    panel.onDidDispose(() => this.forms.delete(form));
    await form.draw();
  }

  // Asked once; again when it failed, or the program is another.
  schema(): Promise<Schema> {
    const found = locateProgram();
    if ("problem" in found) return Promise.reject(new Error(found.problem));
    this.known ??= readSchema(found.program);
    this.known.catch(() => { this.known = undefined; });
    return this.known;
  }

  dispose(): void {
    this.listeners.dispose();
  }

  private redraw(uris: readonly vscode.Uri[]): void {
    const changedOnes = new Set(uris.map(String));
    for (const form of this.forms) {
      if (changedOnes.has(form.document.uri.toString())) void form.draw();
    }
  }
}
