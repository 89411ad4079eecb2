//! How well a tool fits a message.

use std::cmp::{Ordering, Reverse};

use openclaw_ranking::{Ranked, terms};

use super::asked::Asked;
use super::deeds::Deed;
use super::fill::{Filled, fill};
use super::naming::{Naming, is_in_words, is_qualified};
use super::negation::{Reach, negation};
use super::parameters::Parameter;
use super::rest::Known;
use super::shapes::Kind;
use super::stated::{Span, Statement};
use super::verbs::is_looking;
use crate::tools::ToolSpec;

/// How much of a message a tool has to do with, at least, if the message does not name it.
const LEAST_SHARE: f32 = 0.5;
/// The same if nothing that the message states is of use to it.
const LEAST_SHARE_ALONE: f32 = 0.6;
/// How much a tool counts that calls itself outdated.
const OUTDATED: f32 = 0.7;
/// How much a tool counts whose name speaks of what the message is about.
const APT: f32 = 1.2;
/// With which files end that are no texts.
const MEDIA: [&str; 10] = [
    "gif", "jpeg", "jpg", "mp3", "mp4", "ogg", "png", "svg", "wav", "webp",
];
/// How much of a description says what a tool is for, in bytes.
const PURPOSE: usize = 160;

/// A tool that may be meant.
pub(super) struct Candidate<'a> {
    pub(super) tool: &'a ToolSpec,
    deed: Deed,
    known: Known,
    /// Whether its name speaks of what the message is about: a text, or pictures and sounds.
    is_apt: bool,
    /// Whether the message asks for what it does.
    pub(super) is_asked: bool,
    /// Whether the message says to what that is to be done.
    is_clear: bool,
    /// Whether it asks for that in words that few tools answer to.
    is_distinct: bool,
    pub(super) ranked: Ranked,
    pub(super) parameters: Vec<Parameter<'a>>,
    pub(super) filled: Filled,
}

impl Candidate<'_> {
    pub(super) fn is_complete(&self) -> bool {
        self.filled.missing.is_empty()
    }

    /// Whether a message that does not name it means it.
    pub(super) fn is_meant(&self) -> bool {
        let least = if self.is_complete() && self.filled.used == 0 {
            LEAST_SHARE_ALONE
        } else {
            LEAST_SHARE
        };
        let takes_rest = self.filled.took_rest && self.is_complete() && self.is_clear;
        self.is_asked && (self.ranked.share >= least || takes_rest)
    }

    /// Whether it can be called though the message does not name it.
    pub(super) fn is_sure(&self) -> bool {
        self.is_complete() && self.is_clear && self.filled.unused.is_empty()
    }

    /// Whether it is worth telling that it may be meant.
    pub(super) fn is_worth_telling(&self) -> bool {
        let takes_all = self.filled.unused.is_empty();
        if self.is_complete() {
            !takes_all && !self.deed.is_changing && (self.is_clear || self.is_distinct)
        } else {
            takes_all || !self.deed.is_changing
        }
    }

    fn score(&self) -> f32 {
        let text = self.tool.description.as_str().as_bytes();
        let mut windows = text.windows(b"deprecated".len());
        let is_outdated = windows.any(|window| window.eq_ignore_ascii_case(b"deprecated"));
        let outdated = if is_outdated { OUTDATED } else { 1.0 };
        let apt = if self.is_apt { APT } else { 1.0 };
        self.ranked.score * outdated * apt
    }

    /// The words of the message that say not to call it.
    pub(super) fn negation(&self, asked: &Asked, statement: &Statement<'_>) -> Option<Span> {
        let Some(named) = self.ranked.named else {
            let place = Deed::spoken_of(asked, &self.known);
            let reach = if self.deed.is_changing {
                Reach::Message
            } else {
                Reach::Sentence
            };
            return negation(asked, place, reach);
        };
        let span = Span {
            start: named.start,
            end: named.end,
        };
        let name = statement.at(span);
        let reach = if is_qualified(self.tool, name) {
            // Such a name is not said in passing; but it can be said what is not to be called.
            Reach::Clause
        } else if !self.deed.is_changing {
            Reach::Sentence
        } else if is_in_words(name) {
            Reach::Message
        } else {
            Reach::Following
        };
        negation(asked, named.start, reach)
    }
}

/// Looks at a tool more closely.
pub(super) fn candidate<'a>(
    statement: &Statement<'_>,
    asked: &Asked,
    tool: &'a ToolSpec,
    mut ranked: Ranked,
) -> Candidate<'a> {
    let parameters = Parameter::all(&tool.parameters);
    let naming = Naming::of(tool);
    let purpose = naming.description;
    let end = purpose.floor_char_boundary(PURPOSE);
    let known = Known {
        name: terms(naming.own).into_iter().collect(),
        purpose: terms(purpose.get(..end).unwrap_or_default())
            .into_iter()
            .collect(),
    };
    let deed = Deed::of(&naming);
    ranked.named = ranked
        .named
        .filter(|named| is_meant_as_name(statement, asked, &deed, *named));
    let named = ranked.named.map(|named| Span {
        start: named.start,
        end: named.end,
    });
    let filled = fill(statement, &parameters, named, &known);
    let apt: &[&str] = if is_about_media(statement) {
        &["media", "image", "picture", "audio"]
    } else {
        &["text"]
    };
    Candidate {
        tool,
        is_apt: terms(&apt.join(" "))
            .iter()
            .any(|term| known.name.contains(term)),
        is_asked: deed.is_asked(asked, &known),
        is_clear: deed.is_clear(asked, &filled, &known),
        is_distinct: asked.verb.as_deref().is_some_and(|verb| !is_looking(verb)),
        deed,
        known,
        ranked,
        parameters,
        filled,
    }
}

/// Whether words that are a tool's name are said to name it, and not for what they mean.
fn is_meant_as_name(
    statement: &Statement<'_>,
    asked: &Asked,
    deed: &Deed,
    named: openclaw_ranking::Named,
) -> bool {
    let span = Span {
        start: named.start,
        end: named.end,
    };
    let name = statement.at(span);
    if !is_in_words(name) || asked.is_marked(span) {
        return true;
    }
    let is_single = !name.contains(char::is_whitespace);
    (!is_single || asked.begins_at(named.start)) && !deed.is_other_asked(asked, named.start)
}

/// Whether a message names a file that is no text.
fn is_about_media(statement: &Statement<'_>) -> bool {
    let files = statement
        .values
        .iter()
        .filter(|value| matches!(value.kind, Kind::Path | Kind::File));
    let mut endings = files.filter_map(|value| statement.at(value.inner).rsplit_once('.'));
    endings.any(|(_, ending)| MEDIA.iter().any(|media| media.eq_ignore_ascii_case(ending)))
}

/// Those that lack least, then those that most of the message is of use to, then by words.
pub(super) fn by_use(one: &Candidate<'_>, other: &Candidate<'_>) -> Ordering {
    let use_of = |it: &Candidate<'_>| {
        let filled = &it.filled;
        (filled.missing.len(), Reverse(filled.used), filled.singles)
    };
    let by_use = use_of(one).cmp(&use_of(other));
    by_use.then(other.score().total_cmp(&one.score()))
}
