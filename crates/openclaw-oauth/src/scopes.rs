//! What is asked for.

use crate::challenge::Challenge;
use crate::discovery::Discovered;
use crate::resource::{Grant, Resource};

/// How many scopes are asked for at most: nobody needs as many.
const MOST_SCOPES: usize = 256;
/// How long one may be, in bytes.
const LONGEST_SCOPE: usize = 512;
/// What asks for a token that outlives the login (OIDC Core §11).
pub(crate) const OFFLINE: &str = "offline_access";

/// The scopes to ask for: those of the configuration, else those that the server wants now, else
/// those that it says it knows, else none, which leaves it to the authorization server. What was
/// granted or wanted `already` is asked for too, so that a wider login takes nothing away.
pub(crate) fn scopes(
    resource: &Resource,
    challenge: &Challenge,
    discovered: &Discovered,
    already: &[String],
) -> Vec<String> {
    let mut wanted = Vec::new();
    let chosen = match &resource.scopes {
        Some(configured) => configured,
        None if !challenge.scopes.is_empty() => &challenge.scopes,
        None => &discovered.resource_scopes,
    };
    // Whoever configures scopes means these, and may want fewer than there were.
    let already = already.iter().filter(|_| resource.scopes.is_none());
    let all = already.chain(chosen);
    add(&mut wanted, all.map(String::as_str));
    let known = &discovered.server.scopes_supported;
    let is_offline_known = known.iter().any(|scope| scope == OFFLINE);
    // A scope by itself would replace those that the authorization server grants without being
    // asked, and who configures scopes means these.
    if is_offline_known
        && !wanted.is_empty()
        && resource.scopes.is_none()
        && resource.grant == Grant::AuthorizationCode
    {
        add(&mut wanted, [OFFLINE]);
    }
    wanted
}

/// The scopes in a text (RFC 6749 §3.3), each once.
pub(crate) fn scope_list(text: &str) -> Vec<String> {
    let mut scopes = Vec::new();
    add(&mut scopes, text.split_whitespace());
    scopes
}

/// Adds what are scopes and not there yet.
pub(crate) fn add<'a>(scopes: &mut Vec<String>, more: impl IntoIterator<Item = &'a str>) {
    for scope in more {
        let is_new = || !scopes.iter().any(|other| other == scope);
        if scopes.len() < MOST_SCOPES && is_scope(scope) && is_new() {
            scopes.push(scope.to_owned());
        }
    }
}

fn is_scope(text: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_graphic() && byte != b'"' && byte != b'\\';
    (1..=LONGEST_SCOPE).contains(&text.len()) && text.bytes().all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{discovered, resource};

    fn strings(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|&text| text.to_owned()).collect()
    }

    #[test]
    fn who_knows_best_decides() {
        let mut resource = resource("https://mcp.example.com/mcp");
        let mut discovered = discovered("https://auth.example.com");
        let mut challenge = Challenge::default();
        let chosen = |resource: &Resource, challenge: &Challenge, discovered: &Discovered| {
            scopes(resource, challenge, discovered, &[])
        };
        assert!(chosen(&resource, &challenge, &discovered).is_empty());
        discovered.resource_scopes = strings(&["a", "b"]);
        assert_eq!(chosen(&resource, &challenge, &discovered), ["a", "b"]);
        challenge.scopes = strings(&["c"]);
        assert_eq!(chosen(&resource, &challenge, &discovered), ["c"]);
        resource.scopes = Some(strings(&["d", "d"]));
        assert_eq!(chosen(&resource, &challenge, &discovered), ["d"]);
        resource.scopes = Some(Vec::new());
        assert!(chosen(&resource, &challenge, &discovered).is_empty());
    }

    #[test]
    fn a_wider_login_takes_nothing_away() {
        let resource = resource("https://mcp.example.com/mcp");
        let discovered = discovered("https://auth.example.com");
        let challenge = Challenge {
            scopes: strings(&["write", "read"]),
            ..Challenge::default()
        };
        let wanted = scopes(
            &resource,
            &challenge,
            &discovered,
            &strings(&["read", "old"]),
        );
        assert_eq!(wanted, ["read", "old", "write"]);
    }

    #[test]
    fn a_token_that_outlives_the_login_is_asked_for_where_that_is_known() {
        let mut resource = resource("https://mcp.example.com/mcp");
        let mut discovered = discovered("https://auth.example.com");
        let challenge = Challenge::default();
        discovered.server.scopes_supported = strings(&["a", OFFLINE]);
        assert!(scopes(&resource, &challenge, &discovered, &[]).is_empty());
        discovered.resource_scopes = strings(&["a"]);
        let wanted = scopes(&resource, &challenge, &discovered, &[]);
        assert_eq!(wanted, ["a", OFFLINE]);
        resource.grant = Grant::ClientCredentials;
        assert_eq!(scopes(&resource, &challenge, &discovered, &[]), ["a"]);
        resource.grant = Grant::AuthorizationCode;
        resource.scopes = Some(strings(&["a"]));
        assert_eq!(scopes(&resource, &challenge, &discovered, &[]), ["a"]);
        resource.scopes = None;
        discovered.server.scopes_supported = strings(&["a"]);
        assert_eq!(scopes(&resource, &challenge, &discovered, &[]), ["a"]);
    }

    #[test]
    fn what_is_no_scope_is_left_out() {
        assert_eq!(
            scope_list(" a\tb  a \"c\" d\\ é x:y/z.* "),
            ["a", "b", "x:y/z.*"]
        );
        let many: Vec<String> = (0..1000).map(|number| number.to_string()).collect();
        assert_eq!(scope_list(&many.join(" ")).len(), MOST_SCOPES);
    }
}
