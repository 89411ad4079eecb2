// Several things in one place, of which one is shown.

import { button, element, fill, identity } from "./element.js";

/**
 * @typedef {object} Tab
 * @property {string} title
 * @property {() => Node} show
 */

/**
 * Tabs: arrows go from one to the next. What was entered into one of them is there again when one comes back.
 * @param {string} label
 * @param {Tab[]} tabs
 * @returns {HTMLElement}
 */
export function tabbed(label, tabs) {
  const panel = element("div", { role: "tabpanel", id: identity("panel"), tabindex: 0, class: "panel" });
  const buttons = tabs.map((tab, index) =>
    button(tab.title, () => choose(index), { role: "tab", id: identity("tab"), "aria-controls": panel.id }),
  );
  const list = element("div", { role: "tablist", "aria-label": label, class: "tabs" }, buttons);
  list.addEventListener("keydown", (event) => {
    const at = buttons.indexOf(/** @type {HTMLButtonElement} */ (document.activeElement));
    const steps = /** @type {Record<string, number>} */ ({ ArrowRight: 1, ArrowLeft: -1 });
    const step = steps[event.key];
    if (at >= 0 && step !== undefined) {
      const next = (at + step + buttons.length) % buttons.length;
      buttons[next].focus();
      choose(next);
      event.preventDefault();
    }
  });
  /** @type {Map<number, Node>} */
  const shown = new Map();
  /** @param {number} chosen */
  function choose(chosen) {
    buttons.forEach((it, index) => {
      it.setAttribute("aria-selected", String(index === chosen));
      it.tabIndex = index === chosen ? 0 : -1;
    });
    panel.setAttribute("aria-labelledby", buttons[chosen].id);
    const made = shown.get(chosen) ?? tabs[chosen].show();
    shown.set(chosen, made);
    fill(panel, made);
  }
  choose(0);
  return element("div", { class: "tabbed" }, list, panel);
}
