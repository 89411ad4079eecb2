//! Lists of challenges (RFC 9110 §11), read as far as they can be.

/// One challenge.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct OneChallenge {
    /// Its scheme; empty where parameters stand before any.
    pub(super) scheme: String,
    parameters: Vec<(String, String)>,
}

impl OneChallenge {
    /// The first parameter of a name.
    pub(super) fn parameter(&self, name: &str) -> Option<&str> {
        let mut all = self.parameters.iter();
        let found = all.find(|(own, _)| own.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }
}

/// The challenges of one header.
///
/// Commas separate challenges as well as their parameters: a word that has `=` behind it is a
/// parameter, any other one is a scheme.
pub(super) fn challenges(header: &str) -> Vec<OneChallenge> {
    let mut rest = Rest(header);
    let mut all: Vec<OneChallenge> = Vec::new();
    loop {
        rest.skip(|character| character == ',' || character.is_ascii_whitespace());
        let word = rest.take(is_token);
        if word.is_empty() {
            // Nothing that may stand here: it is left out.
            if rest.next().is_none() {
                return all;
            }
            continue;
        }
        let after_word = rest.0;
        rest.skip(|character| character.is_ascii_whitespace());
        if rest.0.starts_with('=') {
            rest.next();
            rest.skip(|character| character.is_ascii_whitespace());
            let value = rest.value();
            if all.is_empty() {
                all.push(OneChallenge::default());
            }
            if let Some(last) = all.last_mut() {
                last.parameters.push((word.to_owned(), value));
            }
        } else {
            all.push(OneChallenge {
                scheme: word.to_owned(),
                parameters: Vec::new(),
            });
            rest = Rest(after_word);
            rest.skip_token68();
        }
    }
}

/// What is still to be read.
struct Rest<'a>(&'a str);

impl<'a> Rest<'a> {
    fn next(&mut self) -> Option<char> {
        let mut characters = self.0.chars();
        let next = characters.next();
        self.0 = characters.as_str();
        next
    }

    fn take(&mut self, belongs: impl Fn(char) -> bool) -> &'a str {
        let end = self.0.find(|character| !belongs(character));
        let (taken, rest) = self.0.split_at(end.unwrap_or(self.0.len()));
        self.0 = rest;
        taken
    }

    fn skip(&mut self, belongs: impl Fn(char) -> bool) {
        self.take(belongs);
    }

    /// The value of a parameter. One that should have been quoted ends at a comma or a blank, one
    /// whose quotes are not closed ends at the end.
    fn value(&mut self) -> String {
        if !self.0.starts_with('"') {
            let is_part = |character: char| character != ',' && !character.is_ascii_whitespace();
            return self.take(is_part).to_owned();
        }
        self.next();
        let mut value = String::new();
        while let Some(character) = self.next() {
            match character {
                '"' => break,
                '\\' => value.extend(self.next()),
                _ => value.push(character),
            }
        }
        value
    }

    /// Skips credentials of the short form, which is followed by the end or a comma: `Negotiate
    /// abc==`.
    fn skip_token68(&mut self) {
        let mut rest = Rest(self.0);
        rest.skip(|character| character == ' ' || character == '\t');
        let is_part = |character: char| is_token(character) || character == '/';
        if rest.take(is_part).is_empty() {
            return;
        }
        rest.skip(|character| character == '=');
        rest.skip(|character| character.is_ascii_whitespace());
        if rest.0.is_empty() || rest.0.starts_with(',') {
            self.0 = rest.0;
        }
    }
}

/// Whether a character may stand in a token (RFC 9110 §5.6.2).
fn is_token(character: char) -> bool {
    character.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(character)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(header: &str) -> Vec<(String, Vec<(String, String)>)> {
        let all = challenges(header).into_iter();
        all.map(|challenge| (challenge.scheme, challenge.parameters))
            .collect()
    }

    fn challenge(scheme: &str, parameters: &[(&str, &str)]) -> (String, Vec<(String, String)>) {
        let parameters = parameters.iter();
        let parameters = parameters.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        (scheme.to_owned(), parameters.collect())
    }

    #[test]
    fn schemes_and_parameters_are_told_apart() {
        // The example of RFC 9110 §11.6.1.
        assert_eq!(
            read(
                r#"Basic realm="simple", Newauth realm="apps", type=1, title="Login to \"apps\"""#
            ),
            [
                challenge("Basic", &[("realm", "simple")]),
                challenge(
                    "Newauth",
                    &[
                        ("realm", "apps"),
                        ("type", "1"),
                        ("title", r#"Login to "apps""#)
                    ]
                ),
            ]
        );
        assert_eq!(
            read("Negotiate, NTLM dGVz/dA==, Bearer"),
            [
                challenge("Negotiate", &[]),
                challenge("NTLM", &[]),
                challenge("Bearer", &[]),
            ]
        );
        assert_eq!(
            read(r#",, Bearer a = "x,y" ,b=;, () c="open \"#),
            [challenge(
                "Bearer",
                &[("a", "x,y"), ("b", ";"), ("c", "open ")]
            )]
        );
    }
}
