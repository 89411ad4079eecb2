//! Identifiers of calls and names of tools, such that a service takes them.

use std::borrow::Cow;

/// How long the name of a tool may be.
const LONGEST_NAME: usize = 64;

/// Which identifiers of calls a service takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IdRule {
    /// Letters, digits, `_` and `-`, at most 64.
    Word,
    /// Whatever is visible, at most 40 characters.
    Visible,
    /// Nine letters and digits, as Mistral has them.
    Nine,
}

/// An identifier that the service takes. The same one becomes the same each time, and different ones
/// stay different.
pub(crate) fn call_id(id: &str, rule: IdRule) -> Cow<'_, str> {
    let is_fine = match rule {
        IdRule::Word => (1..=64).contains(&id.len()) && id.bytes().all(is_word),
        IdRule::Visible => {
            (1..=40).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_graphic())
        }
        IdRule::Nine => id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric()),
    };
    if is_fine {
        return Cow::Borrowed(id);
    }
    let digest = digest(id);
    Cow::Owned(match rule {
        IdRule::Nine => nine(digest),
        IdRule::Word | IdRule::Visible => {
            let kept: String = words(id).take(20).collect();
            format!("{kept}_{digest:016x}")
        }
    })
}

/// A name that every service takes. Nothing but a tool that does not exist has another one.
pub(crate) fn tool_name(name: &str) -> Cow<'_, str> {
    if (1..=LONGEST_NAME).contains(&name.len()) && name.bytes().all(is_word) {
        return Cow::Borrowed(name);
    }
    let cleaned: String = words(name).take(LONGEST_NAME).collect();
    Cow::Owned(if cleaned.is_empty() {
        "unnamed".to_owned()
    } else {
        cleaned
    })
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

fn words(text: &str) -> impl Iterator<Item = char> {
    text.chars().map(|character| {
        let is_word = character.is_ascii_alphanumeric() || matches!(character, '_' | '-');
        if is_word { character } else { '_' }
    })
}

/// FNV-1a: it has to tell identifiers of one conversation apart, and to stay the same.
fn digest(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |state, byte| {
        (state ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

fn nine(mut digest: u64) -> String {
    const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    (0..9)
        .map(|_| {
            let digit = usize::try_from(digest % 62).unwrap_or_default();
            digest /= 62;
            char::from(DIGITS.get(digit).copied().unwrap_or(b'0'))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_service_takes_stays_as_it_is() {
        assert_eq!(call_id("toolu_01-A", IdRule::Word), "toolu_01-A");
        assert_eq!(
            call_id("functions.get:0", IdRule::Visible),
            "functions.get:0"
        );
        assert_eq!(call_id("a1B2c3D4e", IdRule::Nine), "a1B2c3D4e");
        assert_eq!(tool_name("mcp_github_search"), "mcp_github_search");
    }

    #[test]
    fn what_it_does_not_take_is_rewritten_in_the_same_way_each_time() {
        for rule in [IdRule::Word, IdRule::Visible, IdRule::Nine] {
            let long = "functions.get weather:0".repeat(9);
            let made = call_id(&long, rule).into_owned();
            assert_eq!(call_id(&long, rule), made);
            assert_eq!(call_id(&made, rule), made, "what was made is taken");
            assert_ne!(call_id(&format!("{long}1"), rule), made);
            assert!(!call_id("", rule).is_empty());
        }
    }

    #[test]
    fn names_that_a_model_made_up_are_cleaned() {
        assert_eq!(tool_name("foo bar!"), "foo_bar_");
        assert_eq!(tool_name(""), "unnamed");
        assert_eq!(tool_name(&"ü".repeat(90)), "_".repeat(64));
    }
}
