//! Agents: their servers, models and policies.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use crate::agent::AgentId;
use crate::config::{
    Agent, AgentResources, AgentServers, Approval, ModelChoice, PolicyLayer, ServerMap, ToolSearch,
    WithoutPerson,
};
use crate::expand::Text;
use crate::parse::printable;
use crate::path::JsonPath;
use crate::place::Place;
use crate::raw::{
    RawAgent, RawAgentDefaults, RawModel, RawPolicy, RawResources, RawRoot, RawTools,
};
use crate::report::{Kind, Problem};
use crate::resolve::layers::Layers;
use crate::resolve::sections::texts;
use crate::resolve::{Agents, Resolver};
use crate::shape::{Field, NonEmpty, Placed};
use crate::source::Span;

/// An agent of the file.
struct Entry<'a> {
    id: AgentId,
    raw: &'a RawAgent,
    origin: String,
}

impl Resolver<'_> {
    pub(super) fn agents(
        &mut self,
        root: &RawRoot,
        common: &Layers,
        servers: &Arc<ServerMap>,
    ) -> Agents {
        let entries = self.entries(root);
        let mut marked = entries
            .iter()
            .filter(|entry| entry.raw.default.or(false))
            .map(|entry| entry.id.clone());
        let default = marked.next().unwrap_or_else(AgentId::main);
        if let Some(second) = marked.next() {
            let message = format!("{default} and {second} are both marked as the default agent");
            let path = JsonPath::of(&["agents"]);
            let span = root.agents.located().map(|agents| agents.span);
            let problem = Problem::warning(Kind::Advice, &path, message)
                .at_opt(span)
                .help(format!("{default} counts, being the first"));
            self.report.add(problem);
        }
        let mut by_id = BTreeMap::new();
        for entry in &entries {
            let own = entry
                .raw
                .mcp
                .value()
                .and_then(|mcp| mcp.servers.value())
                .filter(|own| !own.0.0.is_empty());
            let own = match own {
                None => ServerMap::new(),
                Some(own) => {
                    let place = Place::Agent(entry.id.clone());
                    self.servers(&common.overridden(own, &place))
                }
            };
            let servers = AgentServers {
                common: Arc::clone(servers),
                own,
            };
            let agent = self.agent(&entry.id, Some(entry), root, servers);
            by_id.insert(entry.id.clone(), agent);
        }
        if !by_id.contains_key(&default) {
            let servers = AgentServers {
                common: Arc::clone(servers),
                own: ServerMap::new(),
            };
            let agent = self.agent(&default, None, root, servers);
            by_id.insert(default.clone(), agent);
        }
        Agents { by_id, default }
    }

    /// The agents of both forms, in their order.
    fn entries<'r>(&mut self, root: &'r RawRoot) -> Vec<Entry<'r>> {
        let Some(agents) = root.agents.value() else {
            return Vec::new();
        };
        let mut entries: Vec<Entry<'r>> = Vec::new();
        let mut known = HashSet::new();
        if let Some(list) = agents.list.value() {
            for (index, Placed { value: raw, span }) in list.0.iter().enumerate() {
                let mut path = JsonPath::of(&["agents", "list"]);
                path.push_index(index);
                match &raw.id {
                    Field::Given(id) => {
                        let id_path = path.child("id");
                        let place = (&id_path, id.span);
                        if let Some(id) = self.agent_id(&id.value.0.value, &mut known, place) {
                            let origin = path.to_string();
                            entries.push(Entry { id, raw, origin });
                        }
                    }
                    Field::Absent => {
                        let message = "an agent of `agents.list` needs `id`";
                        self.report
                            .add(Problem::error(Kind::Rule, &path, message).at(*span));
                    }
                    Field::Invalid => {}
                }
            }
        }
        if let Some(map) = agents.entries.value() {
            for entry in &map.0 {
                let path = JsonPath::of(&["agents", "entries", &entry.name]);
                let place = (&path, entry.name_span);
                if let Some(id) = self.agent_id(&entry.name, &mut known, place) {
                    entries.push(Entry {
                        id,
                        raw: &entry.value,
                        origin: path.to_string(),
                    });
                }
                if let Field::Given(id) = &entry.value.id
                    && id.value.0.value != entry.name
                {
                    let message = "`id` has no effect here: the agent is named by its key";
                    let problem = Problem::warning(Kind::Advice, &id.path, message);
                    self.report.add(problem.at(id.span));
                }
            }
        }
        entries
    }

    /// Takes the name of an agent, if it is one and nobody has it yet.
    fn agent_id(
        &mut self,
        text: &str,
        known: &mut HashSet<AgentId>,
        (path, span): (&JsonPath, Span),
    ) -> Option<AgentId> {
        let message = match AgentId::new(text) {
            Ok(id) if known.insert(id.clone()) => return Some(id),
            Ok(id) => format!("there are two agents with the name `{id}`"),
            Err(error) => format!("`{}` cannot name an agent: {error}", printable(text)),
        };
        self.report
            .add(Problem::error(Kind::Value, path, message).at(span));
        None
    }

    fn agent(
        &self,
        id: &AgentId,
        entry: Option<&Entry<'_>>,
        root: &RawRoot,
        servers: AgentServers,
    ) -> Agent {
        let none = RawAgentDefaults::default();
        let defaults = root
            .agents
            .value()
            .and_then(|agents| agents.defaults.value())
            .unwrap_or(&none);
        let own = entry.map(|entry| entry.raw);
        let tools: Vec<&RawTools> = [
            root.tools.value(),
            defaults.tools.value(),
            own.and_then(|own| own.tools.value()),
        ]
        .into_iter()
        .flatten()
        .collect();
        let model = own.and_then(|own| own.model.value());
        let workspace = own
            .and_then(|own| own.workspace.value())
            .or(defaults.workspace.value());
        let timeout = own
            .and_then(|own| own.timeout_seconds.value())
            .or(defaults.timeout_seconds.value());
        let rounds = own
            .and_then(|own| own.max_rounds.value())
            .or(defaults.max_rounds.value());
        Agent {
            id: id.clone(),
            servers,
            model: model.or(defaults.model.value()).and_then(choice),
            workspace: workspace.map(|path: &NonEmpty| {
                self.directory
                    .join(self.environment.expand_home(&path.0.value))
            }),
            timeout: Duration::from_secs(timeout.map_or(600, |seconds| seconds.0)),
            max_rounds: rounds
                .and_then(|rounds| u32::try_from(rounds.0).ok())
                .unwrap_or(50),
            policy: policy(root, defaults, entry),
            approval: last(&tools, |tools| &tools.approval).unwrap_or(Approval::Auto),
            without_person: last(&tools, |tools| &tools.approval_without_person)
                .unwrap_or(WithoutPerson::Allow),
            read_only: tools
                .iter()
                .filter_map(|tools| tools.read_only.value())
                .flatten()
                .map(|pattern| pattern.value.clone())
                .collect(),
            tool_search: last(&tools, |tools| &tools.tool_search)
                .map_or(ToolSearch::Auto, |search| search.0),
            resources: resources([
                own.and_then(|own| own.resources.value()),
                defaults.resources.value(),
            ]),
        }
    }
}

/// Each setting of the first place that has it.
fn resources(places: [Option<&RawResources>; 2]) -> AgentResources {
    let places = || places.into_iter().flatten();
    let inject = places().find_map(|place| place.inject.value());
    let inject = inject.into_iter().flatten();
    AgentResources {
        inject: inject.map(|pattern| pattern.0.value.clone()).collect(),
        max_bytes: places()
            .find_map(|place| place.max_bytes.value())
            .map_or(50_000, |bytes| bytes.0),
    }
}

/// The setting of the innermost place that has it.
fn last<T: Copy>(tools: &[&RawTools], field: impl Fn(&RawTools) -> &Field<T>) -> Option<T> {
    tools
        .iter()
        .rev()
        .find_map(|tools| field(tools).value().copied())
}

fn choice(model: &RawModel) -> Option<ModelChoice> {
    Some(ModelChoice {
        primary: model.primary.clone()?,
        fallbacks: model.fallbacks.clone(),
    })
}

/// Every list that restricts the tools of an agent, from the outermost to its own.
fn policy(
    root: &RawRoot,
    defaults: &RawAgentDefaults,
    entry: Option<&Entry<'_>>,
) -> Vec<PolicyLayer> {
    let gateway = root.gateway.value().map(|gateway| &gateway.tools);
    let mut layers = vec![
        tools_layer("tools", &root.tools),
        policy_layer("toolPolicy", &root.tool_policy),
        gateway.and_then(|tools| policy_layer("gateway.tools", tools)),
        tools_layer("agents.defaults.tools", &defaults.tools),
        policy_layer("agents.defaults.toolPolicy", &defaults.tool_policy),
    ];
    if let Some(Entry { raw, origin, .. }) = entry {
        layers.push(tools_layer(&format!("{origin}.tools"), &raw.tools));
        layers.push(policy_layer(
            &format!("{origin}.toolPolicy"),
            &raw.tool_policy,
        ));
    }
    layers.into_iter().flatten().collect()
}

fn tools_layer(origin: &str, tools: &Field<RawTools>) -> Option<PolicyLayer> {
    let tools = tools.value()?;
    layer(origin, &tools.allow, &tools.deny)
}

fn policy_layer(origin: &str, policy: &Field<RawPolicy>) -> Option<PolicyLayer> {
    let policy = policy.value()?;
    layer(origin, &policy.allow, &policy.deny)
}

fn layer(origin: &str, allow: &Field<Vec<Text>>, deny: &Field<Vec<Text>>) -> Option<PolicyLayer> {
    let layer = PolicyLayer {
        origin: origin.to_owned(),
        allow: texts(allow),
        deny: texts(deny),
    };
    (!layer.allow.is_empty() || !layer.deny.is_empty()).then_some(layer)
}
