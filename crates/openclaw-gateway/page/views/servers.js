// All servers of an agent: those in trouble first, each with the reason and with what helps.

import { button, element, fill, say } from "../parts/element.js";
import { busy, came, told, trouble } from "../parts/notices.js";
import { giveBack } from "../parts/dialog.js";
import { sparkline } from "../parts/sparkline.js";
import { foreign, plain } from "../foreign.js";
import { authOf, counted, expiry, stateOf, transportOf } from "../words.js";
import { openConnecting } from "./connecting.js";
import { openSigningIn } from "./signing-in.js";

const MINUTE = 60_000;

/** @param {import("../shell.js").Stage} stage */
export function showServers(stage) {
  const { place, state, left } = stage;
  const search = element("input", { type: "search", placeholder: "Search", "aria-label": "Search servers" });
  const summary = element("p", { class: "quiet", role: "status" });
  const list = element("ul", { class: "servers", "aria-label": "Servers" });
  const problem = element("div", {});
  fill(
    place,
    element(
      "div",
      { class: "bar" },
      element("h1", {}, "Servers"),
      search,
      button("Add a server", () => openConnecting(stage), { class: "primary" }),
      button("Refresh all", (event) => busy(event, async () => {
        const report = await state.connection.ask("refresh", { agent: state.agent });
        state.serversChanged();
        told(`${counted(report.servers.length, "server")} listed anew`);
      })),
    ),
    summary,
    problem,
    list,
  );
  /** Rows by the names of their servers: they are kept, so that the focus and a selection stay. @type {Map<string, Row>} */
  const rows = new Map();

  function draw() {
    const servers = state.servers.value;
    if (state.servers.failure) {
      fill(problem, trouble(state.servers.failure));
    } else {
      fill(problem);
    }
    if (!servers) {
      say(summary, state.servers.failure ? "" : "Asking the gateway…");
      return;
    }
    const wanted = search.value.trim().toLowerCase();
    const shown = servers.filter((/** @type {any} */ it) =>
      wanted === "" || `${it.name} ${it.target} ${it.state} ${it.error ?? ""}`.toLowerCase().includes(wanted));
    shown.sort((/** @type {any} */ one, /** @type {any} */ other) =>
      stateOf(one.state).order - stateOf(other.state).order || one.name.localeCompare(other.name));
    say(summary, summaryOf(servers, shown.length));
    const logins = new Map((state.logins.value ?? []).map((/** @type {any} */ it) => [it.server, it]));
    for (const [name, row] of rows) {
      if (!shown.some((/** @type {any} */ it) => it.name === name)) {
        row.element.remove();
        rows.delete(name);
      }
    }
    let before = /** @type {Element | null} */ (null);
    for (const server of shown) {
      let row = rows.get(server.name);
      if (!row) {
        row = new Row(stage, server.name);
        rows.set(server.name, row);
      }
      row.show(server, logins.get(server.name), state.latencies.get(server.name) ?? []);
      // Only what is in another place is moved.
      const next = before ? before.nextElementSibling : list.firstElementChild;
      if (next !== row.element) {
        const focused = /** @type {HTMLElement | null} */ (document.activeElement);
        list.insertBefore(row.element, next);
        // What is moved loses the focus.
        if (focused && row.element.contains(focused)) {
          focused.focus({ preventScroll: true });
        }
      }
      before = row.element;
    }
    if (servers.length === 0) {
      say(summary, "There are no servers yet. Add one by its address or its command, or take over those of another MCP client.");
    }
  }

  // Times that are told by their distance change by themselves.
  const ticking = setInterval(() => {
    if (!document.hidden) {
      rows.forEach((row) => row.forget());
      draw();
    }
  }, MINUTE);
  left.addEventListener("abort", () => clearInterval(ticking));
  search.addEventListener("input", draw);
  state.servers.look(left, draw);
  state.logins.look(left, draw);
  state.activity.look(left, draw);
}

/**
 * @param {any[]} servers
 * @param {number} shown
 */
function summaryOf(servers, shown) {
  const ready = servers.filter((it) => it.state === "ready").length;
  const all = `${counted(servers.length, "server")}, ${ready} ready`;
  return shown === servers.length ? all : `${shown} of ${all}`;
}

/** One server in the list. */
class Row {
  #stage;
  #name;
  #drawn = "";
  #state = "";
  /** What can be pressed in each state. @type {Map<string, HTMLElement | null>} */
  #buttons = new Map();
  /** Whether the focus was here when there was nothing left to press. */
  #isFocused = false;
  #line = "";
  element = element("li", { class: "server" });
  #body = element("div", { class: "body" });
  #latency = element("div", { class: "latency" });
  #actions = element("div", { class: "actions" });

  /**
   * @param {import("../shell.js").Stage} stage
   * @param {string} name
   */
  constructor(stage, name) {
    this.#stage = stage;
    this.#name = name;
    this.element.append(this.#body, this.#latency, this.#actions);
  }

  /** Has everything drawn anew the next time. */
  forget() {
    this.#drawn = "";
  }

  /**
   * @param {any} server
   * @param {any} login
   * @param {number[]} durations
   */
  show(server, login, durations) {
    const line = durations.join();
    if (line !== this.#line || this.#latency.childElementCount === 0) {
      this.#line = line;
      fill(this.#latency, sparkline(durations));
    }
    const drawn = JSON.stringify([server, login]);
    if (drawn === this.#drawn) {
      return;
    }
    this.#drawn = drawn;
    const known = stateOf(server.state, server.auth);
    this.element.dataset.kind = known.kind;
    fill(
      this.#body,
      element(
        "p",
        { class: "name" },
        element("span", { class: "dot", "aria-hidden": "true" }),
        element("a", { href: `#/servers/${encodeURIComponent(this.#name)}` }, foreign(server.name, { most: 80 })),
        element("span", { class: `state ${known.kind}` }, known.word),
        element("span", { class: "badge" }, transportOf(server.transport)),
        server.auth === "none" ? null : element("span", { class: "badge" }, authOf(server.auth)),
      ),
      element("p", { class: "target quiet" }, foreign(server.target, { most: 160, title: plain(server.target, 1_000) })),
      element("p", { class: "counts quiet" }, counts(server, login)),
      // Somebody who has to log in has done nothing wrong.
      server.error ? element("p", { class: server.state === "needs-auth" ? "hint" : "error" }, foreign(server.error, { most: 400 })) : null,
    );
    if (server.state !== this.#state) {
      this.#state = server.state;
      // The same button comes back with a state, so that a dialog gives the focus back to it.
      const made = this.#buttons.get(server.state) ?? this.#action(server);
      this.#buttons.set(server.state, made);
      this.#isFocused ||= this.#actions.contains(document.activeElement);
      fill(this.#actions, made);
      // Whoever pressed one goes on with what can be pressed next, unless they are elsewhere by then.
      if (this.#isFocused && made) {
        this.#isFocused = false;
        if (document.activeElement === document.body) {
          made.focus();
        }
      } else if (made) {
        giveBack(made);
      }
    }
  }

  /** The one thing that helps. @param {any} server */
  #action(server) {
    const { state } = this.#stage;
    const name = plain(server.name, 80);
    const does = (/** @type {string} */ question, /** @type {string} */ done) => (/** @type {Event} */ event) =>
      busy(event, async () => {
        const answer = await state.connection.ask(question, { agent: state.agent, server: server.name });
        state.serversChanged();
        came(answer, question, `${name} ${done}`);
      });
    switch (server.state) {
      case "needs-auth":
        // A key that was refused is changed in the configuration.
        if (server.auth !== "oauth") {
          return button("Connect", does("connect", "is connected"), { class: "primary", "aria-label": `Connect ${name}` });
        }
        return button("Log in", () => openSigningIn(this.#stage, server.name), { class: "primary", "aria-label": `Log in to ${name}` });
      case "failed":
      case "stopped":
        return button("Connect", does("connect", "is connected"), { class: server.state === "failed" ? "primary" : "", "aria-label": `Connect ${name}` });
      case "ready":
        return button("Disconnect", does("disconnect", "is stopped until somebody asks for it"), { class: "quiet", "aria-label": `Disconnect ${name}` });
      default:
        return null;
    }
  }
}

/**
 * @param {any} server
 * @param {any} login
 */
function counts(server, login) {
  const parts = server.tools > 0 || server.state === "ready" ? [counted(server.tools, "tool")] : [];
  if (server.resources > 0) {
    parts.push(counted(server.resources, "resource"));
  }
  if (server.prompts > 0) {
    parts.push(counted(server.prompts, "prompt"));
  }
  if (server.restarts > 0) {
    parts.push(`started again ${counted(server.restarts, "time")}`);
  }
  if (login?.tokenExpiresAt) {
    parts.push(expiry(login.tokenExpiresAt, login.renewable));
  }
  if (login?.problem) {
    parts.push(plain(login.problem, 200));
  }
  return parts.join(" · ");
}
