//! Who we are to authorization servers, where a gateway has a public address.

use openclaw_engine::{ClientMetadataQuery, Engine, LoginRequest, RegistrationKind};
use openclaw_testkit::fake_login::FakeLogin;
use serde_json::{Value, json};

use crate::house::{House, servers};

const DOCUMENT: &str = "https://claw.example/base/oauth/client-metadata.json";

fn config(entries: &Value, public: &str) -> Value {
    let mut config = servers(entries);
    config["gateway"] = json!({ "publicUrl": public });
    config
}

fn login(server: &str) -> LoginRequest {
    LoginRequest {
        agent: None,
        server: server.to_owned(),
        by_hand: false,
    }
}

fn nowhere() -> ClientMetadataQuery {
    ClientMetadataQuery {
        agent: None,
        server: None,
        url: None,
    }
}

#[tokio::test]
async fn a_gateway_with_a_public_address_is_known_by_its_document() {
    let fake = FakeLogin::start("--documents").unwrap();
    let own = "https://example.com/own.json";
    let entries = json!({
        "docs": { "url": fake.url(), "type": "http" },
        "own": { "url": fake.second_url(), "type": "http", "auth": { "clientMetadataUrl": own } },
    });
    let house = House::of_gateway(&config(&entries, "https://claw.example/base/"));
    let offer = house.engine.begin_login(login("docs")).await.unwrap();
    assert_eq!(offer.client_id, DOCUMENT);
    assert_eq!(offer.registration, RegistrationKind::MetadataDocument);
    let offer = house.engine.begin_login(login("own")).await.unwrap();
    assert_eq!(offer.client_id, own, "the server's own document wins");
    assert_eq!(fake.counters().registrations, 0);
    // The gateway goes on under the address that it began with, and so do we.
    let other = config(&entries, "https://other.example");
    house.write(&other.to_string());
    house.engine.reload().await.unwrap();
    let offer = house.engine.begin_login(login("docs")).await.unwrap();
    assert_eq!(offer.client_id, DOCUMENT);
    let published = house.engine.client_metadata(nowhere()).await.unwrap();
    assert_eq!(published.document["client_id"], DOCUMENT);
    house.finish(&[]).await;
}

#[tokio::test]
async fn without_an_address_that_all_can_read_there_is_no_document() {
    let fake = FakeLogin::start("--documents").unwrap();
    let entries = json!({ "docs": { "url": fake.url(), "type": "http" } });
    let house = House::of_gateway(&config(&entries, "http://127.0.0.1:18789"));
    let offer = house.engine.begin_login(login("docs")).await.unwrap();
    assert_eq!(offer.registration, RegistrationKind::Dynamic);
    let failure = house.engine.client_metadata(nowhere()).await.unwrap_err();
    assert_eq!(failure.code, "address");
    house.finish(&[]).await;
}

#[tokio::test]
async fn a_command_without_a_gateway_is_not_known_by_its_document() {
    let fake = FakeLogin::start("--documents").unwrap();
    let entries = json!({ "docs": { "url": fake.url(), "type": "http" } });
    let house = House::new(&config(&entries, "https://claw.example"));
    let offer = house.engine.begin_login(login("docs")).await.unwrap();
    assert_eq!(offer.registration, RegistrationKind::Dynamic);
    house.finish(&[]).await;
}

#[tokio::test]
async fn the_document_names_all_places_that_browsers_are_sent_to() {
    let remote =
        |auth: Value| json!({ "url": "http://127.0.0.1:1/mcp", "lazy": true, "auth": auth });
    let entries = json!({
        "a": remote(json!({})),
        "b": remote(json!({ "callbackPort": 4321 })),
        "c": remote(json!({})),
        "elsewhere": remote(json!({
            "callbackPort": 1234, "clientMetadataUrl": "https://example.com/own.json",
        })),
        "key": { "url": "http://127.0.0.1:1/mcp", "lazy": true, "apiKey": "sk-of-somebody" },
    });
    let house = House::of_gateway(&config(&entries, "https://claw.example/base"));
    let document = house
        .engine
        .client_metadata(nowhere())
        .await
        .unwrap()
        .document;
    assert_eq!(document["client_id"], DOCUMENT);
    let addresses: Vec<&str> = document["redirect_uris"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it.as_str().unwrap())
        .collect();
    assert_eq!(addresses.len(), 4, "{addresses:?}");
    assert!(
        addresses.iter().any(|it| it.contains(":4321/")),
        "{addresses:?}"
    );
    assert!(
        !addresses.iter().any(|it| it.contains(":1234/")),
        "{addresses:?}"
    );
    // Whoever names the address gets the same.
    let named = ClientMetadataQuery {
        url: Some(DOCUMENT.to_owned()),
        ..nowhere()
    };
    assert_eq!(
        house.engine.client_metadata(named).await.unwrap().document,
        document
    );
    house.finish(&[]).await;
}
