//! Tokens that change while a connection lasts.

use std::sync::{Arc, Mutex};

use super::server::{Server, answer};
use super::*;
use crate::authorize::{Authorizer, Bearer, NoBearer, PendingBearer, PendingVerdict, Verdict};
use crate::http::HttpFailure;

/// Has tokens as a test says, and notes what it was asked.
#[derive(Default)]
struct Tokens {
    at_hand: Mutex<Option<&'static str>>,
    obtained: Mutex<Option<Result<Option<&'static str>, NoBearer>>>,
    /// What it says to each refusal, from the last to the first.
    verdicts: Mutex<Vec<(Verdict, Option<&'static str>)>>,
    refusals: Mutex<Vec<(Option<Bearer>, u16)>>,
}

fn bearer(token: &str) -> Bearer {
    Bearer::new(&Secret::new(token)).unwrap()
}

impl Authorizer for Tokens {
    fn at_hand(&self) -> Option<Bearer> {
        self.at_hand.lock().unwrap().map(bearer)
    }

    fn obtain(&self) -> PendingBearer<'_> {
        let obtained = self.obtained.lock().unwrap().take();
        Box::pin(async move {
            let token = obtained.expect("nothing is left to be obtained")?;
            Ok(token.map(bearer))
        })
    }

    fn refused<'a>(
        &'a self,
        shown: Option<&'a Bearer>,
        failure: &'a HttpFailure,
    ) -> PendingVerdict<'a> {
        let refusal = (shown.cloned(), failure.status.as_u16());
        self.refusals.lock().unwrap().push(refusal);
        let (verdict, token) = self.verdicts.lock().unwrap().pop().unwrap();
        *self.at_hand.lock().unwrap() = token;
        Box::pin(async move { verdict })
    }

    fn in_vain(&self, _: &Bearer, _: &HttpFailure) -> String {
        "in vain".to_owned()
    }
}

/// A server that takes these tokens and wants more scopes for those that begin with `narrow`.
async fn server(good: &'static [&'static str]) -> Server {
    Server::start(move |mut peer| async move {
        while let Some(request) = peer.request().await {
            let shown = request.header("authorization").unwrap_or("nothing");
            let shown = shown.strip_prefix("Bearer ").unwrap_or(shown);
            let text = if good.contains(&shown) {
                answer("200 OK", "Content-Type: application/json\r\n", "{}")
            } else if shown.starts_with("narrow") {
                let challenge =
                    "WWW-Authenticate: Bearer error=\"insufficient_scope\", scope=\"all\"\r\n";
                answer("403 Forbidden", challenge, "")
            } else if shown == "banned" {
                answer("403 Forbidden", "", "")
            } else {
                answer("401 Unauthorized", "", "")
            };
            peer.send(&text).await;
        }
    })
    .await
}

fn with(server: &Server, tokens: &Arc<Tokens>) -> HttpEndpoint {
    let client = clients().get(&TlsSettings::default()).unwrap();
    let url = Url::parse(&server.url("/")).unwrap();
    let authorization = Authorization::Asked(tokens.clone());
    HttpEndpoint::new(client, url, &[], &authorization).unwrap()
}

fn tokens(
    at_hand: Option<&'static str>,
    mut verdicts: Vec<(Verdict, Option<&'static str>)>,
) -> Arc<Tokens> {
    verdicts.reverse();
    Arc::new(Tokens {
        at_hand: Mutex::new(at_hand),
        verdicts: Mutex::new(verdicts),
        ..Tokens::default()
    })
}

#[tokio::test]
async fn every_request_shows_the_token_of_that_moment() {
    let server = server(&["first", "second"]).await;
    let tokens = tokens(Some("first"), Vec::new());
    let endpoint = with(&server, &tokens);
    post(&endpoint, "{}").await.unwrap();
    *tokens.at_hand.lock().unwrap() = Some("second");
    post(&endpoint, "{}").await.unwrap();
    *tokens.at_hand.lock().unwrap() = None;
    *tokens.obtained.lock().unwrap() = Some(Ok(Some("first")));
    post(&endpoint, "{}").await.unwrap();
    assert!(tokens.refusals.lock().unwrap().is_empty());
    // Another address of the same server shows it, too.
    let other = endpoint.at(Url::parse(&server.url("/other")).unwrap());
    *tokens.at_hand.lock().unwrap() = Some("second");
    post(&other, "{}").await.unwrap();
}

#[tokio::test]
async fn a_refused_token_is_replaced_once() {
    let server = server(&["good"]).await;
    let renewed = tokens(Some("old"), vec![(Verdict::Again, Some("good"))]);
    post(&with(&server, &renewed), "{}").await.unwrap();
    assert_eq!(
        *renewed.refusals.lock().unwrap(),
        [(Some(bearer("old")), 401)]
    );

    let useless = tokens(Some("old"), vec![(Verdict::Again, Some("older"))]);
    let error = post(&with(&server, &useless), "{}").await.unwrap_err();
    let HttpError::Unauthorized(unauthorized) = error else {
        panic!("{error:?}");
    };
    assert_eq!(unauthorized.reason, "in vain");
    assert_eq!(unauthorized.failure.unwrap().status, 401);
    assert_eq!(useless.refusals.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn wider_scopes_are_asked_for_twice_and_no_more() {
    let server = server(&["wide"]).await;
    let verdicts = vec![
        (Verdict::Again, Some("narrow-2")),
        (Verdict::Again, Some("wide")),
    ];
    let granted = tokens(Some("narrow-1"), verdicts);
    post(&with(&server, &granted), "{}").await.unwrap();

    let verdicts = vec![
        (Verdict::Again, Some("narrow-2")),
        (Verdict::Again, Some("narrow-3")),
    ];
    let never = tokens(Some("narrow-1"), verdicts);
    let error = post(&with(&server, &never), "{}").await.unwrap_err();
    assert!(
        matches!(&error, HttpError::Status(it) if it.status == 403),
        "{error:?}"
    );
    assert_eq!(never.refusals.lock().unwrap().len(), 2);
}

#[tokio::test]
async fn a_refusal_that_is_not_about_scopes_is_final() {
    let server = server(&[]).await;
    let banned = tokens(Some("banned"), Vec::new());
    let error = post(&with(&server, &banned), "{}").await.unwrap_err();
    assert!(
        matches!(&error, HttpError::Status(it) if it.status == 403),
        "{error:?}"
    );
    assert!(banned.refusals.lock().unwrap().is_empty());
}

#[tokio::test]
async fn who_has_to_log_in_is_told_with_what_the_server_said() {
    let server = server(&[]).await;
    let login = NoBearer::LogIn("log in first".to_owned());
    let verdicts = vec![(Verdict::Without(login.clone()), None)];
    let refused = tokens(Some("old"), verdicts);
    let error = post(&with(&server, &refused), "{}").await.unwrap_err();
    let HttpError::Unauthorized(unauthorized) = error else {
        panic!("{error:?}");
    };
    assert_eq!(unauthorized.reason, "log in first");
    assert_eq!(unauthorized.failure.unwrap().status, 401);
    assert_eq!(server.accepted(), 1);

    // Without a token that could be good nothing is sent.
    for (nothing, is_passing) in [(login, false), (NoBearer::Later("later".to_owned()), true)] {
        let tokens = tokens(None, Vec::new());
        *tokens.obtained.lock().unwrap() = Some(Err(nothing));
        let error = post(&with(&server, &tokens), "{}").await.unwrap_err();
        assert_eq!(
            matches!(error, HttpError::NoToken(_)),
            is_passing,
            "{error:?}"
        );
        assert_eq!(server.accepted(), 1);
    }
}

#[tokio::test]
async fn a_server_that_asks_for_nothing_is_shown_nothing() {
    let server = server(&["nothing"]).await;
    let tokens = tokens(None, Vec::new());
    *tokens.obtained.lock().unwrap() = Some(Ok(None));
    post(&with(&server, &tokens), "{}").await.unwrap();
}

#[tokio::test]
async fn credentials_of_the_configuration_win() {
    let server = server(&["mine", "Basic dTpw"]).await;
    let tokens = tokens(Some("token"), Vec::new());
    let client = clients().get(&TlsSettings::default()).unwrap();
    let authorization = Authorization::Asked(tokens);
    let headers = [("Authorization".to_owned(), Secret::new("Bearer mine"))];
    let url = Url::parse(&server.url("/")).unwrap();
    let endpoint = HttpEndpoint::new(client.clone(), url, &headers, &authorization).unwrap();
    post(&endpoint, "{}").await.unwrap();
    assert!(endpoint.shows_credentials());
    let url = Url::parse(&server.url("/").replace("http://", "http://u:p@")).unwrap();
    let endpoint = HttpEndpoint::new(client, url, &[], &authorization).unwrap();
    post(&endpoint, "{}").await.unwrap();
}

#[test]
fn a_token_is_not_printed_and_can_hold_no_line_break() {
    assert_eq!(format!("{:?}", bearer("hunter2")), "Bearer");
    assert!(Bearer::new(&Secret::new("a\nb")).is_err());
}
