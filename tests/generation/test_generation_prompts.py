"""Prompt files: the stated layout, other people's sets, and what a broken file says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from deepchart_dagster.errors import ConfigurationError
from deepchart_dagster.generation.prompts import OUR_FOLDER, PROMPT_NAMES, PromptSet, context_block, fence_for

DOCUMENT = {"title": "Acme 10-K 2022", "document_id": "acme-2022", "name": "Cash_Flow.md", "text": "net 5"}
CHUNKS = [
    {"index": 1, "document_id": "rust-2024", "first_page": 1, "last_page": 8},
    {"index": 2, "document_id": "rust-2024", "first_page": 9, "last_page": 9},
]
INTENT = {"chart_type": "Bar Chart", "chart_purpose": "Show it.", "chart_layout": "One panel."}


def texts(prompts: PromptSet, name: str, **variables: object) -> list[str]:
    return [message.parts[0].text for message in prompts.messages(name, **variables)]


def write(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def ours() -> PromptSet:
    return PromptSet.load(None)


def test_stage_1_states_the_rules_of_the_paper(ours: PromptSet) -> None:
    system, user = texts(ours, "stage1", **INTENT, documents=[DOCUMENT])
    for rule in (
        "python this.py output.json",
        '"src_data"',
        '"der_data"',
        "source code alone",
        "no value belongs to both",
    ):
        assert rule.lower() in system.lower()
    assert user.index("Chart type: Bar Chart\nChart purpose: Show it.\nChart layout: One panel.\n") < user.index("###")


def test_stage_2_states_the_rules_of_the_paper_and_ends_with_the_data(ours: PromptSet) -> None:
    system, user = texts(ours, "stage2", **INTENT, code_type="html", json_data='{"a": "<b> & {{ c }}"}')
    for rule in ("python this.py output.png", "self-contained", "code alone"):
        assert rule in system
    assert user.endswith('Data (JSON):\n{"a": "<b> & {{ c }}"}')
    assert "Code type: html\n" in user


def test_lines_without_a_value_are_left_out(ours: PromptSet) -> None:
    nothing = {"chart_type": None, "chart_purpose": "Show it.", "chart_layout": None}
    for user in (
        texts(ours, "stage1", **nothing, documents=[DOCUMENT])[1],
        texts(ours, "stage2", **nothing, code_type="python", json_data="{}")[1],
    ):
        assert "Chart type" not in user
        assert "Chart layout" not in user
        assert "Chart purpose: Show it.\n" in user


def test_a_context_has_one_layout() -> None:
    assert context_block([DOCUMENT, {**DOCUMENT, "text": "a\n````\nb"}], CHUNKS) == (
        "### Document 1: Acme 10-K 2022 [acme-2022] (Cash_Flow.md)\n````\nnet 5\n````\n\n"
        "### Document 2: Acme 10-K 2022 [acme-2022] (Cash_Flow.md)\n`````\na\n````\nb\n`````\n\n"
        "Chunk 1: rust-2024, pages 1-8\nChunk 2: rust-2024, pages 9-9"
    )


@given(text=st.text(st.sampled_from("`\n #a"), max_size=60))
def test_no_text_can_close_its_own_fence(text: str) -> None:
    fence = fence_for(text)
    assert len(fence) >= 4
    assert fence not in text
    _, opening, *rest = context_block([{**DOCUMENT, "text": text}], []).split("\n")
    assert "\n".join(rest[: rest.index(opening)]) == text


def test_every_prompt_is_there_and_fills_from_its_variables(ours: PromptSet) -> None:
    assert set(ours.prompts) == set(PROMPT_NAMES)
    for name in PROMPT_NAMES[2:5]:
        assert '{"chart_type": "Bar"}' in "".join(texts(ours, name, gen_parameter='{"chart_type": "Bar"}', avoid=[]))
    assert "Is there a legend?" in "".join(texts(ours, "judge", question="Is there a legend?"))


def test_another_set_replaces_what_it_has_and_leaves_the_rest(tmp_path: Path, ours: PromptSet) -> None:
    published = 'system: ""\nuser: |\n  Type: {{chart_type}} Layout: {{ chart_layout }}.\n  Documents:\n  {{data}}\n'
    theirs = PromptSet.load(write(tmp_path, stage1=published))
    (user,) = theirs.messages("stage1", **{**INTENT, "chart_layout": None}, documents=[DOCUMENT])
    assert user.role == "user"
    assert user.parts[0].text == (
        "Type: Bar Chart Layout: .\nDocuments:\n"
        "### Document 1: Acme 10-K 2022 [acme-2022] (Cash_Flow.md)\n````\nnet 5\n````"
    )
    assert theirs.hash("stage1") != ours.hash("stage1")
    assert theirs.hash("stage2") == ours.hash("stage2")


def test_the_hash_is_that_of_the_content_not_of_the_place(tmp_path: Path, ours: PromptSet) -> None:
    same = write(tmp_path, stage1=(OUR_FOLDER / "stage1.yaml").read_text(encoding="utf-8"))
    assert PromptSet.load(same).hash("stage1") == ours.hash("stage1")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("system: a\nuser: [1", "line 2"),
        ("system: a\n", "user: is missing"),
        ("user: a\nsytem: b\n", "line 2: sytem: unknown key; did you mean 'system'?"),
        ("- a\n", "a mapping is expected"),
        ("user: '{% if x %}'\n", "no valid template"),
        ("user: '{{ x'\n", "no valid template"),
    ],
)
def test_a_file_that_is_no_prompt_is_named_with_the_place(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(ConfigurationError) as raised:
        PromptSet.load(write(tmp_path, stage2=text))
    assert "stage2.yaml" in str(raised.value)
    assert said in str(raised.value)


def test_an_unknown_placeholder_is_named_with_those_there_are(tmp_path: Path) -> None:
    prompts = PromptSet.load(write(tmp_path, judge="user: '{{ query }}'\n"))
    with pytest.raises(ConfigurationError, match=r"judge\.yaml.*'query' is undefined.*may be: image, question"):
        prompts.messages("judge", question="Is it?")


def test_a_prompt_cannot_reach_into_this_process(tmp_path: Path) -> None:
    reach = "user: '{{ question.__class__.__mro__ }}'\n"
    with pytest.raises(ConfigurationError, match="unsafe"):
        PromptSet.load(write(tmp_path, judge=reach)).messages("judge", question="Is it?")


def test_a_folder_without_prompts_says_which_files_it_may_have(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"stage1\.yaml"):
        PromptSet.load(tmp_path)
    with pytest.raises(ConfigurationError, match="not there"):
        PromptSet.load(tmp_path / "nowhere")


def test_an_unknown_name_lists_the_names(ours: PromptSet) -> None:
    with pytest.raises(ConfigurationError, match="stage1, stage2"):
        ours.hash("stage3")


def test_our_prompts_take_no_line_from_the_papers() -> None:
    """Ours state the paper's rules in our own words: no run of eight words is shared."""
    paper = Path(__file__).resolve().parents[3] / "shared" / "paper" / "deepchart-paper-prompts.txt"
    if not paper.is_file():
        pytest.skip(f"{paper} is not there")
    words = paper.read_text(encoding="utf-8").split()
    theirs = {tuple(words[at : at + 8]) for at in range(len(words))}
    for path in OUR_FOLDER.glob("*.yaml"):
        mine = path.read_text(encoding="utf-8").split()
        shared = {tuple(mine[at : at + 8]) for at in range(len(mine))} & theirs
        assert shared == set(), path.name


# The published layout: its file names, Jinja in the generation prompts, str.format in those of vlm_eval


def published_set(folder: Path) -> Path:
    """A set in the published layout, in words of ours."""
    (folder / "vlm_eval").mkdir(parents=True)
    texts = {
        "stage1_extract.yaml": ('Write {"src_data": "as read"}.', "{{ chart_type }}|{{ chart_layout }}|{{ data }}"),
        "stage2_visualize.yaml": ("Draw.", "{{ code_type }} {{ chart_purpose }} {{ json_data }}"),
        "vlm_eval/ic.yaml": ("Ask.", "Rules {gen_parameter} seen in {image}"),
        "vlm_eval/dm.yaml": ("Ask.", 'Topology {gen_parameter}, answer as {{"q1": …}}'),
        "vlm_eval/ask_vlm.yaml": ("Look.", "{question} {image}"),
    }
    for name, (system, user) in texts.items():
        (folder / name).write_text(yaml.safe_dump({"system": system, "user": user}), encoding="utf-8")
    return folder


def test_a_published_set_is_taken_as_it_stands(tmp_path: Path, ours: PromptSet) -> None:
    theirs = PromptSet.load(published_set(tmp_path / "prompts"))
    document = {"title": "T", "document_id": "d", "name": "n.md", "text": "Net sales 7"}
    intent = {"chart_type": None, "chart_purpose": "p", "chart_layout": "xy"}
    system, user = texts(theirs, "stage1", **intent, documents=[document], chunks=[])
    assert system == 'Write {"src_data": "as read"}.'
    assert user.startswith("|xy|### Document 1: T [d] (n.md)")
    assert texts(theirs, "judge", question="Is {it} so?")[1] == "Is {it} so? (the chart is attached as a picture)"
    parameter = '{"chart_type": "bar"}'
    rubric = texts(theirs, "rubric_instruction_compliance", gen_parameter=parameter, avoid=[])[1]
    assert rubric == 'Rules {"chart_type": "bar"} seen in (the chart is attached as a picture)'
    topology = texts(theirs, "rubric_data_mapping_topology", gen_parameter=parameter, avoid=[])[1]
    assert topology == 'Topology {"chart_type": "bar"}, answer as {"q1": …}'
    assert theirs.hash("stage1") != ours.hash("stage1")
    assert theirs.hash("rubric_presentation_quality") == ours.hash("rubric_presentation_quality")


@pytest.mark.parametrize(
    ("user", "said"),
    [
        ("{question} {question.__class__}", "'question.__class__' is undefined"),
        ("{question} {other}", "'other' is undefined"),
        ("{question} {0}", "'0' is undefined"),
    ],
)
def test_a_formatted_prompt_knows_its_variables_alone(tmp_path: Path, user: str, said: str) -> None:
    (tmp_path / "judge.yaml").write_text(yaml.safe_dump({"user": user}), encoding="utf-8")
    with pytest.raises(ConfigurationError, match=re.escape(said)):
        PromptSet.load(tmp_path).messages("judge", question="Is it so?")


def test_a_formatted_prompt_with_a_lone_brace_is_named(tmp_path: Path) -> None:
    (tmp_path / "judge.yaml").write_text(yaml.safe_dump({"user": "{question} }"}), encoding="utf-8")
    with pytest.raises(ConfigurationError, match=r"judge\.yaml is no valid template"):
        PromptSet.load(tmp_path)
