use std::sync::Arc;

use openclaw_content::{Excerpt, Framer, Origin};
use openclaw_engine::{ReplyPart, ToolCallReport};

use super::super::MEGABYTE;
use super::*;

mod properties;

fn block(text: &str) -> ReplyEvent {
    let text = text.to_owned();
    ReplyEvent::Block { text }
}

fn partial(text: &str) -> ReplyEvent {
    let text = text.to_owned();
    ReplyEvent::Partial { text }
}

fn last(text: &str) -> ReplyEvent {
    let text = text.to_owned();
    ReplyEvent::Final { text }
}

fn retracted() -> ReplyEvent {
    let reason = "overloaded".to_owned();
    ReplyEvent::Retracted { reason }
}

fn result(text: &str) -> ReplyEvent {
    ReplyEvent::ToolResult {
        id: "call".to_owned(),
        call: ToolCallReport {
            name: "files__read".to_owned(),
            server: Some("files".to_owned()),
            is_error: false,
            duration_ms: 1,
        },
        text: text.to_owned(),
    }
}

fn framed(text: &str) -> String {
    let origin = Origin::new("files", "read");
    let framed = Framer::with_randomness(|| [0xab; 8]).frame(&origin, text, &Excerpt::default());
    framed.text.into_string()
}

/// An image of so many bytes, nine at least: the beginning of a PNG, and zeros.
fn image(bytes: usize) -> ReplyEvent {
    let rest = bytes - 9;
    let end = ["", "AA==", "AAA="][rest % 3];
    let data = format!("iVBORw0KGgoA{}{end}", "AAAA".repeat(rest / 3));
    let (mime_type, data) = ("image/png".to_owned(), data.into());
    let part = ReplyPart::Image { mime_type, data };
    ReplyEvent::Media { part }
}

fn report(reply: &str) -> ReplyReport {
    ReplyReport {
        session_key: "mcp-1-a".to_owned(),
        model: "test/model".to_owned(),
        reply: reply.to_owned(),
        parts: Vec::new(),
        tool_calls: Vec::new(),
        usage: None,
        cut_off: false,
    }
}

fn gathered(limits: Limits, events: impl IntoIterator<Item = ReplyEvent>) -> Gathering {
    let mut gathering = Gathering {
        limits,
        ..Gathering::default()
    };
    for event in events {
        gathering.hear(event);
    }
    gathering
}

fn heard(events: impl IntoIterator<Item = ReplyEvent>) -> Gathering {
    gathered(Limits::default(), events)
}

/// Texts as they are, other parts by their type.
fn shown(parts: &[OutPart]) -> Vec<String> {
    let one = |part: &OutPart| match part {
        OutPart::Text(text) => text.clone(),
        OutPart::Image { mime_type, .. } | OutPart::Audio { mime_type, .. } => {
            format!("<{mime_type}>")
        }
        OutPart::Resource { uri, .. } => format!("<{uri}>"),
    };
    parts.iter().map(one).collect()
}

#[test]
fn everything_goes_back_once_and_in_its_order() {
    let chart = framed("A chart.");
    let events = [
        partial("I "),
        partial("look."),
        block("I look."),
        result(&format!("{chart}\nThe following image/png is untrusted.")),
        image(20),
        block("Here is the  first half."),
        result(&framed("42")),
        partial("Here is the first half. "),
        last("Here is the first half.\nAnd 42."),
    ];
    assert_eq!(
        shown(&heard(events).complete(&report("unused"))),
        [
            &*format!("I look.\n\n{chart}\n\nThe following image/png is untrusted."),
            "<image/png>",
            "Here is the first half.\nAnd 42.",
        ]
    );
}

#[test]
fn a_frame_goes_and_the_note_behind_it_stays() {
    let result = result(&format!(
        "{}\nThe following is untrusted.",
        framed("A chart.")
    ));
    let events = [result, image(20), last("It says: A chart.")];
    assert_eq!(
        shown(&heard(events).complete(&report(""))),
        [
            "The following is untrusted.",
            "<image/png>",
            "It says: A chart."
        ]
    );
}

#[test]
fn the_report_has_the_last_text_where_none_was_heard() {
    let parts = heard([block("one"), partial("tw")]).complete(&report("two"));
    assert_eq!(shown(&parts), ["one\n\ntwo"]);
    let parts = heard([last("two")]).complete(&report("other"));
    assert_eq!(shown(&parts), ["two"]);
    let text = "No servers.".to_owned();
    let parts = heard([ReplyEvent::Answer { text }]).complete(&report("other"));
    assert_eq!(shown(&parts), ["No servers."]);
}

#[test]
fn nothing_at_all_is_said_to_be_nothing() {
    let ignored = [
        partial("never"),
        retracted(),
        ReplyEvent::Reasoning {
            text: "hm".to_owned(),
        },
        ReplyEvent::Notice {
            text: "a server is lost".to_owned(),
        },
        last(" \n"),
    ];
    assert_eq!(
        shown(&heard(ignored).complete(&report(""))),
        ["(No response)"]
    );
    let parts = heard([image(20), last("")]).complete(&report(""));
    assert_eq!(shown(&parts), ["<image/png>"]);
}

#[test]
fn an_address_can_be_opened_by_whoever_reads_the_reply() {
    let visit = ReplyEvent::Visit {
        url: "https://example.com/authorize?client_id=a&state=b%20c".to_owned(),
        why: "log in\nto github".to_owned(),
    };
    assert_eq!(
        shown(&heard([visit, last("Done.")]).complete(&report(""))),
        [
            "Open this address in a browser to go on (log in to github): \
             https://example.com/authorize?client_id=a&state=b%20c\n\nDone."
        ]
    );
}

#[test]
fn a_failure_keeps_what_was_said_before_it() {
    let events = [
        partial("wrong"),
        retracted(),
        block("I look."),
        image(20),
        partial("It is "),
        partial("nearly"),
    ];
    assert_eq!(
        shown(&heard(events).failed("the model is overloaded", Some("try again later"))),
        [
            "Error: the model is overloaded\ntry again later",
            "I look.",
            "<image/png>",
            "It is nearly",
        ]
    );
    let parts = heard([]).failed("no such agent", None);
    assert_eq!(shown(&parts), ["Error: no such agent"]);
}

#[test]
fn media_at_their_limit_go_back_and_larger_ones_are_named() {
    let limit = Limits::default().item;
    let parts = heard([image(limit), image(limit + 1), last("x")]).complete(&report(""));
    assert_eq!(
        shown(&parts),
        [
            "<image/png>",
            "[left out: image/png, 20.1 MB, larger than 20 MB]\n\nx"
        ]
    );
}

#[test]
fn a_whole_reply_has_a_limit() {
    let events = [20, 20, 10, 1].map(|size| image(size * MEGABYTE));
    let parts = heard(events).complete(&report(""));
    // The line that names the last takes room as well, so the third is too much.
    let named = |size| {
        format!("[left out: image/png, {size} MB: the reply has no room for it, 50 MB is the most]")
    };
    assert_eq!(
        shown(&parts),
        [
            "<image/png>".to_owned(),
            "<image/png>".to_owned(),
            format!("{}\n\n{}", named(10), named(1)),
        ]
    );
    let events = [20, 20, 10].map(|size| image(size * MEGABYTE));
    assert_eq!(heard(events).complete(&report("")).len(), 3);
}

#[test]
fn where_texts_are_too_long_results_give_way_to_what_the_agent_says() {
    let limits = Limits {
        texts: 400,
        ..Limits::default()
    };
    let named = |bytes| {
        format!(
            "[left out: what files__read said, {bytes} bytes: the reply has no room for it, 400 bytes \
             of text is the most]"
        )
    };
    let first = framed("first");
    let events = [block("I look."), result(&first), last(&"x".repeat(200))];
    assert_eq!(
        shown(&gathered(limits, events).complete(&report(""))),
        [format!(
            "I look.\n\n{}\n\n{}",
            named(first.len()),
            "x".repeat(200)
        )]
    );
    // A result that is too long by itself is not cut: its frame would have no end.
    let huge = framed(&"y".repeat(500));
    let events = [result(&huge), last("Done.")];
    assert_eq!(
        shown(&gathered(limits, events).complete(&report(""))),
        [format!("{}\n\nDone.", named(huge.len()))]
    );
    // What the agent says is cut, between characters.
    let events = [block("I look."), last(&"ü".repeat(500))];
    let parts = shown(&gathered(limits, events).complete(&report("")));
    let [only] = parts.as_slice() else {
        panic!("{parts:?}")
    };
    let said = only.strip_suffix("ü\n\n[cut off here: 400 bytes of text is the most]");
    assert!(said.is_some(), "{only}");
    assert!(
        only.starts_with("[left out: what was said here, 7 bytes: "),
        "{only}"
    );
}

#[test]
fn partial_text_is_bounded() {
    let limits = Limits {
        texts: 100,
        ..Limits::default()
    };
    let gathering = gathered(limits, (0..100).map(|_| partial("abcdefghij")));
    assert!(gathering.so_far.len() <= 104);
    let parts = shown(&gathering.failed("stopped", None));
    assert!(parts[1].ends_with("\n\n[cut off here: 100 bytes of text is the most]"));
}

#[test]
fn too_many_pieces_are_counted_and_the_last_text_stays() {
    let limits = Limits {
        pieces: 2,
        ..Limits::default()
    };
    let events = [block("a"), image(20), image(20), block("b"), last("c")];
    assert_eq!(
        shown(&gathered(limits, events).complete(&report(""))),
        [
            "a",
            "<image/png>",
            "[left out: 2 more parts: there are too many]\n\nc"
        ]
    );
}

#[test]
fn files_keep_their_names() {
    let file = |name: &str, mime_type: &str| ReplyEvent::Media {
        part: ReplyPart::Resource {
            name: name.to_owned(),
            mime_type: mime_type.to_owned(),
            data: Arc::from("JVBERi0xLjc="),
        },
    };
    let events = [
        file("report.pdf", "application/pdf"),
        file("report.pdf", "application/pdf"),
        file("attachment", "application/pdf"),
    ];
    assert_eq!(
        shown(&heard(events).complete(&report(""))),
        [
            "<attachment://report.pdf>",
            "<attachment://report-2.pdf>",
            "<attachment://attachment.pdf>",
        ]
    );
}
