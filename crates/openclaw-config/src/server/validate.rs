//! From the fields of a server to a sound definition.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use openclaw_secrets::{is_credential_name, is_credential_value, looks_like_credential};

use crate::environment::Environment;
use crate::path::JsonPath;
use crate::place::Place;
use crate::raw::{ConfigValue, Inherit, RawCredential, RawServer, TransportWord};
use crate::report::{Kind, Problem, Report};
use crate::server::remote;
use crate::server::{
    InheritedEnvironment, Launch, PinPolicy, ProtocolChoice, RemoteTransport, Restart, Server,
    ServerName, ServerScope, StdioLaunch, Timeouts, ToolFilter, ToolNaming,
};
use crate::shape::{Field, Milliseconds, Named, NonEmpty};
use crate::source::Span;

/// What depends on the place that gave `command` or `url`.
#[derive(Clone, Debug)]
pub(crate) struct PlaceDefaults {
    pub(crate) connection_timeout: Duration,
    pub(crate) request_timeout: Duration,
    pub(crate) naming: ToolNaming,
    pub(crate) discovery_interval: Option<Duration>,
}

/// The fields of one server, all places laid over each other, and what they are judged with.
pub(crate) struct Candidate<'a> {
    pub(crate) name: &'a ServerName,
    pub(crate) raw: &'a RawServer,
    pub(crate) place: &'a Place,
    pub(crate) defaults: &'a PlaceDefaults,
    /// Where the server stands, for what is missing.
    pub(crate) path: &'a JsonPath,
    pub(crate) span: Span,
    /// Whether a part could not be read, so that nothing can be called missing.
    pub(crate) is_partial: bool,
    /// The directory of the configuration file.
    pub(crate) directory: &'a Path,
    pub(crate) environment: &'a Environment,
}

/// Checks what the fields mean together.
///
/// Everything that is wrong is reported; `None` where the server can't be used.
pub(crate) fn validate(candidate: &Candidate<'_>, report: &mut Report) -> Option<Server> {
    let before = report.len();
    let raw = candidate.raw;
    if let (Field::Given(key), true) = (&raw.client_key, raw.client_cert.is_absent()) {
        let message = "`clientKey` needs `clientCert`";
        report.add(Problem::error(Kind::Rule, &key.path, message).at(key.span));
    }
    let launch = candidate.launch(report);
    let texts = |field: &Field<Vec<NonEmpty>>| -> Vec<String> {
        field
            .value()
            .map(|texts| texts.iter().map(|text| text.0.value.clone()).collect())
            .unwrap_or_default()
    };
    let filter = raw.tool_filter.value();
    let time = |field: &Field<Milliseconds>| field.value().map(|time| time.0);
    let restarts = raw.max_restarts.value().map_or(5, |count| count.0);
    let server = Server {
        name: candidate.name.clone(),
        launch: launch?,
        place: candidate.place.clone(),
        timeouts: Timeouts {
            connection: time(&raw.connection_timeout)
                .unwrap_or(candidate.defaults.connection_timeout),
            request: time(&raw.request_timeout).unwrap_or(candidate.defaults.request_timeout),
            total: time(&raw.max_total_timeout).unwrap_or(Duration::from_mins(10)),
        },
        parallel_calls: raw.parallel.or(true),
        restart: match u32::try_from(restarts) {
            _ if !raw.restart_on_crash.or(true) => Restart::Never,
            Ok(0) => Restart::Never,
            Ok(count) => Restart::AtMost(count),
            Err(_) => Restart::AtMost(u32::MAX),
        },
        lazy: raw.lazy.or(false),
        idle_timeout: time(&raw.idle_timeout),
        scope: raw.scope.or(ServerScope::Shared),
        naming: candidate.defaults.naming,
        tool_prefix: raw.tool_prefix.value().map(|prefix| prefix.0.value.clone()),
        tool_filter: ToolFilter {
            include: filter
                .map(|filter| texts(&filter.include))
                .unwrap_or_default(),
            exclude: filter
                .map(|filter| texts(&filter.exclude))
                .unwrap_or_default(),
        },
        trust_annotations: raw.trust_annotations.or(false),
        pin: raw.pin.or(PinPolicy::Warn),
        max_result_bytes: raw
            .max_result_bytes
            .value()
            .map_or(100_000, |bytes| bytes.0),
        discovery_interval: candidate.defaults.discovery_interval,
    };
    let sound = !report.since(before).iter().any(Problem::blocks);
    sound.then_some(server)
}

impl Candidate<'_> {
    fn launch(&self, report: &mut Report) -> Option<Launch> {
        let raw = self.raw;
        let word = raw.transport.value().copied();
        if let (Field::Given(command), Field::Given(url)) = (&raw.command, &raw.url) {
            let (extra, advice) = match word {
                Some(TransportWord::Stdio) => {
                    (url, "remove `url`: the transport is stdio".to_owned())
                }
                Some(word) => {
                    let advice = format!("remove `command`: the transport is {}", word.as_str());
                    (command, advice)
                }
                None => {
                    let advice =
                        "remove `url` to start a program, or `command` to connect to an address";
                    (url, advice.to_owned())
                }
            };
            let message = "a server has `command` or `url`, not both";
            let problem = Problem::error(Kind::Rule, &extra.path, message);
            report.add(problem.at(extra.span).help(advice));
            return None;
        }
        let transport = match word {
            Some(TransportWord::Stdio) => None,
            Some(TransportWord::Http | TransportWord::StreamableHttp) => {
                Some(RemoteTransport::Http)
            }
            Some(TransportWord::Sse) => Some(RemoteTransport::Sse),
            None if !raw.command.is_absent() => None,
            None if !raw.url.is_absent() => Some(RemoteTransport::Http),
            None => {
                // A transport that was given and is wrong has been reported.
                if raw.transport.is_absent() {
                    let message = "a server needs `command` (a program to start) or `url` (an \
                                   address to connect to)";
                    self.missing(report, message.to_owned(), None);
                }
                return None;
            }
        };
        match transport {
            Some(transport) => remote::launch(self, transport, report).map(Launch::Remote),
            None => self.stdio(report).map(Launch::Stdio),
        }
    }

    fn stdio(&self, report: &mut Report) -> Option<StdioLaunch> {
        let raw = self.raw;
        if raw.command.is_absent() {
            let help = "for an address, write `\"transport\": \"http\"`";
            let help = (!raw.url.is_absent()).then_some(help);
            self.missing(report, "a stdio server needs `command`".to_owned(), help);
        }
        self.no_effect(
            report,
            "a stdio server",
            &[
                ("headers", raw.headers.located().map(|field| field.span)),
                ("apiKey", raw.api_key.located().map(|field| field.span)),
                ("auth", raw.auth.located().map(|field| field.span)),
                ("oauth", raw.oauth.located().map(|field| field.span)),
            ],
        );
        let environment = self.environment_entries(report);
        let args: Vec<String> = raw
            .args
            .value()
            .map(|args| {
                args.iter()
                    .map(|argument| argument.0.value.clone())
                    .collect()
            })
            .unwrap_or_default();
        if let Field::Given(field) = &raw.args {
            let mut before = "";
            for argument in &field.value {
                let text = argument.0.value.as_str();
                let credential = is_credential_value(text)
                    || (before.starts_with('-')
                        && is_credential_name(before.trim_start_matches('-'))
                        && looks_like_credential(before.trim_start_matches('-'), text));
                if credential && argument.0.variables.is_empty() {
                    self.warn_plaintext(report, &field.path, field.span);
                }
                before = text;
            }
        }
        Some(StdioLaunch {
            command: raw.command.value()?.0.value.clone(),
            args,
            environment,
            inherited: match raw.inherit_env.value() {
                None | Some(Inherit::All(false)) => InheritedEnvironment::Nothing,
                Some(Inherit::All(true)) => InheritedEnvironment::All,
                Some(Inherit::Names(names)) => InheritedEnvironment::Names(
                    names.iter().map(|name| name.0.value.clone()).collect(),
                ),
            },
            directory: raw.cwd.value().map(|path| self.absolute(path)),
            protocol: raw.protocol.or(ProtocolChoice::Auto),
            roots: self.roots(),
        })
    }

    /// Says that a field is missing, unless it may be in a part that could not be read.
    pub(super) fn missing(&self, report: &mut Report, message: String, help: Option<&str>) {
        if self.is_partial {
            return;
        }
        let problem = Problem::error(Kind::Rule, self.path, message).at(self.span);
        report.add(match help {
            Some(help) => problem.help(help),
            None => problem,
        });
    }

    fn environment_entries(&self, report: &mut Report) -> BTreeMap<String, ConfigValue> {
        let Field::Given(field) = &self.raw.env else {
            return BTreeMap::new();
        };
        let mut entries = BTreeMap::new();
        let mut dropped = Vec::new();
        for (name, credential) in &field.value.0 {
            if name.is_empty() || name.contains(['=', '\0']) {
                let message = "the name of a variable has at least one character, and no `=`";
                report.add(
                    Problem::error(Kind::Value, &field.path.child(name), message).at(field.span),
                );
            } else if changes_what_is_loaded(name) {
                dropped.push(name.as_str());
            } else {
                Self::check_nul(report, &field.path.child(name), field.span, credential);
                entries.insert(name.clone(), credential.value.clone());
            }
        }
        if !dropped.is_empty() {
            let message = format!(
                "{} {} dropped: a configuration must not change what a program loads",
                dropped.join(", "),
                if dropped.len() == 1 { "is" } else { "are" }
            );
            report.add(Problem::warning(Kind::Advice, &field.path, message).at(field.span));
        }
        self.check_plaintext(report, &field.path, field.span, &field.value);
        entries
    }

    fn check_nul(report: &mut Report, path: &JsonPath, span: Span, value: &RawCredential) {
        if let ConfigValue::Plain { value, .. } = &value.value
            && value.expose().contains('\0')
        {
            let message = "the value of a variable must not contain a NUL character";
            report.add(Problem::error(Kind::Value, path, message).at(span));
        }
    }

    /// Warns once per server that a credential stands in the file itself.
    pub(super) fn check_plaintext(
        &self,
        report: &mut Report,
        path: &JsonPath,
        span: Span,
        values: &Named<RawCredential>,
    ) {
        for (name, credential) in &values.0 {
            if is_plaintext(name, &credential.value) {
                self.warn_plaintext(report, &path.child(name), span);
            }
        }
    }

    /// Says that fields have no effect on a server of this kind.
    pub(super) fn no_effect(
        &self,
        report: &mut Report,
        kind: &str,
        fields: &[(&str, Option<Span>)],
    ) {
        for (name, span) in fields {
            if let Some(span) = span {
                let message = format!("`{name}` has no effect on {kind}");
                let path = self.path.child(name);
                report.add(Problem::warning(Kind::Advice, &path, message).at(*span));
            }
        }
    }

    pub(super) fn warn_plaintext(&self, report: &mut Report, path: &JsonPath, span: Span) {
        if !report.first_plaintext(self.name) {
            return;
        }
        let message = format!(
            "MCP server '{}' has plaintext credentials in config — consider using secret:// \
             references",
            self.name
        );
        let problem = Problem::warning(Kind::PlaintextCredential, path, message)
            .at(span)
            .help("write `\"secret://keyring/SERVICE/ACCOUNT\"`, or `\"${NAME}\"` for a variable");
        report.add(problem);
    }

    /// A path of the configuration: relative to its file, `~` being the home directory.
    pub(super) fn absolute(&self, path: &NonEmpty) -> PathBuf {
        self.directory
            .join(self.environment.expand_home(&path.0.value))
    }

    pub(super) fn roots(&self) -> Option<Vec<String>> {
        let roots = self.raw.roots.value()?;
        Some(roots.iter().map(|root| root.0.value.clone()).collect())
    }
}

/// Whether a value is a credential that stands in the file itself.
pub(super) fn is_plaintext(name: &str, value: &ConfigValue) -> bool {
    match value {
        ConfigValue::Plain { value, variables } => {
            variables.is_empty() && looks_like_credential(name, value.expose())
        }
        ConfigValue::Reference { .. } => false,
    }
}

/// Variables that make a program load other code than its own.
fn changes_what_is_loaded(name: &str) -> bool {
    const NAMES: &[&str] = &[
        "NODE_OPTIONS",
        "NODE_PATH",
        "PYTHONHOME",
        "PYTHONPATH",
        "PYTHONSTARTUP",
        "BASH_ENV",
        "ENV",
        "IFS",
    ];
    const PREFIXES: &[&str] = &["PERL5", "RUBY", "LD_", "DYLD_", "BASH_FUNC_"];
    let name = name.to_ascii_uppercase();
    NAMES.contains(&name.as_str()) || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}
