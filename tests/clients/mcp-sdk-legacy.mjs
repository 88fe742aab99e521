// The official TypeScript SDK 1.x: the client inside most of today's hosts. It opens with
// initialize and speaks revision 2025-11-25.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { ListRootsRequestSchema } from "@modelcontextprotocol/sdk/types.js";

import {
  assert, assertBroken, assertGood, brokenKernel, check, daemon, environment, finish, goodKernel,
  needCompiler, scratch,
} from "./check.mjs";

const project = join(scratch, "a project é"); // a root whose URI needs escapes
mkdirSync(project);
writeFileSync(join(project, "rms_norm.cu"), goodKernel);

const client = new Client({ name: "sdk-legacy", version: "1" }, { capabilities: { roots: { listChanged: true } } });
const transport = new StdioClientTransport({ command: daemon, args: [], env: environment, stderr: "ignore" });
let asked;
const rootsAsked = new Promise((resolve) => (asked = resolve));
client.setRequestHandler(ListRootsRequestSchema, () => {
  setTimeout(asked, 50); // let the answer arrive
  return { roots: [{ uri: pathToFileURL(project).href, name: "project" }] };
});
const call = (name, args, options) => client.callTool({ name, arguments: args }, undefined, options);

await check("SDK 1.x: connects", async () => {
  await client.connect(transport);
  assert.equal(client.getServerVersion().name, "upskilld");
  assert.ok(client.getServerCapabilities().tools);
  assert.ok(Buffer.byteLength(client.getInstructions() ?? "") <= 2048);
});
await check("SDK 1.x: lists the tools, under 12,000 bytes together", async () => {
  const { tools } = await client.listTools();
  assert.ok(tools.some((tool) => tool.name === "kernel_check"));
  assert.ok(tools.some((tool) => tool.name === "job_status"));
  for (const tool of tools) {
    assert.match(tool.name, /^[a-z0-9_]{1,50}$/);
    assert.ok(Buffer.byteLength(tool.description) < 2048, tool.name);
    assert.equal(tool.inputSchema.type, "object");
  }
  assert.ok(Buffer.byteLength(JSON.stringify(tools)) < 12_000);
  assert.deepEqual((await client.listTools()).tools, tools, "always in the same order");
});
await check("SDK 1.x: pings", async () => {
  assert.deepEqual(await client.ping(), {});
});
await check("SDK 1.x: checks a good kernel", async () => {
  await needCompiler(call);
  assertGood(await call("kernel_check", { source: goodKernel }));
});
await check("SDK 1.x: checks a broken kernel", async () => {
  await needCompiler(call);
  assertBroken(await call("kernel_check", { source: brokenKernel }));
});
await check("SDK 1.x: is asked for its roots, and a file beneath them is read", async () => {
  await rootsAsked;
  await needCompiler(call);
  assertGood(await call("kernel_check", { path: join(project, "rms_norm.cu") }));
});
await check("SDK 1.x: a file outside the roots is refused", async () => {
  const result = await call("kernel_check", { path: "/etc/passwd" });
  assert.equal(result.isError, true);
  assert.doesNotMatch(JSON.stringify(result), /root:/);
});
await check("SDK 1.x: eight checks at once", async () => {
  await needCompiler(call);
  const sources = Array.from({ length: 8 }, (_, i) => `${goodKernel}// ${i}\n`);
  const results = await Promise.all(sources.map((source) => call("kernel_check", { source })));
  results.forEach(assertGood);
});
await check("SDK 1.x: bad arguments come back as a result", async () => {
  const result = await call("kernel_check", { sauce: "x" });
  assert.equal(result.isError, true);
  assert.match(result.content[0].text, /sauce/);
  assert.match(result.content[0].text, /source/);
});
await check("SDK 1.x: an unknown tool is an error", async () => {
  await assert.rejects(call("no_such_tool", {}), { code: -32602 });
});
await check("SDK 1.x: an aborted call ends and the next one works", async () => {
  const abort = new AbortController();
  const source = `#include <cooperative_groups.h>\n${goodKernel}// ${Date.now()}\n`;
  const aborted = call("kernel_check", { source }, { signal: abort.signal });
  setTimeout(() => abort.abort(), 5);
  await assert.rejects(aborted);
  assert.deepEqual(await client.ping(), {});
});
await check("SDK 1.x: progress grows and stops with the reply", async () => {
  const seen = [];
  const source = `#include <cooperative_groups.h>\n${goodKernel}// ${Date.now()}\n`;
  await call("kernel_check", { source }, { onprogress: (p) => seen.push(p.progress) });
  const count = seen.length;
  await new Promise((resolve) => setTimeout(resolve, 100));
  assert.equal(seen.length, count);
  assert.deepEqual(seen, [...new Set(seen)].sort((a, b) => a - b));
});
await check("SDK 1.x: resources are listed and read", async () => {
  const { resources } = await client.listResources();
  assert.ok(Array.isArray(resources));
  for (const { uri } of resources.slice(0, 3)) {
    const { contents } = await client.readResource({ uri });
    assert.equal(contents[0].uri, uri);
  }
  await assert.rejects(client.readResource({ uri: "upskilld://no/such/thing" }), { code: -32002 });
});
await check("SDK 1.x: closing ends the process at once", async () => {
  const { pid } = transport;
  const start = performance.now();
  await client.close();
  assert.ok(performance.now() - start < 1000, "no signal was needed");
  assert.throws(() => process.kill(pid, 0), { code: "ESRCH" });
});
finish();
