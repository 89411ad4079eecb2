//! The text of PDFs, friendly and hostile.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use openclaw_media::{DocumentError, DocumentText};
use openclaw_testkit::leaks::{descendants, eventually};
use serde_json::Value;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::house::{House, SOON, seats};

fn document(name: &str) -> Vec<u8> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/documents");
    std::fs::read(directory.join(format!("{name}.pdf"))).unwrap()
}

async fn read(pdf: &[u8]) -> Result<DocumentText, DocumentError> {
    House::new(&Value::Null, &[]).media.document_text(pdf).await
}

async fn text(name: &str) -> String {
    let read = read(&document(name)).await.unwrap();
    assert!(!read.is_cut);
    read.text
}

/// A document of these objects, the first of which is its catalog.
fn made(objects: &[impl AsRef<[u8]>]) -> Vec<u8> {
    let mut body = b"%PDF-1.7\n".to_vec();
    let mut places = Vec::new();
    for (number, object) in (1..).zip(objects) {
        places.push(body.len());
        body.extend(format!("{number} 0 obj\n").bytes());
        body.extend(object.as_ref());
        body.extend(b"\nendobj\n");
    }
    let (start, count) = (body.len(), objects.len() + 1);
    body.extend(format!("xref\n0 {count}\n0000000000 65535 f \n").bytes());
    for place in places {
        body.extend(format!("{place:010} 00000 n \n").bytes());
    }
    let end = format!("trailer\n<< /Size {count} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n");
    body.extend(end.bytes());
    body
}

fn stream(head: &str, content: &str) -> String {
    let length = content.len();
    format!("<< {head} /Length {length} >>\nstream\n{content}\nendstream")
}

/// A page with this content and with these resources.
fn page(resources: &str, content: &str, more: Vec<String>) -> Vec<u8> {
    let mut objects = vec![
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
        format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R \
             /Resources << {resources} >> >>"
        ),
        stream("", content),
    ];
    objects.extend(more);
    made(&objects)
}

#[tokio::test]
async fn lines_and_tables_are_read_in_their_order() {
    let expected = "Invoice 2026-117\nTo be paid in May.\n\nItem Count Price\nLamp 2 19.90\n\
                    Total 88.80\nThank you.";
    assert_eq!(text("invoice").await, expected);
    assert_eq!(
        text("turned").await,
        "Sideways text\n\nA page that is turned"
    );
}

#[tokio::test]
async fn letters_of_embedded_fonts_are_known() {
    assert_eq!(
        text("letters").await,
        "Größe: 3 µm, naïve café – “quoted”, 20 €\nΕλληνικά, Русский язык"
    );
    assert_eq!(
        text("subset").await,
        "Zażółć gęślą jaźń.\nSecond line.\nДобрый день."
    );
}

#[tokio::test]
async fn columns_are_read_one_after_the_other_and_packed_objects_are_found() {
    let plain = text("columns").await;
    let places: Vec<usize> = (1..=24)
        .map(|number| plain.find(&format!("Paragraph {number}. ")).unwrap())
        .collect();
    assert!(places.is_sorted(), "{plain}");
    assert_eq!(text("packed").await, plain);
}

#[tokio::test]
async fn one_that_only_restricts_what_may_be_done_is_read() {
    assert!(text("owned").await.starts_with("Invoice 2026-117\n"));
}

#[tokio::test]
async fn what_can_not_be_read_says_why() {
    for (name, expected) in [
        ("locked", "it is locked with a password"),
        ("scan", "there is no text in it: it may be a scan"),
    ] {
        let error = read(&document(name)).await.unwrap_err();
        assert_eq!(error.to_string(), expected, "{name}");
    }
    for garbage in [&b""[..], b"%PDF-1.7\n\x01\x02\x03", b"not a PDF"] {
        let error = read(garbage).await.unwrap_err();
        assert!(matches!(error, DocumentError::Broken), "{error}");
    }
}

#[tokio::test]
async fn one_without_its_table_is_read_all_the_same() {
    let whole = document("invoice");
    let end = whole.windows(5).rposition(|it| it == b"\nxref").unwrap();
    let read = read(&whole[..end]).await.unwrap();
    assert!(read.text.starts_with("Invoice 2026-117\n"), "{}", read.text);
}

#[tokio::test]
async fn letters_that_nobody_knows_are_no_text() {
    let font = "<< /Type /Font /Subtype /Type3 /FontBBox [0 0 9 9] /FontMatrix [1 0 0 1 0 0] \
                /FirstChar 65 /LastChar 65 /Widths [9] /CharProcs << /g1 6 0 R >> \
                /Encoding << /Type /Encoding /Differences [65 /g1] >> >>";
    let shape = stream("", "9 0 0 0 9 9 d1 0 0 9 9 re f");
    let pdf = page(
        "/Font << /F 5 0 R >>",
        "BT /F 9 Tf 9 9 Td (AAAA) Tj ET",
        vec![font.to_owned(), shape],
    );
    let error = read(&pdf).await.unwrap_err();
    assert!(matches!(error, DocumentError::NoLetters), "{error}");
}

#[tokio::test]
async fn a_text_that_is_too_long_is_cut() {
    // One letter that stands for many.
    let many = "0061".repeat(120);
    let map = format!(
        "1 begincodespacerange <00> <FF> endcodespacerange 1 beginbfchar <41> <{many}> endbfchar"
    );
    let font = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /ToUnicode 6 0 R >>";
    let content = format!("BT /F 9 Tf 9 9 Td ({}) Tj ET", "A".repeat(9000));
    let more = vec![font.to_owned(), stream("", &map)];
    let pdf = page("/Font << /F 5 0 R >>", &content, more);
    let read = read(&pdf).await.unwrap();
    assert!(read.is_cut);
    assert!(read.text.len() > 1_000_000 && read.text.len() <= 1024 * 1024);
}

#[tokio::test]
async fn a_page_that_unpacks_to_more_than_there_is_memory_costs_only_its_reader() {
    let error = read(&document("bomb")).await.unwrap_err();
    assert!(matches!(error, DocumentError::TooMuch), "{error}");
}

/// Forms, the first of which takes for ever to draw: every one draws the next ten times.
fn endless(first: usize) -> Vec<String> {
    let forms = (first..first + 40).map(|number| {
        let next = number + 1;
        let head = format!(
            "/Type /XObject /Subtype /Form /BBox [0 0 9 9] \
             /Resources << /XObject << /X {next} 0 R >> >>"
        );
        stream(&head, &"/X Do ".repeat(10))
    });
    let mut forms: Vec<String> = forms.collect();
    let head = "/Type /XObject /Subtype /Form /BBox [0 0 9 9]";
    forms.push(stream(head, "0 0 9 9 re f"));
    forms
}

const FONT: &str = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>";

#[tokio::test]
async fn a_page_that_never_ends_is_ended() {
    let pdf = page("/XObject << /X 5 0 R >>", "/X Do", endless(5));
    let error = read(&pdf).await.unwrap_err();
    assert!(matches!(error, DocumentError::TooMuch), "{error}");
}

#[tokio::test]
async fn what_stands_before_that_which_never_ends_is_read() {
    let mut more = vec![FONT.to_owned()];
    more.extend(endless(6));
    let resources = "/Font << /F 5 0 R >> /XObject << /X 6 0 R >>";
    let content = "BT /F 9 Tf 9 9 Td (Worth something) Tj ET /X Do";
    let read = read(&page(resources, content, more)).await.unwrap();
    assert!(read.is_cut);
    assert_eq!(read.text, "Worth something");
}

#[tokio::test]
async fn pages_before_the_one_that_ends_the_reader_are_read() {
    let bomb = document("bomb");
    let find = |what: &[u8]| bomb.windows(what.len()).position(|it| it == what).unwrap();
    let packed = &bomb[find(b"4 0 obj\n") + 8..find(b"\nendobj\nxref")];
    let page = |content: usize| {
        format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents {content} 0 R \
             /Resources << /Font << /F 7 0 R >> >> >>"
        )
        .into_bytes()
    };
    let pdf = made(&[
        b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
        b"<< /Type /Pages /Kids [3 0 R 4 0 R] /Count 2 >>".to_vec(),
        page(5),
        page(6),
        stream("", "BT /F 9 Tf 9 9 Td (First page) Tj ET").into_bytes(),
        packed.to_vec(),
        FONT.into(),
    ]);
    let read = read(&pdf).await.unwrap();
    assert!(read.is_cut);
    assert_eq!(read.text, "First page");
}

#[tokio::test]
async fn letters_without_widths_stand_on_their_lines() {
    let widths = "0 ".repeat(95);
    let font = format!(
        "<< /Type /Font /Subtype /TrueType /BaseFont /Nothing /FirstChar 32 /LastChar 126 \
         /Widths [{widths}] /Encoding /WinAnsiEncoding >>"
    );
    let content = "BT /F 10 Tf 9 100 Td (hi yo) Tj 0 -12 Td (nx) Tj ET";
    let pdf = page("/Font << /F 5 0 R >>", content, vec![font]);
    assert_eq!(read(&pdf).await.unwrap().text, "hi yo\nnx");
}

#[tokio::test]
async fn one_that_is_too_large_is_not_even_begun() {
    let house = House::new(&Value::Null, &[]);
    let before = descendants(std::process::id()).len();
    let pdf = vec![b' '; 64 * 1024 * 1024 + 1];
    let error = house.media.document_text(&pdf).await.unwrap_err();
    assert_eq!(error.to_string(), "it is larger than 64 MiB");
    // Not even the guardian, which is started with the first document.
    assert_eq!(descendants(std::process::id()).len(), before);
}

#[tokio::test]
async fn only_so_many_are_read_at_once_and_the_time_of_others_does_not_begin() {
    let house = Arc::new(House::new(&Value::Null, &[]));
    // The guardian stays; it is started with the first document.
    let first = document("invoice");
    house.media.document_text(&first).await.unwrap();
    let before = descendants(std::process::id()).len();
    let slow = Arc::new(page("/XObject << /X 5 0 R >>", "/X Do", endless(5)));
    let mut reading = JoinSet::new();
    for _ in 0..seats() + 2 {
        let (house, slow) = (Arc::clone(&house), Arc::clone(&slow));
        reading.spawn(async move { house.media.document_text(&slow).await });
    }
    // Without any, they would all be there long before the first one ends.
    let mut most = 0;
    while !reading.is_empty() {
        most = most.max(descendants(std::process::id()).len().saturating_sub(before));
        let _ = timeout(Duration::from_millis(50), reading.join_next()).await;
    }
    assert_eq!(most, seats());
}

#[tokio::test]
async fn nobody_reads_on_for_those_who_are_gone() {
    let house = House::new(&Value::Null, &[]);
    // The guardian stays; it is started with the first document.
    house
        .media
        .document_text(&document("invoice"))
        .await
        .unwrap();
    let before = descendants(std::process::id()).len();
    let bomb = document("bomb");
    {
        let reading = house.media.document_text(&bomb);
        tokio::pin!(reading);
        let is_there = eventually(SOON, || descendants(std::process::id()).len() > before);
        tokio::select! {
            is_there = is_there => assert!(is_there),
            read = &mut reading => assert!(read.is_err(), "{read:?}"),
        }
    }
    let is_gone = || descendants(std::process::id()).len() <= before;
    assert!(eventually(SOON, is_gone).await, "a reader is left");
}

#[tokio::test]
async fn every_page_of_a_hundred_is_read() {
    let text = text("hundred").await;
    let places: Vec<usize> = (1..=100)
        .map(|number| text.find(&format!("Chapter {number}\n")).unwrap())
        .collect();
    assert!(places.is_sorted());
}
