// One tool: as the model sees it, and tried out.

import { button, element, facts, fill } from "../parts/element.js";
import { content } from "../parts/content.js";
import { schemaForm } from "../parts/form.js";
import { longText } from "../parts/long-text.js";
import { busy, told, trouble } from "../parts/notices.js";
import { tabbed } from "../parts/tabs.js";
import { foreign, plain } from "../foreign.js";
import { TAKEN_BACK } from "../connection.js";
import { duration } from "../words.js";

/** What servers say about effects, in words. */
const HINTS = /** @type {Record<string, [string, string]>} */ ({
  readOnlyHint: ["only reads", "may change something"],
  destructiveHint: ["may destroy something", "destroys nothing"],
  idempotentHint: ["the same if repeated", "not the same if repeated"],
  openWorldHint: ["reaches the outside world", "stays within its own data"],
});

/**
 * @param {import("../shell.js").Stage} stage
 * @param {any} tool
 * @param {HTMLElement} place
 * @param {AbortSignal} left
 * @param {() => void} close
 */
export function showTool(stage, tool, place, left, close) {
  const { state } = stage;
  const hints = Object.entries(HINTS)
    .filter(([name]) => typeof tool.annotations[name] === "boolean")
    .map(([name, [yes, no]]) => element("span", { class: "badge" }, tool.annotations[name] ? yes : no));
  const form = schemaForm(tool.inputSchema);
  const result = element("div", { class: "result", "aria-live": "polite" });
  const run = button("Run", () => {}, { type: "submit", class: "primary" });
  const stop = button("Stop", () => trying?.abort(), { hidden: true });
  const entry = element("form", { class: "try" }, form.element, element("div", { class: "actions" }, run, stop));
  /** @type {AbortController | null} */
  let trying = null;
  left.addEventListener("abort", () => trying?.abort());
  entry.addEventListener("submit", (event) => {
    event.preventDefault();
    const object = form.read();
    if (object && !trying) {
      attempt(object);
    }
  });

  /** @param {Record<string, unknown>} object */
  async function attempt(object) {
    const attempt = new AbortController();
    trying = attempt;
    run.setAttribute("aria-disabled", "true");
    stop.hidden = false;
    fill(result, element("p", { class: "quiet" }, "Running…"));
    try {
      const report = await state.connection.ask("call", {
        agent: state.agent,
        tool: tool.name,
        arguments: { object, words: [] },
        // Whoever presses the button approves of it.
        approved: true,
        framed: true,
        correlation: correlation(),
      }, { signal: attempt.signal });
      fill(result, outcome(report));
    } catch (failure) {
      const isStopped = /** @type {{ code?: string }} */ (failure).code === TAKEN_BACK;
      fill(result, isStopped ? element("p", { class: "quiet" }, "It was stopped. What the tool had done by then is done.") : trouble(failure));
    } finally {
      trying = null;
      run.removeAttribute("aria-disabled");
      // What is hidden can't keep the focus.
      if (document.activeElement === stop) {
        run.focus();
      }
      stop.hidden = true;
    }
  }

  fill(
    place,
    element("p", { class: "back narrow" }, button("All tools", close, { class: "link" })),
    element("h2", {}, foreign(tool.title || tool.tool, { most: 120 })),
    tool.changed ? changed(stage, tool) : null,
    facts([
      ["The model calls it", element("code", {}, foreign(tool.name))],
      ["Server", element("a", { href: `#/servers/${encodeURIComponent(tool.server)}` }, foreign(tool.server, { most: 80 }))],
      ["Its name there", tool.tool === tool.name ? null : element("code", {}, foreign(tool.tool))],
      ["Its server says", hints.length > 0 ? hints : null],
    ]),
    element("h3", {}, "As the model reads it"),
    longText(tool.description, { class: "text prose foreign", name: "description.txt", label: "Description" }),
    element("details", {}, element("summary", {}, "What it takes, as JSON Schema"), longText(JSON.stringify(tool.inputSchema, null, 2), { class: "text code", name: "schema.json", label: "JSON Schema" })),
    element("h3", {}, "Try it"),
    entry,
    result,
  );
}

/**
 * @param {import("../shell.js").Stage} stage
 * @param {any} tool
 */
function changed(stage, tool) {
  const { state } = stage;
  return element("div", { class: "warning" },
    element("p", {}, "Its definition is another than when it was first seen. A description is an instruction to the model: read it before you accept it."),
    button("Accept it as it is now", (event) => busy(event, async () => {
      await state.connection.ask("approve", { agent: state.agent, tool: tool.name });
      told(`${plain(tool.tool, 80)} is accepted as it is now`);
      await state.tools.now();
    })));
}

/** @param {any} report */
function outcome(report) {
  const raw = { content: report.content, structuredContent: report.structuredContent, isError: report.isError };
  const views = [
    { title: "What came back", show: () => content(report.content) },
    { title: "As the model reads it", show: () => longText(report.framed ?? "", { name: "framed.txt", label: "As the model reads it" }) },
    { title: "Raw", show: () => longText(JSON.stringify(raw, null, 2), { class: "text code", name: "result.json", label: "Raw result" }) },
  ];
  return element("div", {},
    element("p", {}, element("span", { class: `state ${report.isError ? "bad" : "good"}` }, report.isError ? "failed" : "done"), ` in ${duration(report.durationMs)}`),
    tabbed("The result", views));
}

/** What ties a call to lines of the log. */
export function correlation() {
  // Not `randomUUID`, which pages without TLS don't have.
  const bytes = crypto.getRandomValues(new Uint8Array(8));
  return `page-${[...bytes].map((it) => it.toString(16).padStart(2, "0")).join("")}`;
}
