use std::sync::Mutex;

use openclaw_conversation::AssistantMessage;

use super::*;
use crate::model::{ModelReply, Stop, SystemPrompt};
use crate::tools::ToolSet;

/// A model that says something and then ends as it is told.
struct Told {
    name: &'static str,
    outcome: Mutex<Option<ModelError>>,
    facts: ModelFacts,
}

impl Model for Told {
    fn name(&self) -> &'static str {
        self.name
    }

    fn facts(&self) -> &ModelFacts {
        &self.facts
    }

    fn reply<'a>(
        &'a self,
        _request: ModelRequest<'a>,
        listener: &'a mut ModelListener<'_>,
    ) -> PendingReply<'a> {
        Box::pin(async move {
            listener(ModelEvent::Text(self.name.to_owned()));
            match self.outcome.lock().unwrap().clone() {
                Some(error) => Err(error),
                None => Ok(ModelReply {
                    message: AssistantMessage {
                        model: self.name.to_owned(),
                        ..AssistantMessage::default()
                    },
                    stop: Stop::Done,
                }),
            }
        })
    }
}

fn told(name: &'static str, outcome: Option<ModelError>) -> Arc<dyn Model> {
    holding(1, name, outcome)
}

/// The same, which holds so many tokens.
fn holding(context_window: u64, name: &'static str, outcome: Option<ModelError>) -> Arc<dyn Model> {
    Arc::new(Told {
        name,
        outcome: Mutex::new(outcome),
        facts: ModelFacts {
            context_window,
            max_tokens: context_window / 2,
            takes_images: context_window > 1,
            takes_documents: context_window > 15,
            most_tools: usize::try_from(context_window).ok().filter(|it| *it < 20),
        },
    })
}

fn too_long(model: &str) -> ModelError {
    ModelError::TooLong {
        model: model.to_owned(),
        reason: "long".to_owned(),
    }
}

fn fallback(models: Vec<Arc<dyn Model>>) -> Fallback {
    let mut models = models.into_iter();
    Fallback::new(models.next().unwrap(), models.collect())
}

async fn ask(models: Vec<Arc<dyn Model>>) -> (Result<String, ModelError>, Vec<ModelEvent>) {
    asked(&fallback(models)).await
}

async fn asked(fallback: &Fallback) -> (Result<String, ModelError>, Vec<ModelEvent>) {
    let tools = ToolSet::none();
    let request = ModelRequest {
        system: SystemPrompt::default(),
        messages: &[],
        tools: &tools,
        max_tokens: None,
    };
    let mut heard = Vec::new();
    let reply = fallback
        .reply(request, &mut |event| heard.push(event))
        .await;
    (reply.map(|reply| reply.message.model), heard)
}

fn refused(model: &str) -> ModelError {
    ModelError::Refused {
        model: model.to_owned(),
        reason: "no".to_owned(),
    }
}

#[tokio::test]
async fn the_next_is_asked_and_what_was_heard_is_taken_back() {
    let models = vec![told("a/1", Some(refused("a/1"))), told("b/2", None)];
    let (reply, heard) = ask(models).await;
    assert_eq!(reply, Ok("b/2".to_owned()));
    let text = |text: &str| ModelEvent::Text(text.to_owned());
    let reason = "a/1 does not take the request: no; b/2 is asked".to_owned();
    let expected = [text("a/1"), ModelEvent::Retracted { reason }, text("b/2")];
    assert_eq!(heard, expected);
}

#[tokio::test]
async fn the_error_of_the_first_names_the_others() {
    let models = vec![
        told("a/1", Some(refused("a/1"))),
        told("b/2", Some(refused("b/2"))),
    ];
    let (reply, _) = ask(models).await;
    let error = reply.unwrap_err().to_string();
    let expected = "a/1 does not take the request: no; fallbacks failed, too (b/2: model-refused)";
    assert_eq!(error, expected);
}

#[tokio::test]
async fn a_conversation_that_is_too_long_is_only_for_those_that_hold_more() {
    let models = vec![
        holding(10, "a/1", Some(too_long("a/1"))),
        holding(10, "b/2", None),
        holding(20, "c/3", None),
    ];
    let (reply, heard) = ask(models).await;
    assert_eq!(reply, Ok("c/3".to_owned()));
    assert_eq!(heard.len(), 3, "{heard:?}");
    let models = vec![told("a/1", Some(too_long("a/1"))), told("b/2", None)];
    let (reply, heard) = ask(models).await;
    assert_eq!(reply, Err(too_long("a/1")));
    assert_eq!(heard.len(), 1);
    // It can be made shorter, whatever else is wrong.
    let models = vec![
        holding(10, "a/1", Some(refused("a/1"))),
        holding(10, "b/2", Some(too_long("b/2"))),
        holding(20, "c/3", Some(refused("c/3"))),
    ];
    assert_eq!(ask(models).await.0, Err(too_long("b/2")));
}

#[test]
fn what_is_known_of_several_holds_for_each() {
    let models = vec![holding(30, "a/1", None), holding(10, "b/2", None)];
    let expected = ModelFacts {
        context_window: 10,
        max_tokens: 5,
        takes_images: true,
        takes_documents: false,
        most_tools: Some(10),
    };
    assert_eq!(fallback(models).facts(), &expected);
    // A text is made of a document unless all of them take it.
    let models = vec![holding(30, "a/1", None), holding(20, "b/2", None)];
    assert!(fallback(models).facts().takes_documents);
}

#[tokio::test]
async fn the_one_that_answered_is_asked_first_the_next_time() {
    let fallback = fallback(vec![
        told("a/1", Some(refused("a/1"))),
        told("b/2", None),
        told("c/3", None),
    ]);
    let (reply, heard) = asked(&fallback).await;
    assert_eq!(reply.unwrap(), "b/2");
    assert_eq!(heard.len(), 3, "{heard:?}");
    let (reply, heard) = asked(&fallback).await;
    assert_eq!(reply.unwrap(), "b/2");
    assert_eq!(heard, [ModelEvent::Text("b/2".to_owned())]);
}
