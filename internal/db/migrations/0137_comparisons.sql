-- Comparisons of accounts with the people of a directory. A row is a directory; one node works on it at a time.
CREATE TABLE comparisons (
    id        {{id}},
    source    {{text}} NOT NULL UNIQUE, -- whose subjects it compares: identities.issuer
    due_at    BIGINT NOT NULL,
    tries     BIGINT NOT NULL DEFAULT 0,
    ended_at  BIGINT, -- the last one, and what it found
    people    BIGINT NOT NULL DEFAULT 0,
    linked    BIGINT NOT NULL DEFAULT 0,
    missing   BIGINT NOT NULL DEFAULT 0,
    suspended BIGINT NOT NULL DEFAULT 0,
    lifted    BIGINT NOT NULL DEFAULT 0,
    followed  BIGINT NOT NULL DEFAULT 0,
    problem   {{text}} NOT NULL DEFAULT ''
);
