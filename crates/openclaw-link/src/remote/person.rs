//! What the person is asked in the course of a turn.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;

use openclaw_engine::{Audience, ServerQuestion, ToolQuestion};

use crate::messages::Said;

/// How many questions a person can be asked at once.
const MOST: usize = 64;

/// A question to the person.
pub(super) enum Put {
    /// Whether a tool may run.
    Approve(ToolQuestion),
    /// What a server wants to know.
    Answer(ServerQuestion),
}

type Saying<'a> = Pin<Box<dyn Future<Output = Said> + Send + 'a>>;

/// The person behind an audience, and what they are asked at the moment.
pub(super) struct Person<'a> {
    audience: &'a dyn Audience,
    asked: Vec<(u64, Saying<'a>)>,
}

impl<'a> Person<'a> {
    pub(super) fn new(audience: &'a dyn Audience) -> Self {
        Self {
            audience,
            asked: Vec::new(),
        }
    }

    /// Asks; `false` if the person is asked too much already.
    pub(super) fn put(&mut self, number: u64, question: Put) -> bool {
        if self.asked.len() >= MOST {
            return false;
        }
        let audience = self.audience;
        let saying: Saying<'a> = match question {
            Put::Approve(question) => {
                Box::pin(async move { Said::Approve(audience.approve(question).await) })
            }
            Put::Answer(question) => {
                Box::pin(async move { Said::Answer(audience.answer(question).await) })
            }
        };
        self.asked.push((number, saying));
        true
    }

    /// Takes a question back.
    pub(super) fn withdraw(&mut self, number: u64) {
        self.asked.retain(|(asked, _)| *asked != number);
    }

    /// Waits for what the person says next, for as long as that takes. Nothing is lost when this is
    /// dropped.
    pub(super) async fn says(&mut self) -> (u64, Said) {
        poll_fn(|context| {
            let mut asked = self.asked.iter_mut().enumerate();
            let said =
                asked.find_map(
                    |(place, (number, saying))| match saying.as_mut().poll(context) {
                        Poll::Ready(said) => Some((place, *number, said)),
                        Poll::Pending => None,
                    },
                );
            match said {
                Some((place, number, said)) => {
                    drop(self.asked.swap_remove(place));
                    Poll::Ready((number, said))
                }
                None => Poll::Pending,
            }
        })
        .await
    }
}
