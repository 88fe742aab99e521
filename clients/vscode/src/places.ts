// Places that the server names: files by names relative to what was asked about, columns in bytes.
import { basename, dirname, isAbsolute, join } from "node:path";

// The file that a name stands for: among those given it is looked for beside the source, then beneath
// the workspace's folders. undefined: there is none.
export function resolveFile(name: string, source: string, folders: readonly string[],
                            exists: (file: string) => boolean): string | undefined {
  if (isAbsolute(name)) return exists(name) ? name : undefined;
  const candidates = [dirname(source), ...folders].map((folder) => join(folder, name));
  return candidates.find(exists) ?? (basename(name) === basename(source) ? source : undefined);
}

// A 1-based column in UTF-8 bytes as a 0-based character of the editor's (UTF-16); the end of a
// line that is shorter.
export function characterOf(line: string, column: number): number {
  let bytes = 0, character = 0;
  for (const letter of line) {
    if (bytes >= column - 1) break;
    bytes += Buffer.byteLength(letter);
    character += letter.length;
  }
  return character;
}
