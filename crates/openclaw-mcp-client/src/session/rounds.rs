//! Requests of the second era that need more from us before they can be answered.

use std::time::Duration;

use serde_json::{Map, Value};
use tokio::time::{Instant, sleep_until, timeout};

use super::core::{Core, Request, result_type};
use super::terms::Era;
use crate::error::RequestError;
use crate::model::Fields;
use crate::person::{Elicitation, ElicitationAnswer, THINKING};
use crate::time::{deadline, later};
use crate::traffic::{Asked, ask, look_at};
use crate::wire::{RawJson, RpcError};

/// How often a server may ask back.
const ROUNDS: usize = 10;
/// How long it is waited where a server asks to be asked again without asking anything.
const PAUSE: Duration = Duration::from_millis(200);
/// How many questions a server may ask at once.
const QUESTIONS: usize = 32;

impl Core {
    /// Makes a request and answers what the server asks back.
    pub(crate) async fn request_in_rounds(
        &self,
        mut request: Request,
    ) -> Result<RawJson, RequestError> {
        let mut has_visited = false;
        for _ in 0..ROUNDS {
            let result = match self.request(&request).await {
                Err(RequestError::Refused(error))
                    if error.code == RpcError::VISIT_FIRST && !has_visited =>
                {
                    has_visited = true;
                    let asked = Instant::now();
                    Box::pin(self.visit(error, &request)).await?;
                    // What the person took is not the server's time.
                    request.limits.until = later(request.limits.until, asked.elapsed());
                    continue;
                }
                result => result?,
            };
            if !self.speaks(Era::Modern) {
                return Ok(result);
            }
            match result_type(&result).as_ref() {
                "complete" => return Ok(result),
                "input_required" => Box::pin(self.answer_back(&result, &mut request)).await?,
                _ => {
                    let reason = "it is of an unknown kind".to_owned();
                    return Err(RequestError::BadAnswer(reason));
                }
            }
        }
        let reason = format!("it asked back more than {ROUNDS} times");
        Err(RequestError::BadAnswer(reason))
    }

    /// Has the person visit what the server wants visited before it does anything (2025-11-25), and
    /// waits until the server calls that done.
    async fn visit(&self, error: RpcError, request: &Request) -> Result<(), RequestError> {
        let Some(person) = &request.ticket.person else {
            return Err(RequestError::Refused(error));
        };
        let data = error
            .data
            .as_ref()
            .and_then(|data| data.get("elicitations"));
        let questions = data.and_then(Value::as_array).cloned().unwrap_or_default();
        let visiting = async {
            let mut visits = Vec::new();
            for question in questions.into_iter().take(QUESTIONS) {
                let Some(question) = Elicitation::of(question) else {
                    return false;
                };
                if let Elicitation::Visit { id, .. } = &question {
                    visits.push(id.clone());
                }
                if !matches!(person.elicit(question).await, ElicitationAnswer::Accept(_)) {
                    return false;
                }
            }
            for id in &visits {
                self.inbound.visits.complete(id).await;
            }
            !visits.is_empty()
        };
        match timeout(THINKING, visiting).await {
            Ok(true) => Ok(()),
            Ok(false) | Err(_) => Err(RequestError::Refused(error)),
        }
    }

    /// Puts the answers to what the server asked into the request.
    async fn answer_back(
        &self,
        result: &RawJson,
        request: &mut Request,
    ) -> Result<(), RequestError> {
        let mut fields = result
            .value()
            .ok()
            .and_then(Fields::of)
            .ok_or_else(|| RequestError::BadAnswer("its question can't be read".to_owned()))?;
        let questions = fields.object("inputRequests").unwrap_or_default();
        if questions.len() > QUESTIONS {
            let reason = format!("it asks more than {QUESTIONS} things at once");
            return Err(RequestError::BadAnswer(reason));
        }
        if questions.is_empty() {
            sleep_until(request.limits.until.min(deadline(PAUSE))).await;
        }
        let asked = Instant::now();
        let mut answers = Map::new();
        for (key, question) in questions {
            let answer = self.answer_one(question, request).await?;
            answers.insert(key, answer);
        }
        // What the person took is not the server's time.
        request.limits.until = later(request.limits.until, asked.elapsed());
        request.params.set(
            "inputResponses",
            (!answers.is_empty()).then_some(Value::Object(answers)),
        );
        // Only for this request, and exactly as it came.
        request.params.set(
            "requestState",
            fields.text("requestState").map(Value::String),
        );
        Ok(())
    }

    async fn answer_one(&self, question: Value, request: &Request) -> Result<Value, RequestError> {
        let refused = || RequestError::BadAnswer("it asks for what we don't offer".to_owned());
        let mut fields = Fields::of(question).ok_or_else(refused)?;
        let method = fields.text("method").ok_or_else(refused)?;
        let params = fields.value("params").as_ref().and_then(RawJson::of);
        match look_at(&method, params.as_ref(), self.inbound.roots()) {
            Asked::Answered(answer) => answer.map_err(|_| refused()),
            Asked::Person(question) => Ok(ask(request.ticket.person.as_ref(), question).await),
        }
    }
}
