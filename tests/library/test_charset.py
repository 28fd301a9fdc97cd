"""Encodings: declared, marked, or told from the bytes."""

import pytest

from app.library.formats.charset import decode

ZH = "研究服务在后台运行，用户可以随时离开再回来。系统会保存所有的来源和引用，每一句话都有出处。"
TW = "研究服務在後台運行，用戶可以隨時離開再回來。系統會保存所有的來源和引用，每一句話都有出處。"
JA = "このサービスは質問に答えるために文書を検索し、引用付きの報告書を作成します。"
KO = "이 서비스는 질문에 답하기 위해 문서를 검색하고 인용이 달린 보고서를 작성합니다."
FR = "Le café est fermé à l’été : voilà où ça s’arrête. Garçon, déjà vu, naïveté."


@pytest.mark.parametrize(
    ("text", "codec"),
    [
        *((ZH, "utf-8"), (ZH, "utf-8-sig"), (ZH, "utf-16"), (FR, "utf-16-le"), (FR, "utf-16-be")),
        *((ZH, "gb18030"), (ZH[:6], "gb18030"), (TW, "big5"), (JA, "cp932"), (JA, "euc_jp")),
        *((KO, "cp949"), (FR, "cp1252"), ("plain", "ascii"), ("", "utf-8")),
    ],
)
def test_the_encoding_is_told_from_the_bytes(text: str, codec: str) -> None:
    assert decode(text.encode(codec)) == text


@pytest.mark.parametrize("label", ["gb2312", "GBK", "gb18030"])
def test_a_page_says_its_encoding_in_a_meta_tag(label: str) -> None:
    page = f'<meta charset="{label}"><p>{ZH}'
    assert decode(page.encode("gb18030"), markup=True) == page


def test_the_header_of_a_response_is_heard() -> None:
    assert decode("Служба".encode("cp1251"), "windows-1251") == "Служба"
    assert decode(JA.encode("iso-2022-jp"), "ISO-2022-JP") == JA


@pytest.mark.parametrize("label", ["latin1", "no-such-thing", "rot13", "utf-16", ""])
def test_a_wrong_label_does_not_spoil_utf8(label: str) -> None:
    assert decode(f'<meta charset="{label}">{ZH}'.encode(), markup=True).endswith(ZH)


@pytest.mark.parametrize("data", [b"\xff", b"\x80\x81", bytes(range(256)) * 9, b"\xe4\xb8"])
def test_no_bytes_raise(data: bytes) -> None:
    assert isinstance(decode(data), str)


def test_a_few_broken_bytes_leave_the_rest() -> None:
    assert decode(ZH.encode() * 9 + b"\xff" + ZH.encode()).endswith(ZH)
