//! A request to the model, told to those who collect traces.

use openclaw_models::{Model, ModelError, ModelListener, ModelReply, ModelRequest, Stop};
use openclaw_telemetry::{ModelAnswer, ModelSpan, Tokens};

/// Asks a model.
pub(super) async fn ask(
    model: &dyn Model,
    request: ModelRequest<'_>,
    listener: &mut ModelListener<'_>,
) -> Result<ModelReply, ModelError> {
    let told = ModelSpan::begin(model.name());
    let reply = told.around(model.reply(request, listener)).await;
    match &reply {
        Ok(ModelReply { message, stop }) => told.replied(ModelAnswer {
            model: &message.model,
            tokens: message.usage.map(|usage| Tokens {
                input: usage.input_tokens,
                output: usage.output_tokens,
                cached: usage.cached_tokens,
            }),
            stop: match stop {
                Stop::Done => &["stop"],
                Stop::Calls => &["tool_call"],
                Stop::Length => &["length"],
                Stop::Refused => &["content_filter"],
            },
        }),
        Err(error) => told.failed(error.code()),
    }
    reply
}
