//! Lists in pages, read within bounds.

use std::collections::HashSet;

use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::time::Instant;

use super::core::{Core, Request};
use super::params::Parameters;
use super::terms::Era;
use crate::error::RequestError;
use crate::model::{Dropped, Fields, ListKind, Listing, Truncation, read_item};
use crate::text::shown;
use crate::wire::{RawJson, first_items};

/// How many pages of a list are read.
const PAGES: usize = 500;
/// How many items.
const ITEMS: usize = 20_000;
/// How many bytes.
const BYTES: usize = 128 * 1024 * 1024;
/// How many items that can't be read are told about.
const DROPPED: usize = 100;
/// How much is told about such an item.
const REASON: usize = 300;
/// How long a cursor may be.
const CURSOR: usize = 64 * 1024;

/// A page, with nothing on it read yet.
#[derive(Deserialize)]
struct Page<'a> {
    #[serde(borrow, default)]
    tools: Option<&'a RawValue>,
    #[serde(borrow, default)]
    resources: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "resourceTemplates")]
    templates: Option<&'a RawValue>,
    #[serde(borrow, default)]
    prompts: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "nextCursor")]
    next: Option<&'a RawValue>,
}

impl Core {
    /// Reads a list to its end, or as far as it goes.
    pub(crate) async fn list<T>(
        &self,
        kind: ListKind,
        until: Instant,
        read: impl Fn(Fields) -> Result<T, String>,
    ) -> Result<Listing<T>, RequestError> {
        let mut listing = Listing::default();
        // Servers of the first era mean the end by an empty cursor; in the second it is one.
        let mut reading = Reading {
            empty_is_end: !self.speaks(Era::Modern),
            ..Reading::default()
        };
        let mut request = Request::new(kind.method(), Parameters::default(), self.timeouts);
        request.limits.until = until.min(request.limits.until);
        loop {
            let page = match self.request(&request).await {
                Ok(page) => page,
                // What was read is better than nothing.
                Err(error) if reading.pages > 0 => {
                    tracing::warn!(server = %self.inbound.server, "{}: {error}", kind.method());
                    listing.truncated = Some(Truncation::BrokenPage);
                    return Ok(listing);
                }
                Err(error) => return Err(error),
            };
            match reading.page(&page, kind, &read, &mut listing) {
                Ok(None) => return Ok(listing),
                Ok(Some(cursor)) => {
                    request.params.set("cursor", Some(cursor.into()));
                }
                Err(truncation) => {
                    tracing::warn!(server = %self.inbound.server, "{}: {truncation}", kind.method());
                    listing.truncated = Some(truncation);
                    if truncation == Truncation::BrokenPage && reading.pages == 1 {
                        return Err(RequestError::BadAnswer("it is no list".to_owned()));
                    }
                    return Ok(listing);
                }
            }
        }
    }
}

/// How far the reading has come.
#[derive(Default)]
struct Reading {
    empty_is_end: bool,
    pages: usize,
    bytes: usize,
    items: usize,
    cursors: HashSet<String>,
}

impl Reading {
    /// Takes in a page; the result says which one follows.
    fn page<T>(
        &mut self,
        page: &RawJson,
        kind: ListKind,
        read: impl Fn(Fields) -> Result<T, String>,
        listing: &mut Listing<T>,
    ) -> Result<Option<String>, Truncation> {
        self.pages += 1;
        self.bytes += page.text().len();
        let page: Page<'_> =
            serde_json::from_str(page.text()).map_err(|_| Truncation::BrokenPage)?;
        let list = match kind {
            ListKind::Tools => page.tools,
            ListKind::Resources => page.resources,
            ListKind::Templates => page.templates,
            ListKind::Prompts => page.prompts,
        };
        let list = list.ok_or(Truncation::BrokenPage)?;
        let room = ITEMS - self.items;
        let found = first_items(list, room).map_err(|_| Truncation::BrokenPage)?;
        for item in &found.items {
            self.items += 1;
            match read_item(item, &read) {
                Ok(item) => listing.items.push(item),
                Err(reason) if listing.dropped.len() < DROPPED => listing.dropped.push(Dropped {
                    place: self.items,
                    reason: shown(&reason, REASON),
                }),
                Err(_) => {}
            }
        }
        let cursor = match page.next {
            Some(raw) if raw.get().len() > CURSOR => return Err(Truncation::Bytes),
            // Anything but a text is no cursor.
            Some(raw) => serde_json::from_str::<String>(raw.get()).ok(),
            None => None,
        };
        if found.more > 0 {
            return Err(Truncation::Items);
        }
        let is_end = |cursor: &String| self.empty_is_end && cursor.is_empty();
        let Some(cursor) = cursor.filter(|cursor| !is_end(cursor)) else {
            return Ok(None);
        };
        if self.pages >= PAGES {
            return Err(Truncation::Pages);
        }
        if self.items >= ITEMS {
            return Err(Truncation::Items);
        }
        if self.bytes >= BYTES {
            return Err(Truncation::Bytes);
        }
        if !self.cursors.insert(cursor.clone()) {
            return Err(Truncation::RepeatedPage);
        }
        Ok(Some(cursor))
    }
}
