import * as vscode from "vscode";
import { showMenu } from "./menu";
import { provideMcpServer } from "./mcp";
import { chooseProgram, installWheel, openWalkthrough, tellWhatIsMissing } from "./missing";
import { Server } from "./server";
import { addSkills } from "./skills/view";
import { newCheckSpec } from "./spec/create";
import { FORM, SpecEditor } from "./spec/editor";
import { StatusItem } from "./status";
import { ValidationPanel } from "./validation/panel";
import { asValidation, validate } from "./validation/validate";

function addCommands(context: vscode.ExtensionContext, commands: Record<string, (...args: never[]) => unknown>): void {
  for (const [name, run] of Object.entries(commands)) {
    context.subscriptions.push(vscode.commands.registerCommand(`upskilld.${name}`, run));
  }
}

function addValidation(context: vscode.ExtensionContext, server: Server): (document?: vscode.Uri) => Promise<void> {
  const panel: ValidationPanel = new ValidationPanel(context.extensionUri,
    (document, seed) => void validate(server, panel, document, seed === undefined ? {} : { seed }));
  context.subscriptions.push(panel);
  server.middleware.executeCommand = (command, args, next) => {
    const click = asValidation(command, args);
    return click ? validate(server, panel, click.document, click.parameters) : next(command, args);
  };
  return async (document = vscode.window.activeTextEditor?.document.uri) => {
    await validate(server, panel, document ?? vscode.Uri.parse("untitled:"));
  };
}

function addSpecs(context: vscode.ExtensionContext, server: Server): (kernel?: vscode.Uri) => Promise<void> {
  const editor = new SpecEditor(server, context.extensionUri);
  context.subscriptions.push(editor, vscode.window.registerCustomEditorProvider(FORM, editor,
    { webviewOptions: { retainContextWhenHidden: true, enableFindWidget: true } }));
  return (kernel = vscode.window.activeTextEditor?.document.uri) => newCheckSpec(server, editor.notes, kernel);
}

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const server = new Server();
  const version = String(context.extension.packageJSON.version);
  context.subscriptions.push(server, new StatusItem(server), tellWhatIsMissing(server),
                             provideMcpServer(server, version));
  addCommands(context, {
    newCheckSpec: addSpecs(context, server),
    validateKernel: addValidation(context, server),
    restart: () => server.restart(),
    showOutput: () => server.output.show(),
    showMenu: () => showMenu(server),
    ...addSkills(context, server),
    chooseProgram,
    installWheel: (wheel?: vscode.Uri) => installWheel(context.globalStorageUri, wheel),
    openWalkthrough,
  });
  await server.start();
}
