// The view of skills with its commands; from the palette each asks for the skill first.
import * as vscode from "vscode";
import { orTell } from "../errors";
import type { Server } from "../server";
import { check, chooseSkill, evaluate, find, install, uninstall } from "./actions";
import { showReport } from "./report";
import type { Skill } from "./skill";
import { RunNode, SkillNode, SkillTree } from "./tree";

type Command = (node?: SkillNode | RunNode) => Promise<unknown>;

export function addSkills(context: vscode.ExtensionContext, server: Server): Record<string, Command> {
  const tree = new SkillTree(server);
  context.subscriptions.push(tree, vscode.window.registerTreeDataProvider("upskilld.skills", tree));
  const about = (act: (skill: Skill) => Promise<void>): Command => (node) => orTell(async () => {
    const skill = node instanceof SkillNode ? node.skill : await chooseSkill(server);
    if (skill) await act(skill);
    tree.refresh();
  });
  return {
    "skills.refresh": async () => tree.refresh(),
    "skills.find": () => orTell(() => find(server)),
    "skills.check": about((skill) => check(server, context.extensionUri, skill)),
    "skills.install": about((skill) => install(server, skill)),
    "skills.uninstall": about((skill) => uninstall(server, skill)),
    "skills.evaluate": about((skill) => evaluate(server, context.globalState, skill)),
    "skills.report": (node) => orTell(() => showReport(server, node instanceof RunNode ? node.run.run : "latest")),
  };
}
