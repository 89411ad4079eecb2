//! Texts as words of a command line.

use std::borrow::Cow;

/// A text as a shell reads it as one word: as it is where that is plain, else in single quotes.
///
/// It is for the commands that people are told to run: names of servers may hold almost anything.
pub fn shell_word(text: &str) -> Cow<'_, str> {
    let is_plain =
        |it: char| it.is_alphanumeric() || matches!(it, '_' | '-' | '.' | ':' | '@' | '/');
    if !text.is_empty() && text.chars().all(is_plain) {
        return Cow::Borrowed(text);
    }
    // Nothing has a meaning between single quotes, and they can't be there themselves.
    Cow::Owned(format!("'{}'", text.replace('\'', r"'\''")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_names_stay_and_others_are_quoted() {
        for plain in ["docs", "a.b:c@d", "my-server_2", "Ünï-cødé", "server/tool"] {
            assert!(matches!(shell_word(plain), Cow::Borrowed(word) if word == plain));
        }
        for (name, word) in [
            ("", "''"),
            ("my server", "'my server'"),
            ("it's", r"'it'\''s'"),
            ("$(reboot)", "'$(reboot)'"),
            ("~", "'~'"),
            ("a;b", "'a;b'"),
        ] {
            assert_eq!(shell_word(name), word);
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_shell_reads_what_was_meant() {
        let every: String = (' '..='~').collect();
        for name in [every.as_str(), "'", "''", "\\", "\\'", "a b", "!!", "é ü"] {
            let script = format!("printf %s {}", shell_word(name));
            let output = std::process::Command::new("sh")
                .args(["-c", &script])
                .output()
                .unwrap();
            assert_eq!(String::from_utf8(output.stdout).unwrap(), name);
        }
    }
}
