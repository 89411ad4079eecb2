//! From the fields of a server at an address to its launch.

use std::collections::BTreeMap;

use url::Url;

use crate::raw::{Auth, ConfigValue, RawOAuth, is_header_value};
use crate::report::{Kind, Problem};
use crate::server::address::{Reach, parse_address};
use crate::server::plaintext::{Spot, is_plaintext_text};
use crate::server::validate::{Candidate, Findings};
use crate::server::{
    Authorization, CallbackHost, ClientIdentity, GrantType, OAuthSettings, ProtocolChoice,
    RemoteLaunch, RemoteTransport, TlsSettings,
};
use crate::shape::{Field, Located, NonEmpty};

/// Checks the fields of a server at an address.
pub(super) fn launch(
    candidate: &Candidate<'_>,
    transport: RemoteTransport,
    found: &mut Findings,
) -> Option<RemoteLaunch> {
    let raw = candidate.raw;
    let word = match transport {
        RemoteTransport::Http => "an http server",
        RemoteTransport::Sse => "an sse server",
    };
    if raw.url.is_absent() {
        let help = "for a program, write `\"transport\": \"stdio\"`";
        let help = (!raw.command.is_absent()).then_some(help);
        candidate.missing(found, format!("{word} needs `url`"), help);
    }
    candidate.no_effect(
        found,
        word,
        &[
            ("args", raw.args.located().map(|field| field.span)),
            ("env", raw.env.located().map(|field| field.span)),
            (
                "inheritEnv",
                raw.inherit_env.located().map(|field| field.span),
            ),
            ("cwd", raw.cwd.located().map(|field| field.span)),
        ],
    );
    let url = raw
        .url
        .located()
        .and_then(|url| server_url(candidate, url, found));
    let (headers, authorization_header) = headers(candidate, found);
    let authorization = authorization(candidate, authorization_header, found);
    let tls = tls(candidate, found);
    let roots = candidate.roots(found);
    Some(RemoteLaunch {
        transport,
        url: url?,
        headers,
        authorization,
        tls,
        protocol: raw.protocol.or(ProtocolChoice::Auto),
        roots,
    })
}

fn server_url(
    candidate: &Candidate<'_>,
    field: &Located<NonEmpty>,
    found: &mut Findings,
) -> Option<Url> {
    let text = &field.value.0;
    if !text.is_complete() {
        return None;
    }
    let error = |message: String| Problem::error(Kind::Value, &field.path, message).at(field.span);
    let (url, reach) = match parse_address(&text.value) {
        Ok(parsed) => parsed,
        Err(reason) => {
            found.push(error(reason.to_string()));
            return None;
        }
    };
    let host = url.host_str().unwrap_or_default();
    match (reach, candidate.raw.allow_insecure_http.or(false)) {
        (Reach::Encrypted | Reach::Loopback, _) | (Reach::Disguised, true) => {}
        (Reach::Disguised, false) => {
            let message = "this address means this machine, but does not say so plainly";
            found.push(error(message.to_owned()).help(format!("write `http://{host}`")));
        }
        (Reach::Readable, false) => {
            let help = "write `https://`, or set `\"allowInsecureHttp\": true` if everybody \
                        between may read along";
            let message = format!("`http://` is only for this machine, and {host} is another one");
            found.push(error(message).help(help));
        }
        (Reach::Readable, true) => {
            let message = format!("everybody between here and {host} can read along");
            found.push(Problem::warning(Kind::Advice, &field.path, message).at(field.span));
        }
    }
    if is_plaintext_text(text) {
        found.push(candidate.plaintext_problem(Spot::Address, &field.path, field.span));
    }
    Some(url)
}

type Headers = BTreeMap<String, ConfigValue>;

/// The headers, and the one that is a proof of identity.
fn headers(candidate: &Candidate<'_>, found: &mut Findings) -> (Headers, Option<ConfigValue>) {
    let Field::Given(field) = &candidate.raw.headers else {
        return (BTreeMap::new(), None);
    };
    let mut headers = BTreeMap::new();
    for entry in &field.value.0 {
        let path = field.path.child(&entry.name);
        candidate.check_value(found, &entry.name, &entry.value.value, (&path, entry.span));
        headers.insert(entry.name.to_ascii_lowercase(), entry.value.value.clone());
    }
    let authorization = headers.remove("authorization");
    (headers, authorization)
}

fn authorization(
    candidate: &Candidate<'_>,
    header: Option<ConfigValue>,
    found: &mut Findings,
) -> Authorization {
    let raw = candidate.raw;
    let oauth_spans = [
        ("auth", raw.auth.located().map(|field| field.span)),
        ("oauth", raw.oauth.located().map(|field| field.span)),
    ];
    if let Field::Given(field) = &raw.api_key {
        let key = &field.value.value;
        if !is_header_value(key) {
            let message = "a key has no line breaks and no control characters";
            found.push(Problem::error(Kind::Value, &field.path, message).at(field.span));
        }
        candidate.check_value(found, "apiKey", key, (&field.path, field.span));
    }
    if let Some(header) = header {
        let key = [("apiKey", raw.api_key.located().map(|field| field.span))];
        let unused = [&key[..], &oauth_spans[..]].concat();
        candidate.no_effect(found, "a server with an `Authorization` header", &unused);
        return Authorization::Header(header);
    }
    if let Field::Given(field) = &raw.api_key {
        candidate.no_effect(found, "a server with an `apiKey`", &oauth_spans);
        return Authorization::ApiKey(field.value.value.clone());
    }
    Authorization::OAuth(Box::new(oauth(candidate, found)))
}

fn oauth(candidate: &Candidate<'_>, found: &mut Findings) -> OAuthSettings {
    let raw = candidate.raw;
    let mut settings = raw.oauth.value().cloned().unwrap_or_default();
    let mut required = !raw.oauth.is_absent();
    match raw.auth.value() {
        Some(Auth::OAuth) => required = true,
        Some(Auth::Settings(more)) => {
            required = true;
            settings.overlay(more);
        }
        None => {}
    }
    let keys = [
        ("clientSecret", &settings.client_secret),
        ("privateKey", &settings.private_key),
    ];
    for (name, key) in keys {
        if let Field::Given(field) = key {
            let place = (&*field.path, field.span);
            candidate.check_value(found, name, &field.value.value, place);
        }
    }
    check_client(&settings, found);
    login(&settings, required)
}

/// A login with all its settings: those that are set, and what holds for the others.
pub(super) fn login(settings: &RawOAuth, required: bool) -> OAuthSettings {
    OAuthSettings {
        required,
        grant_type: settings.grant_type.or(GrantType::AuthorizationCode),
        client_id: settings.client_id.value().map(|id| id.0.value.clone()),
        client_secret: settings
            .client_secret
            .value()
            .map(|secret| secret.value.clone()),
        private_key: settings.private_key.value().map(|key| key.value.clone()),
        key_id: settings.key_id.value().map(|id| id.0.value.clone()),
        authorization_server: settings
            .authorization_server_url
            .value()
            .and_then(|address| address.0.clone()),
        redirect_url: settings
            .redirect_url
            .value()
            .and_then(|address| address.0.clone()),
        client_metadata_url: settings
            .client_metadata_url
            .value()
            .and_then(|address| address.0.clone()),
        scopes: scopes(settings),
        callback_host: settings.callback_host.or(CallbackHost::V4),
        callback_port: settings
            .callback_port
            .value()
            .and_then(|port| u16::try_from(port.0).ok())
            .filter(|port| *port != 0),
        callback_path: settings
            .callback_path
            .value()
            .map_or_else(|| "/callback".to_owned(), |path| path.0.clone()),
    }
}

/// What belongs to a client means nothing without one. (The parts of a login may stand in several
/// places, so it is for the login to refuse what is missing in all of them.)
fn check_client(settings: &RawOAuth, found: &mut Findings) {
    let has_id = settings.client_id.value().is_some();
    let keys = [&settings.client_secret, &settings.private_key];
    if let [Field::Given(secret), Field::Given(_)] = keys {
        let message = "it has no effect beside a `privateKey`";
        found.push(Problem::warning(Kind::Advice, &secret.path, message).at(secret.span));
    }
    for key in keys {
        if let Field::Given(key) = key
            && !has_id
        {
            let message = "it has no effect without a `clientId`";
            found.push(Problem::warning(Kind::Advice, &key.path, message).at(key.span));
        }
    }
    if let Field::Given(grant) = &settings.grant_type
        && grant.value == GrantType::ClientCredentials
        && !(has_id && keys.iter().any(|key| key.value().is_some()))
    {
        let message = "a client that logs in by itself needs a `clientId`, and a `clientSecret` or \
                       a `privateKey`";
        found.push(Problem::warning(Kind::Advice, &grant.path, message).at(grant.span));
    }
}

fn scopes(settings: &RawOAuth) -> Option<Vec<String>> {
    let list = settings
        .scopes
        .value()
        .map(|scopes| scopes.iter().map(|scope| scope.0.value.clone()).collect());
    let words = || {
        let scope = settings.scope.value()?;
        let words = scope.0.value.split_whitespace();
        Some(words.map(str::to_owned).collect())
    };
    list.or_else(words)
}

fn tls(candidate: &Candidate<'_>, found: &mut Findings) -> TlsSettings {
    let raw = candidate.raw;
    let path =
        |field: &Field<NonEmpty>| field.value().map(|path| candidate.absolute(&path.0.value));
    if let Field::Given(verify) = &raw.ssl_verify
        && !verify.value
    {
        let message = "the server's certificate is not checked: anybody between can pose as it";
        let problem = Problem::warning(Kind::Advice, &verify.path, message).at(verify.span);
        found.push(problem.help("for a company's own authority, use `caCert`"));
    }
    TlsSettings {
        verify: raw.ssl_verify.or(true),
        authorities: path(&raw.ca_cert),
        identity: path(&raw.client_cert).map(|certificate| ClientIdentity {
            certificate,
            key: path(&raw.client_key),
        }),
    }
}
