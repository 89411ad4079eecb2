//! The body of a request: pieces that are sent one after the other, and never put together.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

/// How much is handed to a connection at once: it may copy what it is given.
const FRAME: usize = 64 * 1024;

/// The body of a request. A second handle to it costs nothing but the list of its pieces.
#[derive(Clone, Debug, Default)]
pub struct Outgoing {
    pieces: VecDeque<Bytes>,
}

impl Outgoing {
    /// How many bytes it has.
    pub fn len(&self) -> u64 {
        let lengths = self.pieces.iter().map(Bytes::len);
        lengths
            .map(|it| u64::try_from(it).unwrap_or(u64::MAX))
            .sum()
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// All of it in one piece, for those who want to look at it.
    pub fn into_vec(self) -> Vec<u8> {
        let mut all = Vec::with_capacity(usize::try_from(self.len()).unwrap_or_default());
        for piece in self.pieces {
            all.extend_from_slice(&piece);
        }
        all
    }

    /// As it is sent. What is in one piece can be sent again by whoever sends it, where a connection
    /// turns out to be gone.
    pub(crate) fn into_body(mut self) -> reqwest::Body {
        match (self.pieces.len(), self.pieces.pop_front()) {
            (_, None) => reqwest::Body::default(),
            (1, Some(only)) => reqwest::Body::from(only),
            (_, Some(first)) => {
                self.pieces.push_front(first);
                reqwest::Body::wrap(self)
            }
        }
    }
}

impl From<Bytes> for Outgoing {
    fn from(bytes: Bytes) -> Self {
        Self::from_iter([bytes])
    }
}

impl FromIterator<Bytes> for Outgoing {
    fn from_iter<I: IntoIterator<Item = Bytes>>(pieces: I) -> Self {
        let pieces = pieces.into_iter().filter(|piece| !piece.is_empty());
        Self {
            pieces: pieces.collect(),
        }
    }
}

impl Body for Outgoing {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let Some(mut piece) = self.pieces.pop_front() else {
            return Poll::Ready(None);
        };
        let frame = piece.split_to(piece.len().min(FRAME));
        if !piece.is_empty() {
            self.pieces.push_front(piece);
        }
        Poll::Ready(Some(Ok(Frame::data(frame))))
    }

    fn is_end_stream(&self) -> bool {
        self.pieces.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(mut body: Outgoing) -> Vec<Bytes> {
        let mut frames = Vec::new();
        let mut context = Context::from_waker(std::task::Waker::noop());
        while let Poll::Ready(Some(Ok(frame))) = Pin::new(&mut body).poll_frame(&mut context) {
            frames.push(frame.into_data().unwrap());
        }
        frames
    }

    #[test]
    fn a_large_piece_goes_out_in_small_frames_that_are_parts_of_it() {
        let large = Bytes::from(vec![7; 3 * FRAME + 1]);
        let body = Outgoing::from_iter([Bytes::from("a"), Bytes::new(), large.clone()]);
        assert_eq!(body.size_hint().exact(), Some(body.len()));
        let frames = frames(body.clone());
        let lengths: Vec<usize> = frames.iter().map(Bytes::len).collect();
        assert_eq!(lengths, [1, FRAME, FRAME, FRAME, 1]);
        let inside = large.as_ptr_range();
        assert!(frames[1..].iter().all(|it| inside.contains(&it.as_ptr())));
        assert_eq!(body.into_vec(), frames.concat());
    }

    #[test]
    fn nothing_is_no_piece() {
        let body = Outgoing::from(Bytes::new());
        assert!(body.is_empty() && body.is_end_stream());
        assert_eq!(body.size_hint().exact(), Some(0));
        assert!(frames(body).is_empty());
    }
}
