//! Streams of events, with their faults.

use std::sync::Arc;
use std::time::Duration;

use hyper::Response;
use tokio::sync::{Notify, watch};

use super::body::{Body, PieceSender};
use super::respond;
use crate::fake_server::outlet::{EventStream, Frame};
use crate::fake_server::server::Server;

/// How a stream of events is sent.
#[derive(Debug)]
pub(super) struct Events {
    pub(super) server: Arc<Server>,
    pub(super) stream: Arc<EventStream>,
    /// How many messages were sent already.
    pub(super) position: usize,
    /// Whether events have ids, so that the stream can be resumed.
    pub(super) ids: bool,
    /// Whether an event without data comes first, so that there is an id to resume from.
    pub(super) primed: bool,
    /// Whether this is the stream of a POST, which faults may spoil.
    pub(super) spoilable: bool,
    /// Changes when another reader takes the place of this one.
    pub(super) displaced: Option<watch::Receiver<u64>>,
    /// Cancels the request when the client closes the stream, as it does in the modern era.
    pub(super) cancel: Option<CancelOnDrop>,
    /// Something to send first, which is no message.
    pub(super) greeting: Option<String>,
    /// After how many events to break off.
    pub(super) limit: Option<u64>,
    /// The session that ends with the stream.
    pub(super) owns: Option<String>,
}

/// Cancels a request when it is dropped; one that is answered does not mind.
#[derive(Debug)]
pub(super) struct CancelOnDrop(pub(super) Arc<Notify>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

/// What becomes of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    GoesOn,
    Ends,
}

impl Events {
    pub(super) fn new(server: &Arc<Server>, stream: &Arc<EventStream>) -> Self {
        Self {
            server: Arc::clone(server),
            stream: Arc::clone(stream),
            position: 0,
            ids: false,
            primed: false,
            spoilable: false,
            displaced: None,
            cancel: None,
            greeting: None,
            limit: None,
            owns: None,
        }
    }

    /// The response whose body is the stream.
    pub(super) fn respond(self) -> Response<Body> {
        let (sender, body) = Body::pieces();
        let content_type = if self.server.options.http.wrong_content_type {
            "text/plain"
        } else {
            "text/event-stream"
        };
        // It ends when the body is dropped.
        tokio::spawn(self.run(sender));
        let mut response = respond::with_body(200, content_type, body);
        respond::set(&mut response, "cache-control", "no-cache");
        response
    }

    async fn run(mut self, sender: PieceSender) {
        tokio::select! {
            () = sender.closed() => {}
            () = self.send_all(&sender) => {}
        }
        drop(self.cancel.take());
        if let Some(id) = &self.owns {
            self.server.close_session(id);
        }
    }

    async fn send_all(&mut self, sender: &PieceSender) {
        let mut displaced = self.displaced.take();
        let is_displaced = async {
            match &mut displaced {
                // An error means that the session is gone.
                Some(displaced) => drop(displaced.changed().await),
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = is_displaced => {}
            () = self.follow(sender) => {}
        }
    }

    async fn follow(&mut self, sender: &PieceSender) {
        let server = Arc::clone(&self.server);
        let faults = &server.options.http;
        let polls = self.spoilable && faults.poll;
        if self.primed || polls {
            let mut event = format!("id: {}-{}", self.stream.number, self.position);
            if polls {
                event = format!("{event}\nretry: {}", faults.poll_retry);
            }
            if !self.emit(sender, &format!("{event}\ndata: \n\n")).await || polls {
                return;
            }
        }
        let mut sent = 0;
        if let Some(greeting) = self.greeting.take() {
            self.emit(sender, &greeting).await;
            sent += 1;
        }
        loop {
            if self.limit.is_some_and(|limit| sent >= limit) {
                return sender.break_off().await;
            }
            let Some(frame) = self.stream.next(self.position).await else {
                return;
            };
            self.position += 1;
            sent += 1;
            if self.send(sender, &frame).await == Next::Ends {
                return;
            }
        }
    }

    async fn send(&self, sender: &PieceSender, frame: &Frame) -> Next {
        let faults = &self.server.options.http;
        let event = self.event(frame);
        let spoilt = frame
            .reply_to
            .as_ref()
            .is_some_and(|method| self.spoilable && self.server.options.is_spoilt(method));
        if spoilt && faults.endless_event {
            let mut open = self.emit(sender, "data: {\"endless\": \"").await;
            while open {
                open = sender.send(vec![b'x'; 8192]).await;
            }
            return Next::Ends;
        }
        if spoilt && (faults.drop_stream || faults.drop_stream_no_ids) {
            // Not on the border of a character: events are bytes until they are complete.
            sender.send(event[..event.len() / 2].to_vec()).await;
            sender.break_off().await;
            return Next::Ends;
        }
        if self.emit_bytes(sender, &event).await {
            Next::GoesOn
        } else {
            Next::Ends
        }
    }

    /// An event that carries a message.
    fn event(&self, frame: &Frame) -> Vec<u8> {
        let faults = &self.server.options.http;
        let mut event = b"event: message\n".to_vec();
        if self.ids && !faults.drop_stream_no_ids {
            let id = format!("id: {}-{}\n", self.stream.number, self.position);
            event.extend_from_slice(id.as_bytes());
        }
        event.extend_from_slice(b"data: ");
        // Data on several lines is one message with line ends in it, which JSON doesn't mind.
        let first = usize::from(faults.chunked_sse.is_some()).min(frame.bytes.len());
        let (head, rest) = frame.bytes.split_at(first);
        if !head.is_empty() {
            event.extend_from_slice(head);
            event.extend_from_slice(b"\ndata: ");
        }
        event.extend_from_slice(rest);
        event.extend_from_slice(b"\n\n");
        event
    }

    async fn emit(&self, sender: &PieceSender, text: &str) -> bool {
        self.emit_bytes(sender, text.as_bytes()).await
    }

    /// Sends an event in the pieces that the flags ask for; false if nobody reads any more.
    async fn emit_bytes(&self, sender: &PieceSender, event: &[u8]) -> bool {
        let faults = &self.server.options.http;
        let mut bytes = Vec::with_capacity(event.len());
        if faults.chunked_sse.is_some() {
            bytes.extend_from_slice(b": a comment\r\n:\r\nunknown: field\r\n");
            for byte in event {
                if *byte == b'\n' {
                    bytes.push(b'\r');
                }
                bytes.push(*byte);
            }
        } else {
            bytes.extend_from_slice(event);
        }
        let size = match (faults.chunked_sse, faults.slow_body) {
            (Some(size), _) => size.max(1),
            (None, Some(_)) => 64,
            (None, None) => bytes.len().max(1),
        };
        for piece in bytes.chunks(size) {
            if !sender.send(piece.to_vec()).await {
                return false;
            }
            match faults.slow_body {
                Some(pause) => tokio::time::sleep(Duration::from_millis(pause)).await,
                // Lets the connection write the piece before there is another to join it with.
                None => tokio::task::yield_now().await,
            }
        }
        true
    }
}
