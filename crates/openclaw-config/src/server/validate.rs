//! From the fields of a server to a sound definition.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use openclaw_secrets::{ConfiguredSource, SecretReference};
use url::Url;

use crate::environment::Environment;
use crate::path::JsonPath;
use crate::place::Place;
use crate::raw::{ConfigValue, Inherit, ProviderSource, RawServer, TransportWord};
use crate::report::{Kind, Problem};
use crate::server::plaintext::{Spot, is_in_arguments, is_plaintext};
use crate::server::remote;
use crate::server::{
    InheritedEnvironment, Launch, PinPolicy, ProtocolChoice, RemoteTransport, Restart, Server,
    ServerName, ServerResources, ServerScope, StdioLaunch, Timeouts, ToolFilter, ToolNaming,
};
use crate::shape::{Field, Milliseconds, NonEmpty};
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
    /// The providers that references can name.
    pub(crate) providers: &'a BTreeMap<String, ProviderSource>,
}

/// What was found wrong with one server.
pub(crate) type Findings = Vec<Problem>;

/// Checks what the fields mean together.
///
/// Everything that is wrong is added to `found`; `None` where the server can't be used for it.
pub(crate) fn validate(candidate: &Candidate<'_>, found: &mut Findings) -> Option<Server> {
    let raw = candidate.raw;
    if let (Field::Given(key), true) = (&raw.client_key, raw.client_cert.is_absent()) {
        let message = "`clientKey` needs `clientCert`";
        found.push(Problem::error(Kind::Rule, &key.path, message).at(key.span));
    }
    let launch = candidate.launch(found)?;
    let server = settled(
        candidate.name,
        launch,
        candidate.place,
        raw,
        candidate.defaults,
    );
    let sound = !found.iter().any(Problem::blocks);
    sound.then_some(server)
}

/// A server with all its settings: those that are set, and what holds for the others.
pub(crate) fn settled(
    name: &ServerName,
    launch: Launch,
    place: &Place,
    raw: &RawServer,
    defaults: &PlaceDefaults,
) -> Server {
    let filter = raw.tool_filter.value();
    let patterns = |field: Option<&Field<Vec<NonEmpty>>>| -> Vec<String> {
        let patterns = field.and_then(Field::value).cloned().unwrap_or_default();
        patterns
            .into_iter()
            .map(|pattern| pattern.0.value)
            .collect()
    };
    let time = |field: &Field<Milliseconds>| field.value().map(|time| time.0);
    let restarts = raw.max_restarts.value().map_or(5, |count| count.0);
    Server {
        name: name.clone(),
        launch,
        place: place.clone(),
        timeouts: Timeouts {
            connection: time(&raw.connection_timeout).unwrap_or(defaults.connection_timeout),
            request: time(&raw.request_timeout).unwrap_or(defaults.request_timeout),
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
        naming: defaults.naming,
        tool_prefix: raw.tool_prefix.value().map(|prefix| prefix.0.value.clone()),
        tool_filter: ToolFilter {
            include: patterns(filter.map(|filter| &filter.include)),
            exclude: patterns(filter.map(|filter| &filter.exclude)),
        },
        always_load: raw.always_load.or(false),
        trust_annotations: raw.trust_annotations.or(false),
        pin: raw.pin.or(PinPolicy::Warn),
        max_result_bytes: raw
            .max_result_bytes
            .value()
            .map_or(100_000, |bytes| bytes.0),
        resources: ServerResources {
            inject: patterns(raw.resources.value().map(|resources| &resources.inject)),
            max_bytes: raw
                .resources
                .value()
                .and_then(|resources| resources.max_bytes.value())
                .map(|bytes| bytes.0),
        },
        discovery_interval: defaults.discovery_interval,
    }
}

impl Candidate<'_> {
    fn launch(&self, found: &mut Findings) -> Option<Launch> {
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
            found.push(problem.at(extra.span).help(advice));
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
                    self.missing(found, message.to_owned(), None);
                }
                return None;
            }
        };
        match transport {
            Some(transport) => remote::launch(self, transport, found).map(Launch::Remote),
            None => self.stdio(found).map(Launch::Stdio),
        }
    }

    fn stdio(&self, found: &mut Findings) -> Option<StdioLaunch> {
        let raw = self.raw;
        if raw.command.is_absent() {
            let help = "for an address, write `\"transport\": \"http\"`";
            let help = (!raw.url.is_absent()).then_some(help);
            self.missing(found, "a stdio server needs `command`".to_owned(), help);
        }
        self.no_effect(
            found,
            "a stdio server",
            &[
                ("headers", raw.headers.located().map(|field| field.span)),
                ("apiKey", raw.api_key.located().map(|field| field.span)),
                ("auth", raw.auth.located().map(|field| field.span)),
                ("oauth", raw.oauth.located().map(|field| field.span)),
            ],
        );
        let environment = self.variables(found);
        let roots = self.roots(found);
        let args = raw.args.value().cloned().unwrap_or_default();
        if let Field::Given(field) = &raw.args
            && is_in_arguments(&field.value)
        {
            found.push(self.plaintext_problem(Spot::Arguments, &field.path, field.span));
        }
        Some(StdioLaunch {
            command: raw.command.value()?.0.value.clone(),
            args: args.into_iter().map(|argument| argument.0.value).collect(),
            environment,
            inherited: match raw.inherit_env.value() {
                None | Some(Inherit::All(false)) => InheritedEnvironment::Nothing,
                Some(Inherit::All(true)) => InheritedEnvironment::All,
                Some(Inherit::Names(names)) => InheritedEnvironment::Names(
                    names.iter().map(|name| name.0.value.clone()).collect(),
                ),
            },
            directory: raw.cwd.value().map(|path| self.absolute(&path.0.value)),
            protocol: raw.protocol.or(ProtocolChoice::Auto),
            roots,
        })
    }

    fn variables(&self, found: &mut Findings) -> BTreeMap<String, ConfigValue> {
        let Field::Given(field) = &self.raw.env else {
            return BTreeMap::new();
        };
        let mut variables = BTreeMap::new();
        let mut dropped = Vec::new();
        for entry in &field.value.0 {
            let path = field.path.child(&entry.name);
            if changes_what_is_loaded(&entry.name) {
                dropped.push(entry);
                continue;
            }
            self.check_value(found, &entry.name, &entry.value.value, (&path, entry.span));
            variables.insert(entry.name.clone(), entry.value.value.clone());
        }
        if let Some(first) = dropped.first() {
            let names: Vec<&str> = dropped.iter().map(|entry| entry.name.as_str()).collect();
            let message = format!(
                "{} {} dropped: a configuration must not change what a program loads",
                names.join(", "),
                if names.len() == 1 { "is" } else { "are" }
            );
            found.push(Problem::warning(Kind::Advice, &field.path, message).at(first.name_span));
        }
        variables
    }

    /// Looks at a value that may be a credential: whether it stands in the file, and whether what
    /// it refers to is there.
    pub(super) fn check_value(
        &self,
        found: &mut Findings,
        name: &str,
        value: &ConfigValue,
        (path, span): (&JsonPath, Span),
    ) {
        if is_plaintext(name, value) {
            found.push(self.plaintext_problem(Spot::Value, path, span));
        }
        let ConfigValue::Reference { secret, .. } = value else {
            return;
        };
        let SecretReference::Configured {
            source, provider, ..
        } = secret
        else {
            return;
        };
        let wanted = match source {
            ConfiguredSource::Environment => ProviderSource::Environment,
            ConfiguredSource::File => ProviderSource::File,
            ConfiguredSource::Exec => ProviderSource::Exec,
        };
        let message = match self.providers.get(provider.as_str()) {
            Some(source) if *source == wanted => return,
            // The environment needs no settings.
            None if provider == "default" && wanted == ProviderSource::Environment => return,
            Some(other) => format!(
                "the provider `{provider}` of `secrets.providers` is of the kind `{}`, not `{}`",
                other.as_str(),
                wanted.as_str()
            ),
            None => format!("there is no provider `{provider}` in `secrets.providers`"),
        };
        found.push(Problem::error(Kind::Rule, path, message).at(span));
    }

    /// Says that a field is missing, unless it may be in a part that could not be read.
    pub(super) fn missing(&self, found: &mut Findings, message: String, help: Option<&str>) {
        if self.is_partial {
            return;
        }
        let problem = Problem::error(Kind::Rule, self.path, message).at(self.span);
        found.push(match help {
            Some(help) => problem.help(help),
            None => problem,
        });
    }

    /// Says that fields have no effect on a server of this kind.
    pub(super) fn no_effect(
        &self,
        found: &mut Findings,
        kind: &str,
        fields: &[(&str, Option<Span>)],
    ) {
        for (name, span) in fields {
            if let Some(span) = span {
                let message = format!("`{name}` has no effect on {kind}");
                let path = self.path.child(name);
                found.push(Problem::warning(Kind::Advice, &path, message).at(*span));
            }
        }
    }

    /// A path of the configuration: relative to its file, `~` being the home directory.
    pub(super) fn absolute(&self, path: &str) -> PathBuf {
        self.directory.join(self.environment.expand_home(path))
    }

    /// The roots as addresses: `file://` as it is, anything else as a directory.
    pub(super) fn roots(&self, found: &mut Findings) -> Option<Vec<Url>> {
        let field = self.raw.roots.located()?;
        let mut roots = Vec::with_capacity(field.value.len());
        for root in &field.value {
            let text = &root.0.value;
            let address = match text.split_once("://") {
                Some(("file", _)) => Url::parse(text).ok(),
                Some(_) => None,
                None => Url::from_file_path(self.absolute(text)).ok(),
            };
            match address {
                Some(address) => roots.push(address),
                None if !root.0.is_complete() => {}
                None => {
                    let message = "a root is a directory or a `file://` address";
                    found.push(Problem::error(Kind::Value, &field.path, message).at(field.span));
                }
            }
        }
        Some(roots)
    }
}

/// Variables that make a program load other code than its own.
pub(super) fn changes_what_is_loaded(name: &str) -> bool {
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
