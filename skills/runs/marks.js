"use strict";
// A person's marks on the pairs of a page: kept in the browser, taken out as JSON.
(() => {
  const at = (id) => document.getElementById(id);
  const page = at("marking").dataset;
  const pairs = [...document.querySelectorAll("fieldset")];
  const key = `upskilld marks ${page.run} ${page.order}`;

  const markOf = (pair) => {
    const chosen = pair.querySelector("input:checked");
    const note = pair.querySelector("textarea").value.trim();
    const mark = { model: pair.dataset.model, test: pair.dataset.test, run: Number(pair.dataset.turn) };
    return chosen && { ...mark, choice: chosen.value, ...(note && { note }) };
  };

  const show = () => {
    const marks = pairs.map(markOf).filter(Boolean);
    const text = JSON.stringify({ run: page.run, order: page.order, marks }, null, 1) + "\n";
    at("out").value = text;
    at("save").href = "data:application/json;charset=utf-8," + encodeURIComponent(text);
    at("count").textContent = `${marks.length} of ${pairs.length} marked`;
    return text;
  };

  const restore = (kept) => {
    for (const mark of kept.marks) {
      const pair = pairs.find((p) => p.dataset.model === mark.model && p.dataset.test === mark.test
        && Number(p.dataset.turn) === mark.run);
      const input = pair && [...pair.querySelectorAll("input")].find((i) => i.value === mark.choice);
      if (input) {
        input.checked = true;
        pair.querySelector("textarea").value = mark.note || "";
      }
    }
  };

  try {
    restore(JSON.parse(localStorage.getItem(key)) || { marks: [] });
  } catch { /* a browser that keeps nothing for files */ }
  document.addEventListener("input", (event) => {
    if (event.target.id === "out") {
      return;
    }
    const text = show();
    try {
      localStorage.setItem(key, text);
    } catch { /* likewise */ }
  });
  show();
})();
