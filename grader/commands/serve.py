"""The commands `serve COURSE`, `serve invite COURSE` and the others for a course that students reach by network."""

from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from grader.commands.instructor import ALL_BUT_ONE_CORE
from grader.commands.options import Debug, Force, err_console
from grader.errors import MachineError, UsageError
from grader.isolation import sandbox
from harness.command_line import Verbs
from harness.rendering.texts import shown
from harness.rendering.wrapping import say
from harness.storage.user_files import state_folder

Course = Annotated[Path, typer.Argument(metavar="COURSE", help="The folder with course.toml and students.csv.")]
DEFAULT: Final = "start"
LOCAL: Final = "http://127.0.0.1:8800"


class ServeVerbs(Verbs):
    """The commands of `serve`. Without one of their names, the course is served: `serve COURSE`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the name of the default command before the arguments of a course that is served."""
        named = args and (args[0] in self.commands or args[0] in {"--help", "-h"})
        parsed: list[str] = super().parse_args(ctx, args if named or not args else [DEFAULT, *args])
        return parsed


app = typer.Typer(
    cls=ServeVerbs,
    help="Let students hand in over the network: fairclock serve COURSE. To try it: fairclock serve --demo",
    epilog="To see the options of the server: fairclock serve COURSE --help",
)


@app.command(name=DEFAULT, hidden=True)
def start(
    course: Annotated[
        Path | None, typer.Argument(metavar="COURSE", help="The folder with course.toml and students.csv.")
    ] = None,
    host: Annotated[
        str, typer.Option(help="The address on which to listen. 0.0.0.0 means every network.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535)] = 8800,
    url: Annotated[str, typer.Option(metavar="URL", help="The address in the students' links, such as https://…")] = "",
    jobs: Annotated[
        int | None,
        typer.Option(
            min=1, help="Number of hand-ins graded in parallel. With --scheduler: the threads of its workers."
        ),
    ] = None,
    scheduler: Annotated[str, typer.Option(metavar="ADDRESS", help="Grade on the Dask cluster at this address.")] = "",
    demo: Annotated[
        bool, typer.Option("--demo", help="Make a course with ten students to try the server, and print links.")
    ] = False,
    debug: Debug = False,
) -> int:
    """Serve a course until Ctrl-C."""
    serve = _room("serving").serve
    course = course or (state_folder() / "demo" if demo else None)
    if course is None:
        raise UsageError("Name the folder of a course: fairclock serve COURSE. To try one: fairclock serve --demo")
    url = url.rstrip("/") or f"http://{f'[{host}]' if ':' in host else host}:{port}"
    if demo:
        sandbox.require("")
        _room("demo").make(course)
        print(f"The course is in {course}. Open these links:", *_room("demo").links(course, url), sep="\n", flush=True)
    serve(
        course,
        host=host,
        port=port,
        url=url,
        jobs=jobs or ALL_BUT_ONE_CORE,
        scheduler=scheduler,
        say=lambda line: say(err_console, line),
    )
    return 0


@app.command()
def invite(
    course: Course,
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]…", help="Default: everyone who has no valid link.")
    ] = None,
    url: Annotated[str, typer.Option(metavar="URL", help="The address of the server, such as https://…")] = LOCAL,
    out: Annotated[Path, typer.Option(metavar="CSV", help="The file to write, for mail merge.")] = Path(
        "invitations.csv"
    ),
    force: Force = False,
    debug: Debug = False,
) -> int:
    """Write a CSV with a personal link for each student and each member of staff."""
    print(shown("\n".join(_room("invitations").invite(course, names or (), url.rstrip("/"), out, force=force))))
    return 0


@app.command()
def revoke(course: Course, name: Annotated[str, typer.Argument(metavar="NAME")], debug: Debug = False) -> int:
    """Make the link and all logins of a person invalid."""
    print(shown(_room("invitations").revoke(course, name)))
    return 0


@app.command()
def backup(
    course: Course,
    file: Annotated[Path, typer.Argument(metavar="FILE.zip", help="The zip to write.")],
    force: Force = False,
    debug: Debug = False,
) -> int:
    """Write the course with all hand-ins and grades to one zip, also while the server runs."""
    print(shown(_room("backup").back_up(course, file, force=force)))
    return 0


@app.command()
def restore(
    file: Annotated[Path, typer.Argument(metavar="FILE.zip", help="A zip that `serve backup` wrote.")],
    course: Annotated[Path, typer.Argument(metavar="COURSE", help="The new folder of the course.")],
    debug: Debug = False,
) -> int:
    """Make the folder of a course from a backup, for example on another machine."""
    print(shown(_room("backup").restore(file, course)))
    return 0


@app.command()
def forget(course: Course, name: Annotated[str, typer.Argument(metavar="NAME")], debug: Debug = False) -> int:
    """Delete all data on a student. Stop the server first."""
    print(shown("\n".join(_room("forgetting").forget(course, name))))
    return 0


def _room(module: str) -> Any:
    try:
        return import_module(f"grader.server.{module}")
    except ModuleNotFoundError as error:
        raise MachineError(
            f"`serve` needs the package {error.name}. Install it with `pip install -e '.[server]'`."
        ) from None
