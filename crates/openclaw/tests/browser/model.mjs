// A service with a model whose replies are up to the test, word by word: chat completions of OpenAI, as a stream.

import { createServer } from "node:http";

/** What a model says in one answer. */
class Saying {
  #response;
  /** @param {any} asked what it was asked */
  constructor(asked, response) {
    this.asked = asked;
    this.#response = response;
  }

  #chunk(delta, reason = null) {
    if (!this.#response.headersSent) {
      this.#response.writeHead(200, { "content-type": "text/event-stream" });
    }
    const choice = { index: 0, delta, finish_reason: reason };
    this.#response.write(`data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", model: "scripted", choices: [choice] })}\n\n`);
  }

  /** Says some words. */
  say(text) {
    this.#chunk({ role: "assistant", content: text });
  }

  /** Calls the tool whose name ends like this. */
  call(tool, given) {
    const named = this.asked.tools.map((it) => it.function.name).find((it) => it.endsWith(tool));
    if (!named) {
      throw new Error(`the model has no tool ${tool}`);
    }
    const call = { index: 0, id: `call-${Math.random()}`, type: "function", function: { name: named, arguments: JSON.stringify(given) } };
    this.#chunk({ role: "assistant", tool_calls: [call] });
    this.#end("tool_calls");
  }

  /** Fails instead. */
  fail(status, body) {
    this.#response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  }

  /** Ends the answer. */
  stop() {
    this.#end("stop");
  }

  #end(reason) {
    if (!this.#response.writableEnded) {
      this.#chunk({}, reason);
      this.#response.end("data: [DONE]\n\n");
    }
  }
}

/** The service. */
export class Model {
  /** What it says next, in turn. @type {((saying: Saying) => unknown)[]} */
  #next = [];
  /** What it was asked. @type {any[]} */
  asked = [];

  static async start() {
    const model = new Model();
    model.server = createServer((request, response) => model.#answer(request, response));
    await new Promise((done) => model.server.listen(0, "127.0.0.1", done));
    return model;
  }

  /** The provider and the agents of a configuration that asks it. */
  configuration(agent = {}) {
    const baseUrl = `http://127.0.0.1:${this.server.address().port}/v1`;
    const known = { id: "model", input: ["text", "image"], contextWindow: 100_000, maxTokens: 4_000 };
    return {
      models: { providers: { scripted: { baseUrl, models: [known] } } },
      agents: { defaults: { model: "scripted/model", ...agent } },
    };
  }

  /** Says something next; without an end of its own, it ends with it. */
  next(...sayings) {
    this.#next.push(...sayings);
  }

  async #answer(request, response) {
    let body = "";
    for await (const part of request) {
      body += part;
    }
    if (request.method !== "POST") {
      response.writeHead(200, { "content-type": "application/json" }).end('{"data":[]}');
      return;
    }
    const asked = JSON.parse(body);
    this.asked.push(asked);
    const saying = new Saying(asked, response);
    const next = this.#next.shift() ?? ((it) => it.say("fine"));
    try {
      await next(saying);
      saying.stop();
    } catch (failure) {
      // The conversation says so, and the test that waits for something else fails with that.
      saying.fail(400, { error: { message: String(failure) } });
    }
  }

  close() {
    this.server.closeAllConnections();
    this.server.close();
  }
}
