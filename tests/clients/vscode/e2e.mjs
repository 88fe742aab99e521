// The packaged extension in an editor: e2e.mjs DAEMON VSIX RIG [FOLDER FOR SCREENSHOTS]
import assert from "node:assert/strict";
import * as checking from "./checks.mjs";
import { Editor } from "./editor.mjs";
import * as kernels from "./kernels.mjs";
import * as mcp from "./mcp.mjs";
import * as missing from "./missing.mjs";
import * as project from "./project.mjs";
import * as skills from "./skills.mjs";
import * as specs from "./specs.mjs";

const { daemon, rig, vsix } = checking;

// With the names of parts in ONLY, those alone.
const only = process.env.ONLY?.split(",");
const names = new Map(Object.entries({ kernels, mcp, missing, project, skills, specs }).map(([name, part]) => [part, name]));

async function session(program, parts, all) {
  const checks = all.filter((part) => !only || only.includes(names.get(part)));
  if (checks.length === 0) return;
  const editor = new Editor({ rig, vsix, settings: { "upskilld.path": program } });
  try {
    for (const part of parts) part.prepare?.(editor);
    await editor.start();
    for (const [name, run] of checks.flatMap((part) => part.checks)) await checking.check(editor, name, run);
  } finally {
    await editor.stop();
  }
}

assert.ok(rig, "usage: e2e.mjs DAEMON VSIX RIG [FOLDER]");
await session(daemon, [kernels, specs, skills], [kernels, specs, skills, mcp]);
await session(daemon, [project], [project]);
await session("/nonexistent/upskilld", [specs], [missing]);
process.exit(checking.failed ? 1 : 0);
