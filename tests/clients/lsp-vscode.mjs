// The LSP face through the protocol library that VS Code's own clients are made of.
//
//     node lsp-vscode.mjs /path/to/upskilld
//
// Prints a line per check; ends with status 0, or 1 when one failed. Needs CUDA's compiler, as
// `./setup` installs it.
import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { check, daemon, environment, finish, goodKernel, scratch } from "./check.mjs";
import protocol from "vscode-languageserver-protocol/node.js";

const {
  createProtocolConnection, StreamMessageReader, StreamMessageWriter, CancellationTokenSource,
  CodeActionRequest, CodeLensRequest, CodeLensRefreshRequest, DiagnosticRefreshRequest,
  DidChangeTextDocumentNotification, DidCloseTextDocumentNotification,
  DidOpenTextDocumentNotification, DidSaveTextDocumentNotification, DocumentDiagnosticRequest,
  DocumentSymbolRequest, ExecuteCommandRequest, ExitNotification, HoverRequest,
  InitializeRequest, InitializedNotification, LogMessageNotification, ProgressType,
  PublishDiagnosticsNotification, ShutdownRequest, WorkDoneProgressCreateRequest,
} = protocol;

const PATIENCE_MS = 30000;
const kernel = goodKernel;
const folder = join(scratch, "project");
mkdirSync(folder);

function must(condition, sentence) {
  if (!condition) throw new Error(sentence);
}

async function until(predicate, what) {
  const end = Date.now() + PATIENCE_MS;
  while (Date.now() < end) {
    const value = predicate();
    if (value) return value;
    await new Promise((resume) => setTimeout(resume, 5));
  }
  throw new Error(`waited ${PATIENCE_MS / 1000} s for ${what}`);
}

async function refusal(promise, code, what) {
  const error = await promise.then(() => null, (e) => e);
  must(error, `${what} was not refused`);
  must(error.code === code, `${what}: error ${error.code} "${error.message}", not ${code}`);
  return error;
}

// An editor with one server process.
class Editor {
  published = [];
  refreshes = [];
  progress = [];
  logged = [];

  constructor() {
    this.process = spawn(
      resolve(daemon), [], { cwd: folder, env: environment, stdio: ["pipe", "pipe", "inherit"] });
    this.ended = new Promise((done) => this.process.on("exit", (code) => done(code)));
    this.connection = createProtocolConnection(
      new StreamMessageReader(this.process.stdout), new StreamMessageWriter(this.process.stdin));
    this.connection.onError(([error]) => { throw error; });
    this.connection.onNotification(PublishDiagnosticsNotification.type,
                                   (p) => { this.published.push(p); });
    this.connection.onNotification(LogMessageNotification.type, (p) => this.logged.push(p));
    this.connection.onRequest(DiagnosticRefreshRequest.type, () => { this.refreshes.push("d"); });
    this.connection.onRequest(CodeLensRefreshRequest.type, () => { this.refreshes.push("l"); });
    this.connection.onRequest(WorkDoneProgressCreateRequest.type, ({ token }) => {
      this.connection.onProgress(new ProgressType(), token, (v) => this.progress.push(v));
    });
    this.connection.listen();
  }

  request(type, params, token) {
    return this.connection.sendRequest(type, params, token);
  }

  notify(type, params) {
    return this.connection.sendNotification(type, params);
  }

  async start(capabilities) {
    const result = await this.request(InitializeRequest.type, {
      processId: process.pid,
      clientInfo: { name: "lsp-vscode.mjs", version: "1" },
      rootUri: pathToFileURL(folder).href,
      workspaceFolders: [{ uri: pathToFileURL(folder).href, name: "test" }],
      capabilities,
    });
    await this.notify(InitializedNotification.type, {});
    return result;
  }

  async open(name, text) {
    writeFileSync(join(folder, name), text);
    const document = {
      uri: pathToFileURL(join(folder, name)).href, languageId: "cuda-cpp", version: 1, text,
    };
    await this.notify(DidOpenTextDocumentNotification.type, { textDocument: document });
    return document;
  }

  // Replace a line's characters, as the editor counts them.
  async edit(document, line, from, to, text) {
    document.version++;
    await this.notify(DidChangeTextDocumentNotification.type, {
      textDocument: { uri: document.uri, version: document.version },
      contentChanges: [{
        range: { start: { line, character: from }, end: { line, character: to } }, text,
      }],
    });
  }

  judged(document, version = document.version, since = 0) {
    return until(
      () => this.published.slice(since).find(
        (p) => p.uri === document.uri && p.version === version),
      `diagnostics of version ${version}`);
  }

  async stop() {
    must(await this.request(ShutdownRequest.type) === null, "shutdown answers null");
    await refusal(this.request(HoverRequest.type, {}), -32600, "a request after shutdown");
    await this.notify(ExitNotification.type);
    const code = await this.ended;
    must(code === 0, `exit after shutdown ended with status ${code}`);
    this.connection.dispose();
  }
}

const errors = (report) => report.diagnostics.filter((d) => d.severity === 1);
const whole = { start: { line: 0, character: 0 }, end: { line: 10000, character: 0 } };

async function lifecycle() {
  const editor = new Editor();
  await refusal(editor.request(HoverRequest.type, {}), -32002, "a request before initialize");
  const { capabilities, serverInfo } = await editor.start({});
  must(serverInfo.name === "upskilld", `the server calls itself ${serverInfo.name}`);
  must(capabilities.positionEncoding === "utf-16", "utf-16 is the default encoding");
  must(!capabilities.diagnosticProvider, "who cannot pull is pushed to");
  await refusal(editor.start({}), -32600, "a second initialize");
  await refusal(editor.request("no/such"), -32601, "an unknown method");
  await editor.stop();
  const rude = new Editor();
  await rude.start({});
  await rude.notify(ExitNotification.type);
  const code = await rude.ended;
  must(code === 1, `exit without shutdown ended with status ${code}`);
}

const visual = {
  general: { positionEncodings: ["utf-16"] },
  textDocument: {
    publishDiagnostics: { relatedInformation: true, versionSupport: true, dataSupport: true,
                          codeDescriptionSupport: true, tagSupport: { valueSet: [1, 2] } },
    codeAction: { codeActionLiteralSupport: { codeActionKind: { valueSet: ["quickfix"] } },
                  isPreferredSupport: true },
    hover: { contentFormat: ["markdown", "plaintext"] },
    documentSymbol: { hierarchicalDocumentSymbolSupport: true },
  },
  workspace: { workspaceEdit: { documentChanges: true }, codeLens: { refreshSupport: true } },
  window: { workDoneProgress: true },
};

async function facts(editor, document) {
  const textDocument = { uri: document.uri };
  const lenses = await editor.request(CodeLensRequest.type, { textDocument });
  must(lenses.some((l) => /\d+ regs/.test(l.command.title)),
       `no code lens tells registers: ${JSON.stringify(lenses)}`);
  const symbols = await editor.request(DocumentSymbolRequest.type, { textDocument });
  must(symbols.length > 0 && symbols[0].selectionRange, "the kernels are no symbols");
  const hover = await editor.request(
    HoverRequest.type, { textDocument, position: symbols[0].selectionRange.start });
  must(hover && /register/.test(hover.contents.value),
       `a hover over the kernel's name says ${JSON.stringify(hover)}`);
}

async function typing(editor, document, report) {
  const line = document.text.split("\n").length - 1;
  must(errors(report).length === 0, `a good kernel has errors: ${JSON.stringify(report)}`);
  const bad = "__device__ int twice(int x) { /* 𝛼𝛼 */ return missing_name; }";
  for (let i = 0; i < bad.length; i++) {
    await editor.edit(document, line, i, i, bad[i]);
  }
  const started = Date.now();
  const [error] = errors(await editor.judged(document));
  const waited = Date.now() - started;
  must(error && /missing_name/.test(error.message), `typing an error shows ${error?.message}`);
  const at = bad.indexOf("missing_name");
  must(error.range.start.line === line, `the error is on line ${error.range.start.line}`);
  must(error.range.start.character === at && error.range.end.character === at + 12,
       `the error is at ${JSON.stringify(error.range)}, not at character ${at}`);
  await editor.edit(document, line, 0, bad.length, "");
  must(errors(await editor.judged(document)).length === 0, "the error outlives its text");
  must(editor.published.filter((p) => p.version > 1 && p.version < document.version - 1)
         .every((p) => p.version <= document.version), "a version from the future");
  return waited;
}

async function fixing(editor) {
  const text = "__global__ void fill(float *out) {\n    out[threadIdx.x] = FLT_MAX;\n}\n";
  const document = await editor.open("fix.cu", text);
  const [error] = errors(await editor.judged(document));
  must(error, "FLT_MAX without a header is no error");
  const actions = await editor.request(CodeActionRequest.type, {
    textDocument: { uri: document.uri }, range: error.range,
    context: { diagnostics: [error] },
  });
  must(actions.length > 0, `no fix for "${error.message}"`);
  const [change] = actions[0].edit.documentChanges;
  must(change.textDocument.version === 1, "the fix is for another version");
  for (const { range, newText } of change.edits.reverse()) {
    must(range.start.line === range.end.line, "the fix spans lines");
    await editor.edit(document, range.start.line, range.start.character, range.end.character,
                      newText);
  }
  must(errors(await editor.judged(document)).length === 0, "the fix does not cure");
  return `"${actions[0].title}" cures`;
}

// What is wrong in a header is shown where it is included, and leads to its place.
async function headers(editor) {
  const header = join(folder, "part ä.cuh");
  writeFileSync(header, "\n/* ä */ __device__ int part() { return missing_part; }\n");
  const document = await editor.open(
    "whole.cu", `// first\n#include "part ä.cuh"\n__global__ void k(int *x) { *x = part(); }\n`);
  const [error] = errors(await editor.judged(document));
  must(error && /missing_part/.test(error.message), `the header's error: ${error?.message}`);
  must(error.range.start.line === 1, `it is shown on line ${error.range.start.line}`);
  const { location } = error.relatedInformation[0];
  must(location.uri === pathToFileURL(header).href,
       `it leads to ${location.uri}`);
  must(location.range.start.line === 1 && location.range.start.character === 39,
       `it leads to ${JSON.stringify(location.range)}`);
}

async function commands(editor) {
  const params = { command: "upskilld.kernel.check", arguments: [{ source: kernel }] };
  const result = await editor.request(ExecuteCommandRequest.type, params);
  must(result.ok && result.kernels.length > 0, "kernel.check as a command finds no kernel");
  const stop = new CancellationTokenSource();
  const fresh = `${kernel}\n// ${Math.random()}\n`;
  const slow = editor.request(ExecuteCommandRequest.type,
                              { ...params, arguments: [{ source: fresh }] }, stop.token);
  stop.cancel();
  await refusal(slow, -32800, "a cancelled command");
  const wrong = await refusal(
    editor.request(ExecuteCommandRequest.type, { ...params, arguments: [{ sourc: "" }] }),
    -32602, "a misspelt parameter");
  must(/sourc/.test(wrong.message), `the misspelt parameter is not named: ${wrong.message}`);
}

async function push() {
  const editor = new Editor();
  await editor.start(visual);
  const document = await editor.open("vector add ä.cu", kernel);
  const report = await editor.judged(document);
  await facts(editor, document);
  const waited = await typing(editor, document, report);
  const before = editor.published.length;
  await editor.notify(DidSaveTextDocumentNotification.type,
                      { textDocument: { uri: document.uri } });
  await editor.judged(document, document.version, before);
  await facts(editor, document);
  const cure = await fixing(editor);
  await headers(editor);
  await commands(editor);
  await editor.notify(DidCloseTextDocumentNotification.type,
                      { textDocument: { uri: document.uri } });
  const last = await until(
    () => editor.published.filter((p) => p.uri === document.uri)
      .find((p) => p.version === undefined), "the closed document's []");
  must(last.diagnostics.length === 0, "a closed document keeps diagnostics");
  await editor.stop();
  console.log(`# ${waited} ms from the last key to the diagnostics; ${cure}`);
}

async function pull() {
  const editor = new Editor();
  const { capabilities } = await editor.start({
    ...visual, general: { positionEncodings: ["utf-8", "utf-16"] },
    textDocument: { ...visual.textDocument, diagnostic: {} },
    workspace: { ...visual.workspace, diagnostics: { refreshSupport: true } },
  });
  must(capabilities.positionEncoding === "utf-8", "utf-8 is taken when offered");
  must(capabilities.diagnosticProvider.interFileDependencies, "diagnostics can be pulled");
  const bad = "__device__ int twice() { /* 𝛼 */ return missing_name; }";
  const document = await editor.open("pull.cu", `${bad}\n${kernel}`);
  const ask = (previousResultId) => editor.request(
    DocumentDiagnosticRequest.type, { textDocument: { uri: document.uri }, previousResultId });
  const first = await ask();
  must(first.kind === "full" && first.items.length > 0, "the first pull finds the error");
  const { start } = first.items[0].range;
  const at = Buffer.byteLength(bad.slice(0, bad.indexOf("missing_name")));
  must(start.line === 0 && start.character === at, `utf-8: ${JSON.stringify(start)}, not ${at}`);
  must((await ask(first.resultId)).kind === "unchanged", "nothing changed since");
  await editor.edit(document, 0, 0, Buffer.byteLength(bad), "");
  const second = await ask(first.resultId);
  must(second.items.every((d) => d.severity !== 1), `still wrong: ${JSON.stringify(second)}`);
  must(editor.published.length === 0, "who pulls was pushed to");
  await editor.stop();
}

// The editor dies without a word: the server must not stay.
async function orphan() {
  const editor = new Editor();
  const parent = spawn("sleep", ["60"]);
  await editor.request(InitializeRequest.type,
                       { processId: parent.pid, rootUri: null, capabilities: {} });
  parent.kill("SIGKILL");
  const code = await Promise.race([
    editor.ended, new Promise((done) => setTimeout(() => done("none"), 5000)),
  ]);
  must(code === 1, `after the editor's death the server ended with ${code}`);
}

await check("LSP lifecycle", lifecycle);
await check("LSP as VS Code speaks it: facts, typing, fixes, commands", push);
await check("LSP with utf-8 positions and pulled diagnostics", pull);
await check("LSP server of an editor that died", orphan);
finish();
