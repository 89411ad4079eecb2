// What is known of the gateway. One place asks, for all views; what many events change is asked for once.

import { LOST, TAKEN_BACK } from "./connection.js";

/** How many events are kept. */
const ACTIVITY = 2_000;
/** How many durations of each server are kept. */
const LATENCIES = 60;

/**
 * An answer that is kept up to date as long as somebody looks.
 * @template T
 */
class Topic {
  /** @type {Set<(value: T | null, failure: Error | null) => void>} */
  #listeners = new Set();
  #ask;
  #apart;
  #isStale = true;
  #isAsking = false;
  #isToBeTold = false;
  /** Whether somebody wants it at once, also where it is being asked for: that answer may be too old. */
  #isHurried = false;
  /** How often it was forgotten: an answer to what was asked before is none any longer. */
  #forgotten = 0;
  #lastAsked = -Infinity;
  /** @type {number | undefined} */
  #timer;
  /** @type {T | null} */
  value = null;
  /** @type {Error | null} */
  failure = null;

  /**
   * @param {() => Promise<T>} ask
   * @param {number} apart how many milliseconds lie between two questions at least
   */
  constructor(ask, apart) {
    this.#ask = ask;
    this.#apart = apart;
  }

  /**
   * Hears of it until the signal says so: at once if it is known, and whenever it changes.
   * @param {AbortSignal} signal
   * @param {(value: T | null, failure: Error | null) => void} listener
   */
  look(signal, listener) {
    if (signal.aborted) {
      return;
    }
    this.#listeners.add(listener);
    signal.addEventListener("abort", () => this.#listeners.delete(listener));
    if (this.value !== null || this.failure !== null) {
      listener(this.value, this.failure);
    }
    this.#consider();
  }

  /** It is no longer true. */
  stale() {
    this.#isStale = true;
    this.#consider();
  }

  /** Asks now, whenever it was asked last. */
  async now() {
    this.#isStale = true;
    this.#isHurried = true;
    await this.#consider();
  }

  /** Forgets it; whoever looks does not wait for something else. */
  forget() {
    this.#forgotten += 1;
    this.value = null;
    this.failure = null;
    this.now();
  }

  /** Tells before the next picture, however often it is called until then. A page in the background draws none. */
  tellSoon() {
    if (!this.#isToBeTold) {
      this.#isToBeTold = true;
      requestAnimationFrame(() => {
        this.#isToBeTold = false;
        this.tell();
      });
    }
  }

  tell() {
    for (const listener of [...this.#listeners]) {
      listener(this.value, this.failure);
    }
  }

  /** A page in the background asks nothing; `wake` asks for what is stale by then. */
  async #consider() {
    if (!this.#isStale || this.#isAsking || this.#listeners.size === 0 || document.hidden) {
      return;
    }
    clearTimeout(this.#timer);
    const wait = this.#lastAsked + this.#apart - performance.now();
    if (wait > 0 && !this.#isHurried) {
      this.#timer = window.setTimeout(() => this.#consider(), wait);
      return;
    }
    this.#isAsking = true;
    this.#isStale = false;
    this.#isHurried = false;
    const forgotten = this.#forgotten;
    try {
      const value = await this.#ask();
      if (forgotten === this.#forgotten) {
        this.value = value;
        this.failure = null;
      }
    } catch (error) {
      const failure = /** @type {Error & { code?: string }} */ (error);
      if (failure.code === LOST || failure.code === TAKEN_BACK) {
        // What was true is shown until the gateway is back.
        this.#isStale = true;
        this.#isAsking = false;
        return;
      }
      if (forgotten === this.#forgotten) {
        this.failure = failure;
      }
    } finally {
      this.#isAsking = false;
      this.#lastAsked = performance.now();
    }
    if (forgotten === this.#forgotten) {
      this.tell();
    }
    await this.#consider();
  }

  wake() {
    this.#consider();
  }
}

/** Everything that is known of one gateway. */
export class State extends EventTarget {
  /** @type {string | null} */
  #agent = null;

  /** @param {import("./connection.js").Connection} connection */
  constructor(connection) {
    super();
    this.connection = connection;
    this.overview = new Topic(() => connection.ask("overview"), 1_000);
    // Looking starts nothing: a server that rests would never come to rest before an open page.
    this.servers = new Topic(async () => (await this.#ofAgent("look")).servers, 1_000);
    this.logins = new Topic(async () => (await this.#ofAgent("logins")).logins, 2_000);
    this.tools = new Topic(async () => (await this.#ofAgent("look", { tools: true })).tools, 3_000);
    this.sessions = new Topic(() => this.#ofAgent("sessions"), 1_000);
    this.configuration = new Topic(() => this.#ofAgent("configuration"), 1_000);
    this.activity = new Topic(() => this.#recent(), 1_000);
    /** The last durations of calls, by server. @type {Map<string, number[]>} */
    this.latencies = new Map();
    this.topics = [
      this.overview, this.servers, this.logins, this.tools, this.sessions, this.configuration, this.activity,
    ];
    connection.addEventListener("status", () => this.#follow());
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden) {
        this.topics.forEach((it) => it.wake());
      }
    });
    this.#follow();
  }

  /** The agent whose servers are shown; the default one where none is named. */
  get agent() {
    return this.#agent;
  }

  set agent(agent) {
    if (agent !== this.#agent) {
      this.#agent = agent;
      for (const topic of [this.servers, this.logins, this.tools, this.sessions, this.configuration]) {
        topic.forget();
      }
    }
  }

  /**
   * @param {string} question
   * @param {object} [query]
   */
  #ofAgent(question, query = {}) {
    return this.connection.ask(question, { agent: this.#agent, ...query });
  }

  /** Something was done that changes servers. */
  serversChanged() {
    this.servers.now();
    this.tools.now();
    this.logins.stale();
    this.overview.stale();
  }

  async #recent() {
    const { entries } = await this.connection.ask("activity", { limit: ACTIVITY });
    this.latencies.clear();
    for (const entry of entries) {
      this.#measure(entry);
    }
    return entries;
  }

  /** @param {any} event */
  #measure(event) {
    const isReached = event.type === "call" && (event.outcome === "ok" || event.outcome === "tool-error");
    if (!isReached) {
      return;
    }
    const durations = this.latencies.get(event.server) ?? [];
    durations.push(event.durationMs);
    this.latencies.set(event.server, durations.slice(-LATENCIES));
  }

  /** Watches whenever the gateway is there. */
  #follow() {
    if (this.connection.status !== "open") {
      return;
    }
    this.connection.ask("watch", {}, { event: (event) => this.#hear(event) }).catch(() => {});
    this.topics.forEach((it) => it.stale());
  }

  /** @param {any} event */
  #hear(event) {
    switch (event.type) {
      case "server":
        this.#note(event);
        this.#patch(event);
        this.servers.stale();
        this.tools.stale();
        this.overview.stale();
        break;
      case "restarted":
        this.#note(event);
        this.servers.stale();
        break;
      case "call":
        this.#measure(event);
        this.#note(event);
        this.dispatchEvent(new CustomEvent("call", { detail: event }));
        break;
      case "reloaded":
      case "notReloaded":
        this.#note(event);
        for (const topic of [this.overview, this.servers, this.logins, this.tools, this.configuration]) {
          topic.stale();
        }
        break;
      case "missed":
        this.topics.forEach((it) => it.stale());
        break;
      default:
      // A newer gateway may tell more.
    }
  }

  /** A new state is shown at once; the rest of it is asked for. @param {any} event */
  #patch(event) {
    const server = this.servers.value?.find((/** @type {any} */ it) => it.name === event.server);
    if (server) {
      server.state = event.state;
      server.error = event.error;
      this.servers.tellSoon();
    }
  }

  /** @param {any} event */
  #note(event) {
    if (this.activity.value === null) {
      return;
    }
    this.activity.value.push({ time: new Date().toISOString(), ...event });
    if (this.activity.value.length > ACTIVITY * 1.5) {
      this.activity.value = this.activity.value.slice(-ACTIVITY);
    }
    this.activity.tellSoon();
  }
}
