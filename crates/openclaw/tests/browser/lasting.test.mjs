// A page that is left open: over restarts of the gateway, and with results of any size.

import assert from "node:assert/strict";

import { fake, scripted } from "./gateway.mjs";
import { house } from "./harness.mjs";
import { longestFrame } from "./measuring.mjs";
import { until } from "./waiting.mjs";

const it = house((home) => configuration(home));

function configuration(home, more = {}) {
  return {
    agents: { defaults: { model: "builtin/offline" } },
    mcp: {
      servers: {
        calculator: fake("--only-tools", "echo,sleep"),
        large: scripted(home, "large", {
          tools: ["five_megabytes", "many_parts"].map((name) => ({ name, description: `Gives ${name}`, inputSchema: { type: "object" } })),
          results: {
            five_megabytes: { repeat: { text: "0123456789 <b>abcdef</b>\n", count: 200_000 } },
            many_parts: { content: Array.from({ length: 500 }, (_, number) => ({ type: "text", text: `part ${number}` })) },
          },
        }),
        ...more,
      },
    },
  };
}

it.test("a page comes back by itself after a restart, with what is true then and what was typed", async (visitor, page) => {
  await visitor.go("Chat");
  const field = page.getByLabel("Message", { exact: true });
  await field.fill("a draft that took me an hour");
  await it.gateway.end();
  await page.getByText("not connected; trying again…").waitFor();
  assert(await field.isVisible());
  await field.press("End");
  await field.pressSequentially(", and goes on");
  // What can't be sent stays where it is.
  await field.press("Enter");
  await visitor.notices.getByText("the message was not sent").waitFor();
  it.gateway.write(configuration(it.gateway.home, { newcomer: fake("--only-tools", "echo") }));
  await it.gateway.run(it.gateway.port);
  await page.getByText(/^gateway \d/).waitFor();
  assert.equal(await field.inputValue(), "a draft that took me an hour, and goes on");
  await visitor.go("Servers");
  await visitor.row("newcomer").getByText("ready", { exact: true }).waitFor();
  await it.gateway.call("newcomer/echo", { message: "hi" });
  await visitor.row("newcomer").getByRole("img", { name: /^1 calls?,/ }).waitFor();
  await visitor.go("Chat");
  assert.equal(await field.inputValue(), "a draft that took me an hour, and goes on");
});

it.test("what is shown stays as it was while the gateway is away", async (visitor, page) => {
  await visitor.row("calculator").getByText("ready", { exact: true }).waitFor();
  await it.gateway.end();
  await page.getByText("not connected; trying again…").waitFor();
  assert(await visitor.row("calculator").isVisible());
  await visitor.row("calculator").getByRole("button", { name: "Disconnect calculator" }).click();
  await visitor.notices.getByText("the gateway can't be reached right now").waitFor();
  await it.gateway.run(it.gateway.port);
  await page.getByText(/^gateway \d/).waitFor();
  await visitor.row("calculator").getByText("ready", { exact: true }).waitFor();
});

it.test("a call that a restart cut is told, and the next one works", async (visitor, page) => {
  await visitor.openTool("sleep");
  await page.getByRole("textbox", { name: /^ms/ }).fill("60000");
  await page.getByRole("button", { name: "Run" }).click();
  await page.getByText("Running…").waitFor();
  await it.gateway.end("SIGKILL");
  await page.locator(".result").getByText("the connection to the gateway was lost before the answer came").waitFor();
  await it.gateway.run(it.gateway.port);
  await page.getByText(/^gateway \d/).waitFor();
  await page.getByRole("textbox", { name: /^ms/ }).fill("1");
  await page.getByRole("button", { name: "Run" }).click();
  await page.locator(".result").getByText(/^done in/).waitFor();
});

it.test("a result of 5 MB is shown in part, and the page stays quick", async (visitor, page, context) => {
  await visitor.openTool("five_megabytes");
  const frames = await longestFrame(page, async () => {
    await page.getByRole("button", { name: "Run" }).click();
    await page.locator(".result").getByText(/^done in/).waitFor();
  });
  await page.getByText(/^8\.0 KB of 5\.0 MB shown$/).waitFor();
  const shown = await page.getByLabel("Text of the result").innerText();
  assert(shown.length < 20_000, String(shown.length));
  const more = await longestFrame(page, () => page.getByRole("button", { name: "Show more" }).click());
  await page.getByText(/^108\.0 KB of 5\.0 MB shown$/).waitFor();
  const raw = await longestFrame(page, () => page.getByRole("tab", { name: "Raw" }).click());
  await page.getByLabel("Raw result").waitFor();
  context.diagnostic(`5 MB: the page stood still for ${frames} ms when it came, ${more} ms for more of it, ${raw} ms for the raw one`);
  assert(frames < 500 && more < 200 && raw < 300, `${frames} ${more} ${raw}`);
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Save as a file" }).click();
  assert.equal((await download).suggestedFilename(), "result.json");
});

it.test("of very many parts, the first are shown", async (visitor, page) => {
  await visitor.openTool("many_parts");
  await page.getByRole("button", { name: "Run" }).click();
  await page.getByText("The first 200 of 500 parts.").waitFor();
  await until("200 of them", async () => (await page.getByLabel("Text of the result").count()) === 200);
});
