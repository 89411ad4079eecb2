//! Logs in to servers that ask who we are (OAuth 2.1), and keeps what was granted: found out how,
//! asked for, stored under a seal, renewed before it expires, given to nobody else.
//!
//! | module | owns | never contains |
//! |---|---|---|
//! | `keeper` | the token for the requests to one server, at hand and renewed | logins by people |
//! | `login` | a login by a person, begun, waited for and ended in whatever process | requests to the server |
//! | `resource` | what a server's configuration says about logging in | what the server says |
//! | `client` | who we are to an authorization server | how it was found |
//! | `error` | why there is no token, by what can be done about it | what an authorization server said, uncleaned |
//! | `kept` | what is kept about logins: the file, its seal, its key, its lock | requests |
//! | `confidant` | whom the secret of a configured client is shown to | |
//! | `freshness` | how long a token is good for | renewing it |
//! | `listener` | the browser that comes back: sockets, requests, the page that it shows | what is made of its answer |
//! | `addresses` | which addresses authorization servers may have | names |
//! | `asking` | one question and its answer: trust, limits, deadlines, refusals in words | what is asked |
//! | `challenge` | what a server says where it wants to know who we are | what is done about it |
//! | `discovery` | who grants tokens for a server, and how; whose documents are believed | logins |
//! | `scopes` | what is asked for | who grants it |
//! | `registration` | which client we are, and why; the document about us | proofs |
//! | `authentication` | how a client proves its identity, and what it signs | where the proof goes |
//! | `authorization` | beginning a login: PKCE, state, the address for the browser | the browser |
//! | `callback` | what comes back from a login, and whether it is ours | listening for it |
//! | `token` | getting tokens, and what refusals mean | keeping them |
//! | `revocation` | giving tokens back | forgetting them |
//! | `random` | what nobody can guess | what it is for |
//! | `clock` | what time it is | |

mod addresses;
mod asking;
mod authentication;
mod authorization;
mod callback;
mod challenge;
mod client;
mod clock;
mod confidant;
mod discovery;
mod error;
mod freshness;
mod keeper;
mod kept;
mod listener;
mod login;
mod random;
mod registration;
mod resource;
mod revocation;
mod scopes;
#[cfg(test)]
mod testing;
mod token;

pub use challenge::Challenge;
pub use client::{Authentication, Client, Registration};
pub use clock::Clock;
pub use error::{OAuthError, Remedy};
pub use keeper::{AccessToken, Keeper, LoginState, Refusal};
pub use kept::{LoginStore, Remark};
pub use login::{
    Arrival, Begun, LOGIN_PATIENCE, LoggedIn, LoggedOut, LoginDesk, Revoked, RunningLogin,
};
pub use openclaw_http::is_this_machine;
pub use registration::metadata_document;
pub use resource::{
    ConfiguredKeys, Grant, KeysSource, OwnCertificate, PendingKeys, Redirect, Resource,
};
