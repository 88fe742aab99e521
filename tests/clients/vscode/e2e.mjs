// The packaged extension in an editor: e2e.mjs DAEMON VSIX RIG [FOLDER FOR SCREENSHOTS]
import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { Editor, until } from "./editor.mjs";

const [daemon, vsix, rig, shots] = process.argv.slice(2);
const kernels = new URL("../../kernels/", import.meta.url).pathname;
let failed = 0;

async function shot(editor, name) {
  if (!shots) return;
  mkdirSync(shots, { recursive: true });
  await editor.shot(join(shots, `${name}.png`));
}

async function check(editor, name, run) {
  try {
    await run(editor);
    console.log(`ok vscode: ${name}`);
  } catch (error) {
    failed++;
    console.log(`not ok vscode: ${name}: ${String(error.message).split("\n").slice(0, 6).join("\n    ")}`);
    await shot(editor, `failed-${name.replaceAll(/\W+/g, "-")}`);
  }
}

async function diagnostics(editor) {
  await editor.openFile("broken.cu");
  await editor.page.locator(".squiggly-error").first().waitFor();
  const problems = editor.page.locator('[id="status.problems"]');
  await until(async () => /[1-9]/.test(await problems.innerText()), "the count of problems");
  await shot(editor, "diagnostics");
}

async function lenses(editor) {
  await editor.openFile("good.cu");
  const lens = editor.page.locator(".codelens-decoration").first();
  await until(async () => /\d+ regs/.test(await lens.innerText()), "a lens with registers");
  await shot(editor, "lenses");
}

async function run() {
  const editor = new Editor({ rig, vsix, settings: { "upskilld.path": daemon } });
  try {
    editor.copy(join(kernels, "demo/rms_norm_broken.cu"), "broken.cu");
    editor.copy(join(kernels, "demo/rms_norm.cu"), "good.cu");
    await editor.start();
    await check(editor, "errors stand in a file that is opened", diagnostics);
    await check(editor, "a good kernel has its lens", lenses);
  } finally {
    await editor.stop();
  }
}

assert.ok(rig, "usage: e2e.mjs DAEMON VSIX RIG [FOLDER]");
await run();
process.exit(failed ? 1 : 0);
