"""Tests of conformance-page.py: how constraints and answers become cells."""

import importlib.util
import unittest
from importlib.machinery import SourceFileLoader
from pathlib import Path

PATH = Path(__file__).resolve().parent / "conformance-page.py"
LOADER = SourceFileLoader("conformance_page", str(PATH))
page = importlib.util.module_from_spec(importlib.util.spec_from_loader(LOADER.name, LOADER))
LOADER.exec_module(page)


class ConformancePage(unittest.TestCase):
    def test_the_text_of_a_constraint_ends_at_its_paragraph(self):
        found = page.constraints_of("**F1** One.\nTwo.\n\nx\n**F2** Three\n| a |\n**F3** Four")
        self.assertEqual(found, {"F1": "One.\nTwo.", "F2": "Three", "F3": "Four"})

    def test_every_constraint_of_the_specification_is_found(self):
        text = (page.ROOT / "spec/grit-v1.md").read_text()
        labels, repeated = page.check_labels().read_constraints(page.ROOT / "spec/grit-v1.md")
        self.assertEqual(list(page.constraints_of(text)), list(labels))
        self.assertFalse(repeated)
        self.assertEqual({label[0] for label in labels}, set(page.SECTIONS))

    def test_first_words(self):
        self.assertEqual(page.first_words("A is 1.5 and b|c. More."), "A is 1.5 and b\\|c")
        self.assertEqual(page.first_words("one two three", 8), "one two ...")
        self.assertEqual(page.first_words("`one two` three", 6), "one ...")

    def test_cells(self):
        outcomes = {"a": (page.OK, ""), "b": (page.KNOWN, "why"), "c": ("not applicable", "")}
        self.assertEqual(page.cell(outcomes, ["a", "c"]), "1")
        self.assertEqual(page.cell(outcomes, ["a", "b", "c"]), "1, 1 differ")
        self.assertEqual(page.cell(outcomes, ["c"]), "-")
        self.assertEqual(page.cell(outcomes, []), "-")

    def test_differences_are_counted_by_reason(self):
        vectors = [{"id": "a", "clause": "F1 F2"}, {"id": "b", "clause": "F1"}]
        outcomes = {"c": {"a": (page.KNOWN, "why"), "b": (page.KNOWN, "why")}}
        rows = list(page.table_of_differences("T", "c", vectors, outcomes))
        self.assertEqual(rows[-1], "| why | 2 | F1, F2 |")
        outcomes = {"c": {"a": (page.OK, ""), "b": (page.OK, "")}}
        self.assertEqual(list(page.table_of_differences("T", "c", vectors, outcomes)), [])


if __name__ == "__main__":
    unittest.main()
