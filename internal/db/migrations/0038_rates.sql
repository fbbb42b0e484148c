-- What the callers of all nodes have used of their rate limits. A window ends at the same
-- time for all nodes; its rows go when it has ended.
CREATE TABLE rate_counts (
    ends BIGINT NOT NULL,
    key  {{text}} NOT NULL,                     -- the caller's, as the limiter has it
    used BIGINT NOT NULL,
    PRIMARY KEY (ends, key)
) {{clustered}};
