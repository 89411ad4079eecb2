//! Definitions of servers: shown, tried and written, deleted.

use openclaw_config::Config;
use openclaw_definitions::{
    Definitions, LoggedOut, NOTHING_WRITTEN, NewServer, Nobody, Written, log_out, not_logged_out,
    reached, server_name, shown,
};
use openclaw_engine::{
    AddServer, AddedServer, DefinitionsReport, Engine, EngineFailure, OfServer, OneServer,
    RemovedServer, ServerDetails, SetServer,
};
use openclaw_secrets::Redactor;

use crate::runtime::Runtime;

impl Runtime {
    pub(super) fn answer_definitions(
        &self,
        query: &OfServer,
    ) -> Result<DefinitionsReport, EngineFailure> {
        let plan = self.agent(query.agent.as_deref())?;
        let config = self.servers.config();
        let server = query.server.as_deref();
        shown(&config, &plan.agent, server, &self.redactor)
    }

    pub(super) async fn answer_add_server(
        &self,
        request: AddServer,
    ) -> Result<AddedServer, EngineFailure> {
        let added = self.add(request).await;
        added.map_err(|failure| self.without_secrets(failure))
    }

    pub(super) async fn answer_set_server(
        &self,
        request: SetServer,
    ) -> Result<AddedServer, EngineFailure> {
        let set = self.set(request).await;
        set.map_err(|failure| self.without_secrets(failure))
    }

    pub(super) async fn answer_remove_server(
        &self,
        query: OneServer,
    ) -> Result<RemovedServer, EngineFailure> {
        let removed = self.remove(query).await;
        removed.map_err(|failure| self.without_secrets(failure))
    }

    /// Where the configuration is written.
    pub(super) fn written_definitions(&self) -> Result<&Definitions, EngineFailure> {
        self.definitions.as_ref().ok_or_else(|| {
            let message = "this configuration stands in no file and stays as it is";
            EngineFailure::operation("no-config-file", message)
        })
    }

    async fn add(&self, request: AddServer) -> Result<AddedServer, EngineFailure> {
        let definitions = self.written_definitions()?;
        let server = NewServer {
            name: server_name(&request.name)?,
            entry: request.entry,
        };
        let known = definitions.usable().await?;
        let prepared = definitions.prepare(server, known, request.replace).await?;
        let tried = if request.check {
            Some(self.tried(prepared.trial(), &request.name).await?)
        } else {
            None
        };
        let written = Box::pin(prepared.write(request.keyring, &mut Nobody)).await?;
        let added = AddedServer {
            name: request.name,
            server: tried,
            ..AddedServer::default()
        };
        Ok(self.taken_over(definitions, written, added).await)
    }

    /// Connects a server that is not configured yet, to see whether that works.
    async fn tried(&self, trial: &Config, name: &str) -> Result<ServerDetails, EngineFailure> {
        let beside = self.beside(trial.clone())?;
        let query = OneServer {
            agent: None,
            server: name.to_owned(),
        };
        let details = beside.connect(query).await;
        beside.close().await;
        details.and_then(reached).map_err(|mut failure| {
            failure
                .hint
                .get_or_insert_with(|| NOTHING_WRITTEN.to_owned());
            failure
        })
    }

    async fn set(&self, request: SetServer) -> Result<AddedServer, EngineFailure> {
        let definitions = self.written_definitions()?;
        let server = NewServer {
            name: server_name(&request.name)?,
            entry: request.entry,
        };
        let written = definitions.set(&server).await?;
        let added = AddedServer {
            name: request.name,
            ..AddedServer::default()
        };
        Ok(self.taken_over(definitions, written, added).await)
    }

    /// Goes over to what was written. Whatever comes of that, it is written.
    async fn taken_over(
        &self,
        definitions: &Definitions,
        written: Written,
        added: AddedServer,
    ) -> AddedServer {
        let mut warnings = written.warnings;
        warnings.extend(self.not_reloaded().await);
        let forgotten = Box::pin(definitions.forget(written.leftovers, &mut Nobody)).await;
        let (deleted, left) = match forgotten {
            Ok(forgotten) => (forgotten.deleted, forgotten.warnings),
            Err(failure) => (Vec::new(), vec![failure.message]),
        };
        warnings.extend(left);
        AddedServer {
            config: written.config,
            stored: written.stored,
            deleted,
            warnings: self.shown_sentences(&warnings),
            ..added
        }
    }

    async fn remove(&self, query: OneServer) -> Result<RemovedServer, EngineFailure> {
        self.agent(query.agent.as_deref())?;
        let definitions = self.written_definitions()?;
        let name = server_name(&query.server)?;
        let before = definitions.usable().await?;
        // What can't be deleted goes on; what is no longer wanted is stopped by the reload.
        let written = definitions.remove(&name, &before).await?;
        let taken_over = self.taken_over(definitions, written, AddedServer::default());
        let taken_over = taken_over.await;
        let logged_out = self.log_out(definitions, before, name.as_str()).await;
        let mut warnings = taken_over.warnings;
        warnings.extend(self.shown_sentences(&logged_out.warnings));
        Ok(RemovedServer {
            name: query.server,
            config: taken_over.config,
            deleted: taken_over.deleted,
            logged_out: logged_out.lines,
            warnings,
        })
    }

    /// Gives up the logins to a server that is no longer there.
    async fn log_out(&self, definitions: &Definitions, before: Config, name: &str) -> LoggedOut {
        let failed = |failure: EngineFailure| LoggedOut {
            warnings: vec![not_logged_out(
                name,
                &failure.message,
                failure.hint.as_deref(),
            )],
            ..LoggedOut::default()
        };
        let users = match definitions.users_of_the_gone(&before, name).await {
            Ok(users) if users.is_empty() => return LoggedOut::default(),
            Ok(users) => users,
            Err(failure) => return failed(failure),
        };
        match self.beside(before) {
            Ok(beside) => {
                let logged_out = log_out(&beside, users, name).await;
                beside.close().await;
                logged_out
            }
            Err(failure) => failed(failure),
        }
    }

    /// Reads the configuration anew after it was written; the warning if that can't be.
    pub(super) async fn not_reloaded(&self) -> Option<String> {
        let failure = self.answer_reload().await.err()?;
        let reason = failure.message.replace('\n', "; ");
        Some(format!("what runs is as it was before: {reason}"))
    }

    pub(super) fn shown_sentences(&self, sentences: &[String]) -> Vec<String> {
        let sentences = sentences.iter();
        sentences
            .map(|sentence| self.redactor.redact(sentence).into_owned())
            .collect()
    }

    /// A failure whose words show no credential.
    pub(super) fn without_secrets(&self, failure: EngineFailure) -> EngineFailure {
        without_secrets(failure, &self.redactor)
    }
}

/// A failure that shows no credential.
pub(super) fn without_secrets(failure: EngineFailure, redactor: &Redactor) -> EngineFailure {
    let hidden = |text: String| redactor.redact(&text).into_owned();
    EngineFailure {
        message: hidden(failure.message),
        hint: failure.hint.map(hidden),
        ..failure
    }
}
