"""Write all reports of a class from its database of grades."""

from grader import reports
from grader.class_run.journal import Journal
from grader.course.roll import Roll
from grader.reports import pseudonyms


def publish(book: Journal) -> tuple[Roll, reports.Written]:
    """Write all reports of the class into the folder of its database. Return the class and the result of writing.

    A leaderboard is written if the database states which names it shows. Raise `UsageError` if these names cannot be
    used. Raise `WriteError` if a report cannot be written.
    """
    roll, board = book.roll(), book.board()
    name_of = pseudonyms.names_for(board, book.pseudonym_key(), roll.students) if board else None
    return roll, reports.write(roll, book.out, whole=book.reports, name_of=name_of)
