use proptest::prelude::*;

use super::*;
use crate::client::Registration;
use crate::error::Remedy;
use crate::testing::{public_client, url};

fn pending() -> PendingLogin {
    PendingLogin {
        login: "login-1".to_owned(),
        state: Secret::new("st4te"),
        verifier: Secret::new("verifier"),
        begun_at: 1_000_000,
        issuer: "https://auth.example.com".to_owned(),
        issuer_promised: false,
        client: public_client(Registration::Dynamic),
        resource: "https://mcp.example.com/mcp".to_owned(),
        scopes: Vec::new(),
        redirect_uri: "http://127.0.0.1:7/callback".to_owned(),
        token_endpoint: url("https://auth.example.com/token"),
        revocation_endpoint: None,
        signing_algorithms: Vec::new(),
    }
}

fn check(text: &str) -> Result<String, OAuthError> {
    check_for(text, &pending())
}

fn check_for(text: &str, login: &PendingLogin) -> Result<String, OAuthError> {
    let code = Callback::read(text)?.check(login, login.begun_at + 1)?;
    Ok(code.expose().to_owned())
}

#[test]
fn a_code_is_found_however_it_is_brought() {
    for (text, code) in [
        ("c0de", "c0de"),
        ("  'c0de' \n", "c0de"),
        ("c0\n  de", "c0de"),
        ("4/0AX_y-z~.==", "4/0AX_y-z~.=="),
        ("4%2F0AX+y", "4/0AX+y"),
        ("100%", "100%"),
        ("c0de#st4te", "c0de"),
        ("c0de#", "c0de"),
        ("code=c0de&state=st4te", "c0de"),
        ("?state=st4te&code=c%2F0", "c/0"),
        ("/callback?code=c0de&state=st4te", "c0de"),
        ("127.0.0.1:7/callback?code=c0de&state=st4te", "c0de"),
        (
            "\"http://127.0.0.1:7/callback?code=c0de&state=st4te\"",
            "c0de",
        ),
        ("<https://x.example/?a=b&code=c0de&state=st4te#top>", "c0de"),
        ("https://x.example/cb#code=c0de&state=st4te", "c0de"),
        ("app:/cb?code=c0de&state=st4te&iss=", "c0de"),
        ("http://127.0.0.1/?code=c0\nde&sta\r\nte=st4te", "c0de"),
        (
            "code=c0de&state=st4te&iss=https%3A%2F%2Fauth.example.com",
            "c0de",
        ),
    ] {
        assert_eq!(check(text).as_deref(), Ok(code), "{text}");
    }
}

#[test]
fn what_has_no_code_is_refused_without_being_shown() {
    for (text, reason) in [
        ("", "it is empty"),
        (" '' ", "it is empty"),
        ("http://127.0.0.1:7/callback", "there is no `code` in it"),
        ("http://127.0.0.1/?state=h1dden", "there is no `code` in it"),
        ("state=h1dden&code=", "there is no `code` in it"),
        ("/callback?x=h1dden", "there is no `code` in it"),
        ("#st4te", "there is no `code` in it"),
        ("code=h1dden&code=b&state=st4te", "`code` is there twice"),
        ("code=h1dden&state=a&state=st4te", "`state` is there twice"),
    ] {
        let error = Callback::read(text).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("this is not what a login ends with: {reason}"),
            "{text}"
        );
        assert!(error.hint_text().is_some());
    }
    let error = Callback::read(&"x".repeat(20_000)).unwrap_err();
    assert!(error.to_string().ends_with("it is too long"));
}

#[test]
fn the_answer_to_another_login_is_not_taken() {
    for text in [
        "code=c0de&state=other",
        "c0de#other",
        "error=access_denied&state=other",
    ] {
        let callback = Callback::read(text).unwrap();
        assert!(callback.has_state());
        assert!(!callback.names(&pending()));
        let error = check(text).unwrap_err();
        assert_eq!(error.remedy(), Remedy::LogIn);
        assert_eq!(
            error.to_string(),
            "this is the answer to another login, or to one that is over"
        );
    }
    // Only a person can leave it out: who brings a whole answer without it is somebody else.
    for text in ["code=c0de", "http://127.0.0.1/?error=access_denied"] {
        let error = check(text).unwrap_err();
        assert!(error.to_string().contains("`state` is missing"), "{error}");
    }
    assert!(
        Callback::read("x?code=c0de&state=st4te")
            .unwrap()
            .names(&pending())
    );
    let bare = Callback::read("c0de").unwrap();
    assert!(!bare.has_state() && !bare.names(&pending()));
}

#[test]
fn a_login_ends_in_time_or_not_at_all() {
    let (login, callback) = (pending(), Callback::read("c0de#st4te").unwrap());
    let at = |now: u64| callback.check(&login, now);
    assert!(at(login.begun_at + LONGEST_LOGIN).is_ok());
    // A clock that was set back is no reason.
    assert!(at(0).is_ok());
    for late in [login.begun_at + LONGEST_LOGIN + 1, u64::MAX] {
        let error = at(late).unwrap_err();
        assert_eq!(error.remedy(), Remedy::LogIn);
        assert_eq!(
            error.to_string(),
            "the login was begun more than 10 minutes ago"
        );
    }
}

#[test]
fn who_answers_is_who_was_asked() {
    let whole = |issuer: &str| format!("code=c0de&state=st4te&iss={issuer}");
    for promised in [false, true] {
        let login = PendingLogin {
            issuer_promised: promised,
            ..pending()
        };
        let right = check_for(&whole("https://auth.example.com"), &login);
        assert_eq!(right.as_deref(), Ok("c0de"));
        for wrong in [
            "https://evil.example.com",
            "https://auth.example.com/",
            "https://AUTH.example.com",
            "https://auth.example.com:443",
            "https://evil.example.com\u{1b}[2J",
        ] {
            for text in [
                whole(wrong),
                format!("error=access_denied&state=st4te&iss={wrong}"),
            ] {
                let error = check_for(&text, &login).unwrap_err();
                assert_eq!(error.remedy(), Remedy::Change);
                let text = error.to_string();
                assert!(
                    text.contains("`https://auth.example.com` was asked"),
                    "{text}"
                );
                assert!(!text.contains('\u{1b}'), "{text}");
            }
        }
    }
}

#[test]
fn an_issuer_that_is_promised_must_be_there() {
    let login = PendingLogin {
        issuer_promised: true,
        ..pending()
    };
    let error = check_for("code=c0de&state=st4te", &login).unwrap_err();
    assert!(error.to_string().contains("`iss` is missing"), "{error}");
    assert_eq!(error.hint_text(), None);
    for part in ["c0de", "c0de#st4te"] {
        let error = check_for(part, &login).unwrap_err();
        let hint = error.hint_text().unwrap();
        assert!(hint.contains("the whole address"), "{hint}");
    }
    let refused = check_for("error=access_denied&state=st4te", &login);
    assert_eq!(
        refused.unwrap_err().to_string(),
        "the login was refused (`access_denied`)"
    );
}

#[test]
fn refusals_are_told_in_plain_words() {
    for (error, remedy, words) in [
        (
            "access_denied&error_description=no%1B[31m+thanks",
            Remedy::LogIn,
            "the login was refused (`access_denied`): no thanks",
        ),
        (
            "server_error",
            Remedy::Wait,
            "the authorization server failed (`server_error`)",
        ),
        (
            "temporarily_unavailable",
            Remedy::Wait,
            "the authorization server is too busy (`temporarily_unavailable`)",
        ),
        (
            "invalid_scope",
            Remedy::Change,
            "the authorization server does not know what was asked for (`invalid_scope`)",
        ),
        (
            "consent_required",
            Remedy::LogIn,
            "the login was not finished (`consent_required`)",
        ),
        (
            "unauthorized_client",
            Remedy::Register,
            "the authorization server does not let this client log in (`unauthorized_client`)",
        ),
        (
            "odd%0Athing&code=c0de",
            Remedy::Change,
            "the authorization server refuses the login (`odd thing`)",
        ),
    ] {
        let found = check(&format!("error={error}&state=st4te")).unwrap_err();
        assert_eq!(found.to_string(), words);
        assert_eq!(found.remedy(), remedy, "{error}");
    }
    let mut login = pending();
    login.client.registration = Registration::Configured;
    let found = check_for("error=unauthorized_client&state=st4te", &login).unwrap_err();
    assert_eq!(found.remedy(), Remedy::Change);
}

#[test]
fn nothing_secret_is_shown() {
    let callback = Callback::read("code=h1dden-code&state=h1dden-state").unwrap();
    let shown = format!("{callback:?}");
    assert!(!shown.contains("h1dden"), "{shown}");
}

proptest! {
    #[test]
    fn whatever_is_brought_is_read(text in any::<String>()) {
        if let Ok(callback) = Callback::read(&text) {
            let _ = callback.check(&pending(), 0);
        }
    }

    #[test]
    fn what_is_encoded_comes_back(code in "[!-~]{1,40}", state in "[!-~]{1,40}", before in "[a-z:/.]{0,20}") {
        let query = form_urlencoded(&[("x", ""), ("code", &code), ("state", &state)]);
        let callback = Callback::read(&format!("{before}?{query}")).unwrap();
        let login = PendingLogin { state: Secret::new(state), ..pending() };
        prop_assert_eq!(callback.check(&login, 0), Ok(Secret::new(code)));
    }

    #[test]
    fn bare_codes_come_back(code in "[A-Za-z0-9._~-]{1,60}={0,2}") {
        prop_assert_eq!(check(&code), Ok(code));
    }
}

fn form_urlencoded(pairs: &[(&str, &str)]) -> String {
    url::form_urlencoded::Serializer::new(String::new())
        .extend_pairs(pairs)
        .finish()
}

#[test]
fn a_question_mark_in_a_value_is_no_beginning() {
    let query = Secret::new("code=a?b&state=c?d&iss=https%3A%2F%2Fx%3Fy");
    let callback = Callback::read_query(&query).unwrap();
    assert!(callback.has_this_state(&Secret::new("c?d")));
    assert_eq!(callback.brought, Brought::Code(Secret::new("a?b")));
}
