// What a tool gave back, and files of messages: texts as text, pictures as pictures, anything else by its name.

import { foreign, plain } from "../foreign.js";
import { size } from "../words.js";
import { element, facts } from "./element.js";
import { longText } from "./long-text.js";

/** Pictures that browsers draw without running anything. */
const PICTURES = new Set(["image/png", "image/jpeg", "image/gif", "image/webp", "image/avif", "image/bmp"]);
const SOUND = /^audio\/[a-z0-9.+-]{1,40}$/;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;
/** How many parts of a result are drawn. */
const PARTS = 200;

/**
 * The parts of a result, as the server sent them.
 * @param {any[]} parts
 * @returns {HTMLElement}
 */
export function content(parts) {
  const shown = parts.slice(0, PARTS).map((it) => part(it ?? {}));
  if (parts.length > PARTS) {
    shown.push(element("p", { class: "quiet" }, `The first ${PARTS} of ${parts.length} parts.`));
  }
  return element("div", { class: "content" }, shown.length > 0 ? shown : element("p", { class: "quiet" }, "It is empty."));
}

/** @param {any} it */
function part(it) {
  switch (it.type) {
    case "text":
      return longText(String(it.text ?? ""), { name: "result.txt", label: "Text of the result" });
    case "image":
    case "audio":
      return media(it.mimeType, it.data);
    case "resource": {
      const resource = it.resource ?? {};
      const inside =
        typeof resource.text === "string"
          ? longText(resource.text, { name: "resource.txt", label: "Text of the resource" })
          : media(resource.mimeType, resource.blob);
      return element("figure", {}, element("figcaption", {}, foreign(resource.uri, { most: 300 })), inside);
    }
    case "resource_link":
      return facts([
        ["Resource", foreign(it.title ?? it.name)],
        ["Address", foreign(it.uri, { most: 500 })],
        ["Type", it.mimeType ? foreign(it.mimeType) : null],
        ["Description", it.description ? foreign(it.description, { most: 500 }) : null],
      ]);
    default:
      return longText(JSON.stringify(it, null, 2), { name: "part.json", label: "A part of another kind" });
  }
}

/**
 * A picture, a sound, or the name of a file that is neither.
 * @param {unknown} type
 * @param {unknown} data in base64
 * @param {string | null} [name]
 * @returns {HTMLElement}
 */
export function media(type, data, name = null) {
  const kind = typeof type === "string" ? type.toLowerCase() : "";
  const bytes = typeof data === "string" ? Math.floor((data.length * 3) / 4) : 0;
  const isData = typeof data === "string" && BASE64.test(data);
  const words = `${plain(name ?? "", 100)} ${plain(kind || "a file", 60)}, ${size(bytes)}`.trim();
  if (isData && PICTURES.has(kind)) {
    const picture = element("img", { alt: `Picture: ${words}`, loading: "lazy", decoding: "async" });
    picture.addEventListener("error", () => {
      picture.replaceWith(element("p", { class: "quiet" }, `${words}: this can't be drawn`));
    });
    picture.src = `data:${kind};base64,${data}`;
    return element("figure", { class: "media" }, picture, element("figcaption", { class: "quiet" }, words));
  }
  if (isData && SOUND.test(kind)) {
    const sound = element("audio", { controls: true, preload: "none", "aria-label": `Recording: ${words}` });
    sound.src = `data:${kind};base64,${data}`;
    return element("figure", { class: "media" }, sound, element("figcaption", { class: "quiet" }, words));
  }
  return element("p", { class: "file" }, words);
}
