// A list of which only what is on the screen is drawn, so that thousands of entries cost as much as a few.

import { element } from "./element.js";

/** How many entries are drawn above and below what can be seen. */
const MARGIN = 6;

/**
 * @template T
 * @typedef {object} Looks
 * @property {string} label what the list is called
 * @property {number} height of an entry, in pixels
 * @property {(entry: T) => string} key
 * @property {(entry: T) => HTMLElement} draw
 * @property {(entry: T) => void} [choose] opens an entry; without it, entries are only read
 */

/**
 * A list with the keyboard of a list box: arrows, Home, End, Page Up and Down move, Enter opens.
 * @template T
 */
export class List {
  /** @type {T[]} */
  #entries = [];
  /** @type {Map<string, HTMLElement>} */
  #drawn = new Map();
  #looks;
  #room;
  #isScheduled = false;
  /** The key of the entry that the keyboard is at. @type {string | null} */
  #active = null;
  element;

  /** @param {Looks<T>} looks */
  constructor(looks) {
    this.#looks = looks;
    const isChosen = looks.choose !== undefined;
    this.#room = element("div", { class: "room", role: isChosen ? "presentation" : "rowgroup" });
    this.element = element(
      "div",
      { class: "list", tabindex: 0, role: isChosen ? "listbox" : "table", "aria-label": looks.label },
      this.#room,
    );
    this.element.addEventListener("scroll", () => this.#schedule(), { passive: true });
    new ResizeObserver(() => this.#schedule()).observe(this.element);
    if (isChosen) {
      this.element.addEventListener("keydown", (event) => this.#press(event));
      this.element.addEventListener("click", (event) => {
        const row = /** @type {Element} */ (event.target).closest("[data-key]");
        const key = /** @type {HTMLElement | null} */ (row)?.dataset.key;
        const entry = this.#entries.find((it) => looks.key(it) === key);
        if (entry) {
          this.mark(looks.key(entry));
          looks.choose?.(entry);
        }
      });
    }
  }

  /**
   * Shows other entries. Whoever has scrolled goes on reading what they read, whatever came before it.
   * @param {T[]} entries
   */
  show(entries) {
    const { key, height } = this.#looks;
    const { scrollTop } = this.element;
    const read = scrollTop > 0 ? this.#entries[Math.floor(scrollTop / height)] : undefined;
    this.#entries = entries;
    this.#room.style.height = `${entries.length * this.#looks.height}px`;
    this.element.setAttribute(this.#looks.choose ? "data-count" : "aria-rowcount", String(entries.length));
    // Entries may be others under the same key.
    this.#drawn.clear();
    this.#room.replaceChildren();
    const at = read === undefined ? -1 : entries.findIndex((it) => key(it) === key(read));
    if (at >= 0) {
      this.element.scrollTop = at * height + (scrollTop % height);
    }
    this.#draw();
  }

  /**
   * Says which entry is open.
   * @param {string | null} key
   */
  mark(key) {
    this.#active = key;
    for (const [drawn, row] of this.#drawn) {
      row.setAttribute("aria-selected", String(drawn === key));
    }
    this.#point();
  }

  /**
   * Goes to an entry, and says that it is open.
   * @param {string} key
   */
  reveal(key) {
    const at = this.#entries.findIndex((it) => this.#looks.key(it) === key);
    if (at >= 0) {
      this.#goTo(at);
    }
  }

  /** Goes to the beginning. */
  top() {
    this.element.scrollTop = 0;
  }

  /** @param {KeyboardEvent} event */
  #press(event) {
    const page = Math.max(1, Math.floor(this.element.clientHeight / this.#looks.height) - 1);
    const at = this.#entries.findIndex((it) => this.#looks.key(it) === this.#active);
    const places = /** @type {Record<string, number>} */ ({
      ArrowDown: at + 1,
      ArrowUp: at - 1,
      PageDown: at + page,
      PageUp: at - page,
      Home: 0,
      End: this.#entries.length - 1,
    });
    const wanted = places[event.key];
    if (wanted !== undefined && this.#entries.length > 0) {
      event.preventDefault();
      this.#goTo(Math.min(Math.max(wanted, 0), this.#entries.length - 1));
    } else if ((event.key === "Enter" || event.key === " ") && at >= 0) {
      event.preventDefault();
      this.#looks.choose?.(this.#entries[at]);
    }
  }

  /** @param {number} index */
  #goTo(index) {
    const { height } = this.#looks;
    const top = index * height;
    const { scrollTop, clientHeight } = this.element;
    if (top < scrollTop) {
      this.element.scrollTop = top;
    } else if (top + height > scrollTop + clientHeight) {
      this.element.scrollTop = top + height - clientHeight;
    }
    this.#active = this.#looks.key(this.#entries[index]);
    this.#draw();
    this.mark(this.#active);
  }

  #point() {
    const row = this.#active === null ? undefined : this.#drawn.get(this.#active);
    if (row) {
      this.element.setAttribute("aria-activedescendant", row.id);
    } else {
      this.element.removeAttribute("aria-activedescendant");
    }
  }

  #schedule() {
    if (!this.#isScheduled) {
      this.#isScheduled = true;
      requestAnimationFrame(() => {
        this.#isScheduled = false;
        this.#draw();
      });
    }
  }

  #draw() {
    const { height, key, draw } = this.#looks;
    const { scrollTop, clientHeight } = this.element;
    const first = Math.max(0, Math.floor(scrollTop / height) - MARGIN);
    const last = Math.min(this.#entries.length, Math.ceil((scrollTop + clientHeight) / height) + MARGIN);
    const wanted = new Set();
    for (let index = first; index < last; index += 1) {
      const entry = this.#entries[index];
      const name = key(entry);
      wanted.add(name);
      let row = this.#drawn.get(name);
      if (!row) {
        row = draw(entry);
        row.dataset.key = name;
        row.id = `${this.#looks.label.replaceAll(/\W/g, "-")}-${index}`;
        if (this.#looks.choose) {
          row.setAttribute("role", "option");
          row.setAttribute("aria-selected", String(name === this.#active));
          row.setAttribute("aria-posinset", String(index + 1));
          row.setAttribute("aria-setsize", String(this.#entries.length));
        } else {
          row.setAttribute("role", "row");
          row.setAttribute("aria-rowindex", String(index + 1));
        }
        row.style.transform = `translateY(${index * height}px)`;
        row.style.height = `${height}px`;
        this.#drawn.set(name, row);
        this.#room.append(row);
      }
    }
    for (const [name, row] of this.#drawn) {
      if (!wanted.has(name)) {
        row.remove();
        this.#drawn.delete(name);
      }
    }
    this.#point();
  }
}
