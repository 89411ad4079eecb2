// Who comes in: the token, entered once.

import { button, element, identity } from "../parts/element.js";
import { foreign } from "../foreign.js";

/**
 * The page for somebody who is not known yet.
 * @param {HTMLElement} place
 * @param {{ message: string } | null} refusal why the last token was not taken; nothing if none was tried
 * @param {(token: string, forLong: boolean) => void} enter
 */
export function showLogin(place, refusal, enter) {
  const id = identity("token");
  const token = element("input", {
    id, type: "password", autocomplete: "current-password", required: true, spellcheck: "false",
    "aria-describedby": `${id}-where`, "aria-invalid": refusal ? "true" : null,
  });
  const forLong = element("input", { type: "checkbox" });
  const form = element(
    "form",
    { class: "login" },
    element("h1", {}, "OpenClaw"),
    element("p", {}, "This gateway has MCP servers and agents. It lets in whoever has its token."),
    refusal ? element("p", { class: "problem", role: "alert" }, foreign(refusal.message, { most: 300 })) : null,
    element("label", { for: id }, "Token or password"),
    token,
    element("p", { class: "description", id: `${id}-where` }, "The token is in ", element("code", {}, "gateway.token"), " in the state directory; ", element("code", {}, "openclaw config path"), " says where that is."),
    element("label", { class: "choice" }, forLong, "Keep it in this browser"),
    element("div", { class: "actions" }, button("Log in", () => {}, { type: "submit", class: "primary" })),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (token.value.trim() !== "") {
      enter(token.value.trim(), forLong.checked);
    }
  });
  place.replaceChildren(element("main", { class: "alone" }, form));
  token.focus();
}
