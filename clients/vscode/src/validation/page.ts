// kernel/validate's answer as HTML. Nothing here knows the editor.
import { findingsSection, placeLink, section } from "../findings";
import { html, type Html } from "../html";
import { heat, present, type HotLine, type Metric } from "./heat";
import { count, duration, real, short, sizes } from "./numbers";
import type { Case, Counters, Output, Roofline, Sample, Timing, Validation } from "./result";

const MAX_ROWS = 24, MAX_LINES = 200;

export interface Shown {
  file: string; // base name of what was validated
  folder: string; // of the kernel
  title: string; // the verdict in the server's words
  result: Validation;
  metric: Metric | undefined; // of the heat in the editor; undefined: none is shown
  current: boolean; // false: the text was edited since
}

/* --- the verdict --- */

function verdictClass(verdict: string): string {
  return verdict === "pass" ? "good" : verdict === "unjudged" ? "unsure" : "bad";
}

function factsOf({ result }: Shown): string[] {
  const skipped = result.budget?.skipped_trials ?? 0;
  return [
    result.cases.length > 0 && count(result.cases.length, "trial"),
    result.findings.length > 0 && count(result.findings.length, "finding"),
    (result.warnings ?? 0) > 0 && count(result.warnings ?? 0, "warning"),
    skipped > 0 && `${count(skipped, "trial")} left out by the budget`,
    result.backend?.device,
    result.backend?.fallback && `not on a GPU: ${result.backend.fallback}`,
    result.seed && `seed ${result.seed}`,
    result.numerics === "ideal" && "tensor cores: ideal sums, not an H100's",
  ].filter((fact): fact is string => typeof fact === "string");
}

function header(shown: Shown): Html {
  return html`<header class="${verdictClass(shown.result.verdict)}">
<p class="file">${shown.file}</p>
<h1 role="status">${shown.title}</h1>
<p class="facts">${factsOf(shown).join(" · ")}</p>
${!shown.current && html`<p class="old">The text was edited since.</p>`}
<p class="actions"><button data-action="again">Run Again</button>
${shown.result.seed !== undefined && html`<button class="second" data-action="sameSeed">Run Again with This Seed</button>`}</p>
</header>`;
}

function errorOf({ result: { error, unsupported }, folder }: Shown): Html {
  if (!error && !unsupported?.length) return html``;
  return section("What went wrong",
    html`${error && html`<p><strong>${error.stage}</strong> ${error.message}</p>`}`,
    html`${error?.hint !== undefined && html`<p class="hint">${error.hint}</p>`}`,
    html`${unsupported?.length ? html`<p>The CPU backend does not run:</p><ul>${unsupported.map((one) =>
      html`<li><code>${one.opcode}</code> ${placeLink(one, folder)}</li>`)}</ul>` : html``}`);
}

/* --- cases --- */

function outcome(output: Output): Html {
  if (output.verdict === "unjudged") return html`<td class="unsure">not judged</td>`;
  const part = output.judged !== undefined && output.judged < output.elements
    ? `, judged ${output.judged} of ${output.elements}` : "";
  return output.verdict === "fail" ? html`<td class="bad">wrong${part}</td>` : html`<td class="good">ok${part}</td>`;
}

function outputRow(item: Case, output: Output): Html {
  const judged = output.verdict !== "unjudged";
  return html`<tr><td>${sizes(item.sizes)}</td><td>${item.trial ?? 0}</td><td>${output.name}</td>${outcome(output)}
<td>${judged ? `${output.mismatches ?? 0} of ${output.elements}` : "–"}</td><td>${judged ? short(output.max_abs_error) : "–"}</td>
<td>${judged ? short(output.max_rel_error) : "–"}</td></tr>`;
}

function caseRows(item: Case): Html[] {
  if (item.outputs?.length) return item.outputs.map((output) => outputRow(item, output));
  return [html`<tr><td>${sizes(item.sizes)}</td><td>${item.trial ?? 0}</td><td>–</td>
<td class="${verdictClass(item.verdict)}">${item.verdict}</td><td>–</td><td>–</td><td>–</td></tr>`];
}

function cases({ cases: list, added_cases: added }: Validation): Html {
  if (!list.length) return html``;
  const rows = list.flatMap(caseRows);
  return section("Cases", html`<div class="wide"><table>
<thead><tr><th>case</th><th>trial</th><th>output</th><th>result</th><th>wrong</th><th>largest error</th><th>relative</th></tr></thead>
<tbody>${rows.slice(0, MAX_ROWS)}</tbody></table></div>`,
    html`${rows.length > MAX_ROWS && html`<p>and ${rows.length - MAX_ROWS} more rows</p>`}`,
    html`${added?.length ? html`<p>Odd sizes that were tried besides: ${added.map((one) =>
      `${sizes(one.sizes)} (${one.verdict})`).join(", ")}</p>` : html``}`);
}

/* --- wrong elements --- */

function sampleRow(sample: Sample): Html {
  return html`<tr><td>[${sample.index.join(", ")}]</td><td class="bad">${short(sample.actual, 9)}${sample.state && html` <span class="dim">${sample.state}</span>`}</td>
<td>${short(sample.expected, 9)}</td><td><code>${sample.actual_bits ?? ""}</code></td></tr>`;
}

// A bar whose length is a share of 1; percent of the cell.
export function bar(share: number, kind: string): Html {
  const width = Math.max(0, Math.min(100, 100 * share)).toFixed(1);
  return html`<svg class="bar ${kind}" width="100%" height="10" aria-hidden="true"><rect width="${width}%" height="10"/></svg>`;
}

function histogram(buckets: Output["histogram"]): Html {
  if (!buckets?.length) return html``;
  const most = Math.max(...buckets.map(({ count: n }) => n));
  const row = (bucket: { log2_error: string | number; count: number }): Html => {
    const power = real(bucket.log2_error);
    // By the logarithm: one wrong element among millions should be seen.
    return html`<tr><td>${Number.isFinite(power) ? `from 2^${power}` : power > 0 ? "infinite" : "none"}</td><td>${bucket.count}</td>
<td class="bars">${bar(Math.log1p(bucket.count) / Math.log1p(most), power > -7 ? "bad" : "good")}</td></tr>`;
  };
  return html`<table class="histogram"><caption>Errors of all elements (bars are logarithmic)</caption>
<thead><tr><th>relative error</th><th>elements</th><th></th></tr></thead><tbody>${buckets.map(row)}</tbody></table>`;
}

function wrongOutput(item: Case, output: Output): Html {
  const { tolerance, region } = output;
  return html`<h3>${output.name} <span class="dim">in ${sizes(item.sizes)}, trial ${item.trial ?? 0}, seed ${item.seed}</span></h3>
<p class="dim">${count(output.mismatches ?? 0, "wrong element")} of ${output.elements}${region && `, between [${region.low.join(", ")}] and [${region.high.join(", ")}]`}${
  output.unwritten ? `; never written: ${output.unwritten}` : ""}${output.nonfinite ? `; not finite: ${output.nonfinite}` : ""}</p>
${tolerance?.allowed !== undefined && html`<p class="dim">tolerance: ${tolerance.compare ?? "elementwise"}, up to ${tolerance.allowed}</p>`}
<div class="pair"><table class="samples"><caption>First wrong elements</caption>
<thead><tr><th>element</th><th>is</th><th>should be</th><th>bits</th></tr></thead>
<tbody>${(output.samples ?? []).map(sampleRow)}</tbody></table>
${histogram(output.histogram)}</div>`;
}

// Of each output the first case that is wrong.
function wrong({ cases: list }: Validation): Html {
  const told = new Set<string>();
  const parts: Html[] = [];
  for (const item of list) {
    for (const output of item.outputs ?? []) {
      if (output.verdict !== "fail" || told.has(output.name)) continue;
      told.add(output.name);
      parts.push(wrongOutput(item, output));
    }
  }
  return parts.length ? section("Wrong elements", ...parts) : html``;
}

/* --- figures --- */

function share(label: string, percent: number, words: string): Html {
  return html`<tr><th>${label}</th><td class="bars">${bar(percent / 100, percent < 80 ? "warm" : "good")}</td><td>${short(percent)} %</td><td>${words}</td></tr>`;
}

function counterRows(c: Counters): Html[] {
  const sectors = c.global_sectors ?? 0;
  const coalescing = sectors > 0 ? (100 * (c.global_sectors_ideal ?? sectors)) / sectors : 100;
  return [
    c.global_requests ? share("coalescing", coalescing, `${short(c.global_sectors_per_request)} sectors a request`) : html``,
    c.active_lanes_percent !== undefined
      ? share("lanes active", c.active_lanes_percent, c.branches ? `${c.divergent_branches ?? 0} of ${c.branches} branches diverge` : "")
      : html``,
    c.shared_requests ? html`<tr><th>bank conflicts</th><td></td><td>${c.shared_bank_conflicts ?? 0}</td><td>in ${count(c.shared_requests, "request")} to shared memory</td></tr>` : html``,
    c.instructions ? html`<tr><th>work</th><td></td><td>${c.instructions}</td><td>warp instructions</td></tr>` : html``,
  ];
}

function lineRow(hot: HotLine, most: number, folder: string): Html {
  const { counters } = hot;
  const lanes = counters.active_lanes_percent;
  return html`<tr><td>${placeLink({ file: counters.file, line: counters.line }, folder)}</td>
<td class="bars">${bar(hot.value / most, `heat${hot.level}`)}</td><td>${short(hot.value)}</td><td>${short(100 * hot.share)} %</td>
<td>${lanes === undefined ? "" : `${short(lanes)} %`}</td></tr>`;
}

function byLine({ result, metric: chosen, folder }: Shown): Html {
  const lines = result.counters?.by_line;
  const choices = present(lines ?? []);
  const metric = chosen ?? choices[0];
  if (!lines?.length || !metric) return html``;
  const rows = heat(lines, metric).sort((a, b) => b.value - a.value).slice(0, MAX_LINES);
  return html`<h3>By line</h3>
<div role="group" aria-label="Heat beside the lines in the editor" class="choices">
${choices.map((one) => html`<button class="choice" data-action="heat" data-metric="${one.id}" aria-pressed="${String(one === chosen)}">${one.label}</button>`)}
<button class="choice" data-action="heat" data-metric="" aria-pressed="${String(!chosen)}">no heat in the editor</button></div>
<div class="wide"><table class="lines"><thead><tr><th>line</th><th></th><th>${metric.label}</th><th>share</th><th>lanes active</th></tr></thead><tbody>${rows.map((row) => lineRow(row, rows[0]?.value || 1, folder))}</tbody></table></div>`;
}

function counters(shown: Shown): Html {
  const c = shown.result.counters;
  if (!c) return html``;
  return section("Counters", html`<table class="figures">${counterRows(c)}</table>`, byLine(shown));
}

function roofline(r: Roofline | undefined): Html {
  if (r?.limit_us === undefined) return html``;
  const bound = r.bound === "compute" ? "arithmetic" : "memory";
  return html`${r.percent !== undefined && html`<table class="figures">${share("roofline", r.percent, "of the least time")}</table>`}
<p>No faster than ${short(r.limit_us)} µs on ${r.device ?? "the device"}, bound by ${bound}${r.percent === undefined && " (nothing was timed)"}.</p>`;
}

function timing(t: Timing | undefined): Html {
  if (t?.summary === undefined) return html``;
  return html`<p>${t.summary} (${count(t.samples ?? 0, "sample")}, ${t.cache} cache)${t.throttled === true && ", the GPU was throttled"}</p>
${t.speedup !== undefined && html`<p>${short(t.speedup)} times as fast as the reference (${short(t.reference_median_us, 4)} µs)</p>`}
${(t.notes ?? []).map((note) => html`<p class="hint">${note}</p>`)}`;
}

function speed(result: Validation): Html {
  return result.timing?.summary === undefined && result.roofline?.limit_us === undefined
    ? html`` : section("How fast it is", timing(result.timing), roofline(result.roofline));
}

/* --- what was looked at --- */

function sanitizer(s: Validation["sanitizer"]): string | undefined {
  if (!s) return undefined;
  if (s.absent !== undefined) return `compute-sanitizer did not run: ${s.absent}${s.hint ? `; ${s.hint}` : ""}`;
  return `compute-sanitizer ${s.version ?? ""}: ${(s.tools ?? []).map((one) => `${one.tool} ${one.outcome}`).join(", ")}`;
}

function lookedAt(result: Validation): Html {
  const again = result.repeat_check;
  const lines = [
    result.checks?.length ? `looked for: ${result.checks.join(", ")}` : undefined,
    result.unchecked?.length ? `not looked for: ${result.unchecked.join(", ")}` : undefined,
    again && `one trial launched again on other inputs: ${again.verdict}`,
    result.ideal_trial && `one trial again with ideal sums: ${result.ideal_trial.verdict}`,
    sanitizer(result.sanitizer),
    result.phases?.length ? `time: ${result.phases.filter(({ ms }) => ms >= 1)
      .map(({ phase, ms }) => `${phase} ${duration(ms)}`).join(", ")}` : undefined,
  ].filter((line): line is string => line !== undefined);
  return lines.length ? section("What was done", html`<ul>${lines.map((line) => html`<li>${line}</li>`)}</ul>`) : html``;
}

function printed(text: string | undefined): Html {
  return text ? section("The kernel printed", html`<pre>${text}</pre>`) : html``;
}

export function validationBody(shown: Shown): Html {
  const { result, folder } = shown;
  return html`${header(shown)}<main>${errorOf(shown)}
${findingsSection("Compiler", result.check?.diagnostics, folder)}
${findingsSection("Compiler, of the reference", result.reference_diagnostics, folder)}
${findingsSection("Findings", result.findings, folder, result.omitted)}
${wrong(result)}${cases(result)}${speed(result)}${counters(shown)}${printed(result.printf)}${lookedAt(result)}</main>`;
}
