//! The tools and their definitions. They compute, and touch nothing.

use serde_json::{Map, Number, Value, json};

/// How many dice are rolled at once.
const MOST_DICE: u64 = 100;
/// How many sides a die has at most.
const MOST_SIDES: u64 = 1_000_000;

type Arguments = Map<String, Value>;

/// What the tools look like in a list.
pub(crate) fn definitions() -> Value {
    let text = |what: &str| json!({"text": {"type": "string", "description": what}});
    json!([
        tool(
            "add",
            "Adds two numbers and returns their sum",
            &json!({
                "a": {"type": "number", "description": "The first number"},
                "b": {"type": "number", "description": "The second number"},
            }),
            &["a", "b"],
        ),
        tool(
            "count_words",
            "Counts the words, lines and characters of a text",
            &text("The text whose words are counted"),
            &["text"],
        ),
        tool(
            "reverse_text",
            "Reverses a text, so that it reads backwards",
            &text("The text to reverse"),
            &["text"],
        ),
        tool(
            "roll_dice",
            "Rolls dice and returns what they show",
            &json!({
                "sides": {
                    "type": "integer", "minimum": 2, "maximum": MOST_SIDES, "default": 6,
                    "description": "How many sides each die has",
                },
                "count": {
                    "type": "integer", "minimum": 1, "maximum": MOST_DICE, "default": 1,
                    "description": "How many dice are rolled",
                },
            }),
            &[],
        ),
    ])
}

fn tool(name: &str, description: &str, properties: &Value, required: &[&str]) -> Value {
    json!({
        "name": name,
        "description": description,
        "inputSchema": {"type": "object", "properties": properties, "required": required},
        "annotations": {
            "readOnlyHint": true,
            "idempotentHint": name != "roll_dice",
            "openWorldHint": false,
        },
    })
}

/// What a tool says, or why it can't; nothing if there is no such tool.
pub(crate) fn call(
    name: &str,
    arguments: &Arguments,
    random: &mut impl FnMut() -> u64,
) -> Option<Result<String, String>> {
    Some(match name {
        "add" => add(arguments),
        "count_words" => text(arguments).map(count_words),
        "reverse_text" => text(arguments).map(|text| text.chars().rev().collect()),
        "roll_dice" => roll_dice(arguments, random),
        _ => return None,
    })
}

fn text(arguments: &Arguments) -> Result<&str, String> {
    let text = arguments.get("text").and_then(Value::as_str);
    text.ok_or_else(|| "the argument text is missing or is no text".to_owned())
}

fn number<'a>(arguments: &'a Arguments, name: &str) -> Result<&'a Number, String> {
    let number = arguments.get(name).and_then(Value::as_number);
    number.ok_or_else(|| format!("the argument {name} is missing or is no number"))
}

fn add(arguments: &Arguments) -> Result<String, String> {
    let (a, b) = (number(arguments, "a")?, number(arguments, "b")?);
    let exact = a
        .as_i64()
        .zip(b.as_i64())
        .and_then(|(a, b)| a.checked_add(b));
    if let Some(sum) = exact {
        return Ok(format!("{a} + {b} = {sum}"));
    }
    let sum = a.as_f64().zip(b.as_f64()).map(|(a, b)| a + b);
    match sum.filter(|sum| sum.is_finite()) {
        Some(sum) => Ok(format!("{a} + {b} = {sum}")),
        None => Err("the sum is too large".to_owned()),
    }
}

fn count_words(text: &str) -> String {
    let words = text.split_whitespace().count();
    let (lines, characters) = (text.lines().count(), text.chars().count());
    format!("words: {words}, lines: {lines}, characters: {characters}")
}

fn roll_dice(arguments: &Arguments, random: &mut impl FnMut() -> u64) -> Result<String, String> {
    let sides = within(arguments, "sides", 6, 2, MOST_SIDES)?;
    let count = within(arguments, "count", 1, 1, MOST_DICE)?;
    // The remainder favours the low sides by less than one in a hundred thousand million.
    let rolls: Vec<u64> = (0..count).map(|_| random() % sides + 1).collect();
    let shown: Vec<String> = rolls.iter().map(u64::to_string).collect();
    let total: u64 = rolls.iter().sum();
    Ok(match shown.as_slice() {
        [only] => format!("rolled a die of {sides} sides: {only}"),
        _ => format!(
            "rolled {count} dice of {sides} sides: {}; total {total}",
            shown.join(", ")
        ),
    })
}

fn within(
    arguments: &Arguments,
    name: &str,
    otherwise: u64,
    least: u64,
    most: u64,
) -> Result<u64, String> {
    let Some(value) = arguments.get(name) else {
        return Ok(otherwise);
    };
    let number = value
        .as_u64()
        .filter(|number| (least..=most).contains(number));
    number.ok_or_else(|| format!("the argument {name} must be an integer from {least} to {most}"))
}
