// An MCP server whose words come from a file: tools, results, what it writes to its standard error. The file is read
// with every request, so that a test can change what is offered.
//
// {
//   "info": {…}, "instructions": "…", "tools": […], "count": how many more are made up, "stderr": "written at the start",
//   "exit": true to end at once, "error": {…} of JSON-RPC for every call,
//   "results": {"tool": {a result} or {"repeat": {"text", "count"}} or {"exit": true}, with "stderr" and "wait", in
//     milliseconds, besides}
// }

import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const file = process.argv[2];
const script = () => JSON.parse(readFileSync(file, "utf8"));
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);

const { stderr, exit } = script();
if (stderr) {
  process.stderr.write(stderr);
}
if (exit) {
  process.exit(1);
}

/** Tools that the script counts instead of naming them. */
function generated(count) {
  return Array.from({ length: count ?? 0 }, (_, index) => ({
    name: `tool_${String(index).padStart(4, "0")}`,
    description: `Does the thing with the number ${index}, and says how it went`,
    inputSchema: { type: "object", properties: { amount: { type: "integer", description: "How much" } } },
  }));
}

/** What a call gives: as the script has it, or its arguments. */
function result({ results }, { name, arguments: given }) {
  const { stderr: said, exit: isEnd, repeat, ...told } = results?.[name] ?? {};
  if (said) {
    process.stderr.write(said);
  }
  if (isEnd) {
    process.exit(1);
  }
  if (repeat) {
    return { content: [{ type: "text", text: repeat.text.repeat(repeat.count) }] };
  }
  return told.content ? told : { content: [{ type: "text", text: JSON.stringify(given ?? {}) }] };
}

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) {
    return;
  }
  const told = script();
  const answers = {
    initialize: () => ({
      protocolVersion: params.protocolVersion,
      capabilities: { tools: { listChanged: true } },
      serverInfo: told.info ?? { name: "scripted", version: "1" },
      instructions: told.instructions,
    }),
    ping: () => ({}),
    "tools/list": () => ({ tools: [...(told.tools ?? []), ...generated(told.count)] }),
    "tools/call": () => result(told, params),
  };
  const answer = answers[method];
  if (told.error && method === "tools/call") {
    send({ id, error: told.error });
  } else if (answer) {
    const { wait } = (method === "tools/call" && told.results?.[params.name]) || {};
    setTimeout(() => send({ id, result: answer() }), wait ?? 0);
  } else {
    send({ id, error: { code: -32601, message: "no such method" } });
  }
});
