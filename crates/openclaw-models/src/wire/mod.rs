//! How services are asked and how they answer.

mod anthropic;
mod chat;
mod complaint;
mod gemini;
mod growing;
mod history;
mod limits;
mod names;
mod ollama;
mod particulars;
mod pieces;
mod responses;
mod segments;
mod stream;
mod weight;
mod words;

use std::borrow::Cow;
use std::collections::HashSet;

use openclaw_conversation::Message;
use openclaw_http::Outgoing;
use openclaw_secrets::Secret;
use serde_json::value::RawValue;
use url::Url;

pub(crate) use self::complaint::{Complaint, Dispensable, Parties};
pub(crate) use self::growing::{Author, Fault, Growing};
use self::history::{Manner, Side, sides};
pub(crate) use self::limits::{BODY, IDLE, REFUSAL, TOTAL};
use self::names::IdRule;
pub(crate) use self::particulars::Host;
use self::particulars::{google_name, is_thinking};
use self::segments::Segments;
pub(crate) use self::stream::{Broken, Decode, Framing, Patience, read};
use crate::model::{ModelRequest, SystemPrompt};
use crate::tools::ToolForm;

/// The protocols that are spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Api {
    /// `anthropic-messages`
    Anthropic,
    /// `openai-completions`
    Chat,
    /// `openai-responses`
    Responses,
    /// `google-generative-ai`
    Gemini,
    /// `ollama`
    Ollama,
}

/// What a service is asked, in the form that all protocols write it from.
pub(crate) struct Asking<'a> {
    model: &'a str,
    system: SystemPrompt<'a>,
    sides: Vec<Side<'a>>,
    tools: Option<Cow<'a, RawValue>>,
    /// The most tokens to be answered with, where there is a limit.
    max_tokens: Option<u64>,
    context_window: u64,
    host: Host,
    without: Without,
}

impl Asking<'_> {
    /// Whether the service is asked for what its model thought, to be given back to it.
    fn asks_for_reasoning(&self) -> bool {
        is_thinking(self.model) && !self.without.reasoning
    }

    /// Whether the service is asked what its answer cost.
    fn asks_for_usage(&self) -> bool {
        // Mistral says so by itself, and refuses to be asked.
        self.host != Host::Mistral && !self.without.stream_options
    }
}

/// What a service did not take, and is not sent again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Without {
    pub(crate) stream_options: bool,
    pub(crate) reasoning: bool,
}

impl Without {
    /// Adds to it; says whether that makes a difference.
    pub(crate) fn add(&mut self, it: Dispensable) -> bool {
        let field = match it {
            Dispensable::StreamOptions => &mut self.stream_options,
            Dispensable::Reasoning => &mut self.reasoning,
        };
        !std::mem::replace(field, true)
    }
}

/// A request as it is sent.
pub(crate) struct WrittenRequest {
    pub(crate) body: Outgoing,
    /// How many tools the service does not take are not in it.
    pub(crate) left_out: usize,
}

/// What is special about the model that is asked.
pub(crate) struct Particulars<'a> {
    /// Its name at the service.
    pub(crate) model: &'a str,
    /// Whose opaque parts it understands.
    pub(crate) owner: &'a str,
    /// The service.
    pub(crate) base: &'a Url,
    /// Whether it takes images.
    pub(crate) takes_images: bool,
    /// Whether it takes documents.
    pub(crate) takes_documents: bool,
    /// How many tokens it can hold.
    pub(crate) context_window: u64,
    /// The most tokens that it answers with, where the service has to be told.
    pub(crate) max_tokens: Option<u64>,
    /// What the service did not take.
    pub(crate) without: Without,
}

/// The types of images that most services take.
const IMAGES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];
/// Those that Google takes.
const GOOGLE_IMAGES: [&str; 5] = [
    "image/png",
    "image/jpeg",
    "image/webp",
    "image/heic",
    "image/heif",
];

impl Api {
    /// All of them.
    pub(crate) const ALL: [Self; 5] = [
        Self::Anthropic,
        Self::Chat,
        Self::Responses,
        Self::Gemini,
        Self::Ollama,
    ];

    /// Its name in the configuration.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic-messages",
            Self::Chat => "openai-completions",
            Self::Responses => "openai-responses",
            Self::Gemini => "google-generative-ai",
            Self::Ollama => "ollama",
        }
    }

    /// The one of this name.
    pub(crate) fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|api| api.word() == word)
    }

    /// Where answers are asked for.
    pub(crate) fn address(self, base: &Url, model: &str) -> Option<Url> {
        match self {
            Self::Anthropic => below(base, &["v1", "messages"], "v1"),
            Self::Chat => below(base, &["chat", "completions"], ""),
            Self::Responses => below(base, &["responses"], ""),
            Self::Gemini => {
                let method = format!("{}:streamGenerateContent", google_name(model));
                let mut address = below(&gemini::versioned(base), &["models", &method], "")?;
                address.set_query(Some("alt=sse"));
                Some(address)
            }
            Self::Ollama => below(base, &["api", "chat"], "v1"),
        }
    }

    /// Where models are listed, or where else a key is looked at.
    pub(crate) fn list_address(self, base: &Url) -> Option<Url> {
        match self {
            // Its list is for everybody.
            Self::Chat | Self::Responses if Host::of(base) == Host::OpenRouter => {
                below(base, &["key"], "")
            }
            Self::Anthropic => below(base, &["v1", "models"], "v1"),
            Self::Chat | Self::Responses => below(base, &["models"], ""),
            Self::Gemini => below(&gemini::versioned(base), &["models"], ""),
            Self::Ollama => below(base, &["api", "tags"], "v1"),
        }
    }

    /// The headers that carry a key, or that go with every request.
    pub(crate) fn headers(self, key: Option<&Secret>) -> Vec<(&'static str, Secret)> {
        let mut headers = Vec::new();
        if self == Self::Anthropic {
            headers.push(("anthropic-version", Secret::new("2023-06-01")));
        }
        if let Some(key) = key {
            headers.push(match self {
                Self::Anthropic => ("x-api-key", key.clone()),
                Self::Gemini => ("x-goog-api-key", key.clone()),
                Self::Chat | Self::Responses | Self::Ollama => (
                    "authorization",
                    Secret::new(format!("Bearer {}", key.expose())),
                ),
            });
        }
        headers
    }

    /// How its events are told from each other.
    pub(crate) fn framing(self) -> Framing {
        match self {
            Self::Ollama => Framing::Lines,
            Self::Anthropic | Self::Chat | Self::Responses | Self::Gemini => Framing::Events,
        }
    }

    /// What understands its answers.
    pub(crate) fn decoder(self) -> Box<dyn Decode> {
        match self {
            Self::Anthropic => Box::<anthropic::Decoder>::default(),
            Self::Chat => Box::<chat::Decoder>::default(),
            Self::Responses => Box::<responses::Decoder>::default(),
            Self::Gemini => Box::<gemini::Decoder>::default(),
            Self::Ollama => Box::<ollama::Decoder>::default(),
        }
    }

    /// Writes a request.
    pub(crate) fn body(
        self,
        request: &ModelRequest<'_>,
        particulars: &Particulars<'_>,
    ) -> serde_json::Result<WrittenRequest> {
        let host = Host::of(particulars.base);
        let manner = Manner {
            owner: (!particulars.without.reasoning).then_some(particulars.owner),
            ids: match self {
                Self::Chat if host == Host::Mistral => IdRule::Nine,
                Self::Chat => IdRule::Visible,
                Self::Anthropic | Self::Responses | Self::Gemini | Self::Ollama => IdRule::Word,
            },
            images: match self {
                _ if !particulars.takes_images => &[],
                Self::Gemini => &GOOGLE_IMAGES,
                Self::Anthropic | Self::Chat | Self::Responses | Self::Ollama => &IMAGES,
            },
            // There is no way to write one there.
            documents: particulars.takes_documents && self != Self::Ollama,
        };
        let (tools, left_out) = match host.most_tools() {
            Some(most) if request.tools.tools().len() > most => {
                let used = used_tools(request.messages);
                let is_used = |name: &str| used.contains(name);
                request.tools.limited(self.tool_form(), most, &is_used)
            }
            _ => {
                let written = request.tools.written(self.tool_form());
                (written.map(Cow::Borrowed), 0)
            }
        };
        let asking = Asking {
            model: particulars.model,
            system: request.system,
            sides: sides(request.messages, &manner),
            tools,
            max_tokens: request.max_tokens.or(particulars.max_tokens),
            context_window: particulars.context_window,
            host,
            without: particulars.without,
        };
        // Most of it are tools; what else there is grows the rest.
        let tools = asking.tools.as_ref().map_or(0, |tools| tools.get().len());
        let mut written = Segments::new(request.messages, tools + 16 * 1024);
        match self {
            Self::Anthropic => serde_json::to_writer(&mut written, &anthropic::Body(&asking)),
            Self::Chat => serde_json::to_writer(&mut written, &chat::Body(&asking)),
            Self::Responses => serde_json::to_writer(&mut written, &responses::Body(&asking)),
            Self::Gemini => serde_json::to_writer(&mut written, &gemini::Body(&asking)),
            Self::Ollama => serde_json::to_writer(&mut written, &ollama::Body(&asking)),
        }?;
        let body = written.finish();
        Ok(WrittenRequest { body, left_out })
    }

    fn tool_form(self) -> ToolForm {
        match self {
            Self::Anthropic => ToolForm::Anthropic,
            Self::Chat | Self::Ollama => ToolForm::Chat,
            Self::Responses => ToolForm::Responses,
            Self::Gemini => ToolForm::Gemini,
        }
    }
}

/// The names of the tools that a conversation has used.
fn used_tools(messages: &[Message]) -> HashSet<&str> {
    let calls = messages.iter().filter_map(|message| match message {
        Message::Assistant(said) => Some(said.calls()),
        Message::User { .. } | Message::Tool(_) | Message::Summary { .. } => None,
    });
    calls.flatten().map(|call| call.name.as_str()).collect()
}

/// An address below another one, from which a last segment is taken that people add or not.
fn below(base: &Url, segments: &[&str], optional: &str) -> Option<Url> {
    let mut address = base.clone();
    address.set_fragment(None);
    {
        let has_optional = base
            .path_segments()
            .and_then(|mut segments| segments.rfind(|segment| !segment.is_empty()))
            .is_some_and(|last| last == optional);
        let mut path = address.path_segments_mut().ok()?;
        path.pop_if_empty();
        if has_optional {
            path.pop();
        }
        path.extend(segments);
    }
    Some(address)
}
