// Several agents, each with servers of its own.

import assert from "node:assert/strict";

import { fake } from "./gateway.mjs";
import { house } from "./harness.mjs";
import { until } from "./waiting.mjs";

const it = house(() => ({
  agents: {
    list: [
      { id: "main", default: true },
      { id: "careful", mcp: { servers: { powerful: { enabled: false } } } },
    ],
  },
  mcp: { servers: { harmless: fake("--only-tools", "echo"), powerful: fake("--only-tools", "crash") } },
}));

it.test("the servers and tools of an agent are shown, and the choice stays", async (visitor, page) => {
  await visitor.row("powerful").getByText("ready", { exact: true }).waitFor();
  assert.equal(await page.getByLabel("Agent", { exact: true }).inputValue(), "", "nobody has chosen one yet");
  await page.getByLabel("Agent", { exact: true }).selectOption("careful");
  await visitor.row("powerful").getByText("switched off", { exact: true }).waitFor();
  await visitor.row("harmless").getByText("ready", { exact: true }).waitFor();
  await visitor.go("Tools");
  await page.getByText("1 tool", { exact: true }).waitFor();
  await page.reload();
  await page.getByText("1 tool", { exact: true }).waitFor();
  assert.equal(await page.getByLabel("Agent", { exact: true }).inputValue(), "careful");
  await page.getByLabel("Agent", { exact: true }).selectOption("default");
  await until("both tools to be there", () => page.getByText("2 tools", { exact: true }).isVisible());
});

it.test("where there is one agent, there is nothing to choose", async (visitor, page) => {
  await page.getByLabel("Agent", { exact: true }).waitFor();
  it.gateway.write({ mcp: { servers: { harmless: fake("--only-tools", "echo") } } });
  await until("the choice to go", async () => !(await page.getByLabel("Agent", { exact: true }).isVisible()));
});
