// The language client: one upskilld for this window, which also runs every operation.
import { randomUUID } from "node:crypto";
import { accessSync, constants, statSync } from "node:fs";
import { homedir } from "node:os";
import * as vscode from "vscode";
import { ExecuteCommandRequest, LanguageClient, State, WorkDoneProgress, type Middleware } from "vscode-languageclient/node";
import { findProgram, type Found } from "./program";
import { serverSettings } from "./settings";

export type ServerState = "stopped" | "starting" | "running" | { problem: string };

const documents = [
  { scheme: "file", pattern: "**/*.{cu,cuh}" },
  { scheme: "untitled", language: "cuda-cpp" },
  { scheme: "file", pattern: "**/*.check.json" },
  { scheme: "file", pattern: "**/{SKILL,skill}.md" },
  { scheme: "file", pattern: "**/build.toml" },
];

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

export function firstFolder(): string | undefined {
  return vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
}

export function locateProgram(): Found {
  return findProgram({
    setting: vscode.workspace.getConfiguration("upskilld").get("path", ""),
    home: homedir(),
    path: process.env["PATH"] ?? "",
    folder: firstFolder(),
    isProgram,
  });
}

function clangdServes(): boolean {
  return vscode.extensions.getExtension("llvm-vs-code-extensions.vscode-clangd") !== undefined &&
    vscode.workspace.getConfiguration("clangd").get("enable", true);
}

function settings(): Record<string, unknown> {
  const configuration = vscode.workspace.getConfiguration("upskilld");
  return serverSettings((name) => configuration.get(name), clangdServes());
}

function commandOf(operation: string): string {
  return `upskilld.${operation.replaceAll("/", ".")}`;
}

export class Server implements vscode.Disposable {
  readonly output = vscode.window.createOutputChannel("upskilld", { log: true });
  middleware: Middleware = {};
  state: ServerState = "stopped";
  private client: LanguageClient | undefined;
  private readonly changed = new vscode.EventEmitter<ServerState>();
  readonly onDidChange = this.changed.event;
  private readonly listener = vscode.Disposable.from(
    vscode.workspace.onDidChangeConfiguration((event) => this.configurationChanged(event)),
    vscode.extensions.onDidChange(() => this.sendSettings()));
  private turn: Promise<void> = Promise.resolve();

  start(): Promise<void> {
    return this.next(() => this.startNow());
  }

  restart(): Promise<void> {
    return this.next(async () => {
      await this.stopNow();
      await this.startNow();
    });
  }

  // Runs an operation, such as kernel/init.
  call<Result>(operation: string, params: object): Promise<Result> {
    return this.command(commandOf(operation), [params]);
  }

  // One that takes long: shows how far it is, and lets it be stopped.
  callLong<Result>(title: string, operation: string, params: object): Promise<Result> {
    return this.long(title, commandOf(operation), [params]);
  }

  // The same for a document: on its text as it is, with findings and lens in it.
  callFor<Result>(title: string, document: vscode.Uri, operation: string, params: object): Promise<Result> {
    return this.long(title, "upskilld.run", [operation, params, document.toString()]);
  }

  request<Result>(method: string, params: object): Promise<Result> {
    return this.running().sendRequest<Result>(method, params);
  }

  dispose(): void {
    this.listener.dispose();
    this.changed.dispose();
    void this.stopNow().finally(() => this.output.dispose());
  }

  private next(step: () => Promise<void>): Promise<void> {
    this.turn = this.turn.then(step, step);
    return this.turn;
  }

  private running(): LanguageClient {
    if (!this.client || this.state !== "running") throw new Error("upskilld is not running.");
    return this.client;
  }

  private command<Result>(command: string, args: unknown[]): Promise<Result> {
    return this.running().sendRequest(ExecuteCommandRequest.type, { command, arguments: args });
  }

  private async long<Result>(title: string, command: string, args: unknown[]): Promise<Result> {
    const client = this.running();
    const workDoneToken = randomUUID();
    const options = { location: vscode.ProgressLocation.Notification, cancellable: true, title };
    return vscode.window.withProgress(options, async (progress, stop) => {
      let shown = 0;
      const listener = client.onProgress(WorkDoneProgress.type, workDoneToken, (value) => {
        if (value.kind === "end") return;
        const percentage = value.percentage ?? shown;
        progress.report({ message: value.message ?? "", increment: percentage - shown });
        shown = percentage;
      });
      try {
        return await client.sendRequest<Result>(ExecuteCommandRequest.method, { command, arguments: args, workDoneToken }, stop);
      } finally {
        listener.dispose();
      }
    });
  }

  private setState(state: ServerState): void {
    this.state = state;
    this.changed.fire(state);
  }

  private async startNow(): Promise<void> {
    const found = locateProgram();
    if ("problem" in found) {
      this.output.warn(found.problem);
      this.setState(found);
      return;
    }
    this.setState("starting");
    this.client = this.makeClient(found.program);
    try {
      await this.client.start();
    } catch (error) {
      this.setState({ problem: `${found.program} did not start: ${error instanceof Error ? error.message : error}` });
    }
  }

  private makeClient(command: string): LanguageClient {
    const cwd = firstFolder();
    const client = new LanguageClient("upskilld", "upskilld", { command, args: [], options: cwd ? { cwd } : {} }, {
      documentSelector: documents,
      initializationOptions: settings(),
      outputChannel: this.output,
      middleware: this.middleware,
    });
    client.onDidChangeState(({ newState }) => {
      if (client !== this.client) return;
      if (newState === State.Running) this.setState("running");
      if (newState === State.Stopped) this.setState("stopped");
    });
    return client;
  }

  private async stopNow(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    this.setState("stopped");
    await client?.dispose().catch(() => undefined); // one that never came up has nothing to stop
  }

  private configurationChanged(event: vscode.ConfigurationChangeEvent): void {
    if (event.affectsConfiguration("upskilld.path")) {
      void this.restart();
    } else if (event.affectsConfiguration("upskilld") || event.affectsConfiguration("clangd.enable")) {
      this.sendSettings();
    }
  }

  private sendSettings(): void {
    if (this.state !== "running") return;
    void this.client?.sendNotification("workspace/didChangeConfiguration", { settings: { upskilld: settings() } });
  }
}
