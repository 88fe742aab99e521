// The official TypeScript SDK 2.x: probes with server/discover and speaks revision 2026-07-28,
// or the legacy one when told so.
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

import {
  assert, assertBroken, assertGood, brokenKernel, check, daemon, environment, finish, goodKernel,
  needCompiler,
} from "./check.mjs";

const cases = [
  { mode: "auto", era: "modern", version: "2026-07-28" },
  { mode: { pin: "2026-07-28" }, era: "modern", version: "2026-07-28" },
  { mode: "legacy", era: "legacy", version: "2025-11-25" },
];
for (const { mode, era, version } of cases) {
  const title = `SDK 2.x ${JSON.stringify(mode)}`;
  const client = new Client({ name: "sdk-modern", version: "2" }, { capabilities: {}, versionNegotiation: { mode } });
  const transport = new StdioClientTransport({ command: daemon, args: [], env: environment, stderr: "ignore" });
  const call = (name, args, options) => client.callTool({ name, arguments: args }, options);

  await check(`${title}: connects`, async () => {
    const start = performance.now();
    await client.connect(transport);
    assert.ok(performance.now() - start < 5000, "no probe ran into its time limit");
    assert.equal(client.getProtocolEra(), era);
    assert.equal(client.getNegotiatedProtocolVersion(), version);
    assert.equal(client.getServerVersion().name, "upskilld");
  });
  await check(`${title}: lists the tools`, async () => {
    const { tools } = await client.listTools();
    assert.ok(tools.some((tool) => tool.name === "kernel_check"));
  });
  await check(`${title}: checks a good and a broken kernel`, async () => {
    await needCompiler(call);
    assertGood(await call("kernel_check", { source: goodKernel }));
    assertBroken(await call("kernel_check", { source: brokenKernel }));
  });
  await check(`${title}: bad arguments are a result, an unknown tool is an error`, async () => {
    assert.equal((await call("kernel_check", { sauce: "x" })).isError, true);
    await assert.rejects(call("no_such_tool", {}), { code: -32602 });
  });
  await check(`${title}: an aborted call ends and the next one works`, async () => {
    const abort = new AbortController();
    const source = `#include <cooperative_groups.h>\n${goodKernel}// ${Math.random()}\n`;
    const aborted = call("kernel_check", { source }, { signal: abort.signal });
    setTimeout(() => abort.abort(), 5);
    await assert.rejects(aborted);
    assert.ok((await client.listTools()).tools.length > 0);
  });
  await check(`${title}: resources are listed and read`, async () => {
    const { resources } = await client.listResources();
    for (const { uri } of resources.slice(0, 3)) {
      assert.equal((await client.readResource({ uri })).contents[0].uri, uri);
    }
    // This SDK reads the legacy code for an unknown resource, -32002, as the modern one.
    await assert.rejects(client.readResource({ uri: "upskilld://no/such/thing" }), { code: -32602 });
  });
  if (era === "modern") {
    await check(`${title}: listens until it is told to stop`, async () => {
      const { resources } = await client.listResources();
      const uris = resources.slice(0, 1).map(({ uri }) => uri);
      const subscription = await client.listen({ resourceSubscriptions: uris, toolsListChanged: true });
      assert.deepEqual(subscription.honoredFilter, { resourceSubscriptions: uris });
      await subscription.close();
      assert.ok((await client.listTools()).tools.length > 0);
    });
  }
  await check(`${title}: closing ends the process at once`, async () => {
    const { pid } = transport;
    const start = performance.now();
    await client.close();
    assert.ok(performance.now() - start < 1000, "no signal was needed");
    assert.throws(() => process.kill(pid, 0), { code: "ESRCH" });
  });
}
finish();
