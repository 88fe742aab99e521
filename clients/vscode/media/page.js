// Every webview of ours: what is clicked or entered goes to the extension, what comes back replaces the body.
(() => {
  const editor = acquireVsCodeApi();
  const ours = "[data-action], [data-file], [data-change]";

  // The field of a member, or of the one that it is part of, or of its first part.
  function fieldOf(path) {
    const fields = [...document.querySelectorAll("[data-change][data-path]")];
    return fields.find(({ dataset }) => dataset.path === path) ??
      fields.find(({ dataset }) => path.startsWith(dataset.path)) ??
      fields.find(({ dataset }) => dataset.path.startsWith(path));
  }

  function pressed(element) {
    const { from, path, action } = element.dataset;
    const field = action === "goto" ? fieldOf(path) : undefined;
    const value = from ? { value: document.getElementById(from).value } : {};
    if (field) field.focus();
    else editor.postMessage({ action: "open", ...element.dataset, ...value });
  }

  function entered(element) {
    const { change, path, kind } = element.dataset;
    const value = element.type === "checkbox" ? String(element.checked) : element.value;
    editor.postMessage({ action: change, path, kind, value });
  }

  const key = ({ dataset, id }) => JSON.stringify({ ...dataset, id });

  // The element that had the focus, in the new body, with what was being written in it.
  function goOn(before) {
    const after = before && [...document.querySelectorAll(`${ours}, [id]`)].find((other) => key(other) === key(before));
    if (!after) return;
    if ("defaultValue" in before && before.type !== "checkbox" && before.value !== before.defaultValue) {
      after.value = before.value;
    }
    after.focus();
    if (before.selectionStart !== undefined && before.selectionStart !== null) {
      after.setSelectionRange(before.selectionStart, before.selectionEnd);
    }
  }

  document.addEventListener("click", ({ target }) => {
    const element = target.closest("[data-action], [data-file]");
    if (element) pressed(element);
  });

  document.addEventListener("change", ({ target }) => {
    if (target.dataset.change) {
      entered(target);
      if ("defaultValue" in target) target.defaultValue = target.value;
    }
  });

  addEventListener("message", ({ data }) => {
    if (typeof data.body !== "string") return;
    const { activeElement } = document;
    const { scrollY } = window;
    document.body.innerHTML = data.body;
    goOn(activeElement === document.body ? null : activeElement);
    scrollTo(0, scrollY);
  });
})();
