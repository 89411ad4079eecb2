//! Every fault is one that a client can see.

use openclaw_testkit::fake_login::FakeLogin;
use serde_json::{Value, json};

use super::Visitor;
use crate::web::{ask, get, post_json};

const SERVER: &str = "/.well-known/oauth-authorization-server";
const RESOURCE: &str = "/.well-known/oauth-protected-resource/mcp";

/// What is said about the authorization server.
fn server(login: &FakeLogin) -> Value {
    get(&format!("{}{SERVER}", login.login_origin())).json()
}

/// What is said about the MCP server.
fn resource(login: &FakeLogin) -> Value {
    let origin = login.url();
    let origin = origin.strip_suffix("/mcp").unwrap();
    get(&format!("{origin}{RESOURCE}")).json()
}

#[test]
fn metadata_are_wrong_in_every_way_that_was_asked_for() {
    let login = FakeLogin::start("").unwrap();
    let set = |flags: &str| login.set_flags(flags).unwrap();
    let issuer = login.issuer();
    set("--fault wrong-issuer");
    assert_eq!(server(&login)["issuer"], "https://somebody-else.example");
    set("--fault no-issuer");
    assert_eq!(server(&login).get("issuer"), None);
    set("--fault issuer-slash");
    assert_eq!(server(&login)["issuer"], json!(format!("{issuer}/")));
    assert_eq!(resource(&login)["authorization_servers"], json!([issuer]));
    set("--fault listed-slash");
    assert_eq!(server(&login)["issuer"], json!(issuer));
    let listed = json!([format!("{issuer}/")]);
    assert_eq!(resource(&login)["authorization_servers"], listed);
    set("--fault http-endpoints");
    assert_eq!(
        server(&login)["token_endpoint"],
        "http://login.example/token"
    );
    set("--fault private-endpoints");
    let private = "https://169.254.169.254/token";
    assert_eq!(server(&login)["token_endpoint"], private);
    set("--fault only-plain");
    let methods = "code_challenge_methods_supported";
    assert_eq!(server(&login)[methods], json!(["plain"]));
    set("--fault no-challenge-methods");
    assert_eq!(server(&login).get(methods), None);
    set("--fault other-resource");
    let other = "https://somebody-else.example/mcp";
    assert_eq!(resource(&login)["resource"], other);
    set("--origin-resource");
    let origin = login.url().replace("/mcp", "");
    assert_eq!(resource(&login)["resource"], json!(origin));
    set("--no-registration --no-revocation --documents");
    let server = server(&login);
    assert_eq!(server.get("registration_endpoint"), None);
    assert_eq!(server.get("revocation_endpoint"), None);
    assert_eq!(server["client_id_metadata_document_supported"], true);
}

#[test]
fn documents_are_large_moved_or_no_documents() {
    let login = FakeLogin::start("").unwrap();
    let resource = login.url().replace("/mcp", RESOURCE);
    let server = format!("{}{SERVER}", login.login_origin());
    for (address, name) in [(resource, "resource"), (server, "metadata")] {
        let asked = |fault: &str| {
            login.set_flags(&format!("--fault {fault}-{name}")).unwrap();
            get(&address)
        };
        assert!(asked("huge").body.len() > 10_000_000);
        let looping = asked("looping");
        let location = looping.header("location").unwrap();
        assert_eq!(looping.status, 302);
        assert!(address.contains(location.split('?').next().unwrap()));
        let moved = asked("moved");
        let location = moved.header("location").unwrap();
        assert!(location.starts_with("http://localhost:"), "{location}");
        assert_eq!(asked("html").header("content-type"), Some("text/html"));
        assert_eq!(asked("down").status, 503);
        login.set_flags("").unwrap();
        assert_eq!(get(&address).status, 200);
    }
}

#[test]
fn documents_are_where_they_should_be_and_nowhere_else() {
    let login = FakeLogin::start("--together").unwrap();
    let origin = login.login_origin();
    assert_eq!(login.url(), format!("{origin}/mcp"));
    let inserted = "/.well-known/oauth-authorization-server/tenant";
    let oidc_inserted = "/.well-known/openid-configuration/tenant";
    let oidc_appended = "/tenant/.well-known/openid-configuration";
    let places = [
        ("rfc8414", inserted),
        ("oidc-inserted", oidc_inserted),
        ("oidc-appended", oidc_appended),
        ("none", ""),
    ];
    for (choice, place) in places {
        let flags = format!("--issuer-path /tenant --server-metadata {choice}");
        login.set_flags(&flags).unwrap();
        for (_, path) in &places[..3] {
            let found = get(&format!("{origin}{path}"));
            let status = if *path == place { 200 } else { 404 };
            assert_eq!(found.status, status, "{choice} {path}");
            if status == 200 {
                assert_eq!(found.json()["issuer"], json!(format!("{origin}/tenant")));
            }
        }
    }
    for (choice, place) in [
        ("inserted", Some(RESOURCE)),
        ("root", Some("/.well-known/oauth-protected-resource")),
        ("elsewhere", Some("/somewhere/else/mcp")),
        ("none", None),
    ] {
        login
            .set_flags(&format!("--resource-metadata {choice}"))
            .unwrap();
        let challenge = ask(&login.url(), None, "ping", &json!({}));
        let challenge = challenge.header("www-authenticate").unwrap();
        let named = place.map(|place| format!("resource_metadata=\"{origin}{place}\", "));
        let expected = format!("Bearer {}scope=\"tools\"", named.unwrap_or_default());
        assert_eq!(challenge, expected);
        if let Some(place) = place {
            assert_eq!(get(&format!("{origin}{place}")).status, 200);
        } else {
            assert_eq!(get(&format!("{origin}{RESOURCE}")).status, 404);
        }
    }
}

#[test]
fn challenges_say_as_much_as_they_should() {
    let login = FakeLogin::start("").unwrap();
    for (style, address, scope) in [
        ("full", true, true),
        ("no-scope", true, false),
        ("no-address", false, true),
        ("bare", false, false),
    ] {
        login.set_flags(&format!("--challenge {style}")).unwrap();
        let refused = ask(&login.url(), None, "ping", &json!({}));
        let challenge = refused.header("www-authenticate").unwrap();
        assert!(challenge.starts_with("Bearer"));
        assert_eq!(challenge.contains("resource_metadata="), address);
        assert_eq!(challenge.contains("scope="), scope, "{challenge}");
    }
    login.set_flags("--challenge none").unwrap();
    let refused = ask(&login.url(), None, "ping", &json!({}));
    assert_eq!(
        (refused.status, refused.header("www-authenticate")),
        (401, None)
    );
}

#[test]
fn a_browser_brings_what_it_should_not() {
    let login = FakeLogin::start("").unwrap();
    let visitor = Visitor::new(&login);
    let brought = |fault: &str, name: &str| {
        login.set_flags(&format!("--fault {fault}")).unwrap();
        visitor.authorize(&[]).brought(name)
    };
    let other = Some("https://somebody-else.example".to_owned());
    assert_eq!(brought("wrong-iss", "iss"), other);
    assert_eq!(brought("no-iss", "iss"), None);
    let promise = "authorization_response_iss_parameter_supported";
    assert_eq!(server(&login)[promise], true);
    assert_eq!(brought("silent-iss", "iss"), None);
    assert_eq!(server(&login).get(promise), None);
    assert_ne!(
        brought("wrong-state", "state").as_deref(),
        Some(super::STATE)
    );
    assert_eq!(brought("no-state", "state"), None);
}

#[test]
fn tokens_come_in_odd_ways() {
    let login = FakeLogin::start("").unwrap();
    let visitor = Visitor::new(&login);
    let given = |fault: &str| {
        login.set_flags(&format!("--fault {fault}")).unwrap();
        visitor.exchange(&visitor.code(&[]), &[])
    };
    assert_eq!(given("odd-token-type").json()["token_type"], "bEaReR");
    assert_eq!(given("other-token-type").json()["token_type"], "DPoP");
    assert_eq!(given("no-token-type").json().get("token_type"), None);
    assert_eq!(given("no-expiry").json().get("expires_in"), None);
    assert_eq!(given("text-expiry").json()["expires_in"], "3600");
    assert_eq!(given("no-scope").json().get("scope"), None);
    let form = String::from_utf8(given("form-answer").body).unwrap();
    assert!(form.starts_with("access_token=access-"), "{form}");
    login.set_flags("--fault errors-are-ok").unwrap();
    let wrong = visitor.exchange("nothing", &[]);
    assert_eq!(wrong.error(), "200: invalid_grant");
}

#[test]
fn refreshes_fail_without_a_trace() {
    let login = FakeLogin::start("").unwrap();
    let visitor = Visitor::new(&login);
    let (_, token) = visitor.tokens();
    for (failure, status) in [
        ("503", 503),
        ("429", 429),
        ("invalid_grant", 400),
        ("invalid_client", 401),
        ("invalid_request", 400),
        ("html", 200),
    ] {
        login
            .set_flags(&format!("--fail-refresh {failure}"))
            .unwrap();
        assert_eq!(visitor.refresh(&token).status, status, "{failure}");
    }
    login.set_flags("").unwrap();
    assert_eq!(visitor.refresh(&token).status, 200);
    assert_eq!(login.counters().refreshes_arrived, 7);
}

#[test]
fn registration_fails_in_every_way() {
    let login = FakeLogin::start("").unwrap();
    let metadata = json!({
        "redirect_uris": [super::BACK], "token_endpoint_auth_method": "none",
    });
    let register = |flags: &str| {
        login.set_flags(flags).unwrap();
        post_json(&format!("{}/register", login.issuer()), &metadata)
    };
    let refused = register("--fault registration-refused");
    assert_eq!(refused.error(), "400: invalid_client_metadata");
    assert_eq!(register("--fault registration-forbidden").status, 403);
    assert_eq!(register("--no-registration").status, 403);
    let html = register("--fault registration-html");
    assert_eq!(html.header("content-type"), Some("text/html"));
    let empty = register("--fault empty-secret");
    assert_eq!(empty.json()["client_secret"], "");
    let wrong = login.set_flags("--fault unheard-of");
    assert!(wrong.is_err());
}
