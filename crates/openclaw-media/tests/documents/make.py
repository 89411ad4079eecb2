#!/usr/bin/env python3
"""Writes the documents of the tests anew: needs reportlab, fpdf2, pikepdf, pillow and the DejaVu fonts."""

import zlib
from pathlib import Path
from tempfile import TemporaryDirectory

import pikepdf
from fpdf import FPDF
from PIL import Image, ImageDraw
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle, getSampleStyleSheet
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen import canvas
from reportlab.platypus import (
    BaseDocTemplate,
    Frame,
    PageBreak,
    PageTemplate,
    Paragraph,
    SimpleDocTemplate,
    Spacer,
    Table,
)

HERE = Path(__file__).resolve().parent
FONTS = Path("/usr/share/fonts/truetype/dejavu")
STYLES = getSampleStyleSheet()
SENTENCE = "What a server says must not be taken for what we say. "


def path(name: str) -> str:
    return str(HERE / f"{name}.pdf")


def document(name: str, story: list) -> None:
    SimpleDocTemplate(path(name), pagesize=A4, invariant=1).build(story)


def reportlab_documents() -> None:
    normal = STYLES["Normal"]
    rows = [["Item", "Count", "Price"], ["Lamp", "2", "19.90"], ["Total", "", "88.80"]]
    title = Paragraph("Invoice 2026-117", STYLES["Title"])
    lines = [Paragraph("To be paid in May.", normal), Spacer(1, 12), Table(rows)]
    document("invoice", [title, *lines, Paragraph("Thank you.", normal)])

    pdfmetrics.registerFont(TTFont("DejaVu", str(FONTS / "DejaVuSans.ttf")))
    wide = ParagraphStyle("wide", fontName="DejaVu", fontSize=11, leading=14)
    texts = ["Größe: 3 µm, naïve café – “quoted”, 20 €", "Ελληνικά, Русский язык"]
    document("letters", [Paragraph(text, wide) for text in texts])

    columns = BaseDocTemplate(path("columns"), pagesize=A4, invariant=1)
    width, height = A4[0] / 2 - 60, A4[1] - 100
    frames = [Frame(40, 40, width, height), Frame(A4[0] / 2 + 20, 40, width, height)]
    columns.addPageTemplates([PageTemplate(frames=frames)])
    columns.build([Paragraph(f"Paragraph {n}. {SENTENCE * 4}", normal) for n in range(1, 25)])

    pages = []
    for number in range(1, 101):
        pages += [Paragraph(f"Chapter {number}", STYLES["Heading1"])]
        pages += [Paragraph(SENTENCE * 8, normal) for _ in range(5)]
        pages += [PageBreak()]
    document("hundred", pages)

    picture = Image.new("L", (200, 100), 255)
    ImageDraw.Draw(picture).text((20, 20), "scanned words")
    scan = canvas.Canvas(path("scan"), invariant=1)
    with TemporaryDirectory() as directory:
        file = Path(directory) / "scan.png"
        picture.save(file)
        scan.drawImage(str(file), 50, 400)
        scan.save()

    turned = canvas.Canvas(path("turned"), invariant=1)
    turned.rotate(90)
    turned.drawString(100, -100, "Sideways text")
    turned.showPage()
    turned.setPageRotation(90)
    turned.drawString(100, 100, "A page that is turned")
    turned.save()


def fpdf_document() -> None:
    letter = FPDF()
    letter.add_page()
    letter.add_font("serif", fname=str(FONTS / "DejaVuSerif.ttf"))
    letter.set_font("serif", size=14)
    letter.multi_cell(0, 8, "Zażółć gęślą jaźń.\nSecond line.\nДобрый день.")
    letter.output(path("subset"))


def pikepdf_documents() -> None:
    packed = pikepdf.ObjectStreamMode.generate
    with pikepdf.open(path("columns")) as it:
        it.save(path("packed"), object_stream_mode=packed, deterministic_id=True)
    with pikepdf.open(path("invoice")) as it:
        it.save(path("locked"), encryption=pikepdf.Encryption(owner="o", user="secret", R=6))
    with pikepdf.open(path("invoice")) as it:
        it.save(path("owned"), encryption=pikepdf.Encryption(owner="o", user="", R=6))


def raw_document(name: str, objects: list[bytes]) -> None:
    body, places = b"%PDF-1.7\n", []
    for number, text in enumerate(objects, start=1):
        places.append(len(body))
        body += b"%d 0 obj\n%s\nendobj\n" % (number, text)
    table = b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    table += b"".join(b"%010d 00000 n \n" % place for place in places)
    trailer = b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n"
    (HERE / f"{name}.pdf").write_bytes(body + table + trailer % (len(objects) + 1, len(body)))


def bomb() -> None:
    """A page of 2 GiB, packed twice."""
    packer = zlib.compressobj(9)
    piece = b" " * (1 << 20)
    packed = b"".join(packer.compress(piece) for _ in range(2048)) + packer.flush()
    packed = zlib.compress(packed, 9)
    head = b"<< /Length %d /Filter [/FlateDecode /FlateDecode] >>\nstream\n" % len(packed)
    raw_document(
        "bomb",
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R >>",
            head + packed + b"\nendstream",
        ],
    )


if __name__ == "__main__":
    reportlab_documents()
    fpdf_document()
    pikepdf_documents()
    bomb()
