//! What a skill says about itself.

use openclaw_content::{clean_name, shown_line};

use crate::document::Fields;
use crate::value::{Mistake, Value};

/// The longest name, in characters.
const NAME_CHARACTERS: usize = 64;
/// How much of a description is kept, in characters.
const DESCRIPTION_CHARACTERS: usize = 1024;
/// How much of another text is kept, in characters.
const TEXT_CHARACTERS: usize = 300;
/// How many things of a kind a skill may require.
const MOST_REQUIRED: usize = 50;
/// The names under which `metadata` has what is meant for us, the older ones last.
const OURS: [&str; 3] = ["openclaw", "clawdbot", "clawdis"];

/// What happens with a command of a skill, instead of a model being asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dispatch {
    /// The tool that is called: with what stands after the command, as it was typed, the name of the
    /// command and that of the skill.
    pub tool: String,
}

/// What a skill says about itself. All texts stay on one line and can be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Manifest {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) user_invocable: bool,
    pub(crate) model_invocable: bool,
    pub(crate) dispatch: Option<Dispatch>,
    pub(crate) homepage: Option<String>,
    pub(crate) emoji: Option<String>,
    /// The name under which the configuration has its settings, where that is another one.
    pub(crate) key: Option<String>,
    pub(crate) requirements: Requirements,
}

/// What must be there for a skill to apply.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Requirements {
    /// One of these systems.
    pub(crate) systems: Vec<String>,
    /// All of these programs.
    pub(crate) programs: Vec<String>,
    /// One of these programs.
    pub(crate) any_program: Vec<String>,
    /// All of these variables.
    pub(crate) variables: Vec<String>,
    /// All of these settings of the configuration.
    pub(crate) settings: Vec<String>,
    /// Whether nothing but the system counts.
    pub(crate) always: bool,
    /// The variable that the `apiKey` of its settings stands for.
    pub(crate) primary_variable: Option<String>,
}

impl Manifest {
    /// Reads the fields of a skill; its directory gives it a name where it has none.
    pub(crate) fn read(fields: &Fields, directory: &str) -> Result<Self, Mistake> {
        let text = |name: &str| fields.get(name).map(|value| value.text(name)).transpose();
        let boolean = |name: &str, usual: bool| match fields.get(name) {
            Some(value) => value.boolean(name),
            None => Ok(usual),
        };
        let line = |name: &str| fields.get(name).map_or(1, |value| value.line);
        let given = text("name")?.filter(|name| !name.trim().is_empty());
        let name = name(given.unwrap_or(directory))
            .map_err(|message| Mistake::new(line("name"), message))?;
        let description = shown_line(
            text("description")?.unwrap_or_default(),
            DESCRIPTION_CHARACTERS,
        );
        if description.is_empty() {
            let message = "`description` is missing: it says when the skill is of use";
            return Err(Mistake::new(line("description"), message));
        }
        let metadata = fields.metadata()?;
        let ours = match &metadata {
            Some(metadata) => ours(metadata)?,
            None => None,
        };
        let own = |name: &str| match ours.and_then(|ours| ours.get(name)) {
            Some(value) => value.text(name).map(short),
            None => Ok(None),
        };
        Ok(Self {
            name,
            description,
            user_invocable: boolean("user-invocable", true)?,
            model_invocable: !boolean("disable-model-invocation", false)?,
            dispatch: dispatch(fields)?,
            homepage: text("homepage")?.and_then(short),
            emoji: own("emoji")?,
            key: own("skillKey")?,
            requirements: requirements(ours)?,
        })
    }
}

/// The part of `metadata` that is meant for us.
fn ours(metadata: &Value) -> Result<Option<&Value>, Mistake> {
    let metadata = metadata.object("metadata")?;
    let found = OURS
        .iter()
        .find_map(|name| Some((name, metadata.get(name)?)));
    match found {
        Some((name, value)) => value.object(&format!("metadata.{name}")).map(Some),
        None => Ok(None),
    }
}

/// A name that people can type, and that stands in a line of ours as it is.
fn name(text: &str) -> Result<String, String> {
    let name = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if name.chars().count() > NAME_CHARACTERS {
        return Err(format!("a name has at most {NAME_CHARACTERS} characters"));
    }
    if name.is_empty() || clean_name(&name) != name {
        let message = "a name has no control characters, no quotes and no brackets";
        return Err(format!("{message}: {}", shown_line(&name, NAME_CHARACTERS)));
    }
    Ok(name)
}

fn dispatch(fields: &Fields) -> Result<Option<Dispatch>, Mistake> {
    let word = |name: &str, only: &str| match fields.get(name) {
        None => Ok(false),
        Some(value) if value.text(name)?.trim() == only => Ok(true),
        Some(value) => {
            let message = format!("`{name}` can only be `{only}`");
            Err(Mistake::new(value.line, message))
        }
    };
    word("command-arg-mode", "raw")?;
    if !word("command-dispatch", "tool")? {
        return Ok(None);
    }
    let field = "command-tool";
    let tool = fields.get(field).map(|value| value.text(field));
    match tool.transpose()?.and_then(short) {
        Some(tool) => Ok(Some(Dispatch { tool })),
        None => {
            let line = fields.get("command-dispatch").map_or(1, |it| it.line);
            let message = "`command-dispatch: tool` needs `command-tool`";
            Err(Mistake::new(line, message))
        }
    }
}

fn requirements(ours: Option<&Value>) -> Result<Requirements, Mistake> {
    let Some(ours) = ours else {
        return Ok(Requirements::default());
    };
    let requires = ours.get("requires");
    let requires = requires.map(|it| it.object("requires")).transpose()?;
    let list = |object: Option<&Value>, name: &str| match object.and_then(|it| it.get(name)) {
        Some(value) => names(value, name),
        None => Ok(Vec::new()),
    };
    let always = ours.get("always").map(|value| value.boolean("always"));
    let primary = ours.get("primaryEnv").map(|value| value.text("primaryEnv"));
    Ok(Requirements {
        systems: list(Some(ours), "os")?,
        programs: list(requires, "bins")?,
        any_program: list(requires, "anyBins")?,
        variables: list(requires, "env")?,
        settings: list(requires, "config")?,
        always: always.transpose()?.unwrap_or(false),
        primary_variable: primary.transpose()?.and_then(short),
    })
}

fn names(value: &Value, field: &str) -> Result<Vec<String>, Mistake> {
    let texts = value.texts(field)?;
    if texts.len() > MOST_REQUIRED {
        let message = format!("`{field}` has more than {MOST_REQUIRED} entries");
        return Err(Mistake::new(value.line, message));
    }
    Ok(texts.iter().filter_map(|text| short(text)).collect())
}

/// A text on one line, if anything of it can be shown.
fn short(text: &str) -> Option<String> {
    Some(shown_line(text, TEXT_CHARACTERS)).filter(|text| !text.is_empty())
}
