-- The people of a page of commits are found by their addresses.
CREATE INDEX accounts_by_email ON accounts (lower(email));
