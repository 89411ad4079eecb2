// The configuration: what is in force, what is wrong with the file, and in which line.

import assert from "node:assert/strict";

import { beforeEach } from "node:test";

import { fake } from "./gateway.mjs";
import { house } from "./harness.mjs";

const SECRET = "sk-live-0123456789abcdefghijklmnopqrstuv";

const GOOD = {
  mcp: {
    servers: {
      calculator: fake("--only-tools", "echo"),
      far: { url: "http://127.0.0.1:9/mcp" },
    },
  },
};

/** The same, with credentials where they should not stand. */
const CARELESS = {
  ...GOOD,
  mcp: {
    servers: {
      calculator: { ...GOOD.mcp.servers.calculator, env: { API_KEY: SECRET } },
      far: { ...GOOD.mcp.servers.far, headers: { Authorization: `Bearer ${SECRET}` } },
    },
  },
};

const it = house(() => GOOD);

const force = (page) => page.getByLabel("The configuration in force");

it.test("what is in force is shown, and the file that it stands in", async (visitor, page) => {
  await visitor.go("Configuration");
  await force(page).filter({ hasText: '"calculator"' }).waitFor();
  await page.getByText("Nothing is wrong in it.").waitFor();
  const shown = JSON.parse(await force(page).innerText());
  assert.equal(shown.mcp.servers.far.url, "http://127.0.0.1:9/mcp");
  await page.getByText(it.gateway.configuration).waitFor();
});

it.test("a credential is told to be in the wrong place, and is nowhere in the page or on its way to it", async (visitor, page) => {
  const heard = [];
  page.on("websocket", (socket) => socket.on("framereceived", ({ payload }) => heard.push(String(payload))));
  await page.reload();
  await visitor.go("Configuration");
  it.gateway.write(CARELESS);
  const problems = page.getByRole("region", { name: "Problems" });
  await problems.getByText(/'calculator' has plaintext credentials/).waitFor();
  await problems.getByText(/'far' has plaintext credentials/).waitFor();
  await force(page).filter({ hasText: '"API_KEY": "[REDACTED]"' }).waitFor();
  const pages = [await page.content()];
  for (const server of ["calculator", "far"]) {
    await visitor.goToServer(server);
    await page.getByText("Transport").waitFor();
    pages.push(await page.content());
  }
  assert(!pages.some((each) => each.includes(SECRET)), "a credential is in the page");
  assert(heard.some((each) => each.includes("API_KEY")));
  assert(!heard.some((each) => each.includes(SECRET)), "a credential came over the WebSocket");
  it.gateway.write(GOOD);
  await visitor.go("Configuration");
  await page.getByText("Nothing is wrong in it.").waitFor();
});

beforeEach(() => it.gateway.write(GOOD));

it.test("a file that is broken is told with its line, and what ran goes on", async (visitor, page) => {
  await visitor.go("Configuration");
  await page.getByText("Nothing is wrong in it.").waitFor();
  it.gateway.write('{\n  mcp: {\n    servers: {\n      calculator: { comand: "x" },\n    },\n  ');
  const problems = page.getByRole("region", { name: "Problems" });
  await problems.waitFor();
  await page.getByRole("heading", { name: "The file is not in force" }).waitFor();
  await problems.getByRole("cell", { name: /^2:\d+$/ }).first().waitFor();
  await force(page).filter({ hasText: '"calculator"' }).waitFor();
  await page.getByRole("status").filter({ hasText: "the configuration is not in force" }).waitFor();
  await page.getByRole("button", { name: "Reload" }).click();
  await visitor.notices.locator(".notice.bad").waitFor();
  await visitor.notices.getByRole("button", { name: "Put away" }).click();
  it.gateway.write(GOOD);
  await page.getByText("Nothing is wrong in it.").waitFor();
  assert.equal(await page.getByRole("heading", { name: "The file is not in force" }).count(), 0);
});

it.test("a mistake in one server is told with its line and with what was meant", async (visitor, page) => {
  await visitor.go("Configuration");
  await page.getByText("Nothing is wrong in it.").waitFor();
  const { command, args } = GOOD.mcp.servers.calculator;
  it.gateway.write(`{\n  mcp: {\n    servers: {\n      calculator: { command: ${JSON.stringify(command)}, args: ${JSON.stringify(args)} },\n      typo: { command: "x", argz: [] },\n    },\n  },\n}`);
  const problem = page.getByRole("region", { name: "Problems" }).getByRole("row").filter({ hasText: "typo" }).first();
  await problem.getByRole("cell", { name: /^5:\d+$/ }).waitFor();
  await problem.getByText(/args/).first().waitFor();
  it.gateway.write(GOOD);
  await page.getByText("Nothing is wrong in it.").waitFor();
});

it.test("a reload says what changed", async (visitor, page) => {
  await visitor.go("Configuration");
  await page.getByText("Nothing is wrong in it.").waitFor();
  await page.getByRole("button", { name: "Reload" }).click();
  await visitor.notices.getByText("the configuration is in force; no server changed").waitFor();
  it.gateway.write({ ...GOOD, mcp: { servers: { ...GOOD.mcp.servers, second: fake("--only-tools", "echo") } } });
  await force(page).filter({ hasText: '"second"' }).waitFor();
  it.gateway.write(GOOD);
  await force(page).filter({ hasNotText: '"second"' }).waitFor();
});
