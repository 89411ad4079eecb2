//! At which place of a message the next value stands.

/// What an attachment is given as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AttachmentKind {
    /// One of `images`.
    Image,
    /// One of `files`.
    File,
}

/// What a string is at the place where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// A key that matters.
    Key,
    /// The identifier of the message.
    Identifier,
    /// The bytes of an attachment.
    Data(AttachmentKind),
    /// Anything else.
    Other,
}

/// A key that leads somewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    Identifier,
    Params,
    Arguments,
    Images,
    Files,
    Data,
    Other,
}

impl Field {
    /// The longest text of a key that leads somewhere: `arguments` with every letter escaped.
    pub(super) const LONGEST: usize = 9 * r"\u0000".len();

    /// The field of a key, which stands here as it was written, without its quotes.
    pub(super) fn of(key: &[u8]) -> Self {
        if !key.contains(&b'\\') {
            return Self::named(key);
        }
        let quoted = [b"\"", key, b"\""].concat();
        match serde_json::from_slice::<String>(&quoted) {
            Ok(name) => Self::named(name.as_bytes()),
            Err(_) => Self::Other,
        }
    }

    fn named(name: &[u8]) -> Self {
        match name {
            b"id" => Self::Identifier,
            b"params" => Self::Params,
            b"arguments" => Self::Arguments,
            b"images" => Self::Images,
            b"files" => Self::Files,
            b"data" => Self::Data,
            _ => Self::Other,
        }
    }
}

/// Something that holds values, on the way to attachments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Line,
    Batch,
    Message,
    Params,
    Arguments,
    Attachments(AttachmentKind),
    Attachment(AttachmentKind),
}

/// What comes next in an object on the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Awaited {
    Key,
    Colon(Field),
    Value(Field),
}

/// Follows the brackets of a line, as far as they are on the way to attachments.
///
/// It is exact for JSON. What is not JSON leads anywhere, and is found out by whoever reads all of it.
#[derive(Debug)]
pub(super) struct Trail {
    place: Place,
    awaited: Awaited,
    is_batch: bool,
    /// How many brackets are open that lead off the way.
    beyond: usize,
}

impl Trail {
    /// The beginning of a line.
    pub(super) fn new() -> Self {
        Self {
            place: Place::Line,
            awaited: Awaited::Value(Field::Other),
            is_batch: false,
            beyond: 0,
        }
    }

    /// An object or an array begins. Says whether it is a message.
    pub(super) fn open(&mut self, bracket: u8) -> bool {
        let inner = match self.beyond {
            0 => self.inner(bracket == b'{'),
            _ => None,
        };
        match inner {
            Some(place) => {
                self.is_batch |= place == Place::Batch;
                self.place = place;
                self.awaited = Awaited::Key;
            }
            None => self.beyond += 1,
        }
        inner == Some(Place::Message)
    }

    /// Where an object or an array leads, if it is on the way.
    fn inner(&self, is_object: bool) -> Option<Place> {
        match (self.place, is_object, self.awaited) {
            (Place::Line, false, _) => Some(Place::Batch),
            (Place::Line | Place::Batch, true, _) => Some(Place::Message),
            (Place::Message, true, Awaited::Value(Field::Params)) => Some(Place::Params),
            (Place::Params, true, Awaited::Value(Field::Arguments)) => Some(Place::Arguments),
            (Place::Arguments, false, Awaited::Value(Field::Images)) => {
                Some(Place::Attachments(AttachmentKind::Image))
            }
            (Place::Arguments, false, Awaited::Value(Field::Files)) => {
                Some(Place::Attachments(AttachmentKind::File))
            }
            (Place::Attachments(kind), true, _) => Some(Place::Attachment(kind)),
            _ => None,
        }
    }

    /// An object or an array ends.
    pub(super) fn close(&mut self) {
        if self.beyond > 0 {
            self.beyond -= 1;
            return;
        }
        self.place = match self.place {
            Place::Message if self.is_batch => Place::Batch,
            Place::Line | Place::Batch | Place::Message => Place::Line,
            Place::Params => Place::Message,
            Place::Arguments => Place::Params,
            Place::Attachments(_) => Place::Arguments,
            Place::Attachment(kind) => Place::Attachments(kind),
        };
        self.awaited = Awaited::Value(Field::Other);
    }

    /// A value has ended, and another follows.
    pub(super) fn comma(&mut self) {
        if self.beyond == 0 {
            self.awaited = Awaited::Key;
        }
    }

    /// A key that mattered has ended.
    pub(super) fn key(&mut self, field: Field) {
        self.awaited = Awaited::Colon(field);
    }

    /// A value follows its key. Says whether it is the identifier of the message.
    pub(super) fn colon(&mut self) -> bool {
        if self.beyond == 0
            && let Awaited::Colon(field) = self.awaited
        {
            self.awaited = Awaited::Value(field);
            return self.is_identifier();
        }
        false
    }

    /// What the string is that begins here.
    pub(super) fn string(&self) -> Role {
        if self.beyond > 0 {
            return Role::Other;
        }
        match (self.place, self.awaited) {
            (Place::Line | Place::Batch | Place::Attachments(_), _) => Role::Other,
            (_, Awaited::Key) => Role::Key,
            (Place::Attachment(kind), Awaited::Value(Field::Data)) => Role::Data(kind),
            _ if self.is_identifier() => Role::Identifier,
            _ => Role::Other,
        }
    }

    /// Whether the value that stands here is the identifier of the only message.
    fn is_identifier(&self) -> bool {
        self.place == Place::Message
            && self.awaited == Awaited::Value(Field::Identifier)
            && !self.is_batch
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_may_be_escaped() {
        for (key, field) in [
            ("id", Field::Identifier),
            ("params", Field::Params),
            (r"p\u0061rams", Field::Params),
            (r"fi\u006Ces", Field::Files),
            ("Data", Field::Other),
            ("data ", Field::Other),
            (r"\d", Field::Other),
            (r"\ud800", Field::Other),
            ("", Field::Other),
        ] {
            assert_eq!(Field::of(key.as_bytes()), field, "{key}");
        }
        let escaped: String = "arguments"
            .bytes()
            .map(|byte| format!("\\u{byte:04x}"))
            .collect();
        assert_eq!(escaped.len(), Field::LONGEST);
        assert_eq!(Field::of(escaped.as_bytes()), Field::Arguments);
    }
}
