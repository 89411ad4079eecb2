// Tools: found, read and tried, against a real server.

import assert from "node:assert/strict";

import { everything, fake, scripted } from "./gateway.mjs";
import { house } from "./harness.mjs";
import { until } from "./waiting.mjs";

const it = house((home) => ({
  mcp: {
    servers: {
      everything: everything(),
      fake: fake(),
      hints: scripted(home, "hints", {
        tools: [
          {
            name: "tidy",
            title: "Tidy up",
            description: "Tidies up.\nDeletes what is old.",
            inputSchema: { type: "object" },
            annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
          },
        ],
        results: {
          tidy: {
            isError: true,
            content: [{ type: "text", text: "the broom is broken" }],
          },
        },
      }),
    },
  },
}));

const result = (page) => page.locator(".result");

it.test("tools are found while one types, by name and by description", async (visitor, page) => {
  await visitor.go("Tools");
  const summary = page.getByRole("main").getByRole("status").first();
  await summary.filter({ hasText: /^\d+ tools$/ }).waitFor();
  const search = page.getByRole("searchbox", { name: "Search tools" });
  await search.pressSequentially("sum");
  await visitor.tools.filter({ hasText: "get-sum" }).waitFor();
  await summary.filter({ hasText: /^\d+ of \d+ tools$/ }).waitFor();
  await search.fill("tidies deletes");
  assert.equal(await visitor.tools.count(), 1);
  await search.fill("there is no such thing");
  await summary.filter({ hasText: /^0 of \d+ tools$/ }).waitFor();
  await search.fill("");
  await page.getByLabel("Server", { exact: true }).selectOption("hints");
  await summary.filter({ hasText: /^1 of \d+ tools$/ }).waitFor();
});

it.test("a tool is shown as the model sees it", async (visitor, page) => {
  await visitor.openTool("tidy");
  const detail = page.getByRole("region", { name: "The tool" });
  await detail.getByRole("heading", { name: "Tidy up" }).waitFor();
  const text = await detail.innerText();
  for (const words of ["Tidies up.\nDeletes what is old.", "may destroy something", "the same if repeated", "stays within its own data"]) {
    assert(text.includes(words), `${words} in ${text}`);
  }
  await detail.getByText("What it takes, as JSON Schema").click();
  await detail.getByLabel("JSON Schema").filter({ hasText: '"type": "object"' }).waitFor();
  await page.reload();
  await detail.getByRole("heading", { name: "Tidy up" }).waitFor();
});

it.test("a real tool is tried, and its result is shown raw and as the model reads it", async (visitor, page) => {
  await visitor.openTool("everything_echo");
  await page.getByRole("textbox", { name: /^message/i }).fill("well met");
  await page.getByRole("button", { name: "Run" }).click();
  await result(page).getByText(/^done in/).waitFor();
  await result(page).getByLabel("Text of the result").filter({ hasText: "Echo: well met" }).waitFor();
  await page.getByRole("tab", { name: "As the model reads it" }).click();
  const framed = await result(page).getByLabel("As the model reads it").last().innerText();
  assert.match(framed, /Echo: well met/);
  assert(framed.length > "Echo: well met".length + 20, "it stands in a frame");
  await page.getByRole("tab", { name: "Raw" }).click();
  const raw = JSON.parse(await result(page).getByLabel("Raw result").innerText());
  assert.deepEqual(raw.content, [{ type: "text", text: "Echo: well met" }]);
});

it.test("numbers are numbers", async (visitor, page) => {
  await visitor.openTool("get-sum");
  await page.getByRole("textbox", { name: /^a\b/ }).fill("two");
  await page.getByRole("textbox", { name: /^b\b/ }).fill("40.5");
  await page.getByRole("button", { name: "Run" }).click();
  await page.getByText("this is not a number").waitFor();
  assert.equal(await page.getByRole("textbox", { name: /^a\b/ }).getAttribute("aria-invalid"), "true");
  await page.getByRole("textbox", { name: /^a\b/ }).fill("1.5");
  await page.getByRole("button", { name: "Run" }).click();
  await result(page).getByText("The sum of 1.5 and 40.5 is 42.").waitFor();
});

it.test("a picture is shown as a picture", async (visitor, page) => {
  await visitor.openTool("get-tiny-image");
  await page.getByRole("button", { name: "Run" }).click();
  const picture = result(page).getByRole("img", { name: /^Picture: image\/png/ });
  await picture.waitFor();
  assert(await picture.evaluate(async (each) => {
    await each.decode();
    return each.naturalWidth > 0;
  }));
});

it.test("structured results, links to resources and embedded ones are shown", async (visitor, page) => {
  await visitor.openTool("get-resource-links");
  await page.getByRole("button", { name: "Run" }).click();
  await result(page).getByText(/^done in/).waitFor();
  await result(page).getByText("Resource", { exact: true }).first().waitFor();
  assert.equal(await result(page).locator("a[href]").count(), 0, "what a server names is no link");
  await visitor.openTool("get-structured-content");
  await page.getByLabel(/^location/).selectOption({ index: 1 });
  await page.getByRole("button", { name: "Run" }).click();
  await result(page).getByText(/^done in/).waitFor();
  await page.getByRole("tab", { name: "Raw" }).click();
  const raw = JSON.parse(await result(page).getByLabel("Raw result").innerText());
  assert.equal(typeof raw.structuredContent.temperature, "number");
});

it.test("a tool that fails says so", async (visitor, page) => {
  await visitor.openTool("tidy");
  await page.getByRole("button", { name: "Run" }).click();
  await result(page).getByText(/^failed in/).waitFor();
  await result(page).getByText("the broom is broken").waitFor();
  await visitor.openTool("protocol_error");
  await page.getByRole("button", { name: "Run" }).click();
  await result(page).locator(".trouble, .state.bad").first().waitFor();
  assert.match(await result(page).innerText(), /an error of the protocol/);
});

it.test("a call that takes long is stopped", async (visitor, page) => {
  await visitor.openTool("trigger-long-running-operation");
  await page.getByLabel(/^duration/).fill("60");
  await page.getByRole("button", { name: "Run" }).click();
  await result(page).getByText("Running…").waitFor();
  await page.getByRole("button", { name: "Stop" }).click();
  await result(page).getByText("It was stopped.").waitFor();
  await page.getByRole("button", { name: "Run" }).waitFor();
  assert.equal(await page.getByRole("button", { name: "Run" }).getAttribute("aria-disabled"), null);
  await visitor.go("Activity");
  await page.getByRole("row").filter({ hasText: "trigger-long-running-operation" }).filter({ hasText: "cancelled" }).waitFor();
});

it.test("what was entered stays while the list of tools changes elsewhere", async (visitor, page) => {
  await visitor.openTool("everything_echo");
  await page.getByRole("textbox", { name: /^message/i }).fill("half a word");
  it.gateway.rescript("hints", { tools: [] });
  await page.getByRole("searchbox", { name: "Search tools" }).fill("");
  await page.getByLabel("Server", { exact: true }).selectOption("");
  const before = await page.getByRole("main").getByRole("status").first().innerText();
  await it.gateway.post("/api/mcp/refresh");
  await until("the list to change", async () => (await page.getByRole("main").getByRole("status").first().innerText()) !== before);
  assert.equal(await page.getByRole("textbox", { name: /^message/i }).inputValue(), "half a word");
});
