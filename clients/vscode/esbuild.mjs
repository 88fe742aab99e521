// Bundles the extension into out/extension.js, and writes the licences of what is in it beside it.
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

const result = await build({
  entryPoints: ["src/extension.ts"],
  outfile: "out/extension.js",
  bundle: true,
  platform: "node",
  format: "cjs",
  target: "node20",
  external: ["vscode"],
  minify: true,
  mainFields: ["module", "main"],
  metafile: true,
});

const folders = new Set(Object.keys(result.metafile.inputs)
  .map((input) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(input)?.[1])
  .filter((folder) => folder !== undefined));

function notice(folder) {
  const { name, version, license } = JSON.parse(readFileSync(`${folder}/package.json`, "utf8"));
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  if (!file) throw new Error(`${name} is part of the bundle and has no licence file`);
  return `${name} ${version} (${license})\n\n${readFileSync(`${folder}/${file}`, "utf8").trim()}\n`;
}

writeFileSync("out/ThirdPartyNotices.txt",
  `Part of out/extension.js:\n\n${[...folders].sort().map(notice).join("\n----\n\n")}`);
