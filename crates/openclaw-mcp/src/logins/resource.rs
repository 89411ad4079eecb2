//! From a definition to what a login is about.

use openclaw_config::{GrantType, OAuthSettings, RemoteLaunch, Server};
use openclaw_oauth::{Grant, OwnCertificate, Redirect, Resource, is_this_machine};
use url::Url;

/// What a login to a server is about. Whom the configuration names no document for uses the one that is
/// published for all.
pub(super) fn resource(
    server: &Server,
    launch: &RemoteLaunch,
    settings: &OAuthSettings,
    published: Option<&Url>,
) -> Resource {
    Resource {
        server: server.name.as_str().to_owned(),
        url: launch.url.clone(),
        grant: match settings.grant_type {
            GrantType::AuthorizationCode => Grant::AuthorizationCode,
            GrantType::ClientCredentials => Grant::ClientCredentials,
        },
        client_id: settings.client_id.clone(),
        key_id: settings.key_id.clone(),
        client_metadata_url: settings.client_metadata_url.as_ref().or(published).cloned(),
        authorization_server: settings.authorization_server.clone(),
        scopes: settings.scopes.clone(),
        redirect: redirect(settings),
        authorities: launch.tls.authorities.clone(),
        verify: launch.tls.verify,
        identity: launch.tls.identity.as_ref().map(|own| OwnCertificate {
            certificate: own.certificate.clone(),
            key: own.key.clone(),
        }),
    }
}

/// Where the browser is sent to. A whole address wins over its parts.
fn redirect(settings: &OAuthSettings) -> Redirect {
    match &settings.redirect_url {
        Some(url) => here(url).unwrap_or_else(|| Redirect::Elsewhere(url.clone())),
        None => Redirect::Here {
            host: settings.callback_host.as_str().to_owned(),
            port: settings.callback_port,
            path: settings.callback_path.clone(),
        },
    }
}

/// An address on this machine that can be listened on.
fn here(url: &Url) -> Option<Redirect> {
    if url.scheme() != "http" || url.query().is_some() || !is_this_machine(url) {
        return None;
    }
    let host = url.host_str()?;
    // Whatever else means this machine is not what the listener listens on.
    if !matches!(host, "127.0.0.1" | "localhost" | "[::1]") {
        return None;
    }
    Some(Redirect::Here {
        host: host.to_owned(),
        // Authorization servers take any port of this machine (RFC 8252 §7.3).
        port: url.port(),
        path: url.path().to_owned(),
    })
}
