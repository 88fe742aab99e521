// What the parts of the end-to-end test share: named checks, a line of output each, and screenshots.
import { mkdirSync } from "node:fs";
import { join } from "node:path";

export const [daemon, vsix, rig, shots] = process.argv.slice(2);
export const kernels = new URL("../../kernels/", import.meta.url).pathname;
export let failed = 0;
if (shots) mkdirSync(shots, { recursive: true });

// Pictures for people to look at, where a folder for them is given.
export async function shot(editor, name, options) {
  if (shots) await editor.shot(join(shots, name), options);
}

export async function check(editor, name, run) {
  try {
    await run(editor);
    console.log(`ok vscode: ${name}`);
  } catch (error) {
    failed++;
    console.log(`not ok vscode: ${name}: ${String(error.message).split("\n").slice(0, 6).join("\n    ")}`);
    if (shots) await editor.page.screenshot({ path: join(shots, `failed-${name.replaceAll(/\W+/g, "-")}.png`) });
  }
}
