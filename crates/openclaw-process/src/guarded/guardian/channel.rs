//! A socket that carries messages and, with some of them, descriptors.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};

use crate::guarded::guardian::message::LARGEST;

/// How many descriptors come with a message: the three standard streams.
const DESCRIPTORS: usize = 3;

/// Sends one message whole.
pub(crate) fn send(
    socket: &impl AsFd,
    message: &[u8],
    descriptors: &[BorrowedFd<'_>],
) -> io::Result<()> {
    let length = u32::try_from(message.len())
        .ok()
        .filter(|_| message.len() <= LARGEST)
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "the message is too large"))?;
    let mut bytes = Vec::with_capacity(message.len() + 4);
    bytes.extend_from_slice(&length.to_le_bytes());
    bytes.extend_from_slice(message);
    let mut sent = 0;
    while sent < bytes.len() {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        // The descriptors travel with the first byte.
        if sent == 0 && !descriptors.is_empty() {
            control.push(SendAncillaryMessage::ScmRights(descriptors));
        }
        let piece = [IoSlice::new(&bytes[sent..])];
        match sendmsg(socket, &piece, &mut control, SendFlags::NOSIGNAL) {
            Ok(count) => sent += count,
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// What was received of messages so far.
#[derive(Default)]
pub(crate) struct Receiver {
    bytes: Vec<u8>,
    descriptors: Vec<OwnedFd>,
}

impl Receiver {
    /// Waits for one message; `None` when the other side is gone.
    pub(crate) fn receive(
        &mut self,
        socket: &impl AsFd,
    ) -> io::Result<Option<(Vec<u8>, Vec<OwnedFd>)>> {
        loop {
            if let Some(message) = self.take_message()? {
                return Ok(Some((message, std::mem::take(&mut self.descriptors))));
            }
            if !self.read_more(socket)? {
                return Ok(None);
            }
        }
    }

    fn take_message(&mut self) -> io::Result<Option<Vec<u8>>> {
        let Some((header, rest)) = self.bytes.split_first_chunk() else {
            return Ok(None);
        };
        let length = u32::from_le_bytes(*header) as usize;
        if length > LARGEST {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "a message is too large",
            ));
        }
        if rest.len() < length {
            return Ok(None);
        }
        let message = rest[..length].to_vec();
        self.bytes.drain(..length + 4);
        Ok(Some(message))
    }

    /// Reads what is there, or waits for it; `false` when the other side is gone.
    fn read_more(&mut self, socket: &impl AsFd) -> io::Result<bool> {
        let mut buffer = [0; 4096];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let flags = RecvFlags::CMSG_CLOEXEC;
        let mut pieces = [IoSliceMut::new(&mut buffer)];
        let received = match recvmsg(socket, &mut pieces, &mut control, flags) {
            Ok(received) => received,
            Err(rustix::io::Errno::INTR) => return Ok(true),
            Err(rustix::io::Errno::CONNRESET) => return Ok(false),
            Err(error) => return Err(error.into()),
        };
        for message in control.drain() {
            if let RecvAncillaryMessage::ScmRights(descriptors) = message {
                self.descriptors.extend(descriptors);
            }
        }
        self.bytes.extend_from_slice(&buffer[..received.bytes]);
        Ok(received.bytes > 0)
    }

    /// Whether a message is waiting that needs no reading.
    pub(crate) fn has_message(&self) -> bool {
        self.bytes
            .split_first_chunk()
            .is_some_and(|(header, rest)| rest.len() >= u32::from_le_bytes(*header) as usize)
    }
}
