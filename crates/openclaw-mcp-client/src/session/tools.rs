//! Listing and calling tools, with the headers that the second era wants for some of them.

use std::collections::HashMap;
use std::sync::PoisonError;

use serde_json::{Map, Value};
use tokio::sync::SemaphorePermit;
use tokio::time::{Instant, timeout_at};

use super::core::{Core, Limits, Request, Speech};
use super::header_parameters::parameters_of;
use super::params::Parameters;
use super::terms::Era;
use crate::error::RequestError;
use crate::model::{ListKind, Listing, Tool, ToolResult};
use crate::traffic::{TicketKind, TicketOptions};
use crate::transport::Link;
use crate::wire::RpcError;

impl Core {
    /// Calls a tool.
    pub(crate) async fn call_tool(
        &self,
        name: &str,
        arguments: Map<String, Value>,
        limits: Limits,
        ticket: TicketOptions,
    ) -> Result<ToolResult, RequestError> {
        let _permit = match self.calls.try_acquire() {
            Ok(permit) => permit,
            Err(_) => Box::pin(self.wait_for_others(limits.until)).await?,
        };
        if self.has_headers() {
            Box::pin(self.learn_headers(limits.until)).await;
        }
        let params = Parameters::from([
            ("name", name.into()),
            ("arguments", Value::Object(arguments)),
        ]);
        // Kept only where it may be needed again.
        let again = self.sends_parameters_of(name).then(|| params.clone());
        let request = |params| Request {
            method: "tools/call",
            params,
            limits,
            ticket: TicketOptions {
                kind: TicketKind::Interactive,
                ..ticket.clone()
            },
            speech: Speech::Agreed,
        };
        let result = self.request_in_rounds(request(params)).await;
        let result = match (result, again) {
            // It was refused unread: the tool has other headers by now.
            (Err(RequestError::Refused(error)), Some(params))
                if error.code == RpcError::HEADER_MISMATCH =>
            {
                Box::pin(self.list_tools(limits.until)).await?;
                Box::pin(self.request_in_rounds(request(params))).await?
            }
            (result, _) => result?,
        };
        ToolResult::read(&result).map_err(RequestError::BadResult)
    }

    async fn wait_for_others(&self, until: Instant) -> Result<SemaphorePermit<'_>, RequestError> {
        match timeout_at(until, self.calls.acquire()).await {
            Ok(Ok(permit)) => Ok(permit),
            Ok(Err(_)) | Err(_) => {
                let reason = "other calls to the server take too long";
                Err(RequestError::NotSent(reason.to_owned()))
            }
        }
    }

    /// Lists the tools.
    pub(crate) async fn list_tools(&self, until: Instant) -> Result<Listing<Tool>, RequestError> {
        if !self.has_headers() {
            return self.list(ListKind::Tools, until, Tool::read).await;
        }
        let read = |fields| {
            let tool = Tool::read(fields)?;
            let parameters = parameters_of(&tool.input_schema)
                .map_err(|reason| format!("`{}`: {reason}", tool.name))?;
            Ok((tool, parameters))
        };
        let listing = self.list(ListKind::Tools, until, read).await?;
        let mut headers = HashMap::new();
        let mut tools = Vec::with_capacity(listing.items.len());
        for (tool, parameters) in listing.items {
            headers.insert(tool.name.clone(), parameters);
            tools.push(tool);
        }
        self.header_parameters
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .replace(headers);
        Ok(Listing {
            items: tools,
            dropped: listing.dropped,
            truncated: listing.truncated,
        })
    }

    /// Whether parameters of tools may be sent as headers.
    fn has_headers(&self) -> bool {
        matches!(self.link, Link::Streamable(_)) && self.speaks(Era::Modern)
    }

    fn sends_parameters_of(&self, tool: &str) -> bool {
        let parameters = self.header_parameters.read();
        parameters
            .unwrap_or_else(PoisonError::into_inner)
            .has_any(tool)
    }

    /// Finds out which parameters are sent as headers, before the first call.
    async fn learn_headers(&self, until: Instant) {
        let is_listed = || {
            let parameters = self.header_parameters.read();
            parameters.unwrap_or_else(PoisonError::into_inner).listed
        };
        if is_listed() {
            return;
        }
        let Ok(mut has_tried) = timeout_at(until, self.learning.lock()).await else {
            return;
        };
        if !is_listed() && !std::mem::replace(&mut *has_tried, true) {
            // If it fails, the call says why.
            let _ = self.list_tools(until).await;
        }
    }
}
