// Conversations with an agent: words as they come, calls of tools, files, sessions.

import assert from "node:assert/strict";
import { after } from "node:test";

import { everything, fake } from "./gateway.mjs";
import { house } from "./harness.mjs";
import { Model } from "./model.mjs";
import { until } from "./waiting.mjs";

const model = await Model.start();
after(() => model.close());

const it = house(() => ({
  ...model.configuration(),
  tools: { approval: "off" },
  mcp: { servers: { everything: everything(), fake: fake() } },
}));

const field = (page) => page.getByLabel("Message", { exact: true });
const log = (page) => page.getByRole("log", { name: "Conversation" });
const reply = (page) => log(page).getByRole("article", { name: "Agent" }).last();

/** A new conversation. */
async function begin(visitor) {
  await visitor.go("Chat");
  await visitor.page.getByRole("button", { name: "New conversation" }).click();
  await visitor.page.getByText("a new conversation").waitFor();
}

async function say(page, text) {
  await field(page).fill(text);
  await page.keyboard.press("Enter");
}

/** A promise that the test keeps. */
function gate() {
  let open;
  const opened = new Promise((done) => {
    open = done;
  });
  return { open, opened };
}

it.test("words are shown as they come, and as prose when they are all there", async (visitor, page) => {
  await begin(visitor);
  const more = gate();
  model.next(async (saying) => {
    saying.say("## A plan\n\nThe first **wor");
    await more.opened;
    saying.say("ds** of `it`:\n\n1. one\n2. two\n\n> said somebody\n\n```\nlet x = 1;\n```\n\nSee [the page](https://example.org/a) or https://example.org/b.");
  });
  await say(page, "make a plan");
  await log(page).getByRole("article", { name: "You" }).getByText("make a plan").waitFor();
  await reply(page).getByText("The first **wor").waitFor();
  assert(await page.getByRole("button", { name: "Stop" }).isVisible());
  more.open();
  await reply(page).getByRole("heading", { name: "A plan" }).waitFor();
  await reply(page).locator("strong", { hasText: "words" }).waitFor();
  assert.deepEqual(await reply(page).locator("ol li").allInnerTexts(), ["one", "two"]);
  await reply(page).getByLabel("Code").filter({ hasText: "let x = 1;" }).waitFor();
  const links = reply(page).getByRole("link");
  assert.deepEqual(await links.evaluateAll((all) => all.map((each) => [each.href, each.rel, each.target])), [
    ["https://example.org/a", "noopener noreferrer", "_blank"],
    ["https://example.org/b", "noopener noreferrer", "_blank"],
  ]);
  await links.first().filter({ hasText: "https://example.org/a" }).waitFor();
  await page.getByRole("button", { name: "Send" }).waitFor();
});

it.test("calls of tools are shown with what went in and what came back", async (visitor, page) => {
  await begin(visitor);
  model.next((saying) => saying.call("everything_echo", { message: "over there" }), (saying) => saying.say("It echoed."));
  await say(page, "echo something");
  const card = reply(page).getByRole("group").filter({ hasText: /echo/i }).first();
  await card.getByText(/^done in/).waitFor();
  await reply(page).getByText("It echoed.").waitFor();
  await card.locator("summary").click();
  await card.getByLabel("Arguments").filter({ hasText: '"message": "over there"' }).waitFor();
  await card.getByLabel("What the model reads").filter({ hasText: "Echo: over there" }).waitFor();
  assert.equal(model.asked.at(-1).messages.at(-1).role, "tool");
});

it.test("a turn is stopped", async (visitor, page, context) => {
  await begin(visitor);
  const never = gate();
  context.after(() => never.open());
  model.next(async (saying) => {
    saying.say("I could go on for ");
    await never.opened;
  });
  await say(page, "tell me everything");
  await reply(page).getByText("I could go on for").waitFor();
  await page.getByRole("button", { name: "Stop" }).click();
  await reply(page).getByText("Stopped.").waitFor();
  await page.getByRole("button", { name: "Send" }).waitFor();
  // The conversation goes on.
  model.next((saying) => saying.say("Here I am."));
  await say(page, "are you there?");
  await reply(page).getByText("Here I am.").waitFor();
});

it.test("a turn goes on while one looks at another view", async (visitor, page) => {
  await begin(visitor);
  const more = gate();
  model.next(async (saying) => {
    saying.say("This takes ");
    await more.opened;
    saying.say("a while.");
  });
  await say(page, "take your time");
  await reply(page).getByText("This takes").waitFor();
  await visitor.go("Servers");
  await page.goBack();
  await reply(page).getByText("This takes").waitFor();
  assert(await page.getByRole("button", { name: "Stop" }).isVisible(), "it can still be stopped");
  await visitor.go("Tools");
  more.open();
  await page.goBack();
  await reply(page).getByText("This takes a while.").waitFor();
  await page.getByRole("button", { name: "Send" }).waitFor();
  assert.equal(await log(page).getByText("take your time").count(), 1);
});

it.test("pictures go in, and come out", async (visitor, page) => {
  await begin(visitor);
  const picture = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64");
  const chooser = page.waitForEvent("filechooser");
  await page.getByRole("button", { name: "Attach" }).click();
  await (await chooser).setFiles({ name: "dot.png", mimeType: "image/png", buffer: picture });
  await page.getByRole("list", { name: "Files" }).getByText("dot.png").waitFor();
  model.next((saying) => saying.call("get-tiny-image", {}), (saying) => saying.say("There it is."));
  await say(page, "what is this?");
  await log(page).getByRole("article", { name: "You" }).getByRole("img", { name: /dot\.png image\/png/ }).waitFor();
  await reply(page).getByText("There it is.").waitFor();
  await reply(page).getByRole("img", { name: /^Picture: .*image\/png/ }).waitFor();
  const asked = JSON.stringify(model.asked.at(-2).messages);
  assert(asked.includes(`data:image/png;base64,${picture.toString("base64").slice(0, 40)}`), "the model has seen it");
});

it.test("a file can be taken away again, and one that is too large is not taken", async (visitor, page) => {
  await begin(visitor);
  const attach = async (file) => {
    const chooser = page.waitForEvent("filechooser");
    await page.getByRole("button", { name: "Attach" }).click();
    await (await chooser).setFiles(file);
  };
  await attach({ name: "a.txt", mimeType: "text/plain", buffer: Buffer.from("a") });
  await page.getByRole("button", { name: "Remove a.txt" }).click();
  assert.equal(await page.getByRole("list", { name: "Files" }).getByRole("listitem").count(), 0);
  await page.locator("form.composer").evaluate((form) => {
    const carried = new DataTransfer();
    carried.items.add(new File([new Uint8Array(12_000_000)], "huge.bin"));
    form.dispatchEvent(new DragEvent("drop", { dataTransfer: carried, bubbles: true, cancelable: true }));
  });
  await visitor.notices.getByText("huge.bin is too large").waitFor();
  await visitor.notices.getByRole("button", { name: "Put away" }).click();
});

it.test("conversations are listed, opened again and deleted", async (visitor, page) => {
  await begin(visitor);
  assert(!(await page.getByRole("button", { name: "Delete", exact: true }).isVisible()), "there is nothing to delete yet");
  model.next((saying) => saying.say("Noted: the key is under the mat."));
  await say(page, "remember where the key is");
  await reply(page).getByText("Noted").waitFor();
  const entry = page.locator(".sessions a[aria-current=true]");
  await entry.getByText("2 messages").waitFor();
  const address = page.url();
  await page.reload();
  await reply(page).getByText("Noted: the key is under the mat.").waitFor();
  await log(page).getByRole("article", { name: "You" }).getByText("remember where the key is").waitFor();
  await begin(visitor);
  assert.equal(await log(page).getByRole("article").count(), 0);
  await page.goto(address);
  await reply(page).getByText("Noted").waitFor();
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await page.getByRole("dialog", { name: "Delete the conversation?" }).getByRole("button", { name: "Delete it" }).click();
  await visitor.notices.getByText("the conversation is deleted").waitFor();
  const key = decodeURIComponent(address.split("#/chat/")[1]);
  await until("it to be off the list", async () => (await page.locator(".sessions a", { hasText: key }).count()) === 0);
});

it.test("the next message goes on with what was said", async (visitor, page) => {
  await begin(visitor);
  await say(page, "first");
  await reply(page).getByText("fine").waitFor();
  await page.getByRole("button", { name: "Send" }).waitFor();
  await say(page, "second");
  await until("both to be asked", () => {
    const said = JSON.stringify(model.asked.at(-1)?.messages ?? []);
    return said.includes("first") && said.includes("second");
  });
});

it.test("commands are suggested while one types, and answered without a model", async (visitor, page) => {
  await begin(visitor);
  const asked = model.asked.length;
  await field(page).pressSequentially("/mc");
  const suggestions = page.getByRole("group", { name: "Commands" });
  await suggestions.getByRole("button", { name: "mcp", exact: true }).click();
  assert.match(await field(page).inputValue(), /^\/mcp/);
  await field(page).pressSequentially("serv");
  await suggestions.getByRole("button", { name: "servers" }).click();
  await page.keyboard.press("Enter");
  await reply(page).getByLabel("Answer").filter({ hasText: "everything" }).waitFor();
  assert.equal(model.asked.length, asked);
});

it.test("a model that can't be reached is told in the conversation, and what was typed next stays", async (visitor, page) => {
  await begin(visitor);
  model.next((saying) => saying.fail(400, { error: { message: "the model is on holiday" } }));
  await say(page, "hello?");
  await reply(page).getByRole("alert").filter({ hasText: "the model is on holiday" }).waitFor();
  await page.getByRole("button", { name: "Send" }).waitFor();
});

for (const [where, viewport] of [["on a desk", { width: 1200, height: 700 }], ["on a phone", { width: 390, height: 780 }]]) {
  it.test(`the field stays on the screen however much is said, ${where}`, async (visitor, page) => {
    await begin(visitor);
    model.next((saying) => saying.say("A line that is said.\n\n".repeat(100)));
    await say(page, "say a lot");
    await page.getByRole("button", { name: "Send" }).waitFor();
    const box = await field(page).boundingBox();
    assert(box.y > 0 && box.y + box.height < viewport.height, JSON.stringify(box));
    const isAtEnd = await log(page).evaluate((each) => each.scrollTop + each.clientHeight >= each.scrollHeight - 50);
    assert(isAtEnd, "what was said last is seen");
  }, { context: { viewport } });
}
