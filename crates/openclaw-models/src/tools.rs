//! The tools of a request, written once for each service.

use std::borrow::Cow;
use std::fmt;
use std::sync::OnceLock;

use openclaw_content::ModelText;
use openclaw_ranking::Index;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::offline::{LEADING, ranking_index};

/// A tool as a model sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSpec {
    /// Its name: letters, digits, `_` and `-`, at most 64.
    pub name: String,
    /// What it does.
    pub description: ModelText,
    /// What it takes: a JSON Schema of an object, of the general kind.
    pub parameters: Map<String, Value>,
}

/// What kind of schemas a service takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolDialect {
    /// What is usual.
    General,
    /// Google's, which refuses many keywords.
    Gemini,
}

/// Makes a schema of the general kind such that a service takes it.
pub type Adapt = fn(&Map<String, Value>, ToolDialect) -> Result<Map<String, Value>, String>;

/// The services that want tools in a form of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ToolForm {
    /// Of Anthropic.
    Anthropic,
    /// Of OpenAI's chat completions, and of Ollama.
    Chat,
    /// Of OpenAI's responses.
    Responses,
    /// Of Gemini.
    Gemini,
}

impl ToolForm {
    fn dialect(self) -> ToolDialect {
        match self {
            Self::Anthropic | Self::Chat | Self::Responses => ToolDialect::General,
            Self::Gemini => ToolDialect::Gemini,
        }
    }
}

/// A tool as a service wants to have it.
#[derive(Serialize)]
#[serde(untagged)]
enum Written<'a> {
    Anthropic {
        name: &'a str,
        #[serde(skip_serializing_if = "str::is_empty")]
        description: &'a str,
        input_schema: &'a Map<String, Value>,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<Cache>,
    },
    Chat {
        r#type: &'static str,
        function: Function<'a>,
    },
    Responses {
        r#type: &'static str,
        name: &'a str,
        #[serde(skip_serializing_if = "str::is_empty")]
        description: &'a str,
        parameters: &'a Map<String, Value>,
        strict: bool,
    },
    Gemini(Function<'a>),
}

#[derive(Serialize)]
struct Function<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    description: &'a str,
    parameters: &'a Map<String, Value>,
}

#[derive(Serialize)]
struct Cache {
    r#type: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Declarations<'a> {
    function_declarations: &'a [Written<'a>],
}

/// One tool in the form of a service.
struct Single {
    name: String,
    written: Box<RawValue>,
}

/// The tools of an agent at one moment, in the order of their names. It is shared by all requests
/// until one of them changes: what a service wants to have is written once.
pub struct ToolSet {
    tools: Vec<ToolSpec>,
    adapt: Adapt,
    written: [OnceLock<Option<Box<RawValue>>>; 4],
    /// Each by itself, for services that do not take all of them.
    singly: [OnceLock<Vec<Single>>; 4],
    index: OnceLock<Index>,
}

impl ToolSet {
    /// Takes tools, and what makes their schemas such that a service takes them.
    pub fn new(tools: Vec<ToolSpec>, adapt: Adapt) -> Self {
        Self {
            tools,
            adapt,
            written: [const { OnceLock::new() }; 4],
            singly: [const { OnceLock::new() }; 4],
            index: OnceLock::new(),
        }
    }

    /// No tools.
    pub fn none() -> Self {
        Self::new(Vec::new(), |schema, _| Ok(schema.clone()))
    }

    /// The tools.
    pub fn tools(&self) -> &[ToolSpec] {
        &self.tools
    }

    /// The tools in the form of a service, written the first time that they are wanted; nothing where
    /// there are none. A tool that the service would refuse is left out: it costs itself only.
    pub(crate) fn written(&self, form: ToolForm) -> Option<&RawValue> {
        let place = self.written.get(form as usize)?;
        place.get_or_init(|| self.write(form)).as_deref()
    }

    /// As many of the tools as a service takes, in its form, and how many are left out: those that were
    /// used and those that lead to others are in it, and then the first ones. Their order is the same
    /// whichever they are, so that the service can keep them.
    pub(crate) fn limited(
        &self,
        form: ToolForm,
        most: usize,
        is_used: &dyn Fn(&str) -> bool,
    ) -> (Option<Cow<'_, RawValue>>, usize) {
        let Some(place) = self.singly.get(form as usize) else {
            return (None, 0);
        };
        let all = place.get_or_init(|| self.write_singly(form));
        let is_used = |name: &str| LEADING.contains(&name) || is_used(name);
        let left_out = all.len().saturating_sub(most);
        let used = all.iter().filter(|tool| is_used(&tool.name)).count();
        let mut others = most.saturating_sub(used);
        let mut room = most;
        let chosen = all.iter().filter(|tool| {
            let from = if is_used(&tool.name) {
                &mut room
            } else {
                &mut others
            };
            let has_room = *from > 0;
            *from = from.saturating_sub(1);
            has_room
        });
        let chosen: Vec<&RawValue> = chosen.map(|tool| &*tool.written).collect();
        if chosen.is_empty() {
            return (None, left_out);
        }
        let written = serde_json::value::to_raw_value(&chosen).ok();
        (written.map(Cow::Owned), left_out)
    }

    /// Each tool in the form of a service that takes them one by one in a list.
    fn write_singly(&self, form: ToolForm) -> Vec<Single> {
        let adapted = self.adapted(form);
        let written = adapted.iter().filter_map(|(tool, parameters)| {
            let written = serde_json::value::to_raw_value(&written(form, tool, parameters, false));
            Some(Single {
                name: tool.name.clone(),
                written: written.ok()?,
            })
        });
        written.collect()
    }

    /// The tools that a service takes, with their schemas as it takes them.
    fn adapted(&self, form: ToolForm) -> Vec<(&ToolSpec, Map<String, Value>)> {
        let adapted = self.tools.iter().filter_map(|tool| {
            match (self.adapt)(&tool.parameters, form.dialect()) {
                Ok(parameters) => Some((tool, parameters)),
                Err(reason) => {
                    let tool = tool.name.as_str();
                    tracing::warn!(tool, reason, "a tool is not offered to the model");
                    None
                }
            }
        });
        adapted.collect()
    }

    fn write(&self, form: ToolForm) -> Option<Box<RawValue>> {
        let adapted = self.adapted(form);
        if adapted.is_empty() {
            return None;
        }
        let last = adapted.len() - 1;
        let tools = adapted.iter().enumerate();
        let tools: Vec<Written<'_>> = tools
            .map(|(place, (tool, parameters))| written(form, tool, parameters, place == last))
            .collect();
        let written = match form {
            ToolForm::Gemini => serde_json::value::to_raw_value(&[Declarations {
                function_declarations: &tools,
            }]),
            ToolForm::Anthropic | ToolForm::Chat | ToolForm::Responses => {
                serde_json::value::to_raw_value(&tools)
            }
        };
        // Maps of texts and values can always be written.
        written.ok()
    }

    /// The tools, ready to be ranked against a text; each has the place there that it has here.
    pub fn index(&self) -> &Index {
        self.index.get_or_init(|| ranking_index(&self.tools))
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }
}

/// A tool in the form of a service.
fn written<'a>(
    form: ToolForm,
    tool: &'a ToolSpec,
    parameters: &'a Map<String, Value>,
    is_last: bool,
) -> Written<'a> {
    let (name, description) = (tool.name.as_str(), tool.description.as_str());
    let function = Function {
        name,
        description,
        parameters,
    };
    match form {
        ToolForm::Anthropic => Written::Anthropic {
            name,
            description,
            input_schema: parameters,
            // The service keeps everything up to here, so it is marked once.
            cache_control: is_last.then_some(Cache {
                r#type: "ephemeral",
            }),
        },
        ToolForm::Chat => Written::Chat {
            r#type: "function",
            function,
        },
        ToolForm::Responses => Written::Responses {
            r#type: "function",
            name,
            description,
            parameters,
            // What is strict there is not what schemas of servers are.
            strict: false,
        },
        ToolForm::Gemini => Written::Gemini(function),
    }
}

impl fmt::Debug for ToolSet {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ToolSet")
            .field("tools", &self.tools.len())
            .finish_non_exhaustive()
    }
}
