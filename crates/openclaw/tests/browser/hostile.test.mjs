// A server that wants to be more than text: names, descriptions, results, errors and what it writes are full of markup,
// scripts, links, and characters that hide or turn around what stands beside them.

import assert from "node:assert/strict";
import { after } from "node:test";

import { scripted } from "./gateway.mjs";
import { house } from "./harness.mjs";
import { Model } from "./model.mjs";

const model = await Model.start();
after(() => model.close());

const MARKUP = '<script>window.hacked=1</script><img src=x onerror="window.hacked=2"><svg onload=window.hacked=3><a href="javascript:window.hacked=4">press</a><iframe src="https://evil.example/"></iframe><b id=made>bold</b></pre></textarea><style>*{display:none}</style>';
const LINKS = "[press](javascript:window.hacked=5) ![seen](https://evil.example/pixel.png) [x](data:text/html,<script>window.hacked=6</script>) <https://evil.example/auto>";
const HIDING = "before\u202Egnp.exe\u202C \u200Bzero\u200B \u2066iso\u2069 \u0000nul \u001B[31mred \u0007bell \u00AD \uFEFF \u{E0041}tag \u2028line";
const PILE = `z${"\u0335\u0353\u0317".repeat(60)}algo`;
const HUGE = "A".repeat(50_000);
const ALL = [MARKUP, LINKS, HIDING, PILE].join(" ");

const TOOLS = [
  {
    name: "hurt",
    title: ALL,
    description: `${ALL}\n${HUGE}`,
    inputSchema: {
      type: "object",
      title: ALL,
      properties: {
        [MARKUP]: { type: "string", title: ALL, description: ALL },
        choice: { type: "string", title: HIDING, enum: [MARKUP, "b"], enumNames: [MARKUP, "b"] },
        ["__proto__"]: { type: "string" },
        constructor: { type: "object", properties: { [MARKUP]: { type: "string", default: MARKUP } } },
      },
    },
    annotations: { title: MARKUP, readOnlyHint: true },
  },
  { name: "veiled", description: "Is left out", inputSchema: { type: "object", properties: { [HIDING]: { type: "string", enum: [ALL] } } } },
  { name: "x".repeat(128), description: HUGE, inputSchema: { type: "object" }, annotations: { readOnlyHint: true } },
  { name: "refuse", description: MARKUP, inputSchema: { type: "object" }, annotations: { readOnlyHint: true } },
];

const RESULT = {
  content: [
    { type: "text", text: `${ALL}\nsecond line` },
    { type: "image", mimeType: 'image/png" onerror="window.hacked=7', data: "aGVsbG8=" },
    { type: "image", mimeType: "image/svg+xml", data: Buffer.from("<svg xmlns='http://www.w3.org/2000/svg' onload='window.hacked=8'/>").toString("base64") },
    { type: "image", mimeType: "image/png", data: 'x" onerror="window.hacked=9' },
    { type: "image", mimeType: "image/png", data: Buffer.from("no picture at all").toString("base64") },
    { type: "audio", mimeType: "text/html", data: Buffer.from(MARKUP).toString("base64") },
    { type: "resource", resource: { uri: `javascript:window.hacked=10 ${ALL}`, mimeType: "text/html", text: MARKUP } },
    { type: "resource_link", uri: "javascript:window.hacked=11", name: ALL, title: ALL, description: ALL, mimeType: MARKUP },
    { type: ALL, anything: MARKUP },
  ],
};

const it = house((home) => ({
  ...model.configuration(),
  tools: { approval: "all" },
  mcp: {
    servers: {
      hostile: scripted(home, "hostile", {
        info: { name: ALL, title: ALL, version: HIDING },
        instructions: ALL,
        stderr: `${ALL}\n`,
        tools: TOOLS,
        results: { hurt: RESULT, refuse: { isError: true, content: [{ type: "text", text: ALL }] } },
      }),
      failing: scripted(home, "failing", { stderr: `${ALL}\n`, exit: true }),
      erring: scripted(home, "erring", { tools: [{ name: "err", inputSchema: { type: "object" }, annotations: { readOnlyHint: true } }], error: { code: -32000, message: ALL, data: { [MARKUP]: ALL } } }),
    },
  },
}));

// Characters that nobody sees, as the page must never show them in its texts.
const INVISIBLE = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u00AD\u200B\u200E\u200F\u202A-\u202E\u2028\u2029\u2060-\u206F\uFEFF]|[\u{E0000}-\u{E007F}]/u;

/** Nothing of it became more than text. */
async function assertIsText(page, where) {
  const found = await page.evaluate(() => {
    const texts = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      texts.push(walker.currentNode.data);
    }
    return {
      hacked: window.hacked ?? null,
      made: [...document.querySelectorAll("script:not([src='/page/start.js']), iframe, object, embed, style, #made, [onerror], [onload], [onclick]")].map((each) => each.outerHTML.slice(0, 200)),
      links: [...document.querySelectorAll("[href], [src], [action]")].map((each) => each.getAttribute("href") ?? each.getAttribute("src") ?? each.getAttribute("action")),
      attributes: [...document.querySelectorAll("[title], [aria-label], [placeholder], option, [alt]")].map((each) => [each.title, each.getAttribute("aria-label"), each.getAttribute("placeholder"), each.getAttribute("alt"), each.tagName === "OPTION" ? each.textContent : ""].join("|")),
      texts,
      isVisible: getComputedStyle(document.querySelector("main")).display !== "none",
      width: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    };
  });
  assert.equal(found.hacked, null, where);
  assert.deepEqual(found.made, [], where);
  assert(found.isVisible, where);
  for (const link of found.links) {
    assert.match(link, /^(#\/|#main|\/page\/|data:image\/png;base64,)/, `${where}: ${link}`);
  }
  for (const text of [...found.texts, ...found.attributes]) {
    const at = INVISIBLE.exec(text);
    assert.equal(at, null, `${where}: U+${at?.[0].codePointAt(0).toString(16)} in ${JSON.stringify(text.slice(0, 200))}`);
  }
  assert(found.width <= 0, `${where} is ${found.width} pixels too wide`);
}

const running = (page) => page.getByRole("button", { name: "Run" }).click();

it.test("in the list of servers and on their pages", async (visitor, page) => {
  await visitor.row("hostile").getByText("ready", { exact: true }).waitFor();
  await visitor.row("failing").locator(".error").waitFor();
  await assertIsText(page, "servers");
  await visitor.goToServer("hostile");
  const output = page.getByLabel("Standard error of hostile");
  await output.filter({ hasText: "<script>window.hacked=1</script>" }).waitFor();
  await output.locator(".mark").filter({ hasText: "U+202E" }).first().waitFor();
  await page.getByText("Says it is").waitFor();
  await assertIsText(page, "a server");
  await visitor.goToServer("failing");
  await page.locator(".error").waitFor();
  await assertIsText(page, "a server that failed");
});

it.test("in the list of tools, in a definition and in a form", async (visitor, page) => {
  await visitor.go("Tools");
  await visitor.tools.first().waitFor();
  await assertIsText(page, "tools");
  await visitor.openTool("hostile_hurt");
  await page.getByLabel("Description").filter({ hasText: "<script>window.hacked=1</script>" }).waitFor();
  await page.getByText("What it takes, as JSON Schema").click();
  await assertIsText(page, "a tool");
  await page.getByRole("button", { name: "Enter as JSON" }).click();
  await assertIsText(page, "arguments as JSON");
});

it.test("in a result, raw, framed and shown", async (visitor, page) => {
  await visitor.openTool("hostile_hurt");
  await running(page);
  await page.locator(".result").getByText(/^done in/).waitFor();
  await page.locator(".result .mark").filter({ hasText: "U+202E" }).first().waitFor();
  await page.locator(".result").getByText("this can't be drawn").waitFor();
  await assertIsText(page, "a result");
  await page.getByRole("tab", { name: "As the model reads it" }).click();
  await assertIsText(page, "a framed result");
  await page.getByRole("tab", { name: "Raw" }).click();
  await assertIsText(page, "a raw result");
});

it.test("in errors of tools and of the protocol", async (visitor, page) => {
  await visitor.openTool("hostile_refuse");
  await running(page);
  await page.locator(".result").getByText(/^failed in/).waitFor();
  await assertIsText(page, "an error of a tool");
  await visitor.openTool("erring_err");
  await running(page);
  await page.locator(".result .trouble, .result .state").first().waitFor();
  await assertIsText(page, "an error of the protocol");
  await visitor.go("Activity");
  await page.getByRole("row").filter({ hasText: "failing" }).first().waitFor();
  await assertIsText(page, "activity");
});

it.test("in a conversation, in questions and in what a model repeats", async (visitor, page) => {
  await visitor.go("Chat");
  model.next(
    (saying) => saying.call("hostile_hurt", { [MARKUP]: ALL, choice: "b" }),
    (saying) => saying.say(`${ALL}\n\n- ${MARKUP}\n\n> ${LINKS}\n\n# ${MARKUP}\n\n\`${MARKUP}\`\n\n**${HIDING}**`),
  );
  await page.getByLabel("Message", { exact: true }).fill(`please ${MARKUP}`);
  await page.keyboard.press("Enter");
  const reply = page.getByRole("log").getByRole("article", { name: "Agent" }).last();
  await reply.getByRole("button", { name: "Allow once" }).waitFor();
  await assertIsText(page, "a question");
  await reply.getByRole("button", { name: "Allow once" }).click();
  await reply.locator("blockquote").waitFor();
  await reply.locator("summary").first().click();
  // Links of a model lead where they say, and nowhere else.
  const links = await reply.getByRole("link").evaluateAll((all) => all.map((each) => [each.href, each.textContent, each.rel]));
  for (const [address, words, rel] of links) {
    assert.match(address, /^https:\/\/evil\.example\//);
    assert.equal(words, address);
    assert.equal(rel, "noopener noreferrer");
  }
  await reply.evaluate((each) => each.querySelectorAll("a").forEach((link) => link.removeAttribute("href")));
  await assertIsText(page, "a conversation");
  await page.reload();
  await page.getByRole("log").locator("blockquote").waitFor();
  await page.evaluate(() => document.querySelectorAll("[role=log] a").forEach((link) => link.removeAttribute("href")));
  await assertIsText(page, "a conversation that is read again");
});

it.test("texts that are made to be slow to read, or to hide where they lead, do neither", async (visitor, page) => {
  await visitor.go("Chat");
  const texts = [
    `# a${" ".repeat(30_000)}b`,
    `x${"`".repeat(30_000)}`,
    "`a``".repeat(5_000),
    `${">".repeat(9_000)} deep`,
    "**".repeat(8_000),
    "https://accounts.example%2fsignin@evil.example/x",
    `[bank](https://${"a.".repeat(40)}evil.example/${"b".repeat(300)})`,
  ];
  model.next((saying) => saying.say(`${texts.join("\n\n")}\n\nthe end of it`));
  await page.getByLabel("Message", { exact: true }).fill("go on");
  const began = Date.now();
  await page.keyboard.press("Enter");
  const reply = page.getByRole("log").getByRole("article", { name: "Agent" }).last();
  await reply.getByText("the end of it").waitFor();
  await page.reload();
  await reply.getByText("the end of it").waitFor();
  assert(Date.now() - began < 10_000, "it takes too long");
  const links = await reply.getByRole("link").evaluateAll((all) => all.map((each) => each.textContent));
  assert.equal(links.length, 1, "nothing that pretends to be another host is a link");
  assert.match(links[0], /evil\.example\/b+…$/);
});

it.test("on a phone nothing is wider than the screen", async (visitor, page) => {
  await visitor.row("hostile").getByText("ready", { exact: true }).waitFor();
  await assertIsText(page, "servers on a phone");
  await visitor.openTool("hostile_hurt");
  await running(page);
  await page.locator(".result").getByText(/^done in/).waitFor();
  await assertIsText(page, "a result on a phone");
}, { context: { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true } });

it.test("in the address of the page", async (visitor, page) => {
  await visitor.row("hostile").waitFor();
  for (const part of [`#/servers/${encodeURIComponent(ALL)}`, "#/servers/%E0%A4%A", `#/tools/${encodeURIComponent(MARKUP)}`, `#/chat/${encodeURIComponent(ALL.slice(0, 400))}`, "#/<script>", "#__proto__", "#/constructor"]) {
    await page.evaluate((address) => {
      location.hash = address;
    }, part);
    await page.getByRole("heading", { level: 1 }).waitFor();
    await assertIsText(page, part.slice(0, 40));
  }
});
