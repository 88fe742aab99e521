// The check spec's schema as the server gives it: words and choices for the form.
import { spawn } from "node:child_process";
import type { Path } from "./member";

export interface Schema {
  description?: string;
  enum?: (string | number)[];
  default?: unknown;
  properties?: Record<string, Schema>;
  items?: Schema;
  anyOf?: Schema[];
}

const REQUEST = JSON.stringify({
  jsonrpc: "2.0", id: 1, method: "resources/read",
  params: {
    uri: "upskilld://schema/check-spec",
    _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {},
             "io.modelcontextprotocol/clientInfo": { name: "upskilld for VS Code", version: "1" } },
  },
});
const PATIENCE_MS = 20_000;

// The schemas that a value at the path may meet.
export function schemasAt(schema: Schema, path: Path): Schema[] {
  const here = (one: Schema): Schema[] => [one, ...(one.anyOf ?? []).flatMap(here)];
  return path.reduce<Schema[]>((all, step) => all.flatMap((one) => {
    const next = typeof step === "number" ? one.items : one.properties?.[step];
    return next ? here(next) : [];
  }), here(schema));
}

export function describe(schema: Schema, path: Path): string {
  return schemasAt(schema, path).find(({ description }) => description)?.description ?? "";
}

export function choices(schema: Schema, path: Path): string[] {
  return (schemasAt(schema, path).find((one) => one.enum)?.enum ?? []).map(String);
}

// The names of the members that an object at the path may have.
export function members(schema: Schema, path: Path): string[] {
  return [...new Set(schemasAt(schema, path).flatMap(({ properties }) => Object.keys(properties ?? {})))];
}

interface Answer {
  id?: number;
  result?: { contents: { text: string }[] };
  error?: { message: string };
}

function schemaOf(line: string): Schema | undefined {
  const answer = JSON.parse(line) as Answer;
  if (answer.id !== 1) return undefined;
  if (answer.error) throw new Error(answer.error.message);
  return JSON.parse(answer.result?.contents[0]?.text ?? "") as Schema;
}

// The editor's connection has no resources: another upskilld answers this one question.
export function readSchema(program: string): Promise<Schema> {
  return new Promise((done, fail) => {
    const child = spawn(program, [], { stdio: ["pipe", "pipe", "ignore"], timeout: PATIENCE_MS });
    let rest = "";
    child.on("error", fail);
    child.on("exit", () => fail(new Error("upskilld ended without a schema")));
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      try {
        const schema = lines.map(schemaOf).find(Boolean);
        if (!schema) return;
        done(schema);
      } catch (error) {
        fail(error);
      }
      child.stdin.end();
    });
    child.stdin.on("error", fail).write(`${REQUEST}\n`);
  });
}
