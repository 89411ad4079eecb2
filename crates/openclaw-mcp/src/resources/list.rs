//! `mcp_list_resources`: what there is to be read.

use openclaw_content::{Excerpt, ModelText, Origin, note, shown_line};
use serde_json::Value;

use super::read::{Answered, argument, named_server};
use super::tools::LIST_RESOURCES;
use crate::assembly::AgentTools;
use crate::call::{Call, CallEnd, Part, Stop};
use crate::results::offset;
use crate::servers::Servers;

/// How many are listed at once.
const PAGE: usize = 50;
/// How much is shown of an address, in characters.
const ADDRESS: usize = 1_000;
/// How much is shown of each other text.
const TEXT: usize = 200;

/// Something that is listed.
struct Listed<'a> {
    server: &'a str,
    line: String,
}

impl Servers {
    /// Lists the resources of an agent's servers.
    pub(super) async fn list_resources(&self, call: &Call<'_>) -> Result<Answered, Stop> {
        let server = match call.arguments.get("server") {
            None | Some(Value::Null) => None,
            Some(Value::String(name)) if name.trim().is_empty() => None,
            Some(_) => Some(named_server(call)?),
        };
        let origin = Origin::new(
            server.as_ref().map_or("openclaw", |it| it.name()),
            LIST_RESOURCES,
        );
        let Some(offset) = offset(&call.arguments).and_then(|it| usize::try_from(it).ok()) else {
            let told = "the offset must be a whole number of at least 0";
            return Err(Stop::told(CallEnd::InvalidArguments, &origin, told, &[]));
        };
        let query = argument(&call.arguments, "query").unwrap_or_default();
        let names = server.as_ref().map(|it| vec![it.name().to_owned()]);
        self.start(call.agent, names.as_deref()).await;
        if let Some(session) = call.session {
            self.start_for(call.agent, session).await;
        }
        let tools = self.tools(call.agent, call.session);
        let listed = listed(&tools, names.as_deref(), &query);
        let page: Vec<_> = listed.iter().skip(offset).take(PAGE).collect();
        let to = offset.saturating_add(page.len());
        let is_all = to >= listed.len();
        let numbers = [offset.saturating_add(1), to, listed.len()];
        let [from, to, of] = numbers.map(|count| count.to_string());
        let place = if listed.is_empty() {
            note("There are no such resources.", &[])
        } else if page.is_empty() {
            note("There are only {}.", &[&of])
        } else if !is_all {
            let told = "Listed: {} to {} of {}; go on with mcp_list_resources and offset {}";
            note(told, &[&from, &to, &of, &to])
        } else {
            note("Listed: {} to {} of {}", &[&from, &to, &of])
        };
        let mut texts = vec![place];
        for of_server in page.chunk_by(|one, other| one.server == other.server) {
            let lines: Vec<&str> = of_server.iter().map(|it| it.line.as_str()).collect();
            let server = of_server.first().map_or("", |it| it.server);
            let origin = Origin::new(server, "resources");
            let text = lines.join("\n");
            let framed = self.framer.frame(&origin, &text, &Excerpt::default());
            texts.push(framed.text);
        }
        Ok(Answered {
            server: server.map(|it| it.name().to_owned()),
            parts: vec![Part::Text(ModelText::joined(&texts))],
            result: None,
        })
    }
}

/// What fits the words, in an order that stays the same.
fn listed<'a>(tools: &'a AgentTools, names: Option<&[String]>, query: &str) -> Vec<Listed<'a>> {
    let query = query.to_lowercase();
    let words: Vec<&str> = query.split_whitespace().collect();
    let catalogs = tools.catalogs();
    let catalogs =
        catalogs.filter(|(name, _)| names.is_none_or(|it| it.iter().any(|it| it == name)));
    let mut listed = Vec::new();
    for (server, catalog) in catalogs {
        let resources = catalog.resources.iter().map(|it| {
            let size = it.size.map(|size| format!("{size} bytes"));
            let about = [
                Some(&it.name),
                it.title.as_ref(),
                it.description.as_ref(),
                it.mime_type.as_ref(),
                size.as_ref(),
            ];
            line("resource", &it.uri, &about)
        });
        let templates = catalog.templates.iter().map(|it| {
            let about = [
                Some(&it.name),
                it.title.as_ref(),
                it.description.as_ref(),
                it.mime_type.as_ref(),
            ];
            line("template", &it.uri_template, &about)
        });
        let mut lines: Vec<String> = resources.chain(templates).collect();
        lines.retain(|line| {
            let line = line.to_lowercase();
            words.iter().all(|word| line.contains(word))
        });
        lines.sort();
        listed.extend(lines.into_iter().map(|line| Listed { server, line }));
    }
    listed
}

/// A line about a resource, in the server's words.
fn line(kind: &str, address: &str, about: &[Option<&String>]) -> String {
    let mut line = format!("{kind} {}", shown_line(address, ADDRESS));
    let mut said = vec![address];
    for text in about.iter().flatten() {
        let shown = shown_line(text, TEXT);
        // Names are often the same as titles or addresses.
        if !shown.is_empty() && !said.contains(&text.as_str()) {
            said.push(text);
            line.push_str("; ");
            line.push_str(&shown);
        }
    }
    line
}
