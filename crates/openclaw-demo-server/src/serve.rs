//! Lines, read and written within limits.

use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, BufRead, Write};

use serde_json::Value;

use crate::dispatch::Server;
use crate::message::{INVALID_REQUEST, PARSE_ERROR, RpcError, reply};

/// How long a line may be, in bytes.
const LONGEST_LINE: usize = 1024 * 1024;

/// Answers requests, one on each line, until the input ends.
///
/// An error is one of reading or writing: whatever a line says, it is answered.
pub fn serve(input: impl BufRead, output: impl Write) -> io::Result<()> {
    // The standard library keys its hashes with randomness of the system; dice need no better one.
    let keys = RandomState::new();
    let mut rolls = 0_u64;
    serve_with(input, output, move || {
        rolls = rolls.wrapping_add(1);
        keys.hash_one(rolls)
    })
}

/// The same with randomness of another kind, for tests.
pub fn serve_with(
    mut input: impl BufRead,
    mut output: impl Write,
    random: impl FnMut() -> u64,
) -> io::Result<()> {
    let mut server = Server::new(random);
    let mut line = Vec::new();
    loop {
        let answer = match read_line(&mut input, &mut line)? {
            Line::End => return Ok(()),
            Line::TooLong => {
                let text = format!("a line must not have more than {LONGEST_LINE} bytes");
                let error = RpcError::new(INVALID_REQUEST, text);
                Some(reply(&Value::Null, Err(error)))
            }
            Line::Whole => match line.trim_ascii() {
                [] => None,
                line => match serde_json::from_slice(line) {
                    Ok(message) => server.answer(message),
                    Err(error) => {
                        let error = RpcError::new(PARSE_ERROR, format!("not JSON: {error}"));
                        Some(reply(&Value::Null, Err(error)))
                    }
                },
            },
        };
        if let Some(answer) = answer {
            let mut bytes = answer.to_string().into_bytes();
            bytes.push(b'\n');
            output.write_all(&bytes)?;
            output.flush()?;
        }
    }
}

enum Line {
    /// It is there.
    Whole,
    /// It was too long, and was passed over.
    TooLong,
    /// There are no more.
    End,
}

/// Reads a line of bounded length. What stands behind the last end of a line is one, too.
fn read_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<Line> {
    line.clear();
    let mut is_too_long = false;
    let mut has_begun = false;
    loop {
        let available = match input.fill_buf() {
            Ok(available) => available,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let end = available.iter().position(|byte| *byte == b'\n');
        let is_over = end.is_some() || available.is_empty();
        has_begun |= !available.is_empty();
        let part = available
            .get(..end.unwrap_or(available.len()))
            .unwrap_or_default();
        is_too_long |= line.len() + part.len() > LONGEST_LINE;
        if !is_too_long {
            line.extend_from_slice(part);
        }
        let used = part.len() + usize::from(end.is_some());
        input.consume(used);
        if is_over {
            return Ok(match (has_begun, is_too_long) {
                (false, _) => Line::End,
                (true, true) => Line::TooLong,
                (true, false) => Line::Whole,
            });
        }
    }
}
