// The language client: one upskilld for this window, which also runs every operation.
import { accessSync, constants, statSync } from "node:fs";
import { homedir } from "node:os";
import * as vscode from "vscode";
import { ExecuteCommandRequest, LanguageClient, State, type Middleware } from "vscode-languageclient/node";
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

function settings(): Record<string, unknown> {
  const configuration = vscode.workspace.getConfiguration("upskilld");
  return serverSettings((name) => configuration.get(name));
}

export class Server implements vscode.Disposable {
  readonly output = vscode.window.createOutputChannel("upskilld", { log: true });
  middleware: Middleware = {};
  state: ServerState = "stopped";
  private client: LanguageClient | undefined;
  private readonly changed = new vscode.EventEmitter<ServerState>();
  readonly onDidChange = this.changed.event;
  private readonly listener = vscode.workspace.onDidChangeConfiguration((event) => this.configurationChanged(event));
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

  // Runs an operation ("kernel/init"); the server shows the progress of a long one, with a way to stop it.
  call<Result>(operation: string, params: object, token?: vscode.CancellationToken): Promise<Result> {
    return this.command(`upskilld.${operation.replaceAll("/", ".")}`, [params], token);
  }

  // Runs an operation for a document: on its text as it is, with findings and lens in it.
  callFor<Result>(document: vscode.Uri, operation: string, params: object): Promise<Result> {
    return this.command("upskilld.run", [operation, params, document.toString()]);
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

  private command<Result>(command: string, args: unknown[], token?: vscode.CancellationToken): Promise<Result> {
    return this.running().sendRequest(ExecuteCommandRequest.type, { command, arguments: args }, token);
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
    } else if (event.affectsConfiguration("upskilld") && this.state === "running") {
      void this.client?.sendNotification("workspace/didChangeConfiguration", { settings: { upskilld: settings() } });
    }
  }
}
