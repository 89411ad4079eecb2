//! What servers offer to read.

use serde::{Deserialize, Serialize};

/// A resource of a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourceSummary {
    /// The server.
    pub server: String,
    /// Its address.
    pub uri: String,
    /// Its name.
    pub name: String,
    /// A name for people.
    pub title: Option<String>,
    /// What it is.
    pub description: Option<String>,
    /// Its media type.
    pub mime_type: Option<String>,
    /// Its size in bytes.
    pub size: Option<u64>,
}

/// A pattern for addresses of resources.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TemplateSummary {
    /// The server.
    pub server: String,
    /// The pattern.
    pub uri_template: String,
    /// Its name.
    pub name: String,
    /// A name for people.
    pub title: Option<String>,
    /// What it is for.
    pub description: Option<String>,
    /// The media type of all that match.
    pub mime_type: Option<String>,
}

/// What servers offer to read, by server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourcesReport {
    /// The resources.
    pub resources: Vec<ResourceSummary>,
    /// The patterns.
    pub templates: Vec<TemplateSummary>,
    /// Servers that could not be asked: one sentence each.
    pub problems: Vec<String>,
}

/// Asks for the contents of a resource.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReadRequest {
    /// The agent; the default one if none is named.
    pub agent: Option<String>,
    /// The server.
    pub server: String,
    /// The address.
    pub uri: String,
}

/// A part of a resource.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ContentsReport {
    /// Its address.
    pub uri: String,
    /// Its media type.
    pub mime_type: Option<String>,
    /// The contents, if they are text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The contents in base64, if they are not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blob: Option<String>,
}

/// The contents of a resource.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReadReport {
    /// The server.
    pub server: String,
    /// The address that was asked for.
    pub uri: String,
    /// Its parts.
    pub contents: Vec<ContentsReport>,
}
