//! What several tests need.

#[cfg(target_os = "linux")]
pub(crate) mod place;

use openclaw_secrets::Secret;
use openclaw_testkit::stand_in::{Answer, Asked};
use serde_json::json;
use url::Url;

use crate::asking::Asking;
use crate::client::{Authentication, Client, Registration};
use crate::discovery::{Discovered, How, ServerMetadata};
use crate::kept::KeptGrant;
use crate::resource::{Grant, Redirect, Resource};

pub(crate) fn url(text: &str) -> Url {
    Url::parse(text).unwrap()
}

/// A server about which the configuration says nothing but its address.
pub(crate) fn resource(address: &str) -> Resource {
    Resource {
        server: "example".to_owned(),
        url: url(address),
        grant: Grant::AuthorizationCode,
        client_id: None,
        key_id: None,
        client_metadata_url: None,
        authorization_server: None,
        scopes: None,
        redirect: Redirect::Here {
            host: "127.0.0.1".to_owned(),
            port: None,
            path: "/callback".to_owned(),
        },
        authorities: None,
        verify: true,
        identity: None,
    }
}

pub(crate) fn asking(address: &str) -> Asking {
    Asking::new(&resource(address)).unwrap()
}

/// An authorization server with everything at the usual addresses.
pub(crate) fn discovered(issuer: &str) -> Discovered {
    Discovered {
        resource: "https://mcp.example.com/mcp".to_owned(),
        issuer: issuer.to_owned(),
        found: How::Described,
        server: ServerMetadata {
            authorization_endpoint: Some(url(&format!("{issuer}/authorize"))),
            token_endpoint: url(&format!("{issuer}/token")),
            registration_endpoint: Some(url(&format!("{issuer}/register"))),
            revocation_endpoint: Some(url(&format!("{issuer}/revoke"))),
            authentication_methods: None,
            signing_algorithms: Vec::new(),
            scopes_supported: Vec::new(),
            grant_types: None,
            takes_metadata_documents: false,
            issuer_promised: false,
        },
        resource_scopes: Vec::new(),
    }
}

/// A client that has no secret.
pub(crate) fn public_client(registration: Registration) -> Client {
    Client {
        id: "client-1".to_owned(),
        registration,
        authentication: Authentication::None,
        secret: None,
        secret_expires_at: None,
    }
}

/// The fields of a form that was posted.
pub(crate) fn fields(asked: &Asked) -> Vec<(String, String)> {
    url::form_urlencoded::parse(&asked.body)
        .into_owned()
        .collect()
}

pub(crate) fn field(asked: &Asked, name: &str) -> Option<String> {
    let mut found = fields(asked).into_iter().filter(|(own, _)| own == name);
    let value = found.next().map(|(_, value)| value);
    assert!(found.next().is_none(), "{name} is there twice");
    value
}

pub(crate) fn not_found() -> Answer {
    Answer::json(404, &json!({ "error": "not_found" }))
}

/// Something that was granted for an hour.
pub(crate) fn grant() -> KeptGrant {
    KeptGrant {
        login: "login-1".to_owned(),
        issuer: "https://login.example".to_owned(),
        client: public_client(Registration::Dynamic),
        resource: "https://server.example/mcp".to_owned(),
        scopes: vec!["read".to_owned()],
        token_endpoint: url("https://login.example/token"),
        revocation_endpoint: None,
        signing_algorithms: Vec::new(),
        access_token: Secret::new("access-token-1"),
        refresh_token: Some(Secret::new("refresh-token-1")),
        received_at: 0,
        lifetime: Some(3600),
        ended: None,
    }
}
