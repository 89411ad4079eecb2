// Forms from JSON Schemas. What has no field of its own is entered as JSON, so that everything can be entered.

import { button, element, fill } from "./element.js";
import {
  blame, choiceField, jsonField, listField, numberField, readAll, severalField, textField, yesNoField,
} from "./fields.js";
import { foreign } from "../foreign.js";

/** How deep objects have fields of their own. */
const DEPTH = 3;
/** How many fields a form has: a server may ask for any number. */
const FIELDS = 100;

/** @typedef {Record<string, any>} Schema */

/** @param {unknown} it @returns {it is Schema} */
function isObject(it) {
  return typeof it === "object" && it !== null && !Array.isArray(it);
}

/**
 * The schema that is meant: what may also be `null` is what it is otherwise. The gateway has put everything into its place
 * that a schema refers to.
 * @param {unknown} schema
 * @returns {Schema}
 */
function meant(schema) {
  const found = isObject(schema) ? schema : {};
  for (const word of ["anyOf", "oneOf"]) {
    const ways = Array.isArray(found[word]) ? found[word].filter((/** @type {any} */ it) => it?.type !== "null") : [];
    if (ways.length === 1) {
      const { [word]: _, ...rest } = found;
      return meant({ ...ways[0], ...rest });
    }
  }
  if (Array.isArray(found.type)) {
    const types = found.type.filter((/** @type {any} */ it) => it !== "null");
    return types.length === 1 ? { ...found, type: types[0] } : { ...found, type: undefined };
  }
  return found;
}

/**
 * The values that a schema lists, if it lists them.
 * @param {Schema} schema
 * @returns {{ value: unknown, title: string }[] | null}
 */
function choices(schema) {
  if (Array.isArray(schema.enum)) {
    const names = Array.isArray(schema.enumNames) ? schema.enumNames : [];
    return schema.enum.map((value, index) => ({ value, title: String(names[index] ?? word(value)) }));
  }
  const ways = schema.oneOf ?? schema.anyOf;
  const isList = Array.isArray(ways) && ways.length > 0 && ways.every((it) => isObject(it) && "const" in it);
  return isList ? ways.map((it) => ({ value: it.const, title: String(it.title ?? word(it.const)) })) : null;
}

/** @param {unknown} value */
function word(value) {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/**
 * The field for a schema.
 * @param {import("./fields.js").About} about
 * @param {unknown} given
 * @param {number} depth
 * @param {{ left: number }} budget
 * @param {unknown} [value]
 * @returns {import("./fields.js").Field}
 */
function field(about, given, depth, budget, value) {
  const schema = meant(given);
  const known = { title: text(schema.title), description: text(schema.description), ...about };
  const options = { value: value ?? schema.default, format: schema.format };
  const listed = choices(schema);
  if (listed) {
    return choiceField(known, listed, options);
  }
  switch (schema.type) {
    case "string":
      return textField(known, options);
    case "integer":
      return numberField(known, { ...options, whole: true });
    case "number":
      return numberField(known, options);
    case "boolean":
      return yesNoField(known, options);
    case "array": {
      const items = meant(schema.items);
      const several = choices(items);
      if (several) {
        return severalField(known, several, options);
      }
      const isSimple = ["string", "integer", "number", "boolean"].includes(items.type);
      return isSimple
        ? listField(known, (one, it) => field(one, items, depth + 1, budget, it), options)
        : jsonField(known, options);
    }
    case "object": {
      const isKnown = isObject(schema.properties) && Object.keys(schema.properties).length > 0;
      return isKnown && depth < DEPTH ? group(known, schema, depth, budget, options.value) : jsonField(known, options);
    }
    default:
      return jsonField(known, options);
  }
}

/** @param {unknown} it */
function text(it) {
  return typeof it === "string" ? it : null;
}

/**
 * The fields of an object.
 * @param {Schema} schema
 * @param {number} depth
 * @param {{ left: number }} budget
 * @param {unknown} value
 * @returns {Map<string, import("./fields.js").Field>}
 */
function fieldsOf(schema, depth, budget, value) {
  /** @type {Map<string, import("./fields.js").Field>} */
  const fields = new Map();
  const required = Array.isArray(schema.required) ? schema.required : [];
  const properties = Object.entries(isObject(schema.properties) ? schema.properties : {});
  // What has to be there comes first.
  const ordered = [
    ...properties.filter(([name]) => required.includes(name)),
    ...properties.filter(([name]) => !required.includes(name)),
  ];
  for (const [name, property] of ordered) {
    budget.left -= 1;
    if (budget.left < 0) {
      break;
    }
    const about = { name, required: required.includes(name) };
    const preset = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
    fields.set(name, field(about, property, depth + 1, budget, preset));
  }
  return fields;
}

/**
 * @param {import("./fields.js").About} about
 * @param {Schema} schema
 * @param {number} depth
 * @param {{ left: number }} budget
 * @param {unknown} value
 * @returns {import("./fields.js").Field}
 */
function group(about, schema, depth, budget, value) {
  const fields = fieldsOf(schema, depth, budget, value);
  const legend = element("legend", {}, foreign(about.title || about.name, { most: 80 }));
  const description = about.description ? element("p", { class: "description" }, foreign(about.description, { most: 600 })) : null;
  return {
    element: element("fieldset", {}, legend, description, [...fields.values()].map((it) => it.element)),
    read: () => {
      /** @type {[string, unknown][]} */
      const entries = [];
      for (const [name, it] of fields) {
        const read = about.required ? it.read() : readIfAny(it);
        if (read !== undefined) {
          entries.push([name, read]);
        }
      }
      return entries.length === 0 && !about.required ? undefined : Object.fromEntries(entries);
    },
  };
}

/**
 * Of an object that may be left out, fields are needed only once one of them is filled in; the gateway says which.
 * @param {import("./fields.js").Field} field
 */
function readIfAny(field) {
  const filled = [...field.element.querySelectorAll("input, textarea, select")].some((it) => {
    const control = /** @type {HTMLInputElement} */ (it);
    return control.type === "checkbox" ? control.checked : control.value !== "";
  });
  return filled ? field.read() : undefined;
}

/**
 * A form for what a schema describes: fields, or the same as JSON.
 * @param {unknown} given
 * @returns {{ element: HTMLElement, read: () => Record<string, unknown> | null }}
 */
export function schemaForm(given) {
  const root = isObject(given) ? given : {};
  const schema = meant(root);
  const place = element("div", { class: "fields" });
  const budget = { left: FIELDS };
  let fields = fieldsOf(schema, 0, budget, undefined);
  /** @type {ReturnType<typeof jsonField> | null} */
  let whole = null;
  const change = button("Enter as JSON", () => (whole ? toFields() : toJson()), { class: "small quiet" });

  function toFields() {
    const entered = whole && readAll(new Map([["", whole]]));
    if (whole && !entered) {
      return;
    }
    fields = fieldsOf(schema, 0, { left: FIELDS }, entered?.[""]);
    whole = null;
    change.textContent = "Enter as JSON";
    draw();
  }

  function toJson() {
    whole = jsonField({ name: "arguments", title: "Arguments" }, { value: lenient() });
    whole.control.rows = 10;
    change.textContent = "Enter as fields";
    draw();
  }

  /** What was entered so far, as far as it can be read. */
  function lenient() {
    /** @type {[string, unknown][]} */
    const entries = [];
    for (const [name, it] of fields) {
      try {
        entries.push([name, it.read()]);
      } catch {
        // It is entered anew as JSON.
      }
    }
    return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
  }

  function draw() {
    if (whole) {
      fill(place, whole.element);
    } else if (fields.size === 0) {
      fill(place, element("p", { class: "quiet" }, "It takes no arguments."));
    } else {
      fill(
        place,
        [...fields.values()].map((it) => it.element),
        budget.left < 0 ? element("p", { class: "quiet" }, `The first ${FIELDS} fields; JSON takes all.`) : null,
      );
    }
  }
  draw();
  return {
    element: element("div", { class: "entering" }, place, change),
    read: () => {
      if (!whole) {
        return readAll(fields);
      }
      const read = readAll(new Map([["", whole]]));
      if (read === null) {
        return null;
      }
      const entered = read[""] ?? {};
      if (isObject(entered)) {
        return entered;
      }
      blame(whole.control, "arguments are an object: {…}");
      whole.control.focus();
      return null;
    },
  };
}
