// Without the program; and with it, as an MCP server.
import { shot } from "./checks.mjs";

async function told(editor) {
  await editor.openFile("scale.cu");
  const notice = editor.page.locator(".notification-list-item", { hasText: "names no program" });
  await notice.waitFor();
  await shot(editor, "missing");
  await notice.locator(".monaco-button", { hasText: "How to Get It" }).click();
  await editor.page.locator(".getting-started-step", { hasText: "Get the program" }).first().waitFor();
  await editor.page.waitForTimeout(1000);
  await shot(editor, "walkthrough");
}

export const checks = [["a missing program is told, with the way to get it", told]];
