use std::pin::Pin;
use std::sync::Mutex;
use std::time::Duration;

use openclaw_config::Approval;
use openclaw_mcp_client::ToolAnnotations;
use serde_json::json;

use super::*;
use crate::approval::question::tests::named;
use crate::approval::store::tests::approvals;

/// Answers what it is told to; `None` never answers.
struct Person {
    answer: Option<ApprovalAnswer>,
    asked: Mutex<Vec<ApprovalQuestion>>,
}

impl Person {
    fn saying(answer: Option<ApprovalAnswer>) -> Self {
        Self {
            answer,
            asked: Mutex::default(),
        }
    }

    fn times_asked(&self) -> usize {
        self.asked.lock().unwrap().len()
    }
}

impl Approver for Person {
    fn approve(
        &self,
        question: ApprovalQuestion,
    ) -> Pin<Box<dyn Future<Output = ApprovalAnswer> + Send + '_>> {
        self.asked.lock().unwrap().push(question);
        Box::pin(async move {
            match self.answer {
                Some(answer) => answer,
                None => std::future::pending().await,
            }
        })
    }
}

fn definition(description: &str) -> Tool {
    Tool {
        name: "write".to_owned(),
        title: Some("\u{1b}[31mWrite\na file".to_owned()),
        description: Some(description.to_owned()),
        input_schema: Map::new(),
        output_schema: None,
        annotations: ToolAnnotations::default(),
        meta: None,
        other: Map::new(),
    }
}

struct Lab {
    directory: tempfile::TempDir,
    rules: ApprovalRules,
    /// Under what it is remembered what is said about the server.
    remembered_as: &'static str,
    without_person: WithoutPerson,
    definition: Tool,
}

impl Lab {
    fn new() -> Self {
        Self {
            directory: tempfile::tempdir().unwrap(),
            rules: ApprovalRules::new(Approval::Auto, &["files/read".to_owned()]),
            remembered_as: "files",
            without_person: WithoutPerson::Allow,
            definition: definition("Writes"),
        }
    }

    async fn decide(&self, tool: &str, person: Option<&Person>) -> ApprovalDecision {
        let arguments = Map::from_iter([("path".to_owned(), json!("/etc/passwd"))]);
        let tool = named("files", tool);
        let request = ApprovalRequest {
            agent: "main",
            tool: &tool,
            remembered_as: self.remembered_as,
            definition: &self.definition,
            trust_annotations: false,
            arguments: &arguments,
        };
        decide_approval(
            &self.rules,
            &approvals(&self.directory),
            person.map(|person| person as &dyn Approver),
            self.without_person,
            &request,
            Instant::now() + Duration::from_mins(1),
        )
        .await
    }
}

#[tokio::test]
async fn a_person_is_asked_about_what_may_change_something() {
    let lab = Lab::new();
    let person = Person::saying(Some(ApprovalAnswer::No));
    let decision = lab.decide("read", Some(&person)).await;
    assert_eq!(
        (decision, person.times_asked()),
        (ApprovalDecision::Approved, 0)
    );
    let decision = lab.decide("write", Some(&person)).await;
    assert_eq!(decision, rejected(Rejection::ByPerson));
    let asked = person.asked.lock().unwrap().remove(0);
    assert_eq!(
        (asked.agent.as_str(), asked.server.as_str()),
        ("main", "files")
    );
    assert_eq!(
        (asked.tool.as_str(), asked.name.as_str()),
        ("write", "mcp_files_write")
    );
    assert_eq!(asked.title.as_deref(), Some("Write a file"));
    assert_eq!(asked.arguments[0].value, "\"/etc/passwd\"");
}

#[tokio::test]
async fn once_is_once_and_always_holds_until_the_definition_changes() {
    let mut lab = Lab::new();
    let once = Person::saying(Some(ApprovalAnswer::Once));
    for _ in 0..2 {
        assert_eq!(
            lab.decide("write", Some(&once)).await,
            ApprovalDecision::Approved
        );
    }
    assert_eq!(once.times_asked(), 2);
    let always = Person::saying(Some(ApprovalAnswer::Always));
    for _ in 0..2 {
        assert_eq!(
            lab.decide("write", Some(&always)).await,
            ApprovalDecision::Approved
        );
    }
    assert_eq!(always.times_asked(), 1);
    // What the person allowed for ever holds where there is no person as well.
    lab.without_person = WithoutPerson::Deny;
    assert_eq!(lab.decide("write", None).await, ApprovalDecision::Approved);
    // Another program of the same name is another server.
    lab.remembered_as = "files/another";
    assert_eq!(
        lab.decide("write", None).await,
        rejected(Rejection::NoPerson)
    );
    lab.remembered_as = "files";
    lab.definition = definition("Writes, and sends a copy elsewhere");
    assert_eq!(
        lab.decide("write", None).await,
        rejected(Rejection::NoPerson)
    );
    let no = Person::saying(Some(ApprovalAnswer::No));
    let decision = lab.decide("write", Some(&no)).await;
    assert_eq!(decision, rejected(Rejection::ByPerson));
}

#[tokio::test]
async fn where_nobody_can_be_asked_the_configuration_decides() {
    let mut lab = Lab::new();
    assert_eq!(lab.decide("write", None).await, ApprovalDecision::Approved);
    lab.without_person = WithoutPerson::Deny;
    assert_eq!(
        lab.decide("write", None).await,
        rejected(Rejection::NoPerson)
    );
    assert_eq!(lab.decide("read", None).await, ApprovalDecision::Approved);
}

#[tokio::test(start_paused = true)]
async fn no_answer_in_time_is_a_no() {
    let lab = Lab::new();
    let silent = Person::saying(None);
    let decision = lab.decide("write", Some(&silent)).await;
    assert_eq!(decision, rejected(Rejection::NoAnswer));
}

#[tokio::test]
async fn a_broken_file_asks_the_person_and_approves_nothing_by_itself() {
    let lab = Lab::new();
    let always = Person::saying(Some(ApprovalAnswer::Always));
    lab.decide("write", Some(&always)).await;
    let file = lab.directory.path().join("state/mcp/approvals.json");
    std::fs::write(&file, "{ not ours").unwrap();
    let no = Person::saying(Some(ApprovalAnswer::No));
    let decision = lab.decide("write", Some(&no)).await;
    assert_eq!(decision, rejected(Rejection::ByPerson));
    // An answer that can't be remembered still counts this once.
    let decision = lab.decide("write", Some(&always)).await;
    assert_eq!(
        (decision, always.times_asked()),
        (ApprovalDecision::Approved, 2)
    );
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "{ not ours");
}
