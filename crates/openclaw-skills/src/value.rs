//! Fields as values that know their line.

/// How many values a text may have.
pub(crate) const MOST: usize = 5_000;

/// A value, and the line of the file that it begins on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Value {
    pub(crate) line: usize,
    pub(crate) kind: Kind,
}

/// What a value is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Nothing.
    Null,
    /// A text; numbers and booleans are those that they are written as.
    Text(String),
    /// A list.
    List(Vec<Value>),
    /// Members in the order of the file, no key twice.
    Map(Vec<(String, Value)>),
}

/// What is wrong with a text, and on which line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mistake {
    pub(crate) line: usize,
    pub(crate) message: String,
}

impl Mistake {
    pub(crate) fn new(line: usize, message: impl Into<String>) -> Self {
        Self {
            line,
            message: message.into(),
        }
    }
}

impl Value {
    /// The member of this name, where this has members and it is not null.
    pub(crate) fn get(&self, key: &str) -> Option<&Self> {
        let Kind::Map(members) = &self.kind else {
            return None;
        };
        let (_, value) = members.iter().find(|(name, _)| name == key)?;
        (value.kind != Kind::Null).then_some(value)
    }

    /// What it is, with its article, for messages.
    fn article(&self) -> &'static str {
        match self.kind {
            Kind::Null => "nothing",
            Kind::Text(_) => "a text",
            Kind::List(_) => "a list",
            Kind::Map(_) => "an object",
        }
    }

    fn wrong(&self, field: &str, wanted: &str) -> Mistake {
        let found = self.article();
        Mistake::new(
            self.line,
            format!("`{field}` must be {wanted}, and is {found}"),
        )
    }

    /// The text that it is.
    pub(crate) fn text(&self, field: &str) -> Result<&str, Mistake> {
        match &self.kind {
            Kind::Text(text) => Ok(text),
            _ => Err(self.wrong(field, "a text")),
        }
    }

    /// Yes or no, in any of the words that YAML has had for it.
    pub(crate) fn boolean(&self, field: &str) -> Result<bool, Mistake> {
        let wrong = || Mistake::new(self.line, format!("`{field}` is either `true` or `false`"));
        let Kind::Text(text) = &self.kind else {
            return Err(wrong());
        };
        match text.trim().to_ascii_lowercase().as_str() {
            "true" | "yes" | "on" | "1" => Ok(true),
            "false" | "no" | "off" | "0" => Ok(false),
            _ => Err(wrong()),
        }
    }

    /// The texts of a list, or one text with commas between them.
    pub(crate) fn texts(&self, field: &str) -> Result<Vec<String>, Mistake> {
        let texts: Vec<&str> = match &self.kind {
            Kind::Null => Vec::new(),
            Kind::Text(text) => text.split(',').collect(),
            Kind::List(elements) => elements
                .iter()
                .map(|element| element.text(field))
                .collect::<Result<_, _>>()?,
            Kind::Map(_) => return Err(self.wrong(field, "a list")),
        };
        let texts = texts.into_iter().map(str::trim);
        Ok(texts
            .filter(|text| !text.is_empty())
            .map(str::to_owned)
            .collect())
    }

    /// That it has members.
    pub(crate) fn object(&self, field: &str) -> Result<&Self, Mistake> {
        match &self.kind {
            Kind::Map(_) => Ok(self),
            _ => Err(self.wrong(field, "an object")),
        }
    }
}

/// Adds a member, unless there is one of that name.
pub(crate) fn add_member(
    members: &mut Vec<(String, Value)>,
    key: String,
    value: Value,
) -> Result<(), Mistake> {
    if members.iter().any(|(name, _)| *name == key) {
        let message = format!("`{key}` stands here twice");
        return Err(Mistake::new(value.line, message));
    }
    members.push((key, value));
    Ok(())
}
