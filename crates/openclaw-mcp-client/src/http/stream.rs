//! A connection, with or without TLS.

use std::error::Error as StdError;
use std::fmt;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};

use hyper_util::client::legacy::connect::{Connected, Connection};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;

/// Up to how many bytes are gathered: copying them costs less than telling where they are.
const GATHERED: usize = 4096;

/// A connection to a server, as the pool uses it.
pub(super) struct ServerStream<S = Layer> {
    layer: S,
    /// Whether a proxy reads our requests and passes them on, so that they need the whole address.
    is_proxied: bool,
    /// Whether the server has sent anything but what belongs to TLS.
    has_spoken: bool,
    /// What is written at once although it stands in several places.
    gathered: Vec<u8>,
}

/// What bytes go through.
pub(super) enum Layer {
    Plain(TcpStream),
    /// TLS, over a connection that may itself have it: to a proxy that is reached over TLS.
    Secure(Box<TlsStream<Layer>>),
}

/// What ended a connection over which the server had said nothing at all.
#[derive(Debug)]
pub(super) struct NeverSpoke(io::Error);

impl NeverSpoke {
    pub(super) fn new(error: io::Error) -> Self {
        Self(error)
    }
}

impl<S> ServerStream<S> {
    pub(super) fn new(layer: S, is_proxied: bool) -> Self {
        Self {
            layer,
            is_proxied,
            has_spoken: false,
            gathered: Vec::new(),
        }
    }
}

impl Connection for ServerStream {
    fn connected(&self) -> Connected {
        let connected = Connected::new().proxy(self.is_proxied);
        match &self.layer {
            Layer::Secure(stream) if stream.get_ref().1.alpn_protocol() == Some(b"h2") => {
                connected.negotiated_h2()
            }
            Layer::Secure(_) | Layer::Plain(_) => connected,
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for ServerStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.layer).poll_read(context, buffer);
        self.has_spoken |= buffer.filled().len() > before;
        if self.has_spoken {
            return read;
        }
        read.map_err(|error| io::Error::new(error.kind(), NeverSpoke::new(error)))
    }
}

impl AsyncWrite for ServerStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.layer).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = &mut *self;
        if slices.iter().map(|slice| slice.len()).sum::<usize>() > GATHERED {
            return Pin::new(&mut this.layer).poll_write_vectored(context, slices);
        }
        this.gathered.clear();
        for slice in slices {
            this.gathered.extend_from_slice(slice);
        }
        Pin::new(&mut this.layer).poll_write(context, &this.gathered)
    }

    fn is_write_vectored(&self) -> bool {
        self.layer.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.layer).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.layer).poll_shutdown(context)
    }
}

impl fmt::Display for NeverSpoke {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

impl StdError for NeverSpoke {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        Some(&self.0)
    }
}

impl AsyncRead for Layer {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_read(context, buffer),
            Self::Secure(stream) => Pin::new(stream).poll_read(context, buffer),
        }
    }
}

impl AsyncWrite for Layer {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_write(context, bytes),
            Self::Secure(stream) => Pin::new(stream).poll_write(context, bytes),
        }
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_write_vectored(context, slices),
            Self::Secure(stream) => Pin::new(stream).poll_write_vectored(context, slices),
        }
    }

    fn is_write_vectored(&self) -> bool {
        match self {
            Self::Plain(stream) => stream.is_write_vectored(),
            Self::Secure(stream) => stream.is_write_vectored(),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_flush(context),
            Self::Secure(stream) => Pin::new(stream).poll_flush(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_shutdown(context),
            Self::Secure(stream) => Pin::new(stream).poll_shutdown(context),
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt as _;

    use super::*;

    /// Gives some bytes at a time, and then an error.
    struct Script(Vec<&'static [u8]>);

    impl AsyncRead for Script {
        fn poll_read(
            mut self: Pin<&mut Self>,
            _context: &mut Context<'_>,
            buffer: &mut ReadBuf<'_>,
        ) -> Poll<io::Result<()>> {
            Poll::Ready(match self.0.pop() {
                Some(bytes) => {
                    buffer.put_slice(bytes);
                    Ok(())
                }
                None => Err(io::Error::new(io::ErrorKind::InvalidData, "an alert")),
            })
        }
    }

    #[tokio::test]
    async fn only_an_end_before_the_first_byte_is_marked() {
        for (script, is_marked) in [(vec![], true), (vec![b"x".as_slice()], false)] {
            let mut stream = ServerStream::new(Script(script), false);
            let error = stream.read_to_end(&mut Vec::new()).await.unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidData);
            assert_eq!(error.to_string(), "an alert");
            let inner = error.get_ref().unwrap();
            assert_eq!(inner.is::<NeverSpoke>(), is_marked);
        }
    }
}
