//! Where everything is.

use super::options::{Fault, Options, ResourcePlace, ServerPlace};

/// The path of the MCP server.
pub(super) const MCP: &str = "/mcp";
/// The path of another one, which wants tokens of its own.
pub(super) const SECOND: &str = "/second";
/// Where only those look who were told.
const ELSEWHERE: &str = "/somewhere/else";
/// What everything about a resource stands below (RFC 9728 §3).
const RESOURCE_METADATA: &str = "/.well-known/oauth-protected-resource";

/// The origins of both servers; they may be one.
#[derive(Clone, Debug)]
pub(super) struct Places {
    /// The MCP server's.
    pub(super) resource: String,
    /// The authorization server's.
    pub(super) login: String,
}

/// An endpoint of the authorization server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Endpoint {
    Authorize,
    Consent,
    Token,
    Register,
    Revoke,
}

impl Endpoint {
    const ALL: [Self; 5] = [
        Self::Authorize,
        Self::Consent,
        Self::Token,
        Self::Register,
        Self::Revoke,
    ];

    fn path(self) -> &'static str {
        match self {
            Self::Authorize => "/authorize",
            Self::Consent => "/consent",
            Self::Token => "/token",
            Self::Register => "/register",
            Self::Revoke => "/revoke",
        }
    }
}

impl Places {
    /// The issuer, as it really is.
    pub(super) fn issuer(&self, options: &Options) -> String {
        let slash = if options.has(Fault::IssuerSlash) {
            "/"
        } else {
            ""
        };
        format!("{}{}{slash}", self.login, options.login.issuer_path)
    }

    /// The address of an endpoint.
    pub(super) fn endpoint(&self, options: &Options, endpoint: Endpoint) -> String {
        let path = &options.login.issuer_path;
        format!("{}{path}{}", self.login, endpoint.path())
    }

    /// The endpoint at a path.
    pub(super) fn endpoint_at(options: &Options, path: &str) -> Option<Endpoint> {
        let path = path.strip_prefix(options.login.issuer_path.as_str())?;
        let mut all = Endpoint::ALL.into_iter();
        all.find(|endpoint| endpoint.path() == path)
    }

    /// The address of an MCP server.
    pub(super) fn server(&self, path: &str) -> String {
        format!("{}{path}", self.resource)
    }

    /// What an MCP server says that it is (RFC 9728 §2).
    pub(super) fn resource(&self, options: &Options, path: &str) -> String {
        if options.resource.origin_resource {
            self.resource.clone()
        } else {
            self.server(path)
        }
    }

    /// The path of the document about an MCP server, where there is one.
    pub(super) fn resource_metadata(options: &Options, path: &str) -> Option<String> {
        match options.resource.resource_metadata {
            ResourcePlace::Inserted => Some(format!("{RESOURCE_METADATA}{path}")),
            ResourcePlace::Root => Some(RESOURCE_METADATA.to_owned()),
            ResourcePlace::Elsewhere => Some(format!("{ELSEWHERE}{path}")),
            ResourcePlace::None => None,
        }
    }

    /// The path of the document about the authorization server, where there is one.
    pub(super) fn server_metadata(options: &Options) -> Option<String> {
        let path = &options.login.issuer_path;
        match options.login.server_metadata {
            ServerPlace::Rfc8414 => Some(format!("/.well-known/oauth-authorization-server{path}")),
            ServerPlace::OidcInserted => Some(format!("/.well-known/openid-configuration{path}")),
            ServerPlace::OidcAppended => Some(format!("{path}/.well-known/openid-configuration")),
            ServerPlace::None => None,
        }
    }
}
