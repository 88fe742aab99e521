// Skills over MCP, as hosts read them: the SDK's skills client verifies size, digest and
// frontmatter of every file; the inspector does it again on its own.
import { Client } from "@modelcontextprotocol/client";
import { SkillsClient } from "@modelcontextprotocol/client/ext/skills";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { assert, check, daemon, environment, finish, scratch, Skip } from "./check.mjs";

const run = promisify(execFile);
const workspace = join(scratch, "workspace");
const env = { ...environment, HOME: join(scratch, "home"), XDG_CACHE_HOME: join(scratch, "cache") };
mkdirSync(env.HOME, { recursive: true });

function write(path, content) {
  const full = join(workspace, path);
  mkdirSync(dirname(full), { recursive: true });
  writeFileSync(full, content);
  return content;
}
const binary = Buffer.from([0, 255, 254, 128, 10, 13]);
write("skills/odd-files/SKILL.md",
  "---\nname: odd-files\ndescription: \"Quoted: with a colon\"\nlicense: MIT\nmetadata:\n  level: \"3\"\n  plain: yes\nunknown: [1, yes, 2.5, null]\n---\r\n# Odd\r\nText — with é.\r\n");
write("skills/odd-files/references/a b%.md", "a space and a per cent sign\n");
write("skills/odd-files/references/deep/er.md", "");
write("skills/odd-files/assets/raw.bin", binary);
write(".claude/skills/second/SKILL.md", "---\nname: second\ndescription: The second one.\n---\nBody\n");
write(".claude/skills/broken/SKILL.md", "---\nname: broken\ndescription: a: b: c\n---\nBody\n"); // no YAML
write(".agents/skills/misnamed/SKILL.md", "---\nname: ../../etc\ndescription: A path for a name.\n---\nBody\n");
write("skills/typed/SKILL.md", "---\nname: typed\ndescription: Metadata that is no text.\nmetadata: {level: 3}\n---\nBody\n");
for (let i = 0; i < 60; i++) {
  const name = `many-${String(i).padStart(2, "0")}`;
  write(`skills/${name}/SKILL.md`, `---\nname: ${name}\ndescription: One of many, number ${i}.\n---\nBody ${i}\n`);
}
const odd = "skill://project/odd-files";

async function connect(mode) {
  const client = new Client({ name: "skills", version: "1" }, { capabilities: {}, versionNegotiation: { mode } });
  const transport = new StdioClientTransport({ command: daemon, args: [], env, cwd: workspace, stderr: "ignore" });
  await client.connect(transport);
  return client;
}

for (const mode of ["auto", "legacy"]) {
  const title = `skills ${mode}`;
  const client = await connect(mode);
  const skills = new SkillsClient(client);
  let entries = [];

  await check(`${title}: the extension is announced, with directories`, async () => {
    assert.equal(skills.supported, true);
    assert.equal(skills.directoryRead, true);
  });
  await check(`${title}: every page together lists each skill once, none that readers would take differently`, async () => {
    entries = (await skills.list()).skills;
    const uris = entries.map(({ uri }) => uri).filter((uri) => uri.startsWith("skill://project/"));
    assert.equal(new Set(uris).size, uris.length);
    assert.equal(uris.length, 62);
    assert.ok(uris.includes(`${odd}/SKILL.md`) && uris.includes("skill://project/second/SKILL.md"));
    assert.deepEqual(uris, [...uris].sort());
  });
  await check(`${title}: every file of every skill is read and verified`, async () => {
    let files = 0;
    for (const entry of entries) {
      for (const { uri } of entry.resources) {
        const file = await skills.read(entry, uri);
        assert.equal(file.verified, true);
        files++;
      }
    }
    assert.ok(files >= 65, `${files} files`);
  });
  await check(`${title}: what is read is what is on the disk, but for the ends of its lines`, async () => {
    const { skill } = await skills.get(`${odd}/SKILL.md`);
    assert.equal(skill.frontmatter.description, "Quoted: with a colon");
    assert.deepEqual(skill.frontmatter.metadata, { level: "3", plain: "yes" });
    assert.deepEqual(skill.frontmatter.unknown, [1, "yes", 2.5, null]);
    const raw = await skills.read(skill, "assets/raw.bin");
    assert.deepEqual(Buffer.from(raw.bytes), binary);
    assert.equal(raw.text, undefined);
    const spaced = await skills.read(skill, "references/a%20b%25.md");
    assert.equal(spaced.text, "a space and a per cent sign\n");
    const manifest = readFileSync(join(workspace, "skills/odd-files/SKILL.md"), "utf8").replaceAll("\r\n", "\n");
    const digest = `sha256:${createHash("sha256").update(manifest).digest("hex")}`;
    assert.equal(skill.resources.find(({ uri }) => uri === `${odd}/SKILL.md`).digest, digest);
  });
  await check(`${title}: folders are read one level at a time`, async () => {
    const top = (await skills.readDirectory(odd)).resources;
    assert.deepEqual(top.map(({ uri, mimeType }) => [uri, mimeType]), [
      [`${odd}/SKILL.md`, "text/markdown"],
      [`${odd}/assets`, "inode/directory"],
      [`${odd}/references`, "inode/directory"],
    ]);
    const inner = (await skills.readDirectory(`${odd}/references`)).resources;
    assert.deepEqual(inner.map(({ uri }) => uri), [`${odd}/references/a%20b%25.md`, `${odd}/references/deep`]);
  });
  await check(`${title}: what is no skill, no folder or no file of a skill is refused`, async () => {
    for (const uri of ["skill://project/none/SKILL.md", "skill://user/odd-files/SKILL.md", "skill://project/broken/SKILL.md", "skill://project/typed/SKILL.md", `${odd}/references/deep/er.md`, "file:///etc/passwd", "skill://"]) {
      await assert.rejects(skills.get(uri), { code: -32602 }, uri);
    }
    for (const uri of [`${odd}/SKILL.md`, `${odd}/nothing`, `${odd}/..`, "skill://project"]) {
      await assert.rejects(skills.readDirectory(uri), { code: -32602 }, uri);
    }
    for (const uri of [`${odd}/none.md`, `${odd}/../second/SKILL.md`, `${odd}/..%2Fsecond/SKILL.md`, `${odd}/references`]) {
      await assert.rejects(client.readResource({ uri }), uri);
    }
  });
  await check(`${title}: the same skills are plain resources`, async () => {
    const { resources } = await client.listResources();
    const one = resources.find(({ uri }) => uri === `${odd}/SKILL.md`);
    assert.equal(one.name, "odd-files");
    assert.equal(one.mimeType, "text/markdown");
    const { contents } = await client.readResource({ uri: one.uri });
    assert.match(contents[0].text, /^---\nname: odd-files\n/);
    const { resourceTemplates } = await client.listResourceTemplates();
    assert.ok(resourceTemplates.some(({ uriTemplate }) => uriTemplate === "skill://{scope}/{name}/SKILL.md"));
  });
  await check(`${title}: names complete, in the template and in a prompt`, async () => {
    const ref = { type: "ref/resource", uri: "skill://{scope}/{name}/SKILL.md" };
    const { completion } = await client.complete({ ref, argument: { name: "name", value: "odd" } });
    assert.deepEqual(completion.values, ["odd-files"]);
    const prompt = { type: "ref/prompt", name: "improve-skill" };
    const names = (await client.complete({ ref: prompt, argument: { name: "name", value: "many-0" } })).completion;
    assert.equal(names.values.length, 10);
  });
  await check(`${title}: the tools find and read a skill`, async () => {
    const found = await client.callTool({ name: "skill_find", arguments: { task: "odd files, quoted with a colon" } });
    assert.equal(found.structuredContent.matches[0]?.name, "odd-files");
    const got = await client.callTool({ name: "skill_get", arguments: { name: "odd-files" } });
    assert.equal(got.structuredContent.uri, `${odd}/SKILL.md`);
    assert.match(got.content[0].text, /Text — with é/);
  });
  await check(`${title}: a new skill is news, and so is a changed one`, async () => {
    const heard = [];
    const seen = (method) => (notification) => heard.push([method, notification.params?.uri]);
    client.setNotificationHandler("notifications/resources/list_changed", seen("list"));
    client.setNotificationHandler("notifications/resources/updated", seen("updated"));
    const uri = "skill://project/second/SKILL.md";
    const subscription = mode === "legacy" ? (await client.subscribeResource({ uri }), null)
      : await client.listen({ resourcesListChanged: true, resourceSubscriptions: [uri] });
    write(`.claude/skills/second/SKILL.md`, `---\nname: second\ndescription: Changed for ${mode}.\n---\nBody\n`);
    write(`skills/new-${mode}/SKILL.md`, `---\nname: new-${mode}\ndescription: A new one.\n---\nBody\n`);
    const start = performance.now();
    while (performance.now() - start < 10_000 && !(heard.some(([m]) => m === "list") && heard.some(([m, u]) => m === "updated" && u === uri))) {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    assert.ok(heard.some(([method]) => method === "list"), JSON.stringify(heard));
    assert.ok(heard.some(([method, of]) => method === "updated" && of === uri), JSON.stringify(heard));
    assert.equal((await skills.get(`skill://project/new-${mode}/SKILL.md`)).skill.frontmatter.name, `new-${mode}`);
    await subscription?.close();
    rmSync(join(workspace, `skills/new-${mode}`), { recursive: true });
  });
  await client.close();
}

const modules = fileURLToPath(new URL("node_modules/", import.meta.url));
const inspector = `${modules}@modelcontextprotocol/inspector/clients/launcher/build/index.js`;
for (const era of ["modern", "legacy"]) {
  await check(`inspector ${era}: skills/list --verify --require-digests`, async () => {
    const node = existsSync(`${modules}node/bin/node`) ? `${modules}node/bin/node` : process.execPath;
    if (!existsSync(inspector)) {
      throw new Skip("no inspector");
    }
    const args = [inspector, "--cli", daemon, "--protocol-era", era, "--format", "json",
      "--method", "skills/list", "--verify", "--require-digests"];
    const options = { env: { ...env, MCP_CATALOG_PATH: `${scratch}/mcp.json` }, cwd: workspace, timeout: 60_000 };
    const { stdout } = await run(node, args, options);
    assert.match(stdout, /odd-files/);
  });
}
finish();
