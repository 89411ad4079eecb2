// Texts that servers, models and files wrote. They are shown as text, and characters that would hide, turn around or
// break what stands beside them are shown as what they are.

import { element } from "./parts/element.js";

// What can't be seen, or changes how other characters are seen. Line breaks and tabs are not among them. Joiners are:
// they are taken out again where they belong.
const HIDDEN =
  /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u00AD\u034F\u061C\u115F\u1160\u17B4\u17B5\u180B-\u180F\u200B-\u200F\u2028-\u202E\u2060-\u206F\u2800\u3164\uFE00-\uFE0E\uFEFF\uFFA0\uFFF0-\uFFFB\u{1BCA0}-\u{1BCA3}\u{1D173}-\u{1D17A}\u{E0000}-\u{E0FFF}]|\p{Cs}/gu;
const LINE_BREAKS = /[\n\t]/g;
// More marks on one letter than any script needs run over the lines above and below.
const PILED = /(\p{M}{4})\p{M}+/gu;

const JOINS_EMOJI = /\p{Extended_Pictographic}[\uFE0F\u{1F3FB}-\u{1F3FF}]?$/u;
const EMOJI = /^\p{Extended_Pictographic}/u;
const ENDS_IN_LETTER = /\p{L}\p{M}*$/u;
const LETTER = /^\p{L}/u;
// Scripts of the Middle East and of India, in which joiners are part of the spelling.
const JOINING_SCRIPT = /\p{Script=Arabic}|\p{Script=Syriac}|\p{Script=Devanagari}|\p{Script=Bengali}|\p{Script=Tamil}|\p{Script=Telugu}|\p{Script=Kannada}|\p{Script=Malayalam}|\p{Script=Sinhala}|\p{Script=Gujarati}|\p{Script=Gurmukhi}|\p{Script=Khmer}|\p{Script=Myanmar}/u;

/**
 * Whether a joiner stands where writing needs it.
 * @param {string} text
 * @param {number} at
 */
function belongs(text, at) {
  const before = text.slice(Math.max(0, at - 8), at);
  const behind = text.slice(at + 1, at + 3);
  if (text[at] === "\u200D" && JOINS_EMOJI.test(before) && EMOJI.test(behind)) {
    return true;
  }
  const isJoiner = text[at] === "\u200C" || text[at] === "\u200D";
  return isJoiner && ENDS_IN_LETTER.test(before) && JOINING_SCRIPT.test(before) && LETTER.test(behind);
}

/** @param {string} character */
function code(character) {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}

/**
 * Cuts a text into what can be shown and what is named instead.
 * @param {string} text
 * @param {boolean} lines whether line breaks and tabs stay
 * @returns {{ text: string, mark: boolean }[]}
 */
export function pieces(text, lines) {
  const shown = (lines ? text : text.replace(LINE_BREAKS, " ")).replace(PILED, "$1");
  /** @type {{ text: string, mark: boolean }[]} */
  const found = [];
  let from = 0;
  for (const match of shown.matchAll(HIDDEN)) {
    if (belongs(shown, match.index)) {
      continue;
    }
    if (match.index > from) {
      found.push({ text: shown.slice(from, match.index), mark: false });
    }
    found.push({ text: code(match[0]), mark: true });
    from = match.index + match[0].length;
  }
  if (from < shown.length) {
    found.push({ text: shown.slice(from), mark: false });
  }
  return found;
}

/**
 * A text on one line where there are only strings: titles, labels, options.
 * @param {unknown} text
 * @param {number} [most] how many characters
 * @returns {string}
 */
export function plain(text, most = 200) {
  const [beginning, isWhole] = cut(String(text ?? ""), most);
  const joined = pieces(beginning, false)
    .map((it) => (it.mark ? `⟨${it.text}⟩` : it.text))
    .join("");
  return isWhole ? joined : `${joined}…`;
}

/**
 * An element with a text on one line. It can't change the direction of what stands around it.
 * @param {unknown} text
 * @param {{ most?: number, class?: string, title?: string }} [options]
 * @returns {HTMLElement}
 */
export function foreign(text, options = {}) {
  const [beginning, isWhole] = cut(String(text ?? ""), options.most ?? 200);
  const made = element("bdi", { class: options.class, title: options.title });
  append(made, beginning, false);
  if (!isWhole) {
    made.append("…");
  }
  return made;
}

/**
 * An element with a text that may have several lines.
 * @param {string} text
 * @param {string} [name] its class
 * @returns {HTMLElement}
 */
export function foreignLines(text, name = "lines") {
  const made = element("bdi", { class: name, dir: "auto" });
  append(made, text, true);
  return made;
}

/**
 * @param {HTMLElement} parent
 * @param {string} text
 * @param {boolean} lines
 */
export function append(parent, text, lines) {
  for (const piece of pieces(text, lines)) {
    parent.append(piece.mark ? element("span", { class: "mark" }, piece.text) : piece.text);
  }
}

/**
 * The beginning of a text, and whether that is all of it. No character is cut in two.
 * @param {string} text
 * @param {number} most
 * @returns {[string, boolean]}
 */
export function cut(text, most) {
  if (text.length <= most) {
    return [text, true];
  }
  const last = text.charCodeAt(most - 1);
  const isHalf = last >= 0xd800 && last <= 0xdbff;
  return [text.slice(0, isHalf ? most - 1 : most), false];
}

/**
 * An address that may be opened: `https`, or `http`, and nothing before the host that looks like one.
 * @param {string} address
 * @returns {URL | null}
 */
export function opened(address) {
  try {
    const url = new URL(address);
    const isPlain = url.username === "" && url.password === "";
    return isPlain && (url.protocol === "https:" || url.protocol === "http:") ? url : null;
  } catch {
    return null;
  }
}

/** How much of a path is shown. */
const PATH = 60;

/**
 * Where an address leads, as it is shown: the whole host, and the beginning of the rest.
 * @param {URL} url
 */
export function where(url) {
  const [path, isWhole] = cut(url.pathname + url.search + url.hash, PATH);
  return `${url.origin}${path}${isWhole ? "" : "…"}`;
}
