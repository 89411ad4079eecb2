//! What engines answer, as text for people: the same wherever it is asked.
//!
//! Everything that a server said, names included, passes `openclaw_content` on its way: a server
//! must not be able to move the cursor or to hide what it is called.
//!
//! | module | owns | never contains |
//! |---|---|---|
//! | `page` | what text is laid out on, and pieces of lines | where it is written |
//! | `servers`, `details` | servers, all of them or one | asking |
//! | `tools`, `content` | tools, and results of calls | frames |
//! | `resources`, `prompts` | what else servers offer | |
//! | `login`, `qr`, `expiry` | logins: when they end, and codes for cameras | tokens |
//! | `added`, `stored` | servers that were written, and their credentials in the keyring | values |
//! | `reply`, `sessions` | what agents said | |
//! | `skills` | what agents were taught | |
//! | `overview` | everything at one glance | |

mod added;
mod content;
mod details;
mod expiry;
mod login;
mod overview;
mod page;
mod prompts;
mod qr;
mod reply;
mod resources;
mod servers;
mod sessions;
mod skills;
mod stored;
mod tools;

pub use added::added;
pub use content::{blob_line, block, call, framed};
pub use details::details;
pub use login::{logged_out, login};
pub use overview::overview;
pub use page::{LINE, Page, Speech, Tone, count, cut, name, padded, size, word};
pub use prompts::{prompt, prompts};
pub use qr::code as qr_code;
pub use reply::media_line;
pub use resources::{read, resources};
pub use servers::{servers, state_words, status_words};
pub use sessions::{session_key, session_word, sessions, transcript};
pub use skills::skills;
pub use stored::{credential, forgotten, stored};
pub use tools::{approval, tools};
