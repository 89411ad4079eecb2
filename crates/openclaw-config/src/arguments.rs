//! Credentials in the arguments of a program: one rule for warning about them and for hiding them.

use openclaw_secrets::is_credential_name;

/// The name and the value of a credential that an argument holds, after the one before it:
/// `--token` and then the value, `--token=…`, `NAME=…` or `Header: …`.
pub(crate) fn named_credential<'a>(
    before: &'a str,
    argument: &'a str,
) -> Option<(&'a str, &'a str)> {
    let option = before.trim_start_matches('-');
    let is_option = option.len() < before.len() && !option.contains('=');
    if is_option && is_credential_name(option) {
        return Some((option, argument));
    }
    let (name, value) = argument.trim_start_matches('-').split_once(['=', ':'])?;
    is_credential_name(name).then_some((name, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_found_after_options_and_in_assignments() {
        for (before, argument, expected) in [
            ("--token", "abc", Some(("token", "abc"))),
            ("-y", "--api-key=abc", Some(("api-key", "abc"))),
            ("-e", "GITHUB_TOKEN=abc", Some(("GITHUB_TOKEN", "abc"))),
            ("-H", "X-Api-Key: abc", Some(("X-Api-Key", " abc"))),
            ("--token=abc", "--port", None),
            ("token", "abc", None),
            ("--port", "80", None),
            ("--token-file", "/x", None),
            ("", "https://x.example", None),
            ("", "--verbose", None),
        ] {
            assert_eq!(
                named_credential(before, argument),
                expected,
                "{before} {argument}"
            );
        }
    }
}
