// What the client tests share: named checks, one line of output each, and a daemon to talk to.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export { assert };

export const daemon = process.argv[2];
const kernels = new URL("../kernels/demo/", import.meta.url);
export const goodKernel = readFileSync(new URL("rms_norm.cu", kernels), "utf8");
export const brokenKernel = readFileSync(new URL("rms_norm_broken.cu", kernels), "utf8");

// State and configuration of its own; the home stays, because the compiler is found there.
export const scratch = mkdtempSync(join(tmpdir(), "upskilld-clients-"));
export const environment = {
  ...process.env,
  XDG_STATE_HOME: join(scratch, "state"),
  XDG_CONFIG_HOME: join(scratch, "config"),
  XDG_CACHE_HOME: join(scratch, "cache"),
};
// These clients are programs: they read the structure.
mkdirSync(join(scratch, "config", "upskilld"), { recursive: true });
writeFileSync(join(scratch, "config", "upskilld", "config.yaml"), "structured_content: always\n");
process.on("exit", () => rmSync(scratch, { recursive: true, force: true }));

const TIME_LIMIT_MS = 120_000;
let failed = false;

// A check that throws Skip was not run, for the reason it says.
export class Skip extends Error {}

// Runs the checks one after another; prints "ok", "not ok" or "skip" and the name of each.
export async function check(name, run) {
  let timer;
  const limit = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error("took too long")), TIME_LIMIT_MS);
  });
  try {
    await Promise.race([run(), limit]);
    console.log(`ok ${name}`);
  } catch (error) {
    if (error instanceof Skip) {
      console.log(`skip ${name}: ${error.message}`);
    } else {
      failed = true;
      console.log(`not ok ${name}: ${String(error.message).split("\n").slice(0, 12).join("\n    ")}`);
    }
  } finally {
    clearTimeout(timer);
  }
}

export function finish() {
  process.exit(failed ? 1 : 0);
}

// A kernel/check result for the good kernel, whoever asked for it.
export function assertGood(result) {
  assert.equal(result.isError ?? false, false, JSON.stringify(result.content));
  const facts = result.structuredContent;
  if (facts.ok === undefined && facts.job) {
    throw new Skip("the check became a job: the machine is too busy");
  }
  assert.equal(facts.ok, true, JSON.stringify(facts));
  assert.equal(facts.kernels.length, 1);
  assert.equal(facts.kernels[0].name, "rms_norm");
  assert.ok(facts.kernels[0].registers > 0);
  assert.match(result.content[0].text, /rms_norm/);
}

// …and for the broken one: a result, not an error, with the places to mend.
export function assertBroken(result) {
  assert.equal(result.isError ?? false, false, JSON.stringify(result.content));
  const facts = result.structuredContent;
  assert.equal(facts.ok, false);
  const lines = facts.diagnostics.filter((d) => d.severity === "error").map((d) => d.line);
  const mistake = brokenKernel.split("\n").findIndex((line) => line.includes("__syncthread()")) + 1;
  assert.ok(lines.includes(mistake), `errors at ${lines}, one is in line ${mistake}`);
  assert.match(result.content[0].text, new RegExp(`\\b${mistake}\\b`));
}

// Without a compiler on the machine the tool says so; that is right, but it is not this test.
export async function needCompiler(call) {
  const result = await call("kernel_check", { source: "__global__ void k() {}" });
  const reason = result.structuredContent?.error?.reason;
  if (result.isError && reason === "no_compiler") {
    throw new Skip("no CUDA compiler on this machine");
  }
}
