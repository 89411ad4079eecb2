//! What the specification says about event streams.

use proptest::prelude::*;

use super::*;

const LIMIT: usize = 1024;

/// Parses a stream that arrives in these pieces.
fn parse<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Result<Vec<Event>, TooLarge> {
    let mut parser = EventParser::new(LIMIT);
    let mut events = Vec::new();
    for piece in pieces {
        parser.push(piece);
        while let Some(event) = parser.next()? {
            events.push(event);
        }
    }
    Ok(events)
}

fn parse_text(text: &str) -> Vec<Event> {
    parse([text.as_bytes()]).unwrap()
}

fn data(text: &str) -> Event {
    Event {
        data: Bytes::copy_from_slice(text.as_bytes()),
        ..Event::default()
    }
}

#[test]
fn the_examples_of_the_specification_hold() {
    let stocks = "data: YHOO\ndata: +2\ndata: 10\n\n";
    assert_eq!(parse_text(stocks), [data("YHOO\n+2\n10")]);
    let four = ": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\n\
                data:  third event\n\n";
    let numbered = |text: &str, id: &str| Event {
        id: Some(id.to_owned()),
        ..data(text)
    };
    assert_eq!(
        parse_text(four),
        [
            numbered("first event", "1"),
            numbered("second event", ""),
            data(" third event"),
        ]
    );
    // The last block has no empty line after it.
    assert_eq!(
        parse_text("data\n\ndata\ndata\n\ndata:"),
        [data(""), data("\n")]
    );
    assert_eq!(
        parse_text("data:test\n\ndata: test\n\n"),
        [data("test"), data("test")]
    );
}

#[test]
fn all_fields_are_read() {
    let stream = "id: 7\nevent: endpoint\nretry: 1500\ndata: /messages\nfoo: bar\nother\n\n";
    let event = Event {
        id: Some("7".to_owned()),
        name: Some("endpoint".to_owned()),
        data: Bytes::from_static(b"/messages"),
        retry: Some(Duration::from_millis(1500)),
    };
    assert_eq!(parse_text(stream), [event]);
}

#[test]
fn an_event_without_data_is_handed_over() {
    let primed = Event {
        id: Some("abc".to_owned()),
        retry: Some(Duration::ZERO),
        ..Event::default()
    };
    assert_eq!(
        parse_text("id: abc\nretry: 0\ndata:\n\n"),
        std::slice::from_ref(&primed)
    );
    assert_eq!(parse_text("id: abc\nretry: 0\n\n"), [primed]);
}

#[test]
fn comments_unknown_fields_and_empty_lines_are_no_events() {
    assert_eq!(
        parse_text(": ping\n\n:\n\n\n\n\r\n\r\nunknown: x\n\nretry: x\n\n"),
        []
    );
    assert_eq!(
        parse_text("data: a\n: in between\ndata: b\n\n"),
        [data("a\nb")]
    );
}

#[test]
fn every_line_end_is_one() {
    for end in ["\n", "\r", "\r\n"] {
        let stream = format!("data: a{end}data: b{end}{end}data: c{end}{end}");
        assert_eq!(parse_text(&stream), [data("a\nb"), data("c")], "{end:?}");
    }
    assert_eq!(
        parse_text("data: a\r\n\rdata: b\n\r\n"),
        [data("a"), data("b")]
    );
}

#[test]
fn an_event_that_ends_with_a_carriage_return_is_not_held_back() {
    let mut parser = EventParser::new(LIMIT);
    parser.push(b"data: a\r\n\r");
    assert_eq!(parser.next().unwrap(), Some(data("a")));
    parser.push(b"\ndata: b\r\r");
    assert_eq!(parser.next().unwrap(), Some(data("b")));
}

#[test]
fn a_byte_order_mark_is_skipped_at_the_start_only() {
    assert_eq!(parse_text("\u{feff}data: a\n\n"), [data("a")]);
    assert_eq!(parse_text("\u{feff}\n\ndata: a\n\n"), [data("a")]);
    assert_eq!(parse_text("\n\u{feff}data: a\n\n"), []);
    assert_eq!(parse_text("data: a\n\n\u{feff}data: b\n\n"), [data("a")]);
    assert_eq!(parse_text("data: \u{feff}a\n\n"), [data("\u{feff}a")]);
}

#[test]
fn numbers_with_a_null_and_odd_waits_are_ignored() {
    assert_eq!(parse_text("data: a\nid: 1\0\n\n"), [data("a")]);
    for odd in ["", "-1", "1.5", "1s", " 5", "+5", "٣"] {
        assert_eq!(
            parse_text(&format!("retry: {odd}\ndata: a\n\n")),
            [data("a")],
            "{odd}"
        );
    }
    let long = parse_text("retry: 99999999999999999999999999\n\n");
    assert_eq!(long[0].retry, Some(LONGEST_RETRY));
}

#[test]
fn bytes_that_are_no_text_are_handed_on() {
    let events = parse([b"event: \xff\ndata: a\xff\xfe\n\n".as_slice()]).unwrap();
    assert_eq!(events[0].data.as_ref(), b"a\xff\xfe");
    assert_eq!(events[0].name.as_deref(), Some("\u{fffd}"));
}

#[test]
fn one_line_is_not_copied() {
    let mut parser = EventParser::new(LIMIT);
    parser.push(b"data: 0123456789\n\n");
    let received = parser.buffer.as_ptr();
    let event = parser.next().unwrap().unwrap();
    assert_eq!(event.data.as_ptr(), received.wrapping_add("data: ".len()));
}

#[test]
fn memory_of_a_large_event_is_given_back() {
    let mut parser = EventParser::new(LIMIT * 1024);
    parser.push(b"data: ");
    parser.push(&vec![b'x'; 10 * KEPT]);
    assert_eq!(parser.next(), Ok(None));
    parser.push(b"\n\n");
    assert_eq!(parser.next().unwrap().unwrap().data.len(), 10 * KEPT);
    parser.push(b"data: x\n\n");
    assert!(
        parser.buffer.capacity() <= KEPT,
        "{}",
        parser.buffer.capacity()
    );
}

#[test]
fn an_event_has_a_limit_however_it_is_made_up() {
    let too_large = Err(TooLarge { limit: LIMIT });
    let line = [b'x'; LIMIT + 1];
    assert_eq!(
        parse([b"data: ".as_slice(), &line]),
        too_large,
        "a line without end"
    );
    assert_eq!(
        parse([b":".as_slice(), &line]),
        too_large,
        "a comment without end"
    );
    assert_eq!(
        parse([b"data:\n".repeat(LIMIT).as_slice()]),
        too_large,
        "many lines"
    );
    assert_eq!(
        parse([b"id: 1\n".repeat(LIMIT).as_slice()]),
        too_large,
        "many fields"
    );
    let exact = format!("data:{}\n\n", "x".repeat(LIMIT - "data:".len()));
    assert_eq!(parse_text(&exact).len(), 1);
}

#[test]
fn the_limit_is_for_one_event_and_not_for_the_stream() {
    let many = b"data: abc\n\n: ping\n\n".repeat(LIMIT);
    assert_eq!(parse([many.as_slice()]).unwrap().len(), LIMIT);
    // Some servers send comments without an empty line after them.
    let pings = b": ping\n".repeat(LIMIT);
    assert_eq!(parse([pings.as_slice()]), Ok(Vec::new()));
}

#[test]
fn what_is_lost_at_the_end_is_told() {
    let lost = |text: &str| {
        let mut parser = EventParser::new(LIMIT);
        parser.push(text.as_bytes());
        while parser.next().unwrap().is_some() {}
        parser.abandon()
    };
    for whole in [
        "",
        "data: a\n\n",
        "data: a\r\n\r\n",
        "data: a\n\n: ping",
        ": ping\n",
    ] {
        assert!(!lost(whole), "{whole:?}");
    }
    for cut in ["data: a\n", "data: a", "da", "data: a\n\nid: 1\n"] {
        assert!(lost(cut), "{cut:?}");
    }
}

/// Text without line ends, and without the space that would be taken for the optional one.
fn value() -> impl Strategy<Value = String> {
    "([^ \r\n\0][^\r\n\0]{0,12})?"
}

fn event() -> impl Strategy<Value = Event> {
    let lines = prop::collection::vec("[^\r\n]{0,12}", 1..4);
    let retry = prop::option::of(0..3_600_000_u64);
    let parts = (
        lines,
        prop::option::of(value()),
        prop::option::of(value().prop_filter("a name", |name| !name.is_empty())),
        retry,
    );
    parts.prop_map(|(lines, id, name, retry)| Event {
        id,
        name,
        data: Bytes::from(lines.join("\n")),
        retry: retry.map(Duration::from_millis),
    })
}

fn write(event: &Event, end: &str, gap: &str) -> String {
    let mut text = format!(": comment{end}");
    if let Some(name) = &event.name {
        text.push_str(&format!("event:{gap}{name}{end}"));
    }
    for line in String::from_utf8_lossy(&event.data).split('\n') {
        // A space that belongs to the data needs one before it.
        let gap = if line.starts_with(' ') { " " } else { gap };
        text.push_str(&format!("data:{gap}{line}{end}"));
    }
    if let Some(id) = &event.id {
        text.push_str(&format!("id:{gap}{id}{end}"));
    }
    if let Some(retry) = event.retry {
        text.push_str(&format!("retry:{gap}{}{end}", retry.as_millis()));
    }
    text.push_str(end);
    text
}

fn cut(bytes: &[u8], mut places: Vec<prop::sample::Index>) -> Vec<&[u8]> {
    let mut offsets: Vec<_> = places
        .drain(..)
        .map(|place| place.index(bytes.len() + 1))
        .collect();
    offsets.extend([0, bytes.len()]);
    offsets.sort_unstable();
    let pieces = offsets.windows(2).map(|pair| &bytes[pair[0]..pair[1]]);
    pieces.collect()
}

proptest! {
    #[test]
    fn what_was_written_is_read(
        events in prop::collection::vec(event(), 0..6),
        end in prop::sample::select(vec!["\n", "\r", "\r\n"]),
        gap in prop::sample::select(vec!["", " "]),
        mark in any::<bool>(),
        places in prop::collection::vec(any::<prop::sample::Index>(), 0..20),
    ) {
        let mut stream = if mark { "\u{feff}".to_owned() } else { String::new() };
        stream.extend(events.iter().map(|event| write(event, end, gap)));
        prop_assert_eq!(parse(cut(stream.as_bytes(), places)), Ok(events));
    }

    #[test]
    fn how_bytes_are_cut_makes_no_difference(
        text in "(\u{feff}|data|id|retry|event|:| |\r|\n|\r\n|\n\n|[0-9]|\0|x|ä){0,60}",
        places in prop::collection::vec(any::<prop::sample::Index>(), 0..20),
    ) {
        let bytes = text.as_bytes();
        let whole = parse([bytes]);
        prop_assert_eq!(parse(cut(bytes, places)), whole.clone());
        prop_assert_eq!(parse(bytes.chunks(1)), whole);
    }

    #[test]
    fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = parse([bytes.as_slice()]);
    }
}

#[test]
fn an_empty_name_is_none() {
    assert_eq!(parse_text("event:\ndata: a\n\n"), [data("a")]);
    assert_eq!(parse_text("event: x\nevent\ndata: a\n\n"), [data("a")]);
    assert_eq!(parse_text("event:\n\n"), []);
}

#[test]
fn only_bytes_of_data_are_news() {
    let mut parser = EventParser::new(LIMIT);
    for (piece, is_news) in [
        (": ping\n\n", false),
        ("id: 1\nretry: 5\nda", false),
        ("ta:", false),
        (" ", false),
        ("a", true),
        ("b", true),
        ("\n", false),
        (": in between\n", false),
        ("data: c\n", true),
        ("\n", false),
        ("event: x\n\n: ping", false),
        ("\ndata:\n\n", false),
        ("data: d\n\n: ping\n", true),
    ] {
        parser.push(piece.as_bytes());
        while parser.next().unwrap().is_some() {}
        assert_eq!(parser.take_news(), is_news, "{piece:?}");
    }
}

#[test]
fn a_limit_can_be_set_in_the_middle() {
    let mut parser = EventParser::new(LIMIT);
    parser.push(b"data: a\n\ndata: 0123456789");
    assert_eq!(parser.next().unwrap(), Some(data("a")));
    parser.set_limit(12);
    assert_eq!(parser.next(), Err(TooLarge { limit: 12 }));
}
