// The view of skills and of their evaluations on record.
import { join } from "node:path";
import * as vscode from "vscode";
import type { Server } from "../server";
import { about, grouped, warnings, type Run, type Skill } from "./skill";

export class Group {
  constructor(readonly label: string, readonly icon: string, readonly children: (SkillNode | RunNode)[]) {}
}
export class SkillNode {
  constructor(readonly skill: Skill) {}
}
export class RunNode {
  constructor(readonly run: Run) {}
}
export type Node = Group | SkillNode | RunNode;

const MAX_RUNS = 20;

function skillItem({ skill }: SkillNode): vscode.TreeItem {
  const item = new vscode.TreeItem(skill.name);
  const told = warnings(skill);
  item.description = about(skill);
  item.tooltip = new vscode.MarkdownString().appendText([skill.description, ...told].join("\n\n"));
  item.iconPath = told.length > 0
    ? new vscode.ThemeIcon("warning", new vscode.ThemeColor("list.warningForeground")) : new vscode.ThemeIcon("book");
  item.contextValue = `skill${skill.installed_for.length > 0 ? ".installed" : ""}`;
  item.command = { command: "vscode.open", title: "Read", arguments: [vscode.Uri.file(join(skill.path, "SKILL.md"))] };
  return item;
}

function runItem(node: RunNode): vscode.TreeItem {
  const { run } = node;
  const item = new vscode.TreeItem(`${run.skill} · ${run.model}`);
  item.description = [run.verdict ?? run.state, run.ended].filter(Boolean).join(" · ");
  item.tooltip = run.run;
  item.iconPath = new vscode.ThemeIcon("graph");
  item.contextValue = "run";
  item.command = { command: "upskilld.skills.report", title: "Open Report", arguments: [node] };
  return item;
}

function groupItem(group: Group): vscode.TreeItem {
  const item = new vscode.TreeItem(group.label, vscode.TreeItemCollapsibleState.Expanded);
  item.iconPath = new vscode.ThemeIcon(group.icon);
  return item;
}

export class SkillTree implements vscode.TreeDataProvider<Node>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChangeTreeData = this.changed.event;
  private readonly files = vscode.workspace.createFileSystemWatcher("**/SKILL.md");
  private readonly listeners: vscode.Disposable;

  constructor(private readonly server: Server) {
    const refresh = (): void => this.refresh();
    this.listeners = vscode.Disposable.from(server.onDidChange(refresh), this.files, this.files.onDidCreate(refresh),
      this.files.onDidDelete(refresh), this.files.onDidChange(refresh));
  }

  refresh(): void {
    this.changed.fire();
  }

  getTreeItem(node: Node): vscode.TreeItem {
    return node instanceof Group ? groupItem(node) : node instanceof SkillNode ? skillItem(node) : runItem(node);
  }

  async getChildren(node?: Node): Promise<Node[]> {
    if (node) return node instanceof Group ? node.children : [];
    if (this.server.state !== "running") return []; // the view's welcome says so
    const [{ skills }, { runs }] = await Promise.all([
      this.server.call<{ skills: Skill[] }>("skill/list", {}),
      this.server.call<{ runs: Run[] }>("run/list", { limit: MAX_RUNS }),
    ]);
    const all = grouped(skills).map((group) => new Group(group.label, "library", group.skills.map((skill) => new SkillNode(skill))));
    if (runs.length > 0) all.push(new Group("Evaluations", "beaker", runs.map((run) => new RunNode(run))));
    return all;
  }

  dispose(): void {
    this.listeners.dispose();
    this.changed.dispose();
  }
}
