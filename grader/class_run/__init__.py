"""Grade a whole class: grade hand-ins in parallel, store the grades in a journal, choose the attempts that count."""
