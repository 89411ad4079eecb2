//! Who finds room, and who waits or is refused.

use futures_util::FutureExt as _;
use futures_util::stream::{self, StreamExt as _};
use http::header::CONTENT_LENGTH;

use super::*;

impl Held {
    fn kibibytes(&self) -> usize {
        self.place.room.num_permits()
    }
}

const MIB: usize = 1 << 20;
const LIMIT: usize = 64 * MIB;

fn announcing(bytes: usize) -> HeaderMap {
    HeaderMap::from_iter([(CONTENT_LENGTH, bytes.into())])
}

/// A body that comes in parts of so many bytes.
fn parts(sizes: impl IntoIterator<Item = usize>) -> Body {
    let parts = sizes.into_iter().map(|size| vec![b'x'; size]);
    let parts: Vec<_> = parts.map(Ok::<_, std::io::Error>).collect();
    Body::from_stream(stream::iter(parts))
}

/// One of which nothing more comes.
fn unfinished(size: usize) -> Body {
    let begun = stream::iter([Ok::<_, std::io::Error>(vec![b'x'; size])]);
    Body::from_stream(begun.chain(stream::pending()))
}

async fn take_in(
    luggage: &Luggage,
    headers: HeaderMap,
    body: Body,
) -> Result<(Bytes, Option<Held>), Refused> {
    luggage.take_in(&headers, body, LIMIT).await
}

#[tokio::test(start_paused = true)]
async fn large_requests_wait_for_each_other_and_small_ones_do_not() {
    let luggage = Luggage::new(320);
    let mut held = Vec::new();
    for _ in 0..5 {
        let taken = take_in(&luggage, announcing(LIMIT), parts([LIMIT])).await;
        held.push(taken.unwrap().1);
    }
    let refused = take_in(&luggage, announcing(LIMIT), parts([LIMIT])).await;
    assert_eq!(refused.unwrap_err(), Refused::Full);
    let small = take_in(&luggage, announcing(100), parts([100])).await;
    assert!(small.unwrap().1.is_none());
    held.pop();
    let taken = take_in(&luggage, announcing(LIMIT), parts([LIMIT])).await;
    assert!(taken.unwrap().1.is_some());
}

#[tokio::test(start_paused = true)]
async fn what_is_announced_and_does_not_come_takes_no_room() {
    let luggage = Luggage::new(64);
    let light = usize::try_from(LIGHT).unwrap();
    let waiting = unfinished(light);
    let mut waiting = std::pin::pin!(take_in(&luggage, announcing(LIMIT), waiting));
    assert!(waiting.as_mut().now_or_never().is_none());
    let taken = take_in(&luggage, announcing(LIMIT), parts([LIMIT])).await;
    assert!(taken.unwrap().1.is_some());
    // Once more of it has come than is left alone, there is room for all of it or none.
    let begun = unfinished(light + 1);
    let mut begun = std::pin::pin!(take_in(&luggage, announcing(LIMIT), begun));
    assert!(begun.as_mut().now_or_never().is_none());
    let large = 2 * MIB;
    let refused = take_in(&luggage, announcing(large), parts([large])).await;
    assert_eq!(refused.unwrap_err(), Refused::Full);
    // What is smaller does not wait behind it.
    let taken = take_in(&luggage, announcing(MIB), parts([MIB])).now_or_never();
    assert!(taken.expect("it does not wait").unwrap().1.is_some());
}

#[tokio::test(start_paused = true)]
async fn a_request_takes_as_much_room_as_it_turns_out_to_need() {
    let luggage = Luggage::new(16);
    let light = usize::try_from(LIGHT).unwrap();
    for (sizes, kibibytes) in [
        (vec![], None),
        (vec![10, light - 10], None),
        (vec![light + 1], Some(5)),
        (vec![MIB, 0, 1, 2 * MIB], Some(3 * 1024 + 1)),
        (vec![1; light + 1], Some(5)),
        (vec![light; 56], Some(56 * 4)),
    ] {
        let length = sizes.iter().sum();
        // Whether or not it says how large it is.
        for headers in [HeaderMap::new(), announcing(length)] {
            let taken = take_in(&luggage, headers, parts(sizes.clone())).await;
            let (whole, held) = taken.unwrap();
            assert!(whole.len() == length && whole.iter().all(|it| *it == b'x'));
            assert_eq!(held.as_ref().map(Held::kibibytes), kibibytes, "{length}");
        }
    }
    // One that grows beyond what there is for it is given all there is, and no more.
    let (whole, held) = take_in(&luggage, HeaderMap::new(), parts([MIB; 20]))
        .await
        .unwrap();
    assert_eq!(whole.len(), 20 * MIB);
    assert_eq!(held.as_ref().map(Held::kibibytes), Some(16 * 1024));
    let refused = take_in(&luggage, HeaderMap::new(), parts([MIB, 1])).await;
    assert_eq!(refused.unwrap_err(), Refused::Full);
    drop(held);
    let begun = stream::iter([Ok(vec![b'x'; 10])]);
    let half = begun.chain(stream::iter([Err(std::io::Error::other("gone"))]));
    let broken = take_in(&luggage, HeaderMap::new(), Body::from_stream(half)).await;
    assert_eq!(broken.unwrap_err(), Refused::Incomplete(Incomplete::Broken));
}

fn answer(bytes: usize) -> Response {
    Response::new(Body::from(vec![b'x'; bytes]))
}

#[tokio::test(start_paused = true)]
async fn an_answer_holds_its_room_until_its_last_byte_is_gone() {
    let luggage = Luggage::new(3);
    let large = || answer(2 * MIB);
    let weighed = luggage.weighed(large()).await.unwrap();
    assert_eq!(weighed.body().size_hint().exact(), Some(2 << 20));
    let mut rest = weighed.into_body().collect().await.unwrap().to_bytes();
    assert!(rest.iter().all(|byte| *byte == b'x'));
    assert_eq!(luggage.weighed(large()).await.unwrap_err(), Full);
    let last = rest.split_off(rest.len() - 1);
    drop(rest);
    assert_eq!(luggage.weighed(large()).await.unwrap_err(), Full);
    drop(last);
    luggage.weighed(large()).await.unwrap();
    let held = luggage.weighed(large()).await.unwrap();
    luggage.weighed(answer(100)).await.unwrap();
    drop(held);
}

#[tokio::test(start_paused = true)]
async fn only_so_many_answers_wait_for_room() {
    let luggage = Luggage::new(16);
    let held = luggage.weighed(answer(16 * MIB)).await.unwrap();
    // Four MiB may wait.
    let first = luggage.weighed(answer(2 * MIB));
    let second = luggage.weighed(answer(2 * MIB));
    let (mut first, mut second) = (std::pin::pin!(first), std::pin::pin!(second));
    assert!(first.as_mut().now_or_never().is_none());
    assert!(second.as_mut().now_or_never().is_none());
    let third = luggage.weighed(answer(2 * MIB)).now_or_never();
    assert_eq!(third.expect("it does not wait").unwrap_err(), Full);
    // What is small has room of its own.
    luggage.weighed(answer(MIB)).await.unwrap();
    drop(held);
    first.await.unwrap();
    second.await.unwrap();
    luggage.weighed(answer(16 * MIB)).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn one_of_several_has_its_share_and_leaves_the_rest_to_others() {
    let luggage = Luggage::new(64);
    let (greedy, other) = (luggage.share(), luggage.share());
    // Sixteen MiB, of whatever size.
    let mut held = Vec::new();
    for size in [10 * MIB, 5 * MIB, MIB] {
        held.push(greedy.weighed(answer(size)).await.unwrap());
    }
    assert_eq!(greedy.weighed(answer(MIB)).await.unwrap_err(), Full);
    assert_eq!(greedy.weighed(answer(2 * MIB)).await.unwrap_err(), Full);
    greedy.weighed(answer(100)).await.unwrap();
    other.weighed(answer(16 * MIB)).await.unwrap();
    luggage.weighed(answer(48 * MIB)).await.unwrap();
    drop(held);
    // One that is larger than the share is alone in it.
    let held = greedy.weighed(answer(40 * MIB)).await.unwrap();
    assert_eq!(greedy.weighed(answer(2 * MIB)).await.unwrap_err(), Full);
    other.weighed(answer(16 * MIB)).await.unwrap();
    drop(held);
    greedy.weighed(answer(2 * MIB)).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn one_of_several_does_not_have_all_the_room_for_what_is_small() {
    let luggage = Luggage::new(64);
    let greedy = luggage.share();
    let mut held = Vec::new();
    for _ in 0..16 {
        let taken = take_in(&greedy, announcing(MIB), parts([MIB])).await;
        held.push(taken.unwrap().1);
    }
    let refused = take_in(&greedy, announcing(MIB), parts([MIB])).await;
    assert_eq!(refused.unwrap_err(), Refused::Full);
    // Two of the eight are small ones of the greedy, and the others are among what is large.
    held.push(
        take_in(&luggage, announcing(50 * MIB), parts([50 * MIB]))
            .await
            .unwrap()
            .1,
    );
    for _ in 0..6 {
        let taken = take_in(&luggage, announcing(MIB), parts([MIB])).now_or_never();
        held.push(taken.expect("it does not wait").unwrap().1);
    }
    let refused = take_in(&luggage, announcing(MIB), parts([MIB])).await;
    assert_eq!(refused.unwrap_err(), Refused::Full);
}

#[tokio::test(start_paused = true)]
async fn one_of_several_does_not_have_all_the_waiting() {
    let luggage = Luggage::new(64);
    let (greedy, other) = (luggage.share(), luggage.share());
    let held = luggage.weighed(answer(64 * MIB)).await.unwrap();
    // Sixteen MiB may wait, eight of them for one.
    let first = greedy.weighed(answer(6 * MIB));
    let mut first = std::pin::pin!(first);
    assert!(first.as_mut().now_or_never().is_none());
    let second = greedy.weighed(answer(4 * MIB)).now_or_never();
    assert_eq!(second.expect("it does not wait").unwrap_err(), Full);
    let others = other.weighed(answer(8 * MIB));
    let mut others = std::pin::pin!(others);
    assert!(others.as_mut().now_or_never().is_none());
    drop(held);
    first.await.unwrap();
    others.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn only_a_few_requests_of_one_wait_while_they_come() {
    let luggage = Luggage::new(64);
    let greedy = luggage.share();
    let held = take_in(&greedy, announcing(16 * MIB), parts([16 * MIB])).await;
    let mut waiting = Vec::new();
    for _ in 0..COMING_SHARE {
        let greedy = greedy.clone();
        let mut more =
            Box::pin(async move { take_in(&greedy, announcing(MIB), parts([MIB])).await });
        assert!(more.as_mut().now_or_never().is_none());
        waiting.push(more);
    }
    let refused = take_in(&greedy, announcing(MIB), parts([MIB])).now_or_never();
    assert_eq!(
        refused.expect("it does not wait").unwrap_err(),
        Refused::Full
    );
    drop(held);
    for more in waiting {
        more.await.unwrap();
    }
}
