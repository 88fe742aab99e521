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
  await shot(editor, "walkthrough-get");
  for (const [title, name] of [["Check kernels", "check"], ["Run a kernel", "validate"], ["Find and install", "skills"], ["Tools for the editor", "agent"]]) {
    await editor.page.locator(".getting-started-step", { hasText: title }).first().click();
    await shot(editor, `walkthrough-${name}`);
  }
}

async function welcomed(editor) {
  await editor.page.locator('.activitybar a[aria-label="upskilld"]').click();
  await editor.page.locator(".pane-body .welcome-view", { hasText: "does not run" }).waitFor();
  await shot(editor, "welcome");
}

async function chosen(editor) {
  await editor.command("upskilld: Choose the Program…");
  const dialog = editor.page.locator(".quick-input-widget", { hasText: "The program upskilld" });
  await dialog.waitFor();
  // The dialog writes its own folder first, and takes no folder.
  await until(async () => {
    await dialog.locator("input.input").fill(daemon);
    await editor.page.waitForTimeout(500);
    await dialog.locator(".quick-input-action .monaco-button", { hasText: "Use This Program" }).click();
    return dialog.waitFor({ state: "hidden", timeout: 2000 }).then(() => true, () => false);
  }, "the dialog to take the program");
  await editor.openFile("scale.cu");
  await editor.page.locator(".codelens-decoration", { hasText: /\d+ regs/ }).waitFor();
}

export const checks = [
  ["a missing program is told, with the way to get it", told],
  ["the view of skills says the same", welcomed],
  ["a program is chosen, and serves at once", chosen],
];
