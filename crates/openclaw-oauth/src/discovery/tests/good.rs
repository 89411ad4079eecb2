//! Servers that mean well, in all the ways there are.

use super::*;

#[tokio::test]
async fn a_server_that_follows_the_rules_is_asked_two_questions() {
    let world = World::new();
    let scopes = json!({ "scopes_supported": ["a", "b"] });
    world.describes(BY_PATH, with(world.description(), &scopes));
    let issuer = world.authorization.origin();
    let offered = json!({
        "registration_endpoint": format!("{issuer}/register"),
        "revocation_endpoint": format!("{issuer}/revoke#part"),
        "token_endpoint_auth_methods_supported": ["none", "private_key_jwt"],
        "token_endpoint_auth_signing_alg_values_supported": ["ES256"],
        "scopes_supported": ["a", "offline_access"],
        "grant_types_supported": ["authorization_code"],
        "client_id_metadata_document_supported": true,
        "authorization_response_iss_parameter_supported": true,
    });
    world.offers(OAUTH, with(world.metadata(), &offered));
    let strings =
        |texts: &[&str]| -> Vec<String> { texts.iter().map(|&text| text.to_owned()).collect() };
    assert_eq!(
        world.discover().await,
        Ok(Discovered {
            resource: world.address(),
            issuer: issuer.clone(),
            found: How::Described,
            server: ServerMetadata {
                authorization_endpoint: Some(url(&format!("{issuer}/authorize"))),
                token_endpoint: url(&format!("{issuer}/token")),
                registration_endpoint: Some(url(&format!("{issuer}/register"))),
                revocation_endpoint: Some(url(&format!("{issuer}/revoke"))),
                authentication_methods: Some(strings(&["none", "private_key_jwt"])),
                signing_algorithms: strings(&["ES256"]),
                scopes_supported: strings(&["a", "offline_access"]),
                grant_types: Some(strings(&["authorization_code"])),
                takes_metadata_documents: true,
                issuer_promised: true,
            },
            resource_scopes: strings(&["a", "b"]),
        })
    );
    assert_eq!(world.asked_server(), [BY_PATH]);
    assert_eq!(world.asked_authorization(), [OAUTH]);
}

#[tokio::test]
async fn a_description_of_all_of_the_server_will_do() {
    let world = World::new();
    let origin = world.server.origin();
    world.describes(
        BY_ROOT,
        with(world.description(), &json!({ "resource": origin })),
    );
    world.offers(OPENID, world.metadata());
    let found = world.discover().await.unwrap();
    // Exactly as the server calls itself, without the slash that a parser of addresses adds.
    assert_eq!(found.resource, world.server.origin());
    assert_eq!(world.asked_server(), [BY_PATH, BY_ROOT]);
    assert_eq!(world.asked_authorization(), [OAUTH, OPENID]);
}

#[tokio::test]
async fn a_description_is_where_the_server_says() {
    let world = World::new();
    world.describes("/custom/place.json", world.description());
    world.offers(OAUTH, world.metadata());
    let place = format!("{}/custom/place.json", world.server.origin());
    let found = world.discover_for(&world.resource(), &named(&place)).await;
    assert_eq!(found.unwrap().found, How::Described);
    assert_eq!(world.asked_server(), ["/custom/place.json"]);
}

#[tokio::test]
async fn an_authorization_server_with_a_path_is_found_in_three_places() {
    for place in [
        "/.well-known/oauth-authorization-server/tenant",
        "/.well-known/openid-configuration/tenant",
        "/tenant/.well-known/openid-configuration",
    ] {
        let world = World::new();
        let issuer = format!("{}/tenant", world.authorization.origin());
        let servers = json!({ "authorization_servers": [issuer] });
        world.describes(BY_PATH, with(world.description(), &servers));
        world.offers(place, metadata(&issuer));
        let found = world.discover().await.unwrap();
        assert_eq!(found.issuer, issuer);
        let asked = world.asked_authorization();
        assert_eq!(asked.last().map(String::as_str), Some(place));
        // Who is at the root is somebody else.
        assert!(!asked.contains(&OAUTH.to_owned()), "{asked:?}");
    }
}

#[tokio::test]
async fn one_slash_more_or_less_is_the_same_issuer() {
    for (named, said) in [("", "/"), ("/", ""), ("/t", "/t/"), ("/t/", "/t")] {
        let world = World::new();
        let origin = world.authorization.origin();
        let servers = json!({ "authorization_servers": [format!("{origin}{named}")] });
        world.describes(BY_PATH, with(world.description(), &servers));
        let place = if named.starts_with("/t") {
            "/.well-known/oauth-authorization-server/t"
        } else {
            OAUTH
        };
        world.offers(place, metadata(&format!("{origin}{said}")));
        // Kept as the metadata have it: what comes back is compared with that.
        let found = world.discover().await.unwrap();
        assert_eq!(found.issuer, format!("{origin}{said}"));
    }
}

#[tokio::test]
async fn the_first_authorization_server_that_can_be_used_is_used() {
    let world = World::new();
    let origin = world.authorization.origin();
    let servers = json!({ "authorization_servers": [
        "http://insecure.example.com",
        "no address",
        format!("{origin}/other"),
        format!("{origin}/good"),
        format!("{origin}/late"),
    ] });
    world.describes(BY_PATH, with(world.description(), &servers));
    world.authorization_answers(move |asked| {
        let tenant = asked
            .path
            .strip_prefix("/.well-known/oauth-authorization-server/")?;
        let issuer = match tenant {
            "other" => "https://evil.example.com".to_owned(),
            tenant => format!("{origin}/{tenant}"),
        };
        Some(Answer::json(200, &metadata(&issuer)))
    });
    let found = world.discover().await.unwrap();
    assert!(found.issuer.ends_with("/good"), "{}", found.issuer);
}

#[tokio::test]
async fn the_configuration_decides_who_is_asked() {
    let world = World::new();
    let mut resource = world.resource();
    resource.authorization_server = Some(url(&world.authorization.origin()));
    world.offers(OAUTH, world.metadata());

    // Nothing else is known.
    let found = world.discover_for(&resource, &Challenge::default()).await;
    let found = found.unwrap();
    assert_eq!(found.found, How::Configured);
    assert_eq!(found.issuer, world.authorization.origin());
    assert_eq!(found.resource, world.address());

    // What the server says about itself is used, but for whom to ask.
    let description = json!({
        "resource": world.server.origin(),
        "authorization_servers": ["https://unused.example.com"],
        "scopes_supported": ["a"],
    });
    world.describes(BY_ROOT, description);
    let found = world.discover_for(&resource, &Challenge::default()).await;
    let found = found.unwrap();
    assert_eq!(found.resource, world.server.origin());
    assert_eq!(found.resource_scopes, ["a"]);

    // What is wrong with it does not matter.
    let challenge = named(&format!("{}/nowhere", world.server.origin()));
    let found = world.discover_for(&resource, &challenge).await.unwrap();
    assert_eq!(found.resource, world.address());
    world.server_answers(|_| Some(Answer::bytes(500, "text/html", "")));
    let found = world.discover_for(&resource, &Challenge::default()).await;
    assert_eq!(found.unwrap().resource, world.address());
}

#[tokio::test]
async fn a_server_without_a_description_may_grant_tokens_itself() {
    let world = World::new();
    let origin = world.server.origin();
    world.describes(OAUTH, metadata(&origin));
    let found = world.discover().await.unwrap();
    assert_eq!(found.found, How::BesideServer);
    assert_eq!(found.issuer, origin);
    assert_eq!(found.resource, world.address());
    assert_eq!(world.asked_server(), [BY_PATH, BY_ROOT, OAUTH]);

    // A description that names nobody is none in this respect.
    let lean = json!({ "resource": origin });
    let own = metadata(&origin);
    world.server_answers(move |asked| {
        answer_at(asked, BY_PATH, &lean).or_else(|| answer_at(asked, OPENID, &own))
    });
    let found = world.discover().await.unwrap();
    assert_eq!(found.found, How::BesideServer);
    assert_eq!(found.resource, world.server.origin());
}

#[tokio::test]
async fn a_server_that_says_nothing_is_tried_at_the_usual_addresses() {
    let world = World::new();
    let found = world.discover().await.unwrap();
    let origin = world.server.origin();
    assert_eq!(found.found, How::Usual);
    assert_eq!(found.issuer, origin);
    assert_eq!(found.resource, world.address());
    let endpoint = |path: &str| Some(url(&format!("{origin}{path}")));
    assert_eq!(found.server.authorization_endpoint, endpoint("/authorize"));
    assert_eq!(Some(found.server.token_endpoint), endpoint("/token"));
    assert_eq!(found.server.registration_endpoint, endpoint("/register"));
    assert_eq!(world.asked_server(), [BY_PATH, BY_ROOT, OAUTH, OPENID]);
    // Every way is one that people can be told.
    for how in [
        How::Configured,
        How::Described,
        How::BesideServer,
        How::Usual,
    ] {
        assert!(!how.words().is_empty());
    }
}

#[tokio::test]
async fn pages_and_ways_elsewhere_at_guessed_places_do_not_stop_the_search() {
    let world = World::new();
    let own = metadata(&world.server.origin());
    world.server_answers(move |asked| {
        if asked.path == BY_PATH {
            return Some(Answer::bytes(200, "text/html", "<html>welcome</html>"));
        }
        if asked.path == BY_ROOT {
            let answer = Answer::bytes(302, "text/html", "");
            return Some(answer.header("location", "https://login.example.com/"));
        }
        answer_at(asked, OAUTH, &own)
    });
    assert_eq!(world.discover().await.unwrap().found, How::BesideServer);

    // But where there is nothing else, the usual addresses would be answered by the same thing.
    for everywhere in [false, true] {
        world.server_answers(move |asked| {
            let is_answered = everywhere || asked.path == BY_PATH;
            is_answered.then(|| Answer::bytes(200, "text/html", "<html>welcome</html>"))
        });
        let error = world.discover().await.unwrap_err();
        assert_eq!(error.remedy(), Remedy::Change);
        assert!(
            error.to_string().ends_with("is not a JSON object"),
            "{error}"
        );
    }
}

#[tokio::test]
async fn a_client_that_logs_in_by_itself_needs_no_protection_of_logins() {
    let world = World::new();
    world.describes(BY_PATH, world.description());
    let issuer = world.authorization.origin();
    let lean = json!({ "issuer": issuer, "token_endpoint": format!("{issuer}/token") });
    world.offers(OAUTH, lean);
    let mut resource = world.resource();
    resource.grant = Grant::ClientCredentials;
    let found = world.discover_for(&resource, &Challenge::default()).await;
    assert_eq!(found.unwrap().server.authorization_endpoint, None);
    let error = world.discover().await.unwrap_err();
    assert!(
        error
            .to_string()
            .ends_with("names no `authorization_endpoint`"),
        "{error}"
    );
}
