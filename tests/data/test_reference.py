"""The check against a reference table: on the real one, and rule by rule on made-up ones."""

from collections.abc import Callable
from pathlib import Path

import pytest

from core.data.people import Person
from core.data.reference import (
    Judgement,
    ReferenceRow,
    compare,
    fold,
    load_judgements,
    load_reference,
    table_figures,
)

PersonMaker = Callable[..., Person]
HEADER = "name\tbirth_city\tbirth_country\tbirth_year\toccupation\n"


def row(name: str, place: str, born: int | None = 1901) -> ReferenceRow:
    return ReferenceRow(name=name, birthplace=place, born=born)


def test_the_shipped_table_is_right_about_97_percent_of_1000_shared_names(
    table: list[Person], reference_path: Path, judged_path: Path
) -> None:
    result = compare(table, load_reference(reference_path), load_judgements(judged_path))
    assert result.shared >= 1000
    assert result.unjudged == []
    assert result.agreed + len(result.judged) == result.shared
    assert result.right / result.shared >= 0.97


def test_without_the_judgements_the_real_check_lists_disagreements(
    table: list[Person], reference_path: Path, judged_path: Path
) -> None:
    reference = load_reference(reference_path)
    judged = compare(table, reference, load_judgements(judged_path)).judged
    unjudged = compare(table, reference, []).unjudged
    assert unjudged == [(j.name, j.ours, j.reference) for j in judged]
    assert len(unjudged) > 100


def test_every_judgement_gives_a_reason_and_speaks_of_the_table_as_it_is(
    table: list[Person], judged_path: Path
) -> None:
    judgements = load_judgements(judged_path)
    places = {person.name: person.birthplace for person in table}
    assert [j.name for j in judgements if places.get(j.name) != j.ours] == []
    assert [j.name for j in judgements if len(j.reason.split()) < 3] == []
    assert len({j.name for j in judgements}) == len(judgements)


def test_folding_ignores_accents_case_hyphens_and_space() -> None:
    assert fold("São  Paulo") == fold("sao paulo") == fold("SAO-PAULO") == "sao paulo"
    assert fold("Nürnberg") == fold("Nu\u0308rnberg")
    assert fold("Nurnberg") != fold("Nuremberg")


def test_names_in_both_tables_are_compared_after_folding(make_person: PersonMaker) -> None:
    people = [
        make_person(name="José Example", birthplace="São Paulo"),
        make_person(name="Bo Example", birthplace="Rome"),
        make_person(name="Only Ours"),
    ]
    reference = [row("Jose example", "Sao Paulo"), row("Bo Example", "Milan"), row("Other", "X")]
    result = compare(people, reference, [])
    assert (result.shared, result.agreed, result.right) == (2, 1, 1)
    assert result.unjudged == [("Bo Example", "Rome", "Milan")]


@pytest.mark.parametrize(
    ("verdict", "right"), [("ours", 1), ("same", 1), ("disputed", 0), ("namesake", 0)]
)
def test_a_judged_disagreement_is_right_if_we_are_or_both_are(
    make_person: PersonMaker, verdict: str, right: int
) -> None:
    judged = [Judgement("Ada Example", "Springfield", "Shelbyville", verdict, "A nearby town.")]
    result = compare([make_person()], [row("Ada Example", "Shelbyville")], judged)
    assert (result.shared, result.agreed, result.unjudged) == (1, 0, [])
    assert (result.judged, result.right) == (judged, right)


@pytest.mark.parametrize(
    "stale",
    [
        Judgement("Ada Example", "Springfield", "Capital City", "ours", "Another reference."),
        Judgement("Ada Example", "Ogdenville", "Shelbyville", "ours", "Our place was another."),
        Judgement("Bo Example", "Springfield", "Shelbyville", "ours", "Another person."),
    ],
)
def test_a_judgement_about_other_values_does_not_count(
    make_person: PersonMaker, stale: Judgement
) -> None:
    result = compare([make_person()], [row("Ada Example", "Shelbyville")], [stale])
    assert result.judged == []
    assert result.unjudged == [("Ada Example", "Springfield", "Shelbyville")]


@pytest.mark.parametrize(
    ("born", "shared"), [(1901, 1), (1904, 1), (1898, 1), (1905, 0), (1897, 0), (None, 1)]
)
def test_a_namesake_with_another_year_of_birth_is_not_shared(
    make_person: PersonMaker, born: int | None, shared: int
) -> None:
    result = compare([make_person(born=1901)], [row("Ada Example", "Springfield", born)], [])
    assert (result.shared, result.agreed) == (shared, shared)


def test_of_two_rows_with_one_name_the_one_with_the_right_year_is_compared(
    make_person: PersonMaker,
) -> None:
    rows = [row("Ada Example", "Springfield"), row("Ada Example", "Paris", 1824)]
    for order in (rows, rows[::-1]):
        result = compare([make_person()], order, [])
        assert (result.shared, result.agreed) == (1, 1)


def test_a_place_that_the_reference_does_not_know_is_not_compared(make_person: PersonMaker) -> None:
    assert compare([make_person()], [row("Ada Example", "Other")], []).shared == 0


def test_the_figures_of_a_small_table_are_counted_by_hand(make_person: PersonMaker) -> None:
    people = [
        make_person(name="A", birthplace="Rome", country="Italy"),
        make_person(name="B", birthplace="Rome", country="Italy", pronoun="he"),
        make_person(name="C", birthplace="Lima", country="Peru", continent="South America"),
        make_person(name="D", birthplace="Oslo", country="Norway", pronoun="they"),
        make_person(name="E", birthplace="Reno", country="US", continent="North America"),
    ]
    assert table_figures(people) == pytest.approx(
        {
            "people": 5,
            "birthplaces": 4,
            "countries": 4,
            "women_share": 3 / 5,
            "outside_europe_and_north_america_share": 1 / 5,
            "largest_place_share": 2 / 5,
        }
    )


def test_a_reference_is_read_with_quotes_kept_and_odd_years_as_unknown(tmp_path: Path) -> None:
    path = tmp_path / "reference.tsv"
    lines = ('"Al" E\tRome\tItaly\t-384\tX', "Bo\tLima\tPeru\t530s\tX", "Cy\tOslo\tNorway\t\tX")
    path.write_text(HEADER + "\n".join(lines), encoding="utf-8")
    assert load_reference(path) == [
        row('"Al" E', "Rome", -384),
        row("Bo", "Lima", None),
        row("Cy", "Oslo", None),
    ]


def test_a_reference_without_its_columns_or_without_a_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "reference.tsv"
    with pytest.raises(ValueError, match=r"reference\.tsv: cannot be read \(No such file"):
        load_reference(path)
    path.write_text("name\tbirth_year\nAda\t1901\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"reference\.tsv: the columns birth_city are missing"):
        load_reference(path)


def test_an_unknown_verdict_is_named_with_its_person(tmp_path: Path) -> None:
    path = tmp_path / "judged.tsv"
    header = "name\tours\treference\tverdict\treason\n"
    path.write_text(header + "Ada\tRome\tMilan\tours\tShe says so.\n", encoding="utf-8")
    assert load_judgements(path) == [Judgement("Ada", "Rome", "Milan", "ours", "She says so.")]
    path.write_text(header + "Ada\tRome\tMilan\tmaybe\tNobody knows.\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"judged\.tsv: Ada: verdict 'maybe', not \('ours'"):
        load_judgements(path)
