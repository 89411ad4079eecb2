//! Credentials that a program knows: the setting `credential_process` of a profile.

use std::ffi::OsString;

use openclaw_process::{Inherited, ProgramCommand, child_environment, find_program};
use reqsign_aws_v4::Credential;
use serde_json::Value as Json;

use crate::error::SecretError;
use crate::program;
use crate::surroundings::Surroundings;
use crate::value::Document;

/// How much a program may answer.
const LARGEST_ANSWER: usize = 64 * 1024;
/// The version of what programs answer.
const VERSION: u64 = 1;

/// Runs the program of a profile, and takes the credentials that it writes.
pub(super) async fn credential(
    surroundings: &Surroundings,
    profile: &str,
    line: &str,
) -> Result<Credential, SecretError> {
    let shown = format!("the `credential_process` of the AWS profile {profile:?}");
    let unusable = |why: &str| SecretError::unusable(format!("{shown} {why}"));
    let words = words(line, cfg!(windows)).ok_or_else(|| {
        SecretError::misconfigured(format!("{shown} has a quotation mark that is not closed"))
    })?;
    let command = command(surroundings, &words)
        .map_err(|error| SecretError::misconfigured(format!("{shown} can't be run: {error}")))?;
    let launcher = &surroundings.launcher;
    let output = program::run(launcher, &command, Vec::new(), LARGEST_ANSWER).await?;
    if !output.succeeded() {
        return Err(output.failure(&surroundings.redactor, &shown));
    }
    // What the parser says about a place that is wrong may be a part of a credential.
    let answer =
        Document::parse(&output.stdout).map_err(|_| unusable("does not answer with JSON"))?;
    let text = |name: &str| {
        let text = answer.get(name).and_then(Json::as_str);
        text.filter(|text| !text.is_empty()).map(str::to_owned)
    };
    let secret = text("SecretAccessKey");
    let token = text("SessionToken");
    for text in [&secret, &token].into_iter().flatten() {
        let _ = surroundings.credential(text.as_str());
    }
    if answer.get("Version").and_then(Json::as_u64) != Some(VERSION) {
        return Err(unusable("answers with another `Version` than 1"));
    }
    let (Some(access_key_id), Some(secret_access_key)) = (text("AccessKeyId"), secret) else {
        return Err(unusable(
            "does not answer with `AccessKeyId` and `SecretAccessKey`",
        ));
    };
    let expires_in = match text("Expiration").map(|text| text.parse()) {
        Some(Ok(time)) => Some(time),
        Some(Err(_)) => return Err(unusable("answers with an `Expiration` that is no time")),
        None => None,
    };
    Ok(Credential {
        access_key_id,
        secret_access_key,
        session_token: token,
        expires_in,
    })
}

/// What is run. The program gets our whole environment, as it does from every other tool that
/// reads AWS's files: it is found by, and finds its own login by, variables that nobody can list.
fn command(surroundings: &Surroundings, words: &[String]) -> Result<ProgramCommand, String> {
    let environment = &surroundings.environment;
    let (program, arguments) = words.split_first().ok_or("it is empty")?;
    let search = surroundings.variable("PATH").map(OsString::from);
    let extensions = surroundings.variable("PATHEXT").map(OsString::from);
    let program = find_program(
        program,
        search.as_deref(),
        extensions.as_deref(),
        environment.directory(),
    )
    .map_err(|error| error.to_string())?;
    let ours = environment.process_variables();
    let ours = ours.map(|(name, value)| (OsString::from(name), OsString::from(value)));
    Ok(ProgramCommand {
        program,
        arguments: arguments.iter().map(OsString::from).collect(),
        environment: child_environment(ours, &Inherited::All, [])
            .into_iter()
            .collect(),
        directory: None,
    })
}

/// The words of a command, without a shell: quotation marks keep words together, and nothing else
/// has a meaning. On Windows a backslash is part of a path.
fn words(line: &str, backslash_is_plain: bool) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    let mut characters = line.chars().peekable();
    while let Some(character) = characters.next() {
        match (quote, character) {
            (Some(mark), _) if character == mark => quote = None,
            (None, '"' | '\'') => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            (None, _) if character.is_whitespace() => words.extend(word.take()),
            (None, '\\') if !backslash_is_plain => {
                word.get_or_insert_default().push(characters.next()?);
            }
            (Some('"'), '\\') if !backslash_is_plain => {
                let next = characters.next_if(|next| matches!(next, '"' | '\\'));
                word.get_or_insert_default().push(next.unwrap_or('\\'));
            }
            _ => word.get_or_insert_default().push(character),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotation_marks_keep_words_together() {
        for (line, expected) in [
            ("a  b\tc", vec!["a", "b", "c"]),
            (
                r#""/opt/my tool" --x='y z' "" e"#,
                vec!["/opt/my tool", "--x=y z", "", "e"],
            ),
            (r#"a\ b "c\"d\e" 'f\g'"#, vec!["a b", r#"c"d\e"#, r"f\g"]),
            ("$(x) `y` ; | > ~", vec!["$(x)", "`y`", ";", "|", ">", "~"]),
            ("", vec![]),
        ] {
            assert_eq!(words(line, false).unwrap(), expected, "{line}");
        }
        for line in ["a 'b", "\"", "a\\"] {
            assert_eq!(words(line, false), None, "{line}");
        }
        let windows = words(r#""C:\My Tools\x.exe" y\z"#, true).unwrap();
        assert_eq!(windows, [r"C:\My Tools\x.exe", r"y\z"]);
    }

    proptest::proptest! {
        #[test]
        fn any_line_is_split_without_a_panic(line in "[a-b \\\\\"'é]{0,40}", plain: bool) {
            let words = words(&line, plain).unwrap_or_default();
            proptest::prop_assert!(words.len() <= line.len());
        }
    }
}
