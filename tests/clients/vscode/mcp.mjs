// The same program as the MCP server of the editor's own agent.
import { until } from "./editor.mjs";
import { shot } from "./checks.mjs";

async function discovered(editor) {
  await editor.command("MCP: List Servers");
  await editor.choose("upskilld");
  await editor.choose("Start Server");
  await until(async () => /Discovered\s+\d+\s+tools/.test(await editor.page.locator(".panel .view-lines").innerText().catch(() => "")), "tools");
  await shot(editor, "mcp");
}

export const checks = [["the editor's agent gets the tools", discovered]];
