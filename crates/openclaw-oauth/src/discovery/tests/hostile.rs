//! Servers that are broken, or mean harm.

use std::time::Duration;

use super::*;

/// What is said about metadata in which some fields are different.
async fn refusal(fields: Json) -> String {
    let world = World::new();
    world.describes(BY_PATH, world.description());
    world.offers(OAUTH, with(world.metadata(), &fields));
    let error = world.discover().await.unwrap_err();
    assert_eq!(error.remedy(), Remedy::Change, "{error}");
    let origin = world.authorization.origin();
    error.to_string().replace(&origin, "ISSUER")
}

#[tokio::test]
async fn metadata_of_somebody_else_are_not_used() {
    for (issuer, expected) in [
        (
            json!("https://evil.example.com"),
            "https://evil.example.com",
        ),
        (
            json!("https://evil.example.com/\u{202e}\u{1b}[2J"),
            "https://evil.example.com/",
        ),
    ] {
        assert_eq!(
            refusal(json!({ "issuer": issuer })).await,
            format!("ISSUER{OAUTH} is of the issuer `{expected}`, not of `ISSUER`")
        );
    }
    for nobody in [json!(null), json!(""), json!(["x"])] {
        let said = refusal(json!({ "issuer": nobody })).await;
        assert_eq!(said, format!("ISSUER{OAUTH} names no `issuer`"));
    }
}

#[tokio::test]
async fn an_issuer_differs_by_one_slash_and_no_more() {
    let world = World::new();
    let origin = world.authorization.origin();
    world.describes(BY_PATH, world.description());
    for said in [
        format!("{origin}//"),
        format!("{origin}/t"),
        origin.replace("127.0.0.1", "localhost"),
        origin.to_uppercase(),
        format!("{origin}?"),
    ] {
        world.offers(OAUTH, metadata(&said));
        let error = world.discover().await.unwrap_err();
        assert!(error.to_string().contains("is of the issuer"), "{error}");
    }
}

#[tokio::test]
async fn addresses_that_anybody_could_read_along_are_not_used() {
    for name in [
        "authorization_endpoint",
        "token_endpoint",
        "registration_endpoint",
        "revocation_endpoint",
    ] {
        for (address, expected) in [
            (
                "http://auth.example.com/x?secret",
                "http://auth.example.com/x is not asked: only `https://` is",
            ),
            (
                "javascript:alert(1)",
                "javascript: is not asked: only `https://` is",
            ),
            (
                "https://a:b@auth.example.com/",
                "https://auth.example.com/ is not asked: it has a password in it",
            ),
        ] {
            assert_eq!(
                refusal(json!({ name: address })).await,
                format!("the `{name}` in ISSUER{OAUTH} is wrong: {expected}")
            );
        }
        assert_eq!(
            refusal(json!({ name: "/relative" })).await,
            format!("the `{name}` in ISSUER{OAUTH} is no address: `/relative`")
        );
    }
    let said = refusal(json!({ "token_endpoint": null })).await;
    assert_eq!(said, format!("ISSUER{OAUTH} names no `token_endpoint`"));
}

#[tokio::test]
async fn logins_that_are_not_protected_are_not_begun() {
    for methods in [
        json!(null),
        json!([]),
        json!(["plain"]),
        json!(["s256"]),
        json!("S256"),
    ] {
        let said = refusal(json!({ "code_challenge_methods_supported": methods })).await;
        assert!(
            said.starts_with(&format!(
                "ISSUER{OAUTH} does not say that logins are protected"
            )),
            "{said}"
        );
    }
}

#[tokio::test]
async fn a_description_of_somebody_else_is_not_used() {
    let world = World::new();
    let other = with(
        world.description(),
        &json!({ "resource": "https://evil.example.com/mcp" }),
    );
    let place = format!("{}/meta", world.server.origin());
    world.server_answers(move |_| Some(Answer::json(200, &other)));
    world.offers(OAUTH, world.metadata());
    for challenge in [Challenge::default(), named(&place)] {
        let error = world.discover_for(&world.resource(), &challenge).await;
        let error = error.unwrap_err();
        assert_eq!(error.remedy(), Remedy::Change);
        let expected = format!(
            "is about `https://evil.example.com/mcp`, not about {}",
            world.address()
        );
        assert!(error.to_string().ends_with(&expected), "{error}");
    }
    assert!(world.authorization.asked().is_empty());
}

#[tokio::test]
async fn nothing_takes_the_place_of_a_description_that_the_server_names() {
    let world = World::new();
    world.describes(BY_PATH, world.description());
    world.offers(OAUTH, world.metadata());
    let place = format!("{}/nowhere?secret", world.server.origin());
    let error = world.discover_for(&world.resource(), &named(&place)).await;
    let error = error.unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("there is nothing at {}/nowhere", world.server.origin())
    );
    assert!(
        error
            .hint_text()
            .unwrap()
            .contains("auth.authorizationServerUrl")
    );
    assert_eq!(world.asked_server(), ["/nowhere"]);
}

#[tokio::test]
async fn what_fails_for_now_is_neither_nothing_nor_the_end() {
    for status in [500, 502, 503, 429, 408, 425] {
        let world = World::new();
        world.server_answers(move |_| Some(Answer::bytes(status, "text/html", "")));
        let error = world.discover().await.unwrap_err();
        assert_eq!(error.remedy(), Remedy::Wait, "{status}");
        assert!(
            error.to_string().ends_with(&format!("status {status}")),
            "{error}"
        );
        world.describes(BY_PATH, world.description());
        world.authorization_answers(move |_| Some(Answer::bytes(status, "text/html", "")));
        assert_eq!(world.discover().await.unwrap_err().remedy(), Remedy::Wait);
    }
    // Without the guess that there are the usual addresses.
    let world = World::new();
    world
        .server_answers(|asked| (asked.path == OAUTH).then(|| Answer::bytes(503, "text/html", "")));
    assert_eq!(world.discover().await.unwrap_err().remedy(), Remedy::Wait);
}

#[tokio::test]
async fn who_is_named_and_has_no_metadata_is_told() {
    let world = World::new();
    world.describes(BY_PATH, world.description());
    let error = world.discover().await.unwrap_err();
    assert_eq!(error.remedy(), Remedy::Change);
    assert_eq!(
        error.to_string(),
        format!(
            "the authorization server {}/ has no metadata at any of the usual places",
            world.authorization.origin()
        )
    );
    world.describes(BY_PATH, json!({ "resource": world.address() }));
    let error = world.discover().await.unwrap_err();
    assert!(
        error.to_string().contains("names no authorization server"),
        "{error}"
    );
}

#[tokio::test]
async fn what_is_no_document_is_told() {
    let deep = "[".repeat(200_000);
    for body in ["<html>", "[]", "null", "7", "{", "", deep.as_str()] {
        let world = World::new();
        world.describes(BY_PATH, world.description());
        let body = body.to_owned();
        world.authorization_answers(move |_| {
            Some(Answer::bytes(200, "application/json", body.clone()))
        });
        let error = world.discover().await.unwrap_err();
        assert_eq!(error.remedy(), Remedy::Change);
        assert_eq!(
            error.to_string(),
            format!(
                "{}{OAUTH} is not a JSON object",
                world.authorization.origin()
            )
        );
    }
}

#[tokio::test]
async fn a_document_without_end_is_not_read() {
    let world = World::new();
    let place = format!("{}/huge", world.server.origin());
    world.server_answers(|_| {
        let body = vec![b' '; 10 * 1024 * 1024];
        Some(Answer::bytes(200, "application/json", body))
    });
    let error = world.discover_for(&world.resource(), &named(&place)).await;
    let error = error.unwrap_err();
    assert!(
        error.to_string().contains("more than 1048576 bytes"),
        "{error}"
    );
    assert_eq!(error.remedy(), Remedy::Change);
}

#[tokio::test]
async fn a_way_without_end_is_not_gone() {
    let world = World::new();
    let place = format!("{}/loop", world.server.origin());
    world.server_answers(|asked| {
        let answer = Answer::bytes(302, "text/html", "");
        Some(answer.header("location", asked.path.clone()))
    });
    let error = world.discover_for(&world.resource(), &named(&place)).await;
    assert!(error.unwrap_err().to_string().contains("leads on and on"));
    assert_eq!(world.asked_server().len(), 6);
}

#[tokio::test]
async fn a_server_out_there_can_not_name_what_is_in_here() {
    let world = World::new();
    // Nobody is there; nothing is asked of it.
    let resource = resource("https://203.0.113.7/mcp");
    for place in [
        world.server.origin(),
        "http://169.254.169.254/latest/meta-data".to_owned(),
        "https://169.254.169.254/latest/meta-data".to_owned(),
        "https://localhost/meta".to_owned(),
        "https://10.0.0.1/meta".to_owned(),
        "https://[fd12::1]/meta".to_owned(),
        "https://2130706433/meta".to_owned(),
        "https://0x0a000001/meta".to_owned(),
    ] {
        let error = world.discover_for(&resource, &named(&place)).await;
        let error = error.unwrap_err();
        assert_eq!(error.remedy(), Remedy::Change, "{error}");
        assert!(error.to_string().contains("is not asked"), "{error}");
    }
    assert!(world.server.asked().is_empty());
}

#[tokio::test(start_paused = true)]
async fn finding_out_ends_in_time() {
    let world = World::new();
    let servers: Vec<String> = (0..8)
        .map(|number| format!("{}/{number}", world.authorization.origin()))
        .collect();
    let description = with(
        world.description(),
        &json!({ "authorization_servers": servers }),
    );
    world.describes(BY_PATH, description);
    world.authorization_answers(|_| {
        Some(Answer::json(200, &json!({})).after(Duration::from_mins(10)))
    });
    let begun = tokio::time::Instant::now();
    let error = world.discover().await.unwrap_err();
    assert_eq!(error.remedy(), Remedy::Wait);
    assert!(
        begun.elapsed() <= Duration::from_secs(31),
        "{:?}",
        begun.elapsed()
    );
}
