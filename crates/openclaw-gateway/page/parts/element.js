// Elements, made from data. Texts become text nodes: nothing here ever reads markup.

/**
 * @typedef {Node | string | number | null | undefined | false} Child
 * @typedef {Record<string, unknown>} Attributes
 */

/**
 * An element. `on` holds listeners, `class` names, `data` the dataset; `true` is an attribute without a value, and
 * what is `false`, `null` or missing is left out.
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Attributes} [attributes]
 * @param {...(Child | Child[])} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  adorn(made, attributes);
  made.append(...nodes(children));
  return made;
}

const SVG = "http://www.w3.org/2000/svg";

/**
 * An element of a drawing.
 * @param {string} tag
 * @param {Attributes} [attributes]
 * @param {...Child} children
 * @returns {SVGElement}
 */
export function drawn(tag, attributes = {}, ...children) {
  const made = document.createElementNS(SVG, tag);
  adorn(made, attributes);
  made.append(...nodes(children));
  return made;
}

/**
 * @param {Element} made
 * @param {Attributes} attributes
 */
function adorn(made, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) {
      continue;
    }
    if (name === "on") {
      for (const [event, listener] of Object.entries(/** @type {Record<string, EventListener>} */ (value))) {
        made.addEventListener(event, listener);
      }
    } else if (name === "data") {
      Object.assign(/** @type {HTMLElement} */ (made).dataset, value);
    } else {
      made.setAttribute(name, value === true ? "" : String(value));
    }
  }
}

/**
 * @param {(Child | Child[])[]} children
 * @returns {(Node | string)[]}
 */
function nodes(children) {
  return children
    .flat()
    .filter((it) => it !== null && it !== undefined && it !== false && it !== "")
    .map((it) => (it instanceof Node ? it : String(it)));
}

/**
 * Puts other children in the place of those that are there.
 * @param {Element} parent
 * @param {...(Child | Child[])} children
 */
export function fill(parent, ...children) {
  parent.replaceChildren(...nodes(children));
}

/**
 * Says something else, where it is something else: an unchanged text keeps its selection, and is not read out again.
 * @param {Node} node
 * @param {string} text
 */
export function say(node, text) {
  if (node.textContent !== text) {
    node.textContent = text;
  }
}

/**
 * A button.
 * @param {string} label
 * @param {(event: Event) => unknown} press
 * @param {Attributes} [attributes]
 */
export function button(label, press, attributes = {}) {
  return element("button", { type: "button", ...attributes, on: { click: press } }, label);
}

/**
 * Names and values, those that there are.
 * @param {[string, Child | Child[]][]} entries
 * @param {Attributes} [attributes]
 */
export function facts(entries, attributes = {}) {
  const there = entries.filter(([, value]) => value !== null && value !== undefined && value !== "" && value !== false);
  return element(
    "dl",
    { class: "facts", ...attributes },
    there.flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]),
  );
}

let counted = 0;

/**
 * A name for an element that another one refers to.
 * @param {string} kind
 */
export function identity(kind) {
  counted += 1;
  return `${kind}-${counted}`;
}
