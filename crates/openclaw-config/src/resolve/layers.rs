//! Servers of several places, laid over each other by name.

use std::collections::BTreeMap;

use crate::path::JsonPath;
use crate::place::Place;
use crate::raw::{Entry, RawServer, Servers};
use crate::report::Problem;
use crate::server::ServerName;
use crate::shape::{Field, NonEmpty};
use crate::source::Span;

/// A server as the layers so far make it.
#[derive(Clone, Debug)]
pub(crate) struct Layered {
    pub(crate) name: ServerName,
    pub(crate) raw: RawServer,
    /// The place that gave `command` or `url`, else the first that names the server.
    pub(crate) place: Place,
    pub(crate) path: JsonPath,
    pub(crate) span: Span,
    /// Why it can't be used, each with the field that has the problem.
    blocked: Vec<(Option<&'static str>, Problem)>,
    /// Whether a part of it could not be read.
    pub(crate) is_partial: bool,
    /// Whether the block it comes from is switched off.
    pub(crate) switched_off: bool,
}

impl Layered {
    fn new(name: ServerName, entry: &Entry<RawServer>, place: &Place) -> Self {
        Self {
            name,
            raw: entry.raw.clone(),
            place: place.clone(),
            path: entry.path.clone(),
            span: entry.name_span,
            blocked: blocked(entry),
            is_partial: entry.is_partial,
            switched_off: false,
        }
    }

    /// Lays an entry of a later place over this server.
    pub(crate) fn lay(&mut self, entry: &Entry<RawServer>, place: &Place) {
        if gives_launch(&entry.raw) {
            let changes = changes(&self.raw.command, &entry.raw.command)
                || changes(&self.raw.url, &entry.raw.url);
            if changes {
                // Headers, keys and variables belong to the launch they were written for: they
                // must not reach another program or another host.
                self.raw = settings_of(&self.raw);
                self.blocked
                    .retain(|(field, _)| field.is_none_or(|field| self.raw.gives(field)));
            }
            self.place = place.clone();
            self.path.clone_from(&entry.path);
            self.span = entry.name_span;
            self.switched_off = false;
        }
        // What is replaced can't do harm any more.
        self.blocked
            .retain(|(field, _)| field.is_none_or(|field| !entry.raw.gives(field)));
        self.raw.overlay(&entry.raw);
        self.blocked.extend(blocked(entry));
        self.is_partial |= entry.is_partial;
    }

    /// Why it can't be used, where it can't.
    pub(crate) fn blocked(&self) -> impl Iterator<Item = &Problem> {
        self.blocked.iter().map(|(_, problem)| problem)
    }

    /// Whether anything says how to start or reach the server.
    pub(crate) fn has_launch(&self) -> bool {
        gives_launch(&self.raw)
    }
}

fn blocked(entry: &Entry<RawServer>) -> Vec<(Option<&'static str>, Problem)> {
    let field = |problem: &Problem| {
        let key = problem.path.key_inside(&entry.path)?;
        RawServer::canonical(key)
    };
    entry
        .blocked
        .iter()
        .map(|problem| (field(problem), problem.clone()))
        .collect()
}

fn gives_launch(raw: &RawServer) -> bool {
    !raw.command.is_absent() || !raw.url.is_absent()
}

fn changes(before: &Field<NonEmpty>, after: &Field<NonEmpty>) -> bool {
    let text = |field: &Field<NonEmpty>| field.value().map(|text| text.0.value.clone());
    !after.is_absent() && text(before) != text(after)
}

/// What remains of a server when it is started or reached in another way.
fn settings_of(raw: &RawServer) -> RawServer {
    // Every field is named, so that a new one has to be put on one side or the other.
    let RawServer {
        transport: _,
        command: _,
        args: _,
        env: _,
        inherit_env: _,
        cwd: _,
        url: _,
        headers: _,
        api_key: _,
        auth: _,
        oauth: _,
        allow_insecure_http: _,
        ssl_verify: _,
        ca_cert: _,
        client_cert: _,
        client_key: _,
        protocol: _,
        roots: _,
        trust_annotations: _,
        // What was chosen of one server was not chosen of another.
        resources: _,
        enabled,
        connection_timeout,
        request_timeout,
        max_total_timeout,
        parallel,
        restart_on_crash,
        max_restarts,
        lazy,
        idle_timeout,
        scope,
        tool_prefix,
        tool_filter,
        always_load,
        pin,
        max_result_bytes,
    } = raw.clone();
    RawServer {
        enabled,
        connection_timeout,
        request_timeout,
        max_total_timeout,
        parallel,
        restart_on_crash,
        max_restarts,
        lazy,
        idle_timeout,
        scope,
        tool_prefix,
        tool_filter,
        always_load,
        pin,
        max_result_bytes,
        ..RawServer::default()
    }
}

/// Servers by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layers(BTreeMap<ServerName, Layered>);

impl Layers {
    /// Lays the servers of a place over those that are there.
    pub(crate) fn lay(&mut self, servers: &Servers, place: &Place) {
        for (name, entry) in named(servers) {
            match self.0.get_mut(&name) {
                Some(layered) => layered.lay(entry, place),
                None => {
                    self.0
                        .insert(name.clone(), Layered::new(name, entry, place));
                }
            }
        }
    }

    /// Adds the servers of a block that is switched off; those of other places stay as they are.
    pub(crate) fn lay_switched_off(&mut self, servers: &Servers, place: &Place) {
        for (name, entry) in named(servers) {
            self.0.entry(name.clone()).or_insert_with(|| Layered {
                switched_off: true,
                ..Layered::new(name, entry, place)
            });
        }
    }

    /// The servers of these layers that an agent's own entries concern, with those laid over.
    pub(crate) fn overridden(&self, servers: &Servers, place: &Place) -> Self {
        let mut own = Self::default();
        for (name, _) in named(servers) {
            if let Some(common) = self.0.get(&name) {
                own.0.insert(name, common.clone());
            }
        }
        own.lay(servers, place);
        own
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Layered> {
        self.0.values()
    }
}

/// The entries with their names, which have been checked when they were read.
fn named(servers: &Servers) -> impl Iterator<Item = (ServerName, &Entry<RawServer>)> {
    let entries = servers.0.0.iter();
    entries.filter_map(|entry| Some((ServerName::new(&entry.name).ok()?, entry)))
}
