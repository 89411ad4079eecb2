//! The token of a state directory, which clients over HTTP bring.

use std::path::{Path, PathBuf};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use openclaw_secrets::Secret;
use openclaw_state::{
    Access, FileLock, LockError, ReadError, StateDirectory, StateDirectoryError, WriteError,
    layout, read_bounded, replace,
};
use ring::rand::{SecureRandom as _, SystemRandom};
use thiserror::Error;

/// How long another process may take to make one.
const PATIENCE: Duration = Duration::from_secs(5);
/// How large the file may be.
const LIMIT: u64 = 4_096;
/// How short a token may be that somebody wrote there.
const SHORTEST: usize = 16;

/// Why there is no token.
#[derive(Debug, Error)]
pub enum TokenError {
    /// The directory can't be used.
    #[error(transparent)]
    Directory(#[from] StateDirectoryError),
    /// Another process is making one and does not end.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The file can't be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The file can't be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// What stands in the file can't be used.
    #[error("{} is no token: {reason}; delete it to get a new one", path.display())]
    Unfit {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// The system has no random numbers.
    #[error("the system gives no random numbers")]
    Random,
}

/// Reads the token of a state directory, and makes one where there is none.
///
/// One that others could read is replaced: they may have read it.
pub fn token(state: &StateDirectory) -> Result<Secret, TokenError> {
    let path = state.file(layout::GATEWAY_TOKEN)?;
    if let Some(token) = kept(&path)? {
        return Ok(token);
    }
    // Two processes that start at once must end up with the same one.
    let _lock = FileLock::acquire(&state.file(layout::GATEWAY_TOKEN_LOCK)?, PATIENCE)?;
    if let Some(token) = kept(&path)? {
        return Ok(token);
    }
    if path.symlink_metadata().is_ok() {
        tracing::warn!(
            path = %path.display(),
            "others could read the token of the gateway, so a new one is made"
        );
    }
    let mut bytes = [0; 32];
    SystemRandom::new()
        .fill(&mut bytes)
        .map_err(|_| TokenError::Random)?;
    let token = Secret::new(URL_SAFE_NO_PAD.encode(bytes));
    let written = replace(&path, token.expose().as_bytes(), Access::Private);
    match written {
        Err(error) if !error.is_replaced() => Err(error.into()),
        _ => Ok(token),
    }
}

/// The token that is there, if nobody else could read it.
fn kept(path: &Path) -> Result<Option<Secret>, TokenError> {
    let bytes = match read_bounded(path, LIMIT) {
        Ok(bytes) => bytes,
        Err(ReadError::Missing(_)) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    if is_readable_by_others(path) {
        return Ok(None);
    }
    let unfit = |reason| TokenError::Unfit {
        path: path.to_owned(),
        reason,
    };
    let text = String::from_utf8(bytes).map_err(|_| unfit("it is not text"))?;
    let token = Secret::new(text.trim());
    if token.len() < SHORTEST {
        return Err(unfit("it is too short"));
    }
    if !token.expose().bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(unfit("it has characters that no header can carry"));
    }
    Ok(Some(token))
}

#[cfg(unix)]
fn is_readable_by_others(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::metadata(path).is_ok_and(|metadata| metadata.permissions().mode() & 0o077 != 0)
}

#[cfg(not(unix))]
fn is_readable_by_others(_path: &Path) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn state() -> (tempfile::TempDir, StateDirectory) {
        let directory = tempfile::tempdir().unwrap();
        let state = StateDirectory::open(directory.path()).unwrap();
        (directory, state)
    }

    #[test]
    fn it_is_made_once_even_by_many_at_a_time() {
        let (directory, state) = state();
        let tokens: Vec<Secret> = std::thread::scope(|scope| {
            let makers: Vec<_> = (0..8)
                .map(|_| scope.spawn(|| token(&state).unwrap()))
                .collect();
            let ended = makers.into_iter().map(|maker| maker.join().unwrap());
            ended.collect()
        });
        assert!(tokens.iter().all(|token| *token == tokens[0]));
        let bytes = URL_SAFE_NO_PAD.decode(tokens[0].expose()).unwrap();
        assert_eq!(bytes.len(), 32);
        assert_eq!(
            fs::read_to_string(directory.path().join("gateway.token")).unwrap(),
            tokens[0].expose()
        );
    }

    #[cfg(unix)]
    #[test]
    fn nobody_else_can_read_it_and_one_that_others_could_read_is_replaced() {
        use std::os::unix::fs::PermissionsExt as _;
        let (directory, state) = state();
        let first = token(&state).unwrap();
        let path = directory.path().join("gateway.token");
        let mode = || fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(), 0o600);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        let second = token(&state).unwrap();
        assert!(first != second);
        assert_eq!(mode(), 0o600);
        assert!(token(&state).unwrap() == second);
    }

    #[cfg(unix)]
    #[test]
    fn what_somebody_wrote_there_is_taken_if_it_is_fit() {
        use std::os::unix::fs::PermissionsExt as _;
        let (directory, state) = state();
        let path = directory.path().join("gateway.token");
        let write = |text: &[u8]| {
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        };
        write(b"a-token-of-my-own-that-is-long\n");
        assert_eq!(
            token(&state).unwrap().expose(),
            "a-token-of-my-own-that-is-long"
        );
        for bad in [
            &b"short"[..],
            b"",
            b"\xff\xfe\xff\xfe\xff\xfe\xff\xfe\xff\xfe\xff\xfe\xff\xfe\xff\xfe",
            b"two words that are long enough",
        ] {
            write(bad);
            let error = token(&state).unwrap_err().to_string();
            assert!(error.contains("delete it"), "{error}");
            assert_eq!(fs::read(&path).unwrap(), bad);
        }
    }
}
