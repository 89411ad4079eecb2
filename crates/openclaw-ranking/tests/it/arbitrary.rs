//! What holds for all tools and all texts.

use openclaw_ranking::{Document, Index, terms, words};
use proptest::collection::vec;
use proptest::prelude::*;

fn of<'a>(tools: &'a [(String, String)]) -> Vec<Document<'a>> {
    let document = |(name, description): &'a (String, String)| Document {
        name,
        own_name: name,
        description,
        ..Document::default()
    };
    tools.iter().map(document).collect()
}

proptest! {
    #[test]
    fn nothing_panics_and_words_lie_within_the_text(
        tools in vec((".{0,40}", ".{0,80}"), 0..8),
        text in ".{0,200}",
        limit in 0_usize..10,
    ) {
        let ranked = Index::new(&of(&tools)).rank(&text, limit);
        prop_assert!(ranked.len() <= limit);
        for entry in ranked {
            prop_assert!(entry.score > 0.0 && (0.0..=1.0).contains(&entry.share));
            if let Some(named) = entry.named {
                prop_assert!(text.get(named.start..named.end).is_some());
            }
        }
        let mut end = 0;
        for word in words(&text) {
            prop_assert!(word.start >= end && text.get(word.start..word.end).is_some());
            end = word.end;
        }
    }

    #[test]
    fn an_exact_name_always_comes_first(
        names in vec("[A-Za-z0-9_-]{0,6}[A-Za-z0-9][A-Za-z0-9_-]{0,6}", 1..12),
        descriptions in vec("[a-z ]{0,60}", 12),
        chosen in any::<prop::sample::Index>(),
    ) {
        let tools: Vec<_> = names.iter().cloned().zip(descriptions).collect();
        let name = chosen.get(&names);
        let ranked = Index::new(&of(&tools)).rank(name, 3);
        prop_assert!(ranked[0].is_named());
        prop_assert_eq!(&names[ranked[0].place], name);
    }

    #[test]
    fn a_tool_that_shares_no_term_never_ranks(
        tools in vec(("[b-d]{3,5}", "[b-d ]{0,30}"), 1..6),
        text in "[b-d ]{0,40}",
        strange in "[u-z]{3,9} [u-z]{3,9}",
    ) {
        let without = Index::new(&of(&tools)).rank(&text, 10);
        let mut more = tools;
        more.push(("zzz".to_owned(), strange));
        let with = Index::new(&of(&more)).rank(&text, 10);
        prop_assert!(with.iter().all(|entry| entry.place + 1 < more.len()));
        prop_assert_eq!(with.len(), without.len());
    }

    #[test]
    fn terms_do_not_depend_on_case_or_separators(parts in vec("[a-z]{2,8}", 1..5)) {
        let snake = terms(&parts.join("_"));
        prop_assert_eq!(&terms(&parts.join("-").to_uppercase()), &snake);
        prop_assert_eq!(&terms(&parts.join(" ")), &snake);
    }

    #[test]
    fn ranking_is_the_same_each_time(
        tools in vec(("[a-d]{2,4}", "[a-e ]{0,30}"), 1..10),
        text in "[a-e ]{0,40}",
    ) {
        let first = Index::new(&of(&tools)).rank(&text, 10);
        prop_assert_eq!(Index::new(&of(&tools)).rank(&text, 10), first);
    }
}
