// Fields of forms: what is entered, as a value, or why it is none.

import { foreign, plain } from "../foreign.js";
import { button, element, fill, identity } from "./element.js";

/**
 * What a field is about. Its texts may be foreign.
 * @typedef {object} About
 * @property {string} name
 * @property {string | null} [title]
 * @property {string | null} [description]
 * @property {boolean} [required]
 *
 * A field. `read` gives its value, nothing for one that is left empty, and throws where what was entered is none.
 * @typedef {object} Field
 * @property {HTMLElement} element
 * @property {() => unknown} read
 */

/** What was entered is not what the field takes. */
export class Unfit extends Error {
  /**
   * @param {string} message
   * @param {HTMLElement} at
   */
  constructor(message, at) {
    super(message);
    this.at = at;
  }
}

/** How many choices are shown as a list of buttons, and not as a menu. */
const FEW = 6;

/**
 * The frame of a field: its name, what it is, and what is wrong with it.
 * @param {About} about
 * @param {HTMLElement} control
 * @param {HTMLElement[]} [more]
 */
function framed(about, control, more = []) {
  const id = control.id || identity("field");
  control.id = id;
  const words = /** @type {string[]} */ ([]);
  const parts = /** @type {HTMLElement[]} */ ([]);
  if (about.description) {
    const description = element("p", { class: "description", id: `${id}-about` }, foreign(about.description, { most: 600 }));
    parts.push(description);
    words.push(description.id);
  }
  const problem = element("p", { class: "problem", id: `${id}-problem`, role: "alert" });
  words.push(problem.id);
  control.setAttribute("aria-describedby", words.join(" "));
  if (about.required) {
    control.setAttribute("aria-required", "true");
  }
  const label = element(
    "label",
    { for: id },
    foreign(about.title || about.name, { most: 80 }),
    // Apart, also for those who hear it.
    about.title && about.title !== about.name ? [" ", element("code", {}, foreign(about.name, { most: 80 }))] : [],
    about.required ? [" ", element("span", { class: "required" }, "required")] : [],
  );
  return element("div", { class: "field" }, label, parts, control, more, problem);
}

/**
 * Says what is wrong with a field, or that nothing is.
 * @param {HTMLElement} control
 * @param {string | null} text
 */
export function blame(control, text) {
  control.setAttribute("aria-invalid", String(text !== null));
  const problem = document.getElementById(`${control.id}-problem`);
  if (problem) {
    problem.textContent = text ?? "";
  }
}

/**
 * Nothing, unless something has to be there.
 * @param {About} about
 * @param {HTMLElement} control
 */
function nothing(about, control) {
  if (about.required) {
    throw new Unfit("this is needed", control);
  }
  return undefined;
}

/**
 * Text: one line that grows, or one with a form of its own.
 * @param {About} about
 * @param {{ format?: string | null, value?: unknown, secret?: boolean, placeholder?: string, first?: boolean }} [options]
 * @returns {Field & { control: HTMLInputElement | HTMLTextAreaElement }}
 */
export function textField(about, options = {}) {
  const types = /** @type {Record<string, string>} */ ({ line: "text", date: "date", email: "email", uri: "url", "date-time": "text" });
  const type = options.secret ? "password" : types[options.format ?? ""];
  const attributes = { autocomplete: "off", spellcheck: "false", placeholder: options.placeholder, autofocus: options.first };
  const control = type
    ? element("input", { type, ...attributes })
    : element("textarea", { rows: 1, ...attributes });
  control.value = options.value === undefined || options.value === null ? "" : String(options.value);
  let isTouched = control.value !== "";
  control.addEventListener("input", () => {
    isTouched = true;
  });
  return {
    element: framed(about, control),
    control,
    read: () => {
      const text = control.value;
      // An empty text is a value where somebody has to give one, and nothing where it may be left out.
      if (text === "" && !(about.required && isTouched)) {
        return nothing(about, control);
      }
      return text;
    },
  };
}

/**
 * @param {About} about
 * @param {{ whole?: boolean, value?: unknown }} [options]
 * @returns {Field}
 */
export function numberField(about, options = {}) {
  const control = element("input", { type: "text", inputmode: "decimal", autocomplete: "off" });
  control.value = typeof options.value === "number" ? String(options.value) : "";
  return {
    element: framed(about, control),
    read: () => {
      const text = control.value.trim();
      if (text === "") {
        return nothing(about, control);
      }
      const number = Number(text);
      if (!Number.isFinite(number)) {
        throw new Unfit("this is not a number", control);
      }
      // JSON has larger ones, but this would send another one than was entered.
      if (Number.isInteger(number) && !Number.isSafeInteger(number)) {
        throw new Unfit("this number is too large to be sent exactly", control);
      }
      if (options.whole && !Number.isInteger(number)) {
        throw new Unfit("this is not a whole number", control);
      }
      return number;
    },
  };
}

/**
 * Yes or no; where neither has to be said, a third choice.
 * @param {About} about
 * @param {{ value?: unknown }} [options]
 * @returns {Field}
 */
export function yesNoField(about, options = {}) {
  return choiceField(
    about,
    [
      { value: true, title: "yes" },
      { value: false, title: "no" },
    ],
    options,
  );
}

/**
 * One of several.
 * @param {About} about
 * @param {{ value: unknown, title: string }[]} choices
 * @param {{ value?: unknown }} [options]
 * @returns {Field}
 */
export function choiceField(about, choices, options = {}) {
  const control = element(
    "select",
    {},
    element("option", { value: "" }, about.required ? "choose…" : "not set"),
    choices.map((it, index) => element("option", { value: index }, plain(it.title, 100))),
  );
  const preset = choices.findIndex((it) => it.value === options.value);
  control.value = preset < 0 ? "" : String(preset);
  return {
    element: framed(about, control),
    read: () => (control.value === "" ? nothing(about, control) : choices[Number(control.value)].value),
  };
}

/**
 * Some of several.
 * @param {About} about
 * @param {{ value: unknown, title: string }[]} choices
 * @param {{ value?: unknown }} [options]
 * @returns {Field}
 */
export function severalField(about, choices, options = {}) {
  const preset = Array.isArray(options.value) ? options.value : [];
  const boxes = choices.map((it) => {
    const box = element("input", { type: "checkbox" });
    box.checked = preset.includes(it.value);
    return box;
  });
  const control = element(
    "div",
    { role: "group", class: choices.length > FEW ? "choices many" : "choices", "aria-label": plain(about.title || about.name) },
    boxes.map((box, index) => element("label", { class: "choice" }, box, foreign(choices[index].title, { most: 100 }))),
  );
  return {
    element: framed(about, control),
    read: () => {
      const chosen = choices.filter((_, index) => boxes[index].checked).map((it) => it.value);
      return chosen.length === 0 ? nothing(about, control) : chosen;
    },
  };
}

/**
 * Anything, as JSON.
 * @param {About} about
 * @param {{ value?: unknown }} [options]
 * @returns {Field & { control: HTMLTextAreaElement }}
 */
export function jsonField(about, options = {}) {
  const control = element("textarea", { rows: 3, spellcheck: "false", class: "code", placeholder: "JSON" });
  control.value = options.value === undefined ? "" : JSON.stringify(options.value, null, 2);
  return {
    element: framed(about, control),
    control,
    read: () => {
      if (control.value.trim() === "") {
        return nothing(about, control);
      }
      try {
        return JSON.parse(control.value);
      } catch (error) {
        throw new Unfit(`this is not JSON: ${/** @type {Error} */ (error).message}`, control);
      }
    },
  };
}

/**
 * As many of a kind as are wanted.
 * @param {About} about
 * @param {(about: About, value?: unknown) => Field} one
 * @param {{ value?: unknown }} [options]
 * @returns {Field}
 */
export function listField(about, one, options = {}) {
  /** @type {Map<HTMLElement, Field>} */
  const rows = new Map();
  const list = element("div", { class: "rows" });
  const control = element("div", { role: "group", class: "listed", "aria-label": plain(about.title || about.name) });
  let numbered = 0;
  /** @param {unknown} [value] */
  const add = (value) => {
    numbered += 1;
    const name = `${about.name} ${numbered}`;
    const field = one({ name, required: true }, value);
    const row = element("div", { class: "row" }, field.element);
    row.append(
      button("Remove", () => {
        rows.delete(row);
        row.remove();
        more.focus();
      }, { class: "small", "aria-label": `Remove ${plain(name, 80)}` }),
    );
    rows.set(row, field);
    list.append(row);
    return field;
  };
  const more = button("Add", () => {
    const made = add().element;
    /** @type {HTMLElement | null} */ (made.querySelector("input, textarea, select"))?.focus();
  }, { class: "small" });
  fill(control, list, more);
  (Array.isArray(options.value) ? options.value : []).forEach(add);
  return {
    element: framed(about, control),
    read: () => {
      const values = [...rows.values()].map((it) => it.read());
      return values.length === 0 ? (about.required ? [] : undefined) : values;
    },
  };
}

/**
 * Reads fields into an object. What is wrong is told at its field, the first of which gets the focus.
 * @param {Map<string, Field>} fields
 * @returns {Record<string, unknown> | null}
 */
export function readAll(fields) {
  /** @type {[string, unknown][]} */
  const entries = [];
  /** @type {Unfit | null} */
  let first = null;
  for (const [name, field] of fields) {
    for (const control of field.element.querySelectorAll("[aria-invalid=true]")) {
      blame(/** @type {HTMLElement} */ (control), null);
    }
    try {
      const value = field.read();
      if (value !== undefined) {
        entries.push([name, value]);
      }
    } catch (error) {
      if (!(error instanceof Unfit)) {
        throw error;
      }
      blame(error.at, error.message);
      first ??= error;
    }
  }
  first?.at.focus();
  return first ? null : Object.fromEntries(entries);
}
