// Asks a gateway everything that OpenAI's library for Node is used for, and writes what it found as
// JSON. OPENAI_BASE_URL and OPENAI_API_KEY say where, OPENCLAW_PARTNERS where the library is.
//
// The plan, in JSON on standard input, has the `agent` to look up, and the message for each step:
// `say`, `look` (which gives images), `busy`, `fail`, `called` (which fail), `break` (fails in the
// middle), `hang` (never ends). A step without a message is left out.
"use strict";

const { createRequire } = require("node:module");
const path = require("node:path");
const modules = createRequire(path.join(process.env.OPENCLAW_PARTNERS, "package.json"));
const { OpenAI } = modules("openai");

const PNG =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const plan = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
const client = new OpenAI({ maxRetries: 0, timeout: 20_000 });

const saying = (message, more = {}) => ({
  model: "openclaw",
  messages: [{ role: "user", content: message }],
  ...more,
});

async function whole() {
  const headers = { "x-request-id": "from-the-client" };
  const asked = client.chat.completions.create(saying(plan.say), { headers });
  const { data, response } = await asked.withResponse();
  const [choice] = data.choices;
  return {
    content: choice.message.content,
    role: choice.message.role,
    finish: choice.finish_reason,
    tokens: data.usage.total_tokens,
    hasKey: Boolean(response.headers.get("x-openclaw-session-key")),
    requestId: data._request_id,
  };
}

async function streamed() {
  const options = { stream: true, stream_options: { include_usage: true } };
  const stream = await client.chat.completions.create(saying(plan.say, options));
  const found = { content: "", finish: null, tokens: null, role: null };
  for await (const chunk of stream) {
    const [choice] = chunk.choices;
    found.content += choice?.delta.content ?? "";
    found.role = choice?.delta.role ?? found.role;
    found.finish = choice?.finish_reason ?? found.finish;
    found.tokens = chunk.usage?.total_tokens ?? found.tokens;
  }
  return found;
}

async function images() {
  const urls = (message) => (message.images ?? []).map((image) => image.image_url.url);
  const answer = await client.chat.completions.create(saying(plan.look));
  const [{ message }] = answer.choices;
  const seen = [];
  for await (const chunk of await client.chat.completions.create(saying(plan.look, { stream: true }))) {
    seen.push(...urls(chunk.choices[0].delta));
  }
  // What the library puts together itself.
  const helped = await client.chat.completions.stream(saying(plan.look)).finalContent();
  return { content: message.content, whole: urls(message), streamed: seen, helped };
}

async function sent() {
  const content = [
    { type: "text", text: "look at this" },
    { type: "image_url", image_url: { url: PNG } },
  ];
  await client.chat.completions.create(saying(content));
  await client.chat.completions.create({
    model: "openclaw",
    messages: [
      { role: "system", content: "Be brief." },
      { role: "user", content: "I am Ann." },
      { role: "assistant", content: "Hello." },
      { role: "user", content: "and now?" },
    ],
  });
}

async function refused(request, options) {
  try {
    await client.chat.completions.create(request, options);
  } catch (error) {
    const { status, code, param } = error;
    return { kind: error.constructor.name, status, code, param: param ?? null };
  }
  return null;
}

async function broken() {
  let content = "";
  try {
    for await (const chunk of await client.chat.completions.create(saying(plan.break, { stream: true }))) {
      content += chunk.choices[0].delta.content ?? "";
    }
  } catch (error) {
    return { content, code: error.code };
  }
  return null;
}

async function left() {
  const stream = await client.chat.completions.create(saying(plan.hang, { stream: true }));
  for await (const chunk of stream) {
    const content = chunk.choices[0].delta.content;
    if (content) {
      stream.controller.abort();
      return content;
    }
  }
  return null;
}

// Takes a step that the plan has a message for.
const step = (message, take) => (message === undefined ? null : take());

async function main() {
  const models = [];
  for await (const model of client.models.list()) {
    models.push(model.id);
  }
  const found = {
    models,
    model: (await client.models.retrieve(`openclaw/${plan.agent}`)).id,
    whole: await whole(),
    streamed: await streamed(),
    images: await step(plan.look, images),
    unknown: await refused({ ...saying("hello"), model: "gpt-unknown" }),
    unsupported: await refused(saying("hello", { n: 2 })),
    busy: await step(plan.busy, () => refused(saying(plan.busy))),
    failed: await step(plan.fail, () => refused(saying(plan.fail), { maxRetries: 1 })),
    called: await step(plan.called, () => refused(saying(plan.called), { maxRetries: 1 })),
    broken: await step(plan.break, broken),
    left: await step(plan.hang, left),
  };
  await sent();
  process.stdout.write(JSON.stringify(found));
}

main().catch((error) => {
  process.stderr.write(`${error.stack}\n`);
  process.exitCode = 1;
});
