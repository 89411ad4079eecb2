//! What an authorization server offers (RFC 8414, OIDC Discovery).

use url::Url;

use super::document::{Document, Troubles, document, is_true, text, texts};
use super::issuer::is_same_issuer;
use super::well_known;
use crate::asking::{Asking, shown};
use crate::error::{OAuthError, quoted};
use crate::resource::Grant;

/// What an authorization server offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ServerMetadata {
    /// Where a browser is sent to.
    pub(crate) authorization_endpoint: Option<Url>,
    /// Where tokens are given.
    pub(crate) token_endpoint: Url,
    /// Where clients register themselves.
    pub(crate) registration_endpoint: Option<Url>,
    /// Where tokens are given back.
    pub(crate) revocation_endpoint: Option<Url>,
    /// How clients may prove their identity, where that is said.
    pub(crate) authentication_methods: Option<Vec<String>>,
    /// What clients may sign with, as far as that is said.
    pub(crate) signing_algorithms: Vec<String>,
    /// What can be allowed, as far as that is said.
    pub(crate) scopes_supported: Vec<String>,
    /// How tokens may be granted, where that is said.
    pub(crate) grant_types: Option<Vec<String>>,
    /// Whether the identifier of a client may be the address of a document about it.
    pub(crate) takes_metadata_documents: bool,
    /// Whether every answer through the browser names the issuer (RFC 9207).
    pub(crate) issuer_promised: bool,
}

/// The first of several authorization servers whose metadata can be used, and its name for itself.
/// There is none where none of them has any metadata.
pub(super) async fn find(
    asking: &Asking,
    issuers: &[String],
    grant: Grant,
) -> Result<Option<(String, ServerMetadata)>, OAuthError> {
    let mut troubles = Troubles::default();
    for issuer in issuers {
        let url = match address(asking, issuer) {
            Ok(url) => url,
            Err(error) => {
                troubles.refuse(error);
                continue;
            }
        };
        for place in well_known::of_authorization_server(&url) {
            let found = match document(asking, &place).await {
                Ok(found) => found,
                Err(instead) => {
                    troubles.note(instead);
                    continue;
                }
            };
            match ServerMetadata::read(asking, &found, &place, issuer, grant) {
                Ok(read) => return Ok(Some(read)),
                Err(error) => troubles.refuse(error),
            }
        }
    }
    match troubles.serious().or(troubles.other) {
        Some(error) => Err(error),
        None => Ok(None),
    }
}

/// The address of an authorization server (RFC 8414 §2).
fn address(asking: &Asking, issuer: &str) -> Result<Url, OAuthError> {
    let url = Url::parse(issuer).ok();
    let url = url.filter(|url| url.query().is_none() && url.fragment().is_none());
    let url = url.ok_or_else(|| {
        let issuer = quoted(issuer);
        OAuthError::lasting(format!(
            "`{issuer}` is no address of an authorization server"
        ))
    })?;
    asking.check(&url)?;
    Ok(url)
}

impl ServerMetadata {
    /// Reads metadata that were found at a place for an issuer.
    fn read(
        asking: &Asking,
        found: &Document,
        place: &Url,
        asked: &str,
        grant: Grant,
    ) -> Result<(String, Self), OAuthError> {
        let place = shown(place);
        let lacks = |what: &str| OAuthError::lasting(format!("{place} names no `{what}`"));
        let issuer = text(found, "issuer").ok_or_else(|| lacks("issuer"))?;
        if !is_same_issuer(asked, issuer) {
            let (issuer, asked) = (quoted(issuer), quoted(asked));
            return Err(OAuthError::lasting(format!(
                "{place} is of the issuer `{issuer}`, not of `{asked}`"
            ))
            .hint("if that issuer is right, set `auth.authorizationServerUrl` to it"));
        }
        let endpoint = |name: &str| endpoint(asking, found, &place, name);
        let metadata = Self {
            authorization_endpoint: endpoint("authorization_endpoint")?,
            token_endpoint: endpoint("token_endpoint")?.ok_or_else(|| lacks("token_endpoint"))?,
            registration_endpoint: endpoint("registration_endpoint")?,
            revocation_endpoint: endpoint("revocation_endpoint")?,
            authentication_methods: texts(found, "token_endpoint_auth_methods_supported"),
            signing_algorithms: texts(found, "token_endpoint_auth_signing_alg_values_supported")
                .unwrap_or_default(),
            scopes_supported: texts(found, "scopes_supported").unwrap_or_default(),
            grant_types: texts(found, "grant_types_supported"),
            takes_metadata_documents: is_true(found, "client_id_metadata_document_supported"),
            issuer_promised: is_true(found, "authorization_response_iss_parameter_supported"),
        };
        if grant == Grant::AuthorizationCode {
            if metadata.authorization_endpoint.is_none() {
                return Err(lacks("authorization_endpoint"));
            }
            // MCP, "Authorization Code Protection": who does not say so does not do so.
            let methods = texts(found, "code_challenge_methods_supported").unwrap_or_default();
            if !methods.iter().any(|method| method == "S256") {
                return Err(OAuthError::lasting(format!(
                    "{place} does not say that logins are protected with `S256` (PKCE), and \
                     without that others could take them over"
                ))
                .hint("ask whoever runs the authorization server to support and advertise it"));
            }
        }
        Ok((issuer.to_owned(), metadata))
    }

    /// What a server without metadata is expected to offer, where it is.
    pub(super) fn usual(server: &Url) -> Option<Self> {
        let endpoint = |path: &str| server.join(path).ok();
        Some(Self {
            authorization_endpoint: Some(endpoint("/authorize")?),
            token_endpoint: endpoint("/token")?,
            registration_endpoint: Some(endpoint("/register")?),
            revocation_endpoint: None,
            authentication_methods: None,
            signing_algorithms: Vec::new(),
            scopes_supported: Vec::new(),
            grant_types: None,
            takes_metadata_documents: false,
            issuer_promised: false,
        })
    }
}

/// An address among metadata, which has to be one that may be asked.
fn endpoint(
    asking: &Asking,
    found: &Document,
    place: &str,
    name: &str,
) -> Result<Option<Url>, OAuthError> {
    let Some(address) = text(found, name) else {
        return Ok(None);
    };
    let Ok(mut url) = Url::parse(address) else {
        let address = quoted(address);
        return Err(OAuthError::lasting(format!(
            "the `{name}` in {place} is no address: `{address}`"
        )));
    };
    asking.check(&url).map_err(|error| {
        OAuthError::lasting(format!("the `{name}` in {place} is wrong: {error}"))
    })?;
    // RFC 6749 §3.1: there may be none, and it would not be sent.
    url.set_fragment(None);
    Ok(Some(url))
}
