// Dialogs: the browser's own, which keep the focus inside, close with Escape and give it back.

import { button, element, identity } from "./element.js";

/**
 * Opens a dialog. The signal tells when it is closed, in whatever way.
 * @param {string} title
 * @param {(body: HTMLElement, close: () => void, closed: AbortSignal) => void} build
 */
export function openDialog(title, build) {
  const closing = new AbortController();
  const heading = identity("dialog");
  const body = element("div", { class: "body" });
  const dialog = element("dialog", { "aria-labelledby": heading });
  const close = () => dialog.close();
  const put = button("Close", close, { class: "quiet", "aria-label": "Close the dialog" });
  dialog.append(element("header", {}, element("h2", { id: heading }, title), put), body);
  dialog.addEventListener("close", () => {
    closing.abort();
    dialog.remove();
    // What had the focus before may be gone.
    if (document.activeElement === document.body) {
      document.getElementById("main")?.focus({ preventScroll: true });
    }
  });
  build(body, close, closing.signal);
  document.body.append(dialog);
  dialog.showModal();
  return { close, closed: closing.signal };
}

/**
 * Asks whether something is really meant.
 * @param {string} title
 * @param {Node | string} text
 * @param {string} yes what the button says that does it
 * @returns {Promise<boolean>}
 */
export function reallyMeant(title, text, yes) {
  return new Promise((decide) => {
    openDialog(title, (body, close, closed) => {
      const decided = () => {
        decide(true);
        close();
      };
      const no = button("Cancel", close, { autofocus: true });
      body.append(element("p", {}, text), element("div", { class: "actions" }, button(yes, decided, { class: "danger" }), no));
      closed.addEventListener("abort", () => decide(false));
    });
  });
}
