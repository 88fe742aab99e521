// The editor's settings in the words of the server, which are those of upskilld.yaml. A setting
// that was left alone is left out: then the project's own files decide.

export type Get = (name: string) => unknown;

const names: [setting: string, key: string][] = [
  ["defines", "defines"],
  ["includeDirs", "include_dirs"],
  ["std", "std"],
  ["options", "options"],
];

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || value === "" ||
    (typeof value === "object" && Object.keys(value).length === 0);
}

// clangd: its extension is there and serves CUDA too; then it says what a front end finds.
export function serverSettings(get: Get, clangd: boolean): Record<string, unknown> {
  const choice = get("withClangd");
  const flags = names.map(([setting, key]): [string, unknown] => [key, get(setting)]).filter(([, value]) => !isEmpty(value));
  return { ...Object.fromEntries(flags), with_clangd: choice === "on" || (choice !== "off" && clangd) };
}
