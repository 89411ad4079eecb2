//! The cost of redaction: `cargo bench -p openclaw-secrets`.

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use openclaw_secrets::{Redactor, Secret};

/// A log line of about 200 bytes in which nothing is hidden.
const LINE: &str = "2026-11-15T08:33:12.123456Z  INFO openclaw_mcp::supervisor: tool call finished \
    server=github tool=create_issue session=agent:main:main elapsed_ms=42 bytes=1893 ok=true \
    url=https://api.example.com/v1/items?page=2";

fn main() {
    divan::main();
}

/// A value with the look of an access token, different for each number.
fn value(number: u64) -> Secret {
    let mut state = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let text: String = (0..40)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            char::from(
                b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
                    [usize::try_from(state % 64).unwrap_or(0)],
            )
        })
        .collect();
    Secret::new(text)
}

fn redactor(values: u64) -> Redactor {
    let redactor = Redactor::new();
    for number in 0..values {
        let _ = redactor.learn(&value(number));
    }
    redactor
}

/// A mebibyte of prose and log lines in which nothing is hidden.
fn long_text() -> String {
    let paragraph = "The supervisor restarts a server that has exited, first after a second and \
        then after twice the time of the attempt before, up to half a minute. ";
    format!("{LINE}\n{paragraph}\n").repeat(3000)
}

#[divan::bench(args = [0, 50, 1000])]
fn long_text_without_hits(bencher: Bencher<'_, '_>, values: u64) {
    let redactor = redactor(values);
    let text = long_text();
    bencher
        .counter(BytesCount::of_str(&text))
        .bench(|| redactor.redact(black_box(&text)).len());
}

#[divan::bench(args = [0, 50, 1000])]
fn long_text_for_a_model(bencher: Bencher<'_, '_>, values: u64) {
    let redactor = redactor(values);
    let text = long_text();
    bencher
        .counter(BytesCount::of_str(&text))
        .bench(|| redactor.redact_learned(black_box(&text)).len());
}

#[divan::bench(args = [50, 1000])]
fn log_line_without_hits(bencher: Bencher<'_, '_>, values: u64) {
    let redactor = redactor(values);
    bencher
        .counter(BytesCount::of_str(LINE))
        .bench(|| redactor.redact(black_box(LINE)).len());
}

#[divan::bench]
fn log_line_with_a_learned_value(bencher: Bencher<'_, '_>) {
    let redactor = redactor(50);
    let line = format!("{LINE} value={}", value(25).expose());
    bencher.bench(|| redactor.redact(black_box(&line)).len());
}

#[divan::bench]
fn log_line_with_a_known_shape(bencher: Bencher<'_, '_>) {
    let redactor = redactor(50);
    let line = format!("{LINE} ghp_0123456789abcdefghijABCDEFGHIJ012345");
    bencher.bench(|| redactor.redact(black_box(&line)).len());
}

#[divan::bench]
fn learn_a_value_and_redact_a_line(bencher: Bencher<'_, '_>) {
    let redactor = redactor(50);
    let mut number = 1000;
    bencher.bench_local(|| {
        number += 1;
        let _ = redactor.learn(&value(number));
        redactor.redact(black_box(LINE)).len()
    });
}
