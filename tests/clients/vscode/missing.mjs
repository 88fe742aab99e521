// Without the program; and with it, as an MCP server.
import { until } from "./editor.mjs";
import { shot } from "./checks.mjs";

async function told(editor) {
  await editor.openFile("scale.cu");
  const notice = editor.page.locator(".notification-list-item", { hasText: "names no program" });
  await notice.waitFor();
  await shot(editor, "missing");
  await notice.locator(".monaco-button", { hasText: "How to Get It" }).click();
  await editor.page.locator(".getting-started-step", { hasText: "Get the program" }).first().waitFor();
  const media = await until(async () => {
    for (const frame of editor.page.frames()) {
      if (await frame.getByText("./setup --prefix").count().catch(() => 0)) return frame;
    }
    return undefined;
  }, "the step's words");
  await media.getByText("./setup --prefix").waitFor();
  await shot(editor, "walkthrough");
}

export const checks = [["a missing program is told, with the way to get it", told]];
