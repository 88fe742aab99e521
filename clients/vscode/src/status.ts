// The status item: what the server does, and the way to its commands.
import * as vscode from "vscode";
import type { Server, ServerState } from "./server";

interface Missing { what?: string; message?: string; hint?: string }
interface DaemonStatus {
  version: string;
  kernels?: { toolkits?: { root: string }[] };
  missing?: Missing[];
}

function words(missing: Missing): string {
  return [missing.message ?? missing.what, missing.hint].filter(Boolean).join(": ");
}

export class StatusItem implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem("upskilld.status", vscode.StatusBarAlignment.Right, 100);
  private readonly listener: vscode.Disposable;

  constructor(private readonly server: Server) {
    this.item.name = "upskilld";
    this.item.command = "upskilld.showMenu";
    this.listener = server.onDidChange((state) => void this.show(state));
    void this.show(server.state);
    this.item.show();
  }

  dispose(): void {
    this.listener.dispose();
    this.item.dispose();
  }

  private set(icon: string, tooltip: string, warning = false): void {
    this.item.text = `$(${icon}) upskilld`;
    this.item.tooltip = tooltip;
    this.item.accessibilityInformation = { label: `upskilld: ${tooltip}` };
    this.item.backgroundColor = warning ? new vscode.ThemeColor("statusBarItem.warningBackground") : undefined;
  }

  private async show(state: ServerState): Promise<void> {
    void vscode.commands.executeCommand("setContext", "upskilld.running", state === "running");
    if (typeof state === "object") this.set("warning", state.problem, true);
    else if (state === "running") await this.showRunning();
    else this.set(state === "starting" ? "sync~spin" : "circle-slash", state);
  }

  private async showRunning(): Promise<void> {
    this.set("circuit-board", "running");
    const status = await this.server.call<DaemonStatus>("daemon/status", {}).catch(() => undefined);
    if (!status || this.server.state !== "running") return;
    const missing = (status.missing ?? []).map(words);
    const toolkit = status.kernels?.toolkits?.[0];
    const lines = [`version ${status.version}`, ...(toolkit ? [`compiler: ${toolkit.root}`] : []), ...missing];
    this.set(missing.length ? "warning" : "circuit-board", lines.join("\n"), missing.length > 0);
  }
}
