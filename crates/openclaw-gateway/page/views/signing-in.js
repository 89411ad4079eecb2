// A login to a server: at its authorization server in a tab of its own; the page waits for what comes of it.

import { button, element, facts, fill, identity } from "../parts/element.js";
import { openDialog } from "../parts/dialog.js";
import { told, trouble } from "../parts/notices.js";
import { foreign, opened, plain } from "../foreign.js";
import { away } from "../words.js";

/**
 * @param {import("../shell.js").Stage} stage
 * @param {string} server
 * @param {() => void} [done]
 */
export function openSigningIn(stage, server, done) {
  const { state } = stage;
  openDialog(`Log in to ${plain(server, 60)}`, (body, close, closed) => {
    const place = element("div", { role: "status" }, "Asking the server how one logs in…");
    body.append(place);
    state.connection
      .ask("begin_login", { agent: state.agent, server, byHand: true }, { signal: closed })
      .then((offer) => show(offer))
      .catch((failure) => fill(place, trouble(failure)));

    /** @param {any} offer */
    function show(offer) {
      const url = opened(offer.url);
      if (!url) {
        fill(place, trouble({ message: "the server wants a login at an address that is not opened from here" }));
        return;
      }
      const waiting = element("p", { role: "status", class: "quiet" }, `Waiting for the login, which ends ${away(offer.endsAt)}.`);
      const problem = element("div", { role: "alert" });
      fill(
        place,
        facts([
          ["Who asks", foreign(offer.issuer, { most: 300 })],
          ["Opens", element("code", {}, foreign(url.origin, { most: 300 }))],
          ["Asks for", offer.scopes.length > 0 ? foreign(offer.scopes.join(", "), { most: 500 }) : "whatever the server grants"],
        ]),
        offer.remarks.map((/** @type {string} */ it) => element("p", { class: "hint" }, foreign(it, { most: 500 }))),
        element("p", { class: "actions" },
          element("a", { class: "button primary", href: url.href, target: "_blank", rel: "noopener noreferrer" }, "Open the login page")),
        waiting,
        byHand(offer, problem),
        problem,
      );
      state.connection
        .ask("await_login", { login: offer.login }, { signal: closed })
        .then(() => succeeded())
        .catch((failure) => {
          if (!closed.aborted) {
            fill(waiting);
            fill(problem, trouble(failure));
          }
        });
    }

    /**
     * For a browser on another machine: what it was sent to is brought here.
     * @param {any} offer
     * @param {HTMLElement} problem
     */
    function byHand(offer, problem) {
      const id = identity("answer");
      const field = element("input", { id, type: "text", autocomplete: "off", spellcheck: "false" });
      const form = element("form", { class: "stacked" },
        element("label", { for: id }, "The address that the browser was sent to, or the code"),
        field,
        button("Finish the login", () => {}, { type: "submit" }));
      form.addEventListener("submit", async (event) => {
        event.preventDefault();
        fill(problem);
        try {
          await state.connection.ask("finish_login", { agent: state.agent, server, answer: field.value.trim() });
          succeeded();
        } catch (failure) {
          fill(problem, trouble(failure));
        }
      });
      const words = offer.listening ? "The login page can't get back here?" : "After the login, bring back what the browser was sent to";
      return element("details", { open: !offer.listening }, element("summary", {}, words), form);
    }

    let isDone = false;
    function succeeded() {
      if (!isDone) {
        isDone = true;
        told(`logged in to ${plain(server, 80)}`);
        close();
        state.serversChanged();
        state.logins.now();
        done?.();
      }
    }
  });
}
