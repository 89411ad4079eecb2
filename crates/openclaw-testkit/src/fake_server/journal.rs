//! Tells a file what is received and what happens, at once and line by line.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::sync::Mutex;

use serde_json::{Value, json};

use super::lock;

/// The journal of a run; without a file it forgets everything.
#[derive(Debug)]
pub(crate) struct Journal(Option<Mutex<File>>);

impl Journal {
    pub(crate) fn open(path: Option<&Path>) -> io::Result<Self> {
        // The test that wanted the journal may be over: nobody will read it.
        let path = path.filter(|path| {
            path.parent()
                .is_none_or(|parent| parent.as_os_str().is_empty() || parent.is_dir())
        });
        let file = match path {
            Some(path) => Some(Mutex::new(
                OpenOptions::new().create(true).append(true).open(path)?,
            )),
            None => None,
        };
        Ok(Self(file))
    }

    /// Writes down what happened; `details` is an object.
    pub(crate) fn record(&self, event: &str, details: Value) {
        let Some(file) = &self.0 else { return };
        let mut line = json!({"event": event});
        if let (Some(entry), Value::Object(details)) = (line.as_object_mut(), details) {
            entry.extend(details);
        }
        let mut line = line.to_string();
        line.push('\n');
        // A test whose journal can't be written finds it empty.
        let _ = lock(file).write_all(line.as_bytes());
    }

    /// Writes down that something happened.
    pub(crate) fn note(&self, event: &str) {
        self.record(event, Value::Null);
    }
}
