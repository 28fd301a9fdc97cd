import pytest

from graph.citations.figures import figures, missing


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("3.5 million users", "350万用户"),
        ("3,500,000 users", "3.5 million"),
        ("３５０万用户", "3.5 million users"),
        ("三百五十万用户", "350万"),
        ("two million", "2,000,000"),
        ("$1.2bn", "1.2 billion dollars"),
        ("1200多万", "1200万人"),
        ("5,000 rows", "５，０００ 行"),
        ("3.5亿", "350 million"),
        ("On 3 May 2024", "released 2024-05-03"),
        ("2024年5月3日", "May 3rd, 2024"),
        ("May 2024", "2024年5月3日"),
        ("3 May 2024", "in 2024; on May 3 it"),
        ("in 2024", "of May 2024"),
        ("13.05.2024", "May 13, 2024"),
        ("12%", "12 percent"),
        ("百分之五十", "50%"),
        ("fifty percent", "50 per cent"),
        ("10-20%", "10% to 20%"),
        ("3,5 %", "3.5%"),
        ("12.0", "12"),
        ("GPT-4 and F09", "gpt 4, case F09"),
        ("127.0.0.1:8000", "at http://127.0.0.1:8000."),
        ("a pre-2020 design", "before 2020"),
        ("2 cores", "two cores"),
        ("three reasons, 两个原因, 十分好, 千万注意", "no number at all"),
        ("(1) first and (2) second", "first, second"),
        ("twenty-one guns", "guns"),
    ],
)
def test_the_same_figure_in_another_spelling_is_stated(claim: str, source: str) -> None:
    assert missing(figures(claim), [source]) == []


@pytest.mark.parametrize(
    ("claim", "source", "absent"),
    [
        ("4711 of 9999 cases", "all 9999 cases", ["4711"]),
        ("12%", "12 people", ["12%"]),
        ("1.5 s", "15 s", ["1.5"]),
        ("5 million", "5 thousand", ["5 million"]),
        ("5万", "5 亿", ["5万"]),
        ("3 May 2023", "2024-05-03", ["3 May 2023"]),
        ("GPT-4", "GPT-5 has 4 heads", ["GPT-4"]),
        ("version 1.2.3", "version 1.2.30", ["1.2.3"]),
        ("三百人", "四百人", ["三百"]),
    ],
)
def test_another_figure_is_missed(claim: str, source: str, absent: list[str]) -> None:
    assert [f.text for f in missing(figures(claim), [source])] == absent


def test_figures_may_be_spread_over_the_cited_texts() -> None:
    assert missing(figures("from 10 to 30 seconds"), ["10 seconds", "30 seconds"]) == []
