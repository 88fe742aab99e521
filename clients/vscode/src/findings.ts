// Findings and their places as HTML: one shape for kernels and skills. Nothing here knows the editor.
import { html, type Html } from "./html";

export interface Place { file?: string; line?: number; column?: number }

export interface Finding extends Place {
  severity: "error" | "warning" | "info";
  code: string;
  message: string;
  kernel?: string;
  block?: number[];
  thread?: number[];
  count?: number;
  related?: (Place & { message: string })[];
}

// The server names files beside the kernel by their absolute paths.
export function placeLink(at: Place, folder = ""): Html {
  if (!at.file) return html``;
  const name = folder && at.file.startsWith(`${folder}/`) ? at.file.slice(folder.length + 1) : at.file;
  const text = `${name}${at.line ? `:${at.line}` : ""}${at.line && at.column ? `:${at.column}` : ""}`;
  return html`<button class="link" data-file="${at.file}" data-line="${at.line ?? 1}" data-column="${at.column ?? 1}">${text}</button>`;
}

export function section(title: string, ...body: Html[]): Html {
  return html`<section><h2>${title}</h2>${body}</section>`;
}

function threads({ block, thread, count: times, kernel }: Finding): string {
  return [
    kernel && `in ${kernel}`, block && `block ${block.join(",")}`, thread && `thread ${thread.join(",")}`,
  ].filter(Boolean).join(" ") + (times !== undefined && times > 1 ? `, ${times} times` : "");
}

function finding(one: Finding, folder: string): Html {
  return html`<li class="${one.severity}"><span class="severity">${one.severity}</span> ${placeLink(one, folder)}
<span class="message">${one.message}</span> <code class="code">${one.code}</code>
<p class="threads">${threads(one)}</p>
${one.related?.length ? html`<ul>${one.related.map((other) => html`<li>${placeLink(other, folder)} ${other.message}</li>`)}</ul>` : html``}</li>`;
}

export function findingsSection(title: string, list: readonly Finding[] | undefined, folder: string, omitted = 0): Html {
  if (!list?.length) return html``;
  return section(title, html`<ul class="findings">${list.map((one) => finding(one, folder))}</ul>`,
                 html`${omitted > 0 && html`<p>and ${omitted} more</p>`}`);
}
