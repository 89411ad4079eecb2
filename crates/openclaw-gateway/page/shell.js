// What stands around every view: where one can go, how the gateway is, whose servers are shown.

import { button, element, fill, identity, say } from "./parts/element.js";
import { notices } from "./parts/notices.js";
import { plain } from "./foreign.js";
import { keepAgent, keepTheme, keptAgent, theme } from "./remembered.js";
import { counted } from "./words.js";
import { showActivity } from "./views/activity.js";
import { showChat } from "./views/chat.js";
import { showConfiguration } from "./views/configuration.js";
import { showServer } from "./views/server.js";
import { showServers } from "./views/servers.js";
import { showTools } from "./views/tools.js";

/**
 * What a view is shown with.
 * @typedef {object} Stage
 * @property {HTMLElement} place
 * @property {import("./state.js").State} state
 * @property {AbortSignal} left tells when another view is shown
 * @property {string | null} part what of it is shown: the name of a server, of a tool, of a session
 * @property {(address: string) => void} go
 */

/** @type {{ path: string, title: string, sign: string, show: (stage: Stage) => void }[]} */
const VIEWS = [
  { path: "servers", title: "Servers", sign: "▤", show: (stage) => (stage.part ? showServer(stage) : showServers(stage)) },
  { path: "tools", title: "Tools", sign: "⚒", show: showTools },
  { path: "activity", title: "Activity", sign: "≋", show: showActivity },
  { path: "chat", title: "Chat", sign: "✎", show: showChat },
  { path: "configuration", title: "Configuration", sign: "⚙", show: showConfiguration },
];

const THEMES = ["auto", "light", "dark"];

/** The page of somebody who was let in. */
export class Shell {
  #closing = new AbortController();
  /** Ends the view that is shown. @type {AbortController | null} */
  #shown = null;
  #state;
  #main = element("main", { tabindex: -1, id: "main" });
  #links = new Map(VIEWS.map((view) => [view.path, element("a", { href: `#/${view.path}` }, element("span", { class: "sign", "aria-hidden": "true" }, view.sign), element("span", {}, view.title))]));

  /**
   * @param {HTMLElement} place
   * @param {import("./state.js").State} state
   * @param {(() => void) | null} logOut
   */
  constructor(place, state, logOut) {
    this.#state = state;
    state.agent = keptAgent() || null;
    const skip = element("a", { class: "skip", href: "#main" }, "Skip to the content");
    skip.addEventListener("click", (event) => {
      event.preventDefault();
      this.#main.focus();
    });
    const header = element(
      "header",
      { class: "top" },
      element("a", { class: "brand", href: "#/servers" }, "OpenClaw"),
      this.#status(),
      this.#agents(),
      this.#themes(),
      logOut ? button("Log out", logOut, { class: "small quiet" }) : null,
    );
    const navigation = element("nav", { "aria-label": "Views" }, [...this.#links.values()]);
    place.replaceChildren(skip, header, navigation, this.#main, notices);
    const { signal } = this.#closing;
    addEventListener("hashchange", () => this.#route(true), { signal });
    addEventListener("keydown", (event) => this.#press(event), { signal });
    this.#route(false);
  }

  /** Ends it. */
  close() {
    this.#shown?.abort();
    this.#closing.abort();
    // What comes in its place could not be reached behind an open dialog.
    for (const dialog of document.querySelectorAll("dialog")) {
      dialog.close();
    }
  }

  /** How the gateway and its servers are. */
  #status() {
    const dot = element("span", { class: "dot", "aria-hidden": "true" });
    const words = element("span", {});
    const shown = element("p", { class: "status", role: "status" }, dot, words);
    const { connection, overview } = this.#state;
    const update = () => {
      if (connection.status !== "open") {
        shown.dataset.kind = "warn";
        say(words, "not connected; trying again…");
        return;
      }
      const value = overview.value;
      const servers = value?.servers ?? [];
      const isTrouble = (/** @type {any} */ it) => ["failed", "needs-auth", "restarting"].includes(it.state);
      const trouble = servers.filter(isTrouble).length;
      const version = connection.welcome?.version ?? "";
      const isStale = (value?.awaitsRestart ?? []).length > 0;
      shown.dataset.kind = trouble > 0 || value?.configError || isStale ? "warn" : "good";
      const parts = [`gateway ${plain(version, 20)}`];
      if (trouble > 0) {
        parts.push(`${counted(trouble, "server")} in trouble`);
      }
      if (value?.configError) {
        parts.push("the configuration is not in force");
      }
      if (isStale) {
        parts.push("settings wait for a new start");
      }
      say(words, parts.join(", "));
    };
    connection.addEventListener("status", update, { signal: this.#closing.signal });
    overview.look(this.#closing.signal, update);
    update();
    return shown;
  }

  /** Whose servers are shown, where there are several agents. */
  #agents() {
    const id = identity("agent");
    const select = element("select", { id });
    const shown = element("div", { class: "agents", hidden: true }, element("label", { for: id }, "Agent"), select);
    select.addEventListener("change", () => {
      this.#state.agent = select.value === "" ? null : select.value;
      keepAgent(select.value);
      if (location.hash.startsWith("#/chat/")) {
        // A conversation belongs to its agent.
        history.replaceState(null, "", "#/chat");
      }
      this.#route(false);
    });
    let known = "";
    this.#state.overview.look(this.#closing.signal, (value) => {
      const agents = (value?.agents ?? []).map((/** @type {any} */ it) => String(it.id));
      if (agents.join("\n") === known || agents.length === 0) {
        return;
      }
      known = agents.join("\n");
      fill(select, element("option", { value: "" }, "default"), agents.map((/** @type {string} */ it) => element("option", { value: it }, plain(it, 60))));
      // One that was looked at may be gone.
      if (this.#state.agent !== null && !agents.includes(this.#state.agent)) {
        this.#state.agent = null;
        this.#route(false);
      }
      select.value = this.#state.agent ?? "";
      shown.hidden = agents.length < 2;
    });
    return shown;
  }

  #themes() {
    const id = identity("theme");
    const select = element("select", { id }, THEMES.map((it) => element("option", { value: it }, it)));
    select.value = theme();
    select.addEventListener("change", () => {
      keepTheme(select.value);
      document.documentElement.dataset.theme = select.value;
    });
    return element("div", { class: "themes" }, element("label", { for: id }, "Colours"), select);
  }

  /** @param {boolean} isMove whether somebody went there, and wants to be there with the keyboard as well */
  #route(isMove) {
    const [path, ...rest] = location.hash.replace(/^#\/?/, "").split("/");
    const view = VIEWS.find((it) => it.path === path) ?? VIEWS[0];
    let part = null;
    try {
      part = rest.length > 0 ? decodeURIComponent(rest.join("/")) : null;
    } catch {
      // Nothing of this name.
    }
    for (const [name, link] of this.#links) {
      if (name === view.path) {
        link.setAttribute("aria-current", "page");
      } else {
        link.removeAttribute("aria-current");
      }
    }
    document.title = `${view.title} · OpenClaw`;
    this.#shown?.abort();
    const shown = new AbortController();
    this.#shown = shown;
    this.#main.replaceChildren();
    this.#main.className = view.path;
    view.show({
      place: this.#main,
      state: this.#state,
      left: shown.signal,
      part: part === "" ? null : part,
      go: (address) => {
        location.hash = address;
      },
    });
    if (isMove) {
      const heading = /** @type {HTMLElement | null} */ (this.#main.querySelector("h1"));
      heading?.setAttribute("tabindex", "-1");
      heading?.focus({ preventScroll: true });
      scrollTo(0, 0);
    }
  }

  /** `/` goes to the search of the view. @param {KeyboardEvent} event */
  #press(event) {
    const at = /** @type {HTMLElement} */ (event.target);
    const isTyping = at.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(at.tagName);
    if (event.key === "/" && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey) {
      const search = /** @type {HTMLElement | null} */ (this.#main.querySelector("input[type=search]"));
      if (search) {
        event.preventDefault();
        search.focus();
      }
    }
  }
}
