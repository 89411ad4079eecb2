//! The form of a server, filled in line by line.

use openclaw_content::shown_line;
use openclaw_engine::{Asks, FieldKind, FieldOption, FormField, ServerAnswer, ServerQuestion};
use serde_json::{Map, Value};

use crate::commands::spelling::nearest;
use crate::commands::turn::answers::yes_or_no;
use crate::commands::turn::audience::Asked;
use crate::commands::turn::visit::quoted;
use crate::failure::Failure;
use crate::output::Output;
use crate::render::name;

/// How often one field is asked for.
const TRIES: u32 = 10;
/// How much of a label is shown, and of a value.
const LABEL: usize = 60;
const SHOWN: usize = 300;
/// How many options are shown; the others can be named.
const OPTIONS: usize = 100;

/// The form of a server.
pub(super) struct Form {
    asked: Asked<ServerQuestion, ServerAnswer>,
    fields: Vec<FormField>,
    /// The field that is asked for; behind the last one, whether it is sent.
    at: usize,
    entered: Map<String, Value>,
    tries: u32,
}

impl Form {
    /// Begins to ask.
    pub(super) fn put(
        asked: Asked<ServerQuestion, ServerAnswer>,
        output: &mut Output,
    ) -> Result<Self, Failure> {
        let fields = match &asked.question.asks {
            Asks::Form { fields } => fields.clone(),
            Asks::Visit { .. } => Vec::new(),
        };
        output.explain(&introduction(&asked.question))?;
        let form = Self {
            asked,
            fields,
            at: 0,
            entered: Map::new(),
            tries: 0,
        };
        output.explain(&form.explanation())?;
        Ok(form)
    }

    /// What the line that is typed stands behind.
    pub(super) fn prompt(&self) -> String {
        match self.fields.get(self.at) {
            // The server's words stand behind ours, so that they can't pass for another question.
            Some(field) => format!("│ {}, {}: ", self.place(), label(field)),
            None => format!(
                "Send this to the server {}? [y]es, [n]o: ",
                name(&self.asked.question.server)
            ),
        }
    }

    /// Waits until nobody wants to know any more.
    pub(super) async fn withdrawn(&mut self) {
        self.asked.answer.closed().await;
    }

    /// Takes a line, none if no more will come; gives the form back if it is not done.
    pub(super) fn settle(
        mut self,
        line: Option<&str>,
        output: &mut Output,
    ) -> Result<Option<Self>, Failure> {
        let Some(line) = line else {
            output.explain("\nnot answered\n")?;
            return self.answer(ServerAnswer::Cancel);
        };
        match line.trim().to_lowercase().as_str() {
            "/decline" => return self.answer(ServerAnswer::Decline),
            "/cancel" => return self.answer(ServerAnswer::Cancel),
            _ => {}
        }
        self.tries += 1;
        let reason = match (self.fields.get(self.at), misspelt(line)) {
            (_, Some(meant)) => {
                format!("  did you mean `/{meant}`? A space before the slash enters it as it is\n")
            }
            (None, None) => match yes_or_no(line) {
                Some(true) => {
                    let entered = std::mem::take(&mut self.entered);
                    return self.answer(ServerAnswer::Accept(entered));
                }
                Some(false) => return self.answer(ServerAnswer::Decline),
                None => String::new(),
            },
            (Some(field), None) => match field.read(line) {
                Ok(value) => {
                    if let Some(value) = value {
                        self.entered.insert(field.name.clone(), value);
                    }
                    self.at += 1;
                    self.tries = 0;
                    self.explanation()
                }
                Err(refusal) => format!("  {refusal}\n"),
            },
        };
        output.explain(&reason)?;
        if self.tries < TRIES {
            return Ok(Some(self));
        }
        output.explain("not answered\n")?;
        self.answer(ServerAnswer::Cancel)
    }

    #[expect(
        clippy::unnecessary_wraps,
        reason = "what every way out of a form gives"
    )]
    fn answer(self, answer: ServerAnswer) -> Result<Option<Self>, Failure> {
        // It may have been withdrawn meanwhile.
        let _ = self.asked.answer.send(answer);
        Ok(None)
    }

    /// What is said before a field is asked for, or before everything is sent.
    fn explanation(&self) -> String {
        match self.fields.get(self.at) {
            Some(field) => format!("\n{} {}", self.place(), field_words(field)),
            None => self.summary(),
        }
    }

    /// Which field is asked for.
    fn place(&self) -> String {
        format!("field {} of {}", self.at + 1, self.fields.len())
    }

    fn summary(&self) -> String {
        let server = name(&self.asked.question.server);
        let mut text = format!("\nThe server {server} would get:\n");
        for field in &self.fields {
            if let Some(value) = self.entered.get(&field.name) {
                let value = shown_value(field, value);
                text.push_str(&format!("  │ {}: {value}\n", label(field)));
            }
        }
        if self.entered.is_empty() {
            text.push_str("  nothing but your consent\n");
        }
        text
    }
}

/// Who asks, and what can be done about it.
fn introduction(question: &ServerQuestion) -> String {
    let wrote = quoted(&question.message);
    let wrote = match wrote.as_str() {
        "" => "\n".to_owned(),
        wrote => format!(" It wrote this:\n{wrote}"),
    };
    format!(
        "The server {} asks you something, for its tool {}.{wrote}\
         Your answers go to the server, so enter no passwords or keys. An empty line takes what is \
         given, or leaves out what may be left out; `/decline` says no, `/cancel` puts the question \
         away.\n",
        name(&question.server),
        name(&question.tool),
    )
}

/// The command that a line is nearly. What begins with a space is none.
fn misspelt(line: &str) -> Option<&'static str> {
    let word = line.strip_prefix('/')?.trim_end().to_lowercase();
    if word.is_empty() || word.contains(char::is_whitespace) {
        return None;
    }
    nearest(&word, ["cancel", "decline"])
}

fn label(field: &FormField) -> String {
    let title = field.title.as_deref().map(|it| shown_line(it, LABEL));
    let title = title.filter(|title| !title.is_empty());
    title.unwrap_or_else(|| shown_line(&name(&field.name), LABEL))
}

fn field_words(field: &FormField) -> String {
    let needed = if field.required {
        "needed"
    } else {
        "may be left out"
    };
    let mut text = format!("({}, {needed})\n  │ {}\n", takes(&field.kind), label(field));
    if let Some(description) = &field.description {
        text.push_str(&quoted(description));
    }
    if let FieldKind::One { options } | FieldKind::Some { options, .. } = &field.kind {
        for (number, option) in options.iter().take(OPTIONS).enumerate() {
            let title = shown_line(&option.title, SHOWN);
            text.push_str(&format!("  │ {}. {title}\n", number + 1));
        }
        if options.len() > OPTIONS {
            text.push_str(&format!("  │ … {} in all\n", options.len()));
        }
    }
    if let Some(default) = field.usable_default() {
        let default = shown_value(field, default);
        text.push_str(&format!("  unless you enter something else: {default}\n"));
    }
    text
}

/// What a field takes, in words.
fn takes(kind: &FieldKind) -> String {
    match kind {
        FieldKind::Text {
            format: Some(format),
            ..
        } => format!("text: {}", shown_line(format, LABEL)),
        FieldKind::Text { .. } => "text".to_owned(),
        FieldKind::Number { whole, least, most } => {
            let noun = if *whole { "whole number" } else { "number" };
            match (least, most) {
                (Some(least), Some(most)) => format!("{noun} from {least} to {most}"),
                (Some(least), None) => format!("{noun}, {least} at least"),
                (None, Some(most)) => format!("{noun}, {most} at most"),
                (None, None) => noun.to_owned(),
            }
        }
        FieldKind::YesOrNo => "yes or no".to_owned(),
        FieldKind::One { .. } => "one of these, by its number".to_owned(),
        FieldKind::Some { .. } => "some of these, by their numbers, as 1,2".to_owned(),
    }
}

/// A value as the person entered it.
fn shown_value(field: &FormField, value: &Value) -> String {
    let title = |options: &[FieldOption], value: &Value| {
        let option = options
            .iter()
            .find(|it| Some(it.value.as_str()) == value.as_str());
        option.map_or_else(String::new, |option| shown_line(&option.title, SHOWN))
    };
    match (&field.kind, value) {
        (FieldKind::One { options }, value) => title(options, value),
        (FieldKind::Some { options, .. }, Value::Array(values)) => {
            let titles: Vec<String> = values.iter().map(|it| title(options, it)).collect();
            titles.join(", ")
        }
        (_, Value::Bool(true)) => "yes".to_owned(),
        (_, Value::Bool(false)) => "no".to_owned(),
        (_, Value::String(text)) => shown_line(text, SHOWN),
        (_, value) => shown_line(&value.to_string(), SHOWN),
    }
}

#[cfg(test)]
mod tests;
