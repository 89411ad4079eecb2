//! Calls that a person asks for by a command, without a model.

use openclaw_conversation::{CallArguments, ToolAnswer, ToolCall};
use openclaw_engine::Audience;
use openclaw_mcp::{AgentPlan, AgentTool, Meant};
use openclaw_sessions::SessionKey;
use serde_json::{Map, Value};

use crate::agents::Agents;
use crate::calls::{Asked, Caller};
use crate::person::Line;
use crate::skills::OfferedSkills;

/// A call that a person asks for by a command.
pub struct Dispatched<'a> {
    /// The agent.
    pub plan: &'a AgentPlan,
    /// The session.
    pub key: &'a SessionKey,
    /// The tool, in any spelling.
    pub tool: &'a str,
    /// What was typed behind the command.
    pub typed: &'a str,
    /// The command.
    pub command: &'a str,
    /// The skill that it belongs to.
    pub skill: &'a str,
    /// Whether it may run without a question.
    pub approved: bool,
    /// What ties it to lines of the log.
    pub correlation: &'a str,
}

impl Agents {
    /// Calls a tool for a person, the way that a model would: policy, approval and all the rest hold.
    pub async fn dispatch(&self, asked: Dispatched<'_>, audience: &dyn Audience) -> ToolAnswer {
        let (plan, session) = (asked.plan, asked.key.as_str());
        let candidates = plan.candidates(asked.tool);
        tokio::join!(
            self.servers.start(plan, Some(&candidates)),
            self.servers.start_for(plan, session),
        );
        let tools = self.servers.tools(plan, Some(session));
        let (name, arguments) = match tools.find(asked.tool) {
            Meant::Tool(tool) => (tool.name().as_str(), arguments(tool, &asked)),
            // What is wrong with it is said by the call.
            Meant::Several(_) | Meant::Nothing => (asked.tool, Map::new()),
        };
        let call = ToolCall {
            id: "command".to_owned(),
            name: name.to_owned(),
            arguments: CallArguments::Object(arguments),
            opaque: None,
        };
        let person = Asked::new(audience);
        let (line, listening) = Line::new(plan.agent.id.as_str(), audience);
        let caller = Caller {
            servers: &self.servers,
            plan,
            session,
            correlation: asked.correlation,
            asked: person.as_ref(),
            approved: asked.approved,
            line: &line,
            skills: &OfferedSkills::default(),
        };
        audience.hear(caller.started(&call));
        let passing = listening.pass_on(audience, person.as_ref());
        tokio::select! {
            biased;
            answer = Box::pin(caller.make(&call)) => answer,
            never = passing => match never {},
        }
    }
}

/// What the tool is called with: of `command`, `commandName` and `skillName` those that it knows, and
/// what was typed as the one text that it needs, whatever that is called.
fn arguments(tool: &AgentTool, asked: &Dispatched<'_>) -> Map<String, Value> {
    let schema = &tool.prepared.definition.input_schema;
    let properties = schema.get("properties").and_then(Value::as_object);
    let given = [
        ("command", asked.typed),
        ("commandName", asked.command),
        ("skillName", asked.skill),
    ];
    let is_known = |name: &str| properties.is_none_or(|it| it.contains_key(name));
    let mut arguments: Map<String, Value> = given
        .into_iter()
        .filter(|(name, _)| is_known(name))
        .map(|(name, value)| (name.to_owned(), Value::from(value)))
        .collect();
    let required = schema.get("required").and_then(Value::as_array);
    let missing: Vec<&str> = required
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .filter(|name| !arguments.contains_key(*name))
        .collect();
    if let [only] = missing[..] {
        let kind = properties.and_then(|it| it.get(only)?.get("type"));
        if kind.is_some_and(|kind| kind == "string") {
            arguments.insert(only.to_owned(), Value::from(asked.typed));
        }
    }
    arguments
}
