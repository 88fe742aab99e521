// Without the program; and with it, as an MCP server.
import { until } from "./editor.mjs";
import { daemon, shot } from "./checks.mjs";

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

async function chosen(editor) {
  await editor.command("upskilld: Choose the Program…");
  const input = editor.page.locator(".quick-input-widget input.input");
  const row = editor.page.locator(".quick-input-list").getByText("upskilld", { exact: true });
  await until(async () => {
    await input.fill(daemon); // the dialog writes its own folder first
    return row.first().waitFor({ timeout: 2000 }).then(() => true, () => false);
  }, "the program's folder");
  await editor.page.locator(".quick-input-action .monaco-button", { hasText: "Use This Program" }).click();
  await editor.openFile("scale.cu");
  await editor.page.locator(".codelens-decoration", { hasText: /\d+ regs/ }).waitFor();
}

export const checks = [
  ["a missing program is told, with the way to get it", told],
  ["a program is chosen, and serves at once", chosen],
];
