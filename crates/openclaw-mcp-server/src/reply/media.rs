//! Media that go back: judged, and as parts of a reply.

use std::sync::Arc;

use openclaw_content::{Media, MediaKind, clean_name};
use openclaw_engine::ReplyPart;

use super::OutPart;
use super::left_out::{LeftOut, Why};
use super::names::{Names, file_name};

/// A piece of media, as it was heard of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HeldMedia {
    shape: Shape,
    mime_type: String,
    data: Arc<str>,
}

/// What a piece of media is for those who get it.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Shape {
    Image,
    Audio,
    File { name: Option<String> },
}

impl HeldMedia {
    /// A part of an answer, if it is not text; else the text.
    pub(super) fn of(part: ReplyPart) -> Result<Self, String> {
        let (shape, mime_type, data) = match part {
            ReplyPart::Text { text } => return Err(text),
            ReplyPart::Image { mime_type, data } => (Shape::Image, mime_type, data),
            ReplyPart::Audio { mime_type, data } => (Shape::Audio, mime_type, data),
            ReplyPart::Resource {
                name,
                mime_type,
                data,
            } => (Shape::File { name: Some(name) }, mime_type, data),
        };
        Ok(Self {
            shape,
            mime_type,
            data,
        })
    }

    /// How many bytes it has when decoded, by the length of its base64.
    pub(super) fn bytes(&self) -> usize {
        let padding = self.data.bytes().rev().take(2);
        let padding = padding.take_while(|byte| *byte == b'=').count();
        (self.data.len() / 4 * 3).saturating_sub(padding)
    }

    /// Names it in place of it.
    pub(super) fn left_out(&self, why: Why) -> LeftOut {
        let mime_type = clean_name(&self.mime_type);
        let what = match &self.shape {
            Shape::File { name: Some(name) } => {
                format!("{}, {mime_type}", file_name(Some(name), &self.mime_type))
            }
            Shape::Image | Shape::Audio | Shape::File { name: None } => mime_type,
        };
        let bytes = self.bytes();
        LeftOut { what, bytes, why }
    }

    /// Looks at its bytes: only what is base64 goes back, and only what clients take for an image or
    /// for sound goes back as such.
    pub(super) fn judged(self) -> Result<Self, LeftOut> {
        let Ok(media) = Media::from_base64(&self.mime_type, &self.data) else {
            return Err(self.left_out(Why::Malformed));
        };
        let plain = media.media_type();
        let (shape, mime_type) = match self.shape {
            Shape::Image => match image_type(&media) {
                Some(image) => (Shape::Image, image),
                None => (Shape::File { name: None }, plain),
            },
            Shape::Audio if plain.starts_with("audio/") && media.bytes() > 0 => {
                (Shape::Audio, plain)
            }
            Shape::Audio => (Shape::File { name: None }, plain),
            file @ Shape::File { .. } => (file, plain),
        };
        Ok(Self {
            shape,
            mime_type: mime_type.to_owned(),
            data: self.data,
        })
    }

    /// It as a part of a reply.
    pub(super) fn into_part(self, names: &mut Names) -> OutPart {
        let Self {
            shape,
            mime_type,
            data,
        } = self;
        match shape {
            Shape::Image => OutPart::Image { mime_type, data },
            Shape::Audio => OutPart::Audio { mime_type, data },
            Shape::File { name } => OutPart::Resource {
                uri: names.address(name.as_deref(), &mime_type),
                mime_type,
                data,
            },
        }
    }
}

/// The type under which an image goes back. Other kinds of images go back as files: services refuse a
/// whole conversation for one image that they don't know.
fn image_type(media: &Media) -> Option<&'static str> {
    let kinds = [
        MediaKind::Png,
        MediaKind::Jpeg,
        MediaKind::Gif,
        MediaKind::Webp,
    ];
    let fits = |kind: &MediaKind| match media.kind() {
        Some(known) => known == *kind,
        None => media.bytes() > 0 && media.media_type() == kind.media_type(),
    };
    let kind = kinds.into_iter().find(fits);
    kind.map(MediaKind::media_type)
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;

    use super::*;

    const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";

    fn image(mime_type: &str, bytes: &[u8]) -> HeldMedia {
        let (mime_type, data) = (mime_type.to_owned(), STANDARD.encode(bytes).into());
        HeldMedia::of(ReplyPart::Image { mime_type, data }).unwrap()
    }

    fn out(held: HeldMedia) -> String {
        match held
            .judged()
            .map(|held| held.into_part(&mut Names::default()))
        {
            Ok(OutPart::Image { mime_type, .. }) => format!("image {mime_type}"),
            Ok(OutPart::Audio { mime_type, .. }) => format!("audio {mime_type}"),
            Ok(OutPart::Resource { uri, mime_type, .. }) => format!("{uri} {mime_type}"),
            Ok(OutPart::Text(text)) => text,
            Err(left_out) => left_out.to_string(),
        }
    }

    #[test]
    fn only_images_that_clients_know_go_back_as_images() {
        assert_eq!(out(image("image/png", PNG)), "image image/png");
        assert_eq!(out(image("image/jpeg", PNG)), "image image/png");
        let jpeg = b"\xff\xd8\xff\xe0";
        assert_eq!(out(image("image/jpg", jpeg)), "image image/jpeg");
        // Nothing contradicts it.
        assert_eq!(out(image("image/png", b"thing")), "image image/png");
        assert_eq!(
            out(image("image/svg+xml", b"<svg/>")),
            "attachment://attachment.svg image/svg+xml"
        );
        assert_eq!(
            out(image("image/bmp", b"BM")),
            "attachment://attachment.bmp image/bmp"
        );
        assert_eq!(
            out(image("image/png", b"")),
            "attachment://attachment.png image/png"
        );
    }

    #[test]
    fn only_sound_goes_back_as_sound() {
        let sound = |mime_type: &str, bytes: &[u8]| {
            let (mime_type, data) = (mime_type.to_owned(), STANDARD.encode(bytes).into());
            out(HeldMedia::of(ReplyPart::Audio { mime_type, data }).unwrap())
        };
        assert_eq!(sound("audio/mpeg", b"ID3\x04\0"), "audio audio/mpeg");
        assert_eq!(
            sound("audio/mpeg", b"%PDF-1.7"),
            "attachment://attachment.pdf application/pdf"
        );
    }

    #[test]
    fn what_is_no_base64_is_named() {
        let held = |data: &str| {
            let part = ReplyPart::Resource {
                name: "a\n[b].pdf".to_owned(),
                mime_type: "application/pdf".to_owned(),
                data: data.into(),
            };
            HeldMedia::of(part).unwrap()
        };
        for data in ["QQ", "Q Q=", "QQ==QQ=="] {
            assert_eq!(
                out(held(data)),
                "[left out: a _b_.pdf, application/pdf: its bytes are malformed base64]"
            );
        }
    }

    #[test]
    fn lengths_are_known_without_decoding() {
        for length in [0, 1, 2, 3, 4, 100, 101] {
            assert_eq!(image("image/png", &vec![7; length]).bytes(), length);
        }
    }
}
