// Forms from JSON Schemas: every kind of field, and what is wrong told where it is.

import assert from "node:assert/strict";

import { scripted } from "./gateway.mjs";
import { house } from "./harness.mjs";

const BOOK = {
  type: "object",
  properties: {
    title: { type: "string", title: "Title", description: "As it is printed" },
    pages: { type: "integer" },
    price: { type: "number", default: 9.5 },
    lent: { type: "boolean" },
    shelf: { type: "string", enum: ["upper", "lower"] },
    binding: { oneOf: [{ const: "h", title: "Hard cover" }, { const: "s", title: "Soft cover" }] },
    many: { type: "string", enum: ["a", "b", "c", "d", "e", "f", "g", "h"] },
    languages: { type: "array", items: { type: "string", enum: ["de", "en", "fr"] } },
    tags: { type: "array", items: { type: "string" } },
    author: { $ref: "#/$defs/person" },
    publisher: {
      type: "object",
      properties: { name: { type: "string" }, city: { type: "string" } },
      required: ["name"],
    },
    printed: { type: "string", format: "date" },
    contact: { type: "string", format: "email" },
    note: { anyOf: [{ type: "string" }, { type: "null" }] },
    anything: {},
    table: { type: "array", items: { type: "array", items: { type: "number" } } },
  },
  required: ["title", "author"],
  $defs: {
    person: { type: "object", properties: { name: { type: "string" }, born: { type: "integer" } }, required: ["name"] },
  },
};

const it = house((home) => ({
  mcp: {
    servers: {
      books: scripted(home, "books", {
        tools: [
          { name: "add_book", description: "Adds a book", inputSchema: BOOK },
          { name: "plain", description: "Takes nothing", inputSchema: { type: "object" } },
          { name: "chained", description: "Has a schema that refers to itself", inputSchema: { type: "object", properties: { link: { $ref: "#/$defs/link" } }, $defs: { link: { type: "object", properties: { value: { type: "integer" }, next: { $ref: "#/$defs/link" } } } } } },
          { name: "lost", description: "Has a schema that refers to nothing", inputSchema: { type: "object", properties: { a: { $ref: "#/nowhere" } } } },
        ],
      }),
    },
  },
}));

const run = (page) => page.getByRole("button", { name: "Run" }).click();

/** What the server was called with: it gives its arguments back. */
async function received(page) {
  const text = page.locator(".result").getByLabel("Text of the result");
  await text.waitFor();
  return JSON.parse(await text.innerText());
}

it.test("every kind of field gives a value of its kind", async (visitor, page) => {
  await visitor.openTool("add_book");
  await page.getByLabel(/^Title/).fill("Walden");
  await page.getByLabel(/^pages/).fill("352");
  await page.getByLabel(/^lent/).selectOption("no");
  await page.getByLabel(/^shelf/).selectOption("lower");
  await page.getByLabel(/^binding/).selectOption("Hard cover");
  await page.getByLabel(/^many/).selectOption("g");
  const languages = page.getByRole("group", { name: "languages" });
  await languages.getByLabel("de").check();
  await languages.getByLabel("fr").check();
  const tags = page.getByRole("group", { name: "tags" });
  for (const tag of ["pond", "cabin", "beans"]) {
    await tags.getByRole("button", { name: "Add" }).click();
    await page.keyboard.type(tag);
  }
  await tags.getByRole("button", { name: "Remove tags 2" }).click();
  const author = page.getByRole("group", { name: "author" });
  await author.getByLabel(/^name/).fill("Thoreau");
  await author.getByLabel(/^born/).fill("1817");
  await page.getByLabel(/^printed/).fill("1854-08-09");
  await page.getByLabel(/^contact/).fill("henry@example.org");
  await page.getByLabel(/^note/).fill("first edition");
  await page.getByLabel(/^anything/).fill('{"any": ["thing", 1]}');
  await page.getByLabel(/^table/).fill("[[1, 2], [3]]");
  await run(page);
  assert.deepEqual(await received(page), {
    title: "Walden", pages: 352, price: 9.5, lent: false, shelf: "lower", binding: "h", many: "g",
    languages: ["de", "fr"], tags: ["pond", "beans"], author: { name: "Thoreau", born: 1817 }, printed: "1854-08-09",
    contact: "henry@example.org", note: "first edition", anything: { any: ["thing", 1] }, table: [[1, 2], [3]],
  });
});

it.test("what has to be there comes first, and is told where it is missing", async (visitor, page) => {
  await visitor.openTool("add_book");
  const first = page.locator(".try .field").first();
  assert.match(await first.innerText(), /Title[\s\S]*required[\s\S]*As it is printed/);
  await run(page);
  await first.getByText("this is needed").waitFor();
  await page.getByRole("group", { name: "author" }).getByText("this is needed").waitFor();
  assert.equal(await page.evaluate(() => document.activeElement?.closest(".field")?.textContent?.includes("Title")), true, "the first has the focus");
  const described = await page.getByLabel(/^Title/).getAttribute("aria-describedby");
  assert.equal(await page.locator(`#${described.split(" ").at(-1)}`).innerText(), "this is needed");
});

it.test("what was left out is left out, also of objects that may be", async (visitor, page) => {
  await visitor.openTool("add_book");
  await page.getByLabel(/^Title/).fill("Walden");
  await page.getByRole("group", { name: "author" }).getByLabel(/^name/).fill("Thoreau");
  await page.getByLabel(/^price/).fill("");
  await run(page);
  assert.deepEqual(await received(page), { title: "Walden", author: { name: "Thoreau" } });
});

it.test("wrong input is told at its field", async (visitor, page) => {
  await visitor.openTool("add_book");
  await page.getByLabel(/^Title/).fill("Walden");
  await page.getByRole("group", { name: "author" }).getByLabel(/^name/).fill("Thoreau");
  const wrong = [
    [/^pages/, "1.5", "this is not a whole number"],
    [/^pages/, "12345678901234567890", "this number is too large to be sent exactly"],
    [/^price/, "cheap", "this is not a number"],
    [/^anything/, "{broken", "this is not JSON"],
  ];
  for (const [label, entered, told] of wrong) {
    await page.getByLabel(label).fill(entered);
    await run(page);
    await page.locator(".problem").filter({ hasText: told }).waitFor();
    assert.equal(await page.getByLabel(label).getAttribute("aria-invalid"), "true");
    await page.getByLabel(label).fill("");
  }
  await run(page);
  await received(page);
  assert.equal(await page.locator(".problem:not(:empty)").count(), 0);
});

it.test("everything can be entered as JSON, and goes back to the fields", async (visitor, page) => {
  await visitor.openTool("add_book");
  await page.getByLabel(/^Title/).fill("Walden");
  await page.getByRole("button", { name: "Enter as JSON" }).click();
  const whole = page.getByLabel(/^Arguments/);
  assert.deepEqual(JSON.parse(await whole.inputValue()), { title: "Walden", price: 9.5 });
  await whole.fill("[1, 2]");
  await run(page);
  await page.locator(".problem").filter({ hasText: "arguments are an object" }).waitFor();
  await whole.fill('{"title": "Cape Cod", "author": {"name": "Thoreau"}, "tags": ["sea", "sand"], "lent": true}');
  await run(page);
  assert.deepEqual(await received(page), { title: "Cape Cod", author: { name: "Thoreau" }, tags: ["sea", "sand"], lent: true });
  await page.getByRole("button", { name: "Enter as fields" }).click();
  assert.equal(await page.getByLabel(/^Title/).inputValue(), "Cape Cod");
  assert.equal(await page.getByRole("group", { name: "author" }).getByLabel(/^name/).inputValue(), "Thoreau");
  assert.equal(await page.getByRole("group", { name: "tags" }).getByRole("button", { name: /^Remove/ }).count(), 2);
});

it.test("a tool that takes nothing says so and runs", async (visitor, page) => {
  await visitor.openTool("plain");
  await page.getByText("It takes no arguments.").waitFor();
  await run(page);
  assert.deepEqual(await received(page), {});
});

it.test("a schema that refers to itself has fields to some depth, and JSON beyond it", async (visitor, page) => {
  await visitor.openTool("chained");
  await page.getByLabel(/^value/).first().fill("1");
  await page.getByLabel(/^next/).last().fill('{"value": 4}');
  await run(page);
  const given = await received(page);
  assert.equal(given.link.value, 1);
  assert.match(JSON.stringify(given), /"next":\{"value":4\}/);
});

it.test("a tool that can't be offered is told with the reason", async (visitor, page) => {
  await visitor.go("Tools");
  await page.getByText(/the tool `books\/lost` is left out: its schema refers to something that is not there/).waitFor();
});
