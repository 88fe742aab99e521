// Where the program upskilld is. Nothing here knows the editor.
import { isAbsolute, join } from "node:path";

export interface Places {
  setting: string; // upskilld.path; "" = search
  home: string;
  path: string; // the variable PATH
  folder: string | undefined; // the workspace's first
  isProgram(file: string): boolean;
}

export type Found = { program: string } | { problem: string };

function expand(setting: string, places: Places): string {
  if (setting.startsWith("~/")) return join(places.home, setting.slice(2));
  return setting.replace("${workspaceFolder}", places.folder ?? "");
}

function named(setting: string, places: Places): Found {
  const program = expand(setting, places);
  if (!isAbsolute(program)) {
    return { problem: `upskilld.path must be an absolute path, or begin with ~/ or \${workspaceFolder}/: ${setting}` };
  }
  return places.isProgram(program) ? { program } : { problem: `upskilld.path names no program: ${program}` };
}

// Programs that start from a desktop often lack ~/.local/bin on PATH.
export function findProgram(places: Places): Found {
  if (places.setting !== "") return named(places.setting, places);
  const folders = places.path.split(":").filter(isAbsolute);
  const program = [...folders, join(places.home, ".local/bin")]
    .map((folder) => join(folder, "upskilld")).find(places.isProgram);
  return program ? { program } : { problem: "The program upskilld is neither on PATH nor in ~/.local/bin." };
}
