// Dialogs: the browser's own, which keep the focus inside, close with Escape and give it back.

import { button, element, identity } from "./element.js";

/** For how long something may be away that had the focus before a dialog. */
const AWAY = 10_000;
/** What dialogs were opened from and could not give the focus back to, since it was away, and when. @type {WeakMap<Element, number>} */
const missed = new WeakMap();

/**
 * Gives the focus to something that is there again, if a dialog wanted to a moment ago and nobody is elsewhere by now.
 * @param {HTMLElement} came
 */
export function giveBack(came) {
  const since = missed.get(came);
  missed.delete(came);
  const isLeft = document.activeElement === document.body || document.activeElement?.id === "main";
  if (since !== undefined && performance.now() - since < AWAY && isLeft) {
    came.focus({ preventScroll: true });
  }
}

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
  const opener = document.activeElement;
  const put = button("Close", close, { class: "quiet", "aria-label": "Close the dialog" });
  dialog.append(element("header", {}, element("h2", { id: heading }, title), put), body);
  dialog.addEventListener("close", () => {
    closing.abort();
    dialog.remove();
    // What had the focus before may be gone, for now or for good.
    if (document.activeElement === document.body) {
      if (opener && !opener.isConnected) {
        missed.set(opener, performance.now());
      }
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
