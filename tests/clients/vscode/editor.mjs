// code-server with the packaged extension in a browser, for the tests of the VS Code extension.
import { spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { createRequire } from "node:module";

const PATIENCE_MS = 1000 * Number(process.env.PATIENCE_S ?? 90); // on a machine that does much else

// How the system asks for a theme, and the class that the window has with it.
const THEMES = {
  light: [{ colorScheme: "light", forcedColors: "none" }, "vs"], dark: [{ colorScheme: "dark", forcedColors: "none" }, "vs-dark"],
  contrast: [{ colorScheme: "dark", forcedColors: "active" }, "hc-black"],
};

export async function until(predicate, what, patience = PATIENCE_MS) {
  const end = Date.now() + patience;
  while (Date.now() < end) {
    const value = await predicate();
    if (value) return value;
    await new Promise((resume) => setTimeout(resume, 50));
  }
  throw new Error(`waited ${patience / 1000} s for ${what}`);
}

function freePort() {
  return new Promise((done, fail) => {
    const server = createServer();
    server.on("error", fail);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => done(port));
    });
  });
}

function run(command, args, options) {
  return new Promise((done, fail) => {
    const child = spawn(command, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
    let said = "";
    child.stdout.on("data", (data) => { said += data; });
    child.stderr.on("data", (data) => { said += data; });
    child.on("error", fail);
    child.on("exit", (code) => code === 0 ? done(said) : fail(new Error(`${command} ended with ${code}: ${said}`)));
  });
}

// rig: the folder that code-server and playwright-core are installed in. settings: the machine's.
export class Editor {
  constructor({ rig, vsix, settings = {}, environment = {} }) {
    this.rig = rig;
    this.vsix = vsix;
    this.home = mkdtempSync(join(tmpdir(), "upskilld-vscode-"));
    this.folder = join(this.home, "project");
    this.data = join(this.home, "data");
    // A home of its own, where Claude Code is the one agent; the compiler stays where it is found.
    this.environment = { XDG_DATA_HOME: join(homedir(), ".local/share"), ...process.env, HOME: this.home,
                         XDG_STATE_HOME: join(this.home, "state"), XDG_CONFIG_HOME: join(this.home, "config"), ...environment };
    mkdirSync(this.folder, { recursive: true });
    mkdirSync(join(this.home, ".claude"));
    this.userSettings({});
    this.writeJson("data/Machine/settings.json", settings);
  }

  writeJson(path, value) {
    this.write(path, JSON.stringify(value));
  }

  write(path, text) {
    const file = join(this.home, path);
    mkdirSync(join(file, ".."), { recursive: true });
    writeFileSync(file, text);
    return file;
  }

  copy(from, path) {
    cpSync(from, join(this.folder, path));
  }

  arguments(...more) {
    return [join(this.rig, "node_modules/code-server/out/node/entry.js"), "--auth", "none", "--user-data-dir", this.data,
            "--extensions-dir", join(this.home, "extensions"), "--disable-telemetry", "--disable-update-check", ...more];
  }

  async start() {
    const node = join(this.rig, "node_modules/node/bin/node");
    await run(node, this.arguments("--install-extension", this.vsix), { env: this.environment });
    const port = await freePort();
    this.url = `http://127.0.0.1:${port}/?folder=${this.folder}`;
    this.server = spawn(node, this.arguments("--bind-addr", `127.0.0.1:${port}`),
                        { env: this.environment, cwd: this.home, stdio: "ignore" });
    await until(() => fetch(this.url).then((r) => r.ok, () => false), "code-server");
    const { chromium } = createRequire(join(this.rig, "package.json"))("playwright-core");
    this.browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
                                           args: ["--no-sandbox", "--disable-gpu"] });
    await this.open();
  }

  // file: of the project, opened with the window.
  async open(size = { width: 1500, height: 950 }, file = undefined) {
    this.page = await this.browser.newPage({ viewport: size, colorScheme: "dark" });
    this.page.setDefaultTimeout(PATIENCE_MS);
    const opens = [["openFile", `vscode-remote://${new URL(this.url).host}${join(this.folder, file ?? "")}`]];
    await this.page.goto(file ? `${this.url}&payload=${encodeURIComponent(JSON.stringify(opens))}` : this.url);
    await this.page.locator(".monaco-workbench").waitFor({ timeout: PATIENCE_MS });
    await this.page.locator(".statusbar-item").first().waitFor({ timeout: PATIENCE_MS });
  }

  // As the system's: what has the focus, or is open beneath the pointer, stays.
  async setTheme(look) {
    const [media, kind] = THEMES[look];
    await this.page.emulateMedia(media);
    await this.page.locator(`.monaco-workbench.${kind}`).waitFor();
  }

  userSettings(more) {
    this.user = { ...this.user, ...more };
    this.writeJson("data/User/settings.json", {
      "security.workspace.trust.enabled": false, "workbench.startupEditor": "none",
      "telemetry.telemetryLevel": "off", "extensions.autoCheckUpdates": false, "editor.minimap.enabled": false,
      "workbench.secondarySideBar.defaultVisibility": "hidden", "workbench.tips.enabled": false, "git.enabled": false,
      "window.autoDetectColorScheme": true, "workbench.preferredDarkColorTheme": "Dark Modern",
      "workbench.preferredLightColorTheme": "Light Modern", ...this.user,
    });
  }

  // A command by its title, as the palette shows it.
  async command(title) {
    await this.quick(`>${title}`);
    const rows = this.page.locator(".quick-input-list .monaco-list-row");
    await rows.first().waitFor();
    const labels = () => rows.evaluateAll((all) => all.map((row) => row.getAttribute("aria-label") ?? ""));
    const index = await until(async () => (await labels()).findIndex((label) => label.split(",")[0] === title) + 1,
                              `the command ${title}`);
    await rows.nth(index - 1).click();
  }

  async quick(text) {
    await this.page.keyboard.press("F1");
    const input = this.page.locator(".quick-input-widget input.input");
    await input.waitFor();
    await input.fill(text);
  }

  // An answer to a box that asks for a text.
  async enter(text) {
    const input = this.page.locator(".quick-input-widget:not([style*='display: none']) input.input");
    await until(async () => await this.page.locator(".quick-input-widget .quick-input-message").isVisible(), "a question");
    await input.fill(text);
    await this.page.keyboard.press("Enter");
    await until(async () => await input.inputValue().catch(() => "") !== text, "the next question");
  }

  // A row of a list that is offered.
  async choose(text) {
    const row = this.page.locator(".quick-input-list .monaco-list-row", { hasText: text }).first();
    await row.waitFor();
    await row.click();
  }

  // The same in a list of which several may be taken.
  async tick(text) {
    await this.choose(text);
    await this.page.locator(".quick-input-widget .quick-input-action .monaco-button", { hasText: "OK" }).click();
  }

  async openFile(name) {
    await this.quick(name);
    await this.page.locator(".quick-input-list .monaco-list-row").first().waitFor();
    await this.page.keyboard.press("Enter");
    await this.page.locator(`.tab.active[data-resource-name="${name}"]`).first().waitFor();
  }

  // The document inside a webview whose body has this class, with its style.
  webview(name) {
    return until(async () => {
      for (const frame of this.page.frames()) {
        const body = await frame.$(`body.${name}`).catch(() => null);
        const styled = await body?.evaluate((one) => getComputedStyle(one).getPropertyValue("--good")).catch(() => "");
        if (styled) return frame;
      }
      return undefined;
    }, `the webview ${name} with its style`);
  }

  // How many of a page's controls the Tab key reaches one after the other, and how many there are.
  async tabThrough(frame) {
    const controls = "button, input, select, textarea";
    const all = await frame.locator(controls).count();
    const reached = new Set();
    await frame.locator(controls).first().focus();
    for (let i = 0; i < all; i++) {
      reached.add(await frame.evaluate((all) => [...document.querySelectorAll(all)].indexOf(document.activeElement), controls));
      await this.page.keyboard.press("Tab");
    }
    reached.delete(-1);
    return [reached.size, all];
  }

  // In two themes, the dark one last. height: of a window in which a long page is whole.
  async shot(path, { looks = ["light", "dark"], height } = {}) {
    const size = this.page.viewportSize();
    if (height) await this.page.setViewportSize({ ...size, height });
    for (const look of looks) {
      await this.setTheme(look);
      await this.page.waitForTimeout(500); // webviews get their colours after the window
      await this.page.screenshot({ path: `${path}-${look}.png` });
    }
    if (height) await this.page.setViewportSize(size);
  }

  async stop() {
    await this.browser?.close();
    if (this.server) {
      const ended = new Promise((done) => this.server.on("exit", done));
      this.server.kill();
      await ended;
    }
    rmSync(this.home, { recursive: true, force: true, maxRetries: 10 }); // its children write to the last
  }
}
