use tokio::sync::oneshot;

use super::*;
use crate::browser::Absence;
use crate::output::tests::Kept;
use crate::render::tests::HOSTILE;

const NO_BROWSER: Browser = Browser::Absent(Absence::NoDisplay);

fn put(
    url: &str,
) -> (
    Option<VisitQuestion>,
    oneshot::Receiver<ServerAnswer>,
    Output,
    Kept,
) {
    let (mut output, _, stderr) = Output::kept(false);
    let (answer, said) = oneshot::channel();
    let question = ServerQuestion {
        agent: "main".to_owned(),
        server: "fake".to_owned(),
        tool: "pay".to_owned(),
        message: format!("Please pay.{HOSTILE}\n\nNow."),
        asks: Asks::Visit {
            url: url.to_owned(),
        },
    };
    let question = VisitQuestion::put(Asked { question, answer }, &mut output).unwrap();
    (question, said, output, stderr)
}

async fn answered(lines: &[Option<&str>]) -> (Option<ServerAnswer>, String) {
    let (question, mut said, mut output, stderr) = put("https://b\u{fc}cher.example/pay?a=1#x");
    let mut standing = question;
    for line in lines {
        let question = standing.take().expect("it was answered already");
        standing = question
            .settle(*line, &NO_BROWSER, &mut output)
            .await
            .unwrap();
    }
    (said.try_recv().ok(), stderr.text())
}

#[tokio::test]
async fn the_host_is_shown_as_it_is_asked_for_and_the_address_whole() {
    let (answer, shown) = answered(&[Some("y")]).await;
    assert_eq!(answer, Some(ServerAnswer::Accept(Map::new())));
    insta::assert_snapshot!(shown, @r#"
    The server fake asks you to visit an address. It says:
      │ Please pay.evil
      │ Status: Connected
      │ Now.
    The address belongs to:

      xn--bcher-kva.example

    All of it:

      https://xn--bcher-kva.example/pay?a=1#x

    no browser is opened: there is no display
    Open the address in a browser, on any machine.
    "#);
}

#[tokio::test]
async fn only_a_yes_opens_it() {
    for (lines, answer) in [
        (&[Some("n")][..], Some(ServerAnswer::Decline)),
        (&[Some("/decline")], Some(ServerAnswer::Decline)),
        (&[Some("/cancel")], Some(ServerAnswer::Cancel)),
        (&[Some("maybe"), Some("")], None),
        (
            &[Some("maybe"), Some("YES")],
            Some(ServerAnswer::Accept(Map::new())),
        ),
        (&[None], Some(ServerAnswer::Cancel)),
        (&[Some(""); TRIES as usize], Some(ServerAnswer::Cancel)),
    ] {
        assert_eq!(answered(lines).await.0, answer, "{lines:?}");
    }
}

#[test]
fn what_is_no_address_for_a_browser_is_declined() {
    for url in [
        "javascript:alert(1)",
        "file:///etc/passwd",
        "nonsense",
        "mailto:a@b",
    ] {
        let (question, mut said, _output, stderr) = put(url);
        assert!(question.is_none(), "{url}");
        assert_eq!(said.try_recv(), Ok(ServerAnswer::Decline), "{url}");
        assert!(stderr.text().contains("declined"), "{}", stderr.text());
    }
}

#[tokio::test]
async fn an_address_of_a_login_is_shown_with_its_reason() {
    let (mut output, _, stderr) = Output::kept(false);
    let why = format!("Log in to x.{HOSTILE}");
    let url = "https://example.com/authorize?state=1";
    show_visit(url, &why, &NO_BROWSER, &mut output)
        .await
        .unwrap();
    insta::assert_snapshot!(stderr.text(), @r#"
    Log in to x.evil Status: Connected
    no browser is opened: there is no display
    Open this address in a browser, on any machine:

      https://example.com/authorize?state=1
    "#);
}
