//! Agents: what each may use.

use serde_json::{Value as Json, json};

use crate::agent::AgentId;
use crate::raw::server::{RawResources, Servers};
use crate::raw::{RawPolicy, RawTools};
use crate::report::Kind;
use crate::shape::{
    Context, Definitions, Named, NamedValue, NonEmpty, Placed, Shape, Whole, object,
};
use crate::tree::{Node, Value};

/// How long a turn may take: two days at most.
type TurnSeconds = Whole<1, 172_800>;
/// How often a model may be asked in a turn.
type Rounds = Whole<1, 1_000>;

object! {
    /// Servers of an agent.
    open RawAgentServers as "agentServers" {
        /// The agent's servers by name. An entry is laid over the one of the same name in
        /// `mcp.servers`, field by field; one with another `command` or `url` replaces all that
        /// belongs to starting or reaching the server.
        servers: Servers = "servers";
    }
}

object! {
    /// What holds for all agents unless they say otherwise.
    open RawAgentDefaults as "agentDefaults" {
        /// Servers of all agents.
        mcp: RawAgentServers = "mcp";
        /// The model: `"provider/model"`, or an object with `primary` and `fallbacks`.
        model: RawModel = "model";
        /// Which tools may be used.
        tools: RawTools = "tools";
        /// Another name for `tools.allow` and `tools.deny`.
        tool_policy: RawPolicy = "toolPolicy";
        /// The directory in which the agent works.
        workspace: NonEmpty = "workspace";
        /// How long a turn may take, in seconds.
        timeout_seconds: TurnSeconds = "timeoutSeconds", default 600;
        /// How often the model is asked in a turn: once, and again after each round of calls.
        max_rounds: Rounds = "maxRounds", default 50;
        /// Which resources of servers stand beside every message.
        resources: RawResources = "resources";
    }
}

object! {
    /// One agent.
    open RawAgent as "agent" {
        /// The agent's name, in `agents.list`.
        id: NonEmpty = "id";
        /// Makes it the default agent, which is `main` otherwise.
        default: bool = "default", default false;
        /// The agent's own servers.
        mcp: RawAgentServers = "mcp";
        /// The agent's model.
        model: RawModel = "model";
        /// Which tools the agent may use; restricts what holds for all.
        tools: RawTools = "tools";
        /// Another name for `tools.allow` and `tools.deny`.
        tool_policy: RawPolicy = "toolPolicy";
        /// The directory in which the agent works.
        workspace: NonEmpty = "workspace";
        /// How long a turn may take, in seconds.
        timeout_seconds: TurnSeconds = "timeoutSeconds";
        /// How often the model is asked in a turn: once, and again after each round of calls.
        max_rounds: Rounds = "maxRounds";
        /// Which resources of servers stand beside every message to the agent.
        resources: RawResources = "resources";
    }
}

object! {
    /// The agents.
    open RawAgents as "agents" {
        /// What holds for all agents unless they say otherwise.
        defaults: RawAgentDefaults = "defaults";
        /// The agents as a list, each with its `id`.
        list: AgentList = "list";
        /// The agents by their names.
        entries: AgentMap = "entries";
    }
}

/// How many agents there may be.
const MOST: usize = 1_000;

fn is_bearable(count: usize, node: &Node, context: &mut Context<'_>) -> bool {
    if count > MOST {
        let message = format!("there are more than {MOST} agents");
        context.error(Kind::Value, node.span, message);
    }
    count <= MOST
}

/// Agents that name themselves.
#[derive(Clone, Debug, Default)]
pub(crate) struct AgentList(pub(crate) Vec<Placed<RawAgent>>);

impl Shape for AgentList {
    fn decode(node: &Node, context: &mut Context<'_>) -> Option<Self> {
        let agents: Vec<Placed<RawAgent>> = Vec::decode(node, context)?;
        is_bearable(agents.len(), node, context).then_some(Self(agents))
    }

    fn schema(definitions: &mut Definitions) -> Json {
        let agent = RawAgent::schema(definitions);
        json!({
            "type": "array",
            "maxItems": MOST,
            "items": { "allOf": [
                agent,
                {
                    "if": { "not": { "required": ["$include"] } },
                    "then": { "required": ["id"], "properties": { "id": AgentId::schema() } },
                },
            ] },
        })
    }
}

/// Agents by their names.
#[derive(Clone, Debug, Default)]
pub(crate) struct AgentMap(pub(crate) Vec<NamedValue<RawAgent>>);

impl Shape for AgentMap {
    fn decode(node: &Node, context: &mut Context<'_>) -> Option<Self> {
        let Named(agents) = Named::decode(node, context)?;
        is_bearable(agents.len(), node, context).then_some(Self(agents))
    }

    fn schema(definitions: &mut Definitions) -> Json {
        json!({
            "type": "object",
            "maxProperties": MOST,
            "propertyNames": { "anyOf": [{ "const": "$include" }, AgentId::schema()] },
            "additionalProperties": RawAgent::schema(definitions),
        })
    }
}

object! {
    /// A model and those that stand in for it.
    open RawModelObject as "modelChoice" {
        /// `provider/model`
        primary: NonEmpty = "primary";
        /// Tried in their order when the first fails.
        fallbacks: Vec<NonEmpty> = "fallbacks";
    }
}

/// A model: its name, or an object with those that stand in for it.
#[derive(Clone, Debug, Default)]
pub(crate) struct RawModel {
    pub(crate) primary: Option<String>,
    pub(crate) fallbacks: Vec<String>,
}

impl Shape for RawModel {
    fn decode(node: &Node, context: &mut Context<'_>) -> Option<Self> {
        match node.value {
            Value::String(_) => NonEmpty::decode(node, context).map(|name| Self {
                primary: Some(name.0.value),
                fallbacks: Vec::new(),
            }),
            Value::Object(_) => {
                let object = RawModelObject::decode(node, context)?;
                let fallbacks = object.fallbacks.value().cloned().unwrap_or_default();
                Some(Self {
                    primary: object.primary.value().map(|name| name.0.value.clone()),
                    fallbacks: fallbacks.into_iter().map(|name| name.0.value).collect(),
                })
            }
            _ => {
                context.wrong_type(node, "a string or an object");
                None
            }
        }
    }

    fn schema(definitions: &mut Definitions) -> Json {
        let object = RawModelObject::schema(definitions);
        json!({ "anyOf": [{ "type": "string", "minLength": 1 }, object] })
    }
}
