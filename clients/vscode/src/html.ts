// HTML from templates: what is put in is escaped, unless it is HTML made here.

export class Html {
  constructor(readonly text: string) {}
}

type Part = Html | string | number | undefined | false | Part[];

const entities: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

export function escape(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? "");
}

function textOf(part: Part): string {
  if (part === undefined || part === false) return "";
  if (part instanceof Html) return part.text;
  return Array.isArray(part) ? part.map(textOf).join("") : escape(String(part));
}

export function html(strings: TemplateStringsArray, ...parts: Part[]): Html {
  return new Html(strings.reduce((all, string, i) => all + textOf(parts[i - 1]) + string));
}

export interface Page {
  name: string; // class of the body
  title: string;
  source: string; // what webviews may load from: webview.cspSource
  style: string; // addresses
  script: string;
  nonce: string;
  body: Html;
}

// A whole document that loads nothing but our style and our script.
export function page(p: Page): string {
  const policy = `default-src 'none'; style-src ${p.source}; script-src 'nonce-${p.nonce}'; font-src ${p.source}`;
  return `<!DOCTYPE html>${html`
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width">
<link rel="stylesheet" href="${p.style}">
<title>${p.title}</title>
</head>
<body class="${p.name}">${p.body}<script nonce="${p.nonce}" src="${p.script}"></script></body>
</html>`.text}`;
}
