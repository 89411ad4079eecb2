//! What may stand on the standard input in place of a word of the command line.

use std::io::{BufRead as _, Read};

use serde_json::{Map, Value as Json};

use crate::failure::Failure;

/// How much is read from the standard input.
const LARGEST: u64 = 64 * 1024 * 1024;

/// How much of one line is read from it.
const LONGEST_LINE: u64 = 64 * 1024;

/// Reads a JSON object; `-` means that it stands on the standard input.
pub(super) fn object(text: &str, what: &str) -> Result<Map<String, Json>, Failure> {
    if text == "-" {
        Ok(openclaw_definitions::object(&standard_input(what)?, what)?)
    } else {
        Ok(openclaw_definitions::object(text, what)?)
    }
}

/// A text, or the first line of the standard input in place of `-`: what must not be seen on a command
/// line.
pub(super) fn text(text: &str) -> Result<String, Failure> {
    if text != "-" {
        return Ok(text.to_owned());
    }
    let mut line = String::new();
    let limited = std::io::stdin().lock().take(LONGEST_LINE);
    match std::io::BufReader::new(limited).read_line(&mut line) {
        Ok(_) => Ok(line),
        Err(error) => {
            let message = format!("cannot read the standard input: {error}");
            Err(Failure::failed("input", message))
        }
    }
}

fn standard_input(what: &str) -> Result<String, Failure> {
    let mut text = String::new();
    let read = std::io::stdin()
        .lock()
        .take(LARGEST + 1)
        .read_to_string(&mut text);
    match read {
        Ok(_) if text.len() as u64 > LARGEST => {
            let message = format!("{what} is larger than the limit of 64 MB");
            Err(Failure::usage("usage", message))
        }
        Ok(_) => Ok(text),
        Err(error) => {
            let message = format!("cannot read {what} from the standard input: {error}");
            Err(Failure::failed("input", message))
        }
    }
}
