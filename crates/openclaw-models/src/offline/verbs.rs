//! Verbs, and what they say of whoever uses them.

use std::collections::HashSet;
use std::sync::LazyLock;

use openclaw_ranking::stem;

/// Verbs for having a look, each of which can stand for any other.
const LOOKING: &str = "calculate cat check compute describe determine display download evaluate explain fetch \
    find get give inspect know list look open print query read retrieve return search see \
    show tell view visit";
/// Verbs for changing something: a tool that does such a thing has to be asked for clearly.
const CHANGING: &str = "append apply approve archive assign buy cancel change clear close commit create delegate \
    delete deploy destroy disable drop edit email enable erase exec execute format grant \
    insert install invite kill mail merge modify move order overwrite patch pay post publish \
    purge push put reboot release remove rename replace reset restart revoke save send \
    shutdown stop store submit terminate transfer truncate uninstall unlink update upload \
    upsert wipe write";
/// Verbs that are only said of what is meant to be done: a tool that does not do it is not meant.
const DEMANDING: &str = "delete destroy drop erase execute install kill move overwrite purge remove rename send \
    terminate truncate uninstall unlink upload wipe write";
/// Other verbs that names of tools begin with.
const DOING: &str = "add analyze ask compare compress convert copy count decode divide echo encode extract \
    flip launch multiply repeat reverse roll run say simulate start subtract sum summarize \
    toggle translate trigger validate";
/// Verbs that change something only if they are done to something: `add` adds, `add_user` changes.
const CHANGING_AN_OBJECT: &str = "add set";
/// What a text is called by whoever takes any.
const ANY_TEXT: &str = "content input message string text value";

type Stems = LazyLock<HashSet<String>>;

fn stems(words: &str) -> HashSet<String> {
    let words = words.split_whitespace();
    words.map(|word| stem(word).into_owned()).collect()
}

/// Whether a verb is one for having a look.
pub(super) fn is_looking(stem: &str) -> bool {
    static STEMS: Stems = LazyLock::new(|| stems(LOOKING));
    STEMS.contains(stem)
}

/// Whether a verb is one for changing something.
pub(super) fn is_changing(stem: &str) -> bool {
    static STEMS: Stems = LazyLock::new(|| stems(CHANGING));
    STEMS.contains(stem)
}

/// Whether a verb asks for what no other verb can stand for.
pub(super) fn is_demanding(stem: &str) -> bool {
    static STEMS: Stems = LazyLock::new(|| stems(DEMANDING));
    STEMS.contains(stem)
}

/// Whether a verb is one of the others that names of tools begin with.
pub(super) fn is_doing(stem: &str) -> bool {
    static STEMS: Stems = LazyLock::new(|| stems(DOING));
    STEMS.contains(stem)
}

/// Whether a verb is one for changing something if it is done to something.
pub(super) fn is_changing_an_object(stem: &str) -> bool {
    static STEMS: Stems = LazyLock::new(|| stems(CHANGING_AN_OBJECT));
    STEMS.contains(stem)
}

/// Whether a noun is said of any text.
pub(super) fn is_any_text(stem: &str) -> bool {
    static STEMS: Stems = LazyLock::new(|| stems(ANY_TEXT));
    STEMS.contains(stem)
}
