// What a person is told once: what was done, and what failed.

import { foreign, foreignLines } from "../foreign.js";
import { TAKEN_BACK } from "../connection.js";
import { stateOf } from "../words.js";
import { button, element } from "./element.js";

/** How long something that went well is shown. */
const SHOWN = 5_000;

/** Where notices appear; a part of the page from the beginning, so that screen readers know of it. */
export const notices = element("div", { class: "notices", role: "status", "aria-live": "polite", "aria-label": "Messages" });

/**
 * Says that something was done.
 * @param {string} text
 */
export function told(text) {
  const notice = element("p", { class: "notice good" }, foreign(text, { most: 400 }));
  notices.append(notice);
  setTimeout(() => notice.remove(), SHOWN);
}

/**
 * Says that something failed, until it is put away.
 * @param {unknown} failure
 */
export function complain(failure) {
  const told = /** @type {{ code?: string }} */ (failure);
  if (told.code === TAKEN_BACK) {
    return;
  }
  const notice = element("div", { class: "notice bad" }, trouble(failure));
  notice.append(button("Put away", () => notice.remove(), { class: "small" }));
  notices.append(notice);
}

/**
 * What failed, and what to do.
 * @param {unknown} failure
 * @returns {HTMLElement}
 */
export function trouble(failure) {
  const { message, hint } = /** @type {{ message?: string, hint?: string | null }} */ (failure ?? {});
  const text = String(message ?? failure ?? "it failed");
  return element(
    "div",
    { class: "trouble" },
    foreignLines(text.slice(0, 4_000), "message"),
    hint ? element("p", { class: "hint" }, foreign(hint, { most: 1_000 })) : null,
  );
}

/**
 * Tells what came of something that was done to a server. One that was to be connected may not be.
 * @param {any} server how it is now
 * @param {string} question
 * @param {string} done
 */
export function came(server, question, done) {
  if (question === "connect" && server?.state !== "ready") {
    complain({ message: server?.error ?? `it is not ready: ${stateOf(String(server?.state)).word}` });
    return;
  }
  told(done);
}

/**
 * Does something for a button: it can't be pressed twice, and a failure is told.
 * @template T
 * @param {Event} event
 * @param {() => Promise<T>} work
 * @returns {Promise<T | undefined>}
 */
export async function busy(event, work) {
  const pressed = /** @type {HTMLButtonElement} */ (event.currentTarget);
  // Not `disabled`: that would take the focus away.
  if (pressed.getAttribute("aria-disabled") === "true") {
    return undefined;
  }
  pressed.setAttribute("aria-disabled", "true");
  try {
    return await work();
  } catch (failure) {
    complain(failure);
    return undefined;
  } finally {
    pressed.removeAttribute("aria-disabled");
  }
}
