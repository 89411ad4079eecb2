//! The skills of an agent: named to its model, read by it.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use openclaw_config::ToolNaming;
use openclaw_content::{ModelText, note};
use openclaw_mcp::{AgentPlan, OwnTool};
use openclaw_skills::{Problem, ProblemKind, Setup, Skill, Skills, prompt_block};
use serde_json::{Map, Value, json};

use crate::agents::Agents;

/// The tool with which a model reads a skill.
pub(crate) const READ_SKILL: &str = "read_skill";

/// How many problems are remembered to have been logged.
const LOGGED: usize = 1_000;

const DESCRIPTION: &str =
    "Reads the instructions of a skill, or another file of it that they name.";

/// The definition of `read_skill`.
pub(crate) fn read_skill_tool() -> OwnTool {
    let properties = json!({
        "name": { "type": "string", "description": "The name of the skill." },
        "file": {
            "type": "string",
            "description": "A file in the directory of the skill; its instructions if none is given.",
        },
    });
    OwnTool::new(READ_SKILL, DESCRIPTION, properties, &["name"])
}

impl Agents {
    /// The skills of an agent as of now, those that do not apply included.
    pub fn skills(&self, plan: &AgentPlan) -> Skills {
        Skills::find(&Setup {
            config: &self.servers.config(),
            agent: &plan.agent,
            state: &self.state,
            commands: self.commands,
            tool_name: &tool_name(plan),
        })
    }
}

/// Which problems with skills were logged, so that a turn logs only what is new.
#[derive(Default)]
pub(crate) struct LoggedProblems(Mutex<BTreeSet<Problem>>);

impl LoggedProblems {
    /// Logs those that were not there before. What is gone is forgotten when there are many: should
    /// it come back, it is logged again.
    fn log(&self, problems: &[Problem]) {
        let mut logged = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if logged.len() >= LOGGED {
            logged.retain(|it| problems.contains(it));
        }
        for problem in problems {
            if !logged.insert(problem.clone()) {
                continue;
            }
            match problem.kind() {
                ProblemKind::LeftOut => tracing::warn!("a skill is left out: {problem}"),
                ProblemKind::Remark => tracing::info!("about skills: {problem}"),
            }
        }
    }
}

/// How tools of servers are named for the model of an agent.
fn tool_name(plan: &AgentPlan) -> String {
    let mut names: Vec<&str> = plan
        .servers()
        .map(|server| match server.naming() {
            ToolNaming::Prefixed => "mcp_<server>_<tool>",
            ToolNaming::Joined => "<server>__<tool>",
        })
        .collect();
    names.sort_unstable();
    names.dedup();
    if names.is_empty() {
        names.push("mcp_<server>_<tool>");
    }
    names.join("` or `")
}

/// The skills that a model may use in a turn.
#[derive(Default)]
pub(crate) struct OfferedSkills(Vec<Skill>);

impl OfferedSkills {
    /// Looks for them.
    pub(crate) fn find(agents: &Agents, plan: &AgentPlan) -> Self {
        if !plan.allows_own(READ_SKILL) {
            return Self::default();
        }
        let found = agents.skills(plan);
        agents.skill_problems.log(&found.problems);
        let mut skills = found.skills;
        skills.retain(|skill| skill.applies() && skill.model_invocable);
        Self(skills)
    }

    /// Whether there are any.
    pub(crate) fn are_there(&self) -> bool {
        !self.0.is_empty()
    }

    /// What the model is told of them.
    pub(crate) fn block(&self) -> String {
        prompt_block(&self.0)
    }

    /// Answers a call of `read_skill`: with the text, or with a sentence that says what is wrong.
    pub(crate) fn read(&self, arguments: &Map<String, Value>) -> Result<ModelText, ModelText> {
        let Some(name) = arguments.get("name").and_then(Value::as_str) else {
            return Err(note("read_skill needs a name: a text.", &[]));
        };
        let Some(skill) = self.0.iter().find(|skill| skill.name == name) else {
            return Err(note("There is no skill {}.", &[name]));
        };
        let read = match arguments.get("file").and_then(Value::as_str) {
            None | Some("") => skill.text(),
            Some(file) => skill.file(file),
        };
        read.map_err(|error| note("It can't be read: {}.", &[&error.to_string()]))
    }
}
