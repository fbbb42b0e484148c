-- What an account may own. NULL: what the server says; -1: without a bound.
ALTER TABLE accounts ADD COLUMN quota_repos BIGINT; -- repositories
ALTER TABLE accounts ADD COLUMN quota_kb BIGINT;    -- the sizes of all of them, in KiB
