//! What a tool does, and whether that is what a message asks for.

use std::collections::HashSet;

use openclaw_ranking::{is_filler, is_related, stem, words};

use super::asked::Asked;
use super::fill::Filled;
use super::naming::Naming;
use super::rest::Known;
use super::verbs::{
    is_any_text, is_changing, is_changing_an_object, is_demanding, is_doing, is_looking,
};

/// With which descriptions warn.
const WARNINGS: [&str; 5] = [
    "destructive",
    "irreversibl",
    "permanently",
    "be undone",
    "overwrite",
];
/// Words for more than one thing that nobody counted.
const ALL_OF_IT: [&str; 5] = ["all", "each", "every", "everything", "entire"];
/// How many words of a description are looked at for what is done.
const OPENING: usize = 24;

/// What a tool does, as far as its name and its description tell.
#[derive(Debug)]
pub(super) struct Deed {
    /// What it does.
    verb: Option<String>,
    /// To what.
    objects: Vec<String>,
    /// What its description says that it does.
    told: Vec<String>,
    /// Whether it changes something.
    pub(super) is_changing: bool,
}

impl Deed {
    pub(super) fn of(naming: &Naming<'_>) -> Self {
        let name: Vec<String> = words(naming.own)
            .iter()
            .map(|word| stem(&word.text).into_owned())
            .collect();
        let told = told(naming.description);
        let lower = naming.description.to_ascii_lowercase();
        let changing =
            |stem: &String| is_changing(stem) || (name.len() > 1 && is_changing_an_object(stem));
        let looks = name.first().is_some_and(|first| is_looking(first));
        let at = name.iter().enumerate().position(|(at, word)| {
            let before = at.checked_sub(1).and_then(|before| name.get(before));
            let is_joined = before.is_some_and(|before| matches!(before.as_str(), "and" | "or"));
            // In `read_post` it is a noun, in `read_and_delete` it is none.
            changing(word) && (!looks || is_joined)
        });
        let changes = at.is_some()
            || told.first().is_some_and(|first| is_changing(first))
            || WARNINGS.iter().any(|warning| lower.contains(warning));
        let at = at.or_else(|| {
            let is_verb = |first: &String| is_looking(first) || is_doing(first);
            name.first().filter(|first| is_verb(first)).map(|_| 0)
        });
        let objects = name
            .iter()
            .enumerate()
            .filter(|(place, word)| Some(*place) != at && !is_filler(word) && word.len() > 1);
        Self {
            objects: objects.map(|(_, word)| word.clone()).collect(),
            verb: at.and_then(|at| name.get(at).cloned()),
            told,
            is_changing: changes,
        }
    }

    /// Whether what a message says is to be done is what this does.
    pub(super) fn is_asked(&self, asked: &Asked, known: &Known) -> bool {
        let speaks = |verb: &str| is_among(verb, &known.name) || is_among(verb, &known.purpose);
        let mut demanded = asked.stems.iter().filter(|it| is_demanding(it));
        if !demanded.all(|verb| {
            if self.is_changing {
                self.does(verb)
            } else {
                speaks(verb)
            }
        }) {
            return false;
        }
        match &asked.verb {
            Some(verb) if self.is_changing => self.does(verb),
            None if self.is_changing => asked.stems.iter().any(|verb| self.does(verb)),
            Some(verb) => {
                let looks = self.verb.as_deref().is_none_or(is_looking);
                speaks(verb) || (is_looking(verb) && looks)
            }
            None => true,
        }
    }

    /// Whether a verb is the one of this, or stands for it.
    fn does(&self, verb: &str) -> bool {
        let is_same = |own: &String| own == verb || is_related(verb, own);
        self.verb.iter().any(is_same) || (is_changing(verb) && self.told.iter().any(is_same))
    }

    /// Whether a message that asks for this says to what it is to be done.
    pub(super) fn is_clear(&self, asked: &Asked, filled: &Filled, known: &Known) -> bool {
        let is_said = |object: &String| {
            asked
                .stems
                .iter()
                .any(|word| word == object || is_related(word, object))
        };
        let says_object = self.objects.iter().any(is_said);
        if self.is_changing {
            let mut words = asked.words.iter();
            let is_counted = words.all(|word| !ALL_OF_IT.contains(&word.text.as_str()));
            let only_verb = asked.stems.iter().all(|word| self.does(word));
            return is_counted && (says_object || (only_verb && filled.by_looks > 0));
        }
        if filled.took_rest && asked.verb.is_none() {
            // What is left of a sentence is only meant for this if the sentence is about it.
            return says_object;
        }
        let is_any = |object: &String| is_any_text(object);
        let of_purpose = || {
            let told = asked
                .stems
                .iter()
                .filter(|word| Some(*word) != asked.verb.as_ref());
            let mut told = told.filter(|word| known.purpose.contains(*word));
            told.next().is_some()
        };
        says_object
            || filled.by_looks > 0
            // What is done to nothing is done to what the message states, if that is said at all.
            || (self.objects.iter().all(is_any) && (filled.used > 0 || asked.stems.len() > 1))
            || (filled.used > 0 && !filled.took_rest && of_purpose())
    }

    /// Where a message speaks first of what a tool is known by.
    pub(super) fn spoken_of(asked: &Asked, known: &Known) -> usize {
        let mut words = asked.words.iter();
        let first = words.find(|word| {
            let stem = stem(&word.text);
            asked.verb.as_deref() == Some(&stem) || is_among(&stem, &known.name)
        });
        first.map_or(asked.text.len(), |word| word.start)
    }

    /// Whether something before a place asks for what this does not do.
    pub(super) fn is_other_asked(&self, asked: &Asked, before: usize) -> bool {
        let words = asked.words.iter().take_while(|word| word.end <= before);
        let mut demanded = words
            .map(|word| stem(&word.text))
            .filter(|stem| is_demanding(stem));
        demanded.any(|verb| !self.does(&verb))
    }
}

/// Whether a term, or one that stands for it, is among others.
fn is_among(term: &str, others: &HashSet<String>) -> bool {
    others.contains(term) || others.iter().any(|other| is_related(term, other))
}

/// What a description says that is done: `Create a file, or overwrite one` says two things.
fn told(description: &str) -> Vec<String> {
    let end = description.floor_char_boundary(OPENING * 16);
    let opening = words(description.get(..end).unwrap_or_default());
    let mut told = Vec::new();
    let mut is_next = true;
    for word in opening.iter().take(OPENING) {
        let joins = matches!(word.text.as_str(), "or" | "and");
        if is_next && !joins {
            told.push(stem(&word.text).into_owned());
        }
        is_next = joins;
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deed(own: &'static str, description: &'static str) -> Deed {
        Deed::of(&Naming {
            server: "",
            own,
            description,
        })
    }

    #[test]
    fn what_changes_something_is_told_by_name_or_description() {
        for (own, description) in [
            ("delete_post", ""),
            ("bulkRemove", ""),
            ("find_and_replace", ""),
            ("add_user", ""),
            ("cleanup", "Deletes what is old"),
            ("format_disk", ""),
            ("tidy", "Tidies up. This cannot be undone."),
        ] {
            assert!(deed(own, description).is_changing, "{own}");
        }
        for (own, description) in [
            ("add", "Adds two numbers"),
            ("read_post", "Reads a post"),
            ("list_deployments", ""),
            ("echo", "Gives the message back"),
        ] {
            assert!(!deed(own, description).is_changing, "{own}");
        }
    }

    #[test]
    fn a_verb_is_not_taken_for_an_object() {
        let delete = deed("delete_post", "Deletes a post or a comment");
        assert!(delete.does(&stem("delete")) && delete.does(&stem("remove")));
        assert!(!delete.does("post"));
        let write = deed("write_file", "Create a new file, or overwrite one");
        assert!(
            write.does(&stem("create"))
                && write.does(&stem("overwrite"))
                && write.does(&stem("save"))
        );
    }
}
