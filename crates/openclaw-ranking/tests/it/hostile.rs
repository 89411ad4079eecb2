//! Tools and texts that are meant to do harm.

use openclaw_ranking::{Document, Index};

#[test]
fn tools_that_are_all_alike_keep_their_order() {
    let names: Vec<_> = (0..10_000)
        .map(|number| format!("mcp_same_tool{number}"))
        .collect();
    let documents: Vec<_> = names
        .iter()
        .map(|name| Document {
            name,
            own_name: "same",
            description: "The same description for every tool",
            ..Document::default()
        })
        .collect();
    let index = Index::new(&documents);
    let ranked = index.rank("every description", 5);
    let places: Vec<_> = ranked.iter().map(|ranked| ranked.place).collect();
    assert_eq!(places, [0, 1, 2, 3, 4]);
    assert!(ranked.iter().all(|ranked| ranked.score > 0.0));
    let all = index.rank_all("every description", 5);
    assert_eq!((all.best.len(), all.fitting), (5, 10_000));
    let ranked = index.rank("the description of mcp_same_tool7777", 3);
    assert_eq!((ranked[0].place, ranked[0].is_named()), (7777, true));
    assert!(!ranked[1].is_named());
    assert_eq!(index.rank(&"same ".repeat(20_000), 3)[0].place, 0);
    assert_eq!(index.rank(&"mcp ".repeat(20_000), 3).len(), 0);
}

#[test]
fn names_that_differ_only_in_what_joins_words_are_told_apart() {
    let names = ["4", "_4_", "4_", "a-b", "a_b", "a.b"];
    let documents = names.map(|name| Document {
        name,
        ..Document::default()
    });
    let index = Index::new(&documents);
    for name in names {
        let best = index.rank(name, 1)[0];
        assert_eq!(names[best.place], name);
    }
}

#[test]
fn long_texts_are_cut() {
    let description = format!("first {}last", "x y z ".repeat(200_000));
    let index = Index::new(&[Document {
        name: "long",
        description: &description,
        ..Document::default()
    }]);
    assert_eq!(index.rank("first", 1).len(), 1);
    assert_eq!(index.rank("last", 1).len(), 0);
    let text = "long story ".repeat(1_000_000);
    assert!(index.rank(&text, 1)[0].is_named());
    let text = format!("{}long", "story ".repeat(1_000_000));
    assert_eq!(index.rank(&text, 1).len(), 0);
}

#[test]
fn names_of_fillers_have_to_stand_alone() {
    let documents = ["the", "do_it", "x"].map(|name| Document {
        name,
        ..Document::default()
    });
    let index = Index::new(&documents);
    assert!(index.rank("do it the x way", 5).is_empty());
    for (place, name) in ["the", "do_it", "x"].into_iter().enumerate() {
        let ranked = index.rank(name, 5);
        assert_eq!((ranked.len(), ranked[0].place), (1, place), "{name}");
    }
}

#[test]
fn no_tools_and_no_limit_are_fine() {
    assert!(Index::new(&[]).rank("anything", 5).is_empty());
    let index = Index::new(&[Document {
        name: "anything",
        ..Document::default()
    }]);
    assert!(index.rank("anything", 0).is_empty());
    assert_eq!(index.rank("anything", usize::MAX).len(), 1);
}
