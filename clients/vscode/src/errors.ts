// A failed operation in words.
import * as vscode from "vscode";

const REQUEST_CANCELLED = -32800;

export function isCancelled(error: unknown): boolean {
  return error instanceof vscode.CancellationError ||
    (error instanceof Error && (error as { code?: unknown }).code === REQUEST_CANCELLED);
}

export function words(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const hint = (error as { data?: { hint?: unknown } }).data?.hint;
  return typeof hint === "string" ? `${error.message}. Hint: ${hint}` : error.message;
}

// Runs it and tells the person what failed; undefined when it failed or was stopped.
export async function orTell<Result>(run: () => Promise<Result>): Promise<Result | undefined> {
  try {
    return await run();
  } catch (error) {
    if (!isCancelled(error)) void vscode.window.showErrorMessage(words(error));
    return undefined;
  }
}
