//! From the fields of a server at an address to its launch.

use std::collections::BTreeMap;

use url::Url;

use crate::raw::{Auth, ConfigValue, RawOAuth};
use crate::report::{Kind, Problem, Report};
use crate::server::address::{self, Reach};
use crate::server::validate::{Candidate, is_plaintext};
use crate::server::{
    Authorization, CallbackHost, ClientIdentity, OAuthSettings, ProtocolChoice, RemoteLaunch,
    RemoteTransport, TlsSettings,
};
use crate::shape::{Field, Located, NonEmpty};

/// Checks the fields of a server at an address.
pub(super) fn launch(
    candidate: &Candidate<'_>,
    transport: RemoteTransport,
    report: &mut Report,
) -> Option<RemoteLaunch> {
    let raw = candidate.raw;
    let word = match transport {
        RemoteTransport::Http => "an http server",
        RemoteTransport::Sse => "an sse server",
    };
    if raw.url.is_absent() {
        let help = "for a program, write `\"transport\": \"stdio\"`";
        let help = (!raw.command.is_absent()).then_some(help);
        candidate.missing(report, format!("{word} needs `url`"), help);
    }
    candidate.no_effect(
        report,
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
        .and_then(|url| server_url(candidate, url, report));
    let (headers, authorization_header) = headers(candidate, report);
    let authorization = authorization(candidate, authorization_header, report);
    let tls = tls(candidate, report);
    Some(RemoteLaunch {
        transport,
        url: url?,
        headers,
        authorization,
        tls,
        protocol: raw.protocol.or(ProtocolChoice::Auto),
        roots: candidate.roots(),
    })
}

fn server_url(
    candidate: &Candidate<'_>,
    field: &Located<NonEmpty>,
    report: &mut Report,
) -> Option<Url> {
    let text = &field.value.0;
    if !text.is_complete() {
        return None;
    }
    let problem =
        |message: String| Problem::error(Kind::Value, &field.path, message).at(field.span);
    let (url, reach) = match address::parse(&text.value) {
        Ok(parsed) => parsed,
        Err(error) => {
            report.add(problem(error.to_string()));
            return None;
        }
    };
    let host = url.host_str().unwrap_or_default();
    match (reach, candidate.raw.allow_insecure_http.or(false)) {
        (Reach::Encrypted | Reach::Loopback, _) => {}
        (Reach::Readable, false) => {
            let help = "write `https://`, or set `\"allowInsecureHttp\": true` if everybody \
                        between may read along";
            let message = format!("`http://` is only for this machine, and {host} is another one");
            report.add(problem(message).help(help));
        }
        (Reach::Readable, true) => {
            let message = format!("everybody between here and {host} can read along");
            report.add(Problem::warning(Kind::Advice, &field.path, message).at(field.span));
        }
    }
    let has_password = url.password().is_some();
    if has_password && text.variables.is_empty() {
        candidate.warn_plaintext(report, &field.path, field.span);
    }
    Some(url)
}

type Headers = BTreeMap<String, ConfigValue>;

/// The headers, and the one that is a proof of identity.
fn headers(candidate: &Candidate<'_>, report: &mut Report) -> (Headers, Option<ConfigValue>) {
    let Field::Given(field) = &candidate.raw.headers else {
        return (BTreeMap::new(), None);
    };
    let mut headers = BTreeMap::new();
    for (name, credential) in &field.value.0 {
        let path = field.path.child(name);
        let mut refuse = |message: &str| {
            report.add(Problem::error(Kind::Value, &path, message).at(field.span));
        };
        if !is_header_name(name) {
            refuse("the name of a header has only letters, digits and the signs !#$%&'*+-.^_`|~");
        } else if !is_header_value(&credential.value) {
            refuse("the value of a header has no line breaks and no control characters");
        } else if headers
            .insert(name.to_ascii_lowercase(), credential.value.clone())
            .is_some()
        {
            refuse("this header stands here twice, in different letters");
        }
    }
    candidate.check_plaintext(report, &field.path, field.span, &field.value);
    let authorization = headers.remove("authorization");
    (headers, authorization)
}

// RFC 9110 §5.6.2
fn is_header_name(name: &str) -> bool {
    !name.is_empty()
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

// RFC 9110 §5.5
fn is_header_value(value: &ConfigValue) -> bool {
    let text = match value {
        ConfigValue::Plain { value, .. } => value.expose(),
        ConfigValue::Reference { prefix, .. } => prefix,
    };
    !text.chars().any(|c| c.is_ascii_control() && c != '\t')
}

fn authorization(
    candidate: &Candidate<'_>,
    header: Option<ConfigValue>,
    report: &mut Report,
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
            report.add(Problem::error(Kind::Value, &field.path, message).at(field.span));
        }
        if is_plaintext("apiKey", key) {
            candidate.warn_plaintext(report, &field.path, field.span);
        }
    }
    if let Some(header) = header {
        let key = [("apiKey", raw.api_key.located().map(|field| field.span))];
        let unused = [&key[..], &oauth_spans[..]].concat();
        candidate.no_effect(report, "a server with an `Authorization` header", &unused);
        return Authorization::Header(header);
    }
    if let Field::Given(field) = &raw.api_key {
        candidate.no_effect(report, "a server with an `apiKey`", &oauth_spans);
        return Authorization::ApiKey(field.value.value.clone());
    }
    Authorization::OAuth(Box::new(oauth(candidate, report)))
}

fn oauth(candidate: &Candidate<'_>, report: &mut Report) -> OAuthSettings {
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
    if let Field::Given(field) = &settings.client_secret
        && is_plaintext("clientSecret", &field.value.value)
    {
        candidate.warn_plaintext(report, &field.path, field.span);
    }
    let path = settings.callback_path.located();
    if let Some(path) = path
        && !path.value.0.value.starts_with('/')
    {
        let message = "the path of a callback begins with `/`";
        report.add(Problem::error(Kind::Value, &path.path, message).at(path.span));
    }
    let text = |field: &Field<NonEmpty>| field.value().map(|text| text.0.value.clone());
    OAuthSettings {
        required,
        client_id: text(&settings.client_id),
        client_secret: settings
            .client_secret
            .value()
            .map(|secret| secret.value.clone()),
        authorization_server: oauth_url(&settings.authorization_server_url, Wanted::Secure, report),
        redirect_url: oauth_url(&settings.redirect_url, Wanted::Any, report),
        client_metadata_url: oauth_url(&settings.client_metadata_url, Wanted::Public, report),
        scopes: scopes(&settings),
        callback_host: settings.callback_host.or(CallbackHost::V4),
        callback_port: settings
            .callback_port
            .value()
            .and_then(|port| u16::try_from(port.0).ok())
            .filter(|port| *port != 0),
        callback_path: text(&settings.callback_path).unwrap_or_else(|| "/callback".to_owned()),
    }
}

fn scopes(settings: &RawOAuth) -> Option<Vec<String>> {
    let list = settings
        .scopes
        .value()
        .map(|scopes| scopes.iter().map(|scope| scope.0.value.clone()).collect());
    let words = || {
        let scope = settings.scope.value()?;
        Some(
            scope
                .0
                .value
                .split_whitespace()
                .map(str::to_owned)
                .collect(),
        )
    };
    list.or_else(words)
}

/// What an address of the login must be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    /// Anything.
    Any,
    /// Encrypted, or on this machine.
    Secure,
    /// Encrypted, and so to be fetched by others.
    Public,
}

fn oauth_url(field: &Field<NonEmpty>, wanted: Wanted, report: &mut Report) -> Option<Url> {
    let field = field
        .located()
        .filter(|field| field.value.0.is_complete())?;
    let message = match (address::parse(&field.value.0.value), wanted) {
        (Ok((url, _)), Wanted::Any)
        | (Ok((url, Reach::Encrypted | Reach::Loopback)), Wanted::Secure)
        | (Ok((url, Reach::Encrypted)), Wanted::Public) => return Some(url),
        (Ok(_), Wanted::Secure) => {
            "this must be an `https://` address, or `http://` on this machine".to_owned()
        }
        (Ok(_), Wanted::Public) => "this must be an `https://` address".to_owned(),
        (Err(error), _) => error.to_string(),
    };
    report.add(Problem::error(Kind::Value, &field.path, message).at(field.span));
    None
}

fn tls(candidate: &Candidate<'_>, report: &mut Report) -> TlsSettings {
    let raw = candidate.raw;
    let path = |field: &Field<NonEmpty>| field.value().map(|path| candidate.absolute(path));
    if let Field::Given(verify) = &raw.ssl_verify
        && !verify.value
    {
        let message = "the server's certificate is not checked: anybody between can pose as it";
        let problem = Problem::warning(Kind::Advice, &verify.path, message).at(verify.span);
        report.add(problem.help("for a company's own authority, use `caCert`"));
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
