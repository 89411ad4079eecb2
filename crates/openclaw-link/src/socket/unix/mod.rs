//! A Unix domain socket, with descriptors beside its bytes.

mod place;

use std::fs::{self, File, Permissions};
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::os::unix::net::UnixListener as StdListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rustix::io::retry_on_intr;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use tokio::io::Interest;
use tokio::net::{UnixListener, UnixStream};
use tokio::time::sleep;

use self::place::Place;
use super::{FileSet, Received, SOCKET_NAME};
use crate::requests::MOST_FILES;

/// How many descriptors the kernel lets travel together.
const MOST_DESCRIPTORS: usize = 253;
/// How many callers may wait to be accepted.
const BACKLOG: i32 = 1_024;
/// How long a caller waits before he tries again, if so many wait already.
const AGAIN: Duration = Duration::from_millis(5);

#[cfg(target_os = "linux")]
const RECEIVING: RecvFlags = RecvFlags::CMSG_CLOEXEC;
#[cfg(not(target_os = "linux"))]
const RECEIVING: RecvFlags = RecvFlags::empty();
#[cfg(target_os = "linux")]
const SENDING: SendFlags = SendFlags::NOSIGNAL;
#[cfg(not(target_os = "linux"))]
const SENDING: SendFlags = SendFlags::empty();

/// A socket that listens in a state directory.
pub(crate) struct Socket {
    listener: UnixListener,
    path: PathBuf,
    /// Which file it is.
    identity: (u64, u64),
}

impl Socket {
    /// Listens. The file appears under its name when nobody else can open it any longer.
    pub(crate) fn bind(state: &Path) -> io::Result<Self> {
        // In a directory that is ours alone, so that it does not matter what the umask is.
        let private = state.join("gateway.sock.new");
        clear(&private)?;
        fs::DirBuilder::new().mode(0o700).create(&private)?;
        let bound = Self::bind_in(&private, state.join(SOCKET_NAME));
        let cleared = clear(&private);
        let bound = bound?;
        cleared?;
        Ok(bound)
    }

    fn bind_in(private: &Path, path: PathBuf) -> io::Result<Self> {
        fs::set_permissions(private, Permissions::from_mode(0o700))?;
        let place = Place::of(private, "socket")?;
        let listener = StdListener::bind(place.path())?;
        rustix::net::listen(&listener, BACKLOG)?;
        listener.set_nonblocking(true)?;
        let new = private.join("socket");
        fs::set_permissions(&new, Permissions::from_mode(0o600))?;
        let identity = identity(&new)?;
        let listener = UnixListener::from_std(listener)?;
        fs::rename(&new, &path)?;
        Ok(Self {
            listener,
            path,
            identity,
        })
    }

    /// Where it listens, and which file that is.
    pub(crate) fn spot(&self) -> Spot {
        Spot {
            path: self.path.clone(),
            identity: self.identity,
        }
    }

    /// Waits for the next caller that may call.
    pub(crate) async fn accept(&self) -> io::Result<Stream> {
        loop {
            let (stream, _) = self.listener.accept().await?;
            match check(&stream) {
                Ok(()) => return Ok(Stream(stream)),
                Err(error) => tracing::warn!(%error, "a caller is turned away"),
            }
        }
    }
}

/// The file by which callers find a socket.
#[derive(Clone, Debug)]
pub(crate) struct Spot {
    path: PathBuf,
    identity: (u64, u64),
}

impl Spot {
    /// Whether the file is still there.
    fn is_there(&self) -> bool {
        identity(&self.path).is_ok_and(|found| found == self.identity)
    }

    /// Listens once more in the same directory.
    pub(crate) fn listen(&self) -> io::Result<Socket> {
        let state = self.path.parent().unwrap_or(Path::new("."));
        Socket::bind(state)
    }

    /// Whether there is no file at all.
    pub(crate) fn is_empty(&self) -> bool {
        let found = identity(&self.path);
        found.is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        // Another gateway may have put its own there.
        if self.spot().is_there()
            && let Err(error) = fs::remove_file(&self.path)
        {
            tracing::warn!(%error, "the socket of the gateway can't be removed");
        }
    }
}

/// Removes what a gateway left behind that was killed while it began to listen.
fn clear(private: &Path) -> io::Result<()> {
    for removed in [
        fs::remove_file(private.join("socket")),
        fs::remove_dir(private),
    ] {
        match removed {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

fn identity(path: &Path) -> io::Result<(u64, u64)> {
    let metadata = fs::symlink_metadata(path)?;
    Ok((metadata.dev(), metadata.ino()))
}

/// Whether the other side is the same user as we are, or one who may do everything anyway.
fn check(stream: &UnixStream) -> io::Result<()> {
    let user = stream.peer_cred()?.uid();
    if is_welcome(user, rustix::process::geteuid().as_raw()) {
        Ok(())
    } else {
        let message = format!("the other side of the socket is the user {user}");
        Err(io::Error::new(io::ErrorKind::PermissionDenied, message))
    }
}

fn is_welcome(user: u32, ours: u32) -> bool {
    user == ours || user == 0
}

/// A connection.
pub(crate) struct Stream(UnixStream);

impl Stream {
    /// Calls the gateway of a state directory.
    pub(crate) async fn connect(state: &Path) -> io::Result<Self> {
        let place = Place::of(state, SOCKET_NAME)?;
        loop {
            match UnixStream::connect(place.path()).await {
                Ok(stream) => {
                    check(&stream)?;
                    return Ok(Self(stream));
                }
                // Too many wait to be accepted. The kernel has no way to wait for that without a thread;
                // whoever calls has a deadline.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => sleep(AGAIN).await,
                Err(error) => return Err(error),
            }
        }
    }

    /// Waits until something arrives, and takes it. Nothing is lost when this is dropped.
    pub(super) async fn receive(&self, received: &mut Received) -> io::Result<()> {
        let taken = self.0.async_io(Interest::READABLE, || {
            let mut set = FileSet::default();
            let taken = take(&self.0, received.frames.room(), &mut set);
            received.frames.filled(*taken.as_ref().unwrap_or(&0));
            if !set.files.is_empty() || set.is_cut {
                received.files.push_back(set);
            }
            taken
        });
        match taken.await {
            Ok(0) => received.is_over = true,
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => received.is_over = true,
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Writes as much as fits, once something does; descriptors go with the first byte.
    pub(super) async fn send(&self, bytes: &[u8], files: &[Arc<File>]) -> io::Result<usize> {
        let sending = self
            .0
            .async_io(Interest::WRITABLE, || put(&self.0, bytes, files));
        sending.await
    }
}

fn take(stream: &UnixStream, room: &mut [u8], set: &mut FileSet) -> io::Result<usize> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_DESCRIPTORS))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut pieces = [IoSliceMut::new(room)];
    let received = retry_on_intr(|| recvmsg(stream, &mut pieces, &mut control, RECEIVING))?;
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(descriptors) = message {
            let files = descriptors.map(|descriptor| Arc::new(closing_on_exec(descriptor)));
            set.files.extend(files);
        }
    }
    set.is_cut = received.flags.contains(ReturnFlags::CTRUNC);
    Ok(received.bytes)
}

#[cfg(target_os = "linux")]
fn closing_on_exec(descriptor: OwnedFd) -> File {
    File::from(descriptor)
}

#[cfg(not(target_os = "linux"))]
fn closing_on_exec(descriptor: OwnedFd) -> File {
    let set = rustix::io::fcntl_setfd(&descriptor, rustix::io::FdFlags::CLOEXEC);
    if let Err(error) = set {
        tracing::warn!(%error, "a descriptor may be left to programs that are started");
    }
    File::from(descriptor)
}

fn put(stream: &UnixStream, bytes: &[u8], files: &[Arc<File>]) -> io::Result<usize> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_FILES))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    let descriptors: Vec<BorrowedFd<'_>> = files.iter().map(AsFd::as_fd).collect();
    if !descriptors.is_empty() && !control.push(SendAncillaryMessage::ScmRights(&descriptors)) {
        let message = "too many files travel with a message";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    }
    let sent = retry_on_intr(|| sendmsg(stream, &[IoSlice::new(bytes)], &mut control, SENDING))?;
    Ok(sent)
}

#[cfg(test)]
mod tests {
    use super::is_welcome;

    #[test]
    fn only_the_same_user_and_root_may_call() {
        assert!(is_welcome(1000, 1000));
        assert!(is_welcome(0, 1000));
        assert!(!is_welcome(1001, 1000));
        assert!(!is_welcome(1000, 0));
    }
}
