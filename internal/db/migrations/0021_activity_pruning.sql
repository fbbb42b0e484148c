-- How far the pruning of activities has come, see package activity: one row,
-- once it has begun.
CREATE TABLE activity_pruning (
    id       BIGINT PRIMARY KEY CHECK (id = 1),
    position BIGINT NOT NULL,                   -- the last activity that was looked at; 0: the next lap begins
    began    BIGINT NOT NULL,                   -- the newest when this lap began
    paid     BIGINT NOT NULL                    -- up to which new ones have been answered by work
);
