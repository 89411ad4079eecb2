// What happened: calls, restarts, reloads; live, the newest first.

import { button, element, fill, say } from "../parts/element.js";
import { List } from "../parts/list.js";
import { trouble } from "../parts/notices.js";
import { foreign, plain } from "../foreign.js";
import { clock, counted, duration, outcomeOf, stateOf } from "../words.js";

const HEIGHT = 44;
/** How often the audit log is read while somebody looks. */
const READING = 10_000;

/** @typedef {{ entry: any, number: number, words: string, kind: string }} Noted */

/** Kinds that a person can ask for. @type {[string, string, (it: Noted) => boolean][]} */
const KINDS = [
  ["all", "everything", () => true],
  ["calls", "calls", (it) => it.entry.type === "call"],
  ["trouble", "what went wrong", (it) => it.kind === "bad" || it.kind === "warn"],
  ["servers", "servers and configuration", (it) => it.entry.type !== "call"],
];

/** @param {import("../shell.js").Stage} stage */
export function showActivity(stage) {
  const { place, state, left } = stage;
  const asked = stage.part?.startsWith("?") ? new URLSearchParams(stage.part.slice(1)) : null;
  const search = element("input", { type: "search", placeholder: "Filter", "aria-label": "Filter the activity" });
  search.value = asked?.get("filter") ?? "";
  const kind = element("select", { "aria-label": "Kind" }, KINDS.map(([value, title]) => element("option", { value }, title)));
  if (asked?.has("kind")) {
    kind.value = asked.get("kind") ?? "all";
  }
  const summary = element("p", { class: "quiet" });
  const problem = element("div", {});
  let isHeld = false;
  const hold = button("Pause", () => {
    isHeld = !isHeld;
    hold.textContent = isHeld ? "Go on" : "Pause";
    hold.setAttribute("aria-pressed", String(isHeld));
    draw();
  }, { "aria-pressed": "false" });
  const list = new List({ label: "Activity", height: HEIGHT, key: (/** @type {Noted} */ it) => String(it.number), draw: row });
  fill(
    place,
    element("div", { class: "bar" }, element("h1", {}, "Activity"), search, kind, hold),
    summary,
    problem,
    list.element,
  );

  /** What each event says, worked out once. @type {WeakMap<object, Noted>} */
  const noted = new WeakMap();
  let numbered = 0;
  /** @param {any} entry @returns {Noted} */
  function note(entry) {
    const before = noted.get(entry);
    if (before) {
      return before;
    }
    numbered += 1;
    const words = [entry.type, entry.agent, entry.server, entry.tool, entry.outcome, entry.correlation, entry.state, entry.error].filter(Boolean).join(" ").toLowerCase();
    const made = { entry, number: numbered, words, kind: kindOf(entry) };
    noted.set(entry, made);
    return made;
  }

  function draw() {
    const entries = state.activity.value;
    fill(problem, state.activity.failure ? trouble(state.activity.failure) : null);
    if (!entries) {
      say(summary, "Asking the gateway…");
      return;
    }
    const wanted = search.value.trim().toLowerCase();
    const fits = KINDS.find(([value]) => value === kind.value)?.[2] ?? (() => true);
    const all = entries.map(note);
    const found = all.filter((/** @type {Noted} */ it) => fits(it) && (wanted === "" || it.words.includes(wanted))).reverse();
    say(summary, found.length === all.length ? counted(all.length, "entry", "entries") : `${found.length} of ${counted(all.length, "entry", "entries")}`);
    list.show(found);
  }

  // What other processes called is in the audit log, and nobody tells of it.
  const reading = setInterval(() => !isHeld && state.activity.stale(), READING);
  left.addEventListener("abort", () => clearInterval(reading));
  search.addEventListener("input", draw);
  kind.addEventListener("change", draw);
  state.activity.look(left, () => {
    if (!isHeld) {
      draw();
    }
  });
}

/** @param {any} entry */
function kindOf(entry) {
  switch (entry.type) {
    case "call":
      return outcomeOf(entry.outcome).kind;
    case "server":
      return stateOf(entry.state).kind;
    case "restarted":
      return "warn";
    case "notReloaded":
      return "bad";
    default:
      return "idle";
  }
}

/** @param {Noted} noted */
function row({ entry, kind }) {
  const cell = (/** @type {string} */ name, /** @type {any[]} */ ...children) => element("span", { class: name, role: "cell" }, children);
  const time = cell("time", element("time", { datetime: plain(entry.time, 40), title: plain(entry.time, 40) }, clock(entry.time)));
  if (entry.type === "call") {
    return element("div", { class: "event" },
      time,
      cell(`state ${kind}`, outcomeOf(entry.outcome).word),
      cell("what", foreign(entry.server, { most: 60 }), "/", foreign(entry.tool, { most: 80 })),
      cell("quiet who", foreign(entry.agent, { most: 40, title: plain(entry.correlation, 200) })),
      cell("quiet took", duration(entry.durationMs)));
  }
  return element("div", { class: "event" }, time, cell(`state ${kind}`, label(entry)), cell("what rest", ...story(entry)));
}

/** @param {any} entry */
function label(entry) {
  switch (entry.type) {
    case "server":
      return stateOf(entry.state).word;
    case "restarted":
      return "restarted";
    case "reloaded":
      return "reloaded";
    case "notReloaded":
      return "not reloaded";
    default:
      return plain(entry.type, 40);
  }
}

/** @param {any} entry @returns {(Node | string)[]} */
function story(entry) {
  switch (entry.type) {
    case "server":
      return [foreign(entry.server, { most: 60 }), entry.error ? ": " : "", entry.error ? foreign(entry.error, { most: 300 }) : ""];
    case "restarted":
      return [foreign(entry.server, { most: 60 }), " was started again"];
    case "reloaded": {
      const parts = [["added", entry.report?.added], ["changed", entry.report?.changed], ["removed", entry.report?.removed]]
        .filter(([, names]) => names?.length > 0)
        .map(([word, names]) => `${word}: ${plain(names.join(", "), 300)}`);
      return [`the configuration was read anew; ${parts.length > 0 ? parts.join("; ") : "no server changed"}`];
    }
    case "notReloaded":
      return ["the configuration can't be used: ", foreign(entry.error, { most: 300 })];
    default:
      return [];
  }
}
