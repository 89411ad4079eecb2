//! Bodies of responses: whole, or in pieces that may break off.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use hyper::body::{Frame, SizeHint};
use tokio::sync::mpsc;

/// How much of a slow body is sent at once.
const SLOW_PIECE: usize = 64;

/// The body of a response.
#[derive(Debug)]
pub(crate) enum Body {
    Whole(Option<Bytes>),
    Pieces(mpsc::Receiver<Piece>),
}

/// A piece of a body.
#[derive(Debug)]
pub(crate) enum Piece {
    Data(Bytes),
    /// The connection breaks off here.
    Break,
}

impl Body {
    pub(crate) fn whole(bytes: impl Into<Bytes>) -> Self {
        Self::Whole(Some(bytes.into()))
    }

    pub(super) fn empty() -> Self {
        Self::Whole(None)
    }

    /// A body that comes through the sender.
    pub(super) fn pieces() -> (PieceSender, Self) {
        let (sender, receiver) = mpsc::channel(4);
        (PieceSender(sender), Self::Pieces(receiver))
    }

    /// A body that takes its time.
    pub(super) fn slow(bytes: Vec<u8>, pause: Duration) -> Self {
        let (sender, body) = Self::pieces();
        // It ends when the body is dropped.
        tokio::spawn(async move {
            for piece in bytes.chunks(SLOW_PIECE) {
                if !sender.send(piece.to_vec()).await {
                    return;
                }
                tokio::time::sleep(pause).await;
            }
        });
        body
    }
}

/// The way into a body.
#[derive(Debug)]
pub(super) struct PieceSender(mpsc::Sender<Piece>);

impl PieceSender {
    /// Sends a piece; false if nobody reads any more.
    pub(super) async fn send(&self, bytes: impl Into<Bytes>) -> bool {
        self.0.send(Piece::Data(bytes.into())).await.is_ok()
    }

    /// Breaks the connection off once what was sent has left.
    pub(super) async fn break_off(&self) {
        // The connection drops what it has not written when a body fails, so it gets a moment.
        tokio::time::sleep(Duration::from_millis(30)).await;
        // Nobody may be there any more.
        let _ = self.0.send(Piece::Break).await;
    }

    /// Waits until nobody reads any more.
    pub(super) async fn closed(&self) {
        self.0.closed().await;
    }
}

impl hyper::body::Body for Body {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        match self.get_mut() {
            Self::Whole(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Self::Pieces(receiver) => receiver.poll_recv(context).map(|piece| match piece? {
                Piece::Data(bytes) => Some(Ok(Frame::data(bytes))),
                Piece::Break => Some(Err(io::Error::other("broken off, as told"))),
            }),
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Whole(None))
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(bytes) => {
                let length = bytes.as_ref().map_or(0, Bytes::len);
                SizeHint::with_exact(u64::try_from(length).unwrap_or(u64::MAX))
            }
            Self::Pieces(_) => SizeHint::default(),
        }
    }
}
