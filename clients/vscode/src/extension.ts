import * as vscode from "vscode";
import { showMenu } from "./menu";
import { provideMcpServer } from "./mcp";
import { chooseProgram, openWalkthrough, tellWhatIsMissing } from "./missing";
import { Server } from "./server";
import { StatusItem } from "./status";

function addCommands(context: vscode.ExtensionContext, commands: Record<string, (...args: never[]) => unknown>): void {
  for (const [name, run] of Object.entries(commands)) {
    context.subscriptions.push(vscode.commands.registerCommand(`upskilld.${name}`, run));
  }
}

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const server = new Server();
  const version = String(context.extension.packageJSON.version);
  context.subscriptions.push(server, new StatusItem(server), tellWhatIsMissing(server),
                             provideMcpServer(server, version));
  addCommands(context, {
    restart: () => server.restart(),
    showOutput: () => server.output.show(),
    showMenu: () => showMenu(server),
    chooseProgram,
    openWalkthrough,
  });
  await server.start();
}
