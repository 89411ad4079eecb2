use std::sync::Mutex;

use openclaw_conversation::AssistantMessage;
use tokio::time::Instant;

use super::*;
use crate::error::ModelError;
use crate::model::{ModelReply, Stop, SystemPrompt};
use crate::tools::ToolSet;

/// Chance that is always the same.
struct Loaded(u64);

impl Chance for Loaded {
    fn number(&self) -> u64 {
        self.0
    }
}

/// A model that fails as it is told, and says something each time.
struct Scripted {
    outcomes: Mutex<Vec<Result<(), ModelError>>>,
    asked: Mutex<Vec<Instant>>,
    facts: ModelFacts,
}

impl Model for Scripted {
    fn name(&self) -> &'static str {
        "test/m"
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
            self.asked.lock().unwrap().push(Instant::now());
            listener(ModelEvent::Text("so".to_owned()));
            self.outcomes.lock().unwrap().remove(0)?;
            Ok(ModelReply {
                message: AssistantMessage::default(),
                stop: Stop::Done,
            })
        })
    }
}

fn down() -> Result<(), ModelError> {
    Err(ModelError::Unavailable {
        model: "test/m".to_owned(),
        reason: "down".to_owned(),
        retry_after: None,
    })
}

fn busy(seconds: u64) -> Result<(), ModelError> {
    Err(ModelError::Busy {
        model: "test/m".to_owned(),
        reason: "busy".to_owned(),
        retry_after: Some(Duration::from_secs(seconds)),
    })
}

/// Asks, and says how it ended, how long each wait was, and what was heard.
async fn ask(
    outcomes: Vec<Result<(), ModelError>>,
    chance: u64,
) -> (bool, Vec<Duration>, Vec<ModelEvent>) {
    let inner = Arc::new(Scripted {
        outcomes: Mutex::new(outcomes),
        asked: Mutex::new(Vec::new()),
        facts: ModelFacts {
            context_window: 1,
            max_tokens: 1,
            takes_images: false,
            takes_documents: false,
            most_tools: None,
        },
    });
    let retry = Retry {
        inner: inner.clone(),
        times: 3,
        chance: Arc::new(Loaded(chance)),
    };
    let tools = ToolSet::none();
    let request = ModelRequest {
        system: SystemPrompt::default(),
        messages: &[],
        tools: &tools,
        max_tokens: None,
    };
    let mut heard = Vec::new();
    let reply = retry
        .reply(request, &mut |event| heard.push(event))
        .await
        .is_ok();
    let asked = inner.asked.lock().unwrap();
    let waits = asked.windows(2).map(|pair| pair[1] - pair[0]).collect();
    (reply, waits, heard)
}

#[tokio::test(start_paused = true)]
async fn what_passes_is_asked_for_three_times_more() {
    let milliseconds = |waits: [u64; 3]| waits.map(Duration::from_millis).to_vec();
    for (chance, expected) in [
        (0, [800, 1600, 3200]),
        (20, [1000, 2000, 4000]),
        (40, [1200, 2400, 4800]),
    ] {
        let outcomes = vec![down(), down(), down(), Ok(())];
        let (is_answered, waits, _) = ask(outcomes, chance).await;
        assert!(is_answered);
        assert_eq!(waits, milliseconds(expected));
    }
    let (is_answered, waits, _) = ask(vec![down(), down(), down(), down()], 20).await;
    assert!(!is_answered);
    assert_eq!(waits.len(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_service_says_how_long_to_wait_but_not_too_long() {
    let (is_answered, waits, _) = ask(vec![busy(30), busy(0), Ok(())], 0).await;
    assert!(is_answered);
    assert_eq!(waits, [Duration::from_secs(30), Duration::ZERO]);
    let (is_answered, waits, _) = ask(vec![busy(61), Ok(())], 0).await;
    assert!(!is_answered);
    assert!(waits.is_empty());
}

#[tokio::test(start_paused = true)]
async fn what_does_not_pass_is_not_asked_for_again() {
    let refused = Err(ModelError::Refused {
        model: "test/m".to_owned(),
        reason: "no".to_owned(),
    });
    let (is_answered, waits, _) = ask(vec![refused, Ok(())], 0).await;
    assert!(!is_answered);
    assert!(waits.is_empty());
}

#[tokio::test(start_paused = true)]
async fn what_was_heard_is_taken_back() {
    let (_, _, heard) = ask(vec![down(), Ok(())], 0).await;
    let text = ModelEvent::Text("so".to_owned());
    let reason = "test/m can't answer now: down".to_owned();
    let expected = [text.clone(), ModelEvent::Retracted { reason }, text];
    assert_eq!(heard, expected);
}

#[tokio::test(start_paused = true)]
async fn people_are_told_of_a_wait_that_they_would_notice() {
    let (_, _, heard) = ask(vec![busy(30), busy(1), Ok(())], 0).await;
    let notices = heard.iter().filter_map(|event| match event {
        ModelEvent::Notice { text } => Some(text.as_str()),
        _ => None,
    });
    let expected = ["test/m is asked too often; it is asked again in 30 s"];
    assert_eq!(notices.collect::<Vec<_>>(), expected);
    let (_, _, heard) = ask(vec![down(), down(), down(), Ok(())], 20).await;
    let text = "test/m can't answer now; it is asked again in 4 s".to_owned();
    assert!(heard.contains(&ModelEvent::Notice { text }), "{heard:?}");
}
