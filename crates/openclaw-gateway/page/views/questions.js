// What only a person can say: whether a tool may run, and what a server wants to know.

import { button, element, fill } from "../parts/element.js";
import { choiceField, numberField, readAll, severalField, textField, yesNoField } from "../parts/fields.js";
import { foreign, foreignLines, opened, plain } from "../foreign.js";

/**
 * A question in a conversation. It goes away when it is answered, or when nobody waits for the answer any longer.
 * @param {import("../connection.js").PersonQuestion} question
 * @returns {HTMLElement}
 */
export function questionCard(question) {
  const card = element("section", { class: "question", role: "group" });
  /**
   * @param {object} said
   * @param {string} words
   */
  const answer = (said, words) => {
    question.reply(said);
    card.classList.add("answered");
    fill(card, element("p", { class: "quiet" }, words));
  };
  question.withdrawn.addEventListener("abort", () => {
    if (card.querySelector("button")) {
      card.classList.add("answered");
      fill(card, element("p", { class: "quiet" }, "The question was withdrawn."));
    }
  });
  if (question.approve) {
    approval(card, question.approve, answer);
  } else if (question.answer?.asks?.type === "visit") {
    visit(card, question.answer, answer);
  } else if (question.answer) {
    form(card, question.answer, answer);
  }
  return card;
}

/** @typedef {(said: object, words: string) => void} Answer */

/**
 * @param {HTMLElement} card
 * @param {any} asked
 * @param {Answer} answer
 */
function approval(card, asked, answer) {
  const tool = plain(`${asked.server}/${asked.tool}`, 120);
  card.setAttribute("aria-label", `May ${tool} run?`);
  const values = asked.arguments.map((/** @type {[string, string]} */ [name, value]) => [
    element("dt", {}, foreign(name, { most: 80 })),
    element("dd", {}, element("code", {}, foreign(value, { most: 500 }))),
  ]);
  fill(
    card,
    element("p", { role: "alert" }, element("strong", {}, "May this tool run? "), foreign(asked.server, { most: 60 }), "/", foreign(asked.tool, { most: 80 })),
    asked.description ? element("p", { class: "quiet" }, "Its server says: ", foreign(asked.description, { most: 300 })) : null,
    values.length > 0 ? element("dl", { class: "facts" }, values.flat()) : element("p", { class: "quiet" }, "Without arguments."),
    asked.moreArguments > 0 ? element("p", { class: "quiet" }, `and ${asked.moreArguments} more`) : null,
    element("div", { class: "actions" },
      button("Allow once", () => answer({ approve: "once" }, `${tool}: allowed once`), { class: "primary" }),
      button("Always allow", () => answer({ approve: "always" }, `${tool}: allowed from now on`)),
      button("No", () => answer({ approve: "no" }, `${tool}: not allowed`), { class: "danger" })),
  );
}

/**
 * @param {any} asked
 * @returns {HTMLElement[]}
 */
function asker(asked) {
  return [
    element("p", { role: "alert" }, element("strong", {}, foreign(asked.server, { most: 60 })), " asks, because of ", foreign(asked.tool, { most: 80 }), ":"),
    foreignLines(String(asked.message).slice(0, 4_000), "lines foreign"),
  ];
}

/**
 * @param {HTMLElement} card
 * @param {any} asked
 * @param {Answer} answer
 */
function visit(card, asked, answer) {
  card.setAttribute("aria-label", `${plain(asked.server, 60)} asks you to visit an address`);
  const url = opened(asked.asks.url);
  fill(
    card,
    asker(asked),
    element("p", {}, "It wants you to visit ", element("code", {}, foreign(asked.asks.url, { most: 500 }))),
    element("div", { class: "actions" },
      url ? element("a", { class: "button primary", href: url.href, target: "_blank", rel: "noopener noreferrer", on: { click: () => answer({ answer: { type: "accept", fields: {} } }, "opened") } }, `Open ${plain(url.host, 80)}`) : null,
      button("No", () => answer({ answer: { type: "decline" } }, "declined")),
      button("Put away", () => answer({ answer: { type: "cancel" } }, "put away"))),
  );
}

/**
 * @param {HTMLElement} card
 * @param {any} asked
 * @param {Answer} answer
 */
function form(card, asked, answer) {
  card.setAttribute("aria-label", `A form of ${plain(asked.server, 60)}`);
  /** @type {Map<string, import("../parts/fields.js").Field>} */
  const fields = new Map(asked.asks.fields.map((/** @type {any} */ it) => [it.name, fieldOf(it)]));
  const entry = element("form", { class: "stacked" }, [...fields.values()].map((it) => it.element),
    element("p", { class: "hint" }, "What you enter goes to the server. Never enter a password here."),
    element("div", { class: "actions" },
      button("Send", () => {}, { type: "submit", class: "primary" }),
      button("Decline", () => answer({ answer: { type: "decline" } }, "declined")),
      button("Put away", () => answer({ answer: { type: "cancel" } }, "put away"))));
  entry.addEventListener("submit", (event) => {
    event.preventDefault();
    const read = readAll(fields);
    if (read) {
      answer({ answer: { type: "accept", fields: read } }, "sent");
    }
  });
  fill(card, asker(asked), entry);
}

/** @param {any} field */
function fieldOf(field) {
  const { kind } = field;
  const options = { value: field.default ?? undefined };
  switch (kind.type) {
    case "number":
      return numberField(field, { ...options, whole: kind.whole });
    case "yesOrNo":
      return yesNoField(field, options);
    case "one":
      return choiceField(field, kind.options, options);
    case "some":
      return severalField(field, kind.options, options);
    default:
      return textField(field, { ...options, format: kind.format });
  }
}
