// Kernels in the editor: errors, lenses, running them.
import assert from "node:assert/strict";
import { join } from "node:path";
import { kernels, shot } from "./checks.mjs";
import { until } from "./editor.mjs";

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

const hover = (editor) => editor.page.locator(".monaco-hover:not(.hidden) .hover-contents").first();

// By the keyboard: what the pointer can ask is asked where the cursor stands.
async function hovered(editor) {
  await editor.quick(":23:3"); // rms_norm
  await editor.page.keyboard.press("Enter");
  await editor.command("Show or Focus Hover");
  await until(async () => /registers/.test(await hover(editor).innerText().catch(() => "")), "the kernel's facts");
  await shot(editor, "hover");
  await editor.page.keyboard.press("Escape");
}

async function fixed(editor) {
  await editor.openFile("broken.cu");
  await editor.page.keyboard.press("Alt+F8");
  await editor.page.locator(".marker-widget .message").waitFor();
  await shot(editor, "problem");
  await editor.page.keyboard.press("Escape");
  await editor.page.keyboard.press("Control+.");
  await editor.page.locator(".action-widget .monaco-list-row").first().waitFor();
  await shot(editor, "fixes");
  await editor.page.keyboard.press("Escape");
}

async function menu(editor) {
  const item = editor.page.locator(".statusbar-item a", { hasText: "upskilld" });
  await item.hover();
  await editor.page.locator(".monaco-hover", { hasText: "version" }).waitFor();
  await shot(editor, "status");
  await item.click();
  await editor.page.locator(".quick-input-list .monaco-list-row", { hasText: "Show Output" }).waitFor();
  await shot(editor, "menu");
  await editor.page.keyboard.press("Escape");
}

// What the test of the panel looks at is wrong on purpose: a race, wrong elements.
const racy = `__global__ void row_sum(float *y, const float *x, int n) {
    __shared__ float partial[64];
    int t = threadIdx.x;
    float sum = 0;
    for (int i = t; i < n; i += blockDim.x)
        sum += x[blockIdx.x * n + i];
    partial[t] = sum;
    for (int step = blockDim.x / 2; step > 0; step /= 2) {
        if (t < step) partial[t] += partial[t + step];
        __syncthreads();
    }
    if (t == 0) y[blockIdx.x] = partial[0] * (blockIdx.x == 3 ? 1.5f : 1.0f);
}
`;
const spec = {
  sizes: [{ rows: 8, n: 200 }, { rows: 1, n: 7 }], launch: { grid: ["rows"], block: [64] },
  args: [{ name: "y", type: "float32", shape: ["rows"], output: true },
         { name: "x", type: "float32", shape: ["rows", "n"], init: { normal: [0, 1] } },
         { name: "n", type: "int32", value: "n" }],
  expect: { op: "sum", dim: 1 },
};

async function atLine(editor, line) {
  const position = editor.page.locator('[id="status.editor.selection"]');
  await until(async () => (await position.innerText()).includes(`Ln ${line},`), `line ${line}`);
}

async function validation(editor) {
  await editor.openFile("racy.cu");
  const lens = editor.page.locator(".codelens-decoration a", { hasText: "Validate" });
  await lens.click();
  const view = await editor.webview("validation");
  const title = await view.locator("h1").innerText();
  assert.match(title, /^fail: .*, \d+ wrong elements?$/);
  const words = editor.page.locator(".codelens-decoration a", { hasText: "fail:" });
  await words.waitFor();
  assert.equal(await words.innerText(), title, "the panel has the lens' words");
  await shot(editor, "validation", { height: 2000 });
  const [reached, all] = await editor.tabThrough(view);
  assert.equal(reached, all, "the keyboard reaches each place and button of the panel");
  const race = view.locator(".findings > li", { hasText: /race/i }).first();
  const place = await race.locator("button.link").first();
  const line = await place.getAttribute("data-line");
  await place.click();
  await atLine(editor, line);
}

async function heat(editor) {
  const view = await editor.webview("validation");
  const icons = editor.page.locator(".glyph-margin-widgets .cgmr");
  const before = await until(() => icons.count(), "heat in the gutter");
  const choice = view.locator("button.choice", { hasText: "idle lanes" });
  await choice.focus();
  await editor.page.keyboard.press("Enter");
  await view.locator('button.choice[aria-pressed="true"]', { hasText: "idle lanes" }).waitFor();
  assert.equal(await view.evaluate(() => document.activeElement.dataset.metric), "idle", "the focus stays");
  await until(async () => await icons.count() !== before, "the heat of another counter");
  await view.locator("section").last().scrollIntoViewIfNeeded();
  await shot(editor, "counters");
  await view.locator("button.choice", { hasText: "no heat" }).click();
  await until(async () => await icons.count() === 0, "an end of the heat");
}

async function edited(editor) {
  const view = await editor.webview("validation");
  await editor.page.locator(".view-line").first().click();
  await editor.page.keyboard.type(" ");
  await view.locator(".old").waitFor();
  await editor.page.keyboard.press("Control+z");
}

async function looks(editor) {
  const view = await editor.webview("validation");
  await view.locator('[data-action="again"]').click();
  await until(async () => await view.locator(".old").count() === 0, "a new result");
  const colour = () => view.evaluate(() => getComputedStyle(document.body).color);
  for (const look of ["light", "contrast", "dark"]) {
    const before = await colour();
    await editor.setTheme(look);
    await until(async () => await colour() !== before, "other colours");
  }
  await shot(editor, "validation", { looks: ["contrast"] });
  await editor.setTheme("dark");
}

// Longer than anybody waits.
const slow = `__global__ void slow(float *y, int n) {
    float sum = 0;
    for (int i = 0; i < n; i++) sum = sum * 1.0001f + 1;
    y[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
`;
const slowSpec = {
  sizes: { n: 100000000 }, launch: { grid: [64], block: [256] }, timeout_s: 120, instructions: 1e15,
  args: [{ name: "y", type: "float32", shape: [16384], output: true }, { name: "n", type: "int32", value: "n" }],
  expect: { expression: { y: "0" } },
};

async function stopped(editor) {
  await editor.openFile("slow.cu");
  await editor.page.locator(".codelens-decoration a", { hasText: "Validate" }).click();
  const progress = editor.page.locator(".notification-list-item", { hasText: "Validating slow.cu" });
  await progress.waitFor();
  await until(async () => /trial 1 of 3/.test(await progress.innerText()), "the trial in the progress");
  await shot(editor, "progress");
  await progress.locator(".monaco-button", { hasText: "Cancel" }).click();
  await progress.waitFor({ state: "detached" });
  const view = await editor.webview("validation");
  assert.match(await view.locator(".file").innerText(), /racy/, "the panel keeps what ended before");
}

async function restarted(editor) {
  await editor.command("upskilld: Restart");
  const item = editor.page.locator(".statusbar-item a", { hasText: "upskilld" });
  await until(async () => /version \d/.test(await item.getAttribute("aria-label") ?? ""), "the state in the status bar");
  await editor.openFile("broken.cu");
  await editor.page.locator(".squiggly-error").first().waitFor();
}

export function prepare(editor) {
  editor.write("project/slow.cu", slow);
  editor.writeJson("project/slow.check.json", slowSpec);
  editor.copy(join(kernels, "demo/rms_norm_broken.cu"), "broken.cu");
  editor.copy(join(kernels, "demo/rms_norm.cu"), "good.cu");
  editor.write("project/racy.cu", racy);
  editor.writeJson("project/racy.check.json", spec);
}

export const checks = [
  ["errors stand in a file that is opened", diagnostics],
  ["a good kernel has its lens", lenses],
  ["hovers say what is known", hovered],
  ["an error has its fixes", fixed],
  ["the status item says what runs, and has the commands", menu],
  ["the lens runs a kernel, the panel has its words, a finding leads to its line", validation],
  ["counters are heat beside the lines, and the keyboard chooses", heat],
  ["an edit makes the panel old", edited],
  ["the panel follows the theme", looks],
  ["a run shows how far it is, and stops", stopped],
  ["the program is started again", restarted],
];
