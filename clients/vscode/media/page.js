// Every webview of ours: what is clicked goes to the extension, what comes back replaces the body.
(() => {
  const editor = acquireVsCodeApi();
  const pressable = "[data-action], [data-file]";

  function tell(element) {
    editor.postMessage({ action: "open", ...element.dataset });
  }

  // The element that had the focus, in the new body.
  function again(element) {
    const wanted = JSON.stringify({ ...element?.dataset });
    return [...document.querySelectorAll(pressable)].find((other) => JSON.stringify({ ...other.dataset }) === wanted);
  }

  document.addEventListener("click", ({ target }) => {
    const element = target.closest(pressable);
    if (element && !element.matches("input, select, textarea")) tell(element);
  });

  addEventListener("message", ({ data }) => {
    if (typeof data.body !== "string") return;
    const { activeElement } = document;
    const { scrollY } = window;
    document.body.innerHTML = data.body;
    again(activeElement)?.focus();
    scrollTo(0, scrollY);
  });
})();
