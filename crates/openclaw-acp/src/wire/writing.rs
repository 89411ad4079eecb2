//! The thread that writes: an editor that does not read holds up nobody but itself.

use std::io::{self, Write};
use std::sync::Arc;
use std::thread;

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::flow::Flow;

/// How many lines may wait for the thread.
const WAITING: usize = 16;

/// Starts the thread. It ends with the last sender, or with the first failure, which `broken` is told.
pub(super) fn start(
    mut output: Box<dyn Write + Send>,
    flow: Arc<Flow>,
    broken: CancellationToken,
    written: CancellationToken,
) -> io::Result<mpsc::Sender<String>> {
    let (sender, mut lines) = mpsc::channel::<String>(WAITING);
    thread::Builder::new()
        .name("acp-output".to_owned())
        .spawn(move || {
            let _told = written.drop_guard();
            while let Some(mut line) = lines.blocking_recv() {
                line.push('\n');
                let wrote = output
                    .write_all(line.as_bytes())
                    .and_then(|()| output.flush());
                if let Err(error) = wrote {
                    tracing::debug!(%error, "the editor can't be told anything");
                    broken.cancel();
                    return;
                }
                flow.written(&line);
            }
        })?;
    Ok(sender)
}
