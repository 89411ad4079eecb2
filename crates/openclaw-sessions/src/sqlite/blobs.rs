//! The bytes of media in the database, written and read piece by piece: never all of them are in memory
//! a second time.

use std::io::{self, Read as _, Write as _};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use openclaw_content::Base64;
use openclaw_conversation::BlobId;
use rusqlite::blob::{Blob, ZeroBlob};
use rusqlite::{MAIN_DB, OptionalExtension as _, Transaction, params};

use super::failure::Failure;

/// How much is read at once; a multiple of three, so that base64 goes on where it ended.
const PIECE: usize = 48 * 1024;

/// Keeps what a text in base64 decodes to, unless it is kept already.
pub(super) fn keep(of: &Transaction<'_>, id: &BlobId, data: &str) -> Result<(), Failure> {
    if row(of, id)?.is_some() {
        return Ok(());
    }
    let query = "INSERT INTO blobs (hash, bytes) VALUES (?1, ?2)";
    of.execute(query, params![&*id.0, ZeroBlob(decoded_length(data))])?;
    let mut blob = open(of, of.last_insert_rowid(), false)?;
    let mut written = Ok(());
    let checked = Base64::check_pouring(data, |bytes| {
        if written.is_ok() {
            written = blob.write_all(bytes);
        }
    });
    written.map_err(failure)?;
    // It was checked before, when it got its name.
    checked.map_err(|_| rusqlite::Error::BlobSizeError)?;
    blob.close()?;
    Ok(())
}

/// How many bytes a text in base64 decodes to.
fn decoded_length(data: &str) -> u64 {
    let padding = data.bytes().rev().take_while(|byte| *byte == b'=').count();
    u64::try_from((data.len() / 4 * 3).saturating_sub(padding)).unwrap_or(u64::MAX)
}

/// The bytes of this name in base64, if they are there.
pub(super) fn fetch(of: &Transaction<'_>, id: &BlobId) -> Result<Option<String>, Failure> {
    let Some(row) = row(of, id)? else {
        return Ok(None);
    };
    let mut blob = open(of, row, true)?;
    let mut text = String::with_capacity(blob.len().div_ceil(3) * 4);
    let mut piece = vec![0; PIECE];
    // Each time it is a whole piece, but for the last one.
    while let length @ 1.. = blob.read(&mut piece).map_err(failure)? {
        STANDARD.encode_string(piece.get(..length).unwrap_or_default(), &mut text);
    }
    Ok(Some(text))
}

fn row(of: &Transaction<'_>, id: &BlobId) -> Result<Option<i64>, Failure> {
    let query = "SELECT id FROM blobs WHERE hash = ?1";
    Ok(of.query_row(query, [&*id.0], |row| row.get(0)).optional()?)
}

fn open<'t>(of: &'t Transaction<'_>, row: i64, read_only: bool) -> Result<Blob<'t>, Failure> {
    Ok(of.blob_open(MAIN_DB, c"blobs", c"bytes", row, read_only)?)
}

/// What SQLite said, which comes wrapped.
fn failure(error: io::Error) -> Failure {
    let error = error.downcast::<rusqlite::Error>();
    Failure::Sqlite(error.unwrap_or(rusqlite::Error::BlobSizeError))
}
