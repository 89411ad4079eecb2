//! Tools about the process that the server is.

use serde_json::json;

use super::text;
use crate::fake_server::call::Call;
use crate::fake_server::message::{INTERNAL_ERROR, Outcome, RpcError};
use crate::fake_server::process;

pub(super) fn call(call: &Call, name: &str) -> Outcome {
    match name {
        "environment" => {
            let names = std::env::vars_os().map(|(name, _)| name.to_string_lossy().into_owned());
            let mut names: Vec<String> = names.collect();
            names.sort();
            Ok(text(json!(names).to_string()))
        }
        "directory" => match std::env::current_dir() {
            Ok(directory) => Ok(text(directory.to_string_lossy())),
            Err(error) => Err(RpcError::new(INTERNAL_ERROR, error.to_string())),
        },
        "spawn_child" => match process::start_grandchild(&call.server) {
            Ok(pid) => Ok(text(pid.to_string())),
            Err(error) => Err(RpcError::new(INTERNAL_ERROR, error.to_string())),
        },
        _ => process::leave(&call.server, 3),
    }
}
