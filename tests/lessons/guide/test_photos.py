"""The recorded PNG pictures and the steps that show them."""

from pathlib import Path

from teachers_pack import pages

from lessons.guide import photos
from lessons.guide.results import RECORDED


def test_each_recorded_png_file_is_listed_with_an_existing_step() -> None:
    listed = {each["file"]: each for each in photos.listed()}
    assert set(listed) == {str(path.relative_to(RECORDED)) for path in RECORDED.glob("*/*.png")}
    for file, each in listed.items():
        page = pages()[file.partition("/")[0]]
        (step,) = (step for step in page.steps if step.name == each["step"])
        assert each["caption"] in [photo.caption for photo in step.photos]


def test_a_step_has_only_its_own_photos(tmp_path: Path) -> None:
    assert [photo.png[:4] for photo in photos.of_step("09_cprofile", "in_pictures")] == [b"\x89PNG"]
    assert photos.of_step("09_cprofile", "who_called_it") == ()
    assert photos.of_step("10_memory", "in_pictures") == ()
    assert photos.of_step("09_cprofile", "in_pictures", tmp_path) == ()
