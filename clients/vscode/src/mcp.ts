// The same program as an MCP server for the editor's own agent.
import * as vscode from "vscode";
import { locateProgram, type Server } from "./server";

export function provideMcpServer(server: Server, version: string): vscode.Disposable {
  const changed = new vscode.EventEmitter<void>();
  const listener = server.onDidChange(() => changed.fire());
  const provider = vscode.lm.registerMcpServerDefinitionProvider("upskilld", {
    onDidChangeMcpServerDefinitions: changed.event,
    provideMcpServerDefinitions: () => {
      const found = locateProgram();
      if ("problem" in found) return [];
      const definition = new vscode.McpStdioServerDefinition("upskilld", found.program, [], {}, version);
      const folder = vscode.workspace.workspaceFolders?.[0];
      if (folder) definition.cwd = folder.uri;
      return [definition];
    },
  });
  return vscode.Disposable.from(changed, listener, provider);
}
