// Texts of any length: their beginning is shown, more of it on request, and all of it can be copied or kept.

import { append, cut } from "../foreign.js";
import { size } from "../words.js";
import { told } from "./notices.js";
import { button, element } from "./element.js";

const BEGINNING = 8_000;
const MORE = 100_000;
/** What a browser can lay out without stopping. The rest can be kept as a file. */
const MOST = 1_000_000;

/**
 * @param {string} text
 * @param {{ class?: string, name?: string, label?: string }} [options] `name` is that of the file
 * @returns {HTMLElement}
 */
export function longText(text, options = {}) {
  const shown = element("pre", { class: options.class ?? "text", dir: "auto", tabindex: 0, role: "group", "aria-label": options.label ?? "Text" });
  const [beginning, isWhole] = cut(text, BEGINNING);
  append(shown, beginning, true);
  const whole = element("div", { class: "long-text" }, shown);
  if (isWhole) {
    return whole;
  }
  let given = beginning.length;
  const more = button("Show more", () => {
    const [next] = cut(text.slice(given), MORE);
    append(shown, next, true);
    given += next.length;
    update();
  });
  const how = element("span", { class: "quiet" });
  function update() {
    how.textContent = given < text.length ? `${size(given)} of ${size(text.length)} shown` : `${size(text.length)}`;
    more.hidden = given >= text.length || given >= MOST;
  }
  update();
  const save = button("Save as a file", () => saveText(text, options.name ?? "text.txt"));
  whole.append(element("div", { class: "actions" }, how, more, copying(text), save));
  return whole;
}

/**
 * A button that copies.
 * @param {string} text
 */
export function copying(text) {
  return button("Copy", async () => {
    try {
      await navigator.clipboard.writeText(text);
      told("copied");
    } catch {
      // Only pages with TLS or on this machine may.
      saveText(text, "text.txt");
    }
  });
}

/**
 * @param {string} text
 * @param {string} name
 */
function saveText(text, name) {
  const address = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  element("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1_000);
}
