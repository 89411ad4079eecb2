//! Skills.

use std::collections::BTreeMap;

use crate::config::{Definition, SkillSettings, SkillsSettings};
use crate::raw::{RawRoot, RawSkill, RawSkills};
use crate::report::{Kind, Problem};
use crate::resolve::Resolver;
use crate::resolve::sections::{credential, texts};

impl Resolver<'_> {
    pub(super) fn skills(&mut self, root: &RawRoot) -> Definition<SkillsSettings> {
        let raw = root.skills.value().cloned().unwrap_or_default();
        let mut reasons: Vec<Problem> = self
            .report
            .problems()
            .iter()
            .filter(|problem| problem.is_in_all_skills() && problem.blocks())
            .cloned()
            .collect();
        if let Some(field) = root.skills.located()
            && self.report.omitted() > 0
        {
            // A list of what is allowed must not be missed because the report is full.
            let message = "may have mistakes beyond those that are listed";
            reasons.push(Problem::error(Kind::Rule, &field.path, message).at(field.span));
        }
        let load = raw.load.value();
        let directories = load.and_then(|load| load.extra_dirs.value());
        let extra_directories = directories
            .into_iter()
            .flatten()
            .map(|path| {
                self.directory
                    .join(self.environment.expand_home(&path.0.value))
            })
            .collect();
        let allow_bundled = raw.allow_bundled.value();
        let settings = SkillsSettings {
            extra_directories,
            allow_bundled: allow_bundled.map(|_| texts(&raw.allow_bundled)),
            entries: self.skill_entries(&raw),
        };
        Definition::new(Some(settings), reasons)
    }

    fn skill_entries(&mut self, raw: &RawSkills) -> BTreeMap<String, Definition<SkillSettings>> {
        let entries = raw.entries.value().into_iter();
        entries
            .flat_map(|entries| &entries.0)
            .map(|entry| {
                let settings = skill(&entry.raw);
                // Nobody needs to set variables for what is switched off.
                let blocked = if settings.enabled {
                    entry.blocked.clone()
                } else {
                    let blocked = entry.blocked.iter();
                    let mistakes = blocked.filter(|it| it.kind != Kind::MissingVariable);
                    mistakes.cloned().collect()
                };
                self.report.extend(blocked.iter().cloned());
                let definition = Definition::new(Some(settings), blocked);
                (entry.name.clone(), definition)
            })
            .collect()
    }
}

fn skill(raw: &RawSkill) -> SkillSettings {
    let variables = raw.env.value().cloned().unwrap_or_default();
    SkillSettings {
        enabled: raw.enabled.or(true),
        environment: variables
            .0
            .into_iter()
            .map(|entry| (entry.name, entry.value.value))
            .collect(),
        api_key: credential(&raw.api_key),
    }
}
