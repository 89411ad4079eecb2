use openclaw_testkit::stand_in::{Answer, Asked, StandIn};
use serde_json::json;

use super::*;
use crate::client::{Authentication, Client, Registration};
use crate::error::Remedy;
use crate::resource::ConfiguredKeys;
use crate::testing::{asking, field, public_client, url};

fn grant(endpoint: Option<Url>) -> KeptGrant {
    KeptGrant {
        login: "login-1".to_owned(),
        issuer: "https://auth.example.com".to_owned(),
        client: Client {
            authentication: Authentication::ClientSecretPost,
            secret: Some(Secret::new("client-s3cr3t")),
            ..public_client(Registration::Dynamic)
        },
        resource: "https://mcp.example.com/mcp".to_owned(),
        scopes: Vec::new(),
        token_endpoint: url("https://auth.example.com/token"),
        revocation_endpoint: endpoint,
        signing_algorithms: Vec::new(),
        access_token: Secret::new("acc3ss-token"),
        refresh_token: Some(Secret::new("r3fresh-token")),
        received_at: 0,
        lifetime: None,
        ended: None,
    }
}

async fn revoke_at(
    answer: impl Fn(&Asked) -> Answer + Send + Sync + 'static,
) -> (Vec<Asked>, Revocation, String) {
    let server = StandIn::start(answer).unwrap();
    let grant = grant(Some(url(&format!("{}/revoke", server.origin()))));
    let revocation = revoke(&asking(&server.origin()), &grant, proof(&grant)).await;
    (server.asked(), revocation, server.origin())
}

fn proof(grant: &KeptGrant) -> Proof<'_> {
    static NONE: ConfiguredKeys = ConfiguredKeys {
        secret: None,
        private_key: None,
    };
    Proof {
        client: &grant.client,
        keys: &NONE,
        key_id: None,
        issuer: &grant.issuer,
        signing_algorithms: &[],
        now: 0,
    }
}

#[tokio::test]
async fn both_tokens_are_given_back_the_lasting_one_first() {
    let (asked, revocation, _) = revoke_at(|_| Answer::bytes(200, "text/html", "<html>")).await;
    assert_eq!(revocation, Revocation::Revoked);
    let values = |name: &str| -> Vec<Option<String>> {
        asked.iter().map(|asked| field(asked, name)).collect()
    };
    let some = |texts: [&str; 2]| texts.map(|text| Some(text.to_owned()));
    assert_eq!(values("token"), some(["r3fresh-token", "acc3ss-token"]));
    assert_eq!(
        values("token_type_hint"),
        some(["refresh_token", "access_token"])
    );
    assert_eq!(values("client_id"), some(["client-1", "client-1"]));
    assert_eq!(
        values("client_secret"),
        some(["client-s3cr3t", "client-s3cr3t"])
    );
}

#[tokio::test]
async fn a_kind_that_is_not_taken_back_does_not_matter() {
    let (asked, revocation, _) = revoke_at(|asked| {
        if field(asked, "token_type_hint").as_deref() == Some("access_token") {
            return Answer::json(400, &json!({ "error": "unsupported_token_type" }));
        }
        Answer::bytes(200, "", "")
    })
    .await;
    assert_eq!(revocation, Revocation::Revoked);
    assert_eq!(asked.len(), 2);
}

#[tokio::test]
async fn what_goes_wrong_is_told_and_the_rest_is_tried() {
    for (status, remedy) in [(503, Remedy::Wait), (401, Remedy::Change)] {
        let (asked, revocation, origin) = revoke_at(move |_| {
            let said = json!({ "error": "x", "error_description": "no r3fresh-token" });
            Answer::json(status, &said)
        })
        .await;
        assert_eq!(asked.len(), 2);
        let Revocation::NotRevoked(error) = revocation else {
            panic!("{revocation:?}");
        };
        assert_eq!(error.remedy(), remedy);
        assert_eq!(
            error.to_string(),
            format!("not revoked: {origin}/revoke answers `x`: no [REDACTED]")
        );
    }
}

#[tokio::test]
async fn where_nothing_is_taken_back_nothing_is_asked() {
    let grant = grant(None);
    let revocation = revoke(&asking("https://mcp.example.com"), &grant, proof(&grant)).await;
    assert_eq!(revocation, Revocation::NotOffered);
}
