//! Messages from a server, taken as they come: what can't be read costs only itself.

use std::borrow::Cow;
use std::fmt;

use bytes::Bytes;
use serde::de::{IgnoredAny, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

use super::{RawJson, RpcError};

/// How many messages of a batch are read.
const BATCH_LIMIT: usize = 10_000;
/// How long the identifier of a server's request may be: it is sent back.
const IDENTIFIER_LIMIT: usize = 1_024;

/// A message from a server.
#[derive(Debug)]
pub(crate) enum Incoming {
    /// The answer to a request of ours.
    Reply {
        id: ReplyId,
        outcome: Result<RawJson, RpcError>,
    },
    /// A request of the server.
    Request {
        id: ServerRequestId,
        method: String,
        params: Option<RawJson>,
    },
    /// A notification.
    Notification {
        method: String,
        params: Option<RawJson>,
    },
}

/// Which request of ours an answer is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReplyId {
    /// This one.
    Ours(u64),
    /// The server did not say.
    Missing,
    /// None that we sent.
    Foreign,
}

/// The identifier of a server's request, sent back as it came.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ServerRequestId(Box<RawValue>);

/// Why something that a server sent is passed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Oddity {
    /// It is not JSON.
    NotJson,
    /// It is JSON, but no message.
    NotRpc,
    /// More messages at once than are read.
    BatchTooLong,
}

impl fmt::Display for Oddity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::NotJson => "it is not JSON",
            Self::NotRpc => "it is JSON, but not a JSON-RPC message",
            Self::BatchTooLong => "the batch has too many messages",
        })
    }
}

/// Reads one message, or the messages of a batch, and hands on each, or why it can't be read.
pub(crate) fn read_messages(text: &Bytes, mut take: impl FnMut(Result<Incoming, Oddity>)) {
    // What is not UTF-8 is replaced: one bad byte in a result must not lose the result.
    let repaired;
    let (message, text) = match String::from_utf8_lossy(text) {
        Cow::Borrowed(valid) => (text, valid),
        Cow::Owned(text) => {
            repaired = Bytes::from(text);
            (
                &repaired,
                std::str::from_utf8(&repaired).unwrap_or_default(),
            )
        }
    };
    let text = &text[leading_junk(text.as_bytes())..];
    if text.starts_with('[') {
        let visitor = Batch {
            message,
            take: &mut take,
        };
        let mut deserializer = serde_json::Deserializer::from_str(text);
        if deserializer.deserialize_seq(visitor).is_err() {
            take(Err(Oddity::NotJson));
        }
    } else {
        take(read_message(message, text));
    }
}

/// How many bytes of blanks and byte order marks stand before the message.
fn leading_junk(text: &[u8]) -> usize {
    let mut rest = text;
    loop {
        rest = rest.trim_ascii_start();
        match rest.strip_prefix(b"\xEF\xBB\xBF") {
            Some(after) => rest = after,
            None => return text.len() - rest.len(),
        }
    }
}

struct Batch<'a, F> {
    message: &'a Bytes,
    take: &'a mut F,
}

impl<'de, F: FnMut(Result<Incoming, Oddity>)> Visitor<'de> for Batch<'_, F> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a batch of messages")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        for _ in 0..BATCH_LIMIT {
            let Some(item) = items.next_element::<&RawValue>()? else {
                return Ok(());
            };
            (self.take)(read_message(self.message, item.get()));
        }
        let mut more = false;
        while items.next_element::<IgnoredAny>()?.is_some() {
            more = true;
        }
        if more {
            (self.take)(Err(Oddity::BatchTooLong));
        }
        Ok(())
    }
}

/// All that a message can have. A field that is `null` is there, a missing one is not.
#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    params: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
}

fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

fn read_message(message: &Bytes, text: &str) -> Result<Incoming, Oddity> {
    let envelope: Envelope<'_> = serde_json::from_str(text).map_err(|error| {
        if error.is_data() {
            Oddity::NotRpc
        } else {
            Oddity::NotJson
        }
    })?;
    let part = |raw| RawJson::within(message, raw);
    let id = envelope.id.filter(|id| id.get() != "null");
    match (envelope.method, id) {
        (Some(method), Some(id)) => Ok(Incoming::Request {
            id: server_request_id(id)?,
            method: method.into_owned(),
            params: envelope.params.map(part),
        }),
        (Some(method), None) => Ok(Incoming::Notification {
            method: method.into_owned(),
            params: envelope.params.map(part),
        }),
        (None, id) => {
            let outcome = match (envelope.error, envelope.result) {
                (Some(error), _) => Err(RpcError::read(&part(error))),
                (None, Some(result)) => Ok(part(result)),
                (None, None) => return Err(Oddity::NotRpc),
            };
            let id = id.map_or(ReplyId::Missing, reply_id);
            Ok(Incoming::Reply { id, outcome })
        }
    }
}

/// Ours are numbers; there are servers that send them back as text, or with a fraction.
fn reply_id(raw: &RawValue) -> ReplyId {
    let text = raw.get().trim_matches('"');
    let whole = text.split_once('.').map_or(text, |(whole, fraction)| {
        if fraction.bytes().all(|digit| digit == b'0') {
            whole
        } else {
            text
        }
    });
    whole.parse().map_or(ReplyId::Foreign, ReplyId::Ours)
}

fn server_request_id(raw: &RawValue) -> Result<ServerRequestId, Oddity> {
    let text = raw.get();
    let is_scalar = !text.starts_with(['{', '[', 't', 'f']);
    if text.len() <= IDENTIFIER_LIMIT && is_scalar {
        Ok(ServerRequestId(raw.to_owned()))
    } else {
        Err(Oddity::NotRpc)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &'static [u8]) -> Vec<Result<Incoming, Oddity>> {
        let mut found = Vec::new();
        read_messages(&Bytes::from_static(text), |message| found.push(message));
        found
    }

    fn only(text: &'static [u8]) -> Result<Incoming, Oddity> {
        let mut found = read(text);
        assert_eq!(found.len(), 1);
        found.remove(0)
    }

    fn id_of(text: &'static [u8]) -> ReplyId {
        match only(text) {
            Ok(Incoming::Reply { id, .. }) => id,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn replies_are_matched_however_their_ids_are_written() {
        assert_eq!(
            id_of(br#"{"jsonrpc":"2.0","id":7,"result":{}}"#),
            ReplyId::Ours(7)
        );
        assert_eq!(id_of(br#"{"id":"7","result":null}"#), ReplyId::Ours(7));
        assert_eq!(id_of(br#"{"id":7.0,"result":1}"#), ReplyId::Ours(7));
        assert_eq!(id_of(br#"{"id":7.5,"result":1}"#), ReplyId::Foreign);
        assert_eq!(id_of(br#"{"id":"x","error":{}}"#), ReplyId::Foreign);
        assert_eq!(id_of(br#"{"id":null,"error":{}}"#), ReplyId::Missing);
        assert_eq!(id_of(br#"{"result":{}}"#), ReplyId::Missing);
    }

    #[test]
    fn what_is_no_message_is_told_apart() {
        assert_eq!(
            only(b"Server started on port 3000").unwrap_err(),
            Oddity::NotJson
        );
        assert_eq!(only(b"").unwrap_err(), Oddity::NotJson);
        assert_eq!(
            only(br#"{"id":1,"result":{}"#).unwrap_err(),
            Oddity::NotJson
        );
        for text in [
            &b"17"[..],
            b"\"text\"",
            b"null",
            b"true",
            br#"{"a":1}"#,
            br#"{"id":1}"#,
        ] {
            assert_eq!(only(text).unwrap_err(), Oddity::NotRpc, "{text:?}");
        }
        assert_eq!(only(br#"{"method":1}"#).unwrap_err(), Oddity::NotRpc);
        assert_eq!(
            only(br#"{"id":{},"method":"x"}"#).unwrap_err(),
            Oddity::NotRpc
        );
    }

    #[test]
    fn a_batch_loses_only_what_is_wrong_in_it() {
        let found = read(br#" [ {"method":"a"}, 17, {"id":1,"result":[1]}, "x" ] "#);
        assert!(matches!(&found[0], Ok(Incoming::Notification { method, .. }) if method == "a"));
        assert!(matches!(found[1], Err(Oddity::NotRpc)));
        assert!(matches!(
            found[2],
            Ok(Incoming::Reply {
                id: ReplyId::Ours(1),
                ..
            })
        ));
        assert!(matches!(found[3], Err(Oddity::NotRpc)));
        assert_eq!(found.len(), 4);
        assert!(read(b"[]").is_empty());
        let cut = read(b"[{\"method\":\"a\"}, 1");
        assert!(matches!(
            cut[..],
            [Ok(_), Err(Oddity::NotRpc), Err(Oddity::NotJson)]
        ));
    }

    #[test]
    fn a_batch_without_end_of_messages_is_cut() {
        let text = format!("[{}1]", "1,".repeat(50_000));
        let mut count = 0;
        let mut last = None;
        read_messages(&text.into(), |message| {
            count += 1;
            last = message.err();
        });
        assert_eq!(count, BATCH_LIMIT + 1);
        assert_eq!(last, Some(Oddity::BatchTooLong));
    }

    #[test]
    fn marks_and_bad_bytes_do_not_lose_a_message() {
        let found = only(b"\xEF\xBB\xBF{\"id\":1,\"result\":\"a\xFFb\"}").unwrap();
        let Incoming::Reply { outcome, .. } = found else {
            panic!("{found:?}")
        };
        assert_eq!(outcome.unwrap().read::<String>().unwrap(), "a\u{FFFD}b");
    }

    #[test]
    fn deep_nesting_is_carried_without_being_walked() {
        let depth = 1_000_000;
        let text = format!(
            r#"{{"id":1,"result":{}{}}}"#,
            "[".repeat(depth),
            "]".repeat(depth)
        );
        let mut found = Vec::new();
        read_messages(&text.into(), |message| found.push(message));
        let Some(Ok(Incoming::Reply { outcome, .. })) = found.pop() else {
            panic!()
        };
        assert!(outcome.unwrap().value().is_err());
    }

    #[test]
    fn a_result_shares_the_memory_of_its_message() {
        let message = Bytes::from_static(br#"{"id":1,"result":{"a":"b"}}"#);
        read_messages(&message, |found| {
            let Ok(Incoming::Reply { outcome, .. }) = found else {
                panic!()
            };
            let result = outcome.unwrap();
            let range = message.as_ptr_range();
            assert!(range.contains(&result.text().as_ptr()));
        });
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            read_messages(&bytes.into(), |_| {});
        }

        #[test]
        fn anything_that_looks_like_a_message_is_survived(
            text in r#"\[?\{("(id|method|params|result|error|jsonrpc)":("x"|7|null|\{\}|\[1\]),?){0,5}\}\]?"#
        ) {
            read_messages(&text.into(), |_| {});
        }
    }

    #[test]
    fn the_errors_of_servers_are_read_as_far_as_possible() {
        let error = |text| match only(text) {
            Ok(Incoming::Reply { outcome, .. }) => outcome.unwrap_err(),
            other => panic!("{other:?}"),
        };
        let full = error(br#"{"id":1,"error":{"code":-32601,"message":"no\nsuch","data":[1]}}"#);
        assert_eq!(full.to_string(), "no such (code -32601)");
        assert_eq!(error(br#"{"id":1,"error":"broken"}"#).message, "\"broken\"");
        assert_eq!(
            error(br#"{"id":1,"error":{}}"#).to_string(),
            "no reason given (code 0)"
        );
        assert_eq!(
            error(br#"{"id":1,"error":{"code":"5","message":{}}}"#).code,
            5
        );
    }
}
