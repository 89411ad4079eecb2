//! What servers offer to read.

use openclaw_content::shown_text;
use openclaw_engine::{ReadReport, ResourcesReport};

use crate::{Page, Tone, blob_line, name, size};

/// Resources and patterns by server. `server` is the one that was asked for.
pub fn resources(report: &ResourcesReport, server: Option<&str>, page: Page) -> String {
    if report.resources.is_empty() && report.templates.is_empty() {
        return match server {
            Some(server) => format!("{} offers no resources\n", name(server)),
            None => "no server offers resources\n".to_owned(),
        };
    }
    let resources = report.resources.iter().map(|resource| &resource.server);
    let templates = report.templates.iter().map(|template| &template.server);
    let mut servers: Vec<&String> = resources.chain(templates).collect();
    servers.sort_unstable();
    servers.dedup();
    let groups: Vec<String> = servers
        .into_iter()
        .map(|server| group(report, server, page))
        .collect();
    groups.join("\n")
}

fn group(report: &ResourcesReport, server: &str, page: Page) -> String {
    let mut text = format!("{}\n", page.paint(Tone::Strong, &name(server)));
    for resource in report.resources.iter().filter(|one| one.server == server) {
        let facts = [
            resource.mime_type.clone(),
            resource.size.map(size),
            resource
                .title
                .clone()
                .or_else(|| resource.description.clone()),
        ];
        text.push_str(&entry(&resource.uri, &resource.name, facts, page));
    }
    for template in report.templates.iter().filter(|one| one.server == server) {
        let facts = [
            Some("pattern".to_owned()),
            template.mime_type.clone(),
            template
                .title
                .clone()
                .or_else(|| template.description.clone()),
        ];
        text.push_str(&entry(&template.uri_template, &template.name, facts, page));
    }
    text
}

fn entry(address: &str, called: &str, facts: [Option<String>; 3], page: Page) -> String {
    let mut words = vec![name(called)];
    words.extend(facts.into_iter().flatten());
    // The address is what is needed to read it: it is never cut to the page.
    let address = openclaw_content::shown_line(address, 500);
    let line = page.line(&words.join(", "), 6);
    format!("  {address}\n      {}\n", page.paint(Tone::Quiet, &line))
}

/// The contents of a resource; what is not text is only named.
pub fn read(report: &ReadReport) -> String {
    if report.contents.is_empty() {
        return "(the resource is empty)\n".to_owned();
    }
    report
        .contents
        .iter()
        .map(|part| match (&part.text, &part.blob) {
            (Some(text), _) => {
                let text = shown_text(text);
                let end = if text.ends_with('\n') { "" } else { "\n" };
                format!("{text}{end}")
            }
            (None, blob) => {
                let what = openclaw_content::shown_line(&part.uri, 500);
                let data = blob.as_deref().unwrap_or_default();
                format!("{}\n", blob_line(&what, part.mime_type.as_deref(), data))
            }
        })
        .collect()
}
