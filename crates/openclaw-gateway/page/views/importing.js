// Servers of other MCP clients on the gateway's machine, taken over.

import { button, element, fill } from "../parts/element.js";
import { busy, told, trouble } from "../parts/notices.js";
import { foreign, plain } from "../foreign.js";
import { counted } from "../words.js";

/**
 * @param {import("../shell.js").Stage} stage
 * @param {() => void} close
 * @param {AbortSignal} closed
 * @returns {HTMLElement}
 */
export function importing(stage, close, closed) {
  const { state } = stage;
  const place = element("div", { class: "importing", role: "status" }, "Looking at the files of other clients…");
  const ask = (/** @type {string[] | null} */ servers, /** @type {boolean} */ rehearse) =>
    // What is written is written whether or not somebody looks on.
    state.connection.ask("import", { servers, rehearse, replace: false, keyring: true }, rehearse ? { signal: closed } : {});
  ask(null, true)
    .then(show)
    .catch((failure) => fill(place, trouble(failure)));

  /** @param {any} report */
  function show(report) {
    const servers = report.files.flatMap((/** @type {any} */ file) => file.servers.map((/** @type {any} */ it) => ({ ...it, file })));
    const skipped = servers.filter((/** @type {any} */ it) => it.outcome === "skipped");
    const problems = report.files.flatMap((/** @type {any} */ file) => file.problems.map((/** @type {string} */ text) => ({ text, file })));
    /** @type {Map<string, HTMLInputElement>} */
    const boxes = new Map();
    const offered = servers.filter((/** @type {any} */ it) => it.outcome === "taken" && !it.present && !it.written).map((/** @type {any} */ server) => {
      const box = element("input", { type: "checkbox" });
      box.checked = true;
      boxes.set(server.name, box);
      return element("li", {},
        element("label", { class: "choice" }, box, foreign(server.name, { most: 80 }), element("span", { class: "badge" }, foreign(server.file.client, { most: 40 }))),
        element("p", { class: "quiet target" }, foreign(server.target, { most: 200, title: plain(server.file.path, 300) })),
        server.notes.map((/** @type {string} */ it) => element("p", { class: "hint" }, foreign(it, { most: 300 }))));
    });
    const result = element("div", { role: "alert" });
    const take = button("Take over", (event) => busy(event, async () => {
      const names = [...boxes].filter(([, box]) => box.checked).map(([name]) => name);
      if (names.length === 0) {
        fill(result, trouble({ message: "none is chosen" }));
        return;
      }
      const done = await ask(names, false);
      state.serversChanged();
      const all = done.files.flatMap((/** @type {any} */ file) => file.servers);
      const written = all.filter((/** @type {any} */ it) => it.written);
      told([`${counted(written.length, "server")} taken over`, ...done.warnings].join("; "));
      if (all.some((/** @type {any} */ it) => it.outcome === "skipped")) {
        show(done);
      } else {
        close();
      }
    }), { class: "primary" });
    fill(
      place,
      offered.length > 0
        ? [element("ul", { class: "offered" }, offered), element("div", { class: "actions" }, take)]
        : element("p", {}, "Nothing new was found."),
      more("server left out", "servers left out", skipped, (it) => [foreign(it.name, { most: 80 }), ` (${plain(it.file.client, 40)}): `, foreign(it.reason, { most: 300 })]),
      more("problem", "problems", problems, (it) => [`${plain(it.file.client, 40)}: `, foreign(it.text, { most: 300 })]),
      result,
    );
  }
  return place;
}

/**
 * What is told on request.
 * @param {string} one
 * @param {string} many
 * @param {any[]} entries
 * @param {(entry: any) => (Node | string)[]} line
 */
function more(one, many, entries, line) {
  return entries.length === 0
    ? null
    : element("details", {},
        element("summary", {}, counted(entries.length, one, many)),
        element("ul", {}, entries.map((it) => element("li", {}, line(it)))));
}
