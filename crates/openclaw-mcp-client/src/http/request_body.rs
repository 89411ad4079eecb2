//! The body of a request, which tells whether it has been asked for.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use bytes::Bytes;
use http::Request;
use hyper::body::{Body, Frame, SizeHint};
use hyper_util::client::legacy::connect::{CaptureConnection, capture_connection};

/// A body that is sent as a whole.
pub(super) struct RequestBody {
    data: Bytes,
    is_wanted: Option<Arc<AtomicBool>>,
}

/// Whether anything of a request may have been sent.
///
/// A body is asked for once there is a connection for its request, and before the head is written.
/// (HTTP/2 may write the head alone while it waits for room; a request without its body is not
/// processed by anybody.) One that is empty is never asked for, and its connection is watched
/// instead, which costs more.
pub(super) enum Progress {
    Body(Arc<AtomicBool>),
    Connection(CaptureConnection),
}

impl RequestBody {
    pub(super) fn new(data: Bytes) -> Self {
        Self {
            data,
            is_wanted: None,
        }
    }
}

impl Progress {
    /// Watches a request that is about to be sent.
    pub(super) fn of(request: &mut Request<RequestBody>) -> Self {
        if request.body().data.is_empty() {
            return Self::Connection(capture_connection(request));
        }
        let is_wanted = Arc::<AtomicBool>::default();
        request.body_mut().is_wanted = Some(Arc::clone(&is_wanted));
        Self::Body(is_wanted)
    }

    pub(super) fn has_begun(&self) -> bool {
        match self {
            Self::Body(is_wanted) => is_wanted.load(Ordering::Acquire),
            Self::Connection(connection) => connection.connection_metadata().is_some(),
        }
    }
}

impl Body for RequestBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if let Some(is_wanted) = &self.is_wanted {
            is_wanted.store(true, Ordering::Release);
        }
        let data = std::mem::take(&mut self.data);
        Poll::Ready((!data.is_empty()).then(|| Ok(Frame::data(data))))
    }

    fn is_end_stream(&self) -> bool {
        self.data.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        // A length that no number of 64 bits holds is none that can be in memory.
        SizeHint::with_exact(u64::try_from(self.data.len()).unwrap_or(u64::MAX))
    }
}
