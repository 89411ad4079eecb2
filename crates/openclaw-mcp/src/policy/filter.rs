//! Which of its tools a server offers at all.

use openclaw_config::ToolFilter;

use super::Pattern;

/// The `toolFilter` of a server, over the names that it gives its tools.
#[derive(Clone, Debug)]
pub struct ServerFilter {
    include: Vec<Pattern>,
    exclude: Vec<Pattern>,
}

impl ServerFilter {
    /// The filter as it is configured.
    pub fn new(filter: &ToolFilter) -> Self {
        let patterns = |texts: &[String]| texts.iter().map(|text| Pattern::new(text)).collect();
        Self {
            include: patterns(&filter.include),
            exclude: patterns(&filter.exclude),
        }
    }

    /// Whether a tool is offered.
    pub fn offers(&self, tool: &str) -> bool {
        let is_meant = |patterns: &[Pattern]| patterns.iter().any(|it| it.matches(tool));
        (self.include.is_empty() || is_meant(&self.include)) && !is_meant(&self.exclude)
    }

    /// Whether no tool can be offered, whatever the server has.
    pub fn offers_nothing(&self) -> bool {
        self.exclude.iter().any(|it| it.matches_all_from(""))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filter(include: &[&str], exclude: &[&str]) -> ServerFilter {
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        ServerFilter::new(&ToolFilter {
            include: texts(include),
            exclude: texts(exclude),
        })
    }

    #[test]
    fn excluding_wins() {
        let some = filter(&["read_*", "list"], &["read_secret"]);
        assert!(some.offers("read_file") && some.offers("list"));
        assert!(!some.offers("read_secret") && !some.offers("write_file"));
        assert!(filter(&[], &[]).offers("anything"));
        assert!(filter(&[], &["*"]).offers_nothing());
        assert!(!filter(&["a"], &["b*"]).offers_nothing());
    }
}
