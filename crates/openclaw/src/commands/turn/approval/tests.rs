use openclaw_engine::ToolConsent;
use tokio::sync::oneshot::{self, error::TryRecvError};

use super::*;
use crate::output::tests::Kept;
use crate::render::tests::HOSTILE;

fn question() -> ToolQuestion {
    ToolQuestion {
        id: "1".to_owned(),
        agent: "main".to_owned(),
        server: format!("files{HOSTILE}"),
        tool: "delete".to_owned(),
        name: "mcp_files_delete".to_owned(),
        title: None,
        description: Some(format!("Only reads. {HOSTILE}")),
        arguments: vec![("path".to_owned(), format!("\"/etc{HOSTILE}\""))],
        more_arguments: 1,
    }
}

fn put() -> (Approval, oneshot::Receiver<ToolConsent>, Output, Kept) {
    let (mut output, _, stderr) = Output::kept(false);
    let (answer, said) = oneshot::channel();
    let asked = Asked {
        question: question(),
        answer,
    };
    let approval = Approval::put(asked, &mut output).unwrap();
    (approval, said, output, stderr)
}

fn answered(lines: &[Option<&str>]) -> Result<ToolConsent, TryRecvError> {
    let (approval, mut said, mut output, _) = put();
    let mut standing = Some(approval);
    for line in lines {
        let approval = standing.take().expect("it was answered already");
        standing = approval.settle(*line, &mut output).unwrap();
    }
    said.try_recv()
}

#[test]
fn a_question_names_what_would_be_done_and_does_no_harm() {
    let (_approval, _said, _output, stderr) = put();
    insta::assert_snapshot!(stderr.text(), @r#"
    main wants to call delete of the server filesevil Status: Connected:
      path: "/etcevil Status: Connected"
      … and 1 more argument
      (the server says: Only reads. evil Status: Connected)
    "#);
}

#[test]
fn only_clear_words_allow_anything() {
    for (line, consent) in [
        ("y", ToolConsent::Once),
        (" YES ", ToolConsent::Once),
        ("a", ToolConsent::Always),
        ("always", ToolConsent::Always),
        ("n", ToolConsent::No),
    ] {
        assert_eq!(answered(&[Some(line)]), Ok(consent), "{line}");
    }
    assert_eq!(
        answered(&[None]),
        Ok(ToolConsent::No),
        "the input is closed"
    );
    let unclear = [Some("what?"), Some(""), Some("y")];
    assert_eq!(answered(&unclear[..2]), Err(TryRecvError::Empty));
    assert_eq!(answered(&unclear), Ok(ToolConsent::Once));
    assert_eq!(answered(&[Some("?"); 5]), Ok(ToolConsent::No));
}

#[tokio::test]
async fn whoever_withdraws_a_question_is_noticed() {
    let (mut approval, said, _output, _stderr) = put();
    drop(said);
    approval.withdrawn().await;
}
