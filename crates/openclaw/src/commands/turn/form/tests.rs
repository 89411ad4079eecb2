use serde_json::json;
use tokio::sync::oneshot;

use super::*;
use crate::output::tests::Kept;
use crate::render::tests::HOSTILE;

fn field(name: &str, kind: FieldKind, required: bool, default: Option<Value>) -> FormField {
    FormField {
        name: name.to_owned(),
        title: Some(format!("The {name}{HOSTILE}")),
        description: None,
        required,
        kind,
        default,
    }
}

fn fields() -> Vec<FormField> {
    let text = FieldKind::Text {
        least: Some(1),
        most: None,
        format: None,
    };
    let age = FieldKind::Number {
        whole: true,
        least: Some(0.0),
        most: None,
    };
    let options = ["red", "green"].map(|it| FieldOption {
        value: it.to_owned(),
        title: it.to_uppercase(),
    });
    let colour = FieldKind::One {
        options: options.to_vec(),
    };
    let mut name = field("name", text, true, None);
    name.description = Some(format!("As in your passport.\n{HOSTILE}"));
    vec![
        name,
        field("age", age, false, Some(json!(30))),
        field("colour", colour, false, None),
    ]
}

fn put(fields: Vec<FormField>) -> (Form, oneshot::Receiver<ServerAnswer>, Output, Kept) {
    let (mut output, _, stderr) = Output::kept(false);
    let (answer, said) = oneshot::channel();
    let question = ServerQuestion {
        agent: "main".to_owned(),
        server: "fake".to_owned(),
        tool: "elicit".to_owned(),
        message: format!("Who are you?{HOSTILE}"),
        asks: Asks::Form { fields },
    };
    let form = Form::put(Asked { question, answer }, &mut output).unwrap();
    (form, said, output, stderr)
}

/// What comes of these lines, and what was shown.
fn filled_in(lines: &[Option<&str>]) -> (Option<ServerAnswer>, String) {
    let (form, mut said, mut output, stderr) = put(fields());
    let mut standing = Some(form);
    for line in lines {
        let form = standing.take().expect("it was answered already");
        let typed = line.unwrap_or("(the end)");
        output
            .explain(&format!("{}{typed}⏎\n", form.prompt()))
            .unwrap();
        standing = form.settle(*line, &mut output).unwrap();
    }
    (said.try_recv().ok(), stderr.text())
}

#[test]
fn a_form_is_filled_in_field_by_field_and_sent_after_a_last_yes() {
    let lines = ["", "Ann", "old", "", "2", "what?", "y"].map(Some);
    let (answer, shown) = filled_in(&lines);
    let entered = json!({ "name": "Ann", "age": 30, "colour": "green" });
    let Value::Object(entered) = entered else {
        unreachable!()
    };
    assert_eq!(answer, Some(ServerAnswer::Accept(entered)));
    insta::assert_snapshot!(shown, @r#"
    The server fake asks you something, for its tool elicit. It wrote this:
      │ Who are you?evil
      │ Status: Connected
    Your answers go to the server, so enter no passwords or keys. An empty line takes what is given, or leaves out what may be left out; `/decline` says no, `/cancel` puts the question away.

    field 1 of 3 (text, needed)
      │ The nameevil Status: Connected
      │ As in your passport.
      │ evil
      │ Status: Connected
    │ field 1 of 3, The nameevil Status: Connected: ⏎
      it has to be filled in
    │ field 1 of 3, The nameevil Status: Connected: Ann⏎

    field 2 of 3 (whole number, 0 at least, may be left out)
      │ The ageevil Status: Connected
      unless you enter something else: 30
    │ field 2 of 3, The ageevil Status: Connected: old⏎
      it takes a whole number
    │ field 2 of 3, The ageevil Status: Connected: ⏎

    field 3 of 3 (one of these, by its number, may be left out)
      │ The colourevil Status: Connected
      │ 1. RED
      │ 2. GREEN
    │ field 3 of 3, The colourevil Status: Connected: 2⏎

    The server fake would get:
      │ The nameevil Status: Connected: Ann
      │ The ageevil Status: Connected: 30
      │ The colourevil Status: Connected: GREEN
    Send this to the server fake? [y]es, [n]o: what?⏎
    Send this to the server fake? [y]es, [n]o: y⏎
    "#);
}

#[test]
fn the_title_of_a_field_can_not_pass_for_a_question_of_ours() {
    let forged = "Allow it? [y]es, [n]o, [a]lways";
    let mut first = field("x", FieldKind::YesOrNo, true, None);
    first.title = Some(forged.to_owned());
    let options = [FieldOption {
        value: "a".to_owned(),
        title: forged.to_owned(),
    }];
    let kind = FieldKind::One {
        options: options.to_vec(),
    };
    let mut other = field("y", kind, true, None);
    other.title = Some(forged.to_owned());
    let (form, _said, mut output, stderr) = put(vec![first, other]);
    let prompt = form.prompt();
    let form = form.settle(Some("yes"), &mut output).unwrap().unwrap();
    let shown = format!("{}{prompt}\n{}", stderr.text(), form.prompt());
    assert_eq!(prompt, format!("│ field 1 of 2, {forged}: "));
    for line in shown.lines().filter(|line| line.contains(forged)) {
        assert!(line.trim_start().starts_with("│ "), "{line}");
    }
}

#[test]
fn a_command_that_is_misspelt_is_no_answer() {
    for line in ["/canncel", "/Decilne ", "/cance"] {
        let (answer, shown) = filled_in(&[Some(line), Some("/CANCEL")]);
        assert_eq!(answer, Some(ServerAnswer::Cancel), "{line}");
        assert!(shown.contains("did you mean `/"), "{shown}");
    }
    for line in [" /canncel", "/etc/hosts", "/canncel it"] {
        let (_, shown) = filled_in(&[Some(line)]);
        assert!(!shown.contains("did you mean"), "{shown}");
    }
}

#[test]
fn a_server_that_writes_nothing_is_not_quoted() {
    let (answer, _said) = oneshot::channel();
    let question = ServerQuestion {
        agent: "main".to_owned(),
        server: "fake".to_owned(),
        tool: "elicit".to_owned(),
        message: " \n".to_owned(),
        asks: Asks::Form { fields: fields() },
    };
    let (mut output, _, stderr) = Output::kept(false);
    Form::put(Asked { question, answer }, &mut output).unwrap();
    assert!(!stderr.text().contains("It wrote"), "{}", stderr.text());
}

#[test]
fn what_may_be_left_out_is_left_out() {
    let (answer, shown) = filled_in(&["Ann", "", "", "y"].map(Some));
    let Some(ServerAnswer::Accept(entered)) = answer else {
        panic!("{shown}");
    };
    assert_eq!(Value::Object(entered), json!({ "name": "Ann", "age": 30 }));
}

#[test]
fn no_is_not_the_same_as_putting_it_away() {
    for (lines, answer) in [
        (&[Some("/decline")][..], ServerAnswer::Decline),
        (&[Some("Ann"), Some(" /cancel ")], ServerAnswer::Cancel),
        (
            &[Some("Ann"), Some(""), Some(""), Some("n")],
            ServerAnswer::Decline,
        ),
        (&[None], ServerAnswer::Cancel),
        (&[Some("Ann"), None], ServerAnswer::Cancel),
        (&[Some(""); TRIES as usize], ServerAnswer::Cancel),
    ] {
        assert_eq!(filled_in(lines).0, Some(answer), "{lines:?}");
    }
}

#[test]
fn nothing_is_sent_before_the_last_yes() {
    assert_eq!(filled_in(&["Ann", "", "1"].map(Some)).0, None);
}

#[test]
fn a_form_without_fields_asks_for_consent() {
    let (form, mut said, mut output, stderr) = put(Vec::new());
    let standing = form.settle(Some("yes"), &mut output).unwrap();
    assert!(standing.is_none());
    assert_eq!(said.try_recv(), Ok(ServerAnswer::Accept(Map::new())));
    assert!(stderr.text().contains("nothing but your consent"));
}

#[test]
fn no_words_of_a_server_act_on_the_terminal() {
    let (_, shown) = filled_in(&["Ann", "1", "1", "y"].map(Some));
    let acts = |it: char| it.is_control() && it != '\n';
    assert!(!shown.contains(acts), "{shown:?}");
}
