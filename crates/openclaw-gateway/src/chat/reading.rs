//! The body of a request, read and judged.
//!
//! What would change the meaning of the answer and can't be had is refused. What only tunes a model
//! (`temperature`, `max_tokens`, `seed`, `stop`, …) or is for accounts (`user`, `metadata`, `store`, …)
//! has no effect: the agent's configuration decides. So have fields that nobody knows.

use http::StatusCode;
use openclaw_content::shown_line;
use openclaw_engine::{Attachment, EarlierMessage, EarlierSpeaker};
use serde_json::{Map, Value};

use super::content::{Content, content};
use super::problem::Problem;

/// How many values the body may consist of: each takes more memory than bytes of the body.
const MOST_VALUES: usize = 100_000;
/// How many files come with a message, those of messages before it included.
const MOST_FILES: usize = 15;

/// What is asked.
#[derive(Debug)]
pub(super) struct Asked {
    /// The model, as it was named.
    pub(super) model: String,
    /// Whether the answer is wanted as it comes.
    pub(super) stream: bool,
    /// Whether a stream ends with what the turn cost.
    pub(super) include_usage: bool,
    /// What is said.
    pub(super) message: String,
    /// What comes with it.
    pub(super) attachments: Vec<Attachment>,
    /// What came with messages before it, as far as there is room.
    pub(super) earlier_files: Vec<Attachment>,
    /// What was said before.
    pub(super) earlier: Vec<EarlierMessage>,
    /// What the agent is told for this turn.
    pub(super) instructions: Option<String>,
}

/// Reads a body.
pub(super) fn read(bytes: &[u8]) -> Result<Asked, Problem> {
    if values(bytes) > MOST_VALUES {
        let message = format!("the body has more than {MOST_VALUES} values");
        return Err(Problem::body(StatusCode::BAD_REQUEST, message));
    }
    let mut body: Map<String, Value> = openclaw_json::read(bytes).map_err(|error| {
        let error = shown_line(&error.to_string(), 200);
        let message = format!("the body is no JSON object that can be read: {error}");
        Problem::body(StatusCode::BAD_REQUEST, message)
    })?;
    refuse_unsupported(&body)?;
    let model = match body.remove("model") {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(model)) => model,
        Some(_) => return Err(Problem::invalid("model", "`model` is no string")),
    };
    let stream = flag(body.get("stream"), "stream")?;
    let options = body.get("stream_options");
    let include_usage = options.and_then(|it| it.get("include_usage"));
    let include_usage = flag(include_usage, "stream_options.include_usage")?;
    let Some(Value::Array(messages)) = body.remove("messages") else {
        return Err(Problem::invalid("messages", "`messages` is no array"));
    };
    let said = Said::of(messages)?;
    said.asked(model, stream, include_usage)
}

/// How many values there are in a text of JSON, roughly: what separates them is counted.
fn values(bytes: &[u8]) -> usize {
    let (mut count, mut in_string, mut is_escaped) = (1, false, false);
    for byte in bytes {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if in_string => is_escaped = true,
            b'"' => in_string = !in_string,
            b',' | b'[' | b'{' if !in_string => count += 1,
            _ => {}
        }
    }
    count
}

fn flag(value: Option<&Value>, name: &str) -> Result<bool, Problem> {
    match value {
        None | Some(Value::Null) => Ok(false),
        Some(Value::Bool(flag)) => Ok(*flag),
        Some(_) => Err(Problem::invalid(
            name,
            format!("`{name}` is neither true nor false"),
        )),
    }
}

/// Refuses what would change the meaning of the answer.
fn refuse_unsupported(body: &Map<String, Value>) -> Result<(), Problem> {
    let given = |name: &str| body.get(name).filter(|it| !it.is_null());
    if given("n").is_some_and(|it| it.as_u64() != Some(1)) {
        let message = "`n` can only be 1: an agent gives one answer";
        return Err(Problem::unsupported("n", message));
    }
    for name in ["tools", "functions"] {
        if given(name).is_some_and(|it| it.as_array().is_none_or(|it| !it.is_empty())) {
            let message = format!(
                "`{name}` can't be given: the agent uses its own tools, those of its MCP servers"
            );
            return Err(Problem::unsupported(name, message));
        }
    }
    if given("response_format").is_some_and(|it| it.get("type") != Some(&Value::from("text"))) {
        let message = "`response_format` can only be of type `text`: ask for it in words";
        return Err(Problem::unsupported("response_format", message));
    }
    if given("logprobs").is_some_and(|it| *it != Value::Bool(false)) {
        let message = "`logprobs` are not known";
        return Err(Problem::unsupported("logprobs", message));
    }
    if given("top_logprobs").is_some_and(|it| it.as_u64() != Some(0)) {
        let message = "`top_logprobs` are not known";
        return Err(Problem::unsupported("top_logprobs", message));
    }
    let is_text = |it: &Value| {
        it.as_array()
            .is_some_and(|all| all.iter().all(|it| it == "text"))
    };
    if given("modalities").is_some_and(|it| !is_text(it)) {
        let message = "`modalities` can only be `text`: images of tools come beside it";
        return Err(Problem::unsupported("modalities", message));
    }
    Ok(())
}

/// A message of a person or the agent.
struct Line {
    speaker: EarlierSpeaker,
    place: usize,
    content: Content,
}

/// What was said, by whom it was.
#[derive(Default)]
struct Said {
    lines: Vec<Line>,
    instructions: Vec<String>,
}

impl Said {
    fn of(messages: Vec<Value>) -> Result<Self, Problem> {
        let mut said = Self::default();
        for (place, message) in messages.into_iter().enumerate() {
            said.add(message, place)?;
        }
        Ok(said)
    }

    fn add(&mut self, message: Value, place: usize) -> Result<(), Problem> {
        let at = format!("messages[{place}]");
        let Value::Object(mut message) = message else {
            return Err(Problem::invalid(&at, format!("`{at}` is no object")));
        };
        let role = match message.get("role").and_then(Value::as_str) {
            Some(role) => role.to_owned(),
            None => {
                let message = format!("`{at}.role` is missing or no string");
                return Err(Problem::invalid(format!("{at}.role"), message));
            }
        };
        let read = message.remove("content").unwrap_or_default();
        let at_content = format!("{at}.content");
        let speaker = match role.as_str() {
            "system" | "developer" => {
                let read = content(read, &at_content)?;
                if !read.attachments.is_empty() {
                    let message = format!("`{at_content}` can only be text");
                    return Err(Problem::invalid(at_content, message));
                }
                if !read.text.trim().is_empty() {
                    self.instructions.push(read.text);
                }
                return Ok(());
            }
            "user" => EarlierSpeaker::User,
            "assistant" => EarlierSpeaker::Assistant,
            // Calls of tools elsewhere, and their results, are not the agent's. The last message is
            // none of them.
            "tool" | "function" => {
                self.lines.push(Line {
                    speaker: EarlierSpeaker::Assistant,
                    place,
                    content: Content::default(),
                });
                return Ok(());
            }
            other => {
                let other = shown_line(other, 50);
                let message = format!("`{at}.role` is `{other}`, which is not known");
                return Err(Problem::invalid(format!("{at}.role"), message));
            }
        };
        let content = content(read, &at_content)?;
        self.lines.push(Line {
            speaker,
            place,
            content,
        });
        Ok(())
    }

    fn asked(mut self, model: String, stream: bool, include_usage: bool) -> Result<Asked, Problem> {
        let last = self.lines.pop();
        let Some(last) = last.filter(|it| it.speaker == EarlierSpeaker::User) else {
            let message = "the last message has to be one of the user";
            return Err(Problem::invalid("messages", message));
        };
        if last.content.text.trim().is_empty() && last.content.attachments.is_empty() {
            let at = format!("messages[{}].content", last.place);
            return Err(Problem::invalid(at, "the last message is empty"));
        }
        let room = MOST_FILES.saturating_sub(last.content.attachments.len());
        let (earlier, earlier_files) = taken_over(self.lines, room);
        let instructions = self.instructions.join("\n\n");
        Ok(Asked {
            model,
            stream,
            include_usage,
            message: last.content.text,
            attachments: last.content.attachments,
            earlier_files,
            earlier,
            instructions: (!instructions.is_empty()).then_some(instructions),
        })
    }
}

/// What was said before, and its files as far as there is room, the newest first to get some. Where a
/// file came, its text says so.
fn taken_over(lines: Vec<Line>, mut room: usize) -> (Vec<EarlierMessage>, Vec<Attachment>) {
    let (mut earlier, mut files) = (Vec::with_capacity(lines.len()), Vec::new());
    for line in lines.into_iter().rev() {
        let mut text = line.content.text;
        for (number, file) in line.content.attachments.into_iter().enumerate() {
            if number > 0 || !text.is_empty() {
                text.push('\n');
            }
            let name = file.name.as_deref().unwrap_or(&file.mime_type);
            let name = openclaw_content::clean_name(name);
            if room > 0 {
                room -= 1;
                text.push_str(&format!("[{name}: it comes with the last message]"));
                files.push(file);
            } else {
                text.push_str(&format!("[{name}: it is no longer here]"));
            }
        }
        if !text.trim().is_empty() {
            let speaker = line.speaker;
            earlier.push(EarlierMessage { speaker, text });
        }
    }
    earlier.reverse();
    files.reverse();
    (earlier, files)
}
