// New servers: by address, by command, from another client.

import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { scripted, testkit } from "./gateway.mjs";
import { house } from "./harness.mjs";
import { announced, end } from "./processes.mjs";
import { until } from "./waiting.mjs";

const it = house(() => ({ mcp: { servers: {} } }));

const dialog = (page) => page.getByRole("dialog", { name: "Add a server" });

async function open(page, way) {
  await page.getByRole("button", { name: "Add a server" }).click();
  await dialog(page).getByRole("tab", { name: way }).click();
  return dialog(page);
}

it.test("a page without servers says what to do", async (visitor, page) => {
  await page.getByText("There are no servers yet.").waitFor();
});

it.test("a server is added by its command, which is shown in words before it is started", async (visitor, page) => {
  const { command, args } = scripted(it.gateway.home, "by-command", { tools: [{ name: "one", inputSchema: { type: "object" } }] });
  const form = await open(page, "By command");
  await form.getByLabel(/^Command/).fill(`${command} '${args[0]}' "${args[1]}`);
  await form.getByText("A quote is not closed.").waitFor();
  await form.getByLabel(/^Name/).fill("mine");
  await form.getByRole("button", { name: "Try it and add it" }).click();
  await form.getByText("a quote in the command is not closed").waitFor();
  await form.getByLabel(/^Name/).fill("");
  await form.getByLabel(/^Command/).fill(`${command} '${args[0]}' "${args[1]}"`);
  await form.getByText(/^Starts/).filter({ hasText: "scripted-server.mjs" }).waitFor();
  assert.equal(await form.getByLabel(/^Name/).inputValue(), "scripted", "a name is suggested");
  await form.getByLabel(/^Name/).fill("mine");
  await form.getByLabel(/^Variables/).fill("LEVEL=high\nPLACE=here");
  await form.getByRole("button", { name: "Try it and add it" }).click();
  await page.getByRole("heading", { level: 1, name: "mine" }).waitFor();
  await page.getByText("1 tool ·").waitFor();
  const written = JSON.parse(readFileSync(it.gateway.configuration, "utf8")).mcp.servers.mine;
  assert.deepEqual(written.args, args);
  assert.deepEqual(written.env, { LEVEL: "high", PLACE: "here" });
});

it.test("a server is added by its address", async (visitor, page, context) => {
  const server = await announced(testkit("fake-mcp-server"), ["http"]);
  context.after(() => end(server.child));
  const [url] = /http:\/\/\S+/.exec(server.line);
  const form = await open(page, "By address");
  await form.getByLabel(/^Address/).fill(`${url}/mcp`);
  await form.getByLabel(/^Name/).fill("far");
  await form.getByRole("button", { name: "Try it and add it" }).click();
  await page.getByRole("heading", { level: 1, name: "far" }).waitFor();
  await page.getByText("Transport").waitFor();
  await visitor.go("Servers");
  await visitor.row("far").getByText("HTTP", { exact: true }).waitFor();
});

it.test("what is missing or wrong is told at its field", async (visitor, page) => {
  const form = await open(page, "By address");
  await form.getByRole("button", { name: "Try it and add it" }).click();
  await form.getByText("this is needed").first().waitFor();
  assert.equal(await page.evaluate(() => document.activeElement?.getAttribute("placeholder")), "https://…/mcp");
  // What was entered stays when one looks at another way.
  await form.getByLabel(/^Address/).fill("http://127.0.0.1:9/mcp");
  await form.getByRole("tab", { name: "By command" }).click();
  await form.getByRole("tab", { name: "By address" }).click();
  assert.equal(await form.getByLabel(/^Address/).inputValue(), "http://127.0.0.1:9/mcp");
});

it.test("a server that does not answer is not added, unless somebody wants it all the same", async (visitor, page) => {
  const form = await open(page, "By address");
  await form.getByLabel(/^Address/).fill("http://127.0.0.1:9/mcp");
  await form.getByLabel(/^Name/).fill("nobody");
  await form.getByRole("button", { name: "Try it and add it" }).click();
  await form.locator(".trouble").waitFor();
  assert.equal(await form.getByLabel(/^Address/).inputValue(), "http://127.0.0.1:9/mcp");
  await form.getByRole("button", { name: "Add it without trying" }).click();
  await page.getByRole("heading", { level: 1, name: "nobody" }).waitFor();
  await page.getByText(/^(failed|restarting|connecting)$/).waitFor();
});

it.test("servers of other clients are offered, and those that are chosen are taken over", async (visitor, page) => {
  const { command, args } = scripted(it.gateway.home, "elsewhere", { tools: [] });
  const files = {
    ".cursor/mcp.json": { mcpServers: { elsewhere: { command, args }, unwanted: { command: "unwanted-program" } } },
    ".config/Claude/claude_desktop_config.json": { mcpServers: { keyed: { command, args, env: { API_TOKEN: "sk-import-secret-0123456789abcdef" } } } },
  };
  for (const [name, what] of Object.entries(files)) {
    const file = join(it.gateway.home, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, JSON.stringify(what));
  }
  const form = await open(page, "From another client");
  await form.getByText("Cursor").first().waitFor();
  assert(!(await page.content()).includes("sk-import-secret"), "credentials are not shown");
  await form.getByLabel(/^unwanted/).uncheck();
  await form.getByLabel(/^keyed/).uncheck();
  await form.getByRole("button", { name: "Take over" }).click();
  await visitor.notices.getByText("1 server taken over").waitFor();
  await visitor.row("elsewhere").getByText("ready", { exact: true }).waitFor();
  const written = JSON.parse(readFileSync(it.gateway.configuration, "utf8")).mcp.servers;
  assert("elsewhere" in written && !("unwanted" in written) && !("keyed" in written));
  await until("the dialog to close", async () => (await page.getByRole("dialog").count()) === 0);
});
