# Nothing is declared.
