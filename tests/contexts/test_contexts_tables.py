"""Tables from rows of words: whole rows, labels apart, years over their columns."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from contexts_drawing import ReadTable, tables_in
from hypothesis import given, settings
from hypothesis import strategies as st

from deepchart_dagster.contexts.layout import lay_out
from deepchart_dagster.contexts.words import Word, numbers_in

WIDTH = 600.0


def at(text: str, x0: float, y: float) -> list[Word]:
    """Words of a phrase, five points a character."""
    words = []
    for part in text.split():
        words.append(Word(part, x0, y, x0 + 5 * len(part), y + 10))
        x0 += 5 * len(part) + 2.5
    return words


def right(text: str, edge: float, y: float) -> list[Word]:
    """Words that end at ``edge``; a closing bracket hangs over."""
    hang = 3 if text.endswith(")") else 0
    return at(text, edge + hang - 5 * len(text), y)


def only_table(words: list[Word]) -> ReadTable:
    tables = tables_in("\n".join(line.markdown for line in lay_out(words, WIDTH)))
    assert len(tables) == 1
    return tables[0]


def test_years_dollars_brackets_and_nil() -> None:
    table = only_table(
        at("Years ended", 440, 70)
        + at("2022", 410, 85) + at("2021", 500, 85)
        + at("Net sales:", 50, 100)
        + at("Products", 60, 115) + at("$", 380, 115) + right("316,199", 430, 115) + at("$", 470, 115)
        + right("297,392", 520, 115)
        + at("Other income/(expense), net", 60, 130) + right("(334)", 430, 130) + right("258", 520, 130)
        + at("Operating leases", 60, 145) + right("—", 430, 145) + right("25,141", 520, 145)
    )  # fmt: skip
    assert table.columns == ("", "2022", "2021")
    assert table.rows == (
        ("Net sales:", "", ""),
        ("Products", "$316,199", "$297,392"),
        ("Other income/(expense), net", "(334)", "258"),
        ("Operating leases", "—", "25,141"),
    )


def test_dates_over_two_rows_stand_over_their_columns() -> None:
    table = only_table(
        at("September 24,", 380, 70) + at("September 25,", 480, 70)
        + at("2022", 405, 80) + at("2021", 505, 80)
        + at("Inventories", 50, 100) + right("4,946", 430, 100) + right("6,580", 530, 100)
        + at("Total assets", 50, 115) + right("352,755", 430, 115) + right("351,002", 530, 115)
    )  # fmt: skip
    assert table.columns == ("", "September 24, 2022", "September 25, 2021")
    assert table.value("Total assets", "2021") == "351,002"


def test_dates_that_an_engine_gave_as_one_phrase_are_told_apart() -> None:
    table = only_table(
        [
            Word("September 24, September 25,", 380, 70, 540, 80),
            *at("2022", 405, 80), *at("2021", 505, 80),
            *at("Inventories", 50, 100), *right("4,946", 430, 100), *right("6,580", 530, 100),
            *at("Total assets", 50, 115), *right("352,755", 430, 115), *right("351,002", 530, 115),
        ]
    )  # fmt: skip
    assert table.columns == ("", "September 24, 2022", "September 25, 2021")


def test_a_label_over_two_lines_is_one_row_and_numbers_in_labels_stay_there() -> None:
    table = only_table(
        at("2022", 410, 70) + at("2021", 500, 70)
        + at("Commercial paper", 50, 90) + right("9,982", 430, 90) + right("6,000", 520, 90)
        + at("Common stock, $0.00001 par value: 50,400,000 shares", 50, 106)
        + at("authorized; 15,943,425 shares issued", 56, 116) + right("64,849", 430, 116) + right("57,365", 520, 116)
        + at("Retained earnings", 50, 132) + right("(3,068)", 430, 132) + right("5,562", 520, 132)
        + at("Total", 50, 148) + right("50,672", 430, 148) + right("63,090", 520, 148)
    )  # fmt: skip
    label = "Common stock, $0.00001 par value: 50,400,000 shares authorized; 15,943,425 shares issued"
    assert table.value(label, "2022") == "64,849"
    assert len(table.rows) == 4


def test_a_column_of_words_and_centred_values() -> None:
    table = only_table(
        at("Benchmark", 50, 70) + at("Model A", 200, 70) + at("Model B", 300, 70)
        + at("Parameters", 50, 85) + at("2.81B", 205, 85) + at("15.29B", 302, 85)
        + at("Optimizer", 50, 100) + at("AdamW", 205, 100) + at("Muon", 307, 100)
        + at("MATH", 50, 115) + at("8.5", 210, 115) + at("45.3", 307, 115)
    )  # fmt: skip
    assert table.columns == ("Benchmark", "Model A", "Model B")
    assert table.rows[1] == ("Optimizer", "AdamW", "Muon")
    assert table.value("MATH", "Model B") == "45.3"


def test_new_years_in_the_middle_begin_a_table_of_their_own() -> None:
    words = (
        at("2022", 410, 70) + at("2021", 500, 70)
        + at("Deposits", 50, 85) + right("10", 430, 85) + right("20", 520, 85)
        + at("Loans", 50, 100) + right("30", 430, 100) + right("40", 520, 100)
        + at("2020", 410, 118) + at("2019", 500, 118)
        + at("Deposits", 50, 133) + right("50", 430, 133) + right("60", 520, 133)
        + at("Loans", 50, 148) + right("70", 430, 148) + right("80", 520, 148)
    )  # fmt: skip
    first, second = tables_in("\n".join(line.markdown for line in lay_out(words, WIDTH)))
    assert first.value("Loans", "2021") == "40"
    assert second.value("Loans", "2019") == "80"


def test_a_list_of_years_and_amounts_has_the_years_as_labels() -> None:
    table = only_table(
        [w for i in range(4) for w in at(str(2023 + i), 60, 70 + 15 * i) + right(f"{i + 1},500", 430, 70 + 15 * i)]
    )
    assert table.rows == (("2023", "1,500"), ("2024", "2,500"), ("2025", "3,500"), ("2026", "4,500"))


def test_cells_are_escaped() -> None:
    words = [w for i in range(3) for w in at("R&D <net>", 50, 70 + 15 * i) + right(f"{i + 1},000", 430, 70 + 15 * i)]
    (line,) = lay_out(words, WIDTH)
    assert "<td>R&amp;D &lt;net&gt;</td>" in line.markdown


def test_years_stand_over_their_columns_with_a_unit_and_a_group_heading_in_between() -> None:
    table = only_table(
        at("2017 (1)", 400, 70) + at("2018", 500, 70)
        + at("(in millions)", 250, 80)
        + at("Statements of Operations:", 50, 90)
        + at("Net sales", 60, 101) + right("177,866", 430, 101) + right("232,887", 520, 101)
        + at("Net income", 60, 112) + right("3,033", 430, 112) + right("10,073", 520, 112)
    )  # fmt: skip
    assert table.value("Net income", "2018") == "10,073"
    assert table.columns[1] == "2017 (1)"
    assert ("Statements of Operations:", "", "") in table.rows


def test_the_title_of_the_next_table_is_no_row_of_the_one_above() -> None:
    words = (
        at("2022", 410, 70) + at("2021", 500, 70)
        + at("Land", 50, 85) + right("10", 430, 85) + right("20", 520, 85)
        + at("Total", 50, 100) + right("30", 430, 100) + right("40", 520, 100)
        + at("Other Liabilities", 50, 115)
        + at("2022", 410, 130) + at("2021", 500, 130)
        + at("Taxes", 50, 145) + right("50", 430, 145) + right("60", 520, 145)
        + at("Total", 50, 160) + right("70", 430, 160) + right("80", 520, 160)
    )  # fmt: skip
    lines = [line.markdown for line in lay_out(words, WIDTH)]
    assert [line.startswith("<table>") for line in lines] == [True, False, True]
    assert lines[1] == "Other Liabilities"


def test_percents_on_one_row_only_have_columns_of_their_own() -> None:
    table = only_table(
        at("2022", 350, 70) + at("Change", 395, 70) + at("2021", 470, 70)
        + at("Interest income", 50, 85) + right("2,825", 370, 85) + right("2,843", 490, 85)
        + at("Interest expense", 50, 100) + right("(2,931)", 370, 100) + right("(2,645)", 490, 100)
        + at("Other", 50, 115) + right("(228)", 370, 115) + right("60", 490, 115)
        + at("Total", 50, 130) + right("(334)", 370, 130) + right("(229)%", 425, 130) + right("258", 490, 130)
    )  # fmt: skip
    assert table.columns == ("", "2022", "Change", "2021")
    assert table.rows[-1] == ("Total", "(334)", "(229)%", "258")
    assert table.rows[0] == ("Interest income", "2,825", "", "2,843")


def test_a_column_of_note_numbers_is_no_year() -> None:
    table = only_table(
        at("Note", 300, 70) + at("2022", 410, 70) + at("2021", 500, 70)
        + at("Revenue", 50, 85) + right("3", 315, 85) + right("900", 430, 85) + right("820", 520, 85)
        + at("Cost of sales", 50, 100) + right("500", 430, 100) + right("470", 520, 100)
        + at("Finance costs", 50, 115) + right("12", 317, 115) + right("—", 430, 115) + right("(3)", 520, 115)
        + at("Tax", 50, 130) + right("7", 315, 130) + right("30", 430, 130) + right("—", 520, 130)
    )  # fmt: skip
    assert table.columns == ("", "Note", "2022", "2021")
    assert table.rows == (
        ("Revenue", "3", "900", "820"),
        ("Cost of sales", "", "500", "470"),
        ("Finance costs", "12", "—", "(3)"),
        ("Tax", "7", "30", "—"),
    )


def test_years_span_the_names_below_them_and_no_more() -> None:
    words = at("2018", 322, 70) + at("2019", 442, 70)
    for edge, name in ((315, "Gross"), (370, "Net"), (435, "Gross"), (490, "Net"), (560, "Life")):
        words += right(name, edge, 84)
    for y, label, values in (
        (100, "Marketing", ("2,542", "2,111", "2,303", "1,963", "20.7")),
        (115, "Contracts", ("1,430", "1,206", "1,702", "1,402", "10.5")),
    ):
        words += at(label, 50, y)
        words += [
            w for edge, value in zip((315, 370, 435, 490, 560), values, strict=True) for w in right(value, edge, y)
        ]
    (line,) = lay_out(words, WIDTH)
    assert '<tr><th></th><th colspan="2">2018</th><th colspan="2">2019</th><th></th></tr>' in line.markdown
    assert "<tr><th></th><th>Gross</th><th>Net</th><th>Gross</th><th>Net</th><th>Life</th></tr>" in line.markdown


def test_a_range_is_one_value_and_a_total_without_label_belongs_to_the_table() -> None:
    table = only_table(
        at("Amount", 400, 70) + at("Rate", 500, 70)
        + at("Old notes", 50, 85) + right("1,750", 430, 85) + at("0.48% – 0.63%", 465, 85)
        + at("New notes", 50, 100) + right("5,500", 430, 100) + at("3.27% – 4.12%", 465, 100)
        + right("7,250", 430, 115) + at("0.48% – 4.12%", 465, 115)
    )  # fmt: skip
    assert table.rows[0] == ("Old notes", "1,750", "0.48% – 0.63%")
    table = only_table(
        at("Due 2020", 50, 85) + right("486", 430, 85)
        + at("Thereafter", 50, 100) + right("2,116", 430, 100)
        + right("2,602", 430, 115)
    )  # fmt: skip
    assert table.rows[-1] == ("", "2,602")


def test_a_range_that_ocr_gives_as_one_word_or_as_two_is_one_value() -> None:
    table = only_table(
        at("2022", 290, 60) + at("Rate", 400, 60)
        + at("Floating", 50, 76) + right("1,750", 310, 76) + at("0.48%-0.63%", 380, 76)
        + at("Fixed", 50, 90) + right("106,324", 310, 90) + at("0.03%", 380, 90) + at("-4.78%", 408, 90)
        + at("Maturing", 50, 104) + right("5,500", 310, 104) + at("2029-2062", 388, 104)
    )  # fmt: skip
    assert table.columns == ("", "2022", "Rate")
    assert [row[1:] for row in table.rows] == [
        ("1,750", "0.48%-0.63%"), ("106,324", "0.03% -4.78%"), ("5,500", "2029-2062"),
    ]  # fmt: skip


def test_a_header_that_comes_again_begins_a_table_of_its_own() -> None:
    words = []
    for y, year in ((70, 2022), (145, 2021)):
        words += right("Paid-in capital", 430, y) + right("Retained", 520, y)
        words += (
            at(f"Balance, beginning of {year}", 50, y + 15) + right("1,072", 430, y + 15) + right("2,256", 520, y + 15)
        )
        words += at("Dividends", 50, y + 30) + right("—", 430, y + 30) + right("(146)", 520, y + 30)
        words += at(f"Balance, end of {year}", 50, y + 45) + right("1,010", 430, y + 45) + right("2,639", 520, y + 45)
    tables = tables_in("\n".join(line.markdown for line in lay_out(words, WIDTH)))
    assert [table.columns for table in tables] == [("", "Paid-in capital", "Retained")] * 2
    assert [table.rows[1] for table in tables] == [("Dividends", "—", "(146)")] * 2


LABELS = ["Revenue", "Cost of sales", "Gross margin", "Taxes on income", "Net income", "Other", "Cash paid"]
amounts = st.integers(-999_999, 9_999_999)


def written(amount: int) -> str:
    return f"({-amount:,})" if amount < 0 else f"{amount:,}" if amount else "—"


@settings(max_examples=60, deadline=None)
@given(
    st.integers(2, 4).flatmap(
        lambda n: st.tuples(st.just(n), st.lists(st.lists(amounts, min_size=n, max_size=n), min_size=3, max_size=12))
    )
)
def test_any_statement_is_read_back_cell_by_cell(drawn: tuple[int, list[list[int]]]) -> None:
    n_columns, rows = drawn
    edges = [280.0 + 90 * at_column for at_column in range(n_columns)]
    words = [w for year, edge in enumerate(edges) for w in right(str(2022 - year), edge - 8, 60)]
    for row, amounts_of_row in enumerate(rows):
        y = 80.0 + 15 * row
        words += at(LABELS[row % len(LABELS)], 50, y)
        words += [
            w for edge, amount in zip(edges, amounts_of_row, strict=True) for w in right(written(amount), edge, y)
        ]
    table = only_table(words)
    assert [header[-4:] for header in table.columns[1:]] == [str(2022 - year) for year in range(n_columns)]
    expected = [
        (LABELS[row % len(LABELS)], *(written(amount) for amount in amounts_of_row))
        for row, amounts_of_row in enumerate(rows)
    ]
    assert list(table.rows) == expected


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.integers(30, 520), st.integers(40, 700), st.sampled_from(["1,234", "(5.6)", "net", "2022", "$", "—"])
        ),
        max_size=60,
    )
)
def test_no_number_is_lost_or_doubled_however_words_stand(placed: list[tuple[int, int, str]]) -> None:
    words = [Word(text, x, y, x + 5 * len(text), y + 10) for x, y, text in placed]
    lines = lay_out(words, WIDTH)
    expected = Counter(number for word in words for number in numbers_in(word.text))
    assert Counter(number.text for line in lines for number in line.numbers) == expected


def bold(words: list[Word]) -> list[Word]:
    return [replace(word, bold=True) for word in words]


def shown(words: list[Word]) -> list[str]:
    return [line.markdown for line in lay_out(words, WIDTH)]


def test_a_year_above_the_next_table_is_that_tables() -> None:
    def block(year: str, y: float, value: str) -> list[Word]:
        return (
            at(year, 420, y)
            + at("Gross", 380, y + 13) + at("Net", 480, y + 13)
            + at("Cost", 380, y + 26) + at("Cost", 480, y + 26)
            + at("Cash", 50, y + 42) + right(value, 410, y + 42) + right("18,546", 500, y + 42)
            + at("Bonds", 50, y + 55) + right("2,929", 410, y + 55) + right("9,608", 500, y + 55)
        )  # fmt: skip

    above, below = [
        line for line in shown(block("2022", 50, "7,305") + block("2021", 125, "4,111")) if "<table" in line
    ]
    assert above.startswith('<table><tr><th></th><th colspan="2">2022</th></tr><tr><th></th><th>Gross Cost</th>')
    assert below.startswith('<table><tr><th></th><th colspan="2">2021</th></tr><tr><th></th><th>Gross Cost</th>')
    assert ("7,305" in above, "4,111" in above, "2021" in above) == (True, False, False)


def test_months_above_the_years_of_the_next_table_are_that_tables() -> None:
    lines = shown(
        at("Apple Inc.", 150, 40) + at("S&P 500 Index", 360, 40)
        + at("Copyright of the index, all rights reserved.", 80, 60)
        + at("September", 300, 80) + at("September", 400, 80)
        + at("2017", 312, 90) + at("2018", 412, 90)
        + at("Apple Inc.", 50, 106) + right("$100", 345, 106) + right("$149", 445, 106)
        + at("S&P 500 Index", 50, 120) + right("$100", 345, 120) + right("$118", 445, 120)
    )  # fmt: skip
    assert lines[-1].startswith("<table><tr><th></th><th>September 2017</th><th>September 2018</th></tr>")


def test_a_unit_below_the_years_spans_them_and_names_no_column() -> None:
    table = shown(
        at("2021", 310, 70) + at("2022", 390, 70) + at("2023", 470, 70)
        + at("(in millions, except per share data)", 330, 84)
        + at("Net sales", 50, 100) + right("107", 330, 100) + right("135", 410, 100) + right("177", 490, 100)
        + at("Net income", 50, 115) + right("2", 330, 115) + right("3", 410, 115) + right("4", 490, 115)
    )[0]  # fmt: skip
    assert table.startswith(
        '<table><tr><th></th><th colspan="3">(in millions, except per share data)</th></tr>'
        "<tr><th></th><th>2021</th><th>2022</th><th>2023</th></tr>"
    )


def test_a_period_with_its_year_spans_the_names_below_it() -> None:
    table = shown(
        at("Year Ended December 31, 2018", 270, 70) + at("Year Ended December 31, 2019", 440, 70)
        + at("Reported", 270, 84) + at("Effect", 360, 84) + at("Reported", 440, 84) + at("Effect", 530, 84)
        + at("Net sales", 50, 100) + right("232", 305, 100) + right("(12)", 385, 100)
        + right("280", 475, 100) + right("25", 555, 100)
        + at("Expenses", 50, 115) + right("220", 305, 115) + right("(10)", 385, 115)
        + right("265", 475, 115) + right("27", 555, 115)
    )[0]  # fmt: skip
    assert table.startswith(
        '<table><tr><th></th><th colspan="2">Year Ended December 31, 2018</th>'
        '<th colspan="2">Year Ended December 31, 2019</th></tr>'
    )


def test_text_that_leads_over_to_the_next_table_ends_the_one_above() -> None:
    lines = shown(
        at("2022", 400, 60) + at("2021", 490, 60)
        + at("Lease term", 50, 76) + right("11.5", 420, 76) + right("9.3", 510, 76)
        + at("Lease cost", 50, 90) + right("3,669", 420, 90) + right("2,815", 510, 90)
        + at("Our lease liabilities at the end were as follows (in millions):", 50, 112)
        + at("Operating", 300, 130) + at("Finance", 380, 130) + at("Total", 480, 130)
        + at("Gross", 50, 148) + right("31,963", 345, 148) + right("28,875", 415, 148) + right("60,838", 505, 148)
        + at("Interest", 50, 162) + right("6,128", 345, 162) + right("1,896", 415, 162) + right("8,024", 505, 162)
    )  # fmt: skip
    first, between, second = lines
    assert first.startswith("<table><tr><th></th><th>2022</th><th>2021</th></tr>")
    assert between == "Our lease liabilities at the end were as follows (in millions):"
    assert second.startswith("<table><tr><th></th><th>Operating</th><th>Finance</th><th>Total</th></tr>")


def test_a_date_stands_over_its_column_from_farther_away() -> None:
    table = only_table(
        at("December 31, 2019", 420, 60)
        + at("Lease term", 50, 92) + right("11.5", 500, 92)
        + at("Discount rate", 50, 106) + right("3.1%", 508, 106)
    )  # fmt: skip
    assert table.columns == ("", "December 31, 2019")


def test_one_row_with_many_values_under_its_header_is_a_table() -> None:
    table = only_table(
        at("2020", 250, 60) + at("2021", 320, 60) + at("2022", 390, 60) + at("Total", 460, 60)
        + at("Scheduled vesting", 50, 75) + right("6.0", 268, 75) + right("5.1", 338, 75)
        + right("—", 408, 75) + right("11.1", 483, 75)
    )  # fmt: skip
    assert table.columns == ("", "2020", "2021", "2022", "Total")
    assert table.rows == (("Scheduled vesting", "6.0", "5.1", "—", "11.1"),)


@pytest.mark.parametrize("apart", [0, 7], ids=["close", "one gap wide"])
def test_names_of_columns_that_stand_close_together_are_a_header_and_the_caption_is_none(apart: int) -> None:
    names = ["Llama3.2-3B", "Qwen2.5-3B", "DSV2-Lite"]
    lefts, edges = [275 + apart, 338 + apart, 396 + apart], [320 + apart, 376 + apart, 434 + apart]

    def values(y: float, *texts: str) -> list[Word]:
        return [word for edge, text in zip(edges, texts, strict=True) for word in right(text, edge, y)]

    lines = shown(
        at("Table 5: Comparison of different models.", 176, 60)
        + at("Benchmark (Metric)", 180, 74)
        + [word for x, name in zip(lefts, names, strict=True) for word in at(name, x, 74)]
        + at("MMLU", 180, 88) + values(88, "54.7", "65.6", "58.3")
        + at("TriviaQA", 180, 102) + values(102, "59.6", "51.1", "65.1")
    )  # fmt: skip
    assert lines[0] == "Table 5: Comparison of different models."
    assert lines[1].startswith(
        "<table><tr><th>Benchmark (Metric)</th><th>Llama3.2-3B</th><th>Qwen2.5-3B</th><th>DSV2-Lite</th></tr>"
    )


def test_headings_of_a_paper_and_its_equations_are_no_tables() -> None:
    prose = "The update rule of the optimizer can be stated as follows, given the weights and their momentum."
    lines = shown(
        bold(at("2", 50, 60)) + bold(at("Methods", 70, 60))
        + bold(at("2.1", 50, 80)) + bold(at("Background", 75, 80))
        + bold(at("The Muon Optimizer", 50, 100)) + at(prose[:60], 158, 100)
        + at("W = W − ηO", 200, 120) + at("(5)", 520, 120)
        + at("V = V − ηO", 200, 140) + at("(6)", 520, 140)
    )  # fmt: skip
    assert lines[:2] == ["## 2 Methods", "## 2.1 Background"]
    assert lines[2].startswith("The Muon Optimizer The update rule")
    assert not any("<table" in line for line in lines)


def test_text_with_wide_gaps_below_a_table_is_no_row_of_it() -> None:
    lines = shown(
        at("2022", 400, 60) + at("2021", 490, 60)
        + at("Cash", 50, 76) + right("23,646", 420, 76) + right("34,940", 510, 76)
        + at("Total", 50, 90) + right("24,977", 420, 90) + right("35,929", 510, 90)
        + at("The remaining lease term of all our leases, weighted, together as of the end of September", 50, 112)
        + at("2022", 478, 112) + at("and", 510, 112)
    )  # fmt: skip
    assert len(lines) == 2
    assert lines[1].endswith("the end of September 2022 and")


def test_names_of_columns_that_ocr_gives_as_one_phrase_are_told_apart() -> None:
    table = only_table(
        at("Adjusted Unrealized Unrealized", 205, 60) + at("Fair", 385, 60)
        + at("Cost", 215, 72) + at("Gains", 265, 72) + at("Losses", 315, 72) + at("Value", 383, 72)
        + at("Cash", 50, 90) + right("18,546", 245, 90) + right("11", 298, 90) + right("(47)", 348, 90)
        + right("18,510", 408, 90)
        + at("Bonds", 50, 104) + right("2,929", 245, 104) + right("42", 298, 104) + right("(3)", 348, 104)
        + right("2,968", 408, 104)
    )  # fmt: skip
    assert table.columns == ("", "Adjusted Cost", "Unrealized Gains", "Unrealized Losses", "Fair Value")


def test_a_table_of_words_is_one_and_its_long_cells_are_whole() -> None:
    table = only_table(
        at("Exhibit", 50, 60) + at("Description", 130, 60) + at("Form", 480, 60)
        + at("3.1", 50, 76) + at("Articles of the registrant as they were restated and filed", 130, 76)
        + at("Old", 480, 76)
        + at("with the secretary of the state in which it was founded.", 140, 86)
        + at("3.2", 50, 106) + at("Bylaws of the registrant", 130, 106) + at("New", 480, 106)
        + at("4.1", 50, 120) + at("Description of its securities", 130, 120) + at("New", 480, 120)
        + at("and of the notes", 140, 130)
        + at("Due in 2027.", 140, 140)
    )  # fmt: skip
    assert table.rows[-3:] == (
        (
            "3.1",
            "Articles of the registrant as they were restated and filed "
            "with the secretary of the state in which it was founded.",
            "Old",
        ),
        ("3.2", "Bylaws of the registrant", "New"),
        ("4.1", "Description of its securities and of the notes Due in 2027.", "New"),
    )
