//! How text looks, and how a terminal is told.

/// How text looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Style {
    bold: bool,
    italic: bool,
    underlined: bool,
    quiet: bool,
    coloured: bool,
}

impl Style {
    /// As text looks by itself.
    pub(super) const PLAIN: Self = Self {
        bold: false,
        italic: false,
        underlined: false,
        quiet: false,
        coloured: false,
    };
    /// Headings, and what is emphasised strongly.
    pub(super) const STRONG: Self = Self {
        bold: true,
        ..Self::PLAIN
    };
    /// What is emphasised.
    pub(super) const ITALIC: Self = Self {
        italic: true,
        ..Self::PLAIN
    };
    /// Code.
    pub(super) const CODE: Self = Self {
        coloured: true,
        ..Self::PLAIN
    };
    /// What a link is called.
    pub(super) const LINK: Self = Self {
        underlined: true,
        ..Self::PLAIN
    };
    /// Beside the point.
    pub(super) const QUIET: Self = Self {
        quiet: true,
        ..Self::PLAIN
    };

    /// Both at once.
    pub(super) fn with(self, other: Self) -> Self {
        Self {
            bold: self.bold || other.bold,
            italic: self.italic || other.italic,
            underlined: self.underlined || other.underlined,
            quiet: self.quiet || other.quiet,
            coloured: self.coloured || other.coloured,
        }
    }

    /// Tells a terminal that has this style to use another one.
    pub(super) fn change(self, to: Self, shown: &mut String) {
        if self == to {
            return;
        }
        if self != Self::PLAIN {
            shown.push_str("\u{1b}[0m");
        }
        for (is_on, code) in [
            (to.bold, "\u{1b}[1m"),
            (to.quiet, "\u{1b}[2m"),
            (to.italic, "\u{1b}[3m"),
            (to.underlined, "\u{1b}[4m"),
            (to.coloured, "\u{1b}[36m"),
        ] {
            if is_on {
                shown.push_str(code);
            }
        }
    }
}
