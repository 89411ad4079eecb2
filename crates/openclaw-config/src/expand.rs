//! `${VAR}` in strings.

use crate::environment::Environment;

/// What stands for a variable in the text around it.
pub(crate) const GAP: char = '\u{fffc}';

/// A string of the configuration after its variables were put in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Text {
    pub(crate) value: String,
    /// What stands in the file itself, with [`GAP`] for each variable; nothing where there is none.
    pub(crate) written: String,
    /// The variables it was made from.
    pub(crate) variables: Vec<String>,
    /// Those of them that are not set; they stand in the value as they were written.
    pub(crate) missing: Vec<String>,
}

impl Text {
    pub(crate) fn is_complete(&self) -> bool {
        self.missing.is_empty()
    }
}

/// Replaces `${VAR}`; `$${VAR}` stands for the text `${VAR}`. Only upper-case names are variables.
///
/// A variable that is set to nothing counts as missing: an empty key or address never helps.
pub(crate) fn expand(source: &str, environment: &Environment) -> Text {
    let mut text = Text::default();
    let mut rest = source;
    while let Some(dollar) = rest.find('$') {
        text.push(&rest[..dollar]);
        rest = &rest[dollar..];
        if let Some(length) = rest.strip_prefix('$').and_then(reference_length) {
            text.push(&rest[1..=length]);
            rest = &rest[length + 1..];
        } else if let Some(length) = reference_length(rest) {
            let name = &rest[2..length - 1];
            text.put(name, &rest[..length], environment);
            rest = &rest[length..];
        } else {
            text.push("$");
            rest = &rest[1..];
        }
    }
    text.push(rest);
    if text.variables.is_empty() {
        text.written = String::new();
    }
    text
}

/// As [`expand`], and `$VAR` as the whole of the string is a variable too.
pub(crate) fn expand_credential(source: &str, environment: &Environment) -> Text {
    match source.strip_prefix('$') {
        Some(name) if is_variable(name) => {
            let mut text = Text::default();
            text.put(name, source, environment);
            text
        }
        _ => expand(source, environment),
    }
}

impl Text {
    /// Adds what stands in the file itself.
    fn push(&mut self, literal: &str) {
        self.value.push_str(literal);
        self.written.push_str(literal);
    }

    fn put(&mut self, name: &str, written: &str, environment: &Environment) {
        match environment.variable(name).filter(|value| !value.is_empty()) {
            Some(value) => self.value.push_str(value),
            None => {
                self.value.push_str(written);
                self.missing.push(name.to_owned());
            }
        }
        self.written.push(GAP);
        self.variables.push(name.to_owned());
    }
}

/// The length of a `${VAR}` at the start of a text.
fn reference_length(text: &str) -> Option<usize> {
    let inner = text.strip_prefix("${")?;
    let end = inner.find('}')?;
    is_variable(&inner[..end]).then_some(end + 3)
}

fn is_variable(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_uppercase() || c == '_')
        && name
            .chars()
            .all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use proptest::prelude::*;

    use super::*;

    fn environment() -> Environment {
        Environment::new(
            [("A", "one"), ("B_2", "${A}"), ("EMPTY", "")],
            None,
            Path::new("/"),
        )
    }

    #[test]
    fn variables_are_replaced_once_and_literals_are_kept() {
        let value = |source| expand(source, &environment()).value;
        assert_eq!(value("x${A}y${B_2}z"), "xoney${A}z");
        assert_eq!(
            value("$${A} $$${A} ${a} $A ${A $"),
            "${A} $${A} ${a} $A ${A $"
        );
        assert_eq!(value("${A}${A}"), "oneone");
    }

    #[test]
    fn missing_and_empty_variables_are_named_and_stay_visible() {
        let text = expand("${NONE}/${EMPTY}/${A}", &environment());
        assert_eq!(text.value, "${NONE}/${EMPTY}/one");
        assert_eq!(text.missing, ["NONE", "EMPTY"]);
        assert_eq!(text.variables, ["NONE", "EMPTY", "A"]);
    }

    #[test]
    fn a_bare_variable_counts_only_as_a_whole_credential() {
        assert_eq!(expand_credential("$A", &environment()).value, "one");
        assert_eq!(expand_credential("x$A", &environment()).value, "x$A");
        assert_eq!(expand_credential("$5.00", &environment()).value, "$5.00");
    }

    proptest! {
        #[test]
        fn text_without_dollars_is_unchanged(source in "[^$]*") {
            prop_assert_eq!(expand(&source, &environment()).value, source);
        }

        #[test]
        fn any_text_can_be_expanded(source in "[${}A_x\u{e9}]{0,40}") {
            expand_credential(&source, &environment());
        }
    }
}
