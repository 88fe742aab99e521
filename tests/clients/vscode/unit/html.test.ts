import assert from "node:assert/strict";
import { test } from "node:test";
import { escape, html, page } from "../../../../clients/vscode/src/html";

test("what is put into a template is escaped, HTML of ours is not", () => {
  const hostile = `<img src=x onerror="alert('1')">&`;
  assert.equal(html`<p title="${hostile}">${[html`<b>${hostile}</b>`, false, undefined, 3]}</p>`.text,
    `<p title="${escape(hostile)}"><b>${escape(hostile)}</b>3</p>`);
  assert.doesNotMatch(escape(hostile), /[<>"']/);
});

test("a page runs the script that has its nonce, and loads nothing else", () => {
  const text = page({ name: "n", title: "<t>", source: "vscode-webview:", style: "s.css", script: "p.js", nonce: "abc", body: html`<p>b</p>` });
  const policy = /Content-Security-Policy" content="([^"]*)"/.exec(text)?.[1]?.replaceAll("&#39;", "'");
  assert.match(policy ?? "", /^default-src 'none';/);
  assert.match(policy ?? "", /script-src 'nonce-abc';/);
  assert.doesNotMatch(policy ?? "", /unsafe|\*/);
  assert.match(text, /<script nonce="abc" src="p.js">/);
  assert.match(text, /&lt;t&gt;/);
});
