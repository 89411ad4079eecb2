// One server: how it is, what it offers, what it says, and what can be done with it.

import { button, element, facts, fill } from "../parts/element.js";
import { reallyMeant } from "../parts/dialog.js";
import { busy, came, told, trouble } from "../parts/notices.js";
import { quantile, sparkline } from "../parts/sparkline.js";
import { append, foreign, plain } from "../foreign.js";
import { authOf, away, clock, counted, duration, expiry, stateOf, transportOf } from "../words.js";
import { openSigningIn } from "./signing-in.js";

/** How often a server is asked what it wrote to its standard error. */
const LISTENING = 1_000;
const MINUTE = 60_000;
/** How many lines of it are shown. */
const LINES = 500;

/** @param {import("../shell.js").Stage} stage */
export function showServer(stage) {
  const { place, state, left } = stage;
  const name = stage.part ?? "";
  const known = element("div", {});
  const actions = element("div", { class: "actions" });
  const changed = element("div", {});
  const latency = element("div", { class: "latency wide" });
  const output = element("section", { hidden: true });
  fill(
    place,
    element("p", { class: "back" }, element("a", { href: "#/servers" }, "All servers")),
    element("div", { class: "bar" }, element("h1", {}, foreign(name, { most: 80 })), actions),
    known,
    changed,
    element("section", {}, element("h2", {}, "How long calls take"), latency),
    output,
  );

  /** @type {any} */
  let details = null;
  let isAsking = false;
  let isStale = false;

  async function look() {
    if (isAsking) {
      isStale = true;
      return;
    }
    isAsking = true;
    try {
      show((await state.connection.ask("look", { agent: state.agent, server: name }, { signal: left })).server);
    } catch (failure) {
      if (!left.aborted && details === null) {
        fill(known, trouble(failure));
      }
    }
    isAsking = false;
    if (isStale && !left.aborted) {
      isStale = false;
      look();
    }
  }

  /** @param {any} report */
  function show(report) {
    details = report;
    const how = stateOf(report.state, report.auth);
    fill(
      known,
      report.error ? element("p", { class: "error" }, foreign(report.error, { most: 2_000 })) : null,
      facts([
        ["State", element("span", { class: `state ${how.kind}` }, how.word)],
        ["Transport", transportOf(report.transport)],
        [report.transport === "stdio" ? "Program" : "Address", element("code", {}, foreign(report.target, { most: 1_000 }))],
        ["Found at", report.resolvedCommand ? element("code", {}, foreign(report.resolvedCommand, { most: 500 })) : null],
        ["Process", report.pid],
        ["Says it is", report.serverInfo ? foreign(report.serverInfo) : null],
        ["Protocol", report.protocolVersion ? foreign(report.protocolVersion) : null],
        ["Session", report.sessionId ? foreign(report.sessionId) : null],
        ["Proof", authOf(report.auth)],
        ["Login", report.tokenExpiresAt ? expiry(report.tokenExpiresAt, report.tokenRenewable) : null],
        ["Issued by", report.issuer ? foreign(report.issuer, { most: 300 }) : null],
        ["Allows", report.scopes?.length ? foreign(report.scopes.join(", "), { most: 500 }) : null],
        ["Last sign of life", report.lastHeartbeat ? `${clock(report.lastHeartbeat)} (${away(report.lastHeartbeat)})` : null],
        ["Started again", report.restarts > 0 ? counted(report.restarts, "time") : null],
        ["Could not be used", report.passedOver > 0 ? counted(report.passedOver, "message") : null],
        ["Offers", offers(report)],
      ]),
    );
    drawActions(report);
    output.hidden = report.transport !== "stdio";
  }

  /** @param {any} report */
  function offers(report) {
    const tools = element("a", { href: `#/tools/?server=${encodeURIComponent(name)}` }, counted(report.tools, "tool"));
    return [tools, ` · ${counted(report.resources, "resource")} · ${counted(report.prompts, "prompt")}`];
  }

  let drawn = "";
  /** @param {any} report */
  function drawActions(report) {
    const buttons = /** @type {[string, HTMLElement][]} */ ([]);
    const ask = (/** @type {string} */ question, /** @type {string} */ done) => (/** @type {Event} */ event) =>
      busy(event, async () => {
        const answer = await state.connection.ask(question, { agent: state.agent, server: name });
        state.serversChanged();
        came(answer, question, `${plain(name, 80)} ${done}`);
        await look();
        return answer;
      });
    if (report.auth === "oauth") {
      const isNeeded = report.state === "needs-auth";
      buttons.push([isNeeded ? "log in" : "log in again", button(isNeeded ? "Log in" : "Log in again", () => openSigningIn(stage, name, look), { class: isNeeded ? "primary" : "" })]);
    }
    if (report.tokenExpiresAt || (report.auth === "oauth" && report.issuer)) {
      buttons.push(["log out", button("Log out", ask("logout", "is logged out"))]);
    }
    if (["failed", "stopped"].includes(report.state) || (report.state === "needs-auth" && report.auth !== "oauth")) {
      buttons.push(["connect", button("Connect", ask("connect", "is connected"), { class: "primary" })]);
    }
    if (["ready", "connecting", "restarting"].includes(report.state)) {
      buttons.push(["refresh", button("Refresh", ask("refresh", "is listed anew"))]);
      buttons.push(["disconnect", button("Disconnect", ask("disconnect", "is stopped until somebody asks for it"))]);
    }
    buttons.push(["remove", button("Remove", (event) => remove(event), { class: "danger" })]);
    // The same buttons stay, so that the focus does.
    const wanted = buttons.map(([it]) => it).join();
    if (wanted !== drawn) {
      drawn = wanted;
      const isFocused = actions.contains(document.activeElement);
      fill(actions, buttons.map(([, it]) => it));
      if (isFocused) {
        buttons[0][1].focus();
      }
    }
  }

  /** @param {Event} event */
  async function remove(event) {
    const text = element("span", {}, "This deletes ", foreign(name, { most: 80 }), " from the configuration, with the credentials and logins that are kept for it alone.");
    const pressed = /** @type {HTMLElement} */ (event.currentTarget);
    if (await reallyMeant("Remove the server?", text, "Remove it")) {
      await busy(/** @type {any} */ ({ currentTarget: pressed }), async () => {
        const report = await state.connection.ask("remove_server", { agent: state.agent, server: name });
        state.serversChanged();
        told([`${plain(name, 80)} is removed`, ...report.warnings].join("; "));
        stage.go("#/servers");
      });
    }
  }

  /** Tools whose definitions changed since they were first seen. @param {any} value */
  function drawChanged(value) {
    const tools = (value?.tools ?? []).filter((/** @type {any} */ it) => it.server === name && it.changed);
    if (tools.length === 0) {
      fill(changed);
      return;
    }
    fill(
      changed,
      element("section", { class: "warning" },
        element("h2", {}, `${counted(tools.length, "tool")} changed`),
        element("p", {}, "Their definitions are others than when they were first seen. Read them before you accept them: a description is an instruction to the model."),
        element("ul", { class: "changed" }, tools.map((/** @type {any} */ tool) => element("li", {},
          element("a", { href: `#/tools/${encodeURIComponent(tool.name)}` }, foreign(tool.tool, { most: 100 })),
          button("Accept", (event) => busy(event, async () => {
            await state.connection.ask("approve", { agent: state.agent, tool: tool.name });
            told(`${plain(tool.tool, 80)} is accepted as it is now`);
            await state.tools.now();
          }), { "aria-label": `Accept ${plain(tool.tool, 80)}` }),
        ))),
      ),
    );
  }

  let measured = "";
  function drawLatency() {
    const durations = state.latencies.get(name) ?? [];
    if (durations.join() === measured && latency.childElementCount > 0) {
      return;
    }
    measured = durations.join();
    fill(
      latency,
      sparkline(durations),
      durations.length > 0
        ? element("p", { class: "quiet" }, `The last ${counted(durations.length, "call")}: half within ${duration(quantile(durations, 0.5))}, 95 % within ${duration(quantile(durations, 0.95))}. `, element("a", { href: `#/activity/?kind=calls&filter=${encodeURIComponent(name)}` }, "All calls"))
        : null,
    );
  }

  follow(stage, name, output);
  // Times that are told by their distance change by themselves.
  const ticking = setInterval(() => !document.hidden && look(), MINUTE);
  left.addEventListener("abort", () => clearInterval(ticking));
  state.servers.look(left, look);
  state.tools.look(left, drawChanged);
  state.activity.look(left, drawLatency);
  drawLatency();
}

/**
 * What a program writes to its standard error, as it does.
 * @param {import("../shell.js").Stage} stage
 * @param {string} name
 * @param {HTMLElement} place
 */
function follow(stage, name, place) {
  const { state, left } = stage;
  const text = element("pre", { class: "text output", tabindex: 0, role: "group", "aria-label": `Standard error of ${plain(name, 80)}` });
  const empty = element("p", { class: "quiet" }, "It wrote nothing.");
  fill(place, element("h2", {}, "Standard error"), empty, text);
  let last = 0;
  /** @type {string[]} */
  let lines = [];
  const listen = async () => {
    if (left.aborted) {
      return;
    }
    if (!document.hidden && !place.hidden) {
      try {
        const report = (await state.connection.ask("look", { agent: state.agent, server: name, after: last }, { signal: left })).log;
        if (report.lines.length > 0 || report.last < last) {
          // A smaller number is that of another process.
          lines = [...(report.last < last ? [] : lines), ...report.lines].slice(-LINES);
          const isAtEnd = text.scrollTop + text.clientHeight >= text.scrollHeight - 4;
          fill(text);
          append(text, lines.join("\n"), true);
          if (isAtEnd) {
            text.scrollTop = text.scrollHeight;
          }
        }
        last = report.last;
      } catch {
        // It is asked again.
      }
      empty.hidden = lines.length > 0;
      text.hidden = lines.length === 0;
    }
    setTimeout(listen, LISTENING);
  };
  listen();
}
