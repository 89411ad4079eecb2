//! From the fields of the file to a configuration: places laid over each other, agents resolved.

mod agents;
mod diagnostics;
mod layers;
mod media;
mod sections;
mod skills;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use url::Url;

use crate::agent::AgentId;
use crate::config::{Agent, Config, ConfiguredServer, Definition, ServerLimits, ServerMap};
use crate::environment::Environment;
use crate::place::Place;
use crate::presence::Presence;
use crate::raw::{ProviderSource, RawRoot, RawServer};
use crate::report::{Kind, Problem, Report};
use crate::resolve::layers::{Layered, Layers};
use crate::server::{Candidate, Findings, PlaceDefaults, ToolNaming, parse_address, validate};
use crate::shape::{Field, Whole};

/// What the fields of the file are judged with.
pub(crate) struct Resolver<'a> {
    /// The directory of the configuration file.
    pub(crate) directory: &'a Path,
    pub(crate) environment: &'a Environment,
    pub(crate) report: &'a mut Report,
    plain: PlaceDefaults,
    plugin: PlaceDefaults,
    /// The kinds of the providers that references can name.
    providers: BTreeMap<String, ProviderSource>,
}

/// Resolves a whole file.
pub(crate) fn resolve(
    root: &RawRoot,
    presence: Arc<Presence>,
    directory: &Path,
    environment: &Environment,
    report: &mut Report,
) -> Config {
    let mcp = root.mcp.value().cloned().unwrap_or_default();
    let block = root
        .plugins
        .value()
        .and_then(|plugins| plugins.entries.value())
        .and_then(|entries| entries.mcp_client.value())
        .cloned()
        .unwrap_or_default();
    let plugin = block.config.value().cloned().unwrap_or_default();
    let plugin_enabled = block.enabled.or(true);

    let mut resolver = Resolver {
        directory,
        environment,
        report,
        plain: PlaceDefaults {
            connection_timeout: Duration::from_secs(30),
            request_timeout: Duration::from_mins(1),
            naming: mcp.tool_naming.or(ToolNaming::Prefixed),
            discovery_interval: interval(&mcp.tool_discovery_interval),
        },
        plugin: PlaceDefaults {
            connection_timeout: Duration::from_secs(10),
            request_timeout: Duration::from_secs(30),
            naming: plugin.tool_naming.or(ToolNaming::Joined),
            discovery_interval: interval(&plugin.tool_discovery_interval),
        },
        providers: sections::provider_kinds(root),
    };

    let mut common = Layers::default();
    if let Some(servers) = mcp.servers.value() {
        common.lay(&servers.0, &Place::Mcp);
    }
    if let Some(servers) = plugin.servers.value() {
        if plugin_enabled {
            common.lay(servers, &Place::Plugin);
        } else {
            common.lay_switched_off(servers, &Place::Plugin);
        }
    }
    let defaults = root
        .agents
        .value()
        .and_then(|agents| agents.defaults.value());
    if let Some(servers) = defaults
        .and_then(|defaults| defaults.mcp.value())
        .and_then(|mcp| mcp.servers.value())
    {
        common.lay(servers, &Place::AgentDefaults);
    }

    let servers = Arc::new(resolver.servers(&common));
    let agents = resolver.agents(root, &common, &servers);
    let limit = |field: &Field<Whole<1, 100_000>>| {
        field
            .value()
            .map(|count| usize::try_from(count.0).unwrap_or(usize::MAX))
    };
    Config {
        default_agent: agents.default,
        agents: agents.by_id,
        server_limits: ServerLimits {
            plugin: limit(&plugin.max_concurrent_servers).unwrap_or(20),
            others: limit(&mcp.max_concurrent_servers),
        },
        debug: mcp.debug.or(false) || (plugin_enabled && plugin.debug.or(false)),
        model_providers: resolver.model_providers(root),
        session_retention: Resolver::session_retention(root),
        secrets: Arc::new(resolver.secrets(root)),
        gateway: resolver.gateway(root),
        skills: resolver.skills(root),
        media: resolver.media(root),
        otel: resolver.otel(root),
        presence,
        environment: Arc::new(environment.clone()),
    }
}

fn interval(field: &Field<Whole<0, 4_294_967_295>>) -> Option<Duration> {
    let milliseconds = field.value().map_or(300_000, |interval| interval.0);
    (milliseconds > 0).then(|| Duration::from_millis(milliseconds))
}

impl Resolver<'_> {
    /// Judges the servers of a set of layers.
    fn servers(&mut self, layers: &Layers) -> ServerMap {
        layers
            .iter()
            .filter_map(|layered| self.server(layered))
            .map(|server| (server.name.clone(), Arc::new(server)))
            .collect()
    }

    fn server(&mut self, layered: &Layered) -> Option<ConfiguredServer> {
        let enabled = layered.raw.enabled.or(true) && !layered.switched_off;
        if !enabled && !layered.has_launch() && layered.place > Place::Plugin {
            // Nothing to switch off is no harm, but perhaps a misspelt name.
            let message = format!("there is no server `{}` to switch off", layered.name);
            let problem = Problem::warning(Kind::Advice, &layered.path, message).at(layered.span);
            self.report.add(problem);
            return None;
        }
        let candidate = Candidate {
            name: &layered.name,
            raw: &layered.raw,
            place: &layered.place,
            defaults: match layered.place {
                Place::Plugin => &self.plugin,
                Place::Mcp | Place::AgentDefaults | Place::Agent(_) | Place::Session => &self.plain,
            },
            path: &layered.path,
            span: layered.span,
            is_partial: layered.is_partial,
            directory: self.directory,
            environment: self.environment,
            providers: &self.providers,
        };
        // Judged by itself: what was said for another agent is true for this one as well.
        let mut found = Findings::new();
        let server = validate(&candidate, &mut found);
        let mut reasons: Vec<Problem> = layered.blocked().cloned().collect();
        reasons.extend(found.iter().filter(|problem| problem.blocks()).cloned());
        if enabled {
            // Nobody needs to set variables for what is switched off.
            self.report.extend(reasons.iter().cloned());
        }
        self.report.extend(found);
        Some(ConfiguredServer {
            name: layered.name.clone(),
            enabled,
            place: layered.place.clone(),
            address: address(&layered.raw),
            definition: Definition::new(server, reasons),
        })
    }
}

/// The address of a server, as far as that can be read.
fn address(raw: &RawServer) -> Option<Url> {
    let text = raw.url.value().map(|text| &text.0)?;
    let parsed = text.is_complete().then(|| parse_address(&text.value))?;
    parsed.ok().map(|(address, _)| address)
}

/// The agents by name, and which one is the default.
struct Agents {
    by_id: BTreeMap<AgentId, Agent>,
    default: AgentId,
}
