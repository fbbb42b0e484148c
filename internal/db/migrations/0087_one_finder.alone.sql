-- Issues are found by their postings alone: nothing reads what changed since a generation.
DROP INDEX issues_changed;
ALTER TABLE issues DROP COLUMN changed;
ALTER TABLE repos DROP COLUMN legend_generation;
DROP INDEX departed_issues_since;
ALTER TABLE departed_issues DROP COLUMN generation;
