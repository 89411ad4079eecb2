//! Words that people use for one another when they ask for something.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::terms::stem;

/// Each line is of words that can stand for one another.
const GROUPS: [&[&str]; 32] = [
    &["add", "sum", "plus", "total"],
    &["subtract", "minus", "difference"],
    &["multiply", "product"],
    &["calculate", "compute", "evaluate"],
    &["count", "number", "amount"],
    &["echo", "repeat", "say"],
    &["read", "open", "cat"],
    &["show", "list", "display", "view", "print"],
    &["search", "find", "look", "query", "lookup"],
    &["fetch", "download", "retrieve", "visit", "open"],
    &["url", "website", "webpage", "link", "site"],
    &["directory", "folder"],
    &["file", "document"],
    &["write", "save", "store"],
    &["create", "make", "new"],
    &["change", "edit", "update", "modify"],
    &["delete", "remove", "erase"],
    &["move", "rename"],
    &["copy", "duplicate"],
    &["image", "picture", "photo", "screenshot"],
    &["time", "clock"],
    &["timezone", "zone"],
    &["convert", "translate"],
    &["send", "post", "mail"],
    &["compress", "gzip", "zip"],
    &["environment", "env"],
    &["info", "information", "metadata", "details"],
    &["flip", "reverse", "backwards", "invert"],
    &["run", "execute", "start", "launch", "trigger"],
    &["first", "head"],
    &["last", "tail"],
    &["die", "dice"],
];

/// The terms that stand for the same as this one, itself not among them.
pub(crate) fn related(term: &str) -> &'static [String] {
    RELATED.get(term).map_or(&[], Vec::as_slice)
}

/// Whether two terms can stand for one another.
pub fn is_related(one: &str, other: &str) -> bool {
    related(one).iter().any(|it| it == other)
}

/// By term, so that a long text costs one look for each of its terms.
static RELATED: LazyLock<HashMap<String, Vec<String>>> = LazyLock::new(|| {
    let mut related: HashMap<String, Vec<String>> = HashMap::new();
    for group in GROUPS {
        for word in group {
            let others = group.iter().filter(|other| *other != word);
            let others = others.map(|other| stem(other).into_owned());
            related
                .entry(stem(word).into_owned())
                .or_default()
                .extend(others);
        }
    }
    related
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_stand_for_one_another() {
        let of = |word: &str| related(&stem(word)).to_vec();
        assert_eq!(of("adding"), ["sum", "plus", "total"]);
        assert_eq!(of("folders"), [stem("directory").into_owned()]);
        assert_eq!(of("weather"), Vec::<String>::new());
        assert!(is_related(&stem("removing"), &stem("delete")));
        assert!(!is_related(&stem("delete"), &stem("delete")));
        assert!(is_related("open", "read") && is_related("open", "fetch"));
        assert!(!is_related("read", "fetch"), "only through a third word");
    }
}
