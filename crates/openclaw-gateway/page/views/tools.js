// All tools of an agent: found while one types, and one of them in detail.

import { element, fill, say } from "../parts/element.js";
import { List } from "../parts/list.js";
import { trouble } from "../parts/notices.js";
import { foreign, plain } from "../foreign.js";
import { counted } from "../words.js";
import { showTool } from "./tool.js";

const HEIGHT = 56;
/** What stands before every description for the model; in the list, the name says it. */
const WHOSE = /^\[MCP server: [^\]]*\]\s*/;

/** @param {import("../shell.js").Stage} stage */
export function showTools(stage) {
  const { place, state, left } = stage;
  const asked = stage.part?.startsWith("?") ? new URLSearchParams(stage.part.slice(1)) : null;
  let chosen = asked ? null : stage.part;
  const search = element("input", { type: "search", placeholder: "Search names and descriptions", "aria-label": "Search tools" });
  const server = element("select", { "aria-label": "Server" });
  const summary = element("p", { class: "quiet", role: "status" });
  const problem = element("div", {});
  const gone = element("p", { class: "hint", role: "status", hidden: true }, "The tool that is open is not offered right now.");
  const detail = element("section", { class: "detail", "aria-label": "The tool" });
  const list = new List({
    label: "Tools",
    height: HEIGHT,
    key: (/** @type {Known} */ it) => it.tool.name,
    draw,
    choose: (it) => open(it.tool.name),
  });
  fill(
    place,
    element("div", { class: "bar" }, element("h1", {}, "Tools"), search, server),
    element("div", { class: "panes" },
      element("div", { class: "pane" }, summary, problem, gone, list.element),
      detail),
  );

  /** @typedef {{ tool: any, words: string }} Known */
  /** @type {Known[]} */
  let known = [];
  let wantedServer = asked?.get("server") ?? "";
  /** Ends what is shown of a tool. @type {AbortController | null} */
  let shown = null;
  /** The tool that is shown, as it was then. */
  let definition = "";

  function filter() {
    const words = search.value.trim().toLowerCase().split(/\s+/).filter((it) => it !== "");
    const found = known.filter((it) => (wantedServer === "" || it.tool.server === wantedServer) && words.every((word) => it.words.includes(word)));
    list.show(found);
    list.mark(chosen);
    say(summary, found.length === known.length ? counted(known.length, "tool") : `${found.length.toLocaleString("en")} of ${counted(known.length, "tool")}`);
  }

  /** @param {string} name */
  function open(name) {
    chosen = name;
    // The list stays as it is; only the address says what is open.
    history.replaceState(null, "", `#/tools/${encodeURIComponent(name)}`);
    detailOf(name, true);
  }

  /**
   * @param {string | null} name
   * @param {boolean} isMove
   */
  function detailOf(name, isMove) {
    shown?.abort();
    shown = new AbortController();
    const tool = known.find((it) => it.tool.name === name)?.tool;
    definition = JSON.stringify(tool ?? null);
    gone.hidden = true;
    place.classList.toggle("opened", name !== null);
    if (!tool) {
      fill(detail, element("p", { class: "quiet" }, name === null ? "Choose a tool to see its definition and to try it." : "There is no such tool, or not any longer."));
      return;
    }
    showTool(stage, tool, detail, shown.signal, () => {
      chosen = null;
      history.replaceState(null, "", "#/tools");
      detailOf(null, false);
      list.mark(null);
      list.element.focus();
    });
    if (isMove && matchMedia("(max-width: 50rem)").matches) {
      const heading = detail.querySelector("h2");
      heading?.setAttribute("tabindex", "-1");
      heading?.focus();
    }
  }

  search.addEventListener("input", () => {
    list.top();
    filter();
  });
  search.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown") {
      event.preventDefault();
      list.element.focus();
    }
  });
  server.addEventListener("change", () => {
    wantedServer = server.value;
    list.top();
    filter();
  });
  left.addEventListener("abort", () => shown?.abort());

  let isRevealed = false;
  state.tools.look(left, (value, failure) => {
    fill(problem, failure ? trouble(failure) : null, (value?.problems ?? []).slice(0, 20).map((/** @type {string} */ it) => element("p", { class: "error" }, foreign(it, { most: 300 }))));
    if (!value) {
      say(summary, failure ? "" : "Asking the gateway…");
      return;
    }
    known = value.tools.map((/** @type {any} */ tool) => ({ tool, words: `${tool.name} ${tool.title ?? ""} ${tool.server} ${tool.tool} ${tool.description}`.toLowerCase() }));
    const servers = [...new Set(known.map((it) => it.tool.server))].sort();
    fill(server, element("option", { value: "" }, "all servers"), servers.map((it) => element("option", { value: it }, plain(it, 60))));
    server.value = servers.includes(wantedServer) ? wantedServer : "";
    wantedServer = server.value;
    filter();
    // What somebody has entered into a form stays there, unless the tool is another one now.
    const now = JSON.stringify(known.find((it) => it.tool.name === chosen)?.tool ?? null);
    const isGone = now === "null" && !["", "null"].includes(definition) && chosen !== null;
    gone.hidden = !isGone;
    // One that is gone may come back with its server, and what was entered is still there then.
    if (!isGone && (now !== definition || detail.childElementCount === 0)) {
      detailOf(chosen, false);
      if (chosen !== null && !isRevealed) {
        isRevealed = true;
        list.reveal(chosen);
      }
    }
  });
}

/** @param {{ tool: any }} known */
function draw({ tool }) {
  return element(
    "div",
    { class: "tool" },
    element("p", { class: "name" }, foreign(tool.name, { most: 100 }), tool.changed ? element("span", { class: "badge warn" }, "changed") : null),
    element("p", { class: "quiet" }, foreign(tool.description.slice(0, 400).replace(WHOSE, ""), { most: 160 })),
  );
}
