//! Lists of skills.

use openclaw_engine::SkillsReport;

use crate::{LINE, name};
use openclaw_content::shown_line;

/// All skills with how they are called, and why those that do not apply don't.
pub fn skills(report: &SkillsReport) -> String {
    if report.skills.is_empty() {
        return "there are no skills\n".to_owned();
    }
    let mut text = "Skills\n".to_owned();
    for skill in &report.skills {
        let call = match &skill.command {
            _ if !skill.user_invocable => name(&skill.name),
            Some(command) => format!("/{}", name(command)),
            None => format!("/skill {}", name(&skill.name)),
        };
        let description = shown_line(&skill.description, LINE);
        text.push_str(&format!("  {call}  {description}\n"));
        for obstacle in &skill.obstacles {
            text.push_str(&format!("      not now: {}\n", shown_line(obstacle, LINE)));
        }
    }
    text
}
