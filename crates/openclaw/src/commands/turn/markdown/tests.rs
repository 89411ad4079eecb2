use openclaw_content::shown_text;
use proptest::prelude::*;

use super::*;
use crate::commands::turn::flow::Flow;

fn shown<'p>(pieces: impl IntoIterator<Item = &'p str>) -> String {
    let mut markdown = Markdown::default();
    let mut shown: String = pieces
        .into_iter()
        .map(|piece| markdown.push(piece))
        .collect();
    shown.push_str(&markdown.finish());
    shown
}

/// What is shown, with names for the styles.
fn named(text: &str) -> String {
    let mut named = shown([text]);
    for (code, name) in [
        ("0", "/"),
        ("1", "bold"),
        ("2", "quiet"),
        ("3", "italic"),
        ("4", "under"),
        ("36", "code"),
    ] {
        named = named.replace(&format!("\u{1b}[{code}m"), &format!("‹{name}›"));
    }
    named
}

#[test]
fn every_construct_has_its_look() {
    let text = "\
# A *big* heading
Some **bold**, *italic* and ***both***, __so__ and _so_.
Call `f(*x*)` or ``a ` b``. 2 * 3 * 4, snake_case_name, \\*not\\*
- one
  * two **x**
+ three
1. first
> quoted **x**
> > deeper
See [the page](https://example.com/a_(b) \"title\") or [https://x.y](https://x.y).
#hashtag, --- and ####### no heading
";
    insta::assert_snapshot!(named(text), @r#"
    ‹bold›A ‹/›‹bold›‹italic›big‹/›‹bold› heading‹/›
    Some ‹bold›bold‹/›, ‹italic›italic‹/› and ‹bold›‹italic›both‹/›, ‹bold›so‹/› and ‹italic›so‹/›.
    Call ‹code›f(*x*)‹/› or ‹code›a ` b‹/›. 2 * 3 * 4, snake_case_name, *not*
    • one
      • two ‹bold›x‹/›
    • three
    1. first
    ‹quiet›│ ‹/›quoted ‹bold›x‹/›
    ‹quiet›│ │ ‹/›deeper
    See ‹under›the page‹/› (‹quiet›https://example.com/a_(b)‹/›) or ‹quiet›https://x.y‹/›.
    #hashtag, --- and ####### no heading
    "#);
}

#[test]
fn code_is_shown_as_it_is_written() {
    let text = "\
Look:
```rust
let **x** = `1`;

  // ```not the end
``
```
After *it*
~~~
```
~~~
```
never closed *x*";
    insta::assert_snapshot!(named(text), @r#"
    Look:
    ‹quiet›```rust‹/›
    ‹code›let **x** = `1`;‹/›

    ‹code›  // ```not the end‹/›
    ‹code›``‹/›
    ‹quiet›```‹/›
    After ‹italic›it‹/›
    ‹quiet›~~~‹/›
    ‹code›```‹/›
    ‹quiet›~~~‹/›
    ‹quiet›```‹/›
    ‹code›never closed *x*‹/›
    "#);
}

#[test]
fn what_is_not_closed_on_its_line_is_text() {
    for text in [
        "a ** b\n",
        "a **b\nc** d\n",
        "`open\n",
        "[label](open\n",
        "[label] (x)\n",
        "**\n",
        "*",
        "> ",
        "#",
    ] {
        let plain = shown([text]);
        let plain = plain.replace("\u{1b}[2m│ \u{1b}[0m", "> ");
        assert_eq!(plain, text, "{text:?}");
    }
}

#[test]
fn words_come_as_soon_as_it_is_known_what_they_are() {
    let mut markdown = Markdown::default();
    assert_eq!(markdown.push("Hello "), "Hello ");
    assert_eq!(markdown.push("**wor"), "");
    assert_eq!(markdown.push("ld** and"), "\u{1b}[1mworld\u{1b}[0m and");
    assert_eq!(markdown.push("\n"), "\n");
    assert_eq!(markdown.push("-"), "");
    assert_eq!(markdown.push(" item"), "• item");
    assert_eq!(markdown.push("\n# Head"), "\n\u{1b}[1mHead");
    assert_eq!(markdown.push("ing\nx"), "ing\u{1b}[0m\nx");
}

#[test]
fn what_never_ends_is_not_kept_for_ever() {
    let mut markdown = Markdown::default();
    assert_eq!(markdown.push("**"), "");
    let long = "x".repeat(2 * MOST);
    assert_eq!(markdown.push(&long), format!("**{long}"));
    assert!(markdown.held.is_empty());
    // As deep as it likes.
    let deep = "*_".repeat(10_000);
    assert!(!shown([deep.as_str()]).is_empty());
}

/// What a terminal does with what is shown, without our own colours.
fn without_colours(shown: &str) -> String {
    let mut text = shown.to_owned();
    for code in ["0", "1", "2", "3", "4", "36"] {
        text = text.replace(&format!("\u{1b}[{code}m"), "");
    }
    text
}

proptest! {
    #[test]
    fn pieces_are_shown_as_the_whole_would_be(
        pieces in proptest::collection::vec("[ab1 \\n\\t*_`~#>\\-+\\[\\]()\\\\é日]{0,5}", 0..14)
    ) {
        let whole = pieces.concat();
        let shown_pieces = shown(pieces.iter().map(String::as_str));
        prop_assert_eq!(&shown_pieces, &shown([whole.as_str()]));
        // Every line ends plain, so that nothing else is coloured by it.
        for line in shown_pieces.split('\n') {
            if let Some(last) = line.rfind('\u{1b}') {
                prop_assert!(line[last..].starts_with("\u{1b}[0m"), "{:?}", line);
            }
        }
    }

    #[test]
    fn lines_stay_lines(text in "[ab \\n*_`~#>\\-\\[\\]()\\\\]{0,60}") {
        let lines = |text: &str| text.matches('\n').count();
        prop_assert_eq!(lines(&shown([text.as_str()])), lines(&text));
    }

    #[test]
    fn no_sequence_but_ours_reaches_the_terminal(
        pieces in proptest::collection::vec("[a*`\\[ \\r\\n\\x1b\\x07\\x9b\\x9d;0m\\]\u{202e}]{0,6}", 0..12)
    ) {
        let mut flow = Flow::default();
        let mut markdown = Markdown::default();
        let mut seen = String::new();
        for piece in &pieces {
            let harmless = flow.push(piece);
            seen.push_str(&markdown.push(&harmless));
        }
        seen.push_str(&markdown.push(&flow.finish()));
        seen.push_str(&markdown.finish());
        let plain = without_colours(&seen);
        let acts = |it: char| (it.is_control() && it != '\n' && it != '\t') || it == '\u{202e}';
        prop_assert!(!plain.contains(acts), "{:?}", plain);
        prop_assert_eq!(shown([&*shown_text(&pieces.concat())]), seen);
    }
}
