use openclaw_secrets::Secret;
use openclaw_testkit::stand_in::{Answer, StandIn};
use serde_json::{Value as Json, json};

use super::*;
use crate::error::Remedy;
use crate::testing::{asking, discovered, public_client, resource, url};

const HERE: &str = "http://127.0.0.1:7/callback";
const NOW: u64 = 1_700_000_000_000;

/// What a client is chosen by, and the authorization server that is asked.
struct World {
    server: StandIn,
    resource: Resource,
    discovered: Discovered,
    keys: ConfiguredKeys,
    kept: Vec<KeptClient>,
    scopes: Vec<String>,
}

impl World {
    fn new(status: u16, answer: &Json) -> Self {
        Self::answering(Answer::json(status, answer))
    }

    fn answering(answer: Answer) -> Self {
        let server = StandIn::start(move |_| answer.clone()).unwrap();
        Self {
            resource: resource(&format!("{}/mcp", server.origin())),
            discovered: discovered(&server.origin()),
            keys: ConfiguredKeys::default(),
            kept: Vec::new(),
            scopes: Vec::new(),
            server,
        }
    }

    fn offers(&mut self, methods: &[&str]) {
        let methods = methods.iter().map(|&method| method.to_owned());
        self.discovered.server.authentication_methods = Some(methods.collect());
    }

    async fn choose(&self) -> Result<ChosenClient, OAuthError> {
        let choosing = Choosing {
            resource: &self.resource,
            keys: &self.keys,
            discovered: &self.discovered,
            kept: &self.kept,
            redirect_uri: HERE,
            scopes: &self.scopes,
            now: NOW,
        };
        choosing.client(&asking(&self.server.origin())).await
    }

    /// What the authorization server was asked to register.
    fn request(&self) -> Json {
        let asked = self.server.asked();
        assert_eq!(asked.len(), 1);
        assert_eq!(asked[0].path, "/register");
        serde_json::from_slice(&asked[0].body).unwrap()
    }
}

fn registered() -> Json {
    json!({ "client_id": "new-1" })
}

fn kept(issuer: &str, redirect_uri: &str, expires: Option<u64>) -> KeptClient {
    KeptClient {
        issuer: issuer.to_owned(),
        redirect_uri: redirect_uri.to_owned(),
        client: Client {
            secret_expires_at: expires,
            ..public_client(Registration::Dynamic)
        },
        scopes: vec!["read".to_owned(), "write".to_owned()],
        is_doubtful: false,
    }
}

#[tokio::test]
async fn the_configuration_comes_first() {
    let mut world = World::new(201, &registered());
    world.resource.client_id = Some("by-hand".to_owned());
    world.resource.client_metadata_url = Some(url("https://client.example/oauth.json"));
    world.discovered.server.takes_metadata_documents = true;
    world.keys.secret = Some(Secret::new("s3cr3t"));
    world.kept = vec![kept(&world.discovered.issuer, HERE, None)];
    let chosen = world.choose().await.unwrap();
    assert_eq!(chosen.why, "the configuration names the client `by-hand`");
    assert_eq!(
        chosen.client,
        Client {
            id: "by-hand".to_owned(),
            registration: Registration::Configured,
            authentication: Authentication::ClientSecretBasic,
            secret: None,
            secret_expires_at: None,
        }
    );
    assert!(!chosen.is_new);
    assert!(world.server.asked().is_empty());
}

#[tokio::test]
async fn a_document_comes_second_where_it_is_read() {
    let mut world = World::new(201, &registered());
    world.resource.client_metadata_url = Some(url("https://client.example/oauth.json"));
    world.kept = vec![kept(&world.discovered.issuer, HERE, None)];
    world.discovered.server.takes_metadata_documents = true;
    let chosen = world.choose().await.unwrap();
    assert_eq!(chosen.client.id, "https://client.example/oauth.json");
    assert_eq!(chosen.client.registration, Registration::MetadataDocument);
    assert_eq!(chosen.client.authentication, Authentication::None);
    assert_eq!(
        chosen.why,
        "the authorization server reads client metadata documents, and the configuration names \
         https://client.example/oauth.json"
    );
    world.discovered.server.takes_metadata_documents = false;
    assert_eq!(world.choose().await.unwrap().client.id, "client-1");
    world.kept.clear();
    let chosen = world.choose().await.unwrap();
    assert_eq!(
        chosen.why,
        format!(
            "{} does not read client metadata documents, so OpenClaw registered itself as `new-1`",
            world.discovered.issuer
        )
    );
}

#[tokio::test]
async fn who_registered_before_does_not_do_so_again() {
    let mut world = World::new(201, &registered());
    let issuer = world.discovered.issuer.clone();
    let seconds = NOW / 1000;
    for (earlier, is_used) in [
        (kept(&issuer, HERE, None), true),
        (kept(&issuer, HERE, Some(seconds + 3600)), true),
        (kept(&issuer, HERE, Some(seconds + 60)), false),
        (kept(&issuer, HERE, Some(1)), false),
        (kept("https://other.example.com", HERE, None), false),
        (kept(&format!("{issuer}/"), HERE, None), false),
        (kept(&issuer, "http://127.0.0.1:8/callback", None), false),
    ] {
        world.kept = vec![earlier];
        let chosen = world.choose().await.unwrap();
        let expected = if is_used { "client-1" } else { "new-1" };
        assert_eq!(chosen.client.id, expected, "{:?}", world.kept);
        assert_eq!(chosen.is_new, !is_used);
        if is_used {
            assert_eq!(
                chosen.why,
                "OpenClaw registered itself there before as `client-1`"
            );
        }
    }
}

#[tokio::test]
async fn who_may_be_forgotten_or_asks_for_more_registers_anew() {
    let mut world = World::new(201, &registered());
    let issuer = world.discovered.issuer.clone();
    world.kept = vec![kept(&issuer, HERE, None)];
    for (scopes, expected) in [
        (&["read"][..], "client-1"),
        (&["write", "read"], "client-1"),
        (&[], "client-1"),
        (&["read", "admin"], "new-1"),
    ] {
        world.scopes = scopes.iter().map(|&scope| scope.to_owned()).collect();
        assert_eq!(
            world.choose().await.unwrap().client.id,
            expected,
            "{scopes:?}"
        );
    }
    world.scopes.clear();
    world.kept[0].is_doubtful = true;
    assert_eq!(world.choose().await.unwrap().client.id, "new-1");
}

#[tokio::test]
async fn what_is_registered_is_what_we_are() {
    let mut world = World::new(201, &registered());
    world.scopes = vec!["a".to_owned(), "b".to_owned()];
    let chosen = world.choose().await.unwrap();
    assert!(chosen.is_new);
    assert_eq!(chosen.client.id, "new-1");
    assert_eq!(
        chosen.why,
        "the configuration names no client, so OpenClaw registered itself as `new-1`"
    );
    assert_eq!(
        world.request(),
        json!({
            "client_name": "OpenClaw",
            "redirect_uris": [HERE],
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
            "token_endpoint_auth_method": "none",
            "application_type": "native",
            "software_id": "openclaw",
            "software_version": env!("CARGO_PKG_VERSION"),
            "scope": "a b",
        })
    );
}

#[tokio::test]
async fn nothing_is_asked_for_that_is_not_offered() {
    for (methods, expected) in [
        (&["client_secret_post", "none"][..], "none"),
        (
            &["client_secret_basic", "client_secret_post"],
            "client_secret_post",
        ),
        (&["client_secret_basic"], "client_secret_basic"),
        (
            &["client_secret_post", "private_key_jwt"],
            "client_secret_post",
        ),
        (&["private_key_jwt"], "none"),
        (&[], "none"),
    ] {
        let mut world = World::new(201, &registered());
        world.offers(methods);
        world.discovered.server.grant_types = Some(vec!["authorization_code".to_owned()]);
        world.choose().await.unwrap();
        let request = world.request();
        assert_eq!(request["token_endpoint_auth_method"], expected);
        assert_eq!(request["grant_types"], json!(["authorization_code"]));
        assert_eq!(request.get("scope"), None);
    }
}

#[tokio::test]
async fn what_was_registered_counts() {
    let (basic, post) = (
        Authentication::ClientSecretBasic,
        Authentication::ClientSecretPost,
    );
    let secret = json!({ "client_secret": "s3cr3t" });
    let asked = |methods: &'static [&'static str]| Some(methods);
    for (fields, methods, expected, expires) in [
        (json!({}), None, Authentication::None, None),
        (secret.clone(), None, basic, None),
        (secret.clone(), asked(&["client_secret_post"]), post, None),
        (secret, asked(&["none"]), Authentication::None, None),
        (
            json!({ "client_secret": "s3cr3t", "token_endpoint_auth_method": "client_secret_post",
                    "client_secret_expires_at": 1_900_000_000 }),
            None,
            post,
            Some(1_900_000_000),
        ),
        (
            json!({ "client_secret": "s3cr3t", "client_secret_expires_at": 0 }),
            None,
            basic,
            None,
        ),
        (
            json!({ "client_secret": "s3cr3t", "client_secret_expires_at": "1900000000" }),
            None,
            basic,
            Some(1_900_000_000),
        ),
        (
            json!({ "client_secret": "s3cr3t", "token_endpoint_auth_method": "none" }),
            None,
            Authentication::None,
            None,
        ),
        (
            json!({ "client_secret": "", "token_endpoint_auth_method": "client_secret_basic",
                    "client_secret_expires_at": 1_900_000_000 }),
            None,
            Authentication::None,
            None,
        ),
    ] {
        let mut answer = registered();
        let more = fields.as_object().unwrap().clone();
        answer.as_object_mut().unwrap().extend(more);
        let mut world = World::new(200, &answer);
        if let Some(methods) = methods {
            world.offers(methods);
        }
        let client = world.choose().await.unwrap().client;
        assert_eq!(client.registration, Registration::Dynamic);
        assert_eq!(client.authentication, expected, "{answer}");
        let has_secret = expected != Authentication::None;
        assert_eq!(client.secret, has_secret.then(|| Secret::new("s3cr3t")));
        assert_eq!(client.secret_expires_at, expires, "{answer}");
    }
}

#[tokio::test]
async fn who_does_not_register_us_is_told_with_a_way_out() {
    for (answer, expected) in [
        (
            Answer::json(
                400,
                &json!({ "error": "invalid_redirect_uri", "error_description": "no\nloopback" }),
            ),
            "`invalid_redirect_uri`: no loopback",
        ),
        (
            Answer::bytes(400, "text/html", "<html>no</html>"),
            "status 400, without a reason",
        ),
        (
            Answer::bytes(403, "text/plain", "no"),
            "status 403, without a reason",
        ),
        (
            Answer::bytes(404, "text/plain", "no"),
            "status 404, without a reason",
        ),
        (
            Answer::bytes(302, "text/plain", "").header("location", "https://x.example/"),
            "status 302: it leads elsewhere, and that is not followed",
        ),
        (
            Answer::bytes(200, "text/html", "<html>welcome</html>"),
            "its answer is not a JSON object",
        ),
        (
            Answer::json(201, &json!([registered()])),
            "its answer is not a JSON object",
        ),
        (
            Answer::json(201, &json!({ "client_id": "" })),
            "its answer names no client",
        ),
        (
            Answer::json(201, &json!({ "client_id": "x".repeat(3000) })),
            "its answer names a client with an impossible identifier",
        ),
        (
            Answer::json(201, &json!({ "client_id": "x\u{1b}[2J" })),
            "its answer names a client with an impossible identifier",
        ),
        (
            Answer::json(
                201,
                &json!({ "client_id": "x", "token_endpoint_auth_method": "tls_client_auth" }),
            ),
            "it wants clients to prove their identity with `tls_client_auth`",
        ),
    ] {
        let world = World::answering(answer);
        let error = world.choose().await.unwrap_err();
        assert_eq!(error.remedy(), Remedy::Change);
        assert_eq!(
            error.to_string(),
            format!(
                "{}/register does not register OpenClaw: {expected}",
                world.server.origin()
            )
        );
        assert_eq!(
            error.hint_text(),
            Some("register a client by hand and set `auth.clientId`")
        );
    }
    let world = World::answering(Answer::bytes(503, "text/html", ""));
    assert_eq!(world.choose().await.unwrap_err().remedy(), Remedy::Wait);
}

#[tokio::test]
async fn where_nobody_can_register_that_is_said() {
    let mut world = World::new(201, &registered());
    world.discovered.server.registration_endpoint = None;
    let issuer = world.discovered.issuer.clone();
    let error = world.choose().await.unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("{issuer} does not let clients register themselves")
    );
    assert_eq!(error.hint_text(), Some(BY_HAND));
    world.discovered.server.takes_metadata_documents = true;
    let error = world.choose().await.unwrap_err();
    assert!(
        error
            .hint_text()
            .unwrap()
            .contains("auth.clientMetadataUrl")
    );
    world.discovered.server.takes_metadata_documents = false;
    world.resource.client_metadata_url = Some(url("https://client.example/oauth.json"));
    let error = world.choose().await.unwrap_err();
    assert!(
        error.to_string().ends_with(
            "neither reads client metadata documents nor lets clients register themselves"
        ),
        "{error}"
    );
    assert!(world.server.asked().is_empty());
}

#[tokio::test]
async fn a_client_that_logs_in_by_itself_is_registered_by_hand() {
    let mut world = World::new(201, &registered());
    world.resource.grant = Grant::ClientCredentials;
    let error = world.choose().await.unwrap_err();
    assert_eq!(error.remedy(), Remedy::Change);
    assert_eq!(error.hint_text(), Some(BY_HAND));
    assert!(world.server.asked().is_empty());
    world.resource.client_id = Some("by-hand".to_owned());
    world.keys.private_key = Some(Secret::new("key"));
    let chosen = world.choose().await.unwrap();
    assert_eq!(chosen.client.authentication, Authentication::PrivateKeyJwt);
}
