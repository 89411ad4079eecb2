// Asks a gateway with Node's own client of HTTP/2, over one connection, and writes what it found as JSON.
// GATEWAY says where it is, TOKEN what it wants to see.
"use strict";

const http2 = require("node:http2");

const session = http2.connect(process.env.GATEWAY);
const headers = { authorization: `Bearer ${process.env.TOKEN}`, "content-type": "application/json" };

function ask(method, path, body) {
  return new Promise((resolve, reject) => {
    const request = session.request({ ...headers, ":method": method, ":path": path });
    const found = { status: 0, type: "", parts: 0, body: "" };
    request.setEncoding("utf8");
    request.setTimeout(20_000, () => request.destroy(new Error(`${path}: no answer in time`)));
    request.on("response", (head) => {
      found.status = head[":status"];
      found.type = head["content-type"];
    });
    request.on("data", (part) => {
      found.parts += 1;
      found.body += part;
    });
    request.on("end", () => resolve(found));
    request.on("error", reject);
    request.end(body && JSON.stringify(body));
  });
}

const call = (message) => ask("POST", "/api/mcp/call", { tool: "fake/echo", arguments: { message } });

// Goes away from a call that takes a minute.
function giveUp() {
  return new Promise((resolve) => {
    const request = session.request({ ...headers, ":method": "POST", ":path": "/api/mcp/call" });
    request.on("close", () => resolve(request.rstCode));
    request.on("error", () => {});
    request.end(JSON.stringify({ tool: "fake/sleep", arguments: { ms: 60_000 } }));
    setTimeout(() => request.close(http2.constants.NGHTTP2_CANCEL), 300);
  });
}

async function main() {
  const words = Array.from({ length: 64 }, (_, number) => `word ${number}`);
  const calls = await Promise.all(words.map(call));
  const large = await call("x".repeat(1024 * 1024));
  const messages = [{ role: "user", content: "echo hello" }];
  const streamed = await ask("POST", "/v1/chat/completions", { model: "openclaw", messages, stream: true });
  const status = await ask("GET", "/api/status");
  const found = {
    echoes: calls.map(({ status, body }) => [status, JSON.parse(body).content[0].text]),
    words,
    large: JSON.parse(large.body).content[0].text.length,
    streamed: { status: streamed.status, type: streamed.type, ends: streamed.body.endsWith("data: [DONE]\n\n") },
    running: JSON.parse(status.body).gateway.running,
    givenUp: await giveUp(),
    after: (await call("after")).status,
  };
  session.close();
  process.stdout.write(JSON.stringify(found));
}

main().catch((error) => {
  process.stderr.write(`${error.stack}\n`);
  process.exit(1);
});
