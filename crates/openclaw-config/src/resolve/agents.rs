//! Agents: their servers, models and policies.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::agent::AgentId;
use crate::config::{Agent, Approval, ModelChoice, PolicyLayer, ToolSearch, WithoutPerson};
use crate::expand::Text;
use crate::parse::printable;
use crate::path::JsonPath;
use crate::place::Place;
use crate::raw::{RawAgent, RawAgentDefaults, RawModel, RawPolicy, RawRoot, RawTools};
use crate::report::{Kind, Problem};
use crate::resolve::layers::Layers;
use crate::resolve::sections::texts;
use crate::resolve::{Agents, Resolver, ServerMap};
use crate::shape::{Field, NonEmpty};
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
                .filter(|own| !own.0.is_empty());
            let servers = match own {
                None => Arc::clone(servers),
                Some(own) => {
                    let place = Place::Agent(entry.id.clone());
                    let overridden = self.servers(&common.overridden(own, &place));
                    let mut all = ServerMap::clone(servers);
                    all.extend(overridden);
                    Arc::new(all)
                }
            };
            let agent = self.agent(&entry.id, Some(entry), root, servers);
            by_id.insert(entry.id.clone(), agent);
        }
        if !by_id.contains_key(&default) {
            let agent = self.agent(&default, None, root, Arc::clone(servers));
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
        if let Field::Given(list) = &agents.list {
            for (index, raw) in list.value.iter().enumerate() {
                let mut path = JsonPath::of(&["agents", "list"]);
                path.push_index(index);
                match &raw.id {
                    Field::Given(id) => {
                        let path = path.child("id");
                        self.add_agent(&mut entries, &id.value.0.value, raw, (&path, id.span));
                    }
                    Field::Absent => {
                        let message = "an agent of `agents.list` needs `id`";
                        self.report
                            .add(Problem::error(Kind::Rule, &path, message).at(list.span));
                    }
                    Field::Invalid => {}
                }
            }
        }
        if let Field::Given(map) = &agents.entries {
            for (id, raw) in &map.value.0 {
                let path = JsonPath::of(&["agents", "entries", id]);
                self.add_agent(&mut entries, id, raw, (&path, map.span));
            }
        }
        entries
    }

    fn add_agent<'r>(
        &mut self,
        entries: &mut Vec<Entry<'r>>,
        id: &str,
        raw: &'r RawAgent,
        (path, span): (&JsonPath, Span),
    ) {
        let message = match AgentId::new(id) {
            Ok(id) if entries.iter().any(|entry| entry.id == id) => {
                format!("there are two agents with the name `{id}`")
            }
            Ok(id) => {
                entries.push(Entry {
                    origin: format!("agents.entries.{id}"),
                    id,
                    raw,
                });
                return;
            }
            Err(error) => format!("`{}` cannot name an agent: {error}", printable(id)),
        };
        self.report
            .add(Problem::error(Kind::Value, path, message).at(span));
    }

    fn agent(
        &self,
        id: &AgentId,
        entry: Option<&Entry<'_>>,
        root: &RawRoot,
        servers: Arc<ServerMap>,
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
        Agent {
            id: id.clone(),
            servers,
            model: model.or(defaults.model.value()).and_then(choice),
            workspace: workspace.map(|path: &NonEmpty| {
                self.directory
                    .join(self.environment.expand_home(&path.0.value))
            }),
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
            tool_search: last(&tools, |tools| &tools.tool_search).unwrap_or(ToolSearch::Auto),
        }
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
