//! Something between us and a server that can cut all connections.

use std::sync::{Arc, Mutex};

use openclaw_mcp_client::Target;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};

use super::partners::address_of;

/// Passes on whatever comes, until it is told to cut.
pub(super) struct Cutter {
    connections: Arc<Mutex<JoinSet<()>>>,
    listening: JoinHandle<()>,
}

impl Cutter {
    /// Puts itself in front of the server.
    pub(super) async fn before(target: &mut Target) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let own = listener.local_addr().unwrap();
        let url = &mut address_of(target).url;
        let server = (url.host_str().unwrap().to_owned(), url.port().unwrap());
        url.set_port(Some(own.port())).unwrap();
        let connections: Arc<Mutex<JoinSet<()>>> = Arc::default();
        let accepted = connections.clone();
        let listening = tokio::spawn(async move {
            while let Ok((mut client, _)) = listener.accept().await {
                let server = server.clone();
                accepted.lock().unwrap().spawn(async move {
                    if let Ok(mut server) = TcpStream::connect(server).await {
                        // However it ends, both sides see an end.
                        let _ = copy_bidirectional(&mut client, &mut server).await;
                    }
                });
            }
        });
        Self {
            connections,
            listening,
        }
    }

    /// Cuts all connections that there are; new ones can be made.
    pub(super) fn cut(&self) {
        self.connections.lock().unwrap().abort_all();
    }
}

impl Drop for Cutter {
    fn drop(&mut self) {
        self.listening.abort();
        self.cut();
    }
}
