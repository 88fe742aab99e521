// A project as CMake describes it: its flags are found, and nothing is wrong that is right.
import assert from "node:assert/strict";
import { readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { shot } from "./checks.mjs";
import { until } from "./editor.mjs";

const FILES = 30;
const name = (i) => `kernel_${String(i).padStart(2, "0")}.cu`;

// Neither the header nor BLOCK is found without compile_commands.json.
const source = (i) => `#include <part/scale.cuh>
static_assert(BLOCK == 128, "the project's own flags");
__global__ void kernel_${i}(float *y, const float *x, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < n) y[i] = part::scale(x[i]) + ${i}.0f;
}
`;

const command = (editor, i) => ({
  directory: `${editor.folder}/build`, file: `${editor.folder}/src/${name(i)}`, output: `CMakeFiles/app.dir/src/${name(i)}.o`,
  command: `/usr/local/cuda/bin/nvcc -forward-unknown-to-host-compiler -DBLOCK=128 -I${editor.folder}/include ` +
    `-O3 -DNDEBUG -std=c++17 "--generate-code=arch=compute_90a,code=[sm_90a]" -x cu -c ${editor.folder}/src/${name(i)} ` +
    `-o CMakeFiles/app.dir/src/${name(i)}.o`,
});

export function prepare(editor) {
  const all = Array.from({ length: FILES }, (_, i) => i);
  editor.write("project/CMakeLists.txt", `project(app LANGUAGES CXX CUDA)\nadd_executable(app ${all.map((i) => `src/${name(i)}`).join(" ")})\n`);
  editor.write("project/include/part/scale.cuh", "#pragma once\nnamespace part { __device__ inline float scale(float x) { return 2.0f * x; } }\n");
  for (const i of all) editor.write(`project/src/${name(i)}`, source(i));
  editor.write("project/src/late.cu", `${source(99)}__device__ int late() { return missing_name; }\n`);
  editor.writeJson("project/build/compile_commands.json", all.map((i) => command(editor, i)));
}

async function opened(editor) {
  const lens = editor.page.locator(".editor-instance .codelens-decoration", { hasText: /\d+ regs/ });
  for (let i = 0; i < FILES; i++) {
    await editor.openFile(name(i));
    await lens.first().waitFor();
  }
  const problems = editor.page.locator('[id="status.problems"]');
  await until(async () => /^\s*0\s+0\s*$/.test(await problems.innerText()), `no problem in ${FILES} good files`);
  await shot(editor, "project");
}

// Whose flags they are, on the first line.
async function flags(editor) {
  await editor.quick(":1:1");
  await editor.page.keyboard.press("Enter");
  await editor.command("Show or Focus Hover");
  const said = editor.page.locator(".monaco-hover:not(.hidden) .hover-contents", { hasText: "compile_commands.json" });
  await said.first().waitFor();
  await shot(editor, "hover-flags");
  await editor.page.keyboard.press("Escape");
}

// From the key that opens the file; the figure is for people, it depends on the machine.
async function late(editor) {
  await editor.quick("late.cu");
  await editor.page.locator(".quick-input-list .monaco-list-row", { hasText: "late.cu" }).first().waitFor();
  const begun = performance.now();
  await editor.page.keyboard.press("Enter");
  await editor.page.locator('.tab.active[data-resource-name="late.cu"]').waitFor();
  const shown = performance.now();
  await editor.page.locator(".squiggly-error").first().waitFor();
  console.log(`# file shown after ${Math.round(shown - begun)} ms, its error ${Math.round(performance.now() - shown)} ms later`);
}

// The newest log of an extension host says when the extension began: what is before it is the window's own start.
function activated(editor) {
  const logs = join(editor.data, "logs");
  const files = readdirSync(logs, { recursive: true }).filter((name) => name.endsWith("exthost.log")).map((name) => join(logs, name));
  const newest = files.sort((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs)[0];
  const line = readFileSync(newest, "utf8").split("\n").findLast((text) => text.includes("_doActivateExtension upskilld.upskilld"));
  return new Date(`${line.slice(0, 23).replace(" ", "T")}Z`).getTime();
}

async function reopened(editor) {
  await editor.page.close();
  const begun = Date.now();
  await editor.open(undefined, "src/late.cu");
  await editor.page.locator('.tab.active[data-resource-name="late.cu"]').waitFor();
  const shown = Date.now();
  await editor.page.locator(".squiggly-error").first().waitFor();
  const end = Date.now(), ours = activated(editor);
  assert.ok(ours >= begun && ours <= end, "the extension began with this window");
  console.log(`# a new window shows the file after ${shown - begun} ms, begins the extension after ${ours - begun} ms, ` +
    `and shows the error ${end - ours} ms later`);
}

export const checks = [
  [`${FILES} files of a project have no error that is none`, opened],
  ["the first line says whose flags apply", flags],
  ["an error among them is shown", late],
  ["an error is shown in a window that opens with its file", reopened],
];
