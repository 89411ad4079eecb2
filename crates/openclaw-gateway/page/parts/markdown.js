// What models write: paragraphs, lists, headings, code. Everything else stays as it was written, and nothing in it is
// markup of the page.

import { append, foreign, opened, plain, where } from "../foreign.js";
import { element } from "./element.js";
import { longText } from "./long-text.js";

/** Longer texts are shown as they are: nobody reads them as prose. */
const LONGEST = 200_000;

const FENCE = /^ {0,3}(`{3,}|~{3,})\s*([\w+#.-]{0,40}).*$/;
const HEADING = /^ {0,3}(#{1,6})\s+(.*)$/;
const ITEM = /^(\s*)(?:([-*+])|(\d{1,9})[.)])\s+(.*)$/;
const RULE = /^ {0,3}([-*_])(?:\s*\1){2,}\s*$/;
const QUOTE = /^ {0,3}>\s?(.*)$/;
// How deep quotes and lists may stand in each other; what is deeper is shown as it was written.
const DEPTH = 10;
// Runs of backticks are of one length on both sides, and short: each is looked for once.
const INLINE = /(?<!`)(`{1,8})(?!`)([^`\n]{1,2000}(?:`{1,8}[^`\n]{1,200}){0,4}?)(?<!`)\1(?!`)|\*\*(?=\S)(.+?\S?)\*\*|\[([^\]\n]{1,300})\]\((https?:\/\/[^\s()<>]{1,2000})\)|(https?:\/\/[^\s<>"'`]{0,1999}[^\s<>"'`.,;:!?)\]}*_])/g;

/**
 * @param {string} text
 * @returns {HTMLElement}
 */
export function markdown(text) {
  if (text.length > LONGEST) {
    return longText(text, { class: "text prose", name: "reply.md", label: "A long reply" });
  }
  const place = element("div", { class: "markdown", dir: "auto" });
  blocks(text.split("\n"), place, 0);
  return place;
}

/**
 * @param {string[]} lines
 * @param {HTMLElement} place
 * @param {number} depth
 */
function blocks(lines, place, depth) {
  if (depth > DEPTH) {
    place.append(longText(lines.join("\n"), { class: "text prose", name: "reply.md", label: "Part of a reply" }));
    return;
  }
  let at = 0;
  while (at < lines.length) {
    const line = lines[at];
    const fence = FENCE.exec(line);
    const heading = HEADING.exec(line);
    if (line.trim() === "") {
      at += 1;
    } else if (fence) {
      at = code(lines, at, fence[1], place);
    } else if (heading) {
      // Below the headings of the page.
      const level = /** @type {"h3" | "h4" | "h5" | "h6"} */ (`h${Math.min(6, heading[1].length + 2)}`);
      const made = element(level);
      inline(heading[2].trimEnd().replace(/(?<!#)#{1,100}$/, "").trimEnd(), made);
      place.append(made);
      at += 1;
    } else if (RULE.test(line)) {
      place.append(element("hr"));
      at += 1;
    } else if (QUOTE.test(line)) {
      const end = behind(lines, at, (it) => QUOTE.test(it));
      const quote = element("blockquote");
      blocks(lines.slice(at, end).map((it) => it.replace(QUOTE, "$1")), quote, depth + 1);
      place.append(quote);
      at = end;
    } else if (ITEM.test(line)) {
      at = list(lines, at, place, depth);
    } else {
      const end = behind(lines, at, (it, index) => it.trim() !== "" && (index === at || !begins(it)));
      const paragraph = element("p");
      inline(lines.slice(at, end).join("\n"), paragraph);
      place.append(paragraph);
      at = end;
    }
  }
}

/** @param {string} line */
function begins(line) {
  return FENCE.test(line) || HEADING.test(line) || QUOTE.test(line) || ITEM.test(line);
}

/**
 * The first line behind those that belong together.
 * @param {string[]} lines
 * @param {number} from
 * @param {(line: string, index: number) => boolean} belongs
 */
function behind(lines, from, belongs) {
  let end = from;
  while (end < lines.length && belongs(lines[end], end)) {
    end += 1;
  }
  return end;
}

/**
 * @param {string[]} lines
 * @param {number} at
 * @param {string} fence
 * @param {HTMLElement} place
 */
function code(lines, at, fence, place) {
  const end = behind(lines, at + 1, (it) => !it.trim().startsWith(fence));
  place.append(longText(lines.slice(at + 1, end).join("\n"), { class: "text code", name: "code.txt", label: "Code" }));
  return end + 1;
}

/**
 * @param {string[]} lines
 * @param {number} at
 * @param {HTMLElement} place
 * @param {number} depth
 */
function list(lines, at, place, depth) {
  const first = ITEM.exec(lines[at]);
  const indent = first?.[1].length ?? 0;
  const isNumbered = first?.[3] !== undefined;
  const made = element(isNumbered ? "ol" : "ul", isNumbered ? { start: first?.[3] } : {});
  let next = at;
  while (next < lines.length) {
    const item = ITEM.exec(lines[next]);
    if (!item || item[1].length !== indent || (item[3] !== undefined) !== isNumbered) {
      break;
    }
    const end = behind(lines, next + 1, (it) => it.trim() !== "" && it.search(/\S/) > indent);
    const entry = element("li");
    const inside = lines.slice(next + 1, end);
    inline(item[4], entry);
    if (inside.length > 0) {
      const least = Math.min(...inside.map((it) => it.search(/\S/)));
      blocks(inside.map((it) => it.slice(least)), entry, depth + 1);
    }
    made.append(entry);
    next = end;
    // An empty line between two entries does not end a list.
    if (lines[next]?.trim() === "" && ITEM.exec(lines[next + 1] ?? "")?.[1].length === indent) {
      next += 1;
    }
  }
  place.append(made);
  return Math.max(next, at + 1);
}

/**
 * @param {string} text
 * @param {HTMLElement} place
 */
function inline(text, place) {
  let from = 0;
  for (const match of text.matchAll(INLINE)) {
    append(place, text.slice(from, match.index), true);
    from = match.index + match[0].length;
    const [whole, , code, bold, label, target, bare] = match;
    if (code !== undefined) {
      const made = element("code");
      append(made, code, true);
      place.append(made);
    } else if (bold !== undefined) {
      const made = element("strong");
      append(made, bold, true);
      place.append(made);
    } else {
      link(label ?? null, target ?? bare ?? whole, place);
    }
  }
  append(place, text.slice(from), true);
}

/**
 * A link says where it leads, whatever it is called: a tool may have written it.
 * @param {string | null} label
 * @param {string} address
 * @param {HTMLElement} place
 */
function link(label, address, place) {
  const url = opened(address);
  if (!url) {
    append(place, label === null ? address : `${label} (${address})`, true);
    return;
  }
  if (label !== null && label !== address) {
    append(place, `${label} `, true);
  }
  place.append(
    element("a", { href: url.href, target: "_blank", rel: "noopener noreferrer", title: plain(url.href, 500) }, foreign(where(url), { most: 400 })),
  );
}
