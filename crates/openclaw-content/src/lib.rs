//! Makes what servers send fit for a model and for a terminal, so that nothing of it is taken for
//! anything else.
//!
//! Every text of a server that can reach a model goes through here and leaves as a [`ModelText`],
//! which only this crate can make. There is no switch that turns it off.
//!
//! ```text
//! cap → strip → detect → neutralise → frame
//! ```
//!
//! | module | owns | never contains |
//! |---|---|---|
//! | `model_text` | the type that a model may read | how a text got there |
//! | `frame` | the frame, its identifier, what is shown of a long text | what a text means |
//! | `unframed` | framed text without its frames, or frame by frame | who may read it so |
//! | `definition` | descriptions and other texts of a definition | results |
//! | `note` | our own words: notes, failures, the security notice | foreign text other than names |
//! | `kept` | text for models that was kept, examined when it is read again | where it is kept |
//! | `origin` | the names in our own lines, cleaned | lookups by name |
//! | `strip` | what is not shown: controls, escape sequences, invisible characters | what is shown |
//! | `neutralise` | forged markers and control tokens, through every look-alike | patterns of language |
//! | `detect` | the named patterns of injection | what is done about them |
//! | `characters` | what each character is or looks like | texts |
//! | `shown` | text for people, in one line or many | text for models |
//! | `media` | types by magic bytes, base64 | decoding of images |

mod characters;
mod definition;
mod detect;
mod frame;
mod kept;
mod media;
mod model_text;
mod neutralise;
mod note;
mod origin;
mod shown;
mod strip;
mod unframed;

pub use definition::{
    DESCRIPTION_BYTES, Defined, TITLE_BYTES, definition_text, description, title,
};
pub use detect::{Detections, Pattern};
pub use frame::{Cut, DEFAULT_RESULT_BYTES, Excerpt, Framed, Framer};
pub use media::{Agreement, Base64, Base64Decoder, Base64Error, Media, MediaKind};
pub use model_text::ModelText;
pub use note::{
    binary_note, clean_name, failure, note, recollection, security_notice, workspace_text,
};
pub use origin::Origin;
pub use shown::{shown_line, shown_text};
pub use unframed::{frame_by_frame, unframed};
