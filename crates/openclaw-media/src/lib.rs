//! Puts files that come with messages into words, for models that can't look at them or listen.
//!
//! | module | owns | never contains |
//! |---|---|---|
//! | `reader` | what others ask, and who answers in the configuration that is in force | how it is done |
//! | `document` | the text of a PDF, read in a process of its own | anything else that is read |
//! | `transcription` | what is spoken in a recording, from a service or a program | documents |
//! | `program` | running a program to its end, within bounds | which program |
//! | `seats` | how many of them run at once | who they are for |

mod document;
mod program;
mod reader;
mod seats;
mod transcription;

pub use document::{DocumentError, DocumentProgram, DocumentText, run_if_called};
pub use reader::{MediaReader, MediaSetup};
pub use transcription::{Recording, TranscriptionError, find_transcriber};
