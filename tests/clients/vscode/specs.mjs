// The form for check specs.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { shot } from "./checks.mjs";
import { until } from "./editor.mjs";

const source = `__global__ void scale(float *y, const float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] * 0.5f;
}
int main() {
    int n = 1 << 20;
    float *x, *y;
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&y, n * sizeof(float));
    scale<<<(n + 255) / 256, 256>>>(y, x, n);
}
`;
const written = (editor) => JSON.parse(readFileSync(join(editor.folder, "scale.check.json"), "utf8"));

async function drafted(editor) {
  await editor.openFile("scale.cu");
  await editor.page.locator(".codelens-decoration").first().waitFor();
  await editor.command("upskilld: New Check Spec");
  const form = await editor.webview("spec");
  await form.locator(".hint", { hasText: "1048576" }).waitFor(); // what the source has, as kernel/init says it
  assert.equal(await form.locator('input[data-path="launch.grid"]').inputValue(), "(n + 255) / 256");
  await shot(editor, "spec", { height: 2600 });
}

async function byKeyboard(editor) {
  const [reached, all] = await editor.tabThrough(await editor.webview("spec"));
  assert.ok(all > 25, `${all} fields and buttons`);
  assert.equal(reached, all, "each is reached by Tab");
}

async function wrong(editor) {
  const form = await editor.webview("spec");
  const shape = form.locator('input[data-path="args[0].shape"]');
  await shape.fill("n, missing");
  await editor.page.keyboard.press("Tab");
  await form.locator(".findings .error", { hasText: "missing" }).waitFor();
  await until(() => shape.evaluate((field) => field.getAttribute("aria-invalid") === "true"), "a mark at the field");
  await shot(editor, "spec-wrong");
  await shape.fill("n");
  await editor.page.keyboard.press("Tab");
  await until(async () => await form.locator(".findings .error").count() === 0, "an end of the error");
}

async function operators(editor) {
  const form = await editor.webview("spec");
  await form.locator('select[data-change="expect"]').selectOption("op");
  await form.locator('datalist option[value="softmax"]').waitFor({ state: "attached" });
  await form.locator('input[data-path="expect.op"]').fill("softmax");
  await editor.page.keyboard.press("Tab");
  await until(async () => /"op": "softmax"/.test(await form.locator('textarea[data-path="expect"]').inputValue()), "the operator as JSON");
}

async function filled(editor) {
  const form = await editor.webview("spec");
  await form.locator('select[data-change="expect"]').selectOption("expression");
  const expression = form.locator('input[data-path="expect.expression.y"]');
  await expression.fill("x[i] * 0.5");
  await editor.page.keyboard.press("Tab");
  await form.locator("button", { hasText: "Add Case" }).click();
  await form.locator('input[data-path="sizes[1].n"]').fill("7");
  await editor.page.keyboard.press("Tab");
  await form.locator(".good", { hasText: "nothing wrong" }).waitFor();
  await form.locator("button", { hasText: "Validate Kernel" }).click();
  const panel = await editor.webview("validation");
  await panel.locator("h1", { hasText: /^pass \(2 cases/ }).waitFor();
  assert.deepEqual(written(editor).sizes, [{ n: 32768 }, { n: 7 }]);
  assert.deepEqual(written(editor).expect, { expression: { y: "x[i] * 0.5" } });
  await shot(editor, "spec-validated", { height: 2000 });
}

export function prepare(editor) {
  editor.write("project/scale.cu", source);
}

export const checks = [
  ["a new check spec begins with what the source says, and says what it does not", drafted],
  ["the keyboard reaches each field of the form", byKeyboard],
  ["what the server refuses is marked in the form", wrong],
  ["the server's operators are offered", operators],
  ["a filled form runs and passes", filled],
];
