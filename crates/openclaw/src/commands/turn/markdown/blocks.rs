//! What a line is, told by how it begins.

/// A fence around code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fence {
    mark: char,
    length: usize,
}

/// How a line begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Beginning {
    /// Nobody knows yet.
    Unknown,
    /// It opens a fence.
    Open(Fence),
    /// It closes the fence that is open.
    Close,
    /// It is code.
    Code,
    /// A heading, behind its mark.
    Heading { taken: usize },
    /// An item of a list, behind its mark.
    Item { indent: usize, taken: usize },
    /// A quote so deep, behind its marks.
    Quote { depth: usize, taken: usize },
    /// Anything else.
    Text,
}

/// Tells what a line is; what is not whole may go on.
pub(super) fn beginning(line: &str, is_whole: bool, fence: Option<Fence>) -> Beginning {
    let body = line.trim_start_matches([' ', '\t']);
    let indent = line.len() - body.len();
    let Some(first) = body.chars().next() else {
        return match (is_whole, fence) {
            (false, _) => Beginning::Unknown,
            (true, Some(_)) => Beginning::Code,
            (true, None) => Beginning::Text,
        };
    };
    if let Some(fence) = fence {
        return in_fence(body, first, is_whole, fence);
    }
    match first {
        '`' | '~' => opening(body, first, is_whole),
        '#' if indent == 0 => heading(body, is_whole),
        '-' | '*' | '+' => match body.as_bytes().get(1) {
            Some(b' ') => Beginning::Item {
                indent,
                taken: indent + 2,
            },
            None if !is_whole => Beginning::Unknown,
            _ => Beginning::Text,
        },
        '>' => quote(line, indent, is_whole),
        _ => Beginning::Text,
    }
}

fn run(body: &str, mark: char) -> usize {
    body.chars().take_while(|it| *it == mark).count()
}

fn in_fence(body: &str, first: char, is_whole: bool, fence: Fence) -> Beginning {
    if first != fence.mark {
        return Beginning::Code;
    }
    let length = run(body, fence.mark);
    let rest = body.get(length..).unwrap_or_default();
    if !rest.trim().is_empty() || (length < fence.length && !rest.is_empty()) {
        return Beginning::Code;
    }
    match is_whole {
        false => Beginning::Unknown,
        true if length >= fence.length => Beginning::Close,
        true => Beginning::Code,
    }
}

fn opening(body: &str, mark: char, is_whole: bool) -> Beginning {
    let length = run(body, mark);
    let rest = body.get(length..).unwrap_or_default();
    if length < 3 {
        let may_go_on = rest.is_empty() && !is_whole;
        return if may_go_on {
            Beginning::Unknown
        } else {
            Beginning::Text
        };
    }
    // Code within a line can begin like this, too.
    if mark == '`' && rest.contains('`') {
        return Beginning::Text;
    }
    if is_whole {
        Beginning::Open(Fence { mark, length })
    } else {
        Beginning::Unknown
    }
}

fn heading(body: &str, is_whole: bool) -> Beginning {
    let length = run(body, '#');
    match body.as_bytes().get(length) {
        _ if length > 6 => Beginning::Text,
        Some(b' ') => Beginning::Heading { taken: length + 1 },
        None if !is_whole => Beginning::Unknown,
        _ => Beginning::Text,
    }
}

fn quote(line: &str, indent: usize, is_whole: bool) -> Beginning {
    let bytes = line.as_bytes();
    let (mut depth, mut taken) = (0, indent);
    loop {
        match bytes.get(taken) {
            Some(b'>') => {
                depth += 1;
                taken += 1;
            }
            None if !is_whole => return Beginning::Unknown,
            _ => break,
        }
        match bytes.get(taken) {
            Some(b' ') => taken += 1,
            None if !is_whole => return Beginning::Unknown,
            _ => {}
        }
    }
    Beginning::Quote { depth, taken }
}
