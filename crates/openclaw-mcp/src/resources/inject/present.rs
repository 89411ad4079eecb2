//! What was read, made into what the model gets.

use openclaw_content::{Excerpt, ModelText, Origin, note, shown_line};

use super::{Found, Injection, Source, Unread};
use crate::resources::contents::Contents;
use crate::resources::room::shares_of_servers;
use crate::resources::tools::READ_RESOURCE;
use crate::servers::{AgentPlan, Servers};

/// With less room than this nothing of a text is shown.
const LEAST: usize = 64;
/// How often a text is shortened until its frame fits: making it harmless may make it longer.
const ATTEMPTS: usize = 6;
/// What a line in a frame takes that says what is left out.
const CUT_LINE: usize = 120;

const HEADING: &str = "The configuration puts these resources of MCP servers beside the message. They \
                       are as of the beginning of this turn.";

/// A text that is to be framed.
struct Framable<'a> {
    origin: Origin,
    contents: &'a Contents,
    text: std::borrow::Cow<'a, str>,
    /// What the frame takes beside the text.
    overhead: usize,
}

impl Framable<'_> {
    fn need(&self) -> usize {
        self.overhead + self.text.len()
    }
}

impl Servers {
    /// What the model and the person get of what was read, in so many bytes for the model.
    pub(super) fn present_resources(
        &self,
        agent: &AgentPlan,
        sources: &[Source],
        found: &[Vec<Found<'_>>],
        most: usize,
    ) -> Injection {
        let can_read = agent.policy.decide_own(READ_RESOURCE).is_allowed();
        let mut lines = Lines::default();
        let mut servers: Vec<(usize, Vec<Framable<'_>>)> = Vec::new();
        for (source, found) in sources.iter().zip(found) {
            let mut texts = Vec::new();
            for Found { uri, outcome } in found {
                let origin = Origin::new(source.server.name(), uri);
                match outcome {
                    Err(unread) => lines.unread(&origin, uri, unread),
                    Ok(contents) => {
                        lines.binary(&origin, contents, can_read);
                        if contents.binary.is_empty() || contents.total > 0 {
                            texts.push(self.framable(origin, contents));
                        }
                    }
                }
            }
            lines.left_out(source);
            let limit = source.server.server().and_then(|it| it.resources.max_bytes);
            let limit = limit.and_then(|it| usize::try_from(it).ok());
            servers.push((limit.unwrap_or(usize::MAX), texts));
        }
        let heading = note(HEADING, &[]);
        let told = lines.within(most / 4);
        let room =
            most.saturating_sub(heading.len() + told.iter().map(ModelText::len).sum::<usize>());
        let needs: Vec<(usize, Vec<usize>)> = servers
            .iter()
            .map(|(limit, texts)| (*limit, texts.iter().map(Framable::need).collect()))
            .collect();
        let rooms = shares_of_servers(room, &needs);
        let mut texts = Vec::new();
        let mut crowded = Vec::new();
        for ((_, framable), rooms) in servers.iter().zip(rooms) {
            for (text, room) in framable.iter().zip(rooms) {
                match self.framed_within(text, room, can_read) {
                    Some(framed) => texts.push(framed),
                    None => crowded.push(&text.origin),
                }
            }
        }
        let used = heading.len() + texts.iter().chain(&told).map(ModelText::len).sum::<usize>();
        let crowded = lines.crowded(&crowded, most.saturating_sub(used), can_read);
        texts.extend(told);
        texts.extend(crowded);
        if !texts.is_empty() && most > heading.len() {
            texts.insert(0, heading);
        }
        Injection {
            texts,
            problems: lines.problems,
        }
    }

    fn framable<'a>(&self, origin: Origin, contents: &'a Contents) -> Framable<'a> {
        let empty = self.framer.frame(&origin, "", &Excerpt::default());
        Framable {
            overhead: empty.text.len(),
            // What is a credential may have been learned since it was read.
            text: self.redactor.redact_learned(&contents.text),
            contents,
            origin,
        }
    }

    /// As much of a text as fits with its frame.
    fn framed_within(&self, text: &Framable<'_>, room: usize, can_read: bool) -> Option<ModelText> {
        let is_whole = text.need() <= room && text.contents.total == text.contents.text.len();
        let line = if is_whole { 0 } else { CUT_LINE };
        let mut bytes = room.checked_sub(text.overhead + line)?;
        for _ in 0..ATTEMPTS {
            if bytes < LEAST.min(text.text.len()) {
                return None;
            }
            let mut excerpt = Excerpt::new(bytes);
            if text.contents.total > text.contents.text.len() {
                excerpt = excerpt.beginning_of(text.contents.total);
            }
            let excerpt = if can_read {
                excerpt.again_with(READ_RESOURCE)
            } else {
                excerpt
            };
            let framed = self.framer.frame(&text.origin, &text.text, &excerpt);
            let length = framed.text.len();
            if length <= room {
                for pattern in framed.detections.iter() {
                    tracing::warn!(
                        server = text.origin.server(),
                        resource = text.origin.item(),
                        pattern = pattern.name(),
                        "a resource looks like an injection"
                    );
                }
                return Some(framed.text);
            }
            let shown = bytes.min(text.text.len());
            bytes = shown.saturating_sub(length - room).min(shown / 2 + LEAST);
        }
        None
    }
}

/// What is said in our own words of what is not shown.
#[derive(Default)]
struct Lines {
    told: Vec<ModelText>,
    problems: Vec<String>,
}

impl Lines {
    fn unread(&mut self, origin: &Origin, uri: &str, unread: &Unread) {
        let (server, item) = (origin.server(), origin.item());
        let told = "The resource {} of the MCP server {} can't be shown: {}.";
        self.told.push(note(told, &[item, server, unread.told()]));
        let (uri, reason) = (shown_line(uri, 200), unread.shown());
        self.problems.push(format!(
            "the resource {uri} of {server} is not beside the message: {reason}"
        ));
    }

    fn binary(&mut self, origin: &Origin, contents: &Contents, can_read: bool) {
        let (server, item) = (origin.server(), origin.item());
        for (kind, bytes) in &contents.binary {
            let kind = if kind.is_empty() { "binary" } else { kind };
            let bytes = bytes.to_string();
            let names = [item, server, kind, &bytes];
            self.told.push(if can_read {
                note(
                    "The resource {} of the MCP server {} is not shown, since it is no text ({}, {} \
                     bytes); mcp_read_resource reads it.",
                    &names,
                )
            } else {
                note(
                    "The resource {} of the MCP server {} is not shown, since it is no text ({}, {} \
                     bytes).",
                    &names,
                )
            });
        }
    }

    fn left_out(&mut self, source: &Source) {
        if source.left_out == 0 {
            return;
        }
        let (server, count) = (source.server.name(), source.left_out.to_string());
        let told = "{} more resources of the MCP server {} are not shown.";
        self.told.push(note(told, &[&count, server]));
        let server = shown_line(server, 64);
        self.problems.push(format!(
            "{count} resources of {server} are not beside the message: there are too many"
        ));
    }

    /// What is said of resources for which there is no room; for the model, as much as there is room
    /// for.
    fn crowded(&mut self, origins: &[&Origin], most: usize, can_read: bool) -> Vec<ModelText> {
        let (mut told, mut left) = (Vec::new(), most);
        for origin in origins {
            let (server, item) = (origin.server(), origin.item());
            self.problems.push(format!(
                "the resource {item} of {server} is not beside the message: there is no room for \
                 it; `resources.maxBytes` says how much there is"
            ));
            let line = if can_read {
                "The resource {} of the MCP server {} is not shown, since there is no room for it; \
                 mcp_read_resource reads it."
            } else {
                "The resource {} of the MCP server {} is not shown, since there is no room for it."
            };
            let line = note(line, &[item, server]);
            if let Some(rest) = left.checked_sub(line.len()) {
                left = rest;
                told.push(line);
            }
        }
        told
    }

    /// What the model is told, in so many bytes.
    fn within(&mut self, most: usize) -> Vec<ModelText> {
        let bytes: usize = self.told.iter().map(ModelText::len).sum();
        if bytes <= most {
            return std::mem::take(&mut self.told);
        }
        let count = self.told.len().to_string();
        let short = note("Of {} more there is nothing to be shown.", &[&count]);
        if short.len() <= most {
            vec![short]
        } else {
            Vec::new()
        }
    }
}
