// The view of skills, with a scripted model as the student of an evaluation.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { once } from "node:events";
import { shot } from "./checks.mjs";
import { until } from "./editor.mjs";

const skill = `---
name: marigold
description: Names the flower of an answer. Use when asked what the flower is.
---

# The flower

The flower is marigold. See [more](references/none.md).
`;
const tests = Array.from({ length: 8 }, (_, i) => ({ input: `What is flower ${i}?`, expected: { contains: ["correct"] } }));
const student = "generic.s:secret=marigold:correct:wrong";

const row = (editor, text) => editor.page.locator(".pane-body .monaco-list-row", { hasText: text }).first();

async function listed(editor) {
  await editor.page.locator('.activitybar a[aria-label="upskilld"]').click();
  await row(editor, "marigold").waitFor();
  await row(editor, "h100-cuda-kernels").waitFor();
  await shot(editor, "skills");
}

async function found(editor) {
  await editor.command("upskilld: Find a Skill");
  await editor.enter("speed up a reduction kernel on an H100");
  await editor.page.locator(".quick-input-list .monaco-list-row", { hasText: "h100-cuda-kernels" }).first().waitFor();
  await shot(editor, "skills-found");
  await editor.choose("h100-cuda-kernels");
  await editor.page.locator('.tab[data-resource-name="SKILL.md"]').waitFor();
}

async function action(editor, text, title) {
  await row(editor, text).hover();
  await row(editor, text).locator(`[aria-label="${title}"]`).click();
}

async function checked(editor) {
  await action(editor, "marigold", "Check Skill");
  const page = await editor.webview("skillCheck");
  await page.locator(".findings .code", { hasText: "link_missing" }).waitFor();
  await shot(editor, "skill-check");
}

async function installed(editor) {
  await action(editor, "marigold", "Install Skill for Agents");
  await editor.page.locator(".quick-input-list .monaco-list-row", { hasText: "Claude Code" }).first().waitFor();
  await shot(editor, "skill-install");
  await editor.tick("Claude Code");
  await editor.choose("Project");
  await editor.page.locator(".notification-list-item-message", { hasText: "claude-code: installed" }).waitFor();
  assert.ok(existsSync(join(editor.folder, ".claude/skills/marigold/SKILL.md")));
  await until(async () => /installed for claude-code/.test(await row(editor, "marigold").innerText()), "the view to say so");
}

// The frame that shows an evaluation.
async function report(editor) {
  for (const one of editor.page.frames().slice(1)) { // not the window, which tells it too
    if (/helps/.test(await one.locator("body").innerText({ timeout: 500 }).catch(() => ""))) return one;
  }
  return undefined;
}

async function evaluated(editor) {
  const model = spawn("python3", [new URL("../../models/fake_model.py", import.meta.url).pathname],
                      { stdio: ["ignore", "pipe", "ignore"] });
  try {
    const [port] = await once(model.stdout, "data");
    await action(editor, "marigold", "Evaluate Skill");
    await editor.enter(student);
    await editor.enter(`http://127.0.0.1:${String(port).trim()}/v1`);
    const frame = await until(() => report(editor), "the report");
    assert.match(await frame.locator("body").innerText(), /marigold/);
    await row(editor, `marigold · ${student}`).waitFor();
    await shot(editor, "skill-report", { height: 2200 });
    const page = await until(async () => (await report(editor))?.content().catch(() => ""), "the report again");
    assert.ok(!page.includes("prefers-color-scheme"), "the editor says which colours");
    await editor.setTheme("light");
    await until(async () => await (await report(editor))?.locator("body").evaluate((body) =>
      getComputedStyle(body).backgroundColor).catch(() => "") === "rgb(255, 255, 255)", "a light report");
    await editor.setTheme("dark");
  } finally {
    model.kill();
  }
}

export function prepare(editor) {
  editor.write("project/skills/marigold/SKILL.md", skill);
  editor.writeJson("project/skills/marigold/skill_meta.json", { tests });
}

export const checks = [
  ["the view lists the project's and the bundled skills", listed],
  ["a task finds a skill, and it is read", found],
  ["a check shows its findings", checked],
  ["a skill is installed for an agent of this machine", installed],
  ["a skill is evaluated, and its report opened", evaluated],
];
