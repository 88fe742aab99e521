// A webview of ours: one style, one script, messages both ways.
import { randomBytes } from "node:crypto";
import * as vscode from "vscode";
import { page, type Html } from "./html";

export interface Look { name: string; title: string; body: Html }

export function webviewOptions(extension: vscode.Uri): vscode.WebviewOptions {
  return { enableScripts: true, localResourceRoots: [vscode.Uri.joinPath(extension, "media")] };
}

// Its whole document; what changes later is posted as {body}.
export function fill(webview: vscode.Webview, extension: vscode.Uri, look: Look): void {
  const media = (name: string): string => webview.asWebviewUri(vscode.Uri.joinPath(extension, "media", name)).toString();
  webview.html = page({
    ...look, source: webview.cspSource, style: media("page.css"), script: media("page.js"),
    nonce: randomBytes(16).toString("base64"),
  });
}

export function refill(webview: vscode.Webview, body: Html): void {
  void webview.postMessage({ body: body.text });
}
