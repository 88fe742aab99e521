// The MCP inspector's command line, in both eras: schema portability, calls, a load test. It
// needs node 22.19 or later; the package "node" brings one where the machine's is older.
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import {
  assert, assertBroken, assertGood, brokenKernel, check, daemon, environment, finish, goodKernel,
  needCompiler, scratch, Skip,
} from "./check.mjs";

const modules = fileURLToPath(new URL("node_modules/", import.meta.url));
const inspector = `${modules}@modelcontextprotocol/inspector/clients/launcher/build/index.js`;
const run = promisify(execFile);

async function findNode() {
  for (const node of [process.execPath, `${modules}node/bin/node`]) {
    if (node === process.execPath || existsSync(node)) {
      const { stdout } = await run(node, ["--version"]);
      const [major, minor] = stdout.slice(1).split(".").map(Number);
      if (major > 22 || (major === 22 && minor >= 19)) {
        return node;
      }
    }
  }
  throw new Skip("no node from 22.19 on");
}

// The inspector's exit code is its verdict; stdout is the result as one JSON object.
async function inspect(era, args) {
  // It hands a server few variables of its own accord: the folder of the configuration is not among them.
  const told = ["-e", `XDG_CONFIG_HOME=${environment.XDG_CONFIG_HOME}`];
  const all = ["--cli", ...told, daemon, "--protocol-era", era, "--format", "json", ...args];
  const env = { ...environment, HOME: environment.HOME, MCP_CATALOG_PATH: `${scratch}/mcp.json` };
  const { stdout } = await run(await findNode(), [inspector, ...all], { env, timeout: 60_000 });
  const found = JSON.parse(stdout);
  return found.result ?? found;
}

for (const era of ["legacy", "modern", "auto"]) {
  const call = (name, args) =>
    inspect(era, ["--method", "tools/call", "--tool-name", name, "--tool-args-json", JSON.stringify(args)]);

  await check(`inspector ${era}: tools/list --strict finds no fault`, async () => {
    const { tools } = await inspect(era, ["--method", "tools/list", "--strict"]);
    assert.ok(tools.some((tool) => tool.name === "kernel_check"));
  });
  await check(`inspector ${era}: checks a good kernel`, async () => {
    await findNode();
    await needCompiler(call);
    assertGood(await call("kernel_check", { source: goodKernel }));
  });
  await check(`inspector ${era}: checks a broken kernel`, async () => {
    await findNode();
    await needCompiler(call);
    assertBroken(await call("kernel_check", { source: brokenKernel }));
  });
  await check(`inspector ${era}: resources/list`, async () => {
    const { resources } = await inspect(era, ["--method", "resources/list"]);
    assert.ok(Array.isArray(resources));
  });
}
await check("inspector modern: 500 calls, four at once, none fails", async () => {
  const args = ["--method", "tools/call", "--tool-name", "job_status", "--tool-args-json"];
  const none = JSON.stringify({ job: "0".repeat(32) }); // answered by the daemon alone
  const load = ["--load", "--load-concurrency", "4", "--load-requests", "500"];
  const summary = await inspect("modern", [...args, none, ...load]);
  assert.equal(summary.requests, 500);
  assert.equal(summary.errors, 0, JSON.stringify(summary.errorMessages));
  assert.equal(summary.ok + summary.toolErrors, 500);
  const { throughput, latencyMs } = summary;
  console.log(`# ${throughput} calls/s, p50 ${latencyMs.p50} ms, p99 ${latencyMs.p99} ms, the inspector included`);
});
finish();
