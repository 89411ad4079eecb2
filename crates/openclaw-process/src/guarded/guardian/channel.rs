//! A socket that carries messages and, with some of them, descriptors.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};

use crate::guarded::guardian::message::LARGEST;

/// How many descriptors come with a message, at most: the three standard streams.
const DESCRIPTORS: usize = 3;
/// What stands before a message: its length, and how many descriptors are its own. Several messages
/// can be read at once, and the descriptors of the last one come with the first.
const HEADER: usize = 5;

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
    let count = u8::try_from(descriptors.len())
        .ok()
        .filter(|_| descriptors.len() <= DESCRIPTORS)
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "too many descriptors"))?;
    let mut bytes = Vec::with_capacity(message.len() + HEADER);
    bytes.extend_from_slice(&length.to_le_bytes());
    bytes.push(count);
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
                return Ok(Some(message));
            }
            if !self.read_more(socket)? {
                return Ok(None);
            }
        }
    }

    fn take_message(&mut self) -> io::Result<Option<(Vec<u8>, Vec<OwnedFd>)>> {
        let Some((length, count)) = self.header() else {
            return Ok(None);
        };
        let malformed = |reason| Err(io::Error::new(io::ErrorKind::InvalidData, reason));
        if length > LARGEST {
            return malformed("a message is too large");
        }
        if !self.has_message() {
            return Ok(None);
        }
        // They travel with the first byte, so they are here.
        if count > self.descriptors.len() {
            return malformed("a message has lost its descriptors");
        }
        let message = self.bytes[HEADER..HEADER + length].to_vec();
        self.bytes.drain(..HEADER + length);
        Ok(Some((message, self.descriptors.drain(..count).collect())))
    }

    /// The length of the next message and how many descriptors it has, once that is there.
    fn header(&self) -> Option<(usize, usize)> {
        let (header, _) = self.bytes.split_first_chunk::<HEADER>()?;
        let [a, b, c, d, count] = *header;
        Some((u32::from_le_bytes([a, b, c, d]) as usize, count.into()))
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
        self.header()
            .is_some_and(|(length, _)| self.bytes.len() - HEADER >= length)
    }
}

#[cfg(test)]
mod tests {
    use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};

    use super::*;

    #[test]
    fn descriptors_stay_with_their_message_when_several_are_read_at_once() {
        let (ours, theirs) = socketpair(
            AddressFamily::UNIX,
            SocketType::STREAM,
            SocketFlags::CLOEXEC,
            None,
        )
        .unwrap();
        let file = std::fs::File::open("/dev/null").unwrap();
        let three = [file.as_fd(); 3];
        send(&ours, b"kill", &[]).unwrap();
        send(&ours, b"start", &three).unwrap();
        send(&ours, b"", &[]).unwrap();
        send(&ours, b"start again", &three).unwrap();
        let mut receiver = Receiver::default();
        for (expected, count) in [
            (&b"kill"[..], 0),
            (b"start", 3),
            (b"", 0),
            (b"start again", 3),
        ] {
            let (message, descriptors) = receiver.receive(&theirs).unwrap().unwrap();
            assert_eq!((&message[..], descriptors.len()), (expected, count));
        }
        drop(ours);
        assert!(receiver.receive(&theirs).unwrap().is_none());
    }
}
