//! Servers of other clients, taken over.

use openclaw_definitions::Nobody;
use openclaw_engine::{EngineFailure, ImportReport, ImportRequest};
use openclaw_import::Source;

use crate::runtime::Runtime;

impl Runtime {
    pub(super) async fn answer_import(
        &self,
        request: ImportRequest,
    ) -> Result<ImportReport, EngineFailure> {
        let imported = self.import_all(request).await;
        imported.map_err(|failure| self.without_secrets(failure))
    }

    async fn import_all(&self, request: ImportRequest) -> Result<ImportReport, EngineFailure> {
        let definitions = self.written_definitions()?;
        // Files are not named here: whoever asks may be on another machine.
        let found = definitions.found(Source::All).await?;
        let known = definitions.usable().await?;
        let mut nobody = Nobody;
        let imports = definitions.import(&found, known, &request, &mut nobody);
        let mut report = Box::pin(imports).await?.report;
        if !request.rehearse {
            report.warnings.extend(self.not_reloaded().await);
        }
        report.warnings = self.shown_sentences(&report.warnings);
        Ok(report)
    }
}
