"""`tools/try_pages.py`: a page whose commands or examples do other than it says is found out."""

from try_pages import blocks, run_here, try_page


def page_of(tmp_path, text):
    path = tmp_path / "page.md"
    path.write_text(text)
    return path


def echo(command):
    """Print what the command says after its first word."""
    return 0, command.partition(" ")[2]


def test_a_line_that_is_not_printed_is_told_with_its_command(tmp_path):
    page = page_of(tmp_path, "```console\n$ echo one two\none ...\n$ echo three\nfour\n```\n")
    (wrong,) = try_page(page, echo)
    assert wrong.startswith("$ echo three\nnot printed: four")


def test_commands_go_on_after_a_backslash_and_spaces_do_not_count(tmp_path):
    page = page_of(tmp_path, "```console\n$ echo a \\\n  b\na    b\n```\n")
    assert try_page(page, echo) == []


def test_an_exit_code_of_failure_is_told(tmp_path):
    page = page_of(tmp_path, "```console\n$ false\n```\n")
    (wrong,) = try_page(page, run_here)
    assert "exit code 1" in wrong


def test_names_last_from_one_example_to_the_next_and_a_wrong_one_is_told(tmp_path):
    page = page_of(tmp_path, "```python\n>>> a = 2\n```\ntext\n```python\n>>> a + 1\n4\n```\n")
    (wrong,) = try_page(page, None)
    assert "Expected:\n    4\nGot:\n    3" in wrong


def test_a_python_block_without_a_prompt_is_told(tmp_path):
    (wrong,) = try_page(page_of(tmp_path, "```python\n1 + 1\n```\n"), None)
    assert "never run" in wrong


def test_other_blocks_are_not_run(tmp_path):
    page = page_of(tmp_path, "```sh\nrm -rf /\n```\n```console\n$ ls\n```\n")
    assert list(blocks(page)) == [("console", "$ ls\n")]


def test_commands_of_askmeans_run_in_this_process_with_what_is_piped(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run_here("askmeans demo --data --out d")[1].splitlines()[0] == "d/messages.csv"
    assert run_here("askmeans init s.db d/messages.csv -k 2 --features message")[0] == 0
    code, said = run_here(r"printf '0\nq\n' | askmeans answer s.db")
    assert (code, "1 questions answered" in said) == (3, True)
    assert run_here("askmeans status nowhere.db")[0] == 1
