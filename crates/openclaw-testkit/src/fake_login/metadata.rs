//! What both servers say about themselves, rightly or wrongly.

use serde_json::{Value as Json, json};

use super::options::{Fault, Method};
use super::places::{Endpoint, MCP, Places, SECOND};
use super::public_key::ALGORITHMS;
use super::world::World;
use crate::stand_in::{Answer, Asked};

/// How large a document is that is too large.
const HUGE: usize = 10 * 1024 * 1024;
/// Whom the metadata name where they should not.
pub(super) const SOMEBODY_ELSE: &str = "https://somebody-else.example";

/// The faults that any document can have.
struct DocumentFaults {
    huge: Fault,
    looping: Fault,
    moved: Fault,
    html: Fault,
    down: Fault,
}

const OF_RESOURCE: DocumentFaults = DocumentFaults {
    huge: Fault::HugeResource,
    looping: Fault::LoopingResource,
    moved: Fault::MovedResource,
    html: Fault::HtmlResource,
    down: Fault::DownResource,
};

const OF_SERVER: DocumentFaults = DocumentFaults {
    huge: Fault::HugeMetadata,
    looping: Fault::LoopingMetadata,
    moved: Fault::MovedMetadata,
    html: Fault::HtmlMetadata,
    down: Fault::DownMetadata,
};

impl World {
    /// The document about an MCP server at this path, if there is one.
    pub(super) fn resource_metadata(&self, asked: &Asked) -> Option<Answer> {
        let is_here = |path: &&str| {
            Places::resource_metadata(&self.options, path).as_deref() == Some(&asked.path)
        };
        let path = [MCP, SECOND].into_iter().find(is_here)?;
        let mut issuer = self.places.issuer(&self.options);
        if self.options.has(Fault::IssuerSlash) {
            issuer.pop();
        }
        if self.options.has(Fault::ListedSlash) {
            issuer.push('/');
        }
        let resource = if self.options.has(Fault::OtherResource) {
            format!("{SOMEBODY_ELSE}{path}")
        } else {
            self.places.resource(&self.options, path)
        };
        let document = json!({
            "resource": resource,
            "authorization_servers": [issuer],
            "scopes_supported": self.options.resource.needs,
            "bearer_methods_supported": ["header"],
        });
        Some(self.document(asked, document, &OF_RESOURCE))
    }

    /// The document about the authorization server, if it is at this path.
    pub(super) fn server_metadata(&self, asked: &Asked) -> Option<Answer> {
        if Places::server_metadata(&self.options).as_deref() != Some(&asked.path) {
            return None;
        }
        Some(self.document(asked, self.description(), &OF_SERVER))
    }

    /// What the authorization server is (RFC 8414 §2).
    fn description(&self) -> Json {
        let options = &self.options;
        let issuer = if options.has(Fault::WrongIssuer) {
            SOMEBODY_ELSE.to_owned()
        } else {
            self.places.issuer(options)
        };
        let endpoint = |endpoint| {
            let address = self.places.endpoint(options, endpoint);
            let path = address.strip_prefix(&self.places.login).unwrap_or_default();
            if options.has(Fault::HttpEndpoints) {
                format!("http://login.example{path}")
            } else if options.has(Fault::PrivateEndpoints) {
                format!("https://169.254.169.254{path}")
            } else {
                address
            }
        };
        let methods = options.clients.authentication.iter();
        let methods: Vec<_> = methods.map(|method| method.name()).collect();
        let mut document = json!({
            "issuer": issuer,
            "authorization_endpoint": endpoint(Endpoint::Authorize),
            "token_endpoint": endpoint(Endpoint::Token),
            "scopes_supported": options.scopes(),
            "response_types_supported": ["code"],
            "grant_types_supported": ["authorization_code", "refresh_token", "client_credentials"],
            "token_endpoint_auth_methods_supported": methods,
        });
        if options.clients.authentication.contains(&Method::Key) {
            document["token_endpoint_auth_signing_alg_values_supported"] = json!(ALGORITHMS);
        }
        if options.has(Fault::NoIssuer)
            && let Some(members) = document.as_object_mut()
        {
            members.remove("issuer");
        }
        if options.has(Fault::OnlyPlain) {
            document["code_challenge_methods_supported"] = json!(["plain"]);
        } else if !options.has(Fault::NoChallengeMethods) {
            document["code_challenge_methods_supported"] = json!(["S256"]);
        }
        if !options.clients.no_registration {
            document["registration_endpoint"] = json!(endpoint(Endpoint::Register));
        }
        if !options.login.no_revocation {
            document["revocation_endpoint"] = json!(endpoint(Endpoint::Revoke));
        }
        if options.clients.documents {
            document["client_id_metadata_document_supported"] = json!(true);
        }
        if !options.has(Fault::SilentIss) {
            // RFC 9207 §3.
            document["authorization_response_iss_parameter_supported"] = json!(true);
        }
        document
    }

    fn document(&self, asked: &Asked, mut document: Json, faults: &DocumentFaults) -> Answer {
        let has = |fault| self.options.has(fault);
        if has(faults.html) {
            return Answer::bytes(200, "text/html", "<html><p>Welcome</p></html>");
        }
        if has(faults.down) {
            return Answer::bytes(503, "text/plain", "down");
        }
        if has(faults.looping) {
            let location = format!("{}?again={}", asked.path, asked.query.len());
            return Answer::bytes(302, "text/plain", "").header("location", location);
        }
        let host = asked.header("host").unwrap_or_default();
        if has(faults.moved) && host.starts_with("127.0.0.1") {
            // The same server by another name, so that a client that follows is seen.
            let host = host.replace("127.0.0.1", "localhost");
            let location = format!("http://{host}{}", asked.path);
            return Answer::bytes(302, "text/plain", "").header("location", location);
        }
        if has(faults.huge) {
            document["padding"] = json!("x".repeat(HUGE));
        }
        Answer::json(200, &document)
    }
}
