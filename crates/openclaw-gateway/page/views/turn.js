// What is said in a conversation: by a person, by a model, and by tools in between.

import { element, fill, say } from "../parts/element.js";
import { media } from "../parts/content.js";
import { longText } from "../parts/long-text.js";
import { markdown } from "../parts/markdown.js";
import { trouble } from "../parts/notices.js";
import { append, foreign, opened, plain, where } from "../foreign.js";
import { duration, size } from "../words.js";
import { questionCard } from "./questions.js";

/**
 * Something that a person said.
 * @param {string} text
 * @param {{ mimeType: string, name?: string | null, data?: string, bytes?: number }[]} files
 */
export function personSaid(text, files) {
  return element("article", { class: "said person", "aria-label": "You" },
    text === "" ? null : longText(text, { class: "text prose", name: "message.txt", label: "Your message" }),
    files.map((it) => (it.data ? media(it.mimeType, it.data, it.name) : element("p", { class: "file" }, `${plain(it.name ?? it.mimeType, 100)}, ${size(it.bytes ?? 0)}`))));
}

/**
 * What a model calls a tool, without the server, which stands beside it.
 * @param {string} name
 * @param {string | null} [server]
 */
function short(name, server) {
  const before = `mcp_${server ?? ""}_`;
  return server && name.startsWith(before) && name.length > before.length ? name.slice(before.length) : name;
}

/** A call of a tool. */
class CallCard {
  #state = element("span", { class: "state busy" }, "running");
  #progress = element("p", { class: "quiet" });
  #result = element("div", {});

  /**
   * @param {{ name: string, server?: string | null, title?: string | null, arguments?: unknown }} call
   */
  constructor(call) {
    const hasArguments = call.arguments !== undefined && call.arguments !== null && Object.keys(call.arguments).length > 0;
    this.element = element("details", { class: "call" },
      element("summary", {},
        this.#state,
        foreign(call.title || short(call.name, call.server), { most: 100 }),
        call.server ? element("span", { class: "badge" }, foreign(call.server, { most: 60 })) : null),
      hasArguments ? longText(JSON.stringify(call.arguments, null, 2), { class: "text code", name: "arguments.json", label: "Arguments" }) : element("p", { class: "quiet" }, "Without arguments."),
      this.#progress,
      this.#result);
  }

  /** @param {string} text */
  progress(text) {
    fill(this.#progress, foreign(text, { most: 300 }));
  }

  /**
   * @param {{ isError: boolean, durationMs?: number } | null} outcome nothing if it is not known
   * @param {string | null} text what the model reads
   */
  ended(outcome, text) {
    const words = outcome === null ? "not ended" : outcome.isError ? "failed" : "done";
    const time = outcome?.durationMs === undefined ? "" : ` in ${duration(outcome.durationMs)}`;
    this.#state.className = `state ${outcome === null ? "warn" : outcome.isError ? "bad" : "good"}`;
    say(this.#state, words + time);
    fill(this.#progress);
    if (text !== null) {
      fill(this.#result, longText(text, { name: "result.txt", label: "What the model reads" }));
    }
  }
}

/** A turn of an agent, as it goes on. */
export class Turn {
  element = element("article", { class: "said agent", "aria-label": "Agent" });
  /** @type {Map<string, CallCard>} */
  #calls = new Map();
  /** What is being written. @type {HTMLElement | null} */
  #text = null;
  /** @type {HTMLElement | null} */
  #thoughts = null;
  #wasAnswered = false;
  #waiting = element("p", { class: "quiet waiting" }, "Thinking…");

  constructor() {
    this.element.append(this.#waiting);
  }

  /** @param {any} event */
  hear(event) {
    switch (event.type) {
      case "partial":
        append(this.#written(), event.text, true);
        break;
      case "reasoning":
        append(this.#thinking(), event.text, true);
        break;
      case "retracted":
        this.#text?.remove();
        this.#text = null;
        this.#put(element("p", { class: "quiet" }, foreign(`asked again: ${event.reason}`, { most: 300 })));
        break;
      case "block":
      case "final":
        this.#settle(event.text);
        break;
      case "answer":
        this.#wasAnswered = true;
        this.#put(longText(event.text, { class: "text prose", name: "answer.txt", label: "Answer" }));
        break;
      case "toolStarted": {
        const card = new CallCard(event);
        this.#calls.set(event.id, card);
        this.#put(card.element);
        break;
      }
      case "toolProgress":
        this.#calls.get(event.id)?.progress(event.text);
        break;
      case "toolResult":
        this.#calls.get(event.id)?.ended(event.call, event.text);
        break;
      case "media":
        this.#put(part(event.part));
        break;
      case "visit":
        this.#put(visiting(event));
        break;
      case "notice":
        this.#put(element("p", { class: "hint" }, foreign(event.text, { most: 1_000 })));
        break;
      default:
      // A newer gateway may tell more.
    }
  }

  /** @param {import("../connection.js").PersonQuestion} question */
  asked(question) {
    this.#put(questionCard(question));
  }

  /** @param {any} report */
  ended(report) {
    this.#waiting.remove();
    if (report.cutOff) {
      this.#put(element("p", { class: "hint" }, "It ends here because the model may not say more at once."));
    }
    const hasNothing = report.reply === "" && !this.#wasAnswered && this.element.childElementCount === 0;
    if (hasNothing) {
      this.#put(element("p", { class: "quiet" }, "There was no reply."));
    }
    const usage = report.usage ? `${report.usage.inputTokens} tokens read, ${report.usage.outputTokens} written` : "";
    if (!this.#wasAnswered) {
      this.element.append(element("p", { class: "quiet small" }, foreign([report.model, usage].filter(Boolean).join(" · "))));
    }
  }

  /** @param {unknown} failure */
  failed(failure) {
    this.#waiting.remove();
    this.element.append(element("div", { role: "alert" }, trouble(failure)));
  }

  stopped() {
    this.#waiting.remove();
    this.element.append(element("p", { class: "quiet" }, "Stopped."));
  }

  /** @param {HTMLElement} made */
  #put(made) {
    this.#thoughts = null;
    if (this.#waiting.isConnected) {
      this.#waiting.before(made);
    } else {
      this.element.append(made);
    }
  }

  #written() {
    if (!this.#text) {
      this.#text = element("pre", { class: "text prose", dir: "auto" });
      this.#put(this.#text);
    }
    return this.#text;
  }

  #thinking() {
    if (!this.#thoughts) {
      const text = element("pre", { class: "text prose" });
      this.#put(element("details", { class: "thoughts" }, element("summary", {}, "Thoughts"), text));
      this.#thoughts = text;
    }
    return this.#thoughts;
  }

  /** A whole text takes the place of its parts. @param {string} text */
  #settle(text) {
    if (text === "") {
      return;
    }
    const made = markdown(text);
    if (this.#text) {
      this.#text.replaceWith(made);
      this.#text = null;
    } else {
      this.#put(made);
    }
  }
}

/** @param {any} it */
function part(it) {
  if (it.type === "text") {
    return longText(it.text);
  }
  return media(it.mimeType, it.data, it.name);
}

/** @param {any} event */
function visiting(event) {
  const url = opened(event.url);
  return element("div", { class: "question" },
    element("p", {}, foreign(event.why, { most: 500 })),
    url
      ? element("a", { class: "button", href: url.href, target: "_blank", rel: "noopener noreferrer" }, foreign(`Open ${where(url)}`, { most: 400 }))
      : element("code", {}, foreign(event.url, { most: 500 })));
}

/**
 * What was said before, as it is kept.
 * @param {any[]} messages
 * @returns {HTMLElement[]}
 */
export function transcript(messages) {
  const shown = /** @type {HTMLElement[]} */ ([]);
  /** @type {Map<string, { card: CallCard, outcome: any }>} */
  const calls = new Map();
  for (const message of messages) {
    if (message.role === "user") {
      shown.push(personSaid(message.text, message.media ?? []));
    } else if (message.role === "tool") {
      const call = calls.get(message.call ?? "");
      call?.card.ended(call.outcome ?? { isError: message.isError === true }, message.text);
    } else {
      const article = element("article", { class: `said ${message.role === "summary" ? "summary" : "agent"}`, "aria-label": message.role === "summary" ? "Summary" : "Agent" });
      if (message.text !== "") {
        article.append(markdown(message.text));
      }
      for (const call of message.toolCalls ?? []) {
        const card = new CallCard({ name: call.name, server: call.outcome?.server, arguments: call.arguments });
        card.ended(call.outcome ?? null, null);
        calls.set(call.id, { card, outcome: call.outcome });
        article.append(card.element);
      }
      for (const file of message.media ?? []) {
        article.append(element("p", { class: "file" }, `${plain(file.name ?? file.mimeType, 100)}, ${size(file.bytes)}`));
      }
      const remark = message.running ? "This turn is still going on." : message.interrupted ? "This turn was interrupted." : message.failed ? "This turn failed." : "";
      if (remark !== "") {
        article.append(element("p", { class: "hint" }, remark));
      }
      if (article.childElementCount > 0) {
        shown.push(article);
      }
    }
  }
  return shown;
}
